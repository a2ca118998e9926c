//! Reasons why calls fail.

use std::time::Duration;

/// The reason why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallFailure {
    /// The context is shut down.
    #[error("the context is shut down")]
    Shutdown,
    /// The client was closed.
    #[error("the client was closed")]
    Closed,
    /// No server appeared before the timeout.
    #[error(
        "no server came within {waited:?}; {}",
        if *.ever_seen {
            "there was one before: start its node again"
        } else {
            "there never was one: check the service's name, the remapping rules and whether its node runs"
        }
    )]
    NoServer {
        /// The timeout.
        waited: Duration,
        /// Whether the service ever had a server.
        ever_seen: bool,
    },
    /// The maximum number of requests is already waiting.
    #[error(
        "{limit} requests wait or are being answered, which is the server's limit: call less often, or raise its \
         `max_requests`"
    )]
    Full {
        /// The limit.
        limit: usize,
    },
    /// The client has the maximum number of calls with responses that the program didn't take.
    #[error(
        "the client has {limit} calls with responses that were not taken, which is the limit: take them more often, or raise \
         the client's `max_responses`"
    )]
    Untaken {
        /// The limit.
        limit: usize,
    },
    /// The server didn't answer in time.
    #[error(
        "there was no answer within {waited:?}; {}",
        if *.started { "the server has taken the request, or is in another process: \
            does an executor there spin its node, or is it waiting for the caller in turn?" } else {
            "the server has not taken the request: does an executor spin its node, is its callback group free, and is the \
            node active, if it is managed?"
        }
    )]
    Timeout {
        /// The timeout.
        waited: Duration,
        /// `true` if the server took the request, or is in another process, so that this isn't
        /// known. If `false`, no server will ever take it.
        started: bool,
    },
    /// The server was removed before it answered.
    #[error("the server went away before it answered")]
    ServerGone,
    /// The server is on the network, and its gateway went away before the answer arrived.
    #[error(
        "the gateway to the network went away before the server there answered: start it again (sinew gateway)"
    )]
    GatewayGone,
    /// The server dropped the [`Responder`](crate::Responder) without answering.
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
    /// The answer could never arrive: the thread that would have to answer waits for the caller.
    #[error(
        "waiting for the answer would never end: {why}; call without waiting, or use another callback group or executor"
    )]
    WouldDeadlock {
        /// The threads that wait for each other.
        why: &'static str,
    },
    /// The call is part of a chain of nested calls that is too long.
    #[error("nested calls go at most {limit} deep: does a server call itself?")]
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// The connection to the server's process failed.
    #[error("the server is in another process, and the connection to it failed: {problem}")]
    Transport {
        /// The failure.
        problem: String,
    },
    /// The client and the server hold the types in different forms (for example, one knows them at
    /// run time only), and a message from one of them is not valid for the type.
    #[error("the {what} can't be read: {reason}")]
    Undecodable {
        /// `request` or `response`.
        what: &'static str,
        /// The problem with it.
        reason: String,
    },
    /// Encoding a message panicked: for example, a string exceeds the format's maximum length, or
    /// an [`Adapter`](crate::msg::Adapter) failed.
    #[error("the {what} can't be encoded: {reason}")]
    Unencodable {
        /// `request` or `response`.
        what: &'static str,
        /// The panic's message.
        reason: String,
    },
    /// The message given to an [erased](mod@crate::erased) endpoint is held elsewhere as well, and
    /// its type has no clone function.
    #[error("the {what} is held elsewhere as well, and its type was registered without a clone function")]
    NotSole {
        /// `request` or `response`.
        what: &'static str,
    },
    /// The server has other types.
    #[error("the types differ: {reason}")]
    OtherType {
        /// The types of both sides.
        reason: String,
    },
}
