//! The only source of locks and atomics: the standard library's, or loom's in a model
//! (`--cfg loom`).
//!
//! Locks here are local to the process; shared memory has none. They don't poison, because none of
//! the program's code runs under them ([`locks`](crate::platform::locks)).

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

// For data that is part of no protocol.
pub(crate) use crate::platform::locks::{Mutex as PlainMutex, RwLock as PlainRwLock};
pub(crate) use std::sync::Arc; // loom's can't hold unsized values; the standard one is not ours to check
pub(crate) use std::sync::atomic::AtomicU64 as PlainU64; // counts that are part of no protocol

#[cfg(not(loom))]
pub(crate) use crate::platform::locks::Mutex;

#[cfg(loom)]
pub(crate) use loomed::{Mutex, futex_wait, futex_wake};
#[cfg(loom)]
mod loomed {
    use super::{AtomicU32, Ordering};
    use std::sync::PoisonError;

    loom::lazy_static! {
        static ref SLEEPERS: (loom::sync::Mutex<()>, loom::sync::Condvar) = Default::default();
    }

    /// Sleeps until the word is no longer `seen`. If no thread is left to wake it, loom reports a
    /// deadlock.
    pub(crate) fn futex_wait(word: &AtomicU32, seen: u32) {
        let mut guard = SLEEPERS.0.lock().unwrap_or_else(PoisonError::into_inner);
        while word.load(Ordering::Acquire) == seen {
            guard = SLEEPERS.1.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Wakes all sleepers.
    pub(crate) fn futex_wake() {
        let _guard = SLEEPERS.0.lock().unwrap_or_else(PoisonError::into_inner);
        SLEEPERS.1.notify_all();
    }

    pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub(crate) fn new(value: T) -> Self {
            Self(loom::sync::Mutex::new(value))
        }

        pub(crate) fn lock(&self) -> loom::sync::MutexGuard<'_, T> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }

        pub(crate) fn try_lock(&self) -> Option<loom::sync::MutexGuard<'_, T>> {
            self.0.try_lock().ok()
        }
    }

    impl<T: Default> Default for Mutex<T> {
        fn default() -> Self {
            Self::new(T::default())
        }
    }
}
