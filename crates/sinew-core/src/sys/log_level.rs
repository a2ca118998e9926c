//! Levels of log lines, as ROS 2 has them. [`sinew_shm::logging`], through which all lines go, has
//! the `log` crate's filters in their place.

use log::{Level, LevelFilter};
use sinew_shm::logging;

/// The levels for `--log-level` and `SINEW_LOG`, from the most to the least verbose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogLevel {
    /// `debug`: information for developers.
    Debug,
    /// `info`: information for operators.
    Info,
    /// `warn`: something is not as it should be.
    Warn,
    /// `error`: something failed.
    Error,
    /// `fatal`: the process is about to end because something failed. Sinew writes no such
    /// messages, so it is silent at this level.
    Fatal,
}

impl LogLevel {
    /// Returns the corresponding filter of the `log` crate.
    pub fn filter(self) -> LevelFilter {
        match self {
            Self::Debug => LevelFilter::Trace,
            Self::Info => LevelFilter::Info,
            Self::Warn => LevelFilter::Warn,
            Self::Error => LevelFilter::Error,
            Self::Fatal => LevelFilter::Off,
        }
    }

    /// Returns the name as ROS 2 writes it: `WARN`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Debug => "DEBUG",
            Self::Info => "INFO",
            Self::Warn => "WARN",
            Self::Error => "ERROR",
            Self::Fatal => "FATAL",
        }
    }

    /// Returns the number in ROS 2's messages: 10 for debug to 50 for fatal.
    pub fn number(self) -> u8 {
        match self {
            Self::Debug => 10,
            Self::Info => 20,
            Self::Warn => 30,
            Self::Error => 40,
            Self::Fatal => 50,
        }
    }

    /// Returns the level with this number.
    pub fn of_number(number: u32) -> Option<Self> {
        [Self::Debug, Self::Info, Self::Warn, Self::Error, Self::Fatal]
            .into_iter()
            .find(|level| u32::from(level.number()) == number)
    }

    /// Returns the level with this name, in upper or lower case.
    pub fn of_name(name: &str) -> Option<Self> {
        logging::filter_named(name).map(Self::of_filter)
    }

    /// Returns the level with this [filter](Self::filter).
    fn of_filter(filter: LevelFilter) -> Self {
        match filter {
            LevelFilter::Off => Self::Fatal,
            LevelFilter::Error => Self::Error,
            LevelFilter::Warn => Self::Warn,
            LevelFilter::Info => Self::Info,
            LevelFilter::Debug | LevelFilter::Trace => Self::Debug,
        }
    }
}

/// Levels of the `log` crate; those below its `debug` become `debug`.
impl From<Level> for LogLevel {
    fn from(level: Level) -> Self {
        match level {
            Level::Error => Self::Error,
            Level::Warn => Self::Warn,
            Level::Info => Self::Info,
            Level::Debug | Level::Trace => Self::Debug,
        }
    }
}

/// Parses `LEVEL` or `LOGGER:=LEVEL`; see [`sinew_shm::logging::parse_level`].
pub(crate) fn parse_level(text: &str) -> Option<(String, LogLevel)> {
    logging::parse_level(text).map(|(logger, filter)| (logger, LogLevel::of_filter(filter)))
}

/// Sets the levels of loggers of this process, as given on the command line.
pub(crate) fn set_levels(levels: &[(String, LogLevel)]) {
    let levels: Vec<_> = levels.iter().map(|(logger, level)| (logger.clone(), level.filter())).collect();
    logging::set_levels(&levels);
}

/// Sets or removes the level of a logger of this process; the empty name stands for all loggers
/// that have none.
pub(crate) fn set_level(logger: &str, level: Option<LogLevel>) {
    logging::set_level(logger, level.map(LogLevel::filter));
}

/// Returns the level that was given to this logger itself; for the empty name, the level of all
/// loggers.
pub(crate) fn own_level(logger: &str) -> Option<LogLevel> {
    logging::own_level(logger).map(LogLevel::of_filter)
}

/// Returns the effective level of a logger. Takes a lock for a moment, and allocates nothing.
pub(crate) fn level(logger: &str) -> LogLevel {
    LogLevel::of_filter(logging::level(logger))
}
