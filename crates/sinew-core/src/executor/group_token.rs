//! A callback group's token: the right to touch its callbacks and its state now.
//!
//! Every group has a number, and at any time at most one [`GroupToken`] with that number: the
//! scheduler makes it when it hands out a member of the group to be run, and takes it back before
//! it hands out the next. The token has two keys, to the group's callbacks and to the state that
//! they share. A [`GroupCell`] opens only for the key with its number, so `&mut CellKey` stands for
//! `&mut` of the cells that it opens. Code of the program runs under no lock, and needs none: the
//! scheduler makes tokens and takes them back under its own lock, which orders the threads that
//! have them.

use crate::sys::sync::next_serial;
use std::cell::UnsafeCell;
use std::marker::PhantomData;

/// Marks keys that open callbacks.
pub enum CallbackOf {}

/// Marks keys that open the state of a group.
pub enum StateOf {}

/// Opens [`GroupCell`] cells with its number. Only a [`GroupToken`] has one.
pub(crate) struct CellKey<What>(u64, PhantomData<What>);

/// The only token of a group: while it lives, no other thread runs the group's callbacks.
pub struct GroupToken {
    /// Opens the group's callbacks.
    pub(crate) callbacks: CellKey<CallbackOf>,
    /// Opens the state that the group's callbacks share.
    pub(crate) state: CellKey<StateOf>,
}

impl GroupToken {
    /// Returns a token of a reentrant group, which may have many: its keys open nothing.
    #[inline]
    pub(crate) fn reentrant() -> Self {
        Self { callbacks: CellKey(REENTRANT, PhantomData), state: CellKey(REENTRANT, PhantomData) }
    }

    /// Whether other threads may run callbacks of the group meanwhile.
    #[inline]
    pub(crate) fn is_reentrant(&self) -> bool {
        self.callbacks.0 == REENTRANT
    }

    /// Returns the token of the group with this number.
    ///
    /// # Safety
    /// There is no other token with this number while this one lives, and all accesses under the
    /// last one happen before.
    #[inline]
    pub(crate) unsafe fn of(group: u64) -> Self {
        Self { callbacks: CellKey(group, PhantomData), state: CellKey(group, PhantomData) }
    }
}

/// The number of all reentrant groups. No cell with a size is made from it.
pub(crate) const REENTRANT: u64 = 0; // `next_serial` never gives it

/// A group's number, from which its cells are made.
#[derive(Clone, Copy)]
pub(crate) struct GroupNumber(u64);

impl GroupNumber {
    pub(crate) fn new() -> Self {
        Self(next_serial())
    }

    pub(crate) fn get(self) -> u64 {
        self.0
    }

    /// Returns a cell for a callback of this group.
    pub(crate) fn callback<T>(self, value: T) -> GroupCell<T, CallbackOf> {
        GroupCell { number: self.0, of: PhantomData, value: UnsafeCell::new(value) }
    }

    /// Returns a cell for the state of this group.
    pub(crate) fn state<T>(self, value: T) -> GroupCell<T, StateOf> {
        GroupCell { number: self.0, of: PhantomData, value: UnsafeCell::new(value) }
    }
}

/// A value that only the group's token may touch.
pub struct GroupCell<T, What> {
    number: u64,
    of: PhantomData<fn(What)>,
    value: UnsafeCell<T>,
}

// SAFETY: a shared `GroupCell` gives access only through the key with its number. There is one at a
// time, and the threads that have it come one after the other (`GroupToken::of`); so the value is
// moved between threads (`Send`) but never shared.
unsafe impl<T: Send, What> Sync for GroupCell<T, What> {}

impl<What> GroupCell<(), What> {
    /// The state of a group that has none.
    pub(crate) fn nothing() -> Self {
        GroupCell { number: REENTRANT, of: PhantomData, value: UnsafeCell::new(()) }
    }
}

impl<T, What> GroupCell<T, What> {
    /// Returns the value, for the token that has the key.
    ///
    /// # Panics
    /// If the key belongs to another group: a bug of this crate.
    #[inline]
    pub(crate) fn open<'a>(&'a self, key: &'a mut CellKey<What>) -> &'a mut T {
        // A value without a size needs no protection, and its cell need not be fetched from memory.
        if size_of::<T>() != 0 {
            assert_eq!(key.0, self.number, "a cell was opened in another group's turn");
        }
        // SAFETY: there is one key per number and kind (`GroupToken::of`), it stays borrowed as
        // long as the reference lives, and a key opens one cell at a time. References to values
        // without a size can't conflict.
        unsafe { &mut *self.value.get() }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_key_opens_its_groups_cells() {
        let group = GroupNumber::new();
        let cell = group.state(1);
        // SAFETY: the only token of this group.
        let mut token = unsafe { GroupToken::of(group.get()) };
        *cell.open(&mut token.state) += 1;
        assert_eq!(*cell.open(&mut token.state), 2);
    }

    #[test]
    #[should_panic(expected = "another group's turn")]
    fn a_key_opens_no_other_cells() {
        let cell = GroupNumber::new().state(1);
        // SAFETY: the only token of this other group.
        let mut token = unsafe { GroupToken::of(GroupNumber::new().get()) };
        cell.open(&mut token.state);
    }
}
