//! Holds: how a reader keeps a chunk from being written while it reads it in place.
//!
//! # Purpose
//!
//! A writer's chunks are written again once no slot names and no reader reads them. The reader says
//! what it reads in its own memory, the writer looks there only when it runs out of free chunks: so
//! neither writes a word of the other, and a publish costs nothing for it. (A hazard pointer across
//! processes; see Maged Michael, "Hazard Pointers", IEEE TPDS 2004.)
//!
//! # Roles
//!
//! A participant has one table of holds, for everything it reads: one word per chunk in use, 0 or 1 + the chunk's name. The names are
//! (segment << 32, index) with segment numbers that start at random per participant, so two writers' chunks seldom have the same
//! name; if they do, a chunk is kept longer than needed, and that is all.
//!
//! # Sync points
//!
//! Reader, of message n, which names chunk c:
//! - R1, R2 of [`ring`](crate::ring): the sequence is 2n+2, the fields name c.
//! - H3 hold = 1 + c (Release): W6 may see this instead of the H7 before it, and then it carries
//!   what H7 did.
//! - H4 fence SeqCst.
//! - H5 the chunk is c still (Relaxed), fence Acquire, the sequence is 2n+2 still (Acquire); else
//!   hold = 0: the message is lost to this reader, or to be looked at once more.
//! - H6 only now the name is checked and the chunk read.
//! - H7 hold = 0 (Release): what was read is read before the chunk is written again; pairs with W6.
//!
//! Writer:
//! - W3 of `ring`, for message n + slots, or W0 (or G3): nothing names c any more: c is *retired*.
//! - W4 fence SeqCst.
//! - W5 the list of participants that this writer has accepted as readers, loaded after the fence.
//! - W6 their holds (Acquire). A retired chunk that none names is free.
//!
//! The forbidden outcome: H5 sees c and 2n+2, and W6 sees no hold. Of the two fences one is first.
//! If H4 is: H3 comes before W6, which sees it. If W4 is: what was retired comes before H5, which
//! sees it and gives up: by W0, that no chunk is named, unless the slot is newer than that. Then it
//! names c again only if c was lent again since, for another message, whose W1 came before and is
//! seen after it; or for this one: then it is its image that the hold keeps. And a reader that
//! isn't in the list that W5 loads was accepted after W4, so it reads only what was published
//! later.
//!
//! A reader that dies leaves its holds. They count until its lock is free; then it leaves the list.
//!
//! # Copying
//!
//! A reader that keeps as many as it may copies what it reads, and holds it meanwhile like any
//! other: the last word that is free is never given away for keeps. So a chunk's bytes are touched
//! between H5 and H7 only.
//!
//! # Leaving
//!
//! A participant may leave its domain while its process still uses messages of others. It is no
//! reader any more then, but its holds count on:
//! - Q1 no mark is given any more.
//! - Q2 `state` = 1 in its control segment: it has left. Others forget its connections; in the list
//!   of W5 it stays.
//! - Q3 every mark that was given has come back: `state` = 2 (Release).
//! - Q4 the writer: a participant with `state` 2 (Acquire), or with a free lock, leaves the list.
//!
//! The forbidden outcome: a chunk is read, and its reader isn't in the list. A mark is counted from
//! before H3 until after H7, under the lock with which Q1 and Q3 look. So H3 to H7 of every mark
//! come before Q3, and Q4, which pairs with it, before the chunk is written again. A hold owns what
//! its participant has, that the mapping, and the mapping the lock: where the lock is free, there
//! is no hold. Writers ask for the lock through a descriptor of the very file that the holds are
//! in, which they keep. Its name says nothing: removing it makes no participant leave the list.

use crate::failpoints::{self, Point};
use crate::ring::Ring;
use crate::shm_ref::ShmRef;
use crate::sync::{AtomicU64, Mutex, Ordering, fence};

/// A participant's own holds.
pub(crate) struct Hazards {
    table: ShmRef<[AtomicU64]>,
    words: Mutex<HazardWords>,
}

struct HazardWords {
    /// So many words of the table may be touched.
    ready: usize,
    /// Those that are free; the last one back is the first one given.
    free: Vec<u32>,
    leaving: Leaving,
}

/// How far a participant is with leaving.
#[derive(PartialEq, Eq)]
enum Leaving {
    No,
    /// Q1: no mark is given any more.
    Begun,
    /// The thread that brings the last mark back is told.
    Waiting,
}

/// A hold's word, while it is in use: its place in the table.
pub(crate) struct Mark(u32);

impl Hazards {
    pub(crate) fn new(table: ShmRef<[AtomicU64]>) -> Self {
        Self { table, words: Mutex::new(HazardWords { ready: 0, free: Vec::new(), leaving: Leaving::No }) }
    }

    /// How many words there can be.
    pub(crate) fn limit(&self) -> usize {
        self.table.len()
    }

    /// A word for as long as it takes to copy a chunk: the last one that is free, too. One thread
    /// at a time, which gives it back before the next. `None` after Q1.
    #[cold]
    pub(crate) fn take_to_copy(&self) -> Option<Mark> {
        let mut words = self.words.lock();
        (words.leaving == Leaving::No).then(|| words.free.pop().map(Mark)).flatten()
    }

    /// A word to mark a chunk with; `None` if none is ready: then more are to be [made
    /// ready](Self::add). None is after Q1.
    #[inline]
    pub(crate) fn take(&self) -> Option<Mark> {
        let mut words = self.words.lock();
        if words.leaving != Leaving::No {
            return None;
        }
        (words.free.len() > 1).then(|| words.free.pop().map(Mark)).flatten() // one is for copying
    }

    #[inline]
    fn word(&self, mark: &Mark) -> &AtomicU64 {
        &self.table[mark.0 as usize] // `add` gives only places that there are
    }

    /// H3 to H5, of a message that names this chunk. False if it was overwritten meanwhile: then
    /// the mark is to be given back, and the chunk not to be looked at.
    #[inline]
    pub(crate) fn hold(&self, mark: &Mark, chunk: u64, ring: &Ring, number: u64) -> bool {
        // H3: Release, pairs with W6, which may find this where H7 has just been: what was read
        // before H7 is read before W6. The fence orders it before H5.
        self.word(mark).store(chunk.wrapping_add(1), Ordering::Release);
        // H4: SeqCst, pairs with W4. Forbids that H5 sees the chunk named and W6 no hold.
        fence(Ordering::SeqCst);
        failpoints::at(Point::HoldSet);
        ring.still_names(number, chunk) // H5
    }

    /// How many words are ready, in use or not.
    pub(crate) fn ready(&self) -> usize {
        self.words.lock().ready
    }

    /// So many words may be touched now.
    pub(crate) fn add(&self, ready: usize) {
        let mut words = self.words.lock();
        for index in (words.ready..ready.min(self.limit())).rev() {
            words.free.push(u32::try_from(index).unwrap_or(u32::MAX));
        }
        words.ready = words.ready.max(ready.min(self.limit()));
        // The list never grows when a hold comes back.
        let more = words.ready;
        words.free.reserve(more);
    }

    /// H7, and the word is free for the next. True once: if Q3 waited for this mark.
    #[inline]
    #[must_use]
    pub(crate) fn give_back(&self, mark: &Mark) -> bool {
        self.word(mark).store(0, Ordering::Release); // H7: pairs with W6
        failpoints::at(Point::HoldGone);
        let mut words = self.words.lock();
        words.free.push(mark.0);
        words.leaving == Leaving::Waiting && words.are_all_back()
    }

    /// Q1: no mark is given from now on.
    pub(crate) fn refuse(&self) {
        self.words.lock().leaving = Leaving::Begun;
    }

    /// Q3, after [`refuse`](Self::refuse): whether every mark has come back. If not, the last one
    /// to [come back](Self::give_back) says so.
    pub(crate) fn are_all_back(&self) -> bool {
        let mut words = self.words.lock();
        words.leaving = Leaving::Waiting;
        words.are_all_back()
    }
}

impl HazardWords {
    fn are_all_back(&self) -> bool {
        self.free.len() == self.ready
    }
}

/// W4 to W6: appends the chunks that readers hold. `readers` gives the tables of those that are
/// accepted now; it is not asked before the fence. To be called after the last message that named a
/// chunk was overwritten, or withdrawn. Returns how many words were looked at.
pub(crate) fn collect<R: IntoIterator<Item = ShmRef<[AtomicU64]>>>(
    held: &mut Vec<u64>,
    readers: impl FnOnce() -> R,
) -> usize {
    // W4: SeqCst, pairs with H4.
    fence(Ordering::SeqCst);
    let readers = readers(); // W5
    let mut looked = 0;
    for table in readers {
        looked += table.len();
        for word in &*table {
            // W6: Acquire, pairs with H7 and H3: what was read before the hold went is read before
            // we write.
            if let Some(chunk) = word.load(Ordering::Acquire).checked_sub(1) {
                held.push(chunk);
            }
        }
    }
    looked
}
