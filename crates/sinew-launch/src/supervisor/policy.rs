//! What a supervisor has to know of a process.

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
    /// What follows if it doesn't help.
    pub(crate) fn next(self) -> Self {
        match self {
            Self::Int => Self::Term,
            Self::Term | Self::Kill => Self::Kill,
        }
    }

    /// Its name.
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
    /// The code that a shell would tell, if it isn't 0.
    pub fn failure(self) -> Option<u8> {
        match self {
            Self::Code(0) => None,
            Self::Code(code) => Some(code),
            Self::Signal(signal) => Some(u8::try_from(128 + signal).unwrap_or(u8::MAX)),
        }
    }
}

/// What a supervisor has to know of a process.
///
/// By default it is started at once and once, is ready then, and is ended by SIGINT, after 5 s
/// SIGTERM, and after 5 s more SIGKILL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// The processes that have to be ready before it starts.
    pub after: Vec<usize>,
    /// When it is started again.
    pub restart: Restart,
    /// Whether its end ends all.
    pub required: bool,
    /// What asks it to end.
    pub signal: Signal,
    /// How long until SIGTERM follows (SIGKILL, if the first signal is SIGTERM).
    pub grace: Duration,
    /// How long until SIGKILL follows SIGTERM.
    pub grace_after_term: Duration,
    /// It isn't ready before it has run for so long.
    pub ready_after: Duration,
    /// It is ready once it has ended with this code, and not before.
    pub ready_on_exit: Option<u8>,
    /// It isn't ready before the driver has said that it [offers](super::Supervisor::offered) what
    /// it should.
    pub waits_to_be_told: bool,
    /// It has to be ready after it has run for so long.
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

/// When a process is started again after it has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestartPolicy {
    /// Not at all.
    Never,
    /// If it ended with another code than 0, or was killed.
    OnFailure,
    /// Whenever it ends.
    Always,
}

/// How a process is started again: not at all by default; else after half a second, and after twice
/// as long each further time, up to 30 s, until it has run for a minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restart {
    /// When.
    pub policy: RestartPolicy,
    /// How long after its end.
    pub delay: Duration,
    /// The longest such delay.
    pub max_delay: Duration,
    /// How often within the window; any number of times if `None`.
    pub max: Option<u32>,
    /// See `max`. A process that has run for so long begins with the first delay again.
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
