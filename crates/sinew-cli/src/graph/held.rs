//! What holds processes up: callbacks that last, and what waits for them meanwhile.
//!
//! A process in a long callback fetches nothing, so its own counters stand still and look healthy.
//! What waits for it is counted from outside ([`Snapshot::unread`](sinew_shm::Snapshot::unread)),
//! and what it is in it has noted before.

use std::collections::HashSet;

use serde::Serialize;
use sinew::QoS;
use sinew::event::Mismatch;
use sinew::qos::History;
use sinew_shm::{Callback, Counter, Endpoint, EndpointKey, EndpointKind, Peer};

use crate::observed::{EndpointId, ObservedDomain, ObservedEndpoint};
use sinew_bench::table::time;

/// A callback that lasts so long, in nanoseconds, is told of.
const LONG_NS: i64 = 100_000_000;

/// An executor is stuck whose callback lasts so long, in nanoseconds, while work waits.
pub(crate) const STUCK_NS: i64 = 1_000_000_000;

/// A long callback that a thread is in.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Held {
    /// Such as "the callback of /chatter".
    pub(crate) callback: String,
    /// Whose it is, unless that is gone.
    pub(crate) node: Option<String>,
    /// For how long.
    pub(crate) nanoseconds: i64,
    /// Tells the executors of a process apart.
    executor: u64,
    /// Which of the executor's threads.
    worker: u64,
}

impl Held {
    #[cfg(test)]
    pub(crate) fn of(node: &str, callback: &str, nanoseconds: i64) -> Self {
        let (node, callback) = (Some(node.to_owned()), callback.to_owned());
        Self { callback, node, nanoseconds, executor: 1, worker: 0 }
    }

    /// "in the callback of /chatter since 4.20 s".
    pub(crate) fn text(&self) -> String {
        format!("in {} since {}", self.callback, time(self.nanoseconds as f64))
    }
}

/// What waits for an end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// In its history.
    pub(crate) fetched: u64,
    /// In the memory of other processes, where its own one hasn't fetched it.
    pub(crate) unread: u64,
}

impl Waiting {
    pub(crate) fn all(self) -> u64 {
        self.fetched.saturating_add(self.unread)
    }
}

/// An end for which work waited at a moment, and how much it had taken until then.
pub(crate) type Waits = (EndpointId, u64);

impl ObservedDomain {
    /// The long callbacks that threads of a process are in.
    pub(crate) fn held(&self, peer: &Peer) -> Vec<Held> {
        let held = |busy: sinew_shm::Busy| {
            let nanoseconds = self.at_ns.saturating_sub(busy.since);
            let node = || self.entity_of(peer, busy.callback).map(|entity| entity.node.clone());
            (nanoseconds >= LONG_NS).then(|| Held {
                callback: self.callback(peer, busy.callback),
                node: node(),
                nanoseconds,
                executor: busy.executor,
                worker: busy.worker,
            })
        };
        peer.busy().into_iter().filter_map(held).collect()
    }

    /// The entity, or the node, whose callback it is.
    fn entity_of(&self, peer: &Peer, callback: Callback) -> Option<&Endpoint> {
        let key: EndpointKey = match callback {
            Callback::Of(key) | Callback::Timer(key) | Callback::Other(key) => key,
            _ => return None,
        };
        self.endpoints.iter().find(|end| end.id() == (peer.id(), key)).map(|end| &end.entity)
    }

    fn callback(&self, peer: &Peer, callback: Callback) -> String {
        let what = match callback {
            Callback::Of(_) => "the callback",
            Callback::Timer(_) => "the callback of a timer",
            Callback::Other(_) => "a handler",
            _ => return "the callback of another context".to_owned(),
        };
        let whose = self.entity_of(peer, callback).map_or("something that is gone", |entity| {
            if matches!(callback, Callback::Of(_)) { &entity.name } else { &entity.node }
        });
        format!("{what} of {whose}")
    }

    /// What waits for a subscription or a server; of others nothing.
    pub(crate) fn waiting(&self, end: &ObservedEndpoint) -> Waiting {
        let ObservedEndpoint { peer, key, entity } = end;
        if !matches!(entity.kind, EndpointKind::Subscription | EndpointKind::Server) {
            return Waiting::default();
        }
        let fetched = end.counts().get(Counter::Waiting);
        let is_for_it = |unread: &&sinew_shm::Unread| {
            unread.reader == peer.id()
                && unread.target.map_or_else(|| self.is_heard(end, unread), |target| target == *key)
        };
        let unread = self.unread.iter().filter(is_for_it).map(|unread| unread.messages).sum();
        // Of what comes it will have no more than it keeps.
        let room = match QoS::from_bytes(&entity.qos).map(|qos| qos.history) {
            Some(History::KeepLast(depth)) => (depth as u64).saturating_sub(fetched),
            _ => u64::MAX,
        };
        Waiting { fetched, unread: room.min(unread) }
    }

    /// Whether a subscription gets what another process's publisher has sent its process.
    fn is_heard(&self, end: &ObservedEndpoint, unread: &sinew_shm::Unread) -> bool {
        let source = self.endpoints.iter().find(|other| other.id() == (unread.writer, unread.source));
        source.is_some_and(|source| {
            // What it sends has left its process, whatever is told of its type.
            source.entity.kind == EndpointKind::Publisher
                && source.entity.name == end.entity.name
                && matches!(
                    Mismatch::between(&source.entity, &end.entity, false),
                    None | Some(Mismatch::StaysInside { .. })
                )
        })
    }

    /// The ends for which work waits.
    pub(crate) fn all_that_wait(&self) -> HashSet<Waits> {
        let taken = |end: &ObservedEndpoint| end.counts().get(Counter::Taken);
        let waiting = self.endpoints.iter().filter(|end| self.waiting(end).all() > 0);
        waiting.map(|end| (end.id(), taken(end))).collect()
    }
}
