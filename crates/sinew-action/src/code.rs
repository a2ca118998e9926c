//! The numeric codes of failures.

use crate::error::{CancelError, ResultError, SendGoalError, SendGoalFailure};
use crate::server::{EndError, FeedbackError};
use sinew::Message;
use sinew::error::{ErrorCode, HasCode};

impl HasCode for SendGoalFailure {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Rejected => ErrorCode::GoalRejected,
            Self::Call(failure) => failure.code(),
            Self::NoServer { .. } => ErrorCode::NoServer,
            Self::WouldDeadlock { .. } => ErrorCode::WouldDeadlock,
            Self::Timeout { .. } => ErrorCode::Timeout,
        }
    }
}

impl<G> HasCode for SendGoalError<G> {
    fn code(&self) -> ErrorCode {
        self.failure().code()
    }
}

impl HasCode for ResultError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::ServerGone { .. } => ErrorCode::ServerGone,
            Self::UnknownGoal { .. } => ErrorCode::UnknownGoal,
            Self::Timeout { .. } => ErrorCode::Timeout,
            Self::WouldDeadlock { .. } => ErrorCode::WouldDeadlock,
            Self::Call { failure, .. } => failure.code(),
        }
    }
}

impl HasCode for CancelError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Call { failure, .. } => failure.code(),
            Self::NoTime { .. } => ErrorCode::NoCancelTime,
            Self::NoGoal { .. } => ErrorCode::UnknownGoal,
            Self::WouldDeadlock { .. } => ErrorCode::WouldDeadlock,
            Self::Timeout { .. } => ErrorCode::Timeout,
        }
    }
}

impl<R: Message> HasCode for EndError<R> {
    fn code(&self) -> ErrorCode {
        ErrorCode::ServerGone
    }
}

impl<F> HasCode for FeedbackError<F> {
    fn code(&self) -> ErrorCode {
        self.failure().map_or(ErrorCode::ServerGone, |failure| failure.code())
    }
}
