//! The gateway's reports for tools: counters in the memory that its participant publishes.

use super::shared::Shared;
use sinew::__private::locks::Mutex;
use sinew_shm::Endpoint;
use sinew_shm::transport::{Counters, OwnEndpoint, Participant};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Announces the gateway's endpoints and reports to tools.
#[derive(Clone)]
pub(super) struct Reports {
    participant: Arc<Participant>,
    shared: Arc<Shared>,
    /// Number of the next endpoint or report.
    next_number: Arc<AtomicU64>,
}

impl Reports {
    pub(super) fn new(participant: &Arc<Participant>, shared: &Arc<Shared>) -> Self {
        let next_number = Arc::new(AtomicU64::new(1));
        Self { participant: participant.clone(), shared: shared.clone(), next_number }
    }

    /// Announces an endpoint or a report under a number of its own, until the result is dropped.
    pub(super) fn tell(&self, endpoint: Endpoint) -> Option<OwnEndpoint> {
        let number = self.next_number.fetch_add(1, Ordering::Relaxed) + 1; // only a number
        let name = endpoint.name.clone();
        let told = self.participant.advertise(&Endpoint { number, ..endpoint }, None);
        told.inspect_err(|error| {
            self.shared.says_once("told", || format!("{name} of the network isn't announced here: {error}"));
        })
        .ok()
    }

    /// Returns the counters of a report.
    pub(super) fn words(&self, report: Endpoint) -> Words {
        Words(self.tell(report).map(|told| (told.counters(), Mutex::new(told))))
    }
}

/// The counters of a report; any thread may count. If there is no room for them, nothing is
/// counted.
pub(super) struct Words(Option<(Counters, Mutex<OwnEndpoint>)>);

impl Words {
    pub(super) fn count(&self, word: usize, more: u64) {
        if let Some((counters, _)) = &self.0 {
            counters.count(word, more);
        }
    }

    pub(super) fn set(&self, word: usize, value: u64) {
        if let Some((counters, _)) = &self.0 {
            counters.store(word, value);
        }
    }

    /// Returns the current value.
    pub(super) fn get(&self, word: usize) -> u64 {
        self.0.as_ref().map_or(0, |(_, told)| told.lock().counts().word(word))
    }
}
