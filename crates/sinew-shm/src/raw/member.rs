//! What a process has as a member of a space, whatever is open there.

use super::registry::Registry;
use super::waiter::Waiter;
use crate::error::CapacityError;
use crate::participant::Participant;
use crate::sync::{Arc, Mutex, Ordering, PlainU64};
use std::sync::Weak;

/// A process's presence among the names of a domain.
pub(super) struct Member {
    pub(super) participant: Arc<Participant>,
    pub(super) registry: Arc<Registry>,
    waiters: Mutex<Vec<Weak<Waiter>>>,
    /// Of entities.
    numbers: PlainU64,
}

impl Member {
    pub(super) fn new(participant: Arc<Participant>, registry: Arc<Registry>) -> Self {
        Self { participant, registry, waiters: Mutex::default(), numbers: PlainU64::new(1) }
    }

    pub(super) fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed) // each is its own
    }

    /// Something for a reading handle to sleep on. A participant has 64 ports at most: handles
    /// beyond share one.
    pub(super) fn waiter(&self) -> Result<Arc<Waiter>, CapacityError> {
        let mut waiters = self.waiters.lock();
        waiters.retain(|waiter| waiter.strong_count() > 0);
        let refused = match Waiter::new(&self.participant) {
            Ok(waiter) => {
                waiters.push(Arc::downgrade(&waiter));
                return Ok(waiter);
            }
            Err(error) => error,
        };
        let shared = waiters.iter().find_map(Weak::upgrade).ok_or(refused)?;
        waiters.rotate_left(1); // the next one gets another
        Ok(shared)
    }
}
