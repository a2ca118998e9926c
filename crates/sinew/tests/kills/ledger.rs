//! An actor's record of what it received from each writer, and the check that it is right.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::fmt::Display;
use std::sync::atomic::{AtomicU64, Ordering};

/// The ways in which an actor receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(usize)]
pub(crate) enum Way {
    /// A topic whose publishers wait for their subscriptions.
    Lossless,
    /// A topic whose publishers retain the last messages for late joiners.
    Retained,
    /// Large messages that are built in shared memory, and held for a while.
    Large,
    /// Answers of servers.
    Answers,
    /// Goals that ended properly.
    Goals,
    /// Parameters of others that were set and read.
    Parameters,
    /// Managed nodes of others that changed their state.
    Transitions,
    /// A queue without nodes.
    Queue,
    /// A topic without nodes.
    Latest,
    /// A variable.
    Variable,
    /// Timers and guard conditions of this process.
    Timers,
}

/// Number of ways.
pub(crate) const WAYS: usize = Way::Timers as usize + 1;

/// Counts messages, and records errors.
#[derive(Default)]
pub(crate) struct Ledger {
    counts: [AtomicU64; WAYS],
    last: Mutex<HashMap<(Way, u64), u64>>,
    complaints: Mutex<Vec<String>>,
}

impl Ledger {
    pub(crate) fn complain(&self, what: impl Display) {
        self.complaints.lock().push(what.to_string());
    }

    pub(crate) fn count(&self, way: Way) {
        self.counts[way as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Notes a message: each must be later than the one before, and for some ways none may be
    /// missing.
    pub(crate) fn came(&self, way: Way, writer: u64, number: u64) {
        let before = self.last.lock().insert((way, writer), number);
        let is_next = match (before, way) {
            (None, _) => true,
            (Some(before), Way::Lossless | Way::Queue) => number == before + 1,
            (Some(before), _) => number > before,
        };
        if !is_next {
            self.complain(format!("{way:?} of {writer:x}: {number} comes after {before:?}"));
        }
        self.count(way);
    }

    /// Accepts any next number for this way.
    pub(crate) fn begin_again(&self, way: Way) {
        self.last.lock().retain(|(other, _), _| *other != way);
    }

    /// Returns the counts and the errors.
    pub(crate) fn report(&self) -> String {
        let counts = self.counts.each_ref().map(|count| count.load(Ordering::Relaxed).to_string());
        format!("{} | {}", counts.join(" "), self.complaints.lock().join("; "))
    }
}
