//! Which gateway of a domain brings its messages to the network, if there are several: one leads,
//! the others wait until it is gone.
//!
//! The one that leads holds a lock on a file in the domain's directory. The kernel gives it up when
//! its process ends, however that happens.

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

    /// Whether this gateway leads from now on, until the claim is dropped. Never blocks.
    pub(super) fn leads(&self) -> Result<bool, GatewayError> {
        match self.file.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(source)) => Err(GatewayError::Lock { path: self.path.clone(), source }),
        }
    }
}
