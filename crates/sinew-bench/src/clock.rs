//! The steady clock, in nanoseconds.

use std::time::Duration;

use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec};
use sinew::time::Time;

/// Returns the current time of the clock that all latencies here are taken from
/// (`CLOCK_MONOTONIC`).
#[inline]
pub fn now_ns() -> i64 {
    Time::steady().nanoseconds()
}

/// Sleeps until the clock shows `deadline_ns`; returns at once when that is past.
pub fn sleep_until(deadline_ns: i64) {
    let deadline = Timespec {
        tv_sec: deadline_ns.div_euclid(1_000_000_000),
        tv_nsec: deadline_ns.rem_euclid(1_000_000_000),
    };
    // With a valid time, the only failure is the return of a signal handler: sleep on.
    while clock_nanosleep_absolute(ClockId::Monotonic, &deadline).is_err() {}
}

/// Keeps the calling thread computing until the clock shows `deadline_ns`.
pub fn compute_until(deadline_ns: i64) {
    while now_ns() < deadline_ns {
        std::hint::spin_loop();
    }
}

/// Converts a duration to nanoseconds; saturates after 292 years.
pub fn nanoseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}
