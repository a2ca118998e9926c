//! Events: how a writer notifies a sleeping, or busy, thread of another process that a connection
//! has messages for it.
//!
//! # Purpose
//!
//! An executor (or waiting thread) of a participant listens on a port. A writer's process has one
//! event ring towards each port; an entry is a connection's number. So the reader looks at as many
//! rings as there are processes, however many connections there are, and a publish that finds its
//! connection already announced writes nothing.
//!
//! # Roles
//!
//! - The writer's process pushes, one thread at a time (under a lock of its own). It writes the
//!   ring, in its memory.
//! - The reader's process drains, one thread at a time. It writes `tail`, `parked` and the
//!   connections' ports, in its memory.
//! - The bell is a word that every process of the same user may write. A wrong value causes a
//!   needless wake-up, or a delay until the next look. Another user's process touches the doorbell
//!   instead, and the helper thread of the sleeper's process rings the bells: see
//!   [`Ringer`](crate::peer::mapped_peer::Ringer).
//!
//! # Positions
//!
//! Entry `i` is in word `i % capacity` as `(i + 1) << 32 | connection`, with the lower half of
//! `i + 1`. `tail <= head <= tail + capacity`. A connection is in the ring at most once beyond
//! `tail`, so a ring with room for all connections of the pair never overflows.
//!
//! # Sync points
//!
//! Push, after the message was published (W3 of [`ring`](crate::ring)):
//! - P1 fence SeqCst; port of the connection (Acquire); tail (Acquire).
//! - P2 if the connection's last entry is below the tail: a new entry (Release).
//! - P3 fence SeqCst; if `parked` (Relaxed) is a sleep that this writer hasn't rung for: bell + 1
//!   (Release), and wake.
//!
//! Drain:
//! - D1 the entry at the tail (Acquire); pairs with P2. Another number than tail + 1 means no
//!   entry.
//! - D2 tail + 1 (Release).
//! - D3 fence SeqCst; *then* the connection's ring is read until it is empty.
//!
//! Forbidden: P1 sees the old tail (so no entry is written), and D3's reading doesn't see the
//! message. One of the two fences is first: if it is P1's, the message is seen; if it is D3's, the
//! new tail is.
//!
//! Park:
//! - K1 bell (Acquire).
//! - K2 parked = number of this sleep (Relaxed), fence SeqCst.
//! - K3 the thread checks the rings' entries at their tails, and everything else it waits for,
//!   again; then it sleeps while the bell is K1's.
//! - K4 parked = 0 (Relaxed): it only saves system calls.
//!
//! Forbidden: P3 sees no sleep, and K3 no entry. One of the fences of P3 and K2 is first: then K3
//! sees the entry, or P3 the sleep. And a writer that sees the sleep changes the bell after K1 read
//! it, so the sleep ends or doesn't begin.
//!
//! Change of a port: E1 the connection's port (Release), fence SeqCst, and the reader drains the
//! connection's ring once. As with D3, either P1 sees the new port or the reader the message.
//!
//! Growth, under the writer's lock, as in `ring`: G1 the entries from the tail on are copied, G2
//! the new location is published, G3 every old word = [`MOVED`]; a D1 that finds MOVED looks for
//! the new location.
//!
//! A writer that dies between W3 and P3 has published a message without notifying the reader: a
//! reader that notices the death drains its connections once. A reader that dies leaves its tail;
//! its rings are removed with it.

use crate::platform::failpoints::{self, Point};
use crate::platform::shm_ref::ShmRef;
use crate::platform::sync::{AtomicU64, Ordering, fence};
use crate::ring::MOVED;

/// Words of an event ring before the entries; word 0 is log2 of the capacity.
pub(crate) const HEADER: usize = 8;

/// Entries of a ring, in shared memory.
#[derive(Clone)]
pub(crate) struct Entries {
    words: ShmRef<[AtomicU64]>,
    mask: u64,
}

impl Entries {
    /// Words of a ring of this capacity.
    pub(crate) fn words(capacity: usize) -> usize {
        HEADER + capacity
    }

    /// Makes a ring in fresh (zeroed) memory, with room for `capacity` entries, a power of two.
    pub(crate) fn create(words: ShmRef<[AtomicU64]>, capacity: usize) -> Self {
        debug_assert!(capacity.is_power_of_two() && words.len() >= Self::words(capacity));
        words[0].store(u64::from(capacity.trailing_zeros()), Ordering::Relaxed); // G2 publishes it
        Self { words, mask: capacity as u64 - 1 }
    }

    /// Opens a peer's ring; returns `None` if its contents are invalid.
    pub(crate) fn open(words: ShmRef<[AtomicU64]>) -> Option<Self> {
        let log = words.first()?.load(Ordering::Relaxed); // G2 published it
        let capacity = 1usize.checked_shl(u32::try_from(log).ok()?)?;
        let fits = capacity <= words.len().checked_sub(HEADER)?;
        fits.then(|| Self { words, mask: capacity as u64 - 1 })
    }

    #[inline]
    fn word(&self, index: u64) -> &AtomicU64 {
        #[expect(clippy::cast_possible_truncation, reason = "masked: less than the number of words")]
        let place = (index & self.mask) as usize;
        &self.words[HEADER + place]
    }

    /// D1: the entry at this position, if it has been written.
    #[inline]
    pub(crate) fn entry(&self, index: u64) -> Entry {
        let word = self.word(index).load(Ordering::Acquire); // D1: pairs with P2 and G3
        if word == MOVED {
            return Entry::Moved;
        }
        if word >> 32 != index.wrapping_add(1) & 0xffff_ffff {
            return Entry::None;
        }
        #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
        let connection = word as u32;
        Entry::Connection(connection)
    }
}

/// An entry at a position of an event ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    None,
    /// This connection has something to read.
    Connection(u32),
    /// The ring was outgrown.
    Moved,
}

/// The pushing end.
pub(crate) struct Pusher {
    entries: Entries,
    head: u64,
    /// The last sleep that this writer rang for.
    rung: u64,
}

/// The result of a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pushed {
    /// The connection is still in the ring from before.
    Already,
    /// The connection was added to the ring.
    New,
}

/// 1 + the position at which a connection was last pushed; 0 if it never was.
pub(crate) type Position = u64;

impl Pusher {
    pub(crate) fn new(entries: Entries) -> Self {
        Self { entries, head: 0, rung: 0 }
    }

    /// P1 (after its fence) and P2. `tail` is the reader's word.
    #[inline]
    pub(crate) fn push(&mut self, connection: u32, last: &mut Position, tail: &AtomicU64) -> Pushed {
        let tail = tail.load(Ordering::Acquire); // P1: pairs with D2
        // An impossible tail comes from a broken reader: it gets its entry, which harms no other
        // reader, as the ring is for it alone.
        if *last > tail && tail <= self.head {
            return Pushed::Already;
        }
        let entry = (self.head.wrapping_add(1) & 0xffff_ffff) << 32 | u64::from(connection);
        self.entries.word(self.head).store(entry, Ordering::Release); // P2: pairs with D1
        failpoints::at(Point::EventPushed);
        self.head += 1;
        *last = self.head;
        Pushed::New
    }

    /// P3, after its fence: whether the writer must ring for the sleeper.
    #[inline]
    pub(crate) fn must_ring(&mut self, parked: &AtomicU64) -> bool {
        // Relaxed: the fence orders it after P2; only its value counts.
        let sleep = parked.load(Ordering::Relaxed);
        if sleep == 0 || sleep == self.rung {
            return false;
        }
        self.rung = sleep;
        failpoints::at(Point::SleeperFound);
        true
    }

    /// The word of the next entry.
    pub(crate) fn next_word(&self) -> &AtomicU64 {
        self.entries.word(self.head)
    }

    /// Number of entries that the ring has room for.
    pub(crate) fn capacity(&self) -> usize {
        usize::try_from(self.entries.mask + 1).unwrap_or(usize::MAX)
    }

    /// G1 to G3: continues in a larger ring. `tail` is the reader's word; `place` is the word that
    /// holds the ring's location.
    pub(crate) fn grow(&mut self, new: Entries, tail: &AtomicU64, place: &AtomicU64, location: u64) {
        // G1: entries before the tail are not needed any more.
        let old = self.move_to(new, tail.load(Ordering::Acquire));
        failpoints::at(Point::EventsCopied);
        place.store(location, Ordering::Release); // G2: pairs with the Acquire of a reader that looks for it
        failpoints::at(Point::EventsPublished);
        outgrown(&old); // G3
    }

    fn move_to(&mut self, new: Entries, tail: u64) -> Entries {
        let oldest = self.head.saturating_sub(self.entries.mask + 1);
        for index in tail.clamp(oldest, self.head)..self.head {
            let entry = self.entries.word(index).load(Ordering::Relaxed); // our own writes
            new.word(index).store(entry, Ordering::Relaxed); // G2 publishes it
        }
        std::mem::replace(&mut self.entries, new)
    }
}

/// G3
fn outgrown(old: &Entries) {
    for word in &old.words[HEADER..] {
        word.store(MOVED, Ordering::Release); // G3: pairs with D1; carries G2
    }
}

/// A connection that is announced to its reader.
pub(crate) trait Announced {
    /// P1 after its fence, and P2. Returns `true` if a port must be checked in P3.
    fn push(&self) -> bool;

    /// P3 after its fence.
    fn ring_if_parked(&self);

    /// P1 after its fence, to P3.
    fn push_and_ring(&self) {
        if self.push() {
            fence_of_p3();
            self.ring_if_parked();
        }
    }
}

/// P1: SeqCst, pairs with D3 and E1. Forbids that we see the old tail, or port, and the reader no
/// message.
#[inline]
fn fence_of_p1() {
    fence(Ordering::SeqCst);
}

/// P3: SeqCst, pairs with K2. Forbids that we see no sleep and the reader no entry.
#[inline]
pub(crate) fn fence_of_p3() {
    fence(Ordering::SeqCst);
}

/// P1 to P3 for the only connection of a message.
#[inline]
pub(crate) fn announce_one(connection: &impl Announced) {
    fence_of_p1();
    connection.push_and_ring();
}

/// P1 to P3 for the connections of a message, with two fences for all of them.
#[inline]
pub(crate) fn announce<'a, C: Announced + 'a>(connections: impl Iterator<Item = &'a C> + Clone) {
    fence_of_p1();
    let mut any = false;
    for connection in connections.clone() {
        any |= connection.push();
    }
    if any {
        fence_of_p3();
        connections.for_each(Announced::ring_if_parked);
    }
}

/// The draining end of an event ring.
pub(crate) struct Drainer {
    entries: Entries,
    taken: u64,
    /// Number of times that the ring was outgrown.
    moves: u32,
}

/// The result of [`Drainer::next`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Drained {
    Nothing,
    /// This connection may have something to read; the caller reads it until it is empty.
    Connection(u32),
    /// The ring was outgrown, and the new one is missing or invalid because the writer is broken.
    /// Nothing more comes, unless `find` finds it later.
    Lost,
}

/// How often an event ring can be outgrown: its size doubles each time, and a peer has no more
/// connections than this many bits can count.
const MOVES: u32 = 32;

impl Drainer {
    pub(crate) fn new(entries: Entries) -> Self {
        Self { entries, taken: 0, moves: 0 }
    }

    /// D1 to D3: the next connection that was announced. `find` returns the ring's current
    /// location.
    #[inline]
    pub(crate) fn next(&mut self, tail: &AtomicU64, find: impl Fn() -> Option<Entries>) -> Drained {
        loop {
            match self.entries.entry(self.taken) {
                Entry::None => return Drained::Nothing,
                Entry::Connection(connection) => {
                    self.taken += 1;
                    tail.store(self.taken, Ordering::Release); // D2: pairs with P1
                    // D3: SeqCst, pairs with P1's fence. Forbids that the writer sees the old tail
                    // and we no message.
                    fence(Ordering::SeqCst);
                    failpoints::at(Point::EventTaken);
                    return Drained::Connection(connection);
                }
                Entry::Moved => {
                    // A broken writer must not keep us in this loop for ever.
                    match find() {
                        Some(entries) if self.moves < MOVES => self.entries = entries,
                        _ => return Drained::Lost,
                    }
                    self.moves += 1;
                }
            }
        }
    }

    /// The position after the last connection that is announced now.
    #[inline]
    pub(crate) fn announced(&self) -> u64 {
        let most = self.taken.saturating_add(self.entries.mask + 1);
        for index in self.taken..most {
            match self.entries.entry(index) {
                Entry::Connection(_) => {}
                Entry::None => return index,
                Entry::Moved => return u64::MAX, // rare: everything that the new ring has
            }
        }
        most
    }

    /// Number of entries taken so far.
    #[inline]
    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    /// Whether an entry is waiting.
    #[inline]
    pub(crate) fn is_pending(&self) -> bool {
        self.entries.entry(self.taken) != Entry::None
    }
}

/// E1: sets the port that a connection is announced to from now on. The caller then reads the
/// connection until it is empty.
pub(crate) fn change_port(port: &AtomicU64, reference: u64) {
    port.store(reference, Ordering::Release); // E1: pairs with P1
    // E1: SeqCst, pairs with P1's fence. Forbids that the writer sees the old port and we no
    // message.
    fence(Ordering::SeqCst);
    failpoints::at(Point::PortNamed);
}

/// K2
#[inline]
pub(crate) fn park(parked: &AtomicU64, sleep: u64) {
    parked.store(sleep, Ordering::Relaxed); // K2: the fence orders it before K3
    // K2: SeqCst, pairs with P3's.
    fence(Ordering::SeqCst);
    failpoints::at(Point::Parked);
}

/// K4
#[inline]
pub(crate) fn unpark(parked: &AtomicU64) {
    parked.store(0, Ordering::Relaxed); // K4: it only saves system calls
}
