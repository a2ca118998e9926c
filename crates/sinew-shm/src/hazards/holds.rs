//! Holds: how a reader prevents a chunk from being rewritten while it reads the chunk in place.
//!
//! # Purpose
//!
//! A writer reuses its chunks once no slot names them and no reader reads them. The reader records
//! the chunks that it reads in its own memory, and the writer looks there only when it runs out of
//! free chunks: so neither writes to a word of the other, and a publish costs nothing extra. (These
//! are hazard pointers across processes; see Maged Michael, "Hazard Pointers", IEEE TPDS 2004.)
//!
//! # Roles
//!
//! A participant has one table of holds, for everything it reads: one word per chunk in use, which
//! is the chunk's name plus 1, or 0. The names are (segment << 32, index) with segment numbers that
//! start at random per participant, so two writers' chunks seldom have the same name; if they do, a
//! chunk is only kept longer than needed.
//!
//! # Sync points
//!
//! Reader, for message n, which names chunk c:
//! - R1, R2 of [`ring`](crate::ring): the sequence is 2n+2, the fields name c.
//! - H3 hold = 1 + c (Release): W6 may see this instead of the H7 before it, and then it carries
//!   the same as that H7.
//! - H4 fence SeqCst.
//! - H5 the chunk is still c (Relaxed), fence Acquire, the sequence is still 2n+2 (Acquire);
//!   otherwise hold = 0: the message is lost to this reader, or the reader looks at it once more.
//! - H6 only now the name is checked and the chunk read.
//! - H7 hold = 0 (Release): all reading comes before the chunk is rewritten; pairs with W6.
//!
//! Writer:
//! - W3 of `ring` for message n + slots, or W0 (or G3): no slot names c any more, c is *retired*.
//! - W4 fence SeqCst.
//! - W5 the list of participants that this writer has accepted as readers, loaded after the fence.
//! - W6 their holds (Acquire). A retired chunk that no hold names is free.
//!
//! The forbidden outcome: H5 sees c and 2n+2, and W6 sees no hold. One of the two fences is first.
//! If it is H4: H3 comes before W6, which sees the hold. If it is W4: the retirement comes before
//! H5, which sees it and gives up. After W0 it sees that the slot names no chunk, unless the slot
//! is newer than that. The slot then names c again only if c was lent again since. If that was for
//! another message, its W1 came before that and is seen by H5's load of the sequence; if it was for
//! this one, the hold keeps the right bytes. And a reader that isn't in the list that W5 loads was
//! accepted after W4, so it reads only messages published later.
//!
//! A reader that dies leaves its holds. They count until its lock is free; then it is removed from
//! the list.
//!
//! # Copying
//!
//! A reader that holds as many messages as it may copies further ones, and holds each for the time
//! of the copy, with a word that is never used for anything else. So a chunk's bytes are touched
//! only between H5 and H7.
//!
//! # Leaving
//!
//! A participant may leave its domain while its process still uses messages of others. It is no
//! longer a reader then, but its holds still count:
//! - Q1 no mark is given out any more.
//! - Q2 `state` = 1 in its control segment: it has left. Other participants drop its connections;
//!   it stays in the list of W5.
//! - Q3 every mark that was given out has come back: `state` = 2 (Release).
//! - Q4 the writer removes a participant with `state` 2 (Acquire), or with a free lock, from the
//!   list.
//!
//! The forbidden outcome: a chunk is read, and its reader isn't in the list. A mark is counted from
//! before H3 until after H7, under the lock with which Q1 and Q3 check. So H3 to H7 of every mark
//! come before Q3, and Q4, which pairs with it, before the chunk is rewritten. (The word that came
//! back last waits outside the lock, in a place of its own. Q1 closes that place, under the lock: a
//! word that was taken from it before then isn't back, and comes back under the lock; one that was
//! put there before then is back.) A hold owns its
//! participant's state, which owns the mapping, which owns the lock: where the lock is free, there
//! is no hold. Writers query the lock through a descriptor, which they keep, of the very file that
//! the holds are in. The file's name doesn't matter: removing it takes no participant off the list.

use crate::platform::failpoints::{self, Point};
use crate::platform::prefetch;
use crate::platform::shm_ref::ShmRef;
use crate::platform::sync::{AtomicU32, AtomicU64, Mutex, Ordering, fence};
use crate::ring::Ring;

/// A participant's own holds.
pub(crate) struct Hazards {
    table: ShmRef<[AtomicU64]>,
    /// The word that came back last, outside the lock; [`NONE`], or [`CLOSED`] after Q1.
    hot: AtomicU32,
    words: Mutex<HazardWords>,
}

/// No word is in the place for one.
const NONE: u32 = u32::MAX;
/// The place for one word takes none any more.
const CLOSED: u32 = u32::MAX - 1;

/// The word that marks a chunk while it is copied, and is never used for anything else.
const COPYING: u32 = 0;

struct HazardWords {
    /// Number of words of the table that may be accessed.
    ready: usize,
    /// The free words, apart from the one [for copying](COPYING); the last one given back is the
    /// first one taken.
    free: Vec<u32>,
    /// Whether the word for copying is in use.
    is_copying: bool,
    leaving: Leaving,
}

/// How far a participant has come with leaving.
#[derive(PartialEq, Eq)]
enum Leaving {
    No,
    /// Q1: no mark is given out any more.
    Begun,
    /// The thread that gives the last mark back is notified.
    Waiting,
}

/// The word of a hold in use: its index in the table.
pub(crate) struct Mark(u32);

impl Hazards {
    pub(crate) fn new(table: ShmRef<[AtomicU64]>) -> Self {
        let words = HazardWords { ready: 0, free: Vec::new(), is_copying: false, leaving: Leaving::No };
        Self { table, hot: AtomicU32::new(NONE), words: Mutex::new(words) }
    }

    /// The greatest number of words.
    pub(crate) fn limit(&self) -> usize {
        self.table.len()
    }

    /// Takes the word for the duration of a copy. One thread at a time, which gives it back before
    /// the next takes it. `None` after Q1.
    #[cold]
    pub(crate) fn take_to_copy(&self) -> Option<Mark> {
        let mut words = self.words.lock();
        if words.leaving != Leaving::No || words.ready == 0 {
            return None;
        }
        words.is_copying = true;
        Some(Mark(COPYING))
    }

    /// Takes a word to mark a chunk with; `None` if none is ready, in which case the caller must
    /// [add](Self::add) more. Always `None` after Q1.
    #[inline]
    pub(crate) fn take(&self) -> Option<Mark> {
        let hot = self.hot.load(Ordering::Relaxed); // the exchange decides
        let exchange = || self.hot.compare_exchange(hot, NONE, Ordering::Acquire, Ordering::Relaxed);
        if hot < CLOSED && exchange().is_ok() {
            return Some(Mark(hot));
        }
        self.take_free()
    }

    fn take_free(&self) -> Option<Mark> {
        let mut words = self.words.lock();
        if words.leaving != Leaving::No {
            return None;
        }
        words.free.pop().map(Mark)
    }

    /// Fetches the cache line of the word that will probably be taken next.
    #[inline]
    pub(crate) fn warm(&self) {
        if let Some(word) = self.table.get(self.hot.load(Ordering::Relaxed) as usize) {
            prefetch::for_writing(std::ptr::from_ref(word).addr());
        }
    }

    #[inline]
    fn word(&self, mark: &Mark) -> &AtomicU64 {
        &self.table[mark.0 as usize] // `add` gives out only valid indices
    }

    /// H3 to H5, for a message that names this chunk. Returns `false` if the message was
    /// overwritten meanwhile: then the caller gives the mark back and doesn't access the chunk.
    #[inline]
    pub(crate) fn hold(&self, mark: &Mark, chunk: u64, ring: &Ring, number: u64) -> bool {
        // H3: Release, pairs with W6, which may find this word instead of H7's 0: all reading
        // before H7 comes before W6. The fence orders it before H5.
        self.word(mark).store(chunk.wrapping_add(1), Ordering::Release);
        // H4: SeqCst, pairs with W4. Forbids that H5 sees the chunk named and W6 no hold.
        fence(Ordering::SeqCst);
        failpoints::at(Point::HoldSet);
        ring.still_names(number, chunk) // H5
    }

    /// Number of words that are ready, in use or not.
    pub(crate) fn ready(&self) -> usize {
        self.words.lock().ready
    }

    /// The first `ready` words may be accessed from now on.
    pub(crate) fn add(&self, ready: usize) {
        let mut words = self.words.lock();
        let first = words.ready.max(COPYING as usize + 1);
        for index in (first..ready.min(self.limit())).rev() {
            words.free.push(u32::try_from(index).unwrap_or(u32::MAX));
        }
        words.ready = words.ready.max(ready.min(self.limit()));
        // The list never grows when a hold is given back.
        let more = words.ready;
        words.free.reserve(more);
    }

    /// H7: frees the word for the next hold. Returns `true` once: if Q3 waited for this mark.
    #[inline]
    #[must_use]
    pub(crate) fn give_back(&self, mark: &Mark) -> bool {
        self.word(mark).store(0, Ordering::Release); // H7: pairs with W6
        failpoints::at(Point::HoldGone);
        // Release: pairs with the Acquire of Q1, which then counts it as back.
        let exchange = || self.hot.compare_exchange(NONE, mark.0, Ordering::Release, Ordering::Relaxed);
        // The look comes first: an exchange that fails has taken the cache line too.
        if mark.0 != COPYING && self.hot.load(Ordering::Relaxed) == NONE && exchange().is_ok() {
            return false;
        }
        self.give_back_locked(mark)
    }

    fn give_back_locked(&self, mark: &Mark) -> bool {
        let mut words = self.words.lock();
        match mark.0 {
            COPYING => words.is_copying = false,
            other => words.free.push(other),
        }
        words.leaving == Leaving::Waiting && words.are_all_back()
    }

    /// Q1: no mark is given out from now on.
    pub(crate) fn refuse(&self) {
        let mut words = self.words.lock();
        words.leaving = Leaving::Begun;
        let hot = self.hot.swap(CLOSED, Ordering::AcqRel);
        if hot < CLOSED {
            words.free.push(hot);
        }
    }

    /// Q3, after [`refuse`](Self::refuse): whether every mark has come back. If not, the call that
    /// [gives back](Self::give_back) the last one returns `true`.
    pub(crate) fn are_all_back(&self) -> bool {
        let mut words = self.words.lock();
        words.leaving = Leaving::Waiting;
        words.are_all_back()
    }
}

impl HazardWords {
    fn are_all_back(&self) -> bool {
        self.free.len() == self.ready.saturating_sub(1) && !self.is_copying
    }
}

/// W4 to W6: appends the chunks that readers hold. `readers` returns the tables of the currently
/// accepted readers; it is not called before the fence. Must be called after the last message that
/// named a chunk was overwritten or withdrawn. Returns how many words were checked.
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
            // W6: Acquire, pairs with H7 and H3: all reading under the earlier hold comes before
            // our writing.
            if let Some(chunk) = word.load(Ordering::Acquire).checked_sub(1) {
                held.push(chunk);
            }
        }
    }
    looked
}
