//! Macros that log a line always, once, now and then, or from the second time on. `levels` defines
//! them for each level.

use crate::sys::clock::Time;
use crate::sys::sync::{HintI64, Ordering};
use std::time::Duration;

/// Memory of a log statement for the macros: when it was last logged.
#[doc(hidden)]
#[derive(Debug)]
pub struct Said(HintI64);

/// Never logged. A time that no clock shows.
const NEVER: i64 = i64::MIN;

impl Said {
    #[doc(hidden)]
    pub const fn new() -> Self {
        Self(HintI64::new(NEVER))
    }

    /// Returns `true` once, for the first caller.
    #[doc(hidden)]
    pub fn first(&self) -> bool {
        self.0.load(Ordering::Relaxed) == NEVER && self.0.swap(0, Ordering::Relaxed) == NEVER
    }

    /// Returns `true` if the last time is at least `period` ago, there was none, or the time went
    /// back.
    #[doc(hidden)]
    pub fn again(&self, now: Time, period: Duration) -> bool {
        let (last, now) = (self.0.load(Ordering::Relaxed), now.nanoseconds());
        let period = i64::try_from(period.as_nanos()).unwrap_or(i64::MAX);
        let is_due = last == NEVER || now < last || now - last >= period;
        // If several threads come at once, one of them logs.
        is_due && self.0.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

/// The place of this macro's use: for the macros.
#[doc(hidden)]
#[macro_export]
macro_rules! __place {
    () => {
        $crate::logging::Place { module: module_path!(), file: file!(), line: line!() }
    };
}

/// Logs a line with a level that is known only at run time:
/// `sinew::log!(node, level, "battery at {volts} V")`. For fixed levels, [`info!`](crate::info) and
/// the like are shorter.
///
/// The text's arguments are evaluated only if the line is logged.
#[macro_export]
macro_rules! log {
    ($target:expr, $level:expr, $($text:tt)+) => {
        $crate::__say!((always), $target, $level, $($text)+)
    };
}

/// Logs a line if the target's level is enabled and then, checked after that, the way allows it.
#[doc(hidden)]
#[macro_export]
macro_rules! __say {
    ((always), $($line:tt)+) => {
        $crate::__say_if!(target, true, $($line)+)
    };
    ((once), $($line:tt)+) => {{
        static SAID: $crate::logging::Said = $crate::logging::Said::new();
        $crate::__say_if!(target, SAID.first(), $($line)+)
    }};
    ((skip_first), $($line:tt)+) => {{
        static SAID: $crate::logging::Said = $crate::logging::Said::new();
        $crate::__say_if!(target, !SAID.first(), $($line)+)
    }};
    ((throttle $period:expr), $($line:tt)+) => {{
        static SAID: $crate::logging::Said = $crate::logging::Said::new();
        $crate::__say_if!(target, SAID.again($crate::logging::LogTarget::logger_time(target), $period), $($line)+)
    }};
}

/// `target` is the name by which the condition refers to the target.
#[doc(hidden)]
#[macro_export]
macro_rules! __say_if {
    ($name:ident, $condition:expr, $target:expr, $level:expr, $($text:tt)+) => {
        match (&$target, $level) {
            ($name, level) => {
                if let Some(logger) = $crate::logging::says($name, level) {
                    if $condition {
                        $crate::logging::hand_over(logger, level, $crate::__place!(), format_args!($($text)+));
                    }
                }
            }
        }
    };
}

/// Logs a line the first time only (that its level is enabled):
/// `sinew::log_once!(logger, LogLevel::Info, "ready")`. ROS 2: `RCLCPP_INFO_ONCE`.
///
/// ```
/// use sinew::LogLevel;
/// use sinew::logging::Logger;
/// let logger = Logger::named("robot");
/// for _ in 0..100 {
///     sinew::log_once!(logger, LogLevel::Info, "the first of many");
/// }
/// ```
#[macro_export]
macro_rules! log_once {
    ($target:expr, $level:expr, $($text:tt)+) => {
        $crate::__say!((once), $target, $level, $($text)+)
    };
}

/// Logs a line each time except the first (that its level is enabled):
/// `sinew::log_skip_first!(logger, LogLevel::Warn, "late")`. ROS 2: `RCLCPP_WARN_SKIPFIRST`.
///
/// ```
/// use sinew::LogLevel;
/// use sinew::logging::Logger;
/// let logger = Logger::named("robot");
/// for round in 0..3 {
///     sinew::log_skip_first!(logger, LogLevel::Warn, "round {round} was not the first");
/// }
/// ```
#[macro_export]
macro_rules! log_skip_first {
    ($target:expr, $level:expr, $($text:tt)+) => {
        $crate::__say!((skip_first), $target, $level, $($text)+)
    };
}

/// Logs a line at most once per `period`, by the clock of the logger's node
/// (`sinew::log_throttle!(logger, LogLevel::Warn, Duration::from_secs(1), "no signal")`). If the
/// time goes back, the line is logged again. ROS 2: `RCLCPP_WARN_THROTTLE`.
///
/// ```
/// use sinew::LogLevel;
/// use sinew::logging::Logger;
/// use std::time::Duration;
/// let logger = Logger::named("robot");
/// for volts in 0..100 {
///     sinew::log_throttle!(logger, LogLevel::Warn, Duration::from_secs(1), "battery at {volts} V");
/// }
/// ```
#[macro_export]
macro_rules! log_throttle {
    ($target:expr, $level:expr, $period:expr, $($text:tt)+) => {
        $crate::__say!((throttle $period), $target, $level, $($text)+)
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_is_said_again_after_a_while() {
        let (said, period) = (Said::new(), Duration::from_nanos(10));
        let times = [3, 4, 12, 13, 22, 23, 5, 6, 14, 15, 1000];
        let again: Vec<_> =
            times.into_iter().filter(|time| said.again(Time::from_nanoseconds(*time), period)).collect();
        assert_eq!(again, [3, 13, 23, 5, 15, 1000]);
        let (said, zero) = (Said::new(), Time::from_nanoseconds(0));
        assert!(said.again(zero, period), "simulated time that hasn't begun is a time");
        assert!(!said.again(zero, period));
        let said = Said::new();
        assert_eq!([said.first(), said.first(), said.first()], [true, false, false]);
    }
}
