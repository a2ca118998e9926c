//! The QoS by which publishers of a topic share a path.

use sinew::QoS;
use sinew::qos::{Durability, History, Reliability};

/// Number of messages that a carrier of keep_all publishers keeps while the session makes it wait.
const KEPT: usize = 1000;

/// Returns the number of messages that a publisher retains, or that wait for it at most.
pub(super) fn depth_of(qos: &QoS) -> usize {
    match qos.history {
        History::KeepLast(depth) => depth,
        _ => qos.max_samples.unwrap_or(KEPT),
    }
}

/// Returns `true` if a publisher retains messages for late joiners.
pub(super) fn has_history(qos: &QoS) -> bool {
    qos.durability == Durability::TransientLocal
}

/// The common QoS of a carrier's publishers. The carrier requests as much as they offer, so each
/// publisher's messages reach the network with all its promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct QosClass {
    pub(super) is_reliable: bool,
    pub(super) is_transient_local: bool,
    pub(super) keeps_all: bool,
}

impl QosClass {
    pub(super) fn of(qos: &QoS) -> Self {
        Self {
            is_reliable: qos.reliability == Reliability::Reliable,
            is_transient_local: qos.durability == Durability::TransientLocal,
            keeps_all: !matches!(qos.history, History::KeepLast(_)),
        }
    }

    /// Returns the QoS that the carrier requests.
    pub(super) fn asked(self, depth: usize) -> QoS {
        let qos = if self.keeps_all { QoS::new().keep_all() } else { QoS::new().keep_last(depth) };
        let qos = if self.is_reliable { qos } else { qos.best_effort() };
        if self.is_transient_local { qos.transient_local() } else { qos }
    }
}
