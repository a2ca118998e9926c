//! A set of macros for each level: always, once, all but the first, and throttled.

/// Logs a line in one of four ways: each time, `once`, `skip_first` or `throttle`.
#[doc(hidden)]
#[macro_export]
macro_rules! __line {
    (throttle $level:ident; $period:expr, $($line:tt)+) => {
        $crate::__checked!((throttle $period) $level; $($line)+)
    };
    (throttle $($any:tt)*) => {
        ::core::compile_error!("the interval comes first, then the node, the logger or the logger's name: `sinew::warn_throttle!(Duration::from_secs(1), node, \"..\")`")
    };
    ($way:ident $level:ident; $($line:tt)*) => {
        $crate::__checked!(($way) $level; $($line)*)
    };
}

/// The same, after a check that the first argument is a target.
#[doc(hidden)]
#[macro_export]
macro_rules! __checked {
    ($way:tt $level:ident; $target:expr, $text:literal $($values:tt)*) => {
        $crate::__say!($way, $target, $crate::logging::Severity::$level, $text $($values)*)
    };
    ($way:tt $level:ident; $($text:literal $(, $($values:tt)*)?)?) => {
        ::core::compile_error!("the node, the logger or the logger's name comes first: `sinew::info!(node, \"..\")`")
    };
    ($way:tt $level:ident; $target:expr, $($text:tt)+) => {
        $crate::__say!($way, $target, $crate::logging::Severity::$level, $($text)+)
    };
    ($way:tt $level:ident; $target:expr $(,)?) => {
        ::core::compile_error!("the text comes second: `sinew::info!(node, \"battery at {volts} V\")`")
    };
}

macro_rules! levels {
    ($d:tt $($level:ident $word:literal $ros:literal: $line:ident $once:ident $throttle:ident $skip_first:ident;)*) => {$(
        #[doc = concat!("Logs a line of the level `", $word, "`: `sinew::", stringify!($line), "!(node, \"battery at {volts} V\")`.")]
        #[doc = concat!("ROS 2: `", $ros, "`.")]
        ///
        /// The first argument is a [`LogTarget`](crate::logging::LogTarget): a node, a
        /// [`Logger`](crate::logging::Logger) or a logger's name; the rest is as in `format!`. The
        /// line goes where a line of the `log` crate with that target goes. If the level isn't
        /// enabled, nothing is evaluated and nothing allocated.
        ///
        /// ```
        /// use sinew::prelude::*;
        /// let node = Context::new()?.node("battery")?;
        /// let volts = 11.7;
        #[doc = concat!("sinew::", stringify!($line), "!(node, \"battery at {volts} V\");")]
        #[doc = concat!("sinew::", stringify!($line), "!(node.logger().child(\"cell\"), \"{} of {} V\", volts, 12);")]
        /// # Ok::<(), sinew::Error>(())
        /// ```
        #[macro_export]
        macro_rules! $line {
            ($d($d line:tt)*) => { $crate::__line!(always $level; $d($d line)*) };
        }

        #[doc = concat!("As [`", stringify!($line), "!`](macro@crate::", stringify!($line), "), but the first time only that its level is enabled. ROS 2: `", $ros, "_ONCE`.")]
        #[macro_export]
        macro_rules! $once {
            ($d($d line:tt)*) => { $crate::__line!(once $level; $d($d line)*) };
        }

        #[doc = concat!("As [`", stringify!($line), "!`](macro@crate::", stringify!($line), "), but not again before an interval has passed, which comes first:")]
        #[doc = concat!("`sinew::", stringify!($throttle), "!(Duration::from_secs(1), node, \"battery at {volts} V\")`. ROS 2: `", $ros, "_THROTTLE`.")]
        ///
        /// The period counts in the node's ROS time; for a name, in steady time. If the time goes
        /// back, the line is logged again.
        #[macro_export]
        macro_rules! $throttle {
            ($d($d line:tt)*) => { $crate::__line!(throttle $level; $d($d line)*) };
        }

        #[doc = concat!("As [`", stringify!($line), "!`](macro@crate::", stringify!($line), "), but not the first time that its level is enabled. ROS 2: `", $ros, "_SKIPFIRST`.")]
        #[macro_export]
        macro_rules! $skip_first {
            ($d($d line:tt)*) => { $crate::__line!(skip_first $level; $d($d line)*) };
        }
    )*};
}

levels! {$
    TRACE "trace" "RCLCPP_DEBUG": trace trace_once trace_throttle trace_skip_first;
    DEBUG "debug" "RCLCPP_DEBUG": debug debug_once debug_throttle debug_skip_first;
    INFO "info" "RCLCPP_INFO": info info_once info_throttle info_skip_first;
    WARN "warn" "RCLCPP_WARN": warn warn_once warn_throttle warn_skip_first;
    ERROR "error" "RCLCPP_ERROR": error error_once error_throttle error_skip_first;
    FATAL "fatal" "RCLCPP_FATAL": fatal fatal_once fatal_throttle fatal_skip_first;
}
