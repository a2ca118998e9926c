//! Room: how a writer waits for readers that must get everything.
//!
//! A connection to such a reader is *bound*: the writer doesn't overtake the reader's cursor by more than the reader's capacity. Until
//! the reader's record is known, the connection's first number counts as its cursor.
//!
//! # Sync points
//!
//! - B1 the writer: bell (Acquire), `waiting` = 1 (Relaxed), fence SeqCst, the cursors (Acquire) again; then it sleeps on its
//!   participant's first bell while that is unchanged.
//! - B2 the reader: cursor (Release), fence SeqCst; if `waiting` (Relaxed), it rings that bell.
//! - B3 the writer's helper thread, or the writer itself before it waits: where the reader's cursor is, then the bell: the reader may have rung for a cursor that the writer
//!   didn't know where to find.
//!
//! Forbidden: B1 sees the old cursor and B2 no wait. Of the two fences one is first. A reader's death rings, too.

use crate::control::{DONE, IncomingRecord};
use crate::events::Bell;
use crate::kill::{self, Point};
use crate::place::Place;
use crate::sync::{AtomicU64, Ordering, fence};
use std::sync::OnceLock;

/// How far a connection's reader is, as its writer knows it.
pub(crate) struct Cursor {
    /// What counts before the reader's record is known.
    first: u64,
    record: OnceLock<Place<IncomingRecord>>,
}

impl Cursor {
    pub(crate) fn new(first: u64) -> Self {
        Self { first, record: OnceLock::new() }
    }

    /// The reader's record, once it has taken the connection up.
    #[inline]
    pub(crate) fn record(&self) -> Option<&Place<IncomingRecord>> {
        self.record.get()
    }

    /// Messages before `next` that the reader isn't done with.
    #[inline]
    pub(crate) fn lag(&self, next: u64) -> u64 {
        let cursor = self.record.get().map_or(self.first, |record| {
            record.cursor.load(Ordering::Acquire) // B1: pairs with B2
        });
        next.saturating_sub(cursor) // a cursor beyond is UNBOUND, or a broken reader's
    }

    /// The number of the first message that the reader may still have to read, as far as it says so: what
    /// it is done with, or has read. A hint.
    pub(crate) fn passed(&self, is_bound: bool) -> u64 {
        self.record.get().map_or(self.first, |record| {
            let passed = record.next.load(Ordering::Relaxed); // whoever doubts it looks for holds
            // Of a reader that isn't bound, the cursor says nothing until it is done.
            let cursor = record.cursor.load(Ordering::Relaxed);
            if is_bound || cursor == DONE { passed.max(cursor) } else { passed }
        })
    }

    /// B3: the reader's record was found.
    pub(crate) fn adopt(&self, record: Place<IncomingRecord>, bell: &Bell) {
        if self.record.set(record).is_ok() {
            bell.ring();
        }
    }
}

/// B1: the value of the bell with which to sleep; `None` if there is room. `waiting` are the words of the bound connections.
pub(crate) fn begin_to_wait<'a>(
    bell: &Bell,
    waiting: impl Iterator<Item = &'a AtomicU64>,
    has_room: impl FnOnce() -> bool,
) -> Option<u32> {
    let seen = bell.rung(); // B1: before the cursors are looked at
    for word in waiting {
        word.store(1, Ordering::Relaxed); // B1: the fence orders it
    }
    // B1: SeqCst, pairs with B2's. Forbids that we see the old cursor and the reader no wait.
    fence(Ordering::SeqCst);
    kill::at(Point::Waiting);
    (!has_room()).then_some(seen)
}

/// B2: whether a writer waits, and is to be rung for. `cursor` is the reader's word, `waiting` the writer's.
#[inline]
pub(crate) fn advance(cursor: &AtomicU64, to: u64, waiting: &AtomicU64) -> bool {
    cursor.store(to, Ordering::Release); // B2: pairs with `Cursor::lag`; carries that what came before is read
    // B2: SeqCst, pairs with B1's. Forbids that the writer sees the old cursor and we no wait.
    fence(Ordering::SeqCst);
    waiting.load(Ordering::Relaxed) != 0 // the fence orders it
}
