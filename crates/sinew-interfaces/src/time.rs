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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nanoseconds_count_up() {
        for (nanoseconds, sec, nanosec) in [
            (0, 0, 0),
            (1, 0, 1),
            (-1, -1, 999_999_999),
            (-500_000_000, -1, 500_000_000),
            (-1_000_000_000, -1, 0),
            (1_700_000_000_123_456_789, 1_700_000_000, 123_456_789),
            (2_147_483_647_999_999_999, i32::MAX, 999_999_999),
            (-2_147_483_648_000_000_000, i32::MIN, 0),
        ] {
            assert_eq!(Time::from_nanoseconds(nanoseconds), Time { sec, nanosec });
            assert_eq!(Duration::from_nanoseconds(nanoseconds), Duration { sec, nanosec });
            assert_eq!(Time { sec, nanosec }.nanoseconds(), nanoseconds);
            assert_eq!(Duration { sec, nanosec }.nanoseconds(), nanoseconds);
        }
    }

    #[test]
    fn what_a_message_cannot_hold_is_the_nearest_that_it_can() {
        let (first, last) =
            (Time { sec: i32::MIN, nanosec: 0 }, Time { sec: i32::MAX, nanosec: 999_999_999 });
        assert_eq!(Time::from_nanoseconds(-2_147_483_648_000_000_001), first);
        assert_eq!(Time::from_nanoseconds(2_147_483_648_000_000_000), last);
        assert_eq!((Time::from_nanoseconds(i64::MIN), Time::from_nanoseconds(i64::MAX)), (first, last));
        let century = std::time::Duration::from_secs(100 * 365 * 86400);
        for centuries in [1, 4] {
            assert_eq!(Time::from(SystemTime::UNIX_EPOCH + centuries * century), last);
            assert_eq!(Time::from(SystemTime::UNIX_EPOCH - centuries * century), first);
        }
    }

    #[test]
    fn wall_times_come_back() {
        for time in [
            Time::default(),
            Time { sec: -1, nanosec: 1 },
            Time { sec: i32::MIN, nanosec: 0 },
            Time { sec: i32::MAX, nanosec: 999_999_999 },
        ] {
            assert_eq!(Time::from(SystemTime::from(time)), time);
        }
        let more_than_a_second = Time { sec: 1, nanosec: u32::MAX };
        assert_eq!(Time::from(SystemTime::from(more_than_a_second)), Time { sec: 5, nanosec: 294_967_295 });
    }

    #[test]
    fn durations_that_fit_come_back() {
        let long = std::time::Duration::new(2_147_483_647, 999_999_999);
        for duration in [std::time::Duration::ZERO, std::time::Duration::from_nanos(1_500_000_001), long] {
            let there = Duration::try_from(duration).unwrap();
            assert_eq!(std::time::Duration::try_from(there), Ok(duration));
        }
        let duration = long + std::time::Duration::from_nanos(1);
        let error = Duration::try_from(duration).unwrap_err();
        assert_eq!(error, TooLong { duration });
        assert!(error.to_string().starts_with("2147483648s is longer than the 2147483647.999999999 s that "));
        let before = Duration { sec: -1, nanosec: 999_999_999 };
        let error = std::time::Duration::try_from(before).unwrap_err();
        assert_eq!(error, Negative { nanoseconds: -1 });
        assert!(error.to_string().starts_with("a duration of -1 ns is negative, "));
    }
}
