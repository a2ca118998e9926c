//! Messages that were moved out of a history at once, so that threads that publish and threads that
//! take have locks of their own.
//!
//! Where many messages wait, each of them would have the subscription's lock, and the lines behind
//! it, go from the publisher's core to the taker's and back. So a thread that takes one from a long
//! history moves the others out of it, all at once, and takes those under a lock that no publisher
//! wants. Until they are taken they count as waiting: the history knows how many were moved.
//!
//! Only messages of this process that are all kept, do not expire and are told to no listener are
//! moved, and none while a publisher waits for a place. For all that is seldom done with a history,
//! [`SubscriptionCore::whole`] brings them home first.
//!
//! # Order of locks, and what is true under them
//!
//! - [`MovedMessages::entries`], then the history's lock. Who has the latter only tries the former.
//! - N1 Messages are moved, and come home, under both: under the history's lock, `History::ahead`
//!   is 0 or there are some.
//! - N2 Who takes the last one settles under both, before a thread finds none.
//! - N3 `taken` is written under the lock of `entries`. A publisher that finds no place reads it: a
//!   place that it doesn't see yet it finds as it would if the taker came later, and before it
//!   waits it brings the messages home.

use super::{SubscriptionCore, SubscriptionState, Taken, Taker};
use crate::mailbox::history::Entry;
use crate::sys::clock::Stamp;
use crate::sys::sync::{AtomicBool, AtomicUsize, Guard, Mutex, Ordering};
use std::collections::VecDeque;

/// From so many waiting messages on they are moved.
const MANY: usize = if cfg!(loom) {
    1
} else if cfg!(test) {
    2 // so that the property tests see it
} else {
    32
};

/// Tools are told after so many what was taken.
const TOLD: usize = 16;

/// On lines of its own: publishers have no business here.
#[repr(align(128))]
pub(super) struct MovedMessages {
    /// Whether there are any. A hint.
    any: AtomicBool,
    /// How many were ever taken from here; see N3.
    taken: AtomicUsize,
    /// In order, all older than those in the history.
    entries: Mutex<VecDeque<Entry>>,
}

impl MovedMessages {
    pub(super) fn new() -> Self {
        Self { any: AtomicBool::new(false), taken: AtomicUsize::new(0), entries: Mutex::new(VecDeque::new()) }
    }

    /// Has the history know what was taken from here.
    #[inline]
    pub(super) fn settle(&self, state: &mut SubscriptionState) {
        if state.history.ahead() > 0 {
            state.history.settle(self.taken.load(Ordering::Relaxed)); // N3; only the number counts
        }
    }

    /// The same, where places seem to be short.
    #[inline]
    pub(super) fn settle_if_full(&self, state: &mut SubscriptionState) {
        if state.history.ahead() > 0 && !state.history.has_room() {
            self.settle(state);
        }
    }
}

impl SubscriptionCore {
    /// The lock of the history, with all messages in it.
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
        self.ahead.any.store(false, Ordering::Relaxed); // as it says, a hint
        state
    }

    /// Takes the oldest message, if messages were moved.
    #[inline]
    pub(super) fn take_ahead(&self, taker: Taker) -> Option<Taken> {
        // Relaxed: a hint. Who doesn't see them brings them home.
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

    /// All that were moved are taken: moves more, if many wait. Returns the stamp of the oldest
    /// that waits.
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

    /// Moves what waits, if that is worth it: the next ones are taken without the history's lock
    /// then.
    #[inline]
    pub(super) fn move_ahead(&self, state: &mut SubscriptionState) {
        if state.history.len() >= MANY {
            self.try_to_move(state);
        }
    }

    #[cold]
    #[inline(never)]
    fn try_to_move(&self, state: &mut SubscriptionState) {
        // Who has it waits for the history's lock: a matter of luck, then.
        if self.moves(state)
            && let Some(mut entries) = self.ahead.entries.try_lock()
        {
            state.history.move_ahead(&mut entries); // N1
            self.ahead.any.store(true, Ordering::Relaxed); // a hint
        }
    }

    /// Whether what waits is to be moved, and may be.
    fn moves(&self, state: &SubscriptionState) -> bool {
        let history = &state.history;
        let is_simple =
            history.keeps_all() && !history.is_held() && !history.has_mortals() && !state.listened;
        // Relaxed: the thread that sets it first brings all home after that.
        let is_ours = !self.sources.any.load(Ordering::Relaxed);
        history.len() >= MANY && state.waiting == 0 && is_simple && is_ours && !state.closed
    }
}
