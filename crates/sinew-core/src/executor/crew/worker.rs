//! A thread that asks for work, and how precisely it sleeps meanwhile.

use super::lane::InLane;
use super::wake_policy::SAMPLED;
use crate::sys::clock;
use crate::sys::sync::Arc;
use sinew_shm::Worker as Teller;
use std::mem;

/// A thread that asks for work.
pub(crate) struct Worker {
    pub(crate) index: u32,
    pub(super) slack: Slack,
    /// When it woke up last.
    pub(super) now: i64,
    pub(super) heard: LastPoll,
    /// The task of its lane that it is to run.
    pub(crate) task: Option<InLane>,
    /// What tools are told of what the workers are at, while it runs tasks of its lane.
    pub(super) tellers: Option<Arc<[Teller]>>,
}

/// What a thread knows of its last look at what other processes have sent.
///
/// A look costs as much as a short callback. So what was published before a look may run without
/// another one after it: what the next look could bring was published later, and runs later. That
/// goes for short callbacks, and for a few of them.
#[derive(Default)]
pub(super) struct LastPoll {
    /// When the look began, in steady nanoseconds.
    at: i64,
    /// How many callbacks may run before the next one; 0 if the worker didn't look at the clock.
    left: u8,
    /// Whether there was a look.
    has_begun: bool,
}

/// How many callbacks may run between two looks at most.
const UNHEARD: u8 = SAMPLED;

impl LastPoll {
    /// When the last look was, if another callback may do with it.
    #[inline]
    pub(super) fn lasts(&mut self) -> Option<i64> {
        self.left = self.left.saturating_sub(1);
        (self.left > 0).then_some(self.at)
    }

    /// A look begins. `now` is 0 if the worker didn't look at the clock.
    pub(super) fn begins(&mut self, now: i64) {
        *self = Self { at: now, left: if now == 0 { 0 } else { UNHEARD }, has_begun: true };
    }

    /// Whether there was a look.
    #[inline]
    pub(super) fn has_begun(&self) -> bool {
        self.has_begun
    }
}

impl Worker {
    pub(crate) fn new(index: u32) -> Self {
        Self { index, slack: Slack::new(), now: 0, heard: LastPoll::default(), task: None, tellers: None }
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
