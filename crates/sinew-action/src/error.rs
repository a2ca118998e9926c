//! What goes wrong with goals, on the client's side.

use crate::goal_id::GoalId;
use sinew::error::CallFailure;
use std::fmt;

/// Why a goal was not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendGoalFailure {
    /// The server said no.
    #[error("the server rejected it: it may have as many goals as it takes, or not want this one")]
    Rejected,
    /// It got no answer.
    #[error("it was not answered: {0}")]
    Call(CallFailure),
    /// There was no answer until the timeout.
    #[error("there was no answer in time: does the action have a server (`wait_for_server`)?")]
    Timeout,
}

/// A goal that was not accepted: why, and the goal if no server took it.
pub struct SendGoalError<G> {
    pub(crate) action: String,
    pub(crate) failure: SendGoalFailure,
    pub(crate) goal: Option<Box<G>>,
}

impl<G> SendGoalError<G> {
    /// Why.
    pub fn failure(&self) -> &SendGoalFailure {
        &self.failure
    }

    /// The goal, if it never left: then nothing has happened at the server.
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

/// Why a goal that was accepted has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResultError {
    /// The server went, or its process died, before the goal ended.
    #[error("the server of goal {goal} went away: what became of it isn't known")]
    ServerGone {
        /// The goal.
        goal: GoalId,
    },
    /// The server that answered doesn't know the goal: it is another one than accepted it, or the
    /// result was asked for too late.
    #[error(
        "the server doesn't know goal {goal}: it was started anew, or keeps results for a shorter time (`result_timeout`)"
    )]
    UnknownGoal {
        /// The goal.
        goal: GoalId,
    },
    /// There was no result until the timeout. The goal goes on.
    #[error("goal {goal} has not ended in time; it goes on")]
    Timeout {
        /// The goal.
        goal: GoalId,
    },
    /// The call for the result failed.
    #[error("the result of goal {goal} did not come: {failure}")]
    Call {
        /// The goal.
        goal: GoalId,
        /// Why.
        failure: CallFailure,
    },
}

/// Why it isn't known what became of a request to cancel.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CancelError {
    /// It got no answer.
    #[error("the request to cancel goals of {action} was not answered: {failure}")]
    Call {
        /// The action.
        action: String,
        /// Why.
        failure: CallFailure,
    },
    /// There was no answer until the timeout.
    #[error("the request to cancel goals of {action} was not answered in time")]
    Timeout {
        /// The action.
        action: String,
    },
}
