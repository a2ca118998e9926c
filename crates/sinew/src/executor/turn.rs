//! A callback group's turn: who may touch its callbacks and its state now.
//!
//! # Protocol
//!
//! Every group has one [`Claim`]. Whoever takes it gets the only [`Turn`] there is until that is dropped, and with it the
//! two keys to what belongs to the group: its callbacks, and the state its callbacks share. An [`Exclusive`] cell opens
//! for the key with its number only, so `&mut Key` stands for `&mut` of everything the key opens. No lock is held while
//! the user's code runs: a second taker is turned away, it doesn't wait.
//!
//! - T1 take: `taken` false -> true (Acquire). Pairs with T2; the new turn sees all that the last one wrote.
//! - T2 drop of the turn: `taken = false` (Release).

use crate::sync::{AtomicBool, Ordering, next_serial};
use std::cell::UnsafeCell;

/// The right to take a group's turn.
pub(crate) struct Claim {
    taken: AtomicBool,
    callbacks: u64,
    state: u64,
}

/// Opens [`Exclusive`] cells with its number. Only a [`Turn`] has one.
pub(crate) struct Key(u64);

/// The one turn of a group; nobody else runs the group's callbacks while it lives.
pub(crate) struct Turn<'a> {
    claim: &'a Claim,
    /// Opens the group's callbacks.
    pub(crate) callbacks: Key,
    /// Opens the state that the group's callbacks share.
    pub(crate) state: Key,
}

impl Claim {
    pub(crate) fn new() -> Self {
        Self { taken: AtomicBool::new(false), callbacks: next_serial(), state: next_serial() }
    }

    /// The turn, unless somebody has it.
    #[inline]
    pub(crate) fn take(&self) -> Option<Turn<'_>> {
        // T1: Acquire; pairs with T2.
        if self.taken.swap(true, Ordering::Acquire) {
            return None;
        }
        Some(Turn { claim: self, callbacks: Key(self.callbacks), state: Key(self.state) })
    }

    /// A cell for a callback of this group.
    pub(crate) fn callback<T>(&self, value: T) -> Exclusive<T> {
        Exclusive { number: self.callbacks, value: UnsafeCell::new(value) }
    }

    /// A cell for the state of this group.
    pub(crate) fn state<T>(&self, value: T) -> Exclusive<T> {
        Exclusive { number: self.state, value: UnsafeCell::new(value) }
    }
}

impl Drop for Turn<'_> {
    #[inline]
    fn drop(&mut self) {
        // T2: Release; pairs with T1; carries what the callbacks wrote.
        self.claim.taken.store(false, Ordering::Release);
    }
}

/// Something that only the group's turn may touch.
pub(crate) struct Exclusive<T: ?Sized> {
    number: u64,
    value: UnsafeCell<T>,
}

// SAFETY: a shared `Exclusive` gives access only through the one key with its number, and taking turns (T1, T2) orders
// the threads that have it; so the value is moved between threads (`Send`) but never shared.
unsafe impl<T: ?Sized + Send> Sync for Exclusive<T> {}

impl<T> Exclusive<T> {
    /// The value, for the turn that has the key.
    ///
    /// # Panics
    /// If the key belongs to another group: a bug of this crate.
    #[inline]
    pub(crate) fn open<'a>(&'a self, key: &'a mut Key) -> &'a mut T {
        assert_eq!(key.0, self.number, "a cell was opened in another group's turn");
        // SAFETY: there is one key per number (`next_serial`, T1), and it stays borrowed as long as the reference lives;
        // a key opens one cell at a time.
        unsafe { &mut *self.value.get() }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_had_once() {
        let claim = Claim::new();
        let cell = claim.state(1);
        let mut turn = claim.take().unwrap();
        *cell.open(&mut turn.state) += 1;
        assert!(claim.take().is_none());
        drop(turn);
        assert_eq!(*cell.open(&mut claim.take().unwrap().state), 2);
    }

    #[test]
    #[should_panic(expected = "another group's turn")]
    fn a_key_opens_its_own_cells_only() {
        let (one, other) = (Claim::new(), Claim::new());
        let cell = one.state(1);
        cell.open(&mut other.take().unwrap().state);
    }
}
