//! A topic of one type, as far as both sides have ends of it.

use super::history;
use super::incoming::{EarlySamples, RemotePublisher, Subscribed, has_history};
use super::outgoing::{Carrier, LocalPublisher, MOST_KEPT, QosClass, depth_of};
use super::reports::Words;
use super::sessions::RemoteSession;
use super::{RouteStatistics, Shared};
use crate::gateway::observer::LocalKey;
use crate::rules::RateLimiter;
use crate::wire::attachment::AttachmentError;
use crate::wire::{gid, token};
use sinew::__private::locks::{Mutex, RwLock};
use sinew::QoS;
use sinew::gateway::TopicWord;
use sinew::msg::{GenericType, Gid, Publisher, SerializedMessage, TypeHash};
use sinew::qos::Reliability;
use sinew::time::Time;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Publishers of a topic that are gone and whose last numbers are known, at most.
const MOST_GONE: usize = 64;

/// What has to be the same for ends to meet.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct RouteKey {
    pub(super) name: String,
    pub(super) type_name: String,
    pub(super) hash: TypeHash,
}

/// What the data path needs of a topic.
pub(super) struct Route {
    pub(super) key: RouteKey,
    pub(super) known: GenericType,
    /// Its key on the network.
    pub(super) wire_key: String,
    /// Its type has fields that Lyrical's publishers send on a key of their own.
    pub(super) has_buffers: bool,
    pub(super) counters: RouteCounters,
    local: RwLock<HashMap<Gid, Arc<LocalPublisher>>>,
    pub(super) remote: RwLock<Vec<Arc<RemotePublisher>>>,
    pub(super) early: Mutex<EarlySamples>,
    limiter: Option<Mutex<RateLimiter>>,
    /// Its messages share what the link takes with other large ones.
    is_heavy: AtomicBool,
    /// It was said that the link takes too little of them.
    is_slow: AtomicBool,
}

impl Route {
    /// Whether its messages share what the link takes with those of other heavy topics.
    pub(super) fn is_heavy(&self) -> bool {
        self.is_heavy.load(Ordering::Relaxed) // a thread that doesn't know yet waits once
    }

    pub(super) fn grow_heavy(&self) {
        self.is_heavy.store(true, Ordering::Relaxed); // as above
    }

    /// The link takes too little of it. Whether that wasn't known.
    pub(super) fn is_slow_first(&self) -> bool {
        !self.is_slow.swap(true, Ordering::Relaxed) // counts for itself
    }

    /// Whether a message may go to the network now, for all that limits its topic's rate.
    pub(super) fn passes(&self) -> bool {
        let Some(limiter) = &self.limiter else { return true };
        let passes = limiter.lock().passes(Time::steady().nanoseconds());
        if !passes {
            self.counters.limited();
        }
        passes
    }

    pub(super) fn local_publisher(&self, gid: Gid) -> Option<Arc<LocalPublisher>> {
        self.local.read().get(&gid).cloned()
    }

    /// The publisher with that gid.
    pub(super) fn remote_publisher(&self, gid: &[u8; 16]) -> Option<Arc<RemotePublisher>> {
        let remote = self.remote.read();
        remote.iter().find(|publisher| publisher.is(gid)).cloned()
    }
}

/// What was brought over, in both directions: [`TopicWord`]s.
pub(super) struct RouteCounters(Words);

impl RouteCounters {
    fn count(&self, word: TopicWord, more: u64) {
        self.0.count(word as usize, more);
    }

    pub(super) fn sent(&self, bytes: usize) {
        self.count(TopicWord::Sent, 1);
        self.count(TopicWord::SentBytes, bytes as u64);
    }

    pub(super) fn unsent(&self, count: u64) {
        self.count(TopicWord::Unsent, count);
    }

    /// It went, or would have gone, and has waited for long.
    pub(super) fn late(&self) {
        self.count(TopicWord::Late, 1);
    }

    fn limited(&self) {
        self.count(TopicWord::Limited, 1);
    }

    pub(super) fn received(&self, bytes: usize) {
        self.count(TopicWord::Received, 1);
        self.count(TopicWord::ReceivedBytes, bytes as u64);
    }

    pub(super) fn missed(&self, count: u64) {
        if count > 0 {
            self.count(TopicWord::Missed, count);
        }
    }

    pub(super) fn refused(&self) {
        self.count(TopicWord::Refused, 1);
    }

    /// It has an attachment that can't be understood.
    pub(super) fn misunderstood(&self, error: &AttachmentError) {
        self.refused();
        if *error == AttachmentError::Old {
            self.count(TopicWord::Old, 1);
        }
    }

    fn statistics(&self) -> RouteStatistics {
        let read = |word: TopicWord| self.0.get(word as usize);
        RouteStatistics {
            sent: read(TopicWord::Sent),
            sent_bytes: read(TopicWord::SentBytes),
            unsent: read(TopicWord::Unsent),
            late: read(TopicWord::Late),
            limited: read(TopicWord::Limited),
            received: read(TopicWord::Received),
            received_bytes: read(TopicWord::ReceivedBytes),
            missed: read(TopicWord::Missed),
            refused: read(TopicWord::Refused),
        }
    }
}

/// What the gateway's thread knows of a topic.
pub(super) struct RouteEnds {
    pub(super) route: Arc<Route>,
    pub(super) local_publishers: HashMap<LocalKey, Arc<LocalPublisher>>,
    pub(super) local_subscriptions: HashMap<LocalKey, QoS>,
    pub(super) remote_publishers: HashMap<String, Arc<RemotePublisher>>,
    pub(super) remote_subscriptions: HashMap<String, QoS>,
    carriers: HashMap<QosClass, Arc<Carrier>>,
    subscribed: Option<Subscribed>,
    /// Tokens of publishers that were lost sight of, oldest first, and the numbers of their last
    /// messages: what a cut link has cost is told when they are back.
    gone: VecDeque<(String, i64)>,
}

fn fits(offered: &QoS, asked: &QoS) -> bool {
    offered.incompatibility(asked).is_none()
}

impl RouteEnds {
    /// `limit`: how many messages a second may leave; and its counters.
    pub(super) fn new(
        key: RouteKey,
        known: GenericType,
        (wire_key, has_buffers): (String, bool),
        (limit, words): (Option<f64>, Words),
    ) -> Self {
        let route = Route {
            key,
            known,
            wire_key,
            has_buffers,
            counters: RouteCounters(words),
            local: RwLock::default(),
            remote: RwLock::default(),
            early: Mutex::default(),
            limiter: limit.map(|rate| Mutex::new(RateLimiter::new(rate))),
            is_heavy: AtomicBool::new(false),
            is_slow: AtomicBool::new(false),
        };
        Self {
            route: Arc::new(route),
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

    /// The publisher that was taken for another one, which is known only now, if there is one: by its
    /// token; and the number of the last message that is the other's.
    pub(super) fn mistaken_for(&self, gid: &[u8; 16]) -> Option<(String, Option<i64>)> {
        let mut all = self.remote_publishers.iter();
        all.find_map(|(token, publisher)| Some((token.clone(), publisher.gives_back(gid)?)))
    }

    /// A publisher of the network came, or is back. `published`: the number of its last message that
    /// another one has published in its place.
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

    /// A publisher of the network went, or can't be seen.
    pub(super) fn remote_publisher_went(&mut self, token: &str) {
        let last = self.remote_publishers.remove(token).and_then(|publisher| publisher.last());
        let Some(last) = last else { return };
        if self.gone.len() == MOST_GONE {
            self.gone.pop_front();
        }
        self.gone.push_back((token.to_owned(), last));
    }

    /// Brings over what the ends that are there now ask for, and nothing else.
    pub(super) fn update(&mut self, shared: &Arc<Shared>) {
        self.update_outgoing(shared);
        self.update_incoming(shared);
    }

    fn update_outgoing(&mut self, shared: &Arc<Shared>) {
        let name = &self.route.key.name;
        let mut carried: Vec<QoS> = Vec::new();
        // What is kept goes once more to those that ask for it, and its order is that of one queue.
        if self.local_publishers.values().any(|publisher| has_history(&publisher.qos)) {
            self.route.grow_heavy();
        }
        for publisher in self.local_publishers.values() {
            // What a publisher keeps for late joiners goes there as soon as it is published: later
            // it would come as news to subscriptions that want none of it.
            let is_wanted = has_history(&publisher.qos)
                || self.remote_subscriptions.values().any(|asked| fits(&publisher.qos, asked));
            // The way is there before its carrier, which brings what the publisher retains.
            if let Err(error) = publisher.set_carried(shared, &self.route, is_wanted) {
                shared.says(&format!("{name} can't be published on the network: {error}"));
                continue;
            }
            if is_wanted {
                carried.push(publisher.qos);
            }
        }
        // Each has room of its own: what one keeps gives way to nothing of another one. (Those that
        // offer more than a class asks for come to its carrier, too.)
        let room = |class: QosClass| {
            let its = carried.iter().filter(|offered| fits(offered, &class.asked(1)));
            its.fold(0_usize, |room, offered| room.saturating_add(depth_of(offered))).min(MOST_KEPT)
        };
        let wanted: HashMap<QosClass, usize> =
            carried.iter().map(|offered| (QosClass::of(offered), room(QosClass::of(offered)))).collect();
        let known = self.local_publishers.values();
        *self.route.local.write() = known.map(|publisher| (publisher.gid, publisher.clone())).collect();
        // What publishers keep that came since then gets room, and comes again if it found none.
        let has_room = |class: &QosClass, carrier: &Arc<Carrier>| {
            wanted.get(class).is_some_and(|depth| carrier.has_room(*depth))
        };
        let gone: Vec<_> = self.carriers.extract_if(|class, carrier| !has_room(class, carrier)).collect();
        for (_, carrier) in gone {
            carrier.close();
            self.route.counters.unsent(carrier.overwritten());
        }
        for (class, depth) in &wanted {
            if self.carriers.contains_key(class) {
                continue;
            }
            match Carrier::new(shared, &self.route, (*class, *depth)) {
                Ok(carrier) => drop(self.carriers.insert(*class, carrier)),
                Err(error) => shared.says(&format!("{name} can't be brought to the network: {error}")),
            }
        }
        // One of them may have held a message until its publisher was known.
        self.carriers.values().for_each(|carrier| carrier.heard());
    }

    fn update_incoming(&mut self, shared: &Arc<Shared>) {
        // Also while no publisher is there: one that comes finds the way open.
        let is_wanted = !self.local_subscriptions.is_empty();
        // What a publisher keeps comes with the first subscription, and is kept here from then on:
        // so later ones get it from here, whichever asked first.
        let kept = self
            .remote_publishers
            .values()
            .map(|publisher| &publisher.qos)
            .filter(|offered| has_history(offered))
            .map(|offered| offered.reliability)
            .reduce(|one, other| if one == Reliability::Reliable { one } else { other });
        // Before their messages find them.
        let is_new = |publisher: &RemotePublisher| is_wanted && publisher.begin_history();
        let new = self.remote_publishers.iter().filter(|(_, publisher)| is_new(publisher));
        let new: Vec<_> = new.map(|(_, publisher)| publisher.clone()).collect();
        *self.route.remote.write() = self.remote_publishers.values().cloned().collect();
        let is_there = self.subscribed.as_ref().map(Subscribed::is_transient_local);
        // What was asked for once with its history is not asked for again without it.
        let is_enough = match is_there {
            None => !is_wanted,
            Some(has_history) => is_wanted && (has_history || kept.is_none()),
        };
        if !is_wanted && !is_enough {
            self.subscribed = None;
            self.remote_publishers.values().for_each(|publisher| publisher.pause());
            self.gone.clear(); // no subscription here misses what they publish meanwhile
            *self.route.early.lock() = EarlySamples::default();
            return;
        }
        if !is_enough {
            match Subscribed::open(shared, &self.route, kept) {
                // One that was there before goes after the new one came: nothing is missed.
                Ok(subscribed) => self.subscribed = Some(subscribed),
                Err(error) => {
                    let name = &self.route.key.name;
                    shared.says(&format!("{name} can't be subscribed to on the network: {error}"));
                }
            }
        }
        self.route.publish_early(shared);
        history::ask(shared, &self.route, new);
    }

    /// Whether what publishers of the network publish gets to all subscriptions of that participant
    /// that want it. Those of other ones may be beyond help.
    pub(super) fn is_connected(&self, participant: u64) -> bool {
        let its = || self.local_subscriptions.iter().filter(|((of, _), _)| *of == participant);
        self.remote_publishers.values().all(|publisher| {
            let wanted = its().filter(|(_, asked)| fits(&publisher.qos, asked)).count();
            publisher.has_subscriptions_of(participant, wanted)
        })
    }

    /// Whether all that publishers here have published is in the session, as far as it has come.
    pub(super) fn is_idle(&self) -> bool {
        // Each of them is looked at, which has it go on.
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
