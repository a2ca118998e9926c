//! The only access to locks and atomics: the standard library's, or loom's in a model
//! (`--cfg loom`).
//!
//! Locks here don't poison. No code of the program ever runs under one of them, so a panic can't
//! leave the guarded data half-changed. Before such code runs stands [`no_lock_is_held`], which
//! checks that in builds with debug assertions.
//!
//! In a model all threads are coroutines of one thread of the machine, so `thread_local!` is also
//! loom's: the macro of that name below hides the standard one in the whole crate, and [`Local`]
//! has the standard key's methods.

#[cfg(loom)]
use loom::sync::atomic;
#[cfg(not(loom))]
use std::sync::atomic;

pub(crate) use atomic::{
    AtomicBool, AtomicI64, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};
/// For tables of the whole process that are part of no protocol: the standard ones in models too.
pub(crate) use sinew_shm::locks::{Mutex as TableLock, RwLock, no_lock_is_held};
/// For handlers of signals: the standard one in models too.
pub(crate) use std::sync::atomic::AtomicBool as SignalFlag;
/// For hints that are part of no protocol: the standard one in models too.
pub(crate) use std::sync::atomic::{
    AtomicI64 as HintI64, AtomicU8 as HintU8, AtomicU32 as HintU32, AtomicUsize as HintUsize,
};

pub(crate) use std::sync::Arc; // loom's can't hold unsized values; std's needs no check

#[cfg(loom)]
pub(crate) use loomed::{Condvar, Guard, Mutex};
#[cfg(not(loom))]
pub(crate) use plain::{Condvar, Guard, Mutex};

/// `parking_lot`'s locks, with a check in builds with debug assertions ([`sinew_shm::locks`]): a
/// byte each, without poisoning, and half the instructions of the standard ones.
#[cfg(not(loom))]
mod plain {
    use sinew_shm::locks;
    pub(crate) use sinew_shm::locks::{Mutex, MutexGuard as Guard};
    use std::time::Duration;

    /// A condition variable for [`Mutex`].
    pub(crate) struct Condvar(locks::Condvar);

    impl Condvar {
        pub(crate) fn new() -> Self {
            Self(locks::Condvar::new())
        }

        /// Waits at most `timeout`, or forever without one. May return early; the caller checks
        /// again.
        pub(crate) fn wait_at_most<T>(&self, guard: &mut Guard<'_, T>, timeout: Option<Duration>) {
            match timeout {
                None => self.0.wait(guard),
                Some(timeout) => drop(self.0.wait_for(guard, timeout)),
            }
        }

        pub(crate) fn notify_all(&self) {
            self.0.notify_all();
        }
    }
}

/// Loom's types, with the same interface.
#[cfg(loom)]
mod loomed {
    use std::ops::{Deref, DerefMut};
    use std::sync::PoisonError;
    use std::time::Duration;

    pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

    /// `Some` except during a wait, which takes loom's guard by value.
    pub(crate) struct Guard<'a, T>(Option<loom::sync::MutexGuard<'a, T>>);

    impl<T> Deref for Guard<'_, T> {
        type Target = T;

        fn deref(&self) -> &T {
            self.0.as_ref().expect("it doesn't wait")
        }
    }

    impl<T> DerefMut for Guard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            self.0.as_mut().expect("it doesn't wait")
        }
    }

    impl<T> Mutex<T> {
        pub(crate) fn new(value: T) -> Self {
            Self(loom::sync::Mutex::new(value))
        }

        pub(crate) fn lock(&self) -> Guard<'_, T> {
            Guard(Some(self.0.lock().unwrap_or_else(PoisonError::into_inner)))
        }

        pub(crate) fn try_lock(&self) -> Option<Guard<'_, T>> {
            self.0.try_lock().ok().map(|guard| Guard(Some(guard)))
        }
    }

    impl<T: Default> Default for Mutex<T> {
        fn default() -> Self {
            Self::new(T::default())
        }
    }

    pub(crate) struct Condvar(loom::sync::Condvar);

    impl Condvar {
        pub(crate) fn new() -> Self {
            Self(loom::sync::Condvar::new())
        }

        pub(crate) fn wait_at_most<T>(&self, guard: &mut Guard<'_, T>, timeout: Option<Duration>) {
            guard.0 = guard.0.take().map(|guard| match timeout {
                None => self.0.wait(guard).unwrap_or_else(PoisonError::into_inner),
                Some(timeout) => {
                    self.0.wait_timeout(guard, timeout).map_or_else(|e| e.into_inner().0, |(guard, _)| guard)
                }
            });
        }

        pub(crate) fn notify_all(&self) {
            self.0.notify_all();
        }
    }
}

/// The standard atomic in models too: it outlives them.
static NEXT_SERIAL: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);

/// Returns a number that is never returned twice in this process, and never 0.
pub(crate) fn next_serial() -> u64 {
    NEXT_SERIAL.fetch_add(1, Ordering::Relaxed) // orders nothing: it only has to differ
}

/// Returns a number greater than all that were returned before.
pub(crate) fn serial_to_come() -> u64 {
    NEXT_SERIAL.load(Ordering::Relaxed) // as above
}

/// Works like the standard macro, with loom's keys.
#[cfg(loom)]
macro_rules! thread_local {
    ($($(#[$attribute:meta])* $visibility:vis static $name:ident: $type:ty = $first:expr;)+) => {
        $(
            $(#[$attribute])*
            $visibility static $name: $crate::sys::sync::Local<$type> = {
                ::loom::thread_local! { static KEY: $type = $first; }
                $crate::sys::sync::Local(&KEY)
            };
        )+
    };
}

/// A loom key with the methods of the standard `LocalKey` that this crate uses.
#[cfg(loom)]
pub(crate) struct Local<T: 'static>(pub(crate) &'static loom::thread::LocalKey<T>);

#[cfg(loom)]
mod local {
    use super::Local;
    use std::cell::{Cell, RefCell};

    impl<T> Local<T> {
        pub(crate) fn with<R>(&self, f: impl FnOnce(&T) -> R) -> R {
            self.0.with(f)
        }

        pub(crate) fn try_with<R>(&self, f: impl FnOnce(&T) -> R) -> Result<R, loom::thread::AccessError> {
            self.0.try_with(f)
        }
    }

    impl<T> Local<Cell<T>> {
        pub(crate) fn set(&self, value: T) {
            self.0.with(|cell| cell.set(value));
        }

        pub(crate) fn get(&self) -> T
        where
            T: Copy,
        {
            self.0.with(Cell::get)
        }

        pub(crate) fn replace(&self, value: T) -> T {
            self.0.with(|cell| cell.replace(value))
        }
    }

    impl<T> Local<RefCell<T>> {
        pub(crate) fn with_borrow<R>(&self, f: impl FnOnce(&T) -> R) -> R {
            self.0.with(|cell| f(&cell.borrow()))
        }

        pub(crate) fn with_borrow_mut<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
            self.0.with(|cell| f(&mut cell.borrow_mut()))
        }
    }
}
