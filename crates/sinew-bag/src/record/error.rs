//! The reasons why a recording can't begin.

use crate::error::BagError;
use sinew::error::{CreateError, ErrorCode, HasCode};
use std::io;

/// A recording can't begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The bag can't be made, or an option is wrong.
    #[error(transparent)]
    Bag(#[from] BagError),
    /// The recorder's node or its services can't be made.
    #[error(transparent)]
    Create(#[from] CreateError),
    /// No topic is asked for.
    #[error("nothing is selected: name topics, services, actions or types, or ask for all")]
    Nothing,
    /// The operating system refused a thread.
    #[error("the recorder's thread can't be started: {source}")]
    Thread {
        /// The error of the operating system.
        source: io::Error,
    },
}

impl HasCode for RecordError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Bag(error) => error.code(),
            Self::Create(error) => error.code(),
            Self::Nothing => ErrorCode::InvalidArgument,
            Self::Thread { .. } => ErrorCode::System,
        }
    }
}
