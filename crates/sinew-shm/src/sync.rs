//! The only door to locks and atomics: the standard library's, or loom's in a model (`--cfg loom`).
//!
//! Locks here are local to the process; what processes share has none. They don't poison: nobody else's code runs under
//! one of them.

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

pub(crate) use std::sync::Arc; // loom's can't hold unsized values; the standard one is not ours to check
pub(crate) use std::sync::atomic::AtomicU64 as PlainU64; // counts that are part of no protocol

#[cfg(not(loom))]
pub(crate) use parking_lot::Mutex;

#[cfg(loom)]
pub(crate) use loomed::Mutex;
#[cfg(loom)]
#[cfg(loom)]
mod loomed {
    use std::sync::PoisonError;

    pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub(crate) fn new(value: T) -> Self {
            Self(loom::sync::Mutex::new(value))
        }

        pub(crate) fn lock(&self) -> loom::sync::MutexGuard<'_, T> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }

    impl<T: Default> Default for Mutex<T> {
        fn default() -> Self {
            Self::new(T::default())
        }
    }
}
