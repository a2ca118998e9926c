//! The source of a line: the first argument of the macros.

use super::front;
use super::line::Place;
use crate::sys::clock::Time;
use crate::sys::logging::{self, LogLevel};
use crate::sys::sync::Arc;
use std::fmt;

/// The source of a line: a [`Node`](crate::Node), a [`Logger`](super::Logger), or a logger's name
/// as text. The first argument of [`sinew::info!`](crate::info) and the others.
///
/// ```
/// use sinew::prelude::*;
/// let node = Context::new()?.node_in("/robot", "arm")?;
/// let hand = node.logger().child("hand");
/// sinew::info!(node, "says robot.arm");
/// sinew::info!(hand, "says robot.arm.hand");
/// sinew::info!("calibration", "says a part of the program that is no node");
/// # Ok::<(), sinew::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` says no lines",
    label = "neither a node, a logger nor a logger's name",
    note = "who says a line comes first: `sinew::info!(node, \"battery at {{volts}} V\")`, or `node.logger()`, or a name such as \"robot.arm\"",
    note = "in a type of your own with a node in it, name that: `sinew::info!(self.node, ..)`"
)]
pub trait LogTarget: Sealed {
    /// Returns the name of its logger. Allocates nothing.
    #[doc(hidden)]
    fn logger_name(&self) -> &str;

    /// Returns the time that `.._throttle!` uses.
    #[doc(hidden)]
    fn logger_time(&self) -> Time {
        Time::steady()
    }
}

/// Restricts targets to types of Sinew's crates.
#[doc(hidden)]
pub trait Sealed {}

impl Sealed for str {}

impl LogTarget for str {
    fn logger_name(&self) -> &str {
        self
    }
}

impl Sealed for String {}

impl LogTarget for String {
    fn logger_name(&self) -> &str {
        self
    }
}

macro_rules! pointers {
    ($($pointer:ty),*) => {$(
        impl<T: LogTarget + ?Sized> Sealed for $pointer {}

        impl<T: LogTarget + ?Sized> LogTarget for $pointer {
            fn logger_name(&self) -> &str {
                T::logger_name(self)
            }

            fn logger_time(&self) -> Time {
                T::logger_time(self)
            }
        }
    )*};
}

pointers!(&T, &mut T, Box<T>, Arc<T>);

/// A level, for Sinew and for the `log` crate, which has one more and one less.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Severity {
    level: LogLevel,
    of_log: log::Level,
}

#[doc(hidden)]
impl Severity {
    pub const TRACE: Self = Self { level: LogLevel::Debug, of_log: log::Level::Trace };
    pub const DEBUG: Self = Self { level: LogLevel::Debug, of_log: log::Level::Debug };
    pub const INFO: Self = Self { level: LogLevel::Info, of_log: log::Level::Info };
    pub const WARN: Self = Self { level: LogLevel::Warn, of_log: log::Level::Warn };
    pub const ERROR: Self = Self { level: LogLevel::Error, of_log: log::Level::Error };
    pub const FATAL: Self = Self { level: LogLevel::Fatal, of_log: log::Level::Error };
}

impl From<LogLevel> for Severity {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Debug => Self::DEBUG,
            LogLevel::Info => Self::INFO,
            LogLevel::Warn => Self::WARN,
            LogLevel::Error => Self::ERROR,
            LogLevel::Fatal => Self::FATAL,
        }
    }
}

/// Returns the name of the target's logger if a line of that level is logged: for the macros, which
/// evaluate nothing otherwise. Allocates nothing.
#[doc(hidden)]
pub fn says<T: LogTarget + ?Sized>(target: &T, severity: impl Into<Severity>) -> Option<&str> {
    let Severity { level, of_log } = severity.into();
    let name = target.logger_name();
    // Cheap, so it comes first: the level of the most verbose logger. Fatal always counts.
    let may_be_said = of_log <= log::max_level() || level == LogLevel::Fatal;
    let is_said = may_be_said
        && match front::installed() {
            Some(_) => level >= logging::level(name),
            None => {
                of_log <= log::max_level()
                    && log::logger().enabled(&log::Metadata::builder().level(of_log).target(name).build())
            }
        };
    is_said.then_some(name)
}

/// Logs the line, once that is known.
#[doc(hidden)]
pub fn hand_over(name: &str, severity: impl Into<Severity>, place: Place, text: fmt::Arguments<'_>) {
    let Severity { level, of_log } = severity.into();
    match front::installed() {
        Some(front) => front.say(level, name, text, place),
        None => {
            let mut record = log::Record::builder();
            record.level(of_log).target(name).line(Some(place.line));
            record.module_path_static(Some(place.module)).file_static(Some(place.file));
            log::logger().log(&record.args(text).build());
        }
    }
}
