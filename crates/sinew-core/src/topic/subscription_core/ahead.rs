//! Moving messages out of a history and back, and taking those that were moved: see
//! [`moved_messages`](super::moved_messages).

use super::{SubscriptionCore, SubscriptionState, Taken, Taker};
use crate::mailbox::history::Entry;
use crate::sys::clock::Stamp;
use crate::sys::sync::{Guard, Ordering};
use std::collections::VecDeque;

/// Minimum number of waiting messages that are moved.
const MANY: usize = if cfg!(loom) {
    1
} else if cfg!(test) {
    2 // so that the property tests cover moving
} else {
    32
};

/// Number of taken messages after which the counters for tools are updated.
const TOLD: usize = 16;

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
        self.ahead.settle(&mut state.history);
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
            self.ahead.settle(&mut state.history); // N2
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

    /// Moves the waiting messages if there are many: threads then take the next ones without the
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
        // Relaxed: the first thread that sets it moves all messages back afterwards.
        let is_ours = !self.sources.any.load(Ordering::Relaxed);
        history.len() >= MANY && state.waiting == 0 && is_simple && is_ours && !state.closed
    }
}
