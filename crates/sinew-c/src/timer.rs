//! Timers.

use crate::closure::{Closure, outcome};
use crate::context::{choice, sinew_choice};
use crate::group::{in_group, sinew_group};
use crate::handle::{self, handle};
use crate::node::sinew_node;
use crate::owned::sinew_drop;
use crate::status::{Failure, Result, answer, sinew_status, status};
use crate::structure::{Structure, structure};
use crate::time::{
    clock_kind, clock_number, nanoseconds, sinew_clock_kind, sinew_duration, sinew_time, span,
};
use sinew::Timer;
use sinew::time::TimerInfo;
use std::ffi::c_void;

/// A timer: it runs a callback again and again, at fixed times.
pub struct sinew_timer {
    _opaque: (),
}
handle!(sinew_timer: Timer);

/// What a timer's callback gets to know. It is valid during the call only.
pub struct sinew_timer_info {
    _opaque: (),
}

/// A timer's callback. It returns `SINEW_OK`, or a failure, of which `on_error` of the executor
/// says what happens. `info` is valid during the call only.
pub type sinew_timer_callback =
    Option<unsafe extern "C" fn(context: *mut c_void, info: *const sinew_timer_info) -> sinew_status>;

/// The options of [`sinew_timer_new`]. Zero is the default of every field.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_timer_options {
    /// `sizeof(struct sinew_timer_options)`.
    pub size: usize,
    /// The group in which the callback runs. Null: the node's default group. With a group of
    /// another node the timer belongs to that node.
    pub group: *const sinew_group,
    /// The clock that it follows. By default that of the node: simulated time while that is used,
    /// else steady time. `SINEW_CLOCK_STEADY` makes what ROS 2 calls a wall timer.
    pub clock: sinew_clock_kind,
    /// Whether it runs without a call of `sinew_timer_reset`. By default it does.
    pub autostart: sinew_choice,
    /// Whether it is cancelled when it has run once; `sinew_timer_reset` starts it again. By
    /// default it isn't.
    pub one_shot: bool,
}

// SAFETY: C's layout, beginning with the size; zeros are null, numbers, `false`.
unsafe impl Structure for sinew_timer_options {
    const NAME: &str = "sinew_timer_options";
}

/// Makes a timer, which is due for the first time one period from now: the n-th due time is the
/// first one plus n periods, however late callbacks run. One that can't keep up skips periods and
/// counts them.
///
/// `options` may be null. The caller frees `*timer` with `sinew_timer_free`. `drop_context` may be
/// null; otherwise it is called once, with `callback_context`: when the timer is gone, or at once
/// if the function fails.
///
/// Fails with `SINEW_ERROR_INVALID_PERIOD` if the period is not positive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_timer_new(
    node: *const sinew_node,
    period: sinew_duration,
    options: *const sinew_timer_options,
    callback: sinew_timer_callback,
    callback_context: *mut c_void,
    drop_context: sinew_drop,
    timer: Option<&mut *mut sinew_timer>,
) -> sinew_status {
    status(|| {
        let closure = Closure::new(callback, callback_context, drop_context)?;
        // SAFETY: the caller's handle.
        let node = unsafe { handle::get(node, "node") }?;
        // SAFETY: the caller's structure.
        let options = unsafe { structure(options) }?;
        // SAFETY: the caller's handle.
        let group = unsafe { handle::get_optional(options.group, "group") }?;
        let (period, clock) = (span(period, "period")?, clock_kind(options.clock)?);
        let autostart = choice(options.autostart, "autostart")?.unwrap_or(true);
        let run = move |info: &TimerInfo| {
            if options.one_shot {
                info.cancel();
            }
            let (callback, context) = closure.parts();
            // SAFETY: the caller's function, with its context and the library's structure.
            outcome(unsafe { callback(context, std::ptr::from_ref(info).cast()) })
        };
        let made = in_group!(node, group, |maker| {
            let builder = maker.timer(period).autostart(autostart);
            match clock {
                Some(clock) => builder.clock(clock),
                None => builder,
            }
            .callback(run)
        })?;
        handle::put(timer, "timer", made)
    })
}

/// Frees a handle to a timer, which ends it; null is allowed. No callback begins after this, but
/// one may still run on another thread: `sinew_timer_close` waits for it. The timer's own callback
/// may call this.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_timer_free(timer: *mut sinew_timer) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(timer, "timer") };
}

/// Ends the timer, and waits for its callback if that is running on another thread. Called in its
/// own callback it doesn't wait. The handle remains to be freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_timer_close(timer: *const sinew_timer) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        unsafe { handle::get(timer, "timer") }?.clone().close();
        Ok(())
    })
}

/// Frees the handle, and keeps the timer until its context ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_timer_detach(timer: *mut sinew_timer) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        unsafe { handle::take(timer, "timer") }?.detach();
        Ok(())
    })
}

/// Stops the timer until `sinew_timer_reset`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_timer_cancel(timer: *const sinew_timer) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        unsafe { handle::get(timer, "timer") }?.cancel();
        Ok(())
    })
}

/// Starts the timer again: it is due one period from now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_timer_reset(timer: *const sinew_timer) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        unsafe { handle::get(timer, "timer") }?.reset();
        Ok(())
    })
}

/// Returns whether the timer is cancelled.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_timer_is_cancelled(timer: *const sinew_timer) -> bool {
    // SAFETY: the caller's handle.
    answer(false, || Ok(unsafe { handle::get(timer, "timer") }?.is_cancelled()))
}

/// Returns the time from one due time to the next.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_timer_period(timer: *const sinew_timer) -> sinew_duration {
    // SAFETY: the caller's handle.
    answer(0, || Ok(nanoseconds(unsafe { handle::get(timer, "timer") }?.period())))
}

/// Returns the time of its clock until it is due: 0 if it is, and -1 if it is cancelled.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_timer_time_until_next(timer: *const sinew_timer) -> sinew_duration {
    answer(0, || {
        // SAFETY: the caller's handle.
        let left = unsafe { handle::get(timer, "timer") }?.time_until_next();
        Ok(left.map_or(-1, nanoseconds))
    })
}

/// Returns the number of periods that it has skipped because it couldn't keep up.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_timer_skipped(timer: *const sinew_timer) -> u64 {
    // SAFETY: the caller's handle.
    answer(0, || Ok(unsafe { handle::get(timer, "timer") }?.skipped()))
}

/// Returns the clock that it uses now: one that follows its node's clock changes when simulated
/// time begins or ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_timer_clock(timer: *const sinew_timer) -> sinew_clock_kind {
    // SAFETY: the caller's handle.
    answer(0, || Ok(clock_number(unsafe { handle::get(timer, "timer") }?.clock())))
}

/// Returns what a callback was given.
///
/// # Safety
/// The pointer is null, or that of a callback that runs.
unsafe fn info<'a>(info: *const sinew_timer_info) -> Result<&'a TimerInfo> {
    // SAFETY: the callback's pointer came from a reference, which lives as long as the callback
    // runs.
    unsafe { info.cast::<TimerInfo>().as_ref() }.ok_or_else(|| Failure::null("info"))
}

/// Returns the time at which it was due, in the time of its clock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_timer_info_due(info: *const sinew_timer_info) -> sinew_time {
    // SAFETY: the callback's pointer.
    answer(0, || Ok(unsafe { self::info(info) }?.due().nanoseconds()))
}

/// Returns the time at which it was called, in the time of its clock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_timer_info_actual(info: *const sinew_timer_info) -> sinew_time {
    // SAFETY: the callback's pointer.
    answer(0, || Ok(unsafe { self::info(info) }?.actual().nanoseconds()))
}

/// Returns the number of later due times that have passed as well, and are skipped.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_timer_info_skipped(info: *const sinew_timer_info) -> u64 {
    // SAFETY: the callback's pointer.
    answer(0, || Ok(unsafe { self::info(info) }?.skipped()))
}

/// Cancels the timer from its callback, which may not know its handle yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_timer_info_cancel(info: *const sinew_timer_info) -> sinew_status {
    status(|| {
        // SAFETY: the callback's pointer.
        unsafe { self::info(info) }?.cancel();
        Ok(())
    })
}
