//! Executors: threads that run callbacks.

use crate::closure::CallbackFailed;
use crate::context::sinew_context;
use crate::group::{GroupHandle, sinew_group};
use crate::handle::{self, handle};
use crate::node::sinew_node;
use crate::status::{Failure, Result, answer, put, sinew_status, status};
use crate::structure::{Structure, structure};
use crate::time::{clock_kind, sinew_clock_kind, sinew_duration, span, timeout};
use sinew::Executor;
use sinew::error::{ErrorCode, SpinError};
use sinew::executor::{DispatchOrder, FaultPolicy, Placement, StopHandle};
use sinew::time::ClockKind;
use std::ffi::c_int;
use std::os::fd::AsRawFd;
use std::sync::Arc;

/// An executor: it runs the callbacks of the contexts, nodes and groups that were added to it, in
/// the order in which their messages arrived and their timers were due.
pub struct sinew_executor {
    _opaque: (),
}
// A spin keeps the executor, so a callback may free the handle.
handle!(sinew_executor: Arc<Executor>);

/// Stops an executor or a wait set, also one that is freed meanwhile.
pub struct sinew_stop_handle {
    _opaque: (),
}
handle!(sinew_stop_handle: StopHandle);

/// Where the threads of an executor run while they spin.
pub type sinew_placement = c_int;

/// On a core of its own each, if the executor has several threads. The default.
pub const SINEW_PLACEMENT_SPREAD: sinew_placement = 0;
/// Where the kernel puts them.
pub const SINEW_PLACEMENT_OFF: sinew_placement = 1;
/// On the cores that are listed in the field `cores`.
pub const SINEW_PLACEMENT_CORES: sinew_placement = 2;

/// What an executor or wait set does about a callback that fails.
pub type sinew_fault_policy = c_int;

/// Logs the failure, with the entity's name, and continues. The default.
pub const SINEW_FAULT_REPORT: sinew_fault_policy = 0;
/// Ends the spin, which returns `SINEW_ERROR_CALLBACK_FAILED`.
pub const SINEW_FAULT_STOP: sinew_fault_policy = 1;

/// The order in which an executor begins callbacks that are ready.
pub type sinew_dispatch_order = c_int;

/// The one that has been ready longest begins. The default.
pub const SINEW_DISPATCH_BY_TIME: sinew_dispatch_order = 0;
/// What a callback makes ready begins right after it on the same thread, before what was ready
/// earlier, up to 64 in a row.
pub const SINEW_DISPATCH_RUN_NEXT: sinew_dispatch_order = 1;

/// The options of [`sinew_executor_new`]. Zero is the default of every field.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_executor_options {
    /// `sizeof(struct sinew_executor_options)`.
    pub size: usize,
    /// The number of threads that run callbacks, with the one that spins; 61 at most. 0: one, so
    /// all callbacks run on the thread that spins.
    pub threads: usize,
    /// One thread for each core that the process may use, instead of `threads`.
    pub one_per_core: bool,
    /// Whether a separate thread watches the timers, for executors that are busy with long
    /// callbacks on all threads.
    pub timer_thread: bool,
    /// Whether a thread that calls a service may run the server's callback itself, in the place of
    /// a thread of the executor that rests. Excludes `realtime_priority` and listed cores.
    pub caller_runs: bool,
    /// Whether all memory of the process is locked into RAM when the executor spins.
    pub lock_memory: bool,
    /// The priority of its threads under `SCHED_FIFO` while they spin, 1 (lowest) to 99. 0: none.
    pub realtime_priority: u8,
    /// Where its threads run while they spin. By default on a core of its own each.
    pub placement: sinew_placement,
    /// The numbers of the cores, with `SINEW_PLACEMENT_CORES`.
    pub cores: *const usize,
    /// The number of cores.
    pub core_count: usize,
    /// The time for which an idle thread looks for messages of other processes before it sleeps,
    /// which keeps a core busy. 0: not at all.
    pub spin_before_park: sinew_duration,
    /// What happens when a callback fails. By default it is logged.
    pub on_error: sinew_fault_policy,
    /// Which of the callbacks that are ready begins first. By default the one that has been ready
    /// longest.
    pub dispatch_order: sinew_dispatch_order,
}

// SAFETY: C's layout, beginning with the size; zeros are null, `false`, numbers.
unsafe impl Structure for sinew_executor_options {
    const NAME: &str = "sinew_executor_options";
}

/// Returns a fault policy.
pub(crate) fn fault_policy(policy: sinew_fault_policy, argument: &str) -> Result<FaultPolicy> {
    match policy {
        SINEW_FAULT_REPORT => Ok(FaultPolicy::Report),
        SINEW_FAULT_STOP => Ok(FaultPolicy::Stop),
        other => Err(Failure::enumerator(argument, other)),
    }
}

/// Returns an order of callbacks.
fn dispatch_order(order: sinew_dispatch_order) -> Result<DispatchOrder> {
    match order {
        SINEW_DISPATCH_BY_TIME => Ok(DispatchOrder::ByTime),
        SINEW_DISPATCH_RUN_NEXT => Ok(DispatchOrder::RunNext),
        other => Err(Failure::enumerator("dispatch_order", other)),
    }
}

/// Returns where threads run.
///
/// # Safety
/// `cores` is null or has that number of elements.
unsafe fn placement(options: &sinew_executor_options) -> Result<Placement> {
    match options.placement {
        SINEW_PLACEMENT_SPREAD => Ok(Placement::Spread),
        SINEW_PLACEMENT_OFF => Ok(Placement::Off),
        SINEW_PLACEMENT_CORES if options.cores.is_null() => Err(Failure::null("cores")),
        SINEW_PLACEMENT_CORES => {
            // SAFETY: as the caller says.
            let cores = unsafe { std::slice::from_raw_parts(options.cores, options.core_count) };
            Ok(Placement::Cores(cores.to_vec()))
        }
        other => Err(Failure::enumerator("placement", other)),
    }
}

/// Makes an executor. It starts no thread before it spins.
///
/// `options` may be null. The caller frees `*executor` with `sinew_executor_free`.
///
/// Options that contradict each other fail with `SINEW_ERROR_INVALID_EXECUTOR_OPTIONS`; those that
/// the machine refuses are an error of spinning.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_executor_new(
    options: *const sinew_executor_options,
    executor: Option<&mut *mut sinew_executor>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's structure.
        let options = unsafe { structure(options) }?;
        let threads = match options.threads {
            _ if options.one_per_core => 0,
            threads => threads.max(1),
        };
        let mut builder = Executor::builder()
            .threads(threads)
            .timer_thread(options.timer_thread)
            .caller_runs(options.caller_runs)
            .spin_before_park(span(options.spin_before_park, "spin_before_park")?)
            .on_error(fault_policy(options.on_error, "on_error")?)
            .dispatch_order(dispatch_order(options.dispatch_order)?)
            // SAFETY: the caller's array.
            .placement(unsafe { placement(&options) }?);
        if options.lock_memory {
            builder = builder.lock_memory();
        }
        if options.realtime_priority != 0 {
            builder = builder.realtime_priority(options.realtime_priority);
        }
        handle::put(executor, "executor", Arc::new(builder.build()?))
    })
}

/// Frees a handle to an executor; null is allowed. What it served waits for another executor. A
/// callback may free the executor that runs it: the executor then ends when its spin returns, so
/// stop it first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_executor_free(executor: *mut sinew_executor) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(executor, "executor") };
}

/// Returns the executor of a handle, and keeps it.
///
/// # Safety
/// As of [`handle::get`].
pub(crate) unsafe fn kept(executor: *const sinew_executor) -> Result<Arc<Executor>> {
    // SAFETY: as the caller says.
    Ok(unsafe { handle::get(executor, "executor") }?.clone())
}

/// Returns the number of threads that run callbacks while it spins.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_executor_threads(executor: *const sinew_executor) -> usize {
    // SAFETY: the caller's handle.
    answer(0, || Ok(unsafe { handle::get(executor, "executor") }?.threads()))
}

/// Adds a context: all its present and future groups that no other executor serves. Allowed while
/// another thread spins the executor, which keeps the context until it is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_executor_add_context(
    executor: *const sinew_executor,
    context: *const sinew_context,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let executor = unsafe { handle::get(executor, "executor") }?;
        // SAFETY: the caller's handle.
        Ok(executor.add(unsafe { handle::get(context, "context") }?)?)
    })
}

/// Adds a node: all its present and future groups that no other executor serves. Allowed while
/// another thread spins the executor. Fails with `SINEW_ERROR_SERVED_ELSEWHERE` if another
/// executor serves it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_executor_add_node(
    executor: *const sinew_executor,
    node: *const sinew_node,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let executor = unsafe { handle::get(executor, "executor") }?;
        // SAFETY: the caller's handle.
        Ok(executor.add(&unsafe { handle::get(node, "node") }?.node)?)
    })
}

/// Adds a group. To have an executor of its own it must be added before its node or context is
/// added to another one. Allowed while another thread spins the executor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_executor_add_group(
    executor: *const sinew_executor,
    group: *const sinew_group,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let executor = unsafe { handle::get(executor, "executor") }?;
        // SAFETY: the caller's handle.
        let group = unsafe { handle::get(group, "group") }?;
        Ok(match group {
            GroupHandle::MutuallyExclusive(group) => executor.add(group),
            GroupHandle::Reentrant(group) => executor.add(group),
        }?)
    })
}

/// Serves a context no more: all its groups that the executor serves. Their messages keep waiting,
/// and another executor may serve the context from now on. Returns false if the executor served
/// none of it.
///
/// Allowed while another thread spins the executor. Waits for their callbacks that are running on
/// other threads; in a callback of such a group it doesn't wait for that one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_executor_remove_context(
    executor: *const sinew_executor,
    context: *const sinew_context,
) -> bool {
    answer(false, || {
        // SAFETY: the caller's handle.
        let executor = unsafe { handle::get(executor, "executor") }?;
        // SAFETY: the caller's handle.
        Ok(executor.remove(unsafe { handle::get(context, "context") }?))
    })
}

/// Serves a node no more, as `sinew_executor_remove_context`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_executor_remove_node(
    executor: *const sinew_executor,
    node: *const sinew_node,
) -> bool {
    answer(false, || {
        // SAFETY: the caller's handle.
        let executor = unsafe { handle::get(executor, "executor") }?;
        // SAFETY: the caller's handle.
        Ok(executor.remove(&unsafe { handle::get(node, "node") }?.node))
    })
}

/// Serves a group no more, as `sinew_executor_remove_context`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_executor_remove_group(
    executor: *const sinew_executor,
    group: *const sinew_group,
) -> bool {
    answer(false, || {
        // SAFETY: the caller's handle.
        let executor = unsafe { handle::get(executor, "executor") }?;
        // SAFETY: the caller's handle.
        Ok(match unsafe { handle::get(group, "group") }? {
            GroupHandle::MutuallyExclusive(group) => executor.remove(group),
            GroupHandle::Reentrant(group) => executor.remove(group),
        })
    })
}

/// Runs callbacks until the executor is stopped or a context of it is shut down; then it returns
/// `SINEW_OK`. Blocks. With several threads the others begin and end with it.
///
/// Fails with `SINEW_ERROR_BUSY` if another thread spins the executor, with
/// `SINEW_ERROR_NOTHING_TO_SPIN` if nothing was added within two seconds, with
/// `SINEW_ERROR_CALLBACK_FAILED` if a callback failed and `on_error` says to stop, and with
/// `SINEW_ERROR_THREAD` if the machine refuses threads, priority, cores or memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_executor_spin(executor: *const sinew_executor) -> sinew_status {
    // SAFETY: the caller's handle.
    status(|| spun(unsafe { kept(executor) }?.spin()))
}

/// Runs the callbacks that are ready now, on this thread, and none that becomes ready meanwhile.
/// Doesn't wait. `ran` may be null; it gets the number of callbacks that ran.
///
/// Fails as `sinew_executor_spin`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_executor_spin_some(
    executor: *const sinew_executor,
    ran: Option<&mut u64>,
) -> sinew_status {
    // SAFETY: the caller's handle.
    status(|| counted(ran, spun(unsafe { kept(executor) }?.spin_some())?))
}

/// As `sinew_executor_spin_some`, until `max` has passed: 0 runs one callback at most, a negative
/// time is no limit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_executor_spin_some_for(
    executor: *const sinew_executor,
    max: sinew_duration,
    ran: Option<&mut u64>,
) -> sinew_status {
    // SAFETY: the caller's handle.
    status(|| counted(ran, spun(unsafe { kept(executor) }?.spin_some_for(timeout(max)))?))
}

/// Runs the callbacks that are ready, on this thread, and those that become ready meanwhile, until
/// none is left or `max` has passed: 0 runs one at most, a negative time is no limit. Doesn't wait.
/// `ran` may be null; it gets the number of callbacks that ran.
///
/// Fails as `sinew_executor_spin`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_executor_spin_all(
    executor: *const sinew_executor,
    max: sinew_duration,
    ran: Option<&mut u64>,
) -> sinew_status {
    // SAFETY: the caller's handle.
    status(|| counted(ran, spun(unsafe { kept(executor) }?.spin_all(timeout(max)))?))
}

/// Runs one callback on this thread, and waits for one for at most `timeout` of real time. `ran`
/// may be null; it gets whether one ran. That none ran in time is no failure.
///
/// Fails as `sinew_executor_spin`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_executor_spin_once(
    executor: *const sinew_executor,
    timeout: sinew_duration,
    ran: Option<&mut bool>,
) -> sinew_status {
    // SAFETY: the caller's handle.
    status(|| counted(ran, spun(unsafe { kept(executor) }?.spin_once(crate::time::timeout(timeout)))?))
}

/// Runs callbacks on all threads of the executor until `duration` has passed on a clock of the
/// node, which the executor must serve. `SINEW_CLOCK_DEFAULT` is ROS time here.
///
/// Fails as `sinew_executor_spin`; with `SINEW_ERROR_STOPPED` if the executor was stopped before,
/// `SINEW_ERROR_SHUTDOWN` if the context was shut down, and `SINEW_ERROR_CLOCK_CHANGED` if the
/// clock's source changed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_executor_spin_for(
    executor: *const sinew_executor,
    node: *const sinew_node,
    clock: sinew_clock_kind,
    duration: sinew_duration,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let executor = unsafe { kept(executor) }?;
        // SAFETY: the caller's handle.
        let node = unsafe { handle::get(node, "node") }?.node.clone();
        let (clock, duration) = (clock_kind(clock)?.unwrap_or(ClockKind::Ros), span(duration, "duration")?);
        Ok(spun(executor.spin_until(node.sleep_for_async(clock, duration)))??)
    })
}

/// Advances virtual time from one timer to the next, and runs ready callbacks at each time, on this
/// thread. `ran` may be null; it gets the number of callbacks that ran. The same program does the
/// same in the same order every time.
///
/// Fails as `sinew_executor_spin`, and with `SINEW_ERROR_NOT_VIRTUAL` if the contexts of the
/// executor have no virtual clock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_executor_advance(
    executor: *const sinew_executor,
    duration: sinew_duration,
    ran: Option<&mut u64>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let executor = unsafe { kept(executor) }?;
        counted(ran, spun(executor.advance(span(duration, "duration")?))?)
    })
}

/// Converts the outcome of a spin; the failure of a callback of C keeps what it came with.
pub(crate) fn spun<T>(outcome: std::result::Result<T, SpinError>) -> Result<T> {
    outcome.map_err(|error| {
        let payload = match &error {
            SpinError::Failed { error, .. } => {
                error.downcast_ref::<CallbackFailed>().and_then(CallbackFailed::payload)
            }
            _ => None,
        };
        Failure::from(error).with_payload(payload)
    })
}

/// Puts a result that the caller may leave out.
#[expect(clippy::unnecessary_wraps, reason = "the last step of a function that returns a status")]
fn counted<T>(place: Option<&mut T>, value: T) -> Result {
    if let Some(place) = place {
        *place = value;
    }
    Ok(())
}

/// Puts a file descriptor for the event loop of another library (epoll, poll, a user interface)
/// into `*descriptor`: it is readable while no thread spins the executor and a callback is ready or
/// a timer is due; the loop's thread then calls `sinew_executor_spin_some`. It belongs to the
/// executor: don't close or read it.
///
/// Fails with `SINEW_ERROR_SYSTEM` if the operating system gives no more descriptors.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_executor_descriptor(
    executor: *const sinew_executor,
    descriptor: Option<&mut c_int>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let executor = unsafe { handle::get(executor, "executor") }?;
        let failure = |error| {
            Failure::new(ErrorCode::System, format_args!("there is no descriptor for the executor: {error}"))
        };
        put(descriptor, "descriptor", executor.descriptor().map_err(failure)?.as_raw_fd())
    })
}

/// Makes the current spin return after its running callbacks, or the next one, if none runs. Never
/// blocks; any thread and any callback may call it, but no handler of a signal.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_executor_stop(executor: *const sinew_executor) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        unsafe { handle::get(executor, "executor") }?.stop_handle().stop();
        Ok(())
    })
}

/// Makes a handle that stops the executor, for a thread that may outlive it. The caller frees it
/// with `sinew_stop_handle_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_executor_stop_handle(
    executor: *const sinew_executor,
    stop: Option<&mut *mut sinew_stop_handle>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let executor = unsafe { handle::get(executor, "executor") }?;
        handle::put(stop, "stop", executor.stop_handle())
    })
}

/// Stops the executor or wait set, as `sinew_executor_stop` and `sinew_wait_set_stop`. Does nothing
/// once that is gone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_stop_handle_stop(stop: *const sinew_stop_handle) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        unsafe { handle::get(stop, "stop") }?.stop();
        Ok(())
    })
}

/// Frees a handle that stops an executor or wait set; null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_stop_handle_free(stop: *mut sinew_stop_handle) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(stop, "stop") };
}

/// Runs the callbacks of a node on this thread until its context is shut down: an executor of one
/// thread, the node and a spin in one. Blocks.
///
/// Fails as `sinew_executor_add_node` and `sinew_executor_spin`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_spin(node: *const sinew_node) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let node = unsafe { handle::get(node, "node") }?.node.clone();
        let executor = Executor::single();
        executor.add(&node)?;
        spun(executor.spin())
    })
}
