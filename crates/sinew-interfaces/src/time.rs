//! Conversions of message times and durations to and from Rust's: hand-written methods of
//! [`builtin_interfaces`](crate::builtin_interfaces).
//!
//! As in ROS 2, `nanosec` counts up from `sec`, even in negative times: half a second before 1970
//! is `{sec: -1, nanosec: 500000000}`. A node stamps its messages with its own time,
//! `node.now().to_msg()`, and `sinew::time::Time::from(stamp)` converts back. Without a node, use
//! the wall clock:
//!
//! ```
//! use sinew_interfaces::builtin_interfaces::msg::Time;
//! use std::time::{Duration, SystemTime};
//!
//! let stamp = Time::from(SystemTime::UNIX_EPOCH + Duration::from_millis(1500));
//! assert_eq!(stamp, Time { sec: 1, nanosec: 500_000_000 });
//! assert_eq!(stamp.nanoseconds(), 1_500_000_000);
//! ```

use crate::builtin_interfaces::msg::{Duration, Time};
use std::time::SystemTime;

const SECOND: i64 = 1_000_000_000;

impl Time {
    /// Returns the time this many nanoseconds after the beginning of 1970, or of its clock. Times
    /// that a message cannot hold, before 1901-12-13 or after 2038-01-19, become the first or last
    /// nanosecond that it can.
    #[must_use]
    pub fn from_nanoseconds(nanoseconds: i64) -> Self {
        let (sec, nanosec) = split(nanoseconds);
        Self { sec, nanosec }
    }

    /// Returns the nanoseconds since the beginning of 1970, or of its clock.
    #[must_use]
    pub fn nanoseconds(self) -> i64 {
        join(self.sec, self.nanosec)
    }
}

impl Duration {
    /// Returns the duration of this many nanoseconds. Durations that a message cannot hold, of more
    /// than 68 years, become the longest that it can.
    #[must_use]
    pub fn from_nanoseconds(nanoseconds: i64) -> Self {
        let (sec, nanosec) = split(nanoseconds);
        Self { sec, nanosec }
    }

    /// Returns the nanoseconds of the duration; less than 0 if it is negative.
    #[must_use]
    pub fn nanoseconds(self) -> i64 {
        join(self.sec, self.nanosec)
    }
}

/// Returns the nearest time or duration that a message can hold.
fn split(nanoseconds: i64) -> (i32, u32) {
    let nanosec =
        u32::try_from(nanoseconds.rem_euclid(SECOND)).expect("a second has fewer nanoseconds than 2^32");
    match (i32::try_from(nanoseconds.div_euclid(SECOND)), nanoseconds < 0) {
        (Ok(sec), _) => (sec, nanosec),
        (Err(_), true) => (i32::MIN, 0),
        (Err(_), false) => (i32::MAX, 999_999_999),
    }
}

/// Cannot overflow, even if `nanosec` is more than a second: 2³¹ s and 2³² ns are less than an
/// `i64` holds.
fn join(sec: i32, nanosec: u32) -> i64 {
    i64::from(sec) * SECOND + i64::from(nanosec)
}

impl sinew_msg::TimeMessage for Time {
    fn of_nanoseconds(nanoseconds: i64) -> Self {
        Self::from_nanoseconds(nanoseconds)
    }

    fn in_nanoseconds(&self) -> i64 {
        self.nanoseconds()
    }
}

/// Times before 1901-12-13 or after 2038-01-19 become the first or last time that a message can
/// hold.
impl From<SystemTime> for Time {
    fn from(time: SystemTime) -> Self {
        let nanoseconds = |duration: std::time::Duration| i64::try_from(duration.as_nanos());
        Self::from_nanoseconds(match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) => nanoseconds(since).unwrap_or(i64::MAX),
            Err(before) => nanoseconds(before.duration()).map_or(i64::MIN, |nanoseconds| -nanoseconds),
        })
    }
}

/// The message must hold a time of the wall clock. (Times of other clocks have another origin.)
impl From<Time> for SystemTime {
    fn from(time: Time) -> Self {
        let nanoseconds = time.nanoseconds();
        let magnitude = std::time::Duration::from_nanos(nanoseconds.unsigned_abs());
        if nanoseconds < 0 { Self::UNIX_EPOCH - magnitude } else { Self::UNIX_EPOCH + magnitude }
    }
}

/// The error of a Rust duration that is too long for a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{duration:?} is longer than the 2147483647.999999999 s that builtin_interfaces/Duration can be")]
pub struct TooLong {
    /// The duration.
    pub duration: std::time::Duration,
}

impl TryFrom<std::time::Duration> for Duration {
    type Error = TooLong;

    fn try_from(duration: std::time::Duration) -> Result<Self, TooLong> {
        let sec = i32::try_from(duration.as_secs()).map_err(|_| TooLong { duration })?;
        Ok(Self { sec, nanosec: duration.subsec_nanos() })
    }
}

/// The error of a message's duration that Rust's type cannot represent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a duration of {nanoseconds} ns is negative, which std::time::Duration can't be; take its nanoseconds()"
)]
pub struct Negative {
    /// The duration in nanoseconds.
    pub nanoseconds: i64,
}

impl TryFrom<Duration> for std::time::Duration {
    type Error = Negative;

    fn try_from(duration: Duration) -> Result<Self, Negative> {
        let nanoseconds = duration.nanoseconds();
        u64::try_from(nanoseconds).map(Self::from_nanos).map_err(|_| Negative { nanoseconds })
    }
}
