//! Selects the leading gateway of a domain with several gateways: only the leader brings the
//! domain's messages to the network, the others wait until it is gone.
//!
//! The leader holds a lock on a file in the domain's directory. The kernel releases it when its
//! process ends, in whatever way.

use super::GatewayError;
use sinew::gateway::LOCK_FILE;
use sinew_shm::Domain;
use std::fs::{File, TryLockError};
use std::path::PathBuf;

/// A gateway's claim to lead.
pub(super) struct Claim {
    file: File,
    path: PathBuf,
}

impl Claim {
    pub(super) fn new(domain: &Domain) -> Result<Self, GatewayError> {
        let path = domain.path().join(LOCK_FILE);
        let opened = File::options().create(true).truncate(false).write(true).open(&path);
        let file = opened.map_err(|source| GatewayError::Lock { path: path.clone(), source })?;
        Ok(Self { file, path })
    }

    /// Returns `true` if this gateway leads from now on, until the claim is dropped. Never blocks.
    pub(super) fn leads(&self) -> Result<bool, GatewayError> {
        match self.file.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(source)) => Err(GatewayError::Lock { path: self.path.clone(), source }),
        }
    }
}
