//! Jumps of ROS time: what is told of one, and who wants to hear of it.

use super::time::Time;
use std::time::Duration;

/// What happened to a ROS clock's source. ROS 2: `rcl_clock_change_t`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ClockChange {
    /// Nothing: the time was set before, too. ROS 2: `RCL_ROS_TIME_NO_CHANGE`.
    Same,
    /// It left the wall clock for a time that is set. ROS 2: `RCL_ROS_TIME_ACTIVATED`.
    Activated,
    /// It returned to the wall clock. ROS 2: `RCL_ROS_TIME_DEACTIVATED`.
    Deactivated,
}

/// What ROS time was, and what it is. ROS 2: `rcl_time_jump_t`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TimeJump {
    /// Whether it comes from another source now.
    pub change: ClockChange,
    /// The time before.
    pub before: Time,
    /// The time from now on.
    pub after: Time,
    /// How often the source changed until now, counting [beginnings](Self::begins).
    pub(crate) source: u64,
    /// It is the first time that `/clock` says: before, ROS time stood at 0, which is no time.
    pub(crate) begins: bool,
}

impl TimeJump {
    pub(crate) fn new(change: ClockChange, before: i64, after: i64, source: u64) -> Self {
        let [before, after] = [before, after].map(Time::from_nanoseconds);
        Self { change, before, after, source, begins: false }
    }

    /// How far it went forward; zero if it went back.
    pub fn forward(&self) -> Duration {
        self.after - self.before
    }

    /// How far it went back; zero if it went forward.
    pub fn backward(&self) -> Duration {
        self.before - self.after
    }
}

/// Which jumps are worth telling; by default none. ROS 2: `rcl_jump_threshold_t`.
///
/// With every message of `/clock` simulated time jumps forward by a step: whoever listens for
/// forward jumps wants a threshold above that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct JumpThreshold {
    /// Changes of the source, however far apart the times are.
    pub on_clock_change: bool,
    /// Jumps by at least so much forward, with the source the same.
    pub min_forward: Option<Duration>,
    /// Jumps by at least so much back, with the source the same. Of zero: each.
    pub min_backward: Option<Duration>,
}

impl JumpThreshold {
    /// Each change of the source and each jump back: what makes kept data, such as transforms,
    /// useless.
    ///
    /// ```
    /// use sinew::time::JumpThreshold;
    /// let threshold = JumpThreshold::resets();
    /// assert!(threshold.on_clock_change && threshold.min_forward.is_none());
    /// ```
    pub const fn resets() -> Self {
        Self { on_clock_change: true, min_forward: None, min_backward: Some(Duration::ZERO) }
    }

    /// Whether a jump is to be told.
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

/// Something that goes by ROS time: a timer, a sleep, a program's handler.
pub(crate) trait FollowsTime: Send + Sync {
    /// ROS time jumped. On the thread that set it, which holds no lock.
    fn jumped(&self, jump: &TimeJump);

    /// Its context was shut down. On the thread that did it, which holds no lock.
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
