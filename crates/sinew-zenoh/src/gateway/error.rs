//! Errors of a gateway.

use crate::config::ConfigError;
use crate::rules::RuleError;
use sinew_shm::{DomainError, JoinError};
use std::path::PathBuf;

/// A gateway can't run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GatewayError {
    /// Its configuration is unusable.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The context has no shared memory.
    #[error(
        "a gateway finds the domain's nodes through shared memory, and this context has none: leave out shared_memory(false)"
    )]
    NoSharedMemory,
    /// The domain number is outside ROS 2's range.
    #[error("domain {domain} can't be on the network: ROS 2's domains are 0 to {LAST_DOMAIN}")]
    Domain {
        /// The context's domain.
        domain: u32,
    },
    /// The domain's directory is unusable.
    #[error(transparent)]
    Place(#[from] DomainError),
    /// The domain can't be joined.
    #[error(transparent)]
    Join(#[from] JoinError),
    /// The lock file of the domain's leading gateway can't be locked.
    #[error("{path}, the lock of the domain's leading gateway, can't be locked: {source}")]
    Lock {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// The session could not be opened.
    #[error("the session with the network could not be opened: {reason}")]
    Session {
        /// Zenoh's reason.
        reason: String,
    },
    /// A rule is invalid.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// A thread could not be started.
    #[error("a thread of the gateway could not be started: {0}")]
    Thread(std::io::Error),
}

/// The greatest domain: ROS 2 with DDS allows no greater one on any platform.
pub(super) const LAST_DOMAIN: u32 = 232;
