//! Long-running callbacks, and the work that waits for them.
//!
//! A process in a long callback fetches nothing, so its own counters stand still and look healthy.
//! Its waiting messages are counted from outside
//! ([`Snapshot::unread`](sinew_shm::inspect::Snapshot::unread)), and it recorded the callback when
//! it began.

use std::collections::HashSet;

use serde::Serialize;
use sinew::event::Mismatch;
use sinew::graph::EndpointKind;
use sinew::qos::History;
use sinew_shm::{Callback, Counter, EndpointKey, Peer};

use crate::observed::{EndpointId, ObservedDomain, ObservedEndpoint};
use sinew_bench::units::time;

/// A callback that lasts at least this long, in nanoseconds, is reported.
const LONG_NS: i64 = 100_000_000;

/// An executor is stuck if its callback lasts at least this long, in nanoseconds, while work waits.
pub(crate) const STUCK_NS: i64 = 1_000_000_000;

/// A long-running callback of a thread.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Held {
    /// Such as "the callback of /chatter".
    pub(crate) callback: String,
    /// Its node, unless that is gone.
    pub(crate) node: Option<String>,
    /// Its duration so far.
    pub(crate) nanoseconds: i64,
    /// Distinguishes the executors of a process.
    executor: u64,
    /// Index of the executor's thread.
    worker: u64,
}

impl Held {
    #[cfg(test)]
    pub(crate) fn of(node: &str, callback: &str, nanoseconds: i64) -> Self {
        let (node, callback) = (Some(node.to_owned()), callback.to_owned());
        Self { callback, node, nanoseconds, executor: 1, worker: 0 }
    }

    /// Returns "in the callback of /chatter since 4.20 s".
    pub(crate) fn text(&self) -> String {
        format!("in {} since {}", self.callback, time(self.nanoseconds as f64))
    }
}

/// Number of messages or requests that wait for an endpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// In its history.
    pub(crate) fetched: u64,
    /// In the memory of other processes: its own process hasn't fetched them.
    pub(crate) unread: u64,
}

impl Waiting {
    pub(crate) fn all(self) -> u64 {
        self.fetched.saturating_add(self.unread)
    }
}

/// An endpoint with waiting work, and the number of messages it had taken by then.
pub(crate) type Waits = (EndpointId, u64);

impl ObservedDomain {
    /// Returns the long-running callbacks of a process.
    pub(crate) fn held(&self, peer: &Peer) -> Vec<Held> {
        let held = |busy: sinew_shm::inspect::Busy| {
            let nanoseconds = self.at_ns.saturating_sub(busy.since);
            let node = || self.names_of(peer, busy.callback).map(|(node, _)| node.to_owned());
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

    /// Returns the names of the node that the callback belongs to, and of its topic or service; the
    /// latter is empty for a callback of the node itself.
    fn names_of(&self, peer: &Peer, callback: Callback) -> Option<(&str, &str)> {
        let key: EndpointKey = match callback {
            Callback::Of(key) | Callback::Timer(key) | Callback::Other(key) => key,
            _ => return None,
        };
        let id = (peer.id(), key);
        let end = self.endpoints.iter().find(|end| end.id() == id);
        let of_end = end.map(|end| (end.info.node.as_str(), end.info.name.as_str()));
        of_end.or_else(|| {
            let node = self.nodes.iter().find(|node| (node.peer.id(), node.key) == id)?;
            Some((&node.info.name, ""))
        })
    }

    fn callback(&self, peer: &Peer, callback: Callback) -> String {
        let what = match callback {
            Callback::Of(_) => "the callback",
            Callback::Timer(_) => "the callback of a timer",
            Callback::Other(_) => "a handler",
            _ => return "the callback of another context".to_owned(),
        };
        let whose = self.names_of(peer, callback).map_or("something that is gone", |(node, name)| {
            if matches!(callback, Callback::Of(_)) { name } else { node }
        });
        format!("{what} of {whose}")
    }

    /// Returns the number of messages that wait for a subscription, or requests for a server; zero
    /// for other endpoints.
    pub(crate) fn waiting(&self, end: &ObservedEndpoint) -> Waiting {
        let ObservedEndpoint { peer, key, info } = end;
        if !matches!(info.kind, EndpointKind::Subscription | EndpointKind::Server) {
            return Waiting::default();
        }
        let fetched = end.counts().get(Counter::Waiting);
        let is_for_it = |unread: &&sinew_shm::inspect::Unread| {
            unread.reader == peer.id()
                && unread.target.map_or_else(|| self.is_heard(end, unread), |target| target == *key)
        };
        let unread = self.unread.iter().filter(is_for_it).map(|unread| unread.messages).sum();
        // It will have no more of the incoming messages than it keeps.
        let room = match info.qos.history {
            History::KeepLast(depth) => (depth as u64).saturating_sub(fetched),
            History::KeepAll => u64::MAX,
        };
        Waiting { fetched, unread: room.min(unread) }
    }

    /// Returns `true` if a subscription receives the messages of another process's publisher.
    fn is_heard(&self, end: &ObservedEndpoint, unread: &sinew_shm::inspect::Unread) -> bool {
        let source = self.endpoints.iter().find(|other| other.id() == (unread.writer, unread.source));
        source.is_some_and(|source| {
            // Its messages leave its process, regardless of the type that it declares.
            source.info.kind == EndpointKind::Publisher
                && source.info.name == end.info.name
                && matches!(
                    Mismatch::between(&source.info, &end.info),
                    None | Some(Mismatch::StaysInside { .. })
                )
        })
    }

    /// Returns the endpoints with waiting work.
    pub(crate) fn all_that_wait(&self) -> HashSet<Waits> {
        let taken = |end: &ObservedEndpoint| end.counts().get(Counter::Taken);
        let waiting = self.endpoints.iter().filter(|end| self.waiting(end).all() > 0);
        waiting.map(|end| (end.id(), taken(end))).collect()
    }
}
