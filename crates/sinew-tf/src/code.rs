//! The numeric codes of failures.

use crate::insertion::InsertError;
use crate::lookup::LookupError;
use sinew::error::{ErrorCode, HasCode};

impl HasCode for InsertError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::NoChild { .. } | Self::NoParent { .. } | Self::NameTooLong { .. } => {
                ErrorCode::InvalidFrameName
            }
            Self::SelfTransform { .. } => ErrorCode::FrameLoop,
            Self::NotFinite { .. } | Self::NotNormalized { .. } => ErrorCode::InvalidTransform,
            Self::Old { .. } => ErrorCode::Extrapolation,
            Self::TooManyFrames { .. } => ErrorCode::TooManyFrames,
        }
    }
}

impl HasCode for LookupError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::UnknownFrame { .. } => ErrorCode::UnknownFrame,
            Self::NameTooLong { .. } => ErrorCode::InvalidFrameName,
            Self::NotConnected { .. } => ErrorCode::NotConnected,
            Self::Extrapolation { .. } => ErrorCode::Extrapolation,
            Self::Loop { .. } => ErrorCode::FrameLoop,
        }
    }
}
