//! Threads that do a part of a work at the same time, of which the last one to leave reports the
//! end.
//!
//! # Protocol
//!
//! A lock outside, which every thread holds for O1 and O2, orders them: the end is reported after
//! every thread has left that entered before the mark.
//!
//! - O1 [`LastOut::enter`]: a thread is counted.
//! - O2 [`Inside::mark`]: a thread that is counted sets the mark. So the count is not 0 until that
//!   thread leaves, which finds the mark unless another one has taken it.
//! - O3 [`Inside::leave`]: a thread is no longer counted. The one that leaves nobody behind takes
//!   the mark, if there is one: it alone reports the end.
//!
//! A thread that panics leaves without taking a mark, which then stays for the next last one.

use super::sync::{AtomicBool, AtomicUsize, Ordering};
use std::mem;

/// See the module's documentation.
#[derive(Debug)]
pub(crate) struct LastOut {
    inside: AtomicUsize,
    is_marked: AtomicBool,
}

impl LastOut {
    pub(crate) fn new() -> Self {
        Self { inside: AtomicUsize::new(0), is_marked: AtomicBool::new(false) }
    }

    /// O1. Relaxed: O3 orders the threads.
    #[inline]
    pub(crate) fn enter(&self) -> Inside<'_> {
        self.inside.fetch_add(1, Ordering::Relaxed);
        Inside(self)
    }
}

/// A thread that is counted.
pub(crate) struct Inside<'a>(&'a LastOut);

impl Inside<'_> {
    /// O2: the end is to be reported. Relaxed: O3 carries it.
    pub(crate) fn mark(&self) {
        self.0.is_marked.store(true, Ordering::Relaxed);
    }

    /// O3. Returns whether this thread reports the end.
    #[inline]
    pub(crate) fn leave(self) -> bool {
        let all = self.0;
        mem::forget(self);
        // Release: carries this thread's part, and its mark. Acquire: sees those of the threads
        // that left before.
        all.inside.fetch_sub(1, Ordering::AcqRel) == 1
            && all.is_marked.load(Ordering::Relaxed)
            && all.is_marked.swap(false, Ordering::Relaxed)
    }
}

impl Drop for Inside<'_> {
    /// After a panic.
    fn drop(&mut self) {
        self.0.inside.fetch_sub(1, Ordering::AcqRel);
    }
}
