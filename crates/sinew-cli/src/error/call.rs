//! What keeps a call from being answered.

use std::time::Duration;

use crate::harmless::one_line;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    /// There is no server to call.
    #[error(
        "nobody served {service} in domain {domain} within {} s{similar} (`sinew service list` tells what there is)",
        waited.as_secs_f64()
    )]
    NoServer {
        /// The service.
        service: String,
        /// Where we looked.
        domain: u32,
        /// How long we waited.
        waited: Duration,
        /// What may have been meant, as the end of a sentence.
        similar: String,
    },
    /// There was no server to call before it was interrupted.
    #[error("nobody served {service} in domain {domain} before this was stopped{similar}")]
    StoppedWaiting {
        /// The service.
        service: String,
        /// Where we looked.
        domain: u32,
        /// What may have been meant, as the end of a sentence.
        similar: String,
    },
    /// Nobody answers in time.
    #[error("{service} gave no answer within {} s", waited.as_secs_f64())]
    TimedOut {
        /// The service.
        service: String,
        /// How long we waited.
        waited: Duration,
    },
    /// It was interrupted.
    #[error("{service} gave no answer before this was stopped")]
    Stopped {
        /// The service.
        service: String,
    },
    /// The server says no.
    #[error("{service} failed: {}", one_line(reason))]
    Failed {
        /// The service.
        service: String,
        /// In its words, or ours.
        reason: String,
    },
    /// The server has a type without a description that ROS 2 knows.
    #[error(
        "{service} has the type {type_name}, which is not the name of a ROS 2 type, so nobody can tell what to send \
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
    /// The user thinks of another type.
    #[error("{service} has the type {found}, not {wanted}")]
    OtherType {
        /// The service.
        service: String,
        /// Its server's type.
        found: String,
        /// The one that was given.
        wanted: String,
    },
    /// The server's process keeps the service for itself.
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
