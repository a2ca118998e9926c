//! The parkers of an executor's threads, and the threads that were called.

use super::descriptor::Descriptor;
use crate::sys::parker::Parker;
use crate::sys::sync::{AtomicU64, Ordering};
use std::sync::OnceLock;

/// The places at which an executor's threads sleep.
pub(super) struct Bells {
    pub(super) of_workers: Box<[Parker]>,
    /// For the thread that watches the timers, if there is one.
    pub(super) of_timers: Parker,
    /// For an event loop of another library, if there is one.
    pub(super) descriptor: OnceLock<Descriptor>,
    /// One bit for each worker that was called and not signalled yet; the last bits are for the
    /// callers in `State::rung`, for the timers' thread and for the descriptor.
    pub(super) due: AtomicU64,
}

/// Maximum number of threads of an executor: one bit each, besides three others.
pub(crate) const MOST_THREADS: usize = 61;

pub(super) const CALLERS: u64 = 1 << MOST_THREADS;
pub(super) const TIMERS: u64 = CALLERS << 1;
pub(super) const DESCRIPTOR: u64 = TIMERS << 1;

impl Bells {
    #[inline]
    pub(super) fn call(&self, worker: u32) {
        // Relaxed: written under the mutex, and read by this thread in `signal`, or by one that
        // signals before it.
        self.due.fetch_or(1 << worker, Ordering::Relaxed);
    }

    pub(super) fn call_timers(&self) {
        self.due.fetch_or(TIMERS, Ordering::Relaxed); // as above
    }

    pub(super) fn call_descriptor(&self) {
        self.due.fetch_or(DESCRIPTOR, Ordering::Relaxed); // as above
    }

    pub(super) fn make_descriptor_readable(&self) {
        if let Some(descriptor) = self.descriptor.get() {
            descriptor.ready();
        }
    }

    pub(super) fn call_callers(&self) {
        self.due.fetch_or(CALLERS, Ordering::Relaxed); // as above
    }
}
