//! What this thread touched after it last woke, to be fetched together when it wakes again.
//!
//! A robot's executor sleeps for milliseconds between bursts of work, and wakes with cold caches: then a burst is little else
//! than waiting for memory, one line after the other, as each is found through the one before. But periodic work touches the
//! same memory every time. So a spinning thread notes, after it woke, which entities it runs and publishes with, and asks for
//! all their lines at once when it wakes the next time: that takes about as long as waiting for a few of them. (Measured:
//! docs/decisions/0006. A prefetch instruction would need none of the care below, but processors drop it when the address
//! is not in the TLB either, which after a sleep is the rule.)
//!
//! What is noted is kept by a `Weak`, so that its memory stays a part of this process: an entity that is dropped is dropped in
//! full, only its empty allocation may stay until the thread woke once more. A thread that does the same after each wake-up
//! notes nothing new, and pays a comparison for it. Noting stops when the trail is full.

use super::scheduler::{Entity, Scheduler, State};
use crate::delivery::inbox::Inbox;
use crate::delivery::outlet::Outlet;
use crate::message::block::{Erased, Pool};
use crate::sync::Arc;
use std::cell::{Cell, RefCell};
use std::mem;
use std::sync::Weak;

/// Steps noted at most: some 30 publications and 30 callbacks.
const LENGTH: usize = 60;

/// The size of a cache line, or a good guess.
const LINE: usize = 64;

/// An entity this thread ran, or a publisher it published with.
enum Step {
    Ran(Weak<dyn Entity>, Option<Weak<Inbox>>),
    Published(Weak<Outlet>, Weak<Pool>),
}

thread_local! {
    /// How many steps were taken since the thread woke; `LENGTH` while it doesn't note them.
    static TAKEN: Cell<usize> = const { Cell::new(LENGTH) };
    /// Where what was touched in each step lies, as far as it is known.
    static KNOWN: [Cell<usize>; LENGTH] = const { [const { Cell::new(0) }; LENGTH] };
    /// What keeps the memory of each known step.
    static STEPS: RefCell<Vec<Step>> = const { RefCell::new(Vec::new()) };
}

/// Notes that what lies at `address` was touched; `step` says what it is if that is news.
#[inline]
fn note(address: usize, step: impl FnOnce() -> Step) {
    let taken = TAKEN.get();
    if taken >= LENGTH {
        return;
    }
    TAKEN.set(taken + 1);
    if KNOWN.with(|known| known[taken].replace(address)) != address {
        learn(taken, step());
    }
}

#[cold]
fn learn(taken: usize, step: Step) {
    let old = STEPS.with_borrow_mut(|steps| match steps.get_mut(taken) {
        Some(known) => Some(mem::replace(known, step)),
        None => {
            steps.push(step);
            None
        }
    });
    drop(old);
}

/// Notes that this thread runs the entity.
#[inline]
pub(crate) fn ran(entity: &Arc<dyn Entity>) {
    note(Arc::as_ptr(entity).addr(), || {
        Step::Ran(Arc::downgrade(entity), entity.inbox().map(Arc::downgrade))
    });
}

/// Notes that this thread publishes with the outlet.
#[inline]
pub(crate) fn published(outlet: &Arc<Outlet>) {
    note(Arc::as_ptr(outlet).addr(), || {
        Step::Published(Arc::downgrade(outlet), Arc::downgrade(&outlet.pool))
    });
}

/// While it lives, this thread notes what it touches. (A spin inside a callback goes on with the trail of the outer one.)
pub(crate) struct Noting(());

impl Noting {
    pub(crate) fn begin() -> Self {
        forget();
        Self(())
    }
}

impl Drop for Noting {
    fn drop(&mut self) {
        forget();
        TAKEN.set(LENGTH);
    }
}

fn forget() {
    let steps = STEPS.take();
    KNOWN.with(|known| known.iter().for_each(|address| address.set(0)));
    TAKEN.set(0);
    drop(steps);
}

/// Fetches what was noted, and begins to note anew. For a thread that has slept.
pub(crate) fn fetch() {
    if TAKEN.replace(0) == 0 {
        return;
    }
    for (code, lines) in hot_code() {
        touch_page(code, lines);
    }
    STEPS.with_borrow(|steps| {
        // What every message touches comes first in each of them, behind the counts of its `Arc`.
        for step in steps {
            match step {
                Step::Ran(entity, inbox) => {
                    touch_page(entity.as_ptr().addr(), 2);
                    if let Some(inbox) = inbox {
                        touch(inbox.as_ptr().addr(), 4);
                    }
                }
                Step::Published(outlet, pool) => {
                    touch(outlet.as_ptr().addr(), 2);
                    touch(pool.as_ptr().addr(), 1);
                }
            }
        }
        // A second time, as the way to these leads through memory that has just been asked for.
        let pools = steps.iter().filter_map(|step| match step {
            Step::Published(_, pool) => pool.upgrade(),
            Step::Ran(..) => None,
        });
        for pool in pools {
            pool.with_next_vacant(|block| touch_page(block, 1));
        }
    });
}

/// The code that every message goes through, and how many lines of it. (Generic code is not among it: it may lie in a library
/// that is unloaded before its memory is touched.)
fn hot_code() -> [(usize, usize); 6] {
    [
        (Outlet::publish as *const () as usize, 10),
        (Inbox::push as *const () as usize, 10),
        (Inbox::take as *const () as usize, 7),
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
