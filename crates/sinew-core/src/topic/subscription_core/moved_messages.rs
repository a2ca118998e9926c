//! Messages moved out of a history in bulk, so that publishing threads and taking threads have
//! locks of their own.
//!
//! Otherwise each message of a long history would move the subscription's lock, and the cache lines
//! behind it, from the publisher's core to the taker's and back. So a thread that takes a message
//! from a long history moves all others out of it at once, and takes these under a lock that no
//! publisher wants. They count as waiting until they are taken: the history keeps the number of
//! moved messages.
//!
//! Messages are moved only if all publishers are in this process, the history keeps all, no message
//! expires and no listener is notified, and never while a publisher waits for a place. For every
//! rare operation on a history, [`SubscriptionCore::whole`](super::SubscriptionCore::whole) moves
//! them back first.
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

use crate::mailbox::history::{Entry, HistoryCache};
use crate::sys::sync::{AtomicBool, AtomicUsize, Mutex, Ordering};
use std::collections::VecDeque;

/// On cache lines of its own, which publishers don't touch.
#[repr(align(128))]
pub(super) struct MovedMessages {
    /// Whether there are any. A hint.
    pub(super) any: AtomicBool,
    /// Total number of messages taken from here; see N3.
    pub(super) taken: AtomicUsize,
    /// In order; all are older than those in the history.
    pub(super) entries: Mutex<VecDeque<Entry>>,
}

impl MovedMessages {
    pub(super) fn new() -> Self {
        Self { any: AtomicBool::new(false), taken: AtomicUsize::new(0), entries: Mutex::new(VecDeque::new()) }
    }

    /// Updates the history with the number of messages taken from here.
    #[inline]
    pub(super) fn settle(&self, history: &mut HistoryCache) {
        if history.ahead() > 0 {
            history.settle(self.taken.load(Ordering::Relaxed)); // N3; only the number counts
        }
    }

    /// Like [`settle`](Self::settle), if places seem to be short.
    #[inline]
    pub(super) fn settle_if_full(&self, history: &mut HistoryCache) {
        if history.ahead() > 0 && !history.has_room() {
            self.settle(history);
        }
    }
}
