//! A value that one thread at a time works on, without any thread waiting for it: a thread that
//! finds it taken leaves a request, and the holder looks again.
//!
//! So everything that a thread did before it came, such as announcing a message, is seen by a look
//! that begins after that: its own, or the holder's. A look may come back here on the same thread,
//! and then finds the value taken like any other thread.
//!
//! # Protocol
//!
//! The whole protocol uses one word with two bits, [`HELD`] and [`WANTED`], so nothing depends on
//! the order of accesses to different words.
//!
//! - S1 [`CoalescingLock::enter`]: if it isn't held, HELD is set and WANTED is cleared: this look
//!   serves the threads that left a request. If it is held, WANTED is set.
//! - S2 [`CoalescingLock::try_enter`]: sets HELD if it isn't held, and leaves WANTED alone: this is
//!   no look.
//! - S3 `CoalescingGuard::drop`: HELD is cleared. WANTED stays, for the thread that checks next.
//! - S4 [`CoalescingLock::is_wanted`]: after S3, the thread that held it checks, and if another
//!   thread left a request, looks (from S1). A request is left only while it is held, so nothing
//!   comes between S3 and S4 that this could miss: the request is seen, or another thread has held
//!   it since, and checks after it.
//!
//! A thread that panics in a look leaves without S4. The request stays, and the next thread to
//! enter serves it.

use super::sync::{AtomicU64, Ordering};
use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};

/// A thread holds the value.
const HELD: u64 = 1;
/// A thread found it held, and wants another look.
const WANTED: u64 = 2;

/// See the module's documentation.
pub(crate) struct CoalescingLock<T> {
    word: AtomicU64,
    /// Belongs to the thread that set [`HELD`], until that is cleared.
    value: UnsafeCell<T>,
}

// SAFETY: a shared `CoalescingLock` gives access only to the thread that set HELD, one at a time,
// and each sees the changes of the one before (S1, S3): so the value is moved between threads
// (`Send`), but never shared.
unsafe impl<T: Send> Sync for CoalescingLock<T> {}

impl<T> CoalescingLock<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { word: AtomicU64::new(0), value: UnsafeCell::new(value) }
    }

    /// Looks until no thread wants another look, or leaves a request with the thread that holds the
    /// value. `look` may release the value before it has finished, to do the rest while others
    /// look.
    #[inline]
    pub(crate) fn look(&self, mut look: impl FnMut(CoalescingGuard<'_, T>)) {
        while let Some(held) = self.enter() {
            look(held);
            if !self.is_wanted() {
                return; // S4
            }
        }
    }

    /// S1. Returns `None` if a request was left.
    #[inline]
    fn enter(&self) -> Option<CoalescingGuard<'_, T>> {
        let step = |word| if word & HELD == 0 { HELD } else { HELD | WANTED };
        // Acquire: pairs with S3; carries the value. Also Release: pairs with the Acquire of the
        // look that serves this request.
        let before = self.update(Ordering::AcqRel, step);
        (before & HELD == 0).then(|| CoalescingGuard(self)) // only then: a drop releases
    }

    /// S2: returns the value, for work other than a look, if no thread holds it. Afterwards the
    /// caller checks [`is_wanted`](Self::is_wanted), and looks if so; unless it is inside
    /// [`look`](Self::look), which checks.
    #[inline]
    pub(crate) fn try_enter(&self) -> Option<CoalescingGuard<'_, T>> {
        let word = self.word.load(Ordering::Relaxed); // the exchange decides
        let free = word & HELD == 0;
        // Acquire: as in S1.
        let exchange =
            |word| self.word.compare_exchange(word, word | HELD, Ordering::Acquire, Ordering::Relaxed);
        (free && exchange(word).is_ok()).then(|| CoalescingGuard(self))
    }

    /// Whether a thread holds the value. Once none does, the effects of the last look are visible.
    pub(crate) fn is_held(&self) -> bool {
        self.word.load(Ordering::Acquire) & HELD != 0 // pairs with S3, as a look does
    }

    /// S4: whether a thread left a request that was not served yet.
    #[inline]
    pub(crate) fn is_wanted(&self) -> bool {
        self.word.load(Ordering::Relaxed) & WANTED != 0 // S1 carries what the request stands for
    }

    /// Applies a step to the word; returns the word before it.
    #[inline]
    fn update(&self, order: Ordering, step: impl Fn(u64) -> u64) -> u64 {
        let mut word = self.word.load(Ordering::Relaxed); // the exchange decides
        loop {
            match self.word.compare_exchange_weak(word, step(word), order, Ordering::Relaxed) {
                Ok(before) => return before,
                Err(now) => word = now,
            }
        }
    }
}

/// Gives access to the value until it is dropped.
pub(crate) struct CoalescingGuard<'a, T>(&'a CoalescingLock<T>);

impl<T> Deref for CoalescingGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this thread set HELD (S1 or S2) and clears it when this is dropped (S3): no other
        // thread has the value until then.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for CoalescingGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`; and this is borrowed exclusively.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T> Drop for CoalescingGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.0.word.fetch_and(!HELD, Ordering::Release); // S3: pairs with S1 and S2; carries the value
    }
}
