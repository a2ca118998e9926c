//! A worker with a callback that waits.
//!
//! The executor usually leaves messages published in a callback to its own thread
//! ([`wake_policy`](super::wake_policy)). If that thread goes to sleep instead, it calls another
//! worker for them at once: the monitor would find them later.

use super::scheduler::Scheduler;
use super::spinning;
use crate::sys::sync::Arc;

/// While this lives, the scheduler doesn't count on the worker.
pub(crate) struct Blocked {
    scheduler: Arc<Scheduler>,
    worker: u32,
}

impl Blocked {
    /// Called by a thread that is about to wait: if it is a worker, other workers take over the
    /// ready tasks of its executor. Signals, so the caller must hold no lock.
    pub(crate) fn begin() -> Option<Self> {
        let (scheduler, worker) = spinning::worker()?;
        let mut state = scheduler.lock();
        state.settle();
        state.workers.set_blocked(worker, true);
        let called = state.call_for_ready() || state.call_poller();
        drop(state);
        if called {
            scheduler.signal();
        }
        Some(Self { scheduler, worker })
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        self.scheduler.lock().workers.set_blocked(self.worker, false);
    }
}
