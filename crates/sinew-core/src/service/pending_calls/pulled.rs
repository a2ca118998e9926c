//! Calls with outcomes that the program takes by hand.
//!
//! Such a call keeps its place among the client's calls from `send` until its outcome is taken, or
//! the call is withdrawn or given up. The thread that settles it adds its id to the queue here. So
//! the queue never holds more than the calls that the client's limit allows, and nothing in it
//! gives way to anything.

use super::{CallId, CallOutcome, PendingCalls};
use std::collections::VecDeque;

/// See the module's documentation. Kept under the lock of the client's calls.
#[derive(Default)]
pub(super) struct PulledCalls {
    /// Number of calls with outcomes that were not taken, settled or not.
    held: usize,
    /// Settled calls in the order in which they were settled, with the steady time in nanoseconds
    /// at which each was answered or failed.
    settled: VecDeque<(CallId, i64)>,
}

impl PulledCalls {
    /// Adds a settled call.
    pub(super) fn settle(&mut self, id: CallId, answered: i64) {
        self.settled.push_back((id, answered));
    }

    /// Returns the number of settled calls.
    pub(super) fn waiting(&self) -> usize {
        self.settled.len()
    }

    /// Forgets a call that gave up its place.
    pub(super) fn forget(&mut self, id: CallId) {
        self.held -= 1;
        // The first one, if its outcome was taken.
        if let Some(place) = self.settled.iter().position(|(other, _)| *other == id) {
            self.settled.remove(place);
        }
    }
}

impl PendingCalls {
    /// Reserves the place of a call with an outcome that is taken by hand. Returns `false` if there
    /// are `limit` of them.
    pub(crate) fn reserve(&self, limit: usize) -> bool {
        let mut state = self.state.lock();
        let fits = state.pulled.held < limit;
        state.pulled.held += usize::from(fits);
        fits
    }

    /// Takes the outcome of the call that was settled first, with the steady time in nanoseconds at
    /// which it was answered or failed.
    pub(crate) fn take_settled(&self) -> Option<(CallId, i64, CallOutcome)> {
        let mut state = self.state.lock();
        let (id, answered) = *state.pulled.settled.front()?;
        let call = state.remove(id)?;
        Some((id, answered, call.outcome?))
    }
}
