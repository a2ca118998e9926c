//! What can go wrong when a server starts.

use sinew::error::{CreateError, ErrorCode, HasCode};
use std::io;

/// A server for viewers can't be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ViewError {
    /// The address is not one of this host, the port is in use, or a privileged one.
    #[error("can't listen on {address} for viewers: {source}")]
    Listen {
        /// The address and port.
        address: String,
        /// The operating system's answer.
        source: io::Error,
    },
    /// The operating system starts no more threads.
    #[error("can't start a thread for viewers: {source}")]
    Thread {
        /// The operating system's answer.
        source: io::Error,
    },
    /// The server's node can't be made.
    #[error(transparent)]
    Create(#[from] CreateError),
}

impl HasCode for ViewError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Listen { .. } => ErrorCode::System,
            Self::Thread { .. } => ErrorCode::Thread,
            Self::Create(error) => error.code(),
        }
    }
}
