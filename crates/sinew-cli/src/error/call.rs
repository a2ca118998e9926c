//! The reasons why a call isn't answered.

use std::time::Duration;

use crate::harmless::one_line;

/// The reason why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    /// There is no server to call.
    #[error(
        "{service} had no server in domain {domain} within {} s{similar} (`sinew service list` lists the services)",
        waited.as_secs_f64()
    )]
    NoServer {
        /// The service.
        service: String,
        /// The domain.
        domain: u32,
        /// The time waited.
        waited: Duration,
        /// A suggestion, as the end of a sentence.
        similar: String,
    },
    /// The command was interrupted before there was a server.
    #[error("{service} had no server in domain {domain} before this was stopped{similar}")]
    StoppedWaiting {
        /// The service.
        service: String,
        /// The domain.
        domain: u32,
        /// A suggestion, as the end of a sentence.
        similar: String,
    },
    /// There was no answer in time.
    #[error("{service} gave no answer within {} s", waited.as_secs_f64())]
    TimedOut {
        /// The service.
        service: String,
        /// The time waited.
        waited: Duration,
    },
    /// The command was interrupted.
    #[error("{service} gave no answer before this was stopped")]
    Stopped {
        /// The service.
        service: String,
    },
    /// The server reports a failure.
    #[error("{service} failed: {}", one_line(reason))]
    Failed {
        /// The service.
        service: String,
        /// The reason, in the server's words or this program's.
        reason: String,
    },
    /// The server's type has no name that is valid in ROS 2.
    #[error(
        "{service} has the type {type_name}, which is not the name of a ROS 2 type, so its request isn't known \
         (`Service::TYPE` gives it one)"
    )]
    NoType {
        /// The service.
        service: String,
        /// Its type.
        type_name: String,
    },
    /// The user gives an empty text as a goal.
    #[error(
        "the goal for {service} is empty; \"{{}}\" stands for one with all default values (`sinew interface proto` shows them)"
    )]
    NoGoal {
        /// The action.
        service: String,
    },
    /// The user has given another type.
    #[error("{service} has the type {found}, not {wanted}")]
    OtherType {
        /// The service.
        service: String,
        /// Its server's type.
        found: String,
        /// The type that was given.
        wanted: String,
    },
    /// The service stays within the server's process.
    #[error(
        "{service} stays in the process of {node}: its messages have no form outside (derive(Message) gives them one)"
    )]
    StaysInside {
        /// The service.
        service: String,
        /// The server's node.
        node: String,
    },
}
