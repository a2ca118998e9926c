//! Loggers: names that lines are said under.

use super::front;
use super::line::Place;
use crate::api::node::Node;
use crate::sys::clock::{Clock, ClockKind, Time};
use crate::sys::logging::{self, LogLevel};
use crate::sys::sync::Arc;
use std::fmt;

/// A name that lines are said under, and that has a level. From [`Node::logger`].
///
/// The logger of node `/robot/arm` is `robot.arm`; its [children](Self::child) are
/// `robot.arm.gripper` and so on. Lines of a node's logger and its children are published on
/// `/rosout`. The macros of the `log` crate take its name: `log::info!(target: logger.name(), "..")`;
/// Sinew's own, which know [`LogLevel::Fatal`], and say something
/// [once](crate::log_once), [now and then](crate::log_throttle) or [not at
/// first](crate::log_skip_first), take the logger. Clones are the same logger.
///
/// ```
/// use sinew::prelude::*;
/// use sinew::LogLevel;
/// let node = Context::new()?.node_in("/robot", "arm")?;
/// let gripper = node.logger().child("gripper");
/// assert_eq!(gripper.name(), "robot.arm.gripper");
/// log::warn!(target: gripper.name(), "it slips");
/// sinew::log!(gripper, LogLevel::Fatal, "it is gone");
/// # Ok::<(), sinew::Error>(())
/// ```
#[derive(Clone)]
pub struct Logger {
    name: Arc<str>,
    /// The clock of its node's context.
    clock: Option<Clock>,
}

impl Logger {
    /// A logger of no node: its lines are not on `/rosout`, unless there is a node of that name.
    pub fn named(name: &str) -> Self {
        Self { name: name.into(), clock: None }
    }

    /// A logger below this one.
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        Self { name: format!("{}.{name}", self.name).into(), clock: self.clock.clone() }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The level from which on it says something: its own, else that of the closest logger above
    /// it, else that of all.
    pub fn level(&self) -> LogLevel {
        logging::level(&self.name)
    }

    /// Gives it a level, from now on and in the whole process; with `None` it has that of the logger
    /// above it.
    pub fn set_level(&self, level: Option<LogLevel>) {
        logging::set_level(&self.name, level);
    }

    /// Whether it says what is of that level.
    pub fn is_enabled(&self, level: LogLevel) -> bool {
        level >= self.level()
    }

    /// Says something; what [`log!`](crate::log) does. Never blocks, and allocates only the text, if
    /// [`init`](super::init) was called; else it goes to the logger of the `log` crate.
    pub fn say(&self, level: LogLevel, place: Place, text: fmt::Arguments<'_>) {
        if self.says(level) {
            self.hand_over(level, place, text);
        }
    }

    /// Whether anything comes of saying it: for the macros, which evaluate nothing otherwise.
    #[doc(hidden)]
    pub fn says(&self, level: LogLevel) -> bool {
        match front::installed() {
            Some(_) => self.is_enabled(level),
            None => level_of_log(level) <= log::max_level(),
        }
    }

    /// The rest of [`say`](Self::say), once that is known.
    #[doc(hidden)]
    pub fn hand_over(&self, level: LogLevel, place: Place, text: fmt::Arguments<'_>) {
        match front::installed() {
            Some(front) => front.say(level, &self.name, text, place),
            None => {
                let mut record = log::Record::builder();
                record.level(level_of_log(level)).target(&self.name).line(Some(place.line));
                record.module_path_static(Some(place.module)).file_static(Some(place.file));
                log::logger().log(&record.args(text).build());
            }
        }
    }

    /// The time that [`log_throttle!`](crate::log_throttle) goes by: ROS time of its node's context;
    /// of no node, steady time.
    pub fn now(&self) -> Time {
        let clock = self.clock.as_ref();
        clock.map_or_else(Time::steady, |clock| Time::from_nanoseconds(clock.now(ClockKind::Ros)))
    }
}

/// The level of the `log` crate that says the same.
fn level_of_log(level: LogLevel) -> log::Level {
    match level {
        LogLevel::Debug => log::Level::Debug,
        LogLevel::Info => log::Level::Info,
        LogLevel::Warn => log::Level::Warn,
        LogLevel::Error | LogLevel::Fatal => log::Level::Error,
    }
}

impl Node {
    /// Its logger: `robot.arm` for `/robot/arm`. ROS 2: `get_logger`.
    pub fn logger(&self) -> Logger {
        let name = logging::logger_of(self.full_name());
        Logger { name: name.into(), clock: Some(self.context_shared().session.clock.clone()) }
    }
}

impl fmt::Debug for Logger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Logger").field(&self.name).finish()
    }
}

impl fmt::Display for Logger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
