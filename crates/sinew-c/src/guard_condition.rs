//! Guard conditions: waking an executor by hand.

use crate::closure::{self, Closure, outcome};
use crate::group::{in_group, sinew_group};
use crate::handle::{self, handle};
use crate::node::sinew_node;
use crate::owned::sinew_drop;
use crate::status::{sinew_status, status};
use crate::structure::{Structure, structure};
use crate::text::optional_text;
use sinew::GuardCondition;
use sinew::event::Triggered;
use std::ffi::{c_char, c_void};

/// A guard condition: it runs a callback in an executor when any thread triggers it.
pub struct sinew_guard_condition {
    _opaque: (),
}
handle!(sinew_guard_condition: GuardCondition);

/// The callback of a guard condition. `count` is the number of triggers since it last ran. It
/// returns `SINEW_OK`, or a failure, of which `on_error` of the executor says what happens.
pub type sinew_guard_condition_callback =
    Option<unsafe extern "C" fn(context: *mut c_void, count: u64) -> sinew_status>;

/// A listener, which needs no executor: it is called with the number of triggers, on the thread
/// that triggers, by several threads at once if these trigger at once.
pub type sinew_guard_condition_listener = Option<unsafe extern "C" fn(context: *mut c_void, count: u64)>;

/// The options of [`sinew_guard_condition_new`]. Zero is the default of every field.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_guard_condition_options {
    /// `sizeof(struct sinew_guard_condition_options)`.
    pub size: usize,
    /// The group in which the callback runs. Null: the node's default group. With a group of
    /// another node the guard condition belongs to that node.
    pub group: *const sinew_group,
    /// Its name in log lines, as when its callback fails. Null: "guard condition".
    pub name: *const c_char,
}

// SAFETY: C's layout, beginning with the size; zeros are null.
unsafe impl Structure for sinew_guard_condition_options {
    const NAME: &str = "sinew_guard_condition_options";
}

/// Makes a guard condition.
///
/// `options` may be null. The caller frees `*guard` with `sinew_guard_condition_free`.
/// `drop_context` may be null; otherwise it is called once, with `callback_context`: when the guard
/// condition is gone, or at once if the function fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_guard_condition_new(
    node: *const sinew_node,
    options: *const sinew_guard_condition_options,
    callback: sinew_guard_condition_callback,
    callback_context: *mut c_void,
    drop_context: sinew_drop,
    guard: Option<&mut *mut sinew_guard_condition>,
) -> sinew_status {
    status(|| {
        let closure = Closure::new(callback, callback_context, drop_context)?;
        // SAFETY: the caller's handle.
        let node = unsafe { handle::get(node, "node") }?;
        // SAFETY: the caller's structure.
        let options = unsafe { structure(options) }?;
        // SAFETY: the caller's handle.
        let group = unsafe { handle::get_optional(options.group, "group") }?;
        // SAFETY: the caller's text.
        let name = unsafe { optional_text(options.name, "name") }?;
        let run = move |triggered: &Triggered| {
            let (callback, context) = closure.parts();
            // SAFETY: the caller's function, with its context.
            outcome(unsafe { callback(context, triggered.count) })
        };
        let made = in_group!(node, group, |maker| {
            let builder = maker.guard_condition();
            match name {
                Some(name) => builder.called(name),
                None => builder,
            }
            .callback(run)
        })?;
        handle::put(guard, "guard", made)
    })
}

/// Frees a handle to a guard condition, which ends it; null is allowed. No callback begins after
/// this, but one may still run on another thread: `sinew_guard_condition_close` waits for it. Its
/// own callback may call this.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_guard_condition_free(guard: *mut sinew_guard_condition) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(guard, "guard") };
}

/// Ends the guard condition, and waits for its callback if that is running on another thread.
/// Called in its own callback it doesn't wait. The handle remains to be freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_guard_condition_close(guard: *const sinew_guard_condition) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        unsafe { handle::get(guard, "guard") }?.clone().close();
        Ok(())
    })
}

/// Triggers it: an executor runs the callback, once for all triggers that came before. Never
/// blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_guard_condition_trigger(guard: *const sinew_guard_condition) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        unsafe { handle::get(guard, "guard") }?.trigger();
        Ok(())
    })
}

/// Sets a listener, in the place of a former one. If there were triggers since the callback last
/// ran, it is called at once with their number. It may trigger other guard conditions, and replace
/// or clear itself. `drop_context` is as for `sinew_guard_condition_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_guard_condition_set_listener(
    guard: *const sinew_guard_condition,
    listener: sinew_guard_condition_listener,
    listener_context: *mut c_void,
    drop_context: sinew_drop,
) -> sinew_status {
    status(|| {
        let closure = Closure::new(listener, listener_context, drop_context)?;
        // SAFETY: the caller's handle.
        let guard = unsafe { handle::get(guard, "guard") }?;
        guard.set_listener(closure::listener(closure));
        Ok(())
    })
}

/// Removes the listener. It may still be called for triggers that are happening on other threads.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_guard_condition_clear_listener(
    guard: *const sinew_guard_condition,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        unsafe { handle::get(guard, "guard") }?.clear_listener();
        Ok(())
    })
}
