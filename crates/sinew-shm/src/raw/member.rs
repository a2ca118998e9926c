//! The state of a process that all names in a space share.

use super::registry::Registry;
use super::waiter::Waiter;
use crate::error::CapacityError;
use crate::participant::Participant;
use crate::platform::sync::{Arc, Mutex, Ordering, PlainU64};
use std::sync::Weak;

/// A process's presence among the names of a domain.
pub(super) struct Member {
    pub(super) participant: Arc<Participant>,
    pub(super) registry: Arc<Registry>,
    waiters: Mutex<Vec<Weak<Waiter>>>,
    /// The next number of an entity.
    numbers: PlainU64,
}

impl Member {
    pub(super) fn new(participant: Arc<Participant>, registry: Arc<Registry>) -> Self {
        Self { participant, registry, waiters: Mutex::default(), numbers: PlainU64::new(1) }
    }

    pub(super) fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed) // each is its own
    }

    /// A waiter for a reading handle. A participant has at most 64 ports; handles beyond that share
    /// one.
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
        waiters.rotate_left(1); // the next handle gets another one
        Ok(shared)
    }
}
