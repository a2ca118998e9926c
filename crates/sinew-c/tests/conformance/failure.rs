//! Failures of functions of C as values of Rust: the number and the sentence.

use crate::library::{Functions, Status};
use crate::message::Message;
use std::ffi::CStr;
use std::fmt;

// The numbers of `sinew_status` that scenarios look for.
const TIMEOUT: Status = 3;
const WOULD_DEADLOCK: Status = 4;
const CALLBACK_FAILED: Status = 7;
const HISTORY_FULL: Status = 300;
const TOO_MANY_REQUESTS: Status = 402;
const SERVER_GONE: Status = 403;
const BUSY: Status = 504;
const STOPPED: Status = 506;

/// A function failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Error {
    pub(crate) status: Status,
    sentence: String,
}

pub(crate) type Result<T> = std::result::Result<T, Error>;

/// What adding to a runner fails with.
pub(crate) type AddError = Error;

impl Error {
    pub(crate) fn new(status: Status, sentence: String) -> Self {
        Self { status, sentence }
    }

    /// The failure of a function that has just returned this.
    pub(crate) fn check(front: &Functions, status: Status) -> Result<()> {
        if status == 0 {
            return Ok(());
        }
        // SAFETY: a text that is valid until this thread's next failure.
        let sentence = unsafe { CStr::from_ptr(front.error()) };
        Err(Self::new(status, sentence.to_string_lossy().into_owned()))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl std::error::Error for Error {}

/// A spin failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SpinError {
    Busy,
    Stopped,
    /// As in Rust. No callback of C panics.
    Panicked {
        entity: String,
        message: String,
    },
    Failed(Error),
}

impl SpinError {
    pub(crate) fn check(front: &Functions, status: Status) -> std::result::Result<(), Self> {
        Error::check(front, status).map_err(|error| match error.status {
            BUSY => Self::Busy,
            STOPPED => Self::Stopped,
            _ => Self::Failed(error),
        })
    }
}

impl fmt::Display for SpinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(error) => error.fmt(f),
            other => write!(f, "{other:?}"),
        }
    }
}

impl std::error::Error for SpinError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Failed(error) => Some(error),
            _ => None,
        }
    }
}

impl From<SpinError> for Error {
    fn from(error: SpinError) -> Self {
        match error {
            SpinError::Failed(error) => error,
            other => Self::new(BUSY, other.to_string()),
        }
    }
}

/// Why a message was not published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PublishFailure {
    WouldDeadlock,
    Full {},
    Other(Status),
}

/// A message was not published.
#[derive(Debug)]
pub(crate) struct PublishError<T> {
    error: Error,
    message: T,
}

impl<T> PublishError<T> {
    pub(crate) fn new(error: Error, message: T) -> Self {
        Self { error, message }
    }

    pub(crate) fn failure(&self) -> PublishFailure {
        match self.error.status {
            WOULD_DEADLOCK => PublishFailure::WouldDeadlock,
            HISTORY_FULL => PublishFailure::Full {},
            other => PublishFailure::Other(other),
        }
    }

    pub(crate) fn into_message(self) -> Returned<T> {
        Returned(self.message)
    }
}

/// A message that was not published.
pub(crate) struct Returned<T>(T);

impl<T> Returned<T> {
    pub(crate) fn into_shared(self) -> Option<T> {
        Some(self.0)
    }
}

impl<T> fmt::Display for PublishError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<T: fmt::Debug> std::error::Error for PublishError<T> {}

impl<T: Message> From<PublishError<T>> for Error {
    fn from(error: PublishError<T>) -> Self {
        error.error
    }
}

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CallFailure {
    WouldDeadlock {},
    Timeout {},
    ServerGone,
    Full { limit: usize },
    Failed { message: String },
    Other(Status),
}

/// A call failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CallError {
    error: Error,
    failure: CallFailure,
}

impl CallError {
    pub(crate) fn failure(&self) -> &CallFailure {
        &self.failure
    }
}

impl From<Error> for CallError {
    fn from(error: Error) -> Self {
        // The limit is in the sentence.
        let limit = || error.sentence.split_whitespace().find_map(|word| word.parse().ok()).unwrap_or(0);
        let failure = match error.status {
            WOULD_DEADLOCK => CallFailure::WouldDeadlock {},
            TIMEOUT => CallFailure::Timeout {},
            SERVER_GONE => CallFailure::ServerGone,
            TOO_MANY_REQUESTS => CallFailure::Full { limit: limit() },
            CALLBACK_FAILED => CallFailure::Failed { message: error.sentence.clone() },
            other => CallFailure::Other(other),
        };
        Self { error, failure }
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for CallError {}

impl From<CallError> for Error {
    fn from(error: CallError) -> Self {
        error.error
    }
}
