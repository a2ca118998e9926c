//! The numeric codes of failures.

use crate::client::LifecycleClientError;
use crate::node::TransitionError;
use crate::supervisor::SupervisorError;
use sinew::error::{ErrorCode, HasCode};

impl HasCode for LifecycleClientError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::NoAnswer { .. } => ErrorCode::NoSuchNode,
            Self::Refused { .. } => ErrorCode::TransitionFailed,
            Self::UnknownState { .. } => ErrorCode::UnknownState,
        }
    }
}

impl HasCode for TransitionError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::NotAllowed { .. } => ErrorCode::TransitionNotAllowed,
            Self::Failed { .. } => ErrorCode::TransitionFailed,
        }
    }
}

impl HasCode for SupervisorError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Missing { .. } => ErrorCode::NoSuchNode,
            Self::Transition { source, .. } => source.code(),
            Self::Lost { .. } => ErrorCode::NodeLost,
            Self::Shutdown => ErrorCode::Shutdown,
        }
    }
}
