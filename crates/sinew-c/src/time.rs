//! Times and durations: nanoseconds.

use crate::status::{Failure, Result};
use sinew::error::ErrorCode;
use sinew::time::ClockKind;
use std::ffi::c_int;
use std::time::Duration;

/// Nanoseconds since the beginning of a clock: since 1970 for `SINEW_CLOCK_ROS` and
/// `SINEW_CLOCK_SYSTEM`.
pub type sinew_time = i64;

/// Nanoseconds. As a timeout, a negative number is for ever.
pub type sinew_duration = i64;

/// A clock.
pub type sinew_clock_kind = c_int;

/// The clock of a node, which timers and rates follow: simulated time while that is used (or ROS
/// time that was set), else steady time.
pub const SINEW_CLOCK_DEFAULT: sinew_clock_kind = 0;
/// ROS time: simulated time while that is used, else the wall clock. For the stamps of messages.
pub const SINEW_CLOCK_ROS: sinew_clock_kind = 1;
/// The wall clock.
pub const SINEW_CLOCK_SYSTEM: sinew_clock_kind = 2;
/// Time that never jumps, the same for all processes of a host.
pub const SINEW_CLOCK_STEADY: sinew_clock_kind = 3;

/// Returns a clock, or `None` for the default.
pub(crate) fn clock_kind(kind: sinew_clock_kind) -> Result<Option<ClockKind>> {
    match kind {
        SINEW_CLOCK_DEFAULT => Ok(None),
        SINEW_CLOCK_ROS => Ok(Some(ClockKind::Ros)),
        SINEW_CLOCK_SYSTEM => Ok(Some(ClockKind::System)),
        SINEW_CLOCK_STEADY => Ok(Some(ClockKind::Steady)),
        other => Err(Failure::enumerator("clock", other)),
    }
}

/// Returns a clock for C.
pub(crate) fn clock_number(kind: ClockKind) -> sinew_clock_kind {
    match kind {
        ClockKind::Ros => SINEW_CLOCK_ROS,
        ClockKind::System => SINEW_CLOCK_SYSTEM,
        ClockKind::Steady => SINEW_CLOCK_STEADY,
    }
}

/// Returns a duration, which can't be negative.
pub(crate) fn span(nanoseconds: sinew_duration, argument: &str) -> Result<Duration> {
    u64::try_from(nanoseconds).map(Duration::from_nanos).map_err(|_| {
        let sentence = format_args!("`{argument}` is {nanoseconds} ns: it can't be negative");
        Failure::new(ErrorCode::InvalidPeriod, sentence)
    })
}

/// Returns how long a function waits.
pub(crate) fn timeout(nanoseconds: sinew_duration) -> Duration {
    u64::try_from(nanoseconds).map_or(Duration::MAX, Duration::from_nanos)
}

/// Returns a duration for C, at most the longest that it can express: 292 years.
pub(crate) fn nanoseconds(duration: Duration) -> sinew_duration {
    sinew_duration::try_from(duration.as_nanos()).unwrap_or(sinew_duration::MAX)
}
