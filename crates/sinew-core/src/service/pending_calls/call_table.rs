//! The places of a client's calls.

use super::{Call, CallId};
use crate::executor::crew::scheduler::index;
use slab::Slab;

/// The calls of a client. The first call is stored inline: most clients wait for one call at a
/// time, which then touches no memory elsewhere.
#[derive(Default)]
pub(super) struct CallTable {
    first: Option<Call>,
    /// Indexed by place minus one.
    others: Slab<Call>,
}

impl CallTable {
    pub(super) fn insert(&mut self, call: Call) -> u32 {
        if self.first.is_none() {
            self.first = Some(call);
            return 0;
        }
        index(self.others.insert(call) + 1)
    }

    pub(super) fn get_mut(&mut self, place: u32) -> Option<&mut Call> {
        match place.checked_sub(1) {
            None => self.first.as_mut(),
            Some(other) => self.others.get_mut(other as usize),
        }
    }

    pub(super) fn remove(&mut self, place: u32) -> Option<Call> {
        match place.checked_sub(1) {
            None => self.first.take(),
            Some(other) => self.others.try_remove(other as usize),
        }
    }

    /// Returns the calls without an outcome.
    pub(super) fn open(&self) -> impl Iterator<Item = (CallId, &Call)> + '_ {
        let others = self.others.iter().map(|(place, call)| (place + 1, call));
        let all = self.first.iter().map(|call| (0, call)).chain(others);
        all.filter(|(_, call)| call.outcome.is_none()).map(|(place, call)| {
            let place = index(place);
            (CallId { place, sequence: call.sequence }, call)
        })
    }
}
