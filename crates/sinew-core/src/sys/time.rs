//! Points in time.

use sinew_msg::TimeMessage;
use std::ops::{Add, Sub};
use std::time::Duration;

/// A point in time, in nanoseconds since its clock's epoch: 1970 for wall and ROS time, the host's
/// start for steady time.
///
/// Arithmetic saturates: a difference is never negative, and no sum wraps.
///
/// ```
/// use sinew::Duration;
/// use sinew::time::Time;
/// let time = Time::from_nanoseconds(1_500_000_000) + Duration::from_millis(500);
/// assert_eq!(time.nanoseconds(), 2_000_000_000);
/// assert_eq!(time - Time::from_nanoseconds(0), Duration::from_secs(2));
/// assert_eq!(Time::from_nanoseconds(0) - time, Duration::ZERO);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(i64);

impl Time {
    /// Creates the time this many nanoseconds after the epoch.
    pub const fn from_nanoseconds(nanoseconds: i64) -> Self {
        Self(nanoseconds)
    }

    /// Returns the nanoseconds since the epoch.
    pub const fn nanoseconds(self) -> i64 {
        self.0
    }

    /// Converts the time into a message such as `builtin_interfaces/Time`, which has a smaller
    /// range: times outside it become its first or last time. `Time::from(message)` converts back.
    /// ROS 2: `to_msg`.
    ///
    /// ```
    /// use sinew::time::Time;
    /// use sinew_interfaces::builtin_interfaces::msg;
    ///
    /// let time = Time::from_nanoseconds(1_500_000_000);
    /// let stamp: msg::Time = time.to_msg();
    /// assert_eq!(stamp, msg::Time { sec: 1, nanosec: 500_000_000 });
    /// assert_eq!(Time::from(stamp), time);
    /// // Durations are Rust's; those of messages come from them, and go back.
    /// let period = msg::Duration::try_from(sinew::Duration::from_millis(20)).unwrap();
    /// assert_eq!(sinew::Duration::try_from(period).unwrap(), sinew::Duration::from_millis(20));
    /// ```
    pub fn to_msg<M: TimeMessage>(self) -> M {
        M::of_nanoseconds(self.0)
    }
}

/// Converts a message such as `builtin_interfaces/Time`.
impl<M: TimeMessage> From<M> for Time {
    fn from(message: M) -> Self {
        Self(message.in_nanoseconds())
    }
}

impl Add<Duration> for Time {
    type Output = Time;

    fn add(self, duration: Duration) -> Time {
        Time(self.0.saturating_add(nanoseconds(duration)))
    }
}

impl Sub<Time> for Time {
    type Output = Duration;

    fn sub(self, earlier: Time) -> Duration {
        Duration::from_nanos(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

/// Returns a duration in nanoseconds; more than an `i64` holds (292 years) counts as forever.
pub(crate) fn nanoseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}
