//! What this thread touches in its bursts of work, to be fetched together when it wakes for the
//! next one.
//!
//! A robot's executor sleeps for milliseconds between bursts of work, and wakes with cold caches:
//! then a burst is little else than waiting for memory, one line after the other, as each is found
//! through the one before. But most of the work is periodic, and touches the same memory every
//! time. So a spinning thread notes which entities it runs and publishes with, and when it wakes
//! asks for the lines of all it used in its last few bursts at once: that takes about as long as
//! waiting for a few of them. (Measured: docs/internals/decisions/0006. A prefetch instruction
//! would need none of the care below, but processors drop it when the address is not in the TLB
//! either, which after a sleep is the rule.)
//!
//! What is noted is kept by a `Weak`, so that its memory stays a part of this process: an entity
//! that is dropped is dropped in full, only its empty allocation stays for a few bursts. An entity
//! says itself at which place it is noted ([`NoteIndex`]), so for what is known already a note is a
//! comparison. It is a hint in every respect: places are written by any thread, and one that is
//! wrong costs a search.

use crate::message::block::Pool;
use crate::sys::clock::Time;
use crate::sys::sync::{Arc, HintU32, Ordering};
use std::cell::{Cell, RefCell};
use std::sync::Weak;

/// How many entities are noted at most. More would push one another out of the nearest cache.
const LENGTH: usize = 256;

/// How many are learnt in one burst at most: a thread that works through thousands of entities
/// doesn't spend its time on notes.
const LEARNT_PER_BURST: usize = 64;

/// After so many bursts without being used, an entity is forgotten.
const FORGOTTEN_AFTER: u8 = 200;

/// A thread that was away for so long, in nanoseconds, has lost what it had in its caches.
pub(super) const AWAY: i64 = 200_000;

/// So much of the stack is fetched at most, in bytes.
const MOST_STACK: usize = 32 * 1024;

/// The size of an `Arc`'s counts.
const COUNTS: usize = 2 * size_of::<usize>();

/// The size of a cache line, or a good guess.
const LINE: usize = 64;

/// Where an entity is noted by the thread that used it last. Part of the entity.
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
        self.0.load(Ordering::Relaxed) as usize // a hint: nothing rides on it
    }

    fn set(&self, place: usize) {
        self.0.store(u32::try_from(place).unwrap_or(0), Ordering::Relaxed); // as above
    }
}

/// Memory and code that an entity uses on each run.
pub(crate) type HotSet = Vec<Part>;

/// Something that is used together with an entity, a publisher or a client.
#[derive(Clone)]
pub(crate) enum Part {
    /// A value, and how many of its first bytes.
    Value(Weak<dyn Send + Sync>, usize),
    /// A pool: the block that will be lent next.
    Pool(Weak<Pool>),
    /// What is found by following pointers.
    Deep(Weak<dyn Footprint>),
    Code(Code),
}

/// Memory that is found by following pointers.
pub(crate) trait Footprint: Send + Sync {
    /// Names what is found by following `level` of them, as addresses and lengths in bytes. False:
    /// there is nothing behind it.
    fn look(&self, level: usize, name: &mut dyn FnMut(usize, usize)) -> bool;
}

/// Names functions that are not generic (generic code may lie in a library that is unloaded), as
/// their addresses and how many of their first lines run each time.
pub(crate) type Code = fn(&mut dyn FnMut(usize, usize));

impl Part {
    /// A value, with all its lines up to so many.
    pub(crate) fn value<T: Send + Sync + 'static>(value: &Arc<T>, most: usize) -> Self {
        Self::weak(Arc::downgrade(value), most)
    }

    pub(crate) fn weak<T: Send + Sync + 'static>(value: Weak<T>, most: usize) -> Self {
        Self::Value(value, size_of::<T>().min(most * LINE))
    }

    pub(crate) fn pool(pool: &Arc<Pool>) -> Self {
        Self::Pool(Arc::downgrade(pool))
    }
}

/// What is compared and written for every note, in as few lines as possible.
struct Notes {
    /// Where what is noted at each place lies; 0 for nothing.
    known: [Cell<usize>; LENGTH],
    /// In how many bursts it has not been used.
    age: [Cell<u8>; LENGTH],
    /// How many may be learnt before the next sleep; 0 in a thread that takes no notes.
    learnable: Cell<usize>,
    takes_notes: Cell<bool>,
    /// When it took its last notes, as far as it says so.
    left_at: Cell<i64>,
    /// How deep the stack was in the last burst: the lowest address.
    deepest: Cell<usize>,
    /// Where to look for a free place.
    hand: Cell<usize>,
}

thread_local! {
    static NOTES: Notes = const {
        Notes {
            known: [const { Cell::new(0) }; LENGTH],
            age: [const { Cell::new(0) }; LENGTH],
            learnable: Cell::new(0),
            takes_notes: Cell::new(false),
            left_at: Cell::new(0),
            deepest: Cell::new(usize::MAX),
            hand: Cell::new(0),
        }
    };
    /// What is held for the time of a fetch, in a list that keeps its room.
    static HELD: Cell<Vec<Arc<dyn Footprint>>> = const { Cell::new(Vec::new()) };
    /// The code of what is noted, and for how many places.
    static CODE: RefCell<Vec<(Code, usize)>> = const { RefCell::new(Vec::new()) };
    /// What is noted, with its place.
    static PARTS: RefCell<Vec<(usize, Part)>> = const { RefCell::new(Vec::new()) };
}

/// Notes that what lies at `address` is used; `parts` says what it is if that is news.
#[inline]
pub(crate) fn note(address: usize, place: &NoteIndex, parts: impl FnOnce() -> HotSet) {
    NOTES.with(|notes| {
        let depth = stack_address();
        if depth < notes.deepest.get() {
            notes.deepest.set(depth);
        }
        let at = place.get();
        if at < LENGTH && notes.known[at].get() == address {
            notes.age[at].set(0);
        } else if notes.learnable.get() > 0 {
            notes.learn(address, place, parts());
        }
    });
}

impl Notes {
    #[cold]
    fn learn(&self, address: usize, place: &NoteIndex, parts: HotSet) {
        self.learnable.set(self.learnable.get() - 1);
        if let Some(at) = self.known.iter().position(|known| known.get() == address) {
            place.set(at); // another thread uses it, too
            return;
        }
        let Some(at) =
            (self.hand.get()..LENGTH).chain(0..self.hand.get()).find(|&at| self.known[at].get() == 0)
        else {
            return; // as many as are worth it
        };
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
            // Now, when it allocates anyway: the first fetch may come when all else is long warm.
            let mut held = HELD.with(Cell::take);
            held.reserve(known.len());
            HELD.with(|place| place.set(held));
        });
    }

    /// Forgets what has not been used for a while. Its memory is let go of by the caller.
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

/// One place more has this code.
fn learn_code(code: Code) {
    CODE.with_borrow_mut(|all| match all.iter_mut().find(|(known, _)| std::ptr::fn_addr_eq(*known, code)) {
        Some((_, places)) => *places += 1,
        None => all.push((code, 1)),
    });
}

/// One place less has this code.
fn forget_code(code: Code) {
    CODE.with_borrow_mut(|all| {
        if let Some((_, places)) = all.iter_mut().find(|(known, _)| std::ptr::fn_addr_eq(*known, code)) {
            *places -= 1;
        }
    });
}

/// While it lives, this thread takes notes. (A spin inside a callback goes on with those of the
/// outer one.) They are kept for the next time, when it fetches them if it has been away for long.
pub(crate) struct Noting {
    outer: bool,
    code: Code,
}

impl Noting {
    /// `code`: what runs whatever is noted.
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
                notes.left_at.set(Time::steady().nanoseconds());
            });
        }
    }
}

/// This thread takes notes from now on, though it doesn't spin: it calls services, and their
/// servers may run on it.
#[inline]
pub(crate) fn take_notes(now: i64) {
    NOTES.with(|notes| {
        if !notes.takes_notes.get() && notes.learnable.get() == 0 {
            notes.learnable.set(LEARNT_PER_BURST);
        }
    });
    come_back(now);
}

/// This thread does something at `now` that it may not have done for a while: then it fetches what
/// that takes.
#[inline]
pub(crate) fn come_back(now: i64) {
    let away = NOTES.with(|notes| now.saturating_sub(notes.left_at.replace(now)));
    if away > AWAY {
        fetch();
    }
}

/// Fetches what was noted. For a thread that has slept.
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
                Part::Pool(pool) => touch_value(pool.as_ptr().addr(), LINE),
                Part::Deep(_) | Part::Code(_) => {} // the former are values as well
            }
        }
        // A second time, as the way to these leads through memory that has just been asked for.
        for (_, part) in parts.iter() {
            match part {
                Part::Pool(pool) => {
                    if let Some(pool) = pool.upgrade() {
                        pool.with_next(|block| touch_page(block, 2));
                    }
                }
                Part::Deep(footprint) => held.extend(footprint.upgrade()),
                Part::Value(..) | Part::Code(_) => {}
            }
        }
        follow(&mut held);
        NOTES.with(|notes| {
            notes.learnable.set(LEARNT_PER_BURST);
            notes.grow_older(parts)
        })
    });
    for (_, part) in &forgotten {
        if let Part::Code(code) = part {
            forget_code(*code);
        }
    }
    drop(forgotten);
    held.clear(); // perhaps the last to hold them: not before
    HELD.with(|place| place.set(held));
}

/// Fetches what is found by following pointers: of all at once, one level after the other.
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

fn touch_bytes(address: usize, bytes: usize) {
    touch_page(address, bytes.div_ceil(LINE));
}

/// An address on the stack, near its end.
#[inline]
fn stack_address() -> usize {
    let here = 0_u8;
    std::hint::black_box(&raw const here).addr()
}

/// Reads the part of the stack that the last burst used. (Calls inside calls go deep: a kilobyte or
/// two each.)
fn touch_stack() {
    let here = stack_address();
    let deepest = NOTES.with(|notes| notes.deepest.replace(usize::MAX));
    // This thread has used its stack down to there, so it is mapped, and stays so as long as the
    // thread lives.
    touch(deepest.max(here.saturating_sub(MOST_STACK)), here.saturating_sub(deepest).min(MOST_STACK) / LINE);
}

/// Reads the lines of a value in an `Arc`, with those of its counts, which stand before it.
fn touch_value(address: usize, size: usize) {
    let first = (address - COUNTS) & !(LINE - 1);
    touch(first, (address + size - first).div_ceil(LINE));
}

/// Reads lines of memory without using them, as far as they are on the page of the first.
fn touch_page(address: usize, lines: usize) {
    let address = address & !(LINE - 1); // so that no read crosses into another page
    let page_end = address | 4095;
    touch(address, lines.min((page_end - address) / LINE + 1));
}

/// Reads lines of memory without using them, nor waiting for them.
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
