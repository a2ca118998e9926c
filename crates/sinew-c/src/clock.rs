//! Reading the clocks, setting ROS time, jumps of it, and sleeping.

use crate::closure::Closure;
use crate::context::{choice, sinew_choice, sinew_context};
use crate::handle::{self, handle};
use crate::node::sinew_node;
use crate::owned::sinew_drop;
use crate::status::{answer, sinew_status, status};
use crate::structure::{Structure, structure};
use crate::time::{clock_kind, sinew_clock_kind, sinew_duration, sinew_time, span};
use sinew::time::{ClockChange, ClockKind, JumpHandler, JumpThreshold, Time, TimeJump};
use std::ffi::{c_int, c_void};
use std::time::Duration;

/// Returns the time of the node's clock of this kind; `SINEW_CLOCK_DEFAULT` is ROS time here, which
/// belongs into the stamps of messages.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_node_now(node: *const sinew_node, clock: sinew_clock_kind) -> sinew_time {
    answer(0, || {
        let clock = clock_kind(clock)?.unwrap_or(ClockKind::Ros);
        // SAFETY: the caller's handle.
        Ok(unsafe { handle::get(node, "node") }?.node.now_by(clock).nanoseconds())
    })
}

/// Returns the time of the context's clock of this kind, as `sinew_node_now`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_context_now(
    context: *const sinew_context,
    clock: sinew_clock_kind,
) -> sinew_time {
    answer(0, || {
        let clock = clock_kind(clock)?.unwrap_or(ClockKind::Ros);
        // SAFETY: the caller's handle.
        Ok(unsafe { handle::get(context, "context") }?.now_by(clock).nanoseconds())
    })
}

/// Returns the machine's steady time, which never jumps and is the same for all processes of a
/// host.
#[unsafe(no_mangle)]
pub extern "C" fn sinew_steady_now() -> sinew_time {
    Time::steady().nanoseconds()
}

/// Returns the machine's wall time: nanoseconds since 1970.
#[unsafe(no_mangle)]
pub extern "C" fn sinew_system_now() -> sinew_time {
    Time::wall().nanoseconds()
}

/// Sets the ROS time of a context, as a replay does that has no `/clock`. Timers and rates of its
/// nodes follow it from then on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_context_set_ros_time(
    context: *const sinew_context,
    time: sinew_time,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        unsafe { handle::get(context, "context") }?.set_ros_time(Some(Time::from_nanoseconds(time)));
        Ok(())
    })
}

/// Ends the time of `sinew_context_set_ros_time`: ROS time is the wall clock again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_context_clear_ros_time(context: *const sinew_context) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        unsafe { handle::get(context, "context") }?.set_ros_time(None);
        Ok(())
    })
}

/// Sets whether the context follows simulated time, which comes on `/clock`. It is 0 until the
/// first message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_context_use_sim_time(
    context: *const sinew_context,
    wanted: bool,
) -> sinew_status {
    // SAFETY: the caller's handle.
    status(|| Ok(unsafe { handle::get(context, "context") }?.use_sim_time(wanted)?))
}

/// Returns whether the context follows simulated time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_context_uses_sim_time(context: *const sinew_context) -> bool {
    // SAFETY: the caller's handle.
    answer(false, || Ok(unsafe { handle::get(context, "context") }?.uses_sim_time()))
}

/// Returns whether ROS time is simulated or set, and not the wall clock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_context_ros_time_is_active(context: *const sinew_context) -> bool {
    // SAFETY: the caller's handle.
    answer(false, || Ok(unsafe { handle::get(context, "context") }?.ros_time_is_active()))
}

/// Sleeps until the context's clock has advanced by `duration`, as `sinew_node_sleep_for`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_context_sleep_for(
    context: *const sinew_context,
    clock: sinew_clock_kind,
    duration: sinew_duration,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let context = unsafe { handle::get(context, "context") }?.clone();
        let clock = clock_kind(clock)?.unwrap_or(ClockKind::Ros);
        Ok(context.sleep_for(clock, span(duration, "duration")?)?)
    })
}

/// Sleeps until the context's clock shows `time`, as `sinew_node_sleep_until`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_context_sleep_until(
    context: *const sinew_context,
    clock: sinew_clock_kind,
    time: sinew_time,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let context = unsafe { handle::get(context, "context") }?.clone();
        let clock = clock_kind(clock)?.unwrap_or(ClockKind::Ros);
        Ok(context.sleep_until(clock, Time::from_nanoseconds(time))?)
    })
}

/// Sleeps until the node's clock has advanced by `duration`; `SINEW_CLOCK_DEFAULT` is ROS time
/// here. Blocks the thread, so use timers in callbacks: in a callback of the executor that advances
/// the time the sleep never ends.
///
/// Fails with `SINEW_ERROR_SHUTDOWN` if the context is shut down, and with
/// `SINEW_ERROR_CLOCK_CHANGED` if the clock's source changes meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_node_sleep_for(
    node: *const sinew_node,
    clock: sinew_clock_kind,
    duration: sinew_duration,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let node = unsafe { handle::get(node, "node") }?.node.clone();
        let clock = clock_kind(clock)?.unwrap_or(ClockKind::Ros);
        Ok(node.sleep_for(clock, span(duration, "duration")?)?)
    })
}

/// Sleeps until the node's clock shows `time`; not at all if it already does. Otherwise as
/// `sinew_node_sleep_for`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_node_sleep_until(
    node: *const sinew_node,
    clock: sinew_clock_kind,
    time: sinew_time,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let node = unsafe { handle::get(node, "node") }?.node.clone();
        let clock = clock_kind(clock)?.unwrap_or(ClockKind::Ros);
        Ok(node.sleep_until(clock, Time::from_nanoseconds(time))?)
    })
}

/// A handler for jumps of ROS time.
pub struct sinew_jump_handler {
    _opaque: (),
}
handle!(sinew_jump_handler: JumpHandler);

/// How the source of ROS time changed.
pub type sinew_clock_change = c_int;

/// The source is the same.
pub const SINEW_CLOCK_SAME: sinew_clock_change = 0;
/// ROS time is simulated or set from now on.
pub const SINEW_CLOCK_ACTIVATED: sinew_clock_change = 1;
/// ROS time is the wall clock from now on.
pub const SINEW_CLOCK_DEACTIVATED: sinew_clock_change = 2;

/// A jump of ROS time.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_time_jump {
    /// The change of its source.
    pub change: sinew_clock_change,
    /// The time before.
    pub before: sinew_time,
    /// The time from now on.
    pub after: sinew_time,
}

/// A function that is called after a jump, on the thread that set the time; several threads may
/// call it at once. `jump` is valid during the call only.
pub type sinew_jump_callback =
    Option<unsafe extern "C" fn(context: *mut c_void, jump: *const sinew_time_jump)>;

/// The jumps that a handler gets. Zero is the default of every field: changes of the source, and
/// all jumps back.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_jump_threshold {
    /// `sizeof(struct sinew_jump_threshold)`.
    pub size: usize,
    /// Whether changes of the source count, however far apart the times are. By default they do.
    pub on_clock_change: sinew_choice,
    /// The shortest jump forward that counts. Every message of `/clock` is a jump of a step. 0:
    /// none.
    pub min_forward: sinew_duration,
    /// The shortest jump back that counts. 0: all; negative: none.
    pub min_backward: sinew_duration,
}

// SAFETY: C's layout, beginning with the size; zeros are numbers.
unsafe impl Structure for sinew_jump_threshold {
    const NAME: &str = "sinew_jump_threshold";
}

/// Calls a function when the ROS time of the context jumps.
///
/// `threshold` may be null. The caller ends it by `sinew_jump_handler_free`; if another thread sets
/// the time meanwhile, the function may be called once more. `drop_context` may be null; otherwise
/// it is called once, with `callback_context`: when the handler is gone, or at once if this
/// function fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_context_on_time_jump(
    context: *const sinew_context,
    threshold: *const sinew_jump_threshold,
    callback: sinew_jump_callback,
    callback_context: *mut c_void,
    drop_context: sinew_drop,
    handler: Option<&mut *mut sinew_jump_handler>,
) -> sinew_status {
    status(|| {
        let closure = Closure::new(callback, callback_context, drop_context)?;
        // SAFETY: the caller's handle.
        let context = unsafe { handle::get(context, "context") }?;
        // SAFETY: the caller's structure.
        let options = unsafe { structure(threshold) }?;
        let mut threshold = JumpThreshold::resets();
        threshold.on_clock_change = choice(options.on_clock_change, "on_clock_change")?.unwrap_or(true);
        threshold.min_backward = u64::try_from(options.min_backward).ok().map(Duration::from_nanos);
        threshold.min_forward = match span(options.min_forward, "min_forward")? {
            Duration::ZERO => None,
            min => Some(min),
        };
        let call = move |jump: &TimeJump| {
            let (callback, context) = closure.parts();
            let jump = c_jump(jump);
            // SAFETY: the caller's function, with its context and a structure that outlives the
            // call.
            unsafe { callback(context, &raw const jump) };
        };
        handle::put(handler, "handler", context.on_time_jump(threshold, call))
    })
}

fn c_jump(jump: &TimeJump) -> sinew_time_jump {
    let change = match jump.change {
        ClockChange::Same => SINEW_CLOCK_SAME,
        ClockChange::Activated => SINEW_CLOCK_ACTIVATED,
        ClockChange::Deactivated => SINEW_CLOCK_DEACTIVATED,
    };
    sinew_time_jump { change, before: jump.before.nanoseconds(), after: jump.after.nanoseconds() }
}

/// Frees a handler for jumps of time, which ends it; null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_jump_handler_free(handler: *mut sinew_jump_handler) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(handler, "handler") };
}
