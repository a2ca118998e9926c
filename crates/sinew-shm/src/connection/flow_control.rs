//! Flow control: how a writer waits for readers that must get every message.
//!
//! A connection to such a reader is *bound*: the writer stays ahead of the reader's cursor by at
//! most the reader's capacity. Until the reader's record is known, the connection's first number
//! counts as its cursor.
//!
//! # How much room
//!
//! A writer that continues with the first free place waits again for the next one: that costs two
//! system calls per message, and the reader spends its time ringing. So a writer that found no room
//! waits until *half* of the capacity is free, and is rung once. But a reader may be slow, or stop
//! reading at any position, and the little room that it has made should be used: the writer waits
//! for that half for at most half a millisecond ([`FAIR`]). After that it takes any room, and if
//! there is none, the first free place ends the wait.
//!
//! # Sync points
//!
//! - B1 the writer: bell (Acquire), `waiting` = 1 + the cursor that it waits for (Relaxed), fence
//!   SeqCst, the cursors (Acquire) again; then it sleeps on its participant's first bell while the
//!   bell is unchanged.
//! - B2 the reader: cursor (Release), fence SeqCst; if `waiting` (Relaxed) names a cursor that is
//!   reached, and not the one that it rang for last, it rings that bell.
//! - B3 the writer's helper thread, or the writer itself before it waits, finds the reader's cursor
//!   and then rings the bell: the reader may have rung for a cursor that the writer couldn't find
//!   yet.
//!
//! Forbidden: B1 sees the old cursor and B2 no wait. One of the two fences is first. A reader's
//! death rings as well.
//!
//! Ringing once is enough: a cursor that was rung for was reached, and stays reached. A writer that
//! asks for the same cursor again read the bell either before that ring, and doesn't sleep, or
//! after it, and sees the cursor (B2's Release of the cursor comes before the bell's). A reader
//! with a cursor that goes back forgets the cursor that it rang for.
//!
//! The writer doesn't reset `waiting`: a word that is left over costs one ring, once its cursor is
//! reached. A process that dies between any two steps leaves a word that the next connection
//! resets, or a bell that was not rung: the helper thread that notices a reader's death rings the
//! writer's bell.

use crate::platform::failpoints::{self, Point};
use crate::platform::shm_ref::ShmRef;
use crate::platform::sync::{AtomicU64, Ordering, fence};
use crate::tables::bell::Bell;
use crate::tables::control_segment::{DONE, IncomingRecord};
use std::sync::OnceLock;

/// The position of a connection's reader, as the writer knows it.
pub(crate) struct Cursor {
    /// The cursor until the reader's record is known.
    first: u64,
    record: OnceLock<ShmRef<IncomingRecord>>,
}

impl Cursor {
    pub(crate) fn new(first: u64) -> Self {
        Self { first, record: OnceLock::new() }
    }

    /// The reader's record, once it has taken the connection up.
    #[inline]
    pub(crate) fn record(&self) -> Option<&ShmRef<IncomingRecord>> {
        self.record.get()
    }

    /// The first message that the reader still needs. A value beyond the next message is UNBOUND,
    /// or comes from a broken reader.
    #[inline]
    pub(crate) fn at(&self) -> u64 {
        self.record.get().map_or(self.first, |record| {
            record.cursor.load(Ordering::Acquire) // B1: pairs with B2
        })
    }

    /// Number of messages before `next` that the reader still needs.
    #[inline]
    pub(crate) fn lag(&self, next: u64) -> u64 {
        next.saturating_sub(self.at())
    }

    /// The number of the first message that the reader may still have to read, according to its
    /// record. A hint.
    pub(crate) fn passed(&self, is_bound: bool) -> u64 {
        self.record.get().map_or(self.first, |record| {
            // A hint suffices: the writer also checks the holds.
            let passed = record.next.load(Ordering::Relaxed);
            // If the reader isn't bound, the cursor says nothing until the reader is done.
            let cursor = record.cursor.load(Ordering::Relaxed);
            if is_bound || cursor == DONE { passed.max(cursor) } else { passed }
        })
    }

    /// B3: the reader's record was found.
    pub(crate) fn adopt(&self, record: ShmRef<IncomingRecord>, bell: &Bell) {
        if self.record.set(record).is_ok() {
            bell.ring();
        }
    }
}

/// How much room a writer waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Want {
    /// Half of the capacity, so that the writer needn't wait for every message.
    Half,
    /// One place.
    Any,
}

/// How long a writer waits for more than one place, in nanoseconds.
pub(crate) const FAIR: i64 = 500_000;

/// The cursor at which a reader of this capacity has made `room` for message `next` and those after
/// it.
#[inline]
pub(crate) fn wanted(next: u64, capacity: u64, want: Want) -> u64 {
    let places = match want {
        Want::Half => (capacity / 2).max(1),
        Want::Any => 1,
    };
    next.saturating_add(places).saturating_sub(capacity)
}

/// B1: returns the value of the bell to sleep with; `None` if there is room. `readers` are the
/// `waiting` words of the bound connections, and the cursor that each must reach.
pub(crate) fn begin_to_wait<'a>(
    bell: &Bell,
    readers: impl Iterator<Item = (&'a AtomicU64, u64)>,
    has_room: impl FnOnce() -> bool,
) -> Option<u32> {
    let seen = bell.rung(); // B1: before the cursors are checked
    for (waiting, cursor) in readers {
        waiting.store(cursor.saturating_add(1), Ordering::Relaxed); // B1: the fence orders it
    }
    // B1: SeqCst, pairs with B2's. Forbids that we see the old cursor and the reader no wait.
    fence(Ordering::SeqCst);
    failpoints::at(Point::Waiting);
    (!has_room()).then_some(seen)
}

/// B2: returns `true` if a writer waits for this cursor and must be rung. `cursor` is the reader's
/// word, `waiting` the writer's; `rung` is the value of `waiting` when the reader rang last.
#[inline]
pub(crate) fn advance(cursor: &AtomicU64, to: u64, waiting: &AtomicU64, rung: &mut u64) -> bool {
    cursor.store(to, Ordering::Release); // B2: pairs with `Cursor::at`; carries the reading of all earlier messages
    // B2: SeqCst, pairs with B1's. Forbids that the writer sees the old cursor and we no wait.
    fence(Ordering::SeqCst);
    let word = waiting.load(Ordering::Relaxed); // the fence orders it
    let is_reached = |word: u64| word.checked_sub(1).is_some_and(|wanted| wanted <= to);
    if !is_reached(*rung) {
        *rung = 0; // it went back: the reader must ring for that cursor again
    }
    let rings = is_reached(word) && word != *rung;
    if rings {
        *rung = word;
    }
    rings
}
