//! A topic of one type, with its endpoints on both sides: the part that the gateway's thread uses.

use super::carrier::Carrier;
use super::change::{LocalKey, RouteKey};
use super::incoming::{Incoming, Subscribed};
use super::local_publisher::{LocalPublisher, LocalPublishers};
use super::plan::{self, Carriers, Subscribing, fits};
use super::qos_class::{QosClass, has_history};
use super::remote_publisher::RemotePublisher;
use super::reports::Words;
use super::route::Route;
use super::sessions::RemoteSession;
use super::shared::Shared;
use super::statistics::RouteStatistics;
use crate::wire::{gid, token};
use sinew::msg::{GenericType, SerializedMessage};
use sinew::{Publisher, QoS};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Most publishers of a topic that are gone and have a remembered last number.
const MOST_GONE: usize = 64;

/// The part of a topic that the gateway's thread uses.
pub(super) struct RouteEnds {
    pub(super) route: Arc<Route>,
    publishers: Arc<LocalPublishers>,
    incoming: Arc<Incoming>,
    pub(super) local_publishers: HashMap<LocalKey, Arc<LocalPublisher>>,
    pub(super) local_subscriptions: HashMap<LocalKey, QoS>,
    pub(super) remote_publishers: HashMap<String, Arc<RemotePublisher>>,
    pub(super) remote_subscriptions: HashMap<String, QoS>,
    carriers: HashMap<QosClass, Arc<Carrier>>,
    subscribed: Option<Subscribed>,
    /// Tokens of publishers that were lost from sight, the oldest first, with the numbers of their
    /// last messages: when they return, the messages that a cut link has cost are reported.
    gone: VecDeque<(String, i64)>,
}

impl RouteEnds {
    /// `limit`: messages per second that may leave, and the limit's counters.
    pub(super) fn new(
        key: RouteKey,
        known: GenericType,
        (wire_key, may_have_buffers): (String, bool),
        (limit, words): (Option<f64>, Words),
    ) -> Self {
        let route = Arc::new(Route::new(key, known, (wire_key, may_have_buffers), (limit, words)));
        Self {
            publishers: Arc::default(),
            incoming: Incoming::new(&route),
            route,
            local_publishers: HashMap::new(),
            local_subscriptions: HashMap::new(),
            remote_publishers: HashMap::new(),
            remote_subscriptions: HashMap::new(),
            carriers: HashMap::new(),
            subscribed: None,
            gone: VecDeque::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.local_publishers.is_empty()
            && self.local_subscriptions.is_empty()
            && self.remote_publishers.is_empty()
            && self.remote_subscriptions.is_empty()
    }

    /// Finds the publisher that was taken for the one with this gid, which has only now become
    /// known. Returns its token and the number of the last message that belongs to the other one.
    pub(super) fn mistaken_for(&self, gid: &[u8; 16]) -> Option<(String, Option<i64>)> {
        let mut all = self.remote_publishers.iter();
        all.find_map(|(token, publisher)| Some((token.clone(), publisher.gives_back(gid)?)))
    }

    /// Records that a remote publisher has come, or is back. `published`: the number of its last
    /// message that another publisher has published in its place.
    pub(super) fn remote_publisher_came(
        &mut self,
        token: &str,
        publisher: Publisher<SerializedMessage>,
        (qos, session, published): (QoS, Option<Arc<RemoteSession>>, Option<i64>),
    ) {
        let at = self.gone.iter().position(|(known, _)| known == token);
        let last_before = at.and_then(|at| self.gone.remove(at)).map(|(_, last)| last);
        let (of, number) = token::entity_of(token);
        let entity = (of.to_owned(), number);
        let publisher = RemotePublisher::new(publisher, (qos, gid::of(token), entity), session, last_before);
        if let Some(last) = published {
            publisher.goes_on_behind(last);
        }
        self.remote_publishers.insert(token.to_owned(), publisher);
    }

    /// Records that a remote publisher is gone, or out of sight.
    pub(super) fn remote_publisher_went(&mut self, token: &str) {
        let last = self.remote_publishers.remove(token).and_then(|publisher| publisher.last());
        let Some(last) = last else { return };
        if self.gone.len() == MOST_GONE {
            self.gone.pop_front();
        }
        self.gone.push_back((token.to_owned(), last));
    }

    /// Connects exactly what the current endpoints need.
    pub(super) fn update(&mut self, shared: &Arc<Shared>) {
        self.update_outgoing(shared);
        self.update_incoming(shared);
    }

    fn update_outgoing(&mut self, shared: &Arc<Shared>) {
        let name = &self.route.key.name;
        let mut carried: Vec<QoS> = Vec::new();
        // Retained messages are sent again to subscriptions that ask for them, and their order is
        // that of one queue.
        if self.local_publishers.values().any(|publisher| has_history(&publisher.qos)) {
            self.route.grow_heavy();
        }
        for publisher in self.local_publishers.values() {
            let is_wanted = plan::is_carried(&publisher.qos, self.remote_subscriptions.values());
            // The path exists before its carrier, which delivers the publisher's retained messages.
            if let Err(error) = publisher.set_carried(shared, &self.route, is_wanted) {
                shared.says(&format!("{name} can't be published on the network: {error}"));
                continue;
            }
            if is_wanted {
                carried.push(publisher.qos);
            }
        }
        let known = self.local_publishers.values();
        self.publishers.replace(known.map(|publisher| (publisher.gid, publisher.clone())).collect());
        let there = self.carriers.iter().map(|(class, carrier)| (*class, carrier.depth()));
        let plan = Carriers::plan(&carried, there);
        for class in plan.close {
            if let Some(carrier) = self.carriers.remove(&class) {
                carrier.close();
                self.route.counters.unsent(carrier.overwritten());
            }
        }
        for (class, depth) in plan.open {
            match Carrier::new(shared, &self.route, &self.publishers, (class, depth)) {
                Ok(carrier) => drop(self.carriers.insert(class, carrier)),
                Err(error) => shared.says(&format!("{name} can't be brought to the network: {error}")),
            }
        }
        // A carrier may have held a message until its publisher was known.
        self.carriers.values().for_each(|carrier| carrier.heard());
    }

    fn update_incoming(&mut self, shared: &Arc<Shared>) {
        let is_wanted = !self.local_subscriptions.is_empty();
        // Before their messages arrive.
        let is_new = |publisher: &RemotePublisher| is_wanted && publisher.begin_history();
        let new = self.remote_publishers.iter().filter(|(_, publisher)| is_new(publisher));
        let new: Vec<_> = new.map(|(_, publisher)| publisher.clone()).collect();
        self.incoming.set_publishers(self.remote_publishers.values().cloned().collect());
        let there = self.subscribed.as_ref().map(Subscribed::is_transient_local);
        let offered = self.remote_publishers.values().map(|publisher| &publisher.qos);
        match Subscribing::plan(is_wanted, offered, there) {
            Subscribing::Stays => {}
            Subscribing::Closes => {
                self.subscribed = None;
                self.remote_publishers.values().for_each(|publisher| publisher.pause());
                self.gone.clear(); // no local subscription misses messages meanwhile
                self.incoming.forget_early();
                return;
            }
            Subscribing::Opens(kept) => match Subscribed::open(shared, &self.incoming, kept) {
                // The old one is dropped after the new one exists: nothing is missed.
                Ok(subscribed) => self.subscribed = Some(subscribed),
                Err(error) => {
                    let name = &self.route.key.name;
                    shared.says(&format!("{name} can't be subscribed to on the network: {error}"));
                }
            },
        }
        self.incoming.publish_early(shared);
        self.incoming.ask(shared, new);
    }

    /// Returns `true` if messages of remote publishers reach all subscriptions of that participant
    /// that match. Subscriptions of other participants may be unable to match.
    pub(super) fn is_connected(&self, participant: u64) -> bool {
        let its = || self.local_subscriptions.iter().filter(|((of, _), _)| *of == participant);
        self.remote_publishers.values().all(|publisher| {
            let wanted = its().filter(|(_, asked)| fits(&publisher.qos, asked)).count();
            publisher.has_subscriptions_of(participant, wanted)
        })
    }

    /// Returns `true` if all messages of local publishers, as far as they have come, are in the
    /// session.
    pub(super) fn is_idle(&self) -> bool {
        // Each carrier is checked, which makes it go on.
        self.carriers.values().filter(|carrier| !carrier.is_idle()).count() == 0
    }

    pub(super) fn statistics(&self) -> RouteStatistics {
        let mut statistics = self.route.counters.statistics();
        let now: u64 = self.carriers.values().map(|carrier| carrier.overwritten()).sum();
        statistics.unsent += now;
        statistics
    }

    pub(super) fn close(&mut self) {
        self.subscribed = None;
        self.carriers.drain().for_each(|(_, carrier)| carrier.close());
    }
}
