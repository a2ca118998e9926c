//! The port on which a reading thread sleeps.

use crate::error::CapacityError;
use crate::event::receiver::EventReceiver;
use crate::participant::Participant;
use crate::platform::sync::{Arc, Mutex};
use std::time::Duration;

/// A port on which one or several reading threads sleep; ringing it wakes them all.
///
/// The port's events are not drained: a thread that is woken checks its few connections itself, and
/// a connection that is already in the event ring needs no second entry. P3 of
/// [`event`](crate::event) rings for the sleep all the same.
pub(super) struct Waiter {
    port: Arc<EventReceiver>,
    /// Number of threads that sleep, or are about to. The lock also orders the port's sleeps: each
    /// thread begins a new sleep, so that a writer that rang for another thread's sleep rings for
    /// this one too; the last thread ends them.
    sleepers: Mutex<usize>,
}

impl Waiter {
    pub(super) fn new(participant: &Arc<Participant>) -> Result<Arc<Self>, CapacityError> {
        let port = participant.port(None)?;
        Ok(Arc::new(Self { port, sleepers: Mutex::new(0) }))
    }

    pub(super) fn port(&self) -> &EventReceiver {
        &self.port
    }

    /// Sleeps until the bell is rung, unless `is_ready` returns `true`. May return early.
    pub(super) fn sleep_unless(&self, is_ready: impl FnOnce() -> bool, timeout: Option<Duration>) {
        let seen = self.port.bell(); // K1
        {
            let mut sleepers = self.sleepers.lock();
            *sleepers += 1;
            self.port.park(); // K2
        }
        if !is_ready() {
            self.port.sleep(seen, timeout); // K3
        }
        let mut sleepers = self.sleepers.lock();
        *sleepers -= 1;
        if *sleepers == 0 {
            self.port.unpark(); // K4
        }
    }

    /// Wakes the sleeping threads: something in this process is ready, or has changed. A thread
    /// that checked before counts as a sleeper by now.
    pub(super) fn wake(&self) {
        if *self.sleepers.lock() > 0 {
            self.port.ring();
        }
    }
}
