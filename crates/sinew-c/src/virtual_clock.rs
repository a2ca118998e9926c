//! Clocks that only the program moves, for tests.

use crate::handle::{self, handle};
use crate::status::{answer, sinew_status, status};
use crate::time::{sinew_duration, sinew_time, span};
use sinew::time::{Time, VirtualClock};

/// A clock that only the program moves: the time of a context that was made with it, on all of its
/// clocks. `sinew_executor_advance` moves it from timer to timer.
pub struct sinew_virtual_clock {
    _opaque: (),
}
handle!(sinew_virtual_clock: VirtualClock);

/// Makes a clock at time 0. The caller frees `*clock` with `sinew_virtual_clock_free`; contexts
/// keep it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_virtual_clock_new(
    clock: Option<&mut *mut sinew_virtual_clock>,
) -> sinew_status {
    status(|| handle::put(clock, "clock", VirtualClock::new()))
}

/// Frees a handle to a virtual clock; null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_virtual_clock_free(clock: *mut sinew_virtual_clock) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(clock, "clock") };
}

/// Returns the time of the clock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_virtual_clock_now(clock: *const sinew_virtual_clock) -> sinew_time {
    // SAFETY: the caller's handle.
    answer(0, || Ok(unsafe { handle::get(clock, "clock") }?.now().nanoseconds()))
}

/// Moves the clock forward, and wakes executors that wait for it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_virtual_clock_advance(
    clock: *const sinew_virtual_clock,
    duration: sinew_duration,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        unsafe { handle::get(clock, "clock") }?.advance(span(duration, "duration")?);
        Ok(())
    })
}

/// Moves the clock to a time, possibly back, and wakes executors that wait for it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_virtual_clock_set(
    clock: *const sinew_virtual_clock,
    time: sinew_time,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        unsafe { handle::get(clock, "clock") }?.set(Time::from_nanoseconds(time));
        Ok(())
    })
}
