//! Errors of goals, on the client's side.

use crate::goal_id::GoalId;
use sinew::Duration;
use sinew::error::CallFailure;
use std::fmt;

sinew::__debug_says!(SendGoalFailure, ResultError, CancelError);

/// The reason why a goal was not accepted.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendGoalFailure {
    /// The server rejected it.
    #[error(
        "the server rejected it: the server may have its maximum number of goals already, or refuse this one"
    )]
    Rejected,
    /// The request got no answer.
    #[error("it was not answered: {0}")]
    Call(CallFailure),
    /// No server took the goal before the timeout. It won't be executed, and comes back.
    #[error(
        "there was no server for it within {waited:?}: start one, or check that it runs (`wait_for_server`, `sinew action list`)"
    )]
    NoServer {
        /// The timeout.
        waited: Duration,
    },
    /// The server could never answer while this thread waits for it. The goal comes back, or is
    /// canceled if a server accepts it later.
    #[error(
        "waiting for its server's answer would never end: {why}; use `on_response`, await it, or use another group or executor"
    )]
    WouldDeadlock {
        /// The circle of waiting threads.
        why: &'static str,
    },
    /// A server took the goal but did not answer before the timeout. The goal is canceled if it is
    /// accepted later.
    #[error(
        "its server didn't answer within {waited:?}: it may be busy or stopped. The goal is canceled if it is accepted later"
    )]
    Timeout {
        /// The timeout.
        waited: Duration,
    },
}

/// A goal that was not accepted, with the reason; it holds the goal if no server took it.
pub struct SendGoalError<G> {
    pub(crate) action: String,
    pub(crate) failure: SendGoalFailure,
    pub(crate) goal: Option<Box<G>>,
}

impl<G> SendGoalError<G> {
    /// Returns the reason.
    pub fn failure(&self) -> &SendGoalFailure {
        &self.failure
    }

    /// Returns the goal if it was never sent, so that nothing has happened at the server.
    pub fn into_goal(self) -> Option<Box<G>> {
        self.goal
    }
}

impl<G> fmt::Display for SendGoalError<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a goal of action {} was not accepted: {}", self.action, self.failure)
    }
}

impl<G> fmt::Debug for SendGoalError<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl<G> std::error::Error for SendGoalError<G> {}

/// The reason why an accepted goal has no result.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResultError {
    /// The server closed, or its process died, before the goal ended.
    #[error("the server of goal {goal} is gone: the goal's outcome is unknown")]
    ServerGone {
        /// The goal.
        goal: GoalId,
    },
    /// The server that answered doesn't know the goal: it is not the server that accepted it, or
    /// the result was requested too late.
    #[error(
        "the server doesn't know goal {goal}: it was restarted, or keeps results for a shorter time (`result_timeout`)"
    )]
    UnknownGoal {
        /// The goal.
        goal: GoalId,
    },
    /// There was no result before the timeout. The goal continues.
    #[error("goal {goal} has not ended in time; it continues")]
    Timeout {
        /// The goal.
        goal: GoalId,
    },
    /// The goal could never be executed while this thread waits for it. It stays accepted.
    #[error(
        "waiting for the result of goal {goal} would never end: {why}; use `on_result`, await it, or use another group or \
         executor"
    )]
    WouldDeadlock {
        /// The goal.
        goal: GoalId,
        /// The circle of waiting threads.
        why: &'static str,
    },
    /// The call for the result failed.
    #[error("the result of goal {goal} did not arrive: {failure}")]
    Call {
        /// The goal.
        goal: GoalId,
        /// The reason.
        failure: CallFailure,
    },
}

/// The reason why the outcome of a cancel request is unknown.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CancelError {
    /// The request got no answer.
    #[error("the request to cancel goals of {action} was not answered: {failure}")]
    Call {
        /// The action.
        action: String,
        /// The reason.
        failure: CallFailure,
    },
    /// Cancelling the goals that were accepted at time 0 or before is refused: ROS 2 reads time 0
    /// as "all goals".
    #[error(
        "goals of {action} that were accepted at time 0 or before can't be cancelled, as ROS 2 takes that time for all goals: \
         use `Cancel::All` to cancel all (a server of rclcpp doesn't report when it accepted a goal)"
    )]
    NoTime {
        /// The action.
        action: String,
    },
    /// Cancelling the goal with the id of zeros is refused: ROS 2 reads that id as "no single
    /// goal".
    #[error(
        "a goal of {action} with the id of zeros can't be cancelled, as ROS 2 takes that id for all goals: take the id from the \
         goal's handle, or use `Cancel::All` to cancel all"
    )]
    NoGoal {
        /// The action.
        action: String,
    },
    /// The server could never answer while this thread waits for it.
    #[error(
        "waiting for the answer to the request to cancel goals of {action} would never end: {why}; await it, or use another \
         group or executor"
    )]
    WouldDeadlock {
        /// The action.
        action: String,
        /// The circle of waiting threads.
        why: &'static str,
    },
    /// There was no answer before the timeout.
    #[error("the request to cancel goals of {action} was not answered in time")]
    Timeout {
        /// The action.
        action: String,
    },
}
