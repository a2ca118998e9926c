//! Jumps of ROS time: their description, and the trait of objects that follow it.

use super::time::Time;
use std::time::Duration;

/// A change of a ROS clock's source. ROS 2: `rcl_clock_change_t`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ClockChange {
    /// None: the time was set before, too. ROS 2: `RCL_ROS_TIME_NO_CHANGE`.
    Same,
    /// From the wall clock to a time that is set. ROS 2: `RCL_ROS_TIME_ACTIVATED`.
    Activated,
    /// Back to the wall clock. ROS 2: `RCL_ROS_TIME_DEACTIVATED`.
    Deactivated,
}

/// A jump of ROS time, from one value to another. ROS 2: `rcl_time_jump_t`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TimeJump {
    /// The change of the source.
    pub change: ClockChange,
    /// The time before.
    pub before: Time,
    /// The time from now on.
    pub after: Time,
    /// Number of changes of the source until now, counting [beginnings](Self::begins).
    pub(crate) source: u64,
    /// Whether this is the first time that `/clock` gives: before, ROS time stood at 0, which is no
    /// time.
    pub(crate) begins: bool,
}

impl TimeJump {
    pub(crate) fn new(change: ClockChange, before: i64, after: i64, source: u64) -> Self {
        let [before, after] = [before, after].map(Time::from_nanoseconds);
        Self { change, before, after, source, begins: false }
    }

    /// Returns how far the time went forward; zero if it went back.
    pub fn forward(&self) -> Duration {
        self.after - self.before
    }

    /// Returns how far the time went back; zero if it went forward.
    pub fn backward(&self) -> Duration {
        self.before - self.after
    }
}

/// The jumps that are reported; by default none. ROS 2: `rcl_jump_threshold_t`.
///
/// Every message of `/clock` makes simulated time jump forward by a step: a handler for forward
/// jumps needs a threshold above that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct JumpThreshold {
    /// Whether to report changes of the source, however far apart the times are.
    pub on_clock_change: bool,
    /// Minimum jump forward to report, with the source the same.
    pub min_forward: Option<Duration>,
    /// Minimum jump back to report, with the source the same. Zero reports every jump back.
    pub min_backward: Option<Duration>,
}

impl JumpThreshold {
    /// Reports each change of the source and each jump back: those that invalidate stored data,
    /// such as transforms.
    ///
    /// ```
    /// use sinew::time::JumpThreshold;
    /// let threshold = JumpThreshold::resets();
    /// assert!(threshold.on_clock_change && threshold.min_forward.is_none());
    /// ```
    pub const fn resets() -> Self {
        Self { on_clock_change: true, min_forward: None, min_backward: Some(Duration::ZERO) }
    }

    /// Whether a jump is reported.
    pub(crate) fn admits(&self, jump: &TimeJump) -> bool {
        let reaches =
            |min: Option<Duration>, far: Duration| min.is_some_and(|min| far >= min && far > Duration::ZERO);
        match jump.change {
            ClockChange::Same => {
                reaches(self.min_forward, jump.forward()) || reaches(self.min_backward, jump.backward())
            }
            ClockChange::Activated | ClockChange::Deactivated => self.on_clock_change,
        }
    }
}

/// An object that follows ROS time: a timer, a sleep, a program's handler.
pub(crate) trait FollowsTime: Send + Sync {
    /// Handles a jump of ROS time. Called on the thread that set it, which holds no lock.
    fn jumped(&self, jump: &TimeJump);

    /// Handles the shutdown of its context. Called on the thread that shut it down, which holds no
    /// lock.
    fn ended(&self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_admits_what_reaches_it() {
        let [s, none] = [Some(Duration::from_secs(1)), None];
        let threshold = |on_clock_change, min_forward, min_backward| JumpThreshold {
            on_clock_change,
            min_forward,
            min_backward,
        };
        let (all, changes) = (threshold(true, s, s), threshold(true, none, none));
        let (forward, backward) = (threshold(false, s, none), threshold(false, none, s));
        let second = 1_000_000_000;
        for (before, after, change, admitted) in [
            (0, second, ClockChange::Same, [true, false, true, false]),
            (0, second - 1, ClockChange::Same, [false; 4]),
            (second, 0, ClockChange::Same, [true, false, false, true]),
            (second - 1, 0, ClockChange::Same, [false; 4]),
            (0, 0, ClockChange::Same, [false; 4]),
            (0, 0, ClockChange::Activated, [true, true, false, false]),
            (0, 9 * second, ClockChange::Activated, [true, true, false, false]),
            (9 * second, 0, ClockChange::Deactivated, [true, true, false, false]),
        ] {
            let jump = TimeJump::new(change, before, after, 0);
            let found = [all, changes, forward, backward].map(|threshold| threshold.admits(&jump));
            assert_eq!(found, admitted, "{jump:?}");
        }
        let back_by_a_nanosecond = TimeJump::new(ClockChange::Same, 1, 0, 0);
        assert!(JumpThreshold::resets().admits(&back_by_a_nanosecond));
        assert!(!JumpThreshold::default().admits(&back_by_a_nanosecond));
    }
}
