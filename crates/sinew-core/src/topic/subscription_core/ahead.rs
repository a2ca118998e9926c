//! Messages moved out of a history in bulk, so that publishing threads and taking threads have
//! locks of their own.
//!
//! Without this, where many messages wait, each would move the subscription's lock, and the cache
//! lines behind it, from the publisher's core to the taker's and back. So a thread that takes a
//! message from a long history moves the others out of it, all at once, and takes those under a
//! lock that no publisher wants. Until they are taken they count as waiting: the history knows how
//! many were moved.
//!
//! Messages are moved only if they are of this process, all are kept, none expires and no listener
//! is notified of them, and never while a publisher waits for a place. For every rare operation on
//! a history, [`SubscriptionCore::whole`] moves them back first.
//!
//! # Order of locks, and what is true under them
//!
//! - [`MovedMessages::entries`], then the history's lock. A thread that holds the latter only tries
//!   the former.
//! - N1 Messages are moved, and moved back, under both: under the history's lock, `History::ahead`
//!   is 0 or there are some.
//! - N2 The thread that takes the last one settles under both, before a thread finds none.
//! - N3 `taken` is written under the lock of `entries`. A publisher that finds no place reads it.
//!   If it doesn't see a place yet, it behaves as if the taker came later; and before it waits, it
//!   moves the messages back.

use super::{SubscriptionCore, SubscriptionState, Taken, Taker};
use crate::mailbox::history::Entry;
use crate::sys::clock::Stamp;
use crate::sys::sync::{AtomicBool, AtomicUsize, Guard, Mutex, Ordering};
use std::collections::VecDeque;

/// Number of waiting messages from which on they are moved.
const MANY: usize = if cfg!(loom) {
    1
} else if cfg!(test) {
    2 // so that the property tests cover moving
} else {
    32
};

/// Number of taken messages after which the counters for tools are updated.
const TOLD: usize = 16;

/// On cache lines of its own: publishers don't touch it.
#[repr(align(128))]
pub(super) struct MovedMessages {
    /// Whether there are any. A hint.
    any: AtomicBool,
    /// Total number taken from here; see N3.
    taken: AtomicUsize,
    /// In order; all are older than those in the history.
    entries: Mutex<VecDeque<Entry>>,
}

impl MovedMessages {
    pub(super) fn new() -> Self {
        Self { any: AtomicBool::new(false), taken: AtomicUsize::new(0), entries: Mutex::new(VecDeque::new()) }
    }

    /// Updates the history with the number of messages taken from here.
    #[inline]
    pub(super) fn settle(&self, state: &mut SubscriptionState) {
        if state.history.ahead() > 0 {
            state.history.settle(self.taken.load(Ordering::Relaxed)); // N3; only the number counts
        }
    }

    /// The same, if places seem to be short.
    #[inline]
    pub(super) fn settle_if_full(&self, state: &mut SubscriptionState) {
        if state.history.ahead() > 0 && !state.history.has_room() {
            self.settle(state);
        }
    }
}

impl SubscriptionCore {
    /// Locks the history, with all messages in it.
    #[inline]
    pub(super) fn whole(&self) -> Guard<'_, SubscriptionState> {
        let state = self.state.lock();
        if state.history.ahead() == 0 { state } else { self.bring_home(state) }
    }

    #[cold]
    #[inline(never)]
    fn bring_home<'a>(&'a self, state: Guard<'a, SubscriptionState>) -> Guard<'a, SubscriptionState> {
        drop(state);
        let mut entries = self.ahead.entries.lock();
        let mut state = self.state.lock();
        self.ahead.settle(&mut state);
        state.history.come_home(&mut entries); // N1
        self.ahead.any.store(false, Ordering::Relaxed); // a hint
        state
    }

    /// Takes the oldest message, if messages were moved.
    #[inline]
    pub(super) fn take_ahead(&self, taker: Taker) -> Option<Taken> {
        // Relaxed: a hint. A thread that doesn't see them moves them back.
        if !self.keeps_all || taker == Taker::Reentrant || !self.ahead.any.load(Ordering::Relaxed) {
            return None;
        }
        self.take_moved(taker)
    }

    #[inline(never)]
    fn take_moved(&self, taker: Taker) -> Option<Taken> {
        let mut entries = self.ahead.entries.lock();
        let entry = entries.pop_front()?;
        let taken = self.ahead.taken.load(Ordering::Relaxed).wrapping_add(1);
        self.ahead.taken.store(taken, Ordering::Relaxed); // N3
        let mut next = entries.front().map(|entry| {
            entry.message.fetch();
            entry.publication.stamp
        });
        if next.is_none() || taken.is_multiple_of(TOLD) {
            let mut state = self.state.lock();
            self.ahead.settle(&mut state); // N2
            if next.is_none() {
                next = self.move_on(&mut state, &mut entries, taker);
            }
            state.count(None);
            state.note_latency(entry.publication.stamp.time, || self.wanted.clock.steady());
            self.release(state);
        }
        Some((entry, next))
    }

    /// Moves more messages, after all moved ones are taken, if many wait. Returns the stamp of the
    /// oldest waiting message.
    fn move_on(
        &self,
        state: &mut SubscriptionState,
        entries: &mut VecDeque<Entry>,
        taker: Taker,
    ) -> Option<Stamp> {
        let next = state.history.oldest();
        if taker != Taker::Anybody {
            let _ = state.notifier.next(next, false); // nothing to signal
        }
        let moves = self.moves(state);
        if moves {
            state.history.move_ahead(entries); // N1
        }
        self.ahead.any.store(moves, Ordering::Relaxed); // a hint
        next
    }

    /// Moves the waiting messages, if that is worth it: the next ones are then taken without the
    /// history's lock.
    #[inline]
    pub(super) fn move_ahead(&self, state: &mut SubscriptionState) {
        if state.history.len() >= MANY {
            self.try_to_move(state);
        }
    }

    #[cold]
    #[inline(never)]
    fn try_to_move(&self, state: &mut SubscriptionState) {
        // The lock's holder may wait for the history's lock, so this thread only tries.
        if self.moves(state)
            && let Some(mut entries) = self.ahead.entries.try_lock()
        {
            state.history.move_ahead(&mut entries); // N1
            self.ahead.any.store(true, Ordering::Relaxed); // a hint
        }
    }

    /// Whether the waiting messages should and may be moved.
    fn moves(&self, state: &SubscriptionState) -> bool {
        let history = &state.history;
        let is_simple =
            history.keeps_all() && !history.is_held() && !history.has_mortals() && !state.listened;
        // Relaxed: the thread that sets it first then moves all messages back.
        let is_ours = !self.sources.any.load(Ordering::Relaxed);
        history.len() >= MANY && state.waiting == 0 && is_simple && is_ours && !state.closed
    }
}
