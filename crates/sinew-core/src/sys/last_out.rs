//! Threads that do a part of a work at the same time, of which the last one to leave reports the
//! end.
//!
//! # Protocol
//!
//! A lock outside, which every thread holds for O1 and O2, orders them: the end is reported after
//! every thread has left that entered before the mark. The count and the mark are one word: with
//! two, a thread could be the last one out, and then find the mark of one that has just entered.
//!
//! - O1 [`LastOut::enter`]: a thread is counted.
//! - O2 [`Inside::mark`]: a thread that is counted sets [`MARK`]. So the count is not 0 until that
//!   thread leaves.
//! - O3 [`Inside::leave`]: a thread is no longer counted. The last one out takes
//!   the mark in the same step, if there is one: it alone reports the end.
//!
//! A thread that panics leaves without taking a mark, which then stays for the next last one.

use super::sync::{AtomicUsize, Ordering};
use std::mem;

/// The end is to be reported.
const MARK: usize = 1;
/// One thread that is counted.
const ONE: usize = 2;

/// See the module's documentation.
#[derive(Debug)]
pub(crate) struct LastOut(AtomicUsize);

impl LastOut {
    pub(crate) fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    /// O1. Relaxed: O3 orders the threads.
    #[inline]
    pub(crate) fn enter(&self) -> Inside<'_> {
        self.0.fetch_add(ONE, Ordering::Relaxed);
        Inside(&self.0)
    }
}

/// A thread that is counted.
pub(crate) struct Inside<'a>(&'a AtomicUsize);

impl Inside<'_> {
    /// O2. Relaxed: the lock outside orders it with O1, and O3 carries it.
    pub(crate) fn mark(&self) {
        self.0.fetch_or(MARK, Ordering::Relaxed);
    }

    /// O3. Returns whether this thread reports the end.
    #[inline]
    pub(crate) fn leave(self) -> bool {
        let word = self.0;
        mem::forget(self);
        let mut before = word.load(Ordering::Relaxed);
        loop {
            let is_end = before == ONE | MARK;
            let after = if is_end { 0 } else { before - ONE };
            // Release: carries this thread's part. Acquire: sees those of the threads that left
            // before.
            match word.compare_exchange_weak(before, after, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return is_end,
                Err(now) => before = now,
            }
        }
    }
}

impl Drop for Inside<'_> {
    /// After a panic.
    fn drop(&mut self) {
        self.0.fetch_sub(ONE, Ordering::AcqRel);
    }
}
