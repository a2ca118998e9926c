//! A supervisor's rules for a process.

use std::time::Duration;

/// A signal that asks a process to end, in the order in which they are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Signal {
    /// SIGINT.
    Int,
    /// SIGTERM.
    Term,
    /// SIGKILL.
    Kill,
}

impl Signal {
    /// Returns the signal that follows if this one has no effect.
    pub(crate) fn next(self) -> Self {
        match self {
            Self::Int => Self::Term,
            Self::Term | Self::Kill => Self::Kill,
        }
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Int => "SIGINT",
            Self::Term => "SIGTERM",
            Self::Kill => "SIGKILL",
        }
    }
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// With this code.
    Code(u8),
    /// Killed by this signal.
    Signal(i32),
}

impl Exit {
    /// Returns the exit code that a shell would report, if it isn't 0.
    pub fn failure(self) -> Option<u8> {
        match self {
            Self::Code(0) => None,
            Self::Code(code) => Some(code),
            Self::Signal(signal) => Some(u8::try_from(128 + signal).unwrap_or(u8::MAX)),
        }
    }
}

/// A supervisor's rules for a process.
///
/// By default it is started at once and only once, is ready then, and is ended by SIGINT, after 5 s
/// SIGTERM, and after 5 s more SIGKILL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// The processes that have to be ready before it starts.
    pub after: Vec<usize>,
    /// The rules for restarts.
    pub restart: Restart,
    /// Whether all processes end when it ends.
    pub required: bool,
    /// The first signal that asks it to end.
    pub signal: Signal,
    /// Time until SIGTERM follows (SIGKILL, if the first signal is SIGTERM).
    pub grace: Duration,
    /// Time between SIGTERM and SIGKILL.
    pub grace_after_term: Duration,
    /// It is ready only after it has run for this long.
    pub ready_after: Duration,
    /// It is ready once it has ended with this code, and only then.
    pub ready_on_exit: Option<u8>,
    /// It is ready only after the driver has reported its [offers](super::Supervisor::offered).
    pub waits_to_be_told: bool,
    /// It has to be ready after it has run for this long.
    pub ready_timeout: Option<Duration>,
}

impl Policy {
    pub(crate) fn is_ready_at_start(&self) -> bool {
        self.ready_after.is_zero() && self.ready_on_exit.is_none() && !self.waits_to_be_told
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            after: Vec::new(),
            restart: Restart::default(),
            required: false,
            signal: Signal::Int,
            grace: Duration::from_secs(5),
            grace_after_term: Duration::from_secs(5),
            ready_after: Duration::ZERO,
            ready_on_exit: None,
            waits_to_be_told: false,
            ready_timeout: None,
        }
    }
}

/// When a process is restarted after it has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestartPolicy {
    /// Never.
    Never,
    /// If its exit code wasn't 0, or it was killed.
    OnFailure,
    /// Whenever it ends.
    Always,
}

/// Restarts of a process: by default none; otherwise after half a second, and after twice as long
/// each further time, up to 30 s, until it has run for a minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restart {
    /// The condition for a restart.
    pub policy: RestartPolicy,
    /// Delay after its end.
    pub delay: Duration,
    /// Longest such delay.
    pub max_delay: Duration,
    /// Most restarts within the window; any number if `None`.
    pub max: Option<u32>,
    /// See `max`. A process that has run for this long starts with the first delay again.
    pub window: Duration,
}

impl Default for Restart {
    fn default() -> Self {
        Self {
            policy: RestartPolicy::Never,
            delay: Duration::from_millis(500),
            max_delay: Duration::from_secs(30),
            max: None,
            window: Duration::from_secs(60),
        }
    }
}
