//! What this thread touches in its bursts of work, to be fetched together when it wakes for the next one.
//!
//! A robot's executor sleeps for milliseconds between bursts of work, and wakes with cold caches: then a burst is little else
//! than waiting for memory, one line after the other, as each is found through the one before. But most of the work is
//! periodic, and touches the same memory every time. So a spinning thread notes which entities it runs and publishes with, and
//! when it wakes asks for the lines of all it used in its last few bursts at once: that takes about as long as waiting for a
//! few of them. (Measured: docs/decisions/0006. A prefetch instruction would need none of the care below, but processors drop
//! it when the address is not in the TLB either, which after a sleep is the rule.)
//!
//! What is noted is kept by a `Weak`, so that its memory stays a part of this process: an entity that is dropped is dropped in
//! full, only its empty allocation stays for a few bursts. An entity says itself at which place it is noted ([`Place`]), so for
//! what is known already a note is a comparison. It is a hint in every respect: places are written by any thread, and one that
//! is wrong costs a search.

use super::scheduler::{Entity, Scheduler};
use super::state::State;
use crate::delivery::inbox::Inbox;
use crate::delivery::outlet::Outlet;
use crate::message::block::{Erased, Pool};
use crate::sync::{Arc, HintU32, Ordering};
use std::cell::{Cell, RefCell};
use std::sync::Weak;

/// How many entities are noted at most. More would push one another out of the nearest cache.
const LENGTH: usize = 160;

/// How many are learnt in one burst at most: a thread that works through thousands of entities doesn't spend its time on notes.
const LEARNT_PER_BURST: usize = 64;

/// After so many bursts without being used, an entity is forgotten.
const FORGOTTEN_AFTER: u8 = 200;

/// The size of a cache line, or a good guess.
const LINE: usize = 64;

/// Where an entity is noted in the trail of the thread that used it last. Part of the entity.
pub(crate) struct Place(HintU32);

impl Place {
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

/// What else an entity uses each time it runs, and the size of that.
pub(crate) type Rest = (Weak<dyn Send + Sync>, usize);

/// An entity this thread ran, or a publisher it published with.
enum Step {
    Ran(Weak<dyn Entity>, Option<Rest>),
    Published(Weak<Outlet>, Weak<Pool>),
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
            hand: Cell::new(0),
        }
    };
    /// What is noted at each place.
    static STEPS: RefCell<Vec<Option<Step>>> = const { RefCell::new(Vec::new()) };
}

/// Notes that what lies at `address` is used; `step` says what it is if that is news.
#[inline]
fn note(address: usize, place: &Place, step: impl FnOnce() -> Step) {
    NOTES.with(|notes| {
        let at = place.get();
        if at < LENGTH && notes.known[at].get() == address {
            notes.age[at].set(0);
        } else if notes.learnable.get() > 0 {
            notes.learn(address, place, step);
        }
    });
}

impl Notes {
    #[cold]
    fn learn(&self, address: usize, place: &Place, step: impl FnOnce() -> Step) {
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
        STEPS.with_borrow_mut(|steps| {
            if steps.len() <= at {
                steps.resize_with(at + 1, || None);
            }
            steps[at] = Some(step());
        });
    }

    /// Forgets what has not been used for a while. Its memory is let go of by the caller.
    #[must_use]
    fn grow_older(&self, steps: &mut [Option<Step>]) -> Vec<Step> {
        let mut forgotten = Vec::new();
        for (at, step) in steps.iter_mut().enumerate().filter(|(_, step)| step.is_some()) {
            let age = self.age[at].get() + 1;
            self.age[at].set(age);
            if age > FORGOTTEN_AFTER {
                self.known[at].set(0);
                forgotten.extend(step.take());
            }
        }
        forgotten
    }
}

/// Notes that this thread runs the entity.
#[inline]
pub(crate) fn ran(entity: &Arc<dyn Entity>) {
    let address = Arc::as_ptr(entity).addr();
    note(address, entity.place(), || Step::Ran(Arc::downgrade(entity), entity.rest()));
}

/// Notes that this thread publishes with the outlet.
#[inline]
pub(crate) fn published(outlet: &Arc<Outlet>) {
    let address = Arc::as_ptr(outlet).addr();
    note(address, &outlet.place, || Step::Published(Arc::downgrade(outlet), Arc::downgrade(&outlet.pool)));
}

/// While it lives, this thread takes notes. (A spin inside a callback goes on with those of the outer one.)
pub(crate) struct Noting {
    outer: bool,
}

impl Noting {
    pub(crate) fn begin() -> Self {
        NOTES.with(|notes| {
            notes.learnable.set(LEARNT_PER_BURST);
            Self { outer: notes.takes_notes.replace(true) }
        })
    }
}

impl Drop for Noting {
    fn drop(&mut self) {
        if self.outer {
            return;
        }
        let steps = STEPS.take();
        NOTES.with(|notes| {
            notes.takes_notes.set(false);
            notes.learnable.set(0);
            notes.known.iter().for_each(|known| known.set(0));
        });
        drop(steps);
    }
}

/// Fetches what was noted. For a thread that has slept.
pub(crate) fn fetch() {
    for (code, lines) in hot_code() {
        touch_page(code, lines);
    }
    let forgotten = STEPS.with_borrow_mut(|steps| {
        // What every message touches comes first in each of them, behind the counts of its `Arc`.
        for step in steps.iter().flatten() {
            match step {
                Step::Ran(entity, rest) => {
                    touch_page(entity.as_ptr().addr(), 2);
                    if let Some((rest, size)) = rest {
                        touch(rest.as_ptr().addr(), size.div_ceil(LINE).min(4));
                    }
                }
                Step::Published(outlet, pool) => {
                    touch(outlet.as_ptr().addr(), 2);
                    touch(pool.as_ptr().addr(), 1);
                }
            }
        }
        // A second time, as the way to these leads through memory that has just been asked for.
        for step in steps.iter().flatten() {
            if let Step::Published(_, pool) = step
                && let Some(pool) = pool.upgrade()
            {
                pool.with_next(|block| touch_page(block, 2));
            }
        }
        NOTES.with(|notes| {
            notes.learnable.set(LEARNT_PER_BURST);
            notes.grow_older(steps)
        })
    });
    drop(forgotten);
}

/// The code that every message goes through, and how many lines of it. (Generic code is not among it: it may lie in a library
/// that is unloaded before its memory is touched.)
fn hot_code() -> [(usize, usize); 6] {
    [
        (Outlet::publish as *const () as usize, 10),
        (Inbox::push as *const () as usize, 10),
        (Inbox::take_as as *const () as usize, 7),
        (Scheduler::next as *const () as usize, 12),
        (State::put_back as *const () as usize, 5),
        (Erased::let_go as *const () as usize, 5),
    ]
}

/// Reads lines of memory without using them, as far as they are on the page of the first.
fn touch_page(address: usize, lines: usize) {
    let page_end = address | 4095;
    touch(address, lines.min((page_end - address) / LINE + 1));
}

/// Reads lines of memory without using them, nor waiting for them.
#[inline]
fn touch(address: usize, lines: usize) {
    for line in 0..lines {
        let line = address + line * LINE;
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        // SAFETY: the address is on a page of this process (`fetch`: kept by a `Weak`, code, or a block under its pool's
        // lock). Nothing the program can see comes of the read, so it matters not who writes there meanwhile.
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
