//! What goes wrong with calls and answers.

use crate::message::Unique;
use sinew_msg::Message;
use std::fmt;
use std::time::Duration;

/// Why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallFailure {
    /// The context is shut down.
    #[error("the context is shut down")]
    Shutdown,
    /// There was no server until the timeout.
    #[error(
        "no server came within {waited:?}; {}",
        if *.ever_seen {
            "there was one before: start its node again"
        } else {
            "none was ever there: check the service's name, the remapping rules and whether its node runs"
        }
    )]
    NoServer {
        /// The timeout.
        waited: Duration,
        /// Whether the service ever had a server.
        ever_seen: bool,
    },
    /// As many requests wait as may.
    #[error(
        "{limit} requests wait or are being answered already, which is the limit: call less often, or raise the server's \
         `max_requests`"
    )]
    Full {
        /// The limit.
        limit: usize,
    },
    /// The server didn't answer in time.
    #[error(
        "there was no answer within {waited:?}; {}",
        if *.started { "the server has taken the request, or is in another process: \
            does an executor there spin its node, and is that not waiting for the caller in turn?" } else {
            "the server has not got to it: does an executor spin its node, and is its callback group free?"
        }
    )]
    Timeout {
        /// The timeout.
        waited: Duration,
        /// Whether the server may have taken the request: it has, or is in another process, where
        /// that isn't known. If not, it never will.
        started: bool,
    },
    /// The server went before it answered.
    #[error("the server went away before it answered")]
    ServerGone,
    /// The server dropped the [`Responder`](super::Responder) and never answered.
    #[error("the server dropped the request without an answer")]
    Dropped,
    /// The server's callback returned an error.
    #[error("the server says: {message}")]
    Failed {
        /// The error's message.
        message: String,
    },
    /// The server's callback panicked.
    #[error("the server's callback panicked: {message}")]
    Panicked {
        /// The panic's message.
        message: String,
    },
    /// The answer could never come, as who would have to give it waits for the caller.
    #[error(
        "waiting for the answer would never end: {why}; use `call_async` or `call_then`, or another group or executor"
    )]
    WouldDeadlock {
        /// Who waits for whom.
        why: &'static str,
    },
    /// The call is one of a chain of calls inside each other that is too long.
    #[error("calls inside calls go {limit} deep at most: does a server call itself?")]
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// The way to the server's process failed.
    #[error("the server is in another process, and the way there failed: {problem}")]
    Outside {
        /// What failed.
        problem: String,
    },
    /// The server has other types.
    #[error("the types differ: {reason}")]
    OtherType {
        /// Who has which.
        reason: String,
    },
}

/// A call without an answer: why, and the request if no server took it.
///
/// ```
/// use sinew::prelude::*;
/// use sinew::CallFailure;
/// # #[derive(Debug)] struct Number(u64); impl Message for Number {}
/// # struct Double; impl Service for Double { type Request = Number; type Response = Number; }
/// let context = Context::new()?;
/// let client = context.node("caller")?.client::<Double>("double").create()?;
/// let error = client.call(Number(21), Duration::ZERO).unwrap_err();
/// assert!(matches!(error.failure(), CallFailure::NoServer { ever_seen: false, .. }));
/// assert!(error.to_string().starts_with("the call of service /double failed: no server came within 0ns"));
/// assert_eq!(error.into_request().unwrap().0, 21); // for another try
/// # Ok::<(), sinew::Error>(())
/// ```
pub struct CallError<T: Message>(Box<Inner<T>>);

struct Inner<T: Message> {
    service: String,
    failure: CallFailure,
    request: Option<Unique<T>>,
}

impl<T: Message> CallError<T> {
    #[cold]
    pub(crate) fn new(service: &str, failure: CallFailure, request: Option<Unique<T>>) -> Self {
        Self(Box::new(Inner { service: service.to_owned(), failure, request }))
    }

    /// Why there is no answer.
    pub fn failure(&self) -> &CallFailure {
        &self.0.failure
    }

    /// The service's full name.
    pub fn service(&self) -> &str {
        &self.0.service
    }

    /// The request, if no server took it: then nothing has happened there.
    pub fn into_request(self) -> Option<Unique<T>> {
        self.0.request
    }

    pub(crate) fn into_parts(self) -> (String, CallFailure) {
        let Inner { service, failure, .. } = *self.0;
        (service, failure)
    }
}

impl<T: Message> fmt::Debug for CallError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !f.alternate() {
            return crate::error::say(self, f);
        }
        f.debug_struct("CallError")
            .field("service", &self.0.service)
            .field("failure", &self.0.failure)
            .finish_non_exhaustive()
    }
}

impl<T: Message> fmt::Display for CallError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the call of service {} failed: {}", self.0.service, self.0.failure)
    }
}

impl<T: Message> std::error::Error for CallError<T> {}

/// A response that nobody waits for any more: the caller has given up or gone, or the context was
/// shut down.
pub struct RespondError<T: Message>(Option<Unique<T>>);

impl<T: Message> RespondError<T> {
    pub(crate) fn new(response: Option<Unique<T>>) -> Self {
        Self(response)
    }

    /// The response; none if an error was to be sent.
    pub fn into_response(self) -> Option<Unique<T>> {
        self.0
    }
}

impl<T: Message> fmt::Debug for RespondError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RespondError")
    }
}

impl<T: Message> fmt::Display for RespondError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nobody waits for the response any more: its caller has given up or gone")
    }
}

impl<T: Message> std::error::Error for RespondError<T> {}
