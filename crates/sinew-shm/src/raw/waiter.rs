//! What a reading thread sleeps on.

use crate::error::CapacityError;
use crate::event_rx::EventReceiver;
use crate::participant::Participant;
use crate::sync::{Arc, Mutex};
use std::time::Duration;

/// A port on which threads that read sleep, one or several: a thread that rings wakes them all.
///
/// The port's events are not drained: a thread that is woken looks at its few connections itself,
/// and one that stands in the event ring already needs no second entry; P3 of
/// [`events`](crate::events) rings for the sleep all the same.
pub(super) struct Waiter {
    port: Arc<EventReceiver>,
    /// Threads that sleep, or are about to. Also keeps the port's sleeps in order: each begins a
    /// new one, so that a writer that rang for another thread's sleep rings for this one too; the
    /// last thread ends them.
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

    /// Sleeps until the bell is rung, unless there is something already. May return early.
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

    /// Something of this process is there, or has changed. A thread that looked before it was there
    /// has counted as a sleeper by then.
    pub(super) fn wake(&self) {
        if *self.sleepers.lock() > 0 {
            self.port.ring();
        }
    }
}
