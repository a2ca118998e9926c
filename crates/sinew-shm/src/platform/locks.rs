//! The locks of this library's own code, and a check of their rule.
//!
//! The rule: no callback, listener, waker or other code of the program runs while a thread holds
//! one of our locks. Such code may call the library again on the same thread, and would then wait
//! for that lock for ever.
//!
//! With debug assertions, each thread records which locks it holds, and where it locked them.
//! [`no_lock_is_held`] is called wherever the program's code is about to run. If the thread holds a
//! lock, it panics if `SINEW_LOCK_CHECK` is `panic`, which it is for everything that cargo runs in
//! this repository (`.cargo/config.toml`): a fault of ours must fail a test. In other programs it
//! writes an error to standard error, once per place, because ending a thread of the library would
//! do more harm there. Without debug assertions, the locks here are those of `parking_lot`, and the
//! check does nothing.
//!
//! The rule excludes mechanisms that decide which thread may run the program's code, such as a
//! callback group's token. A value that such code works on, for example a callback, is taken out of
//! its lock ([`Lent`]).

#[cfg(any(not(debug_assertions), loom))]
pub use parking_lot::{Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

#[cfg(all(debug_assertions, not(loom)))]
pub use checked::{Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Checks that this thread holds no lock, because the program's code is about to run on it.
///
/// # Panics
/// With debug assertions and `SINEW_LOCK_CHECK=panic`: if the thread holds one of our locks.
#[inline(always)]
#[track_caller]
pub fn no_lock_is_held() {
    #[cfg(all(debug_assertions, not(loom)))]
    checked::no_lock_is_held();
}

/// A value that one thread at a time works on, with code of the program; it is outside of any lock
/// meanwhile.
#[derive(Debug)]
pub struct Lent<T>(Mutex<Place<T>>);

#[derive(Debug)]
struct Place<T> {
    /// `None` while a thread works on the value.
    value: Option<T>,
    /// Whether another thread has left its work to the working thread meanwhile.
    is_wanted: bool,
}

impl<T> Lent<T> {
    /// Makes a value that no thread works on.
    pub const fn new(value: T) -> Self {
        Self(Mutex::new(Place { value: Some(value), is_wanted: false }))
    }

    /// Runs `work` on the value. Returns `None`, without calling `work`, if another thread is
    /// working on it.
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> Option<R> {
        let value = self.0.lock().value.take()?;
        Some(self.lend(value, work))
    }

    /// Makes `round` look for work on the value, and do it. If another thread is working on the
    /// value, that thread does another round afterwards, and this call returns at once. So all work
    /// that existed at the time of the call gets done, unless a round panics.
    pub fn serve(&self, mut round: impl FnMut(&mut T)) {
        loop {
            let value = {
                let mut place = self.0.lock();
                let value = place.value.take();
                // Requests made before now are handled in the round that begins now.
                place.is_wanted = value.is_none();
                value
            };
            let Some(value) = value else { return };
            self.lend(value, &mut round);
            if !self.0.lock().is_wanted {
                return;
            }
        }
    }

    fn lend<R>(&self, value: T, work: impl FnOnce(&mut T) -> R) -> R {
        /// Puts the value back, even after a panic.
        struct Back<'a, T>(&'a Mutex<Place<T>>, Option<T>);

        impl<T> Drop for Back<'_, T> {
            fn drop(&mut self) {
                self.0.lock().value = self.1.take();
            }
        }

        let mut lent = Back(&self.0, None);
        work(lent.1.insert(value))
    }
}

/// The locks of `parking_lot`, with a list per thread of those that it holds.
#[cfg(all(debug_assertions, not(loom)))]
mod checked {
    use std::cell::Cell;
    use std::collections::BTreeSet;
    use std::fmt;
    use std::io::Write as _;
    use std::ops::{Deref, DerefMut};
    use std::panic::Location;
    use std::sync::OnceLock;
    use std::time::Duration;

    /// Number of held locks that a thread records; it doesn't check further ones.
    const MOST: usize = 16;

    type Place = &'static Location<'static>;

    thread_local! {
        /// Where this thread locked the locks that it holds.
        static HELD: [Cell<Option<Place>>; MOST] = const { [const { Cell::new(None) }; MOST] };
    }

    /// Records that a thread holds a lock, while this lives.
    struct Held(usize);

    impl Held {
        #[track_caller]
        fn begin() -> Self {
            let place = Location::caller();
            // A thread that is ending no longer has a list.
            let free = HELD.try_with(|held| {
                let free = held.iter().position(|one| one.get().is_none())?;
                held[free].set(Some(place));
                Some(free)
            });
            Self(free.ok().flatten().unwrap_or(MOST))
        }
    }

    impl Drop for Held {
        fn drop(&mut self) {
            let _ = HELD.try_with(|held| held.get(self.0).map(|one| one.set(None)));
        }
    }

    #[track_caller]
    pub(super) fn no_lock_is_held() {
        let first = HELD.try_with(|held| held.iter().find_map(Cell::get)).ok().flatten();
        let Some(locked) = first.filter(|_| !std::thread::panicking()) else { return };
        let caller = Location::caller();
        let said = format_args!(
            "{caller} runs code of the program while this thread holds a lock, which it locked at {locked}"
        );
        static PANICS: OnceLock<bool> = OnceLock::new();
        if *PANICS.get_or_init(|| std::env::var_os("SINEW_LOCK_CHECK").is_some_and(|value| value == "panic"))
        {
            panic!("{said}");
        }
        // Not written to the log: its logger is the program's code as well.
        static SAID: parking_lot::Mutex<BTreeSet<(Place, Place)>> = parking_lot::Mutex::new(BTreeSet::new());
        if SAID.lock().insert((caller, locked)) {
            let line = format!("[ERROR] [sinew]: a fault of sinew's: {said}; please report it\n");
            let _ = std::io::stderr().write_all(line.as_bytes()); // a closed standard error has no reader
        }
    }

    /// Like `parking_lot::Mutex`.
    #[derive(Default)]
    pub struct Mutex<T: ?Sized>(parking_lot::Mutex<T>);

    impl<T> Mutex<T> {
        /// Makes an unlocked mutex.
        pub const fn new(value: T) -> Self {
            Self(parking_lot::Mutex::new(value))
        }

        /// Returns the guarded value.
        pub fn into_inner(self) -> T {
            self.0.into_inner()
        }
    }

    impl<T: ?Sized> Mutex<T> {
        /// Locks the mutex; blocks while another thread has it locked.
        #[track_caller]
        pub fn lock(&self) -> MutexGuard<'_, T> {
            MutexGuard { guard: self.0.lock(), held: Some(Held::begin()) }
        }

        /// Locks the mutex, unless it is locked.
        #[track_caller]
        pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
            self.0.try_lock().map(|guard| MutexGuard { guard, held: Some(Held::begin()) })
        }

        /// Returns the guarded value without locking.
        pub fn get_mut(&mut self) -> &mut T {
            self.0.get_mut()
        }
    }

    impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.fmt(f)
        }
    }

    /// Like `parking_lot::MutexGuard`.
    #[must_use = "dropped, it unlocks"]
    pub struct MutexGuard<'a, T: ?Sized> {
        guard: parking_lot::MutexGuard<'a, T>,
        /// `None` while the mutex is temporarily unlocked.
        held: Option<Held>,
    }

    impl<T: ?Sized> MutexGuard<'_, T> {
        /// Unlocks the mutex while `work` runs.
        #[track_caller]
        pub fn unlocked<R>(this: &mut Self, work: impl FnOnce() -> R) -> R {
            this.held = None;
            let result = parking_lot::MutexGuard::unlocked(&mut this.guard, work);
            this.held = Some(Held::begin());
            result
        }
    }

    impl<T: ?Sized> Deref for MutexGuard<'_, T> {
        type Target = T;

        fn deref(&self) -> &T {
            &self.guard
        }
    }

    impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            &mut self.guard
        }
    }

    /// Like `parking_lot::Condvar`. A thread that waits on it counts as holding the lock: it runs
    /// nothing meanwhile.
    #[derive(Default, Debug)]
    pub struct Condvar(parking_lot::Condvar);

    impl Condvar {
        /// Makes a condition variable.
        pub const fn new() -> Self {
            Self(parking_lot::Condvar::new())
        }

        /// Waits for a notification.
        pub fn wait<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>) {
            self.0.wait(&mut guard.guard);
        }

        /// Waits for a notification, at most for `timeout`.
        pub fn wait_for<T: ?Sized>(
            &self,
            guard: &mut MutexGuard<'_, T>,
            timeout: Duration,
        ) -> parking_lot::WaitTimeoutResult {
            self.0.wait_for(&mut guard.guard, timeout)
        }

        /// Wakes one waiting thread.
        pub fn notify_one(&self) -> bool {
            self.0.notify_one()
        }

        /// Wakes all waiting threads.
        pub fn notify_all(&self) -> usize {
            self.0.notify_all()
        }
    }

    /// Like `parking_lot::RwLock`.
    #[derive(Default)]
    pub struct RwLock<T: ?Sized>(parking_lot::RwLock<T>);

    impl<T> RwLock<T> {
        /// Makes an unlocked lock.
        pub const fn new(value: T) -> Self {
            Self(parking_lot::RwLock::new(value))
        }
    }

    impl<T: ?Sized> RwLock<T> {
        /// Locks for reading; blocks while another thread has it locked for writing.
        #[track_caller]
        pub fn read(&self) -> RwLockReadGuard<'_, T> {
            RwLockReadGuard { guard: self.0.read(), _held: Held::begin() }
        }

        /// Locks for writing; blocks while another thread has it locked.
        #[track_caller]
        pub fn write(&self) -> RwLockWriteGuard<'_, T> {
            RwLockWriteGuard { guard: self.0.write(), _held: Held::begin() }
        }
    }

    impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.fmt(f)
        }
    }

    /// Like `parking_lot::RwLockReadGuard`.
    #[must_use = "dropped, it unlocks"]
    pub struct RwLockReadGuard<'a, T: ?Sized> {
        guard: parking_lot::RwLockReadGuard<'a, T>,
        _held: Held,
    }

    impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
        type Target = T;

        fn deref(&self) -> &T {
            &self.guard
        }
    }

    /// Like `parking_lot::RwLockWriteGuard`.
    #[must_use = "dropped, it unlocks"]
    pub struct RwLockWriteGuard<'a, T: ?Sized> {
        guard: parking_lot::RwLockWriteGuard<'a, T>,
        _held: Held,
    }

    impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
        type Target = T;

        fn deref(&self) -> &T {
            &self.guard
        }
    }

    impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            &mut self.guard
        }
    }
}

#[cfg(all(test, debug_assertions, not(loom)))]
mod tests {
    use super::*;
    use std::panic::catch_unwind;
    use std::time::Duration;

    fn is_noticed() -> bool {
        catch_unwind(no_lock_is_held).is_err()
    }

    #[test]
    fn a_lock_that_is_held_is_noticed_until_it_is_not() {
        let (plain, both, bell) = (Mutex::new(1), RwLock::new(2), Condvar::new());
        assert!(!is_noticed());
        let mut first = plain.lock();
        let read = both.read();
        assert!(is_noticed());
        bell.wait_for(&mut first, Duration::ZERO);
        drop(first);
        assert!(is_noticed(), "in whatever order they are unlocked");
        drop(read);
        assert!(!is_noticed());
        let mut again = plain.try_lock().unwrap();
        assert!(plain.try_lock().is_none());
        assert!(!MutexGuard::unlocked(&mut again, is_noticed));
        assert!(is_noticed());
        std::thread::scope(|scope| assert!(!scope.spawn(is_noticed).join().unwrap(), "another thread's"));
        drop(again);
        let written = both.write();
        assert!(is_noticed());
        drop(written);
        assert!(!is_noticed());
    }

    #[test]
    fn a_value_that_is_lent_is_in_no_lock() {
        let lent = Lent::new(1);
        let inside = lent.with(|value| {
            *value += 1;
            (is_noticed(), lent.with(|_| ()))
        });
        assert_eq!(inside, Some((false, None)));
        let panicked = catch_unwind(std::panic::AssertUnwindSafe(|| lent.with(|_| panic!("it comes back"))));
        assert!(panicked.is_err());
        assert_eq!(lent.with(|value| *value), Some(2));
    }

    #[test]
    fn what_is_left_to_a_thread_that_works_on_a_value_is_done_by_it() {
        let (lent, to_do) = (Lent::new(Vec::new()), Mutex::new(vec![1, 2]));
        let take = |done: &mut Vec<_>| done.append(&mut to_do.lock());
        let mut rounds = 0;
        lent.serve(|done| {
            take(done);
            rounds += 1;
            if rounds == 1 {
                std::thread::scope(|scope| {
                    scope.spawn(|| {
                        to_do.lock().push(3);
                        lent.serve(|_| panic!("another thread is at it"));
                    });
                });
            }
        });
        assert_eq!((rounds, lent.with(std::mem::take)), (2, Some(vec![1, 2, 3])));
        to_do.lock().push(4);
        lent.serve(take);
        assert_eq!(lent.with(std::mem::take), Some(vec![4]));
    }

    #[test]
    fn more_locks_than_are_counted_are_no_harm() {
        let locks: [Mutex<()>; 20] = Default::default();
        let guards: Vec<_> = locks.iter().map(Mutex::lock).collect();
        assert!(is_noticed());
        drop(guards);
        assert!(!is_noticed());
    }
}
