//! A thread that asks for work, and how precisely it sleeps meanwhile.

use crate::clock;
use std::mem;

/// A thread that asks for work.
pub(crate) struct Worker {
    pub(crate) index: u32,
    pub(super) slack: Slack,
    /// When it woke up last.
    pub(super) now: i64,
}

impl Worker {
    pub(crate) fn new(index: u32) -> Self {
        Self { index, slack: Slack::new(), now: 0 }
    }
}

/// A thread's timer slack, while it spins.
pub(super) struct Slack {
    before: Option<u64>,
    tightened: bool,
}

impl Slack {
    fn new() -> Self {
        Self { before: None, tightened: false }
    }

    pub(super) fn tighten(&mut self) {
        if !mem::replace(&mut self.tightened, true) {
            self.before = clock::precise_waits();
        }
    }
}

impl Drop for Slack {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            clock::restore_waits(before);
        }
    }
}
