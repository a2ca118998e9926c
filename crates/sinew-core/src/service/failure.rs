//! Why calls fail.

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
            "the server has not got to it: does an executor spin its node, is its callback group free, and, if the node is \
            managed, is it active?"
        }
    )]
    Timeout {
        /// The timeout.
        waited: Duration,
        /// Whether the server may have taken the request: it has, or is in another process, where
        /// that isn't known. If not, it never will.
        started: bool,
    },
    /// The callback for the result wants the state of another group than the client's.
    #[error(
        "the client was made by another group than the one whose state the callback takes: make it with that group's `client`"
    )]
    OtherGroup,
    /// The server went before it answered.
    #[error("the server went away before it answered")]
    ServerGone,
    /// The server is on the network, and the gateway to it went before the answer came.
    #[error(
        "the gateway to the network went away before the server there answered: start it again (sinew gateway)"
    )]
    GatewayGone,
    /// The server dropped the [`Responder`](crate::Responder) and never answered.
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
    /// The answer could never come, as the thread that would have to give it waits for the caller.
    #[error(
        "waiting for the answer would never end: {why}; use `call_async` or `call_then`, or another group or executor"
    )]
    WouldDeadlock {
        /// Which thread waits for which.
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
    Transport {
        /// What failed.
        problem: String,
    },
    /// The client and the server hold the types in different forms (one knows them at run time
    /// only, say), and what one of them gave is no message of the type.
    #[error("the {what} can't be read: {reason}")]
    Undecodable {
        /// `request` or `response`.
        what: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// Encoding what one of them gave panicked: a string is longer than the format has lengths for,
    /// say, or an [`Adapter`](crate::msg::Adapter) failed.
    #[error("the {what} can't be encoded: {reason}")]
    Unencodable {
        /// `request` or `response`.
        what: &'static str,
        /// What the panic said.
        reason: String,
    },
    /// The server has other types.
    #[error("the types differ: {reason}")]
    OtherType {
        /// Who has which.
        reason: String,
    },
}
