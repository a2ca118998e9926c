//! The only door to locks and atomics: the standard library's, or loom's in a model (`--cfg loom`).
//!
//! Locks here don't poison. No user code ever runs under one of them (design section 5), so a panic can't leave what
//! they guard half-changed.
#![expect(clippy::disallowed_types, reason = "this is the facade the rest of the crate goes through")]

use std::time::Duration;

#[cfg(loom)]
use loom::sync as imp;
#[cfg(not(loom))]
use std::sync as imp;

pub(crate) use imp::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering, fence};
pub(crate) use std::sync::Arc; // loom's can't hold unsized values; the standard one is not ours to check

pub(crate) use imp::MutexGuard as Guard;

/// A mutex without poisoning.
pub(crate) struct Mutex<T>(imp::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(imp::Mutex::new(value))
    }

    #[inline]
    pub(crate) fn lock(&self) -> Guard<'_, T> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

/// A condition variable for [`Mutex`].
pub(crate) struct Condvar(imp::Condvar);

impl Condvar {
    pub(crate) fn new() -> Self {
        Self(imp::Condvar::new())
    }

    pub(crate) fn wait<'a, T>(&self, guard: Guard<'a, T>) -> Guard<'a, T> {
        self.0.wait(guard).unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Waits at most `timeout`, or for ever when there is none. May return early; the caller looks again.
    pub(crate) fn wait_at_most<'a, T>(&self, guard: Guard<'a, T>, timeout: Option<Duration>) -> Guard<'a, T> {
        match timeout {
            None => self.wait(guard),
            Some(timeout) => {
                self.0.wait_timeout(guard, timeout).map_or_else(|e| e.into_inner().0, |(g, _)| g)
            }
        }
    }

    pub(crate) fn notify_one(&self) {
        self.0.notify_one();
    }

    pub(crate) fn notify_all(&self) {
        self.0.notify_all();
    }
}

/// A number that is never given twice in this process; 0 is never given.
pub(crate) fn next_serial() -> u64 {
    use std::sync::atomic::AtomicU64;
    static NEXT: AtomicU64 = AtomicU64::new(1); // the standard one in models too: it outlives them
    NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed) // nothing rides on it but being different
}
