//! Selects the leading gateway of a domain with several gateways: only the leader brings the
//! domain's messages to the network, the others wait until it is gone.
//!
//! The leader holds a lock on a file in the domain's directory. The kernel releases it when the
//! leader's process ends, even if it is killed.

use super::error::GatewayError;
use sinew::__private::locks::{Condvar, Mutex};
use sinew::gateway::LOCK_FILE;
use sinew::time::Time;
use sinew_shm::Domain;
use std::fs::{File, TryLockError};
use std::path::PathBuf;
use std::time::Duration;

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

/// Notifies waiting threads that the gateway leads.
#[derive(Default)]
pub(super) struct Leads {
    leads: Mutex<bool>,
    changed: Condvar,
}

impl Leads {
    pub(super) fn set(&self, leads: bool) {
        *self.leads.lock() = leads;
        self.changed.notify_all();
    }

    /// Blocks until the gateway leads, for at most `timeout`. Returns `true` if it does.
    pub(super) fn wait(&self, timeout: Duration) -> bool {
        let end = Time::steady() + timeout;
        let mut leads = self.leads.lock();
        while !*leads {
            let left = end - Time::steady();
            if left.is_zero() {
                return false;
            }
            self.changed.wait_for(&mut leads, left);
        }
        true
    }

    pub(super) fn is_set(&self) -> bool {
        *self.leads.lock()
    }
}
