//! A worker with a callback that waits for something.
//!
//! What a callback publishes is usually left to its own thread
//! ([`wake_policy`](super::wake_policy)); if that goes to sleep instead, another worker is called
//! for it at once, not when the monitor looks.

use super::scheduler::Scheduler;
use super::spinning;
use crate::sys::sync::Arc;

/// While it lives, the scheduler doesn't count on this worker.
pub(crate) struct Blocked {
    scheduler: Arc<Scheduler>,
    worker: u32,
}

impl Blocked {
    /// The calling thread will wait; if it is a worker, what is ready in its executor is left to
    /// others. Signals: the caller holds no lock.
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
