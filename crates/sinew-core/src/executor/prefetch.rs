//! The memory that a thread touches in its bursts of work, fetched together when the thread wakes
//! for the next burst.
//!
//! A robot's executor sleeps for milliseconds between bursts of work, and wakes with cold caches:
//! then a burst mostly waits for memory, one line after the other, since each is found through the
//! one before. But most of the work is periodic, and touches the same memory every time. So a
//! spinning thread notes the entities that it runs and publishes with, and when it wakes it reads
//! the lines of all entities of its last few bursts at once: that takes about as long as waiting
//! for a few lines. (Measured: docs/internals/decisions/0006. A prefetch instruction would need
//! none of the care below, but processors drop it when the address is not in the TLB either, as is
//! usual after a sleep.)
//!
//! A burst that begins with messages of another process begins without a fetch: the first message
//! would wait for it, and it takes longer than what it saves a few callbacks. (A timer waits for
//! it, too, but there it costs no more than it saves.)
//!
//! Notes hold a `Weak`, so that the memory stays a part of this process: a dropped entity is
//! dropped in full, and only its empty allocation stays for a few bursts. An entity stores the
//! place at which it is noted ([`NoteIndex`]), so noting a known entity takes one comparison. The
//! place is a hint: any thread may write it, and a wrong one costs a search.

use super::working_set::{self, LINE};
use crate::message::block::Pool;
use crate::sys::clock::Time;
use crate::sys::sync::{Arc, HintU32, Ordering};
use std::cell::{Cell, RefCell};
use std::sync::Weak;

/// Maximum number of noted entities. More would push one another out of the nearest cache.
const LENGTH: usize = 256;

/// Maximum number of entities that are learnt in one burst: a thread that works through thousands
/// of entities must not spend its time on notes.
const LEARNT_PER_BURST: usize = 64;

/// Bursts without use after which an entity is forgotten.
const FORGOTTEN_AFTER: u8 = 200;

/// Number of lines of a block, with a small message.
const BLOCK: usize = 2;

/// Time in nanoseconds after which a thread that was away has cold caches.
pub(super) const AWAY: i64 = 200_000;

/// Maximum number of bytes of the stack that are fetched.
const MOST_STACK: usize = 32 * 1024;

/// The size of an `Arc`'s counts.
const COUNTS: usize = 2 * size_of::<usize>();

/// The place at which the thread that last used an entity has noted it. Part of the entity.
pub(crate) struct NoteIndex(HintU32);

impl Default for NoteIndex {
    fn default() -> Self {
        Self::new()
    }
}

impl NoteIndex {
    pub(crate) fn new() -> Self {
        Self(HintU32::new(0))
    }

    #[inline]
    fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed) as usize // a hint: carries nothing
    }

    fn set(&self, place: usize) {
        self.0.store(u32::try_from(place).unwrap_or(0), Ordering::Relaxed); // as above
    }
}

/// Memory and code that an entity uses on each run.
pub(crate) type HotSet = Vec<Part>;

/// Memory or code that is used together with an entity, a publisher or a client.
#[derive(Clone)]
pub(crate) enum Part {
    /// A value, and the number of its first bytes.
    Value(Weak<dyn Send + Sync>, usize),
    /// Memory of a program, or code that may be unloaded.
    Hint(Hint),
    /// A pool: the block that will be lent next.
    Pool(Weak<Pool>),
    /// Memory that is found by following pointers.
    Deep(Weak<dyn Footprint>),
    Code(Code),
}

/// Memory of a program, as an address and a number of bytes. It may be gone, or never have been
/// there: it is only named to the processor, by an instruction that fails nowhere.
#[derive(Clone, Copy, Debug)]
pub struct Hint(usize, usize);

impl Hint {
    /// Names memory.
    pub fn new(start: *const (), bytes: usize) -> Self {
        Self(start.addr(), bytes)
    }
}

/// Memory that is found by following pointers.
pub(crate) trait Footprint: Send + Sync {
    /// Names the memory behind `level` pointers, as addresses and lengths in bytes. Returns `false`
    /// if there is no further level.
    fn look(&self, level: usize, name: &mut dyn FnMut(usize, usize)) -> bool;
}

/// Names functions that are not generic (generic code may lie in a library that is unloaded), as
/// their addresses and the number of first lines that run each time.
pub(crate) type Code = fn(&mut dyn FnMut(usize, usize));

impl Part {
    /// Returns a value with at most this number of lines.
    pub(crate) fn value<T: Send + Sync + 'static>(value: &Arc<T>, most: usize) -> Self {
        Self::weak(Arc::downgrade(value), most)
    }

    pub(crate) fn weak<T: Send + Sync + 'static>(value: Weak<T>, most: usize) -> Self {
        Self::Value(value, size_of::<T>().min(most * LINE))
    }

    pub(crate) fn pool(pool: &Arc<Pool>) -> Self {
        Self::Pool(Arc::downgrade(pool))
    }

    /// Returns the address of a value, which may be gone, and its number of bytes; of a pool, those
    /// of what is read to lend a block. Nothing else is surely data, or found without other memory.
    pub(super) fn place(&self) -> Option<(usize, usize)> {
        match self {
            Part::Value(value, bytes) => Some((value.as_ptr().addr(), *bytes)),
            Part::Pool(pool) => Some((pool.as_ptr().addr(), 1)),
            Part::Hint(_) | Part::Deep(_) | Part::Code(_) => None,
        }
    }

    /// Calls `name` with the addresses of the blocks that a pool lends next.
    fn with_next_blocks(&self, name: impl FnMut(usize)) {
        if let Part::Pool(pool) = self
            && let Some(pool) = pool.upgrade()
        {
            pool.with_next(name);
        }
    }
}

/// The data that every note compares and writes, in as few lines as possible.
struct Notes {
    /// The address noted at each place; 0 for none.
    known: [Cell<usize>; LENGTH],
    /// Number of bursts since its last use.
    age: [Cell<u8>; LENGTH],
    /// Number of entities that may be learnt before the next sleep; 0 in a thread that takes no
    /// notes.
    learnable: Cell<usize>,
    /// Whether the thread has used an entity in this burst that has no note.
    is_beyond: Cell<bool>,
    takes_notes: Cell<bool>,
    /// Time of the last notes, if the thread recorded it.
    left_at: Cell<i64>,
    /// The lowest address of the stack in the last burst.
    deepest: Cell<usize>,
    /// The place from which to search for a free one.
    hand: Cell<usize>,
}

thread_local! {
    static NOTES: Notes = const {
        Notes {
            known: [const { Cell::new(0) }; LENGTH],
            age: [const { Cell::new(0) }; LENGTH],
            learnable: Cell::new(0),
            is_beyond: Cell::new(false),
            takes_notes: Cell::new(false),
            left_at: Cell::new(0),
            deepest: Cell::new(usize::MAX),
            hand: Cell::new(0),
        }
    };
    /// References held during a fetch, in a list that keeps its memory.
    static HELD: Cell<Vec<Arc<dyn Footprint>>> = const { Cell::new(Vec::new()) };
    /// The code of the noted entities, and the number of places that use it.
    static CODE: RefCell<Vec<(Code, usize)>> = const { RefCell::new(Vec::new()) };
    /// The noted parts, with their places.
    static PARTS: RefCell<Vec<(usize, Part)>> = const { RefCell::new(Vec::new()) };
}

/// Notes that the entity at `address` is used; `parts` returns its memory if it is not known yet.
#[inline]
pub(crate) fn note(address: usize, place: &NoteIndex, parts: impl Fn() -> HotSet) {
    NOTES.with(|notes| {
        if notes.is_beyond.get() && working_set::is_recording() {
            record(&parts);
        }
        let depth = stack_address();
        if depth < notes.deepest.get() {
            notes.deepest.set(depth);
        }
        let at = place.get();
        if at < LENGTH && notes.known[at].get() == address {
            notes.age[at].set(0);
        } else if notes.learnable.get() > 0 {
            notes.learn(address, place, parts);
        } else if notes.takes_notes.get() {
            notes.is_beyond.set(true);
        }
    });
}

/// Records that the running callback uses a publisher or a client.
#[cold]
#[inline(never)]
fn record(parts: impl Fn() -> HotSet) {
    for part in parts() {
        working_set::add(part.place());
        part.with_next_blocks(|block| working_set::add(Some((block, BLOCK * LINE))));
    }
}

/// Whether this thread has used an entity in this burst that has no note, so that its memory was
/// not fetched: because the notes are full, or because it was one too many to be learnt in one
/// burst. Also in a burst that began [without a fetch](skip). A thread that never sleeps has only
/// one burst.
#[inline]
pub(super) fn is_beyond_notes() -> bool {
    NOTES.with(|notes| notes.is_beyond.get())
}

impl Notes {
    /// Learns an entity that has no note. Never inlined, including `parts`: so [`note`] is a few
    /// instructions wherever it is called.
    #[cold]
    #[inline(never)]
    fn learn(&self, address: usize, place: &NoteIndex, parts: impl FnOnce() -> HotSet) {
        self.learnable.set(self.learnable.get() - 1);
        if let Some(at) = self.known.iter().position(|known| known.get() == address) {
            place.set(at); // another thread uses it as well
            return;
        }
        let Some(at) =
            (self.hand.get()..LENGTH).chain(0..self.hand.get()).find(|&at| self.known[at].get() == 0)
        else {
            self.learnable.set(0); // none becomes free in this burst
            self.is_beyond.set(true);
            return;
        };
        let parts = parts();
        self.hand.set((at + 1) % LENGTH);
        self.known[at].set(address);
        self.age[at].set(0);
        place.set(at);
        for part in &parts {
            if let Part::Code(code) = part {
                learn_code(*code);
            }
        }
        PARTS.with_borrow_mut(|known| {
            known.extend(parts.into_iter().map(|part| (at, part)));
            // Reserved now, when this allocates anyway: the first fetch may come when everything
            // else is warm.
            let mut held = HELD.with(Cell::take);
            held.reserve(known.len());
            HELD.with(|place| place.set(held));
        });
    }

    /// Forgets entities that were not used for a while. Returns their notes, for the caller to
    /// drop.
    #[must_use]
    fn grow_older(&self, parts: &mut Vec<(usize, Part)>) -> Vec<(usize, Part)> {
        let mut old = false;
        for (known, age) in self.known.iter().zip(&self.age).filter(|(known, _)| known.get() != 0) {
            age.set(age.get() + 1);
            if age.get() > FORGOTTEN_AFTER {
                known.set(0);
                old = true;
            }
        }
        if !old {
            return Vec::new();
        }
        parts.extract_if(.., |(at, _)| self.known[*at].get() == 0).collect()
    }
}

/// Counts one more place with this code.
fn learn_code(code: Code) {
    CODE.with_borrow_mut(|all| match all.iter_mut().find(|(known, _)| std::ptr::fn_addr_eq(*known, code)) {
        Some((_, places)) => *places += 1,
        None => all.push((code, 1)),
    });
}

/// Counts one place less with this code.
fn forget_code(code: Code) {
    CODE.with_borrow_mut(|all| {
        if let Some((_, places)) = all.iter_mut().find(|(known, _)| std::ptr::fn_addr_eq(*known, code)) {
            *places -= 1;
        }
    });
}

/// While this lives, the thread takes notes. (A spin inside a callback continues with those of the
/// outer spin.) The notes stay: a thread that returns after a long time fetches them first.
pub(crate) struct Noting {
    outer: bool,
    code: Code,
}

impl Noting {
    /// `code` names the functions that run for every noted entity.
    pub(crate) fn begin(code: Code) -> Self {
        let outer = NOTES.with(|notes| notes.takes_notes.replace(true));
        if !outer {
            learn_code(code);
            come_back(Time::steady().nanoseconds());
        }
        Self { outer, code }
    }
}

impl Drop for Noting {
    fn drop(&mut self) {
        if !self.outer {
            forget_code(self.code);
            NOTES.with(|notes| {
                notes.takes_notes.set(false);
                notes.learnable.set(0);
                notes.is_beyond.set(false);
                notes.left_at.set(Time::steady().nanoseconds());
            });
        }
    }
}

/// Lets this thread take notes from now on, although it doesn't spin: it calls services, and may
/// run their servers.
#[inline]
pub(crate) fn take_notes(now: i64) {
    NOTES.with(|notes| {
        if !notes.takes_notes.get() && notes.learnable.get() == 0 {
            notes.learnable.set(LEARNT_PER_BURST);
        }
    });
    come_back(now);
}

/// Called when this thread begins work at `now`: if it was away for long, it fetches the noted
/// memory.
#[inline]
pub(crate) fn come_back(now: i64) {
    let away = NOTES.with(|notes| now.saturating_sub(notes.left_at.replace(now)));
    if away > AWAY {
        fetch();
    }
}

/// Begins a burst of a thread that has slept, without a fetch. What the burst uses counts as
/// beyond the notes: it is requested by working sets, and nothing new is noted.
pub(crate) fn skip() {
    NOTES.with(|notes| {
        notes.learnable.set(0);
        notes.is_beyond.set(true);
    });
}

/// Fetches the noted memory, for a thread that has slept.
pub(crate) fn fetch() {
    touch_stack();
    CODE.with_borrow(|all| {
        for (code, _) in all.iter().filter(|(_, places)| *places > 0) {
            code(&mut touch_page);
        }
    });
    let mut held = HELD.with(Cell::take);
    let forgotten = PARTS.with_borrow_mut(|parts| {
        for (_, part) in parts.iter() {
            match part {
                Part::Value(value, size) => touch_value(value.as_ptr().addr(), *size),
                Part::Hint(Hint(address, bytes)) => suggest(*address, bytes.div_ceil(LINE)),
                Part::Pool(pool) => touch_value(pool.as_ptr().addr(), LINE),
                Part::Deep(_) | Part::Code(_) => {} // the former are also noted as values
            }
        }
        // In a second pass, since the way to these leads through memory that the first one has
        // requested.
        for (_, part) in parts.iter() {
            match part {
                Part::Deep(footprint) => held.extend(footprint.upgrade()),
                part => part.with_next_blocks(|block| touch_page(block, BLOCK)),
            }
        }
        follow(&mut held);
        NOTES.with(|notes| {
            notes.learnable.set(LEARNT_PER_BURST);
            notes.is_beyond.set(false);
            notes.grow_older(parts)
        })
    });
    for (_, part) in &forgotten {
        if let Part::Code(code) = part {
            forget_code(*code);
        }
    }
    drop(forgotten);
    held.clear(); // perhaps the last references: drop them only now
    HELD.with(|place| place.set(held));
}

/// Fetches memory behind pointers: that of all parts at once, one level after the other.
fn follow(deep: &mut [Arc<dyn Footprint>]) {
    let mut left = deep.len();
    for level in 0.. {
        let mut at = 0;
        while at < left {
            if deep[at].look(level, &mut touch_bytes) {
                at += 1;
            } else {
                left -= 1;
                deep.swap(at, left);
            }
        }
        if left == 0 {
            return;
        }
    }
}

/// Names lines of memory that may not exist.
fn suggest(address: usize, lines: usize) {
    for line in 0..lines {
        sinew_shm::prefetch::for_reading(address.wrapping_add(line * LINE));
    }
}

fn touch_bytes(address: usize, bytes: usize) {
    touch_page(address, bytes.div_ceil(LINE));
}

/// Returns an address on the stack, near its end.
#[inline]
fn stack_address() -> usize {
    let here = 0_u8;
    std::hint::black_box(&raw const here).addr()
}

/// Reads the part of the stack that the last burst used. (Nested calls need a lot of it: one or two
/// KB each.)
fn touch_stack() {
    let here = stack_address();
    let deepest = NOTES.with(|notes| notes.deepest.replace(usize::MAX));
    // This thread has used its stack down to that address, so the stack is mapped there, and stays
    // so while the thread lives.
    touch(deepest.max(here.saturating_sub(MOST_STACK)), here.saturating_sub(deepest).min(MOST_STACK) / LINE);
}

/// Reads the lines of a value in an `Arc`, and those of the counts before it.
fn touch_value(address: usize, size: usize) {
    let first = (address - COUNTS) & !(LINE - 1);
    touch(first, (address + size - first).div_ceil(LINE));
}

/// Reads the lines of memory that are on the page of the first one, without using them.
fn touch_page(address: usize, lines: usize) {
    let address = address & !(LINE - 1); // so that no read crosses into another page
    let page_end = address | 4095;
    touch(address, lines.min((page_end - address) / LINE + 1));
}

/// Reads lines of memory without using them or waiting for them.
#[inline]
fn touch(address: usize, lines: usize) {
    for line in 0..lines {
        let line = address + line * LINE;
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        // SAFETY: the address is on a page of this process (`fetch`: kept by a `Weak`, code, this
        // thread's stack, held under a lock, or kept mapped by who names it). Nothing the program
        // can see comes of the read, so it matters not who writes there meanwhile.
        unsafe {
            std::arch::asm!("mov {0:e}, dword ptr [{0}]", inout(reg) line => _, options(nostack, preserves_flags, readonly));
        }
        #[cfg(all(target_arch = "aarch64", not(miri)))]
        // SAFETY: as above.
        unsafe {
            std::arch::asm!("ldr {0:w}, [{0}]", inout(reg) line => _, options(nostack, preserves_flags, readonly));
        }
        #[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
        let _ = line;
    }
}
