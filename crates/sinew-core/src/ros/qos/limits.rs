//! Limits of settings.

use std::time::Duration;

/// The most messages that a history can hold: the capacity of a ring towards another process.
pub(super) const DEEPEST: usize = sinew_shm::transport::Writer::DEEPEST;

/// The longest duration that nanoseconds in an `i64` hold. `RMW_DURATION_INFINITE` in ROS 2: no
/// limit.
pub(super) const LONGEST: Duration = Duration::from_nanos(i64::MAX as u64);

/// Converts a duration to a limit: none, if it is one of the two that mean "no limit".
pub(super) const fn limited(duration: Duration) -> Option<Duration> {
    let nanoseconds = duration.as_nanos();
    if nanoseconds == Duration::MAX.as_nanos() || nanoseconds == LONGEST.as_nanos() {
        None
    } else {
        Some(duration)
    }
}

/// A time limit as matching compares it: none is the longest.
pub(super) fn limit(limit: Option<Duration>) -> Duration {
    limit.and_then(limited).unwrap_or(Duration::MAX)
}
