//! Times and durations: nanoseconds.

use std::time::Duration;

/// Nanoseconds since the beginning of a clock: since 1970 for `SINEW_CLOCK_ROS` and `SINEW_CLOCK_SYSTEM`.
pub type sinew_time = i64;

/// Nanoseconds. As a timeout, a negative number is for ever.
pub type sinew_duration = i64;

/// Returns how long a function waits.
pub(crate) fn timeout(nanoseconds: sinew_duration) -> Duration {
    u64::try_from(nanoseconds).map_or(Duration::MAX, Duration::from_nanos)
}

/// Returns a duration for C, at most the longest that it can express: 292 years.
pub(crate) fn nanoseconds(duration: Duration) -> sinew_duration {
    sinew_duration::try_from(duration.as_nanos()).unwrap_or(sinew_duration::MAX)
}
