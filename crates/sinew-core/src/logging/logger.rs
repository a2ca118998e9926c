//! Loggers: the names under which lines are logged.

use super::line::Place;
use super::target::{self, LogTarget, Sealed};
use crate::api::node::Node;
use crate::sys::clock::{Clock, ClockKind, Time};
use crate::sys::logging::{self, LogLevel};
use crate::sys::sync::Arc;
use std::fmt;

/// A name under which lines are logged, with a level. From [`Node::logger`].
///
/// The logger of node `/robot/arm` is `robot.arm`; its [children](Self::child) are
/// `robot.arm.gripper` and so on. Lines of a node's logger and its children are published on
/// `/rosout`. [`sinew::info!`](crate::info) and the like take it, or a node for its own logger; the
/// macros of the `log` crate take its name: `log::info!(target: logger.name(), "..")`. Clones are
/// the same logger.
///
/// ```
/// use sinew::prelude::*;
/// let node = Context::new()?.node_in("/robot", "arm")?;
/// let gripper = node.logger().child("gripper");
/// assert_eq!(gripper.name(), "robot.arm.gripper");
/// sinew::warn!(gripper, "it slips");
/// sinew::fatal!(gripper, "it is gone");
/// # Ok::<(), sinew::Error>(())
/// ```
#[derive(Clone)]
pub struct Logger {
    name: Arc<str>,
    /// The clock of its node's context.
    clock: Option<Clock>,
}

impl Logger {
    /// Creates a logger without a node: its lines are not on `/rosout`, unless there is a node of
    /// that name.
    pub fn named(name: &str) -> Self {
        Self { name: name.into(), clock: None }
    }

    /// Returns a logger below this one.
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        Self { name: format!("{}.{name}", self.name).into(), clock: self.clock.clone() }
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the level from which on it logs: its own, otherwise that of the closest logger above
    /// it, otherwise the default level.
    pub fn level(&self) -> LogLevel {
        logging::level(&self.name)
    }

    /// Returns the level that was set for it alone; `None` if it uses that of the logger above it.
    ///
    /// ```
    /// use sinew::{LogLevel, logging::Logger};
    /// let arm = Logger::named("arm");
    /// arm.set_level(Some(LogLevel::Debug));
    /// let hand = arm.child("hand");
    /// assert_eq!((hand.level(), hand.own_level()), (LogLevel::Debug, None));
    /// assert_eq!(arm.own_level(), Some(LogLevel::Debug));
    /// ```
    pub fn own_level(&self) -> Option<LogLevel> {
        logging::own_level(&self.name)
    }

    /// Sets its level, from now on and in the whole process; with `None` it uses that of the logger
    /// above it.
    pub fn set_level(&self, level: Option<LogLevel>) {
        logging::set_level(&self.name, level);
    }

    /// Returns `true` if lines of that level are logged.
    pub fn is_enabled(&self, level: LogLevel) -> bool {
        level >= self.level()
    }

    /// Logs a line, as [`log!`](crate::log) does. Never blocks, and allocates only the text, if
    /// [`init`](super::init) was called; otherwise the line goes to the logger of the `log` crate.
    pub fn say(&self, level: LogLevel, place: Place, text: fmt::Arguments<'_>) {
        if let Some(name) = target::says(self, level) {
            target::hand_over(name, level, place, text);
        }
    }

    /// Returns the time that [`log_throttle!`](crate::log_throttle) uses: ROS time of its node's
    /// context; without a node, steady time.
    pub fn now(&self) -> Time {
        let clock = self.clock.as_ref();
        clock.map_or_else(Time::steady, |clock| Time::from_nanoseconds(clock.now(ClockKind::Ros)))
    }
}

impl Sealed for Logger {}

impl LogTarget for Logger {
    fn logger_name(&self) -> &str {
        &self.name
    }

    fn logger_time(&self) -> Time {
        self.now()
    }
}

impl Sealed for Node {}

impl LogTarget for Node {
    fn logger_name(&self) -> &str {
        &self.core().logger
    }

    fn logger_time(&self) -> Time {
        self.now()
    }
}

impl Node {
    /// Returns the node's logger: `robot.arm` for `/robot/arm`. ROS 2: `get_logger`.
    pub fn logger(&self) -> Logger {
        Logger { name: self.core().logger.clone(), clock: Some(self.context_shared().session.clock.clone()) }
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
