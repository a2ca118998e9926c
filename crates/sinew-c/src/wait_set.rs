//! Wait sets: for threads that choose themselves what they run next.

use crate::client::sinew_client;
use crate::context::sinew_context;
use crate::executor::{fault_policy, sinew_fault_policy, sinew_stop_handle, spun};
use crate::group::{GroupHandle, sinew_group};
use crate::guard_condition::sinew_guard_condition;
use crate::handle::{self, handle};
use crate::node::sinew_node;
use crate::service::sinew_server;
use crate::status::{Failure, Result, answer, put, sinew_status, status};
use crate::structure::{Structure, structure};
use crate::subscription::sinew_subscription;
use crate::text::c_text;
use crate::time::sinew_duration;
use crate::timer::sinew_timer;
use parking_lot::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};
use sinew::error::ErrorCode;
use sinew::executor::{StopHandle, WaitSet, Waitable};
use std::ffi::{CString, c_char};
use std::sync::Arc;

/// A wait set: it waits until entities are ready, and leaves it to the program to run their
/// callbacks or to take their messages. For loops with a rule of their own; others take an
/// executor.
pub struct sinew_wait_set {
    _opaque: (),
}
handle!(sinew_wait_set: Arc<SharedWaitSet>);

/// A wait set as several threads and callbacks reach it.
pub(crate) struct SharedWaitSet {
    /// Borrowed rather than locked: no thread waits for it, so callbacks may run meanwhile. A wait
    /// borrows it alone.
    set: RwLock<WaitSet>,
    stop: StopHandle,
    /// The texts that were returned since the last wait.
    texts: Mutex<Vec<CString>>,
}

impl SharedWaitSet {
    fn borrow(&self) -> Result<RwLockReadGuard<'_, WaitSet>> {
        self.set.try_read().ok_or_else(|| {
            let sentence =
                "another thread waits for the wait set: add to it and run what is ready between two waits";
            Failure::new(ErrorCode::Busy, sentence)
        })
    }

    fn borrow_alone(&self) -> Result<RwLockWriteGuard<'_, WaitSet>> {
        self.set.try_write().ok_or_else(|| {
            let sentence = "the wait set is in use, by another thread or by a callback of it that runs: one thread at a time waits";
            Failure::new(ErrorCode::Busy, sentence)
        })
    }
}

/// The options of [`sinew_wait_set_new`]. Zero is the default of every field.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_wait_set_options {
    /// `sizeof(struct sinew_wait_set_options)`.
    pub size: usize,
    /// What happens when a callback fails: it is logged, or `sinew_wait_set_run` returns it. By
    /// default it is logged.
    pub on_error: sinew_fault_policy,
}

// SAFETY: C's layout, beginning with the size; zeros are numbers.
unsafe impl Structure for sinew_wait_set_options {
    const NAME: &str = "sinew_wait_set_options";
}

/// Makes an empty wait set.
///
/// `options` may be null. The caller frees `*set` with `sinew_wait_set_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_wait_set_new(
    options: *const sinew_wait_set_options,
    set: Option<&mut *mut sinew_wait_set>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's structure.
        let options = unsafe { structure(options) }?;
        let made = WaitSet::builder().on_error(fault_policy(options.on_error, "on_error")?).build();
        let shared =
            SharedWaitSet { stop: made.stop_handle(), set: RwLock::new(made), texts: Mutex::new(Vec::new()) };
        handle::put(set, "set", Arc::new(shared))
    })
}

/// Frees a handle to a wait set; null is allowed, and so is a call in a callback that it runs. What
/// it served waits for an executor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_wait_set_free(set: *mut sinew_wait_set) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(set, "set") };
}

/// Returns the wait set of a handle, and keeps it.
///
/// # Safety
/// As of [`handle::get`].
unsafe fn kept(set: *const sinew_wait_set) -> Result<Arc<SharedWaitSet>> {
    // SAFETY: as the caller says.
    Ok(unsafe { handle::get(set, "set") }?.clone())
}

/// Adds a context with all its callbacks, as `sinew_executor_add_context`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_wait_set_add_context(
    set: *const sinew_wait_set,
    context: *const sinew_context,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let set = unsafe { kept(set) }?;
        // SAFETY: the caller's handle.
        let context = unsafe { handle::get(context, "context") }?;
        Ok(set.borrow()?.add(context)?)
    })
}

/// Adds a node with all its callbacks, as `sinew_executor_add_node`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_wait_set_add_node(
    set: *const sinew_wait_set,
    node: *const sinew_node,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let set = unsafe { kept(set) }?;
        // SAFETY: the caller's handle.
        let node = unsafe { handle::get(node, "node") }?;
        Ok(set.borrow()?.add(&node.node)?)
    })
}

/// Adds a group with all its callbacks, as `sinew_executor_add_group`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_wait_set_add_group(
    set: *const sinew_wait_set,
    group: *const sinew_group,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let set = unsafe { kept(set) }?;
        // SAFETY: the caller's handle.
        let group = unsafe { handle::get(group, "group") }?;
        let set = set.borrow()?;
        Ok(match group {
            GroupHandle::MutuallyExclusive(group) => set.add(group),
            GroupHandle::Reentrant(group) => set.add(group),
        }?)
    })
}

/// Removes a context, as `sinew_executor_remove_context`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_wait_set_remove_context(
    set: *const sinew_wait_set,
    context: *const sinew_context,
) -> bool {
    answer(false, || {
        // SAFETY: the caller's handle.
        let set = unsafe { kept(set) }?;
        // SAFETY: the caller's handle.
        let context = unsafe { handle::get(context, "context") }?;
        Ok(set.borrow()?.remove(context))
    })
}

/// Removes a node, as `sinew_executor_remove_context`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_wait_set_remove_node(
    set: *const sinew_wait_set,
    node: *const sinew_node,
) -> bool {
    answer(false, || {
        // SAFETY: the caller's handle.
        let set = unsafe { kept(set) }?;
        // SAFETY: the caller's handle.
        let node = unsafe { handle::get(node, "node") }?;
        Ok(set.borrow()?.remove(&node.node))
    })
}

/// Removes a group, as `sinew_executor_remove_context`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_wait_set_remove_group(
    set: *const sinew_wait_set,
    group: *const sinew_group,
) -> bool {
    answer(false, || {
        // SAFETY: the caller's handle.
        let set = unsafe { kept(set) }?;
        // SAFETY: the caller's handle.
        let group = unsafe { handle::get(group, "group") }?;
        let set = set.borrow()?;
        Ok(match group {
            GroupHandle::MutuallyExclusive(group) => set.remove(group),
            GroupHandle::Reentrant(group) => set.remove(group),
        })
    })
}

/// Adds a subscription without a callback: the program takes its messages by hand. Fails with
/// `SINEW_ERROR_HAS_CALLBACK` if it has one: a node, group or context adds that.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_wait_set_add_subscription(
    set: *const sinew_wait_set,
    subscription: *const sinew_subscription,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let set = unsafe { kept(set) }?;
        // SAFETY: the caller's handle.
        let subscription = unsafe { handle::get(subscription, "subscription") }?;
        Ok(set.borrow()?.add_erased_subscription(&subscription.subscription)?)
    })
}

/// Waits until something is ready, for at most `timeout` of real time, and puts the number of
/// entities that are ready into `*count`: 0 after the timeout, which is no failure. They have the
/// indices 0 to `*count - 1`, in the order in which an executor would run them, until the next
/// wait.
///
/// Ready are timers that are due, guard conditions that were triggered, subscriptions with messages
/// and so on. One that is neither run nor emptied is ready again at the next wait, which then
/// doesn't block.
///
/// Fails with `SINEW_ERROR_STOPPED` after `sinew_wait_set_stop` or if a context is shut down, with
/// `SINEW_ERROR_NOTHING_TO_SPIN` if it would wait for ever for nothing, and with `SINEW_ERROR_BUSY`
/// while the wait set is in use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_wait_set_wait(
    set: *const sinew_wait_set,
    timeout: sinew_duration,
    count: Option<&mut usize>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let shared = unsafe { kept(set) }?;
        let mut set = shared.borrow_alone()?;
        shared.texts.lock().clear();
        let ready = spun(set.wait(crate::time::timeout(timeout)).map(|ready| ready.len()))?;
        put(count, "count", ready)
    })
}

/// What is ready at an index.
macro_rules! ready_at {
    ($set:expr, $index:expr) => {{
        let count = $set.ready().len();
        $set.ready().nth($index).ok_or_else(|| {
            let sentence = format_args!(
                "`index` is {}, and the last wait has found {count} entities: indices begin at 0",
                $index
            );
            Failure::new(ErrorCode::InvalidEnumerator, sentence)
        })
    }};
}

/// Runs the callback of the entity at an index of the last wait, on this thread, for its oldest
/// message or event. `ran` may be null; it gets whether a callback ran: none does if the entity was
/// emptied or freed meanwhile, or has no callback.
///
/// Fails with `SINEW_ERROR_CALLBACK_FAILED` if the callback failed and `on_error` says to stop, and
/// with `SINEW_ERROR_BUSY` while another thread or a callback runs an entity of the wait set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_wait_set_run(
    set: *const sinew_wait_set,
    index: usize,
    ran: Option<&mut bool>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let shared = unsafe { kept(set) }?;
        let set = shared.borrow()?;
        let has_run = spun(ready_at!(set, index)?.run())?;
        if let Some(ran) = ran {
            *ran = has_run;
        }
        Ok(())
    })
}

/// Returns whether the entity at an index of the last wait is this one.
///
/// # Safety
/// As of [`handle::get`].
unsafe fn is_ready(set: *const sinew_wait_set, index: usize, entity: Result<&impl Waitable>) -> bool {
    answer(false, || {
        // SAFETY: as the caller says.
        let shared = unsafe { kept(set) }?;
        let set = shared.borrow()?;
        Ok(ready_at!(set, index)?.is(entity?))
    })
}

/// Returns whether the entity at an index of the last wait is this timer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_wait_set_is_timer(
    set: *const sinew_wait_set,
    index: usize,
    timer: *const sinew_timer,
) -> bool {
    // SAFETY: the caller's handle.
    let timer = unsafe { handle::get(timer, "timer") };
    // SAFETY: the caller's handle.
    unsafe { is_ready(set, index, timer) }
}

/// Returns whether the entity at an index of the last wait is this guard condition.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_wait_set_is_guard_condition(
    set: *const sinew_wait_set,
    index: usize,
    guard: *const sinew_guard_condition,
) -> bool {
    // SAFETY: the caller's handle.
    let guard = unsafe { handle::get(guard, "guard") };
    // SAFETY: the caller's handle.
    unsafe { is_ready(set, index, guard) }
}

/// Returns whether the entity at an index of the last wait is this subscription.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_wait_set_is_subscription(
    set: *const sinew_wait_set,
    index: usize,
    subscription: *const sinew_subscription,
) -> bool {
    // SAFETY: the caller's handle.
    let subscription = unsafe { handle::get(subscription, "subscription") };
    // SAFETY: the caller's handle.
    unsafe { is_ready(set, index, subscription.map(|handle| &handle.subscription)) }
}

/// Returns whether the entity at an index of the last wait is this server.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_wait_set_is_server(
    set: *const sinew_wait_set,
    index: usize,
    server: *const sinew_server,
) -> bool {
    // SAFETY: the caller's handle.
    let server = unsafe { handle::get(server, "server") };
    // SAFETY: the caller's handle.
    unsafe { is_ready(set, index, server.map(|handle| &handle.server)) }
}

/// Returns whether the entity at an index of the last wait is this client: a call with a callback
/// has its response.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_wait_set_is_client(
    set: *const sinew_wait_set,
    index: usize,
    client: *const sinew_client,
) -> bool {
    // SAFETY: the caller's handle.
    let client = unsafe { handle::get(client, "client") };
    // SAFETY: the caller's handle.
    unsafe { is_ready(set, index, client.map(|handle| &handle.client)) }
}

/// Returns a description of the entity at an index of the last wait, for people, such as
/// "timer (10ms) of node /blinker". The text lives until the next wait. Allocates.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_wait_set_describe(set: *const sinew_wait_set, index: usize) -> *const c_char {
    answer(std::ptr::null(), || {
        // SAFETY: the caller's handle.
        let shared = unsafe { kept(set) }?;
        let set = shared.borrow()?;
        let text = c_text(ready_at!(set, index)?.describe());
        let pointer = text.as_ptr();
        shared.texts.lock().push(text);
        Ok(pointer)
    })
}

/// Makes the current or the next wait return `SINEW_ERROR_STOPPED`. Never blocks; any thread may
/// call it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_wait_set_stop(set: *const sinew_wait_set) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        unsafe { handle::get(set, "set") }?.stop.stop();
        Ok(())
    })
}

/// Makes a handle that stops the wait set, for a thread that may outlive it. The caller frees it
/// with `sinew_stop_handle_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_wait_set_stop_handle(
    set: *const sinew_wait_set,
    stop: Option<&mut *mut sinew_stop_handle>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let set = unsafe { handle::get(set, "set") }?;
        handle::put(stop, "stop", set.stop.clone())
    })
}
