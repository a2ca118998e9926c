//! Publishing `/clock`, as a simulator, a replay or a test does.

use crate::handle::{self, handle};
use crate::node::sinew_node;
use crate::status::{Failure, answer, sinew_status, status};
use crate::structure::{Structure, structure};
use crate::time::{sinew_duration, sinew_time, span};
use sinew::error::ErrorCode;
use sinew::time::{ClockPublisher, Time};

/// A publisher of `/clock`: a time of its own, which advances with steady time at a chosen speed,
/// and can be paused, stepped and set. A domain should have only one.
pub struct sinew_clock_publisher {
    _opaque: (),
}
handle!(sinew_clock_publisher: ClockPublisher);

/// The options of [`sinew_clock_publisher_new`]. Zero is the default of every field.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_clock_publisher_options {
    /// `sizeof(struct sinew_clock_publisher_options)`.
    pub size: usize,
    /// The steady time from one message to the next. 0: 25 ms.
    pub period: sinew_duration,
    /// The time at which it begins, by default 0.
    pub start: sinew_time,
    /// The speed as a multiple of steady time's. 0: 1.
    pub speed: f64,
    /// Whether it begins with a pause.
    pub is_paused: bool,
}

// SAFETY: C's layout, beginning with the size; zeros are numbers and `false`.
unsafe impl Structure for sinew_clock_publisher_options {
    const NAME: &str = "sinew_clock_publisher_options";
}

/// Makes a publisher of `/clock`. Its periodic messages need an executor that serves the node; each
/// call that changes the time publishes at once, on the caller's thread.
///
/// `options` may be null. The caller frees `*publisher` with `sinew_clock_publisher_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_clock_publisher_new(
    node: *const sinew_node,
    options: *const sinew_clock_publisher_options,
    publisher: Option<&mut *mut sinew_clock_publisher>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let node = unsafe { handle::get(node, "node") }?;
        // SAFETY: the caller's structure.
        let options = unsafe { structure(options) }?;
        let mut builder = node.node.clock_publisher().start(Time::from_nanoseconds(options.start));
        if options.period != 0 {
            builder = builder.period(span(options.period, "period")?);
        }
        if options.speed != 0.0 {
            builder = builder.speed(checked(options.speed)?);
        }
        if options.is_paused {
            builder = builder.paused();
        }
        handle::put(publisher, "publisher", builder.create()?)
    })
}

/// Returns a speed, which is a number and not negative.
fn checked(speed: f64) -> crate::status::Result<f64> {
    if speed >= 0.0 {
        return Ok(speed);
    }
    let sentence = format_args!("`speed` is {speed}: it is a multiple of steady time's, 0 or more");
    Err(Failure::new(ErrorCode::InvalidPeriod, sentence))
}

/// Frees a handle to a publisher of `/clock`, which ends it; null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_clock_publisher_free(publisher: *mut sinew_clock_publisher) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(publisher, "publisher") };
}

/// Returns the time of this clock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_clock_publisher_now(publisher: *const sinew_clock_publisher) -> sinew_time {
    // SAFETY: the caller's handle.
    answer(0, || Ok(unsafe { handle::get(publisher, "publisher") }?.now().nanoseconds()))
}

/// Pauses the time. Fails as publishing does; the time is paused anyway.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_clock_publisher_pause(
    publisher: *const sinew_clock_publisher,
) -> sinew_status {
    // SAFETY: the caller's handle.
    status(|| Ok(unsafe { handle::get(publisher, "publisher") }?.pause()?))
}

/// Lets the time go on from where it stands. Fails as publishing does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_clock_publisher_resume(
    publisher: *const sinew_clock_publisher,
) -> sinew_status {
    // SAFETY: the caller's handle.
    status(|| Ok(unsafe { handle::get(publisher, "publisher") }?.resume()?))
}

/// Returns whether the time is paused.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_clock_publisher_is_paused(publisher: *const sinew_clock_publisher) -> bool {
    // SAFETY: the caller's handle.
    answer(false, || Ok(unsafe { handle::get(publisher, "publisher") }?.is_paused()))
}

/// Moves the time forward, paused or not. Fails as publishing does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_clock_publisher_step(
    publisher: *const sinew_clock_publisher,
    duration: sinew_duration,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        Ok(unsafe { handle::get(publisher, "publisher") }?.step(span(duration, "duration")?)?)
    })
}

/// Sets the time, possibly back. Fails as publishing does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_clock_publisher_set(
    publisher: *const sinew_clock_publisher,
    time: sinew_time,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        Ok(unsafe { handle::get(publisher, "publisher") }?.set(Time::from_nanoseconds(time))?)
    })
}

/// Sets the speed as a multiple of steady time's: 0 or more. Fails as publishing does, and with
/// `SINEW_ERROR_INVALID_PERIOD` for another number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_clock_publisher_set_speed(
    publisher: *const sinew_clock_publisher,
    speed: f64,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        Ok(unsafe { handle::get(publisher, "publisher") }?.set_speed(checked(speed)?)?)
    })
}

/// Publishes the time now, in addition to the periodic messages. Fails as publishing does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_clock_publisher_publish(
    publisher: *const sinew_clock_publisher,
) -> sinew_status {
    // SAFETY: the caller's handle.
    status(|| Ok(unsafe { handle::get(publisher, "publisher") }?.publish()?))
}
