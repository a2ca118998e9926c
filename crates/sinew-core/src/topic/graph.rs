//! The publishers and subscriptions of a context by topic, and their matches.
//!
//! Everything here runs when an entity is created or destroyed, under one lock; publishing never
//! comes here.

pub(crate) mod survey;

use super::publisher_core::{PublisherConfig, PublisherCore};
use super::remote_sink::{PublisherEndpoint, RemoteSubscription};
use super::session::Session;
use super::subscribers::{MatchClass, Subscribers};
use super::subscription_core::{RemoteSource, SubscriptionCore};
use super::typed_reader::TypedReader;
use crate::event::liveliness::LivelinessLease;
use crate::event::match_listeners::MatchListeners;
use crate::mailbox::deferred::Deferred;
use crate::mailbox::history::JoinOrder;
use crate::message::type_support::TypeSupport;
use crate::ros::mismatch::{End, Match};
use crate::ros::origin::Origin;
use crate::ros::qos::{Incompatibility, QoS};
use crate::sys::logging::later;
use crate::sys::sync::{Arc, Condvar, Mutex};
use sinew_msg::TypeHash;
use sinew_msg::description::TypeDescription;
use std::collections::HashMap;
use std::time::Duration;

/// The topics of a context.
pub(crate) struct Graph {
    session: Arc<Session>,
    topics: Mutex<HashMap<Arc<str>, Topic>>,
    /// Signalled when endpoints are added or removed.
    changed: Condvar,
}

#[derive(Default)]
struct Topic {
    publishers: Vec<Arc<PublisherCore>>,
    subscriptions: Vec<Arc<SubscriptionCore>>,
    classes: Vec<Arc<MatchClass>>,
    /// Publishers of other processes.
    sources: Vec<Arc<dyn RemoteSource>>,
    /// Subscriptions of other processes.
    remote: Vec<Arc<RemoteSubscription>>,
}

/// Pushes with room for one element first: most topics have one of each.
fn push<T>(all: &mut Vec<T>, one: T) {
    if all.is_empty() {
        all.reserve_exact(1);
    }
    all.push(one);
}

/// Runs `work` with deferred work. Log lines about connecting to other endpoints also wait until
/// the lock is released.
fn later_with<R>(work: impl FnOnce(&mut Deferred) -> R) -> R {
    later(|| Deferred::with(work))
}

fn match_ends(table: &TypeSupport, offered: &End<'_>, subscription: &SubscriptionCore) -> Match {
    Match::of(table.exchanges_with(subscription.wanted.table), offered, &subscription.asks())
}

fn match_local(publisher: &PublisherCore, subscription: &SubscriptionCore) -> Match {
    match_ends(publisher.table, &publisher.offers(), subscription)
}

impl Graph {
    pub(crate) fn new(session: &Arc<Session>) -> Self {
        Self { session: session.clone(), topics: Mutex::default(), changed: Condvar::new() }
    }

    /// Returns the topic's name; all endpoints share one copy.
    fn topic_name(topics: &mut HashMap<Arc<str>, Topic>, name: &str) -> Arc<str> {
        if let Some((name, _)) = topics.get_key_value(name) {
            return name.clone();
        }
        let name: Arc<str> = name.into();
        topics.insert(name.clone(), Topic::default());
        name
    }

    /// Counts a change of endpoints or matches, after the lists and the matches show it: so a
    /// program that finds nothing in them waits for the next change.
    fn has_changed(&self, deferred: &mut Deferred) {
        self.changed.notify_all();
        self.session.graph_changed_under(deferred);
    }

    /// Creates a publisher; other processes know it by `endpoints`, one for each transport. This
    /// matches the publisher before it returns, so the first message reaches every subscription
    /// that exists.
    pub(crate) fn add_publisher(
        &self,
        topic: &str,
        offered: PublisherConfig,
        match_listeners: MatchListeners,
        endpoints: Vec<Box<dyn PublisherEndpoint>>,
    ) -> Arc<PublisherCore> {
        later_with(|deferred| {
            let mut topics = self.topics.lock();
            let name = Self::topic_name(&mut topics, topic);
            let entry = topics.entry(name.clone()).or_default();
            let class = entry.class_for(offered.table, &offered.qos, offered.origin);
            let publisher =
                PublisherCore::new(PublisherConfig { topic: name, ..offered }, class, match_listeners);
            for subscription in &entry.subscriptions {
                notify_both(&publisher, subscription, deferred);
            }
            if !endpoints.is_empty() {
                publisher.is_known_as(endpoints);
                for remote in &entry.remote {
                    meet_remote(&publisher, remote, deferred);
                }
            }
            push(&mut entry.publishers, publisher.clone());
            self.has_changed(deferred);
            publisher
        })
    }

    pub(crate) fn remove_publisher(&self, publisher: &Arc<PublisherCore>) {
        let gone = Deferred::with(|deferred| {
            let mut topics = self.topics.lock();
            let topic = topics.get_mut(&publisher.topic)?;
            let index = topic.publishers.iter().position(|other| Arc::ptr_eq(other, publisher))?;
            let gone = topic.publishers.swap_remove(index);
            warn_unmatched_publisher(publisher, true, deferred);
            for subscription in &topic.subscriptions {
                if matches!(match_local(publisher, subscription), Match::Yes) {
                    disconnect(publisher, subscription, deferred);
                }
            }
            self.has_changed(deferred);
            let class = &publisher.class;
            let unused = !topic.publishers.iter().any(|other| Arc::ptr_eq(&other.class, class));
            let class = unused.then(|| topic.classes.iter().position(|other| Arc::ptr_eq(other, class)));
            let class = class.flatten().map(|index| topic.classes.swap_remove(index));
            let topic = topic.is_empty().then(|| topics.remove(&publisher.topic));
            Some((gone, class, topic))
        });
        drop(gone); // outside the lock
    }

    /// Adds a subscription: from now on, it receives what its publishers publish. The caller then
    /// delivers their retained messages, see [`Graph::join`].
    pub(crate) fn add_subscription(
        &self,
        topic: &str,
        make: impl FnOnce(Arc<str>) -> Arc<SubscriptionCore>,
    ) -> Arc<SubscriptionCore> {
        let (subscription, old) = Deferred::with(|deferred| {
            let mut topics = self.topics.lock();
            let name = Self::topic_name(&mut topics, topic);
            let entry = topics.entry(name.clone()).or_default();
            let subscription = make(name);
            push(&mut entry.subscriptions, subscription.clone());
            let old = entry.renew_subscribers(&subscription);
            self.session.count_change();
            for publisher in &entry.publishers {
                notify_both(publisher, &subscription, deferred);
            }
            for source in &entry.sources {
                meet_source(source, &subscription, deferred);
                entry.serve(source, deferred);
            }
            self.has_changed(deferred);
            (subscription, old)
        });
        drop(old); // old lists may be the last to hold entities: outside the lock
        subscription
    }

    /// Makes a transient-local subscription wait for the messages retained by publishers of other
    /// processes, which don't know the subscription yet.
    pub(crate) fn await_retained(&self, subscription: &SubscriptionCore) {
        if !subscription.wanted.qos.is_transient_local() {
            return;
        }
        let topics = self.topics.lock();
        let Some(topic) = topics.get(&subscription.wanted.topic) else { return };
        let matching =
            |source: &&Arc<dyn RemoteSource>| matches!(match_source(&***source, subscription), Match::Yes);
        subscription.await_retained(topic.sources.iter().filter(matching).cloned().collect());
    }

    /// Ends every subscription's wait for publishers of other processes that don't answer. Returns
    /// whether a subscription waits on.
    pub(crate) fn give_up(&self) -> bool {
        let is_waiting =
            |subscription: &Arc<SubscriptionCore>| !subscription.gives_up() && subscription.is_joining();
        self.subscriptions().iter().filter(|subscription| is_waiting(subscription)).count() > 0
    }

    /// Delivers the messages that its publishers retain to a transient-local subscription. Runs its
    /// filter.
    pub(crate) fn join(&self, subscription: &Arc<SubscriptionCore>) {
        if !subscription.wanted.qos.is_transient_local() {
            return;
        }
        let publishers: Vec<_> = {
            let topics = self.topics.lock();
            let Some(topic) = topics.get(&subscription.wanted.topic) else { return };
            let matching = |publisher: &&Arc<PublisherCore>| {
                matches!(match_local(publisher, subscription), Match::Yes)
                    && !(subscription.wanted.ignore_own
                        && publisher.node_number == subscription.wanted.node_number)
            };
            topic.publishers.iter().filter(matching).cloned().collect()
        };
        let mut retained: Vec<_> = publishers.iter().flat_map(|publisher| publisher.retained()).collect();
        let reader = TypedReader::for_subscription(subscription);
        retained.retain_mut(|entry| match reader.convert(&entry.message) {
            Ok((message, work)) => {
                entry.message = message;
                subscription.count(work);
                true
            }
            Err(error) => {
                subscription.cannot_decode(&error);
                false
            }
        });
        if let Some(filter) = &subscription.wanted.filter {
            retained.retain(|entry| filter(&entry.message));
        }
        let _ = subscription.merge(retained, JoinOrder::Now); // no publisher waits yet
    }

    pub(crate) fn remove_subscription(&self, subscription: &Arc<SubscriptionCore>) {
        let gone = Deferred::with(|deferred| {
            let mut topics = self.topics.lock();
            let topic = topics.get_mut(&subscription.wanted.topic)?;
            let index = topic.subscriptions.iter().position(|other| Arc::ptr_eq(other, subscription))?;
            let gone = topic.subscriptions.remove(index); // their order is the order of delivery
            warn_unmatched_subscription(subscription, true, deferred);
            let old = topic.renew_subscribers(subscription);
            self.session.count_change();
            let mut ways = Vec::new();
            for publisher in &topic.publishers {
                if matches!(match_local(publisher, subscription), Match::Yes) {
                    disconnect(publisher, subscription, deferred);
                    // A publisher that never publishes again would keep the subscription.
                    ways.extend(publisher.refetch());
                }
            }
            for source in &topic.sources {
                if matches!(match_source(&**source, subscription), Match::Yes) {
                    unmatch(subscription, source.lease(), deferred); // else the lease would keep the handlers
                }
                topic.serve(source, deferred);
            }
            self.has_changed(deferred);
            let topic = topic.is_empty().then(|| topics.remove(&subscription.wanted.topic));
            Some((gone, old, ways, topic))
        });
        drop(gone); // outside the lock
    }

    /// Returns the types of the publishers and subscriptions of a node.
    pub(crate) fn types_of(&self, node: u64) -> Vec<&'static TypeSupport> {
        let topics = self.topics.lock();
        let of_topic = |topic: &Topic| {
            let publishers = topic.publishers.iter().filter(|publisher| publisher.node_number == node);
            let subscriptions = topic.subscriptions.iter().map(|subscription| &subscription.wanted);
            let subscriptions = subscriptions.filter(|wanted| wanted.node_number == node);
            let tables = publishers.map(|publisher| publisher.table);
            tables.chain(subscriptions.map(|wanted| wanted.table)).collect::<Vec<_>>()
        };
        topics.values().flat_map(of_topic).collect()
    }

    /// Returns the description of a type that an endpoint of this process has on the topic.
    pub(crate) fn description(&self, topic: &str, hash: TypeHash) -> Option<TypeDescription> {
        let tables: Vec<_> = {
            let topics = self.topics.lock();
            let topic = topics.get(topic)?;
            let publishers = topic.publishers.iter().map(|publisher| publisher.table);
            publishers.chain(topic.subscriptions.iter().map(|one| one.wanted.table)).collect()
        };
        // Describing runs code of the type: under no lock.
        tables.into_iter().filter(|table| table.hash() == Some(hash)).find_map(TypeSupport::description)
    }

    // ---- other processes: the observer of the other participants counts these changes ----

    /// Adds a publisher of another process.
    pub(crate) fn add_source(&self, source: Arc<dyn RemoteSource>) {
        Deferred::with(|deferred| {
            let mut topics = self.topics.lock();
            let name = Self::topic_name(&mut topics, &source.offered().topic);
            let entry = topics.entry(name).or_default();
            for subscription in &entry.subscriptions {
                meet_source(&source, subscription, deferred);
            }
            entry.serve(&source, deferred);
            push(&mut entry.sources, source);
            self.changed.notify_all();
        });
    }

    /// Removes a publisher of another process. Subscriptions still read the messages it published.
    pub(crate) fn remove_source(&self, source: &Arc<dyn RemoteSource>) {
        Deferred::with(|deferred| {
            let mut topics = self.topics.lock();
            let topic = topics.get_mut(&*source.offered().topic)?;
            let index = topic.sources.iter().position(|other| Arc::ptr_eq(other, source))?;
            let gone = topic.sources.swap_remove(index);
            for subscription in &topic.subscriptions {
                if matches!(match_source(&**source, subscription), Match::Yes) {
                    unmatch(subscription, source.lease(), deferred);
                }
            }
            deferred.drain_later(gone);
            self.changed.notify_all();
            let topic = topic.is_empty().then(|| topics.remove(&*source.offered().topic));
            Some(topic)
        });
    }

    /// Adds a subscription of another process.
    pub(crate) fn add_remote_subscription(&self, remote: Arc<RemoteSubscription>) {
        Deferred::with(|deferred| {
            let mut topics = self.topics.lock();
            let name = Self::topic_name(&mut topics, &remote.wanted.topic);
            let entry = topics.entry(name).or_default();
            for publisher in &entry.publishers {
                meet_remote(publisher, &remote, deferred);
            }
            push(&mut entry.remote, remote);
            self.changed.notify_all();
        });
    }

    /// Removes a subscription of another process.
    pub(crate) fn remove_remote_subscription(&self, remote: &Arc<RemoteSubscription>) {
        let gone = Deferred::with(|deferred| {
            let mut topics = self.topics.lock();
            let entry = topics.get_mut(&*remote.wanted.topic)?;
            let index = entry.remote.iter().position(|other| Arc::ptr_eq(other, remote))?;
            entry.remote.swap_remove(index);
            for publisher in &entry.publishers {
                let matched = matches!(match_remote(publisher, remote), Match::Yes);
                if matched && publisher.disconnect(remote) {
                    publisher.match_listeners.subscription(remote.wanted.origin, false, deferred);
                }
            }
            self.changed.notify_all();
            let entry = entry.is_empty().then(|| topics.remove(&*remote.wanted.topic));
            Some(entry)
        });
        drop(gone); // outside the lock
    }

    /// Connects the subscriptions of other processes that found no room before, if there is room
    /// now. From then on they match. Returns whether some still find none.
    pub(crate) fn connect_again(&self) -> bool {
        if !self.session.take_refused() {
            return false;
        }
        later_with(|deferred| {
            let topics = self.topics.lock();
            let mut has_changed = false;
            for publisher in topics.values().flat_map(|topic| &topic.publishers) {
                for origin in publisher.connect_again() {
                    publisher.match_listeners.subscription(origin, true, deferred);
                    has_changed = true;
                }
            }
            if has_changed {
                self.has_changed(deferred);
            }
        });
        self.session.lacks_room()
    }

    /// Makes publishers release the messages that subscriptions of other processes have read, for
    /// publishers that seldom publish. Returns `true` if it must be called again.
    pub(crate) fn tidy(&self) -> bool {
        let topics = self.topics.lock();
        let publishers = topics.values().flat_map(|topic| &topic.publishers);
        publishers.filter(|publisher| publisher.tidy()).count() > 0
    }

    /// Warns of endpoints without a match in this process, if an endpoint of another process would
    /// match but is private to that process. Returns whether some of them are to wait on first.
    pub(crate) fn warn_unmatched(&self) -> bool {
        let mut are_waiting = false;
        Deferred::with(|deferred| {
            let topics = self.topics.lock();
            for topic in topics.values() {
                for publisher in &topic.publishers {
                    warn_unmatched_publisher(publisher, false, deferred);
                    are_waiting |= publisher.match_listeners.has_unsaid();
                }
                for subscription in &topic.subscriptions {
                    warn_unmatched_subscription(subscription, false, deferred);
                    are_waiting |= subscription.match_listeners.has_unsaid();
                }
            }
        });
        are_waiting
    }

    /// Waits until a condition on the existing endpoints holds, for at most `timeout` of real time.
    /// Returns whether it holds.
    pub(crate) fn wait_until(
        &self,
        is_so: impl Fn() -> bool,
        has_ended: impl Fn() -> bool,
        timeout: Duration,
    ) -> bool {
        let deadline = crate::sys::clock::Time::steady() + timeout;
        let mut topics = self.topics.lock();
        loop {
            if is_so() {
                return true;
            }
            let left = deadline - crate::sys::clock::Time::steady();
            if left.is_zero() || has_ended() {
                return false;
            }
            // A shutdown does not signal this thread, so it is polled.
            self.changed.wait_at_most(&mut topics, Some(left.min(Duration::from_millis(50))));
        }
    }

    /// Returns every subscription, for example to wake the publishers that wait for one.
    pub(crate) fn subscriptions(&self) -> Vec<Arc<SubscriptionCore>> {
        self.topics.lock().values().flat_map(|topic| topic.subscriptions.iter().cloned()).collect()
    }
}

impl Topic {
    fn is_empty(&self) -> bool {
        self.publishers.is_empty()
            && self.subscriptions.is_empty()
            && self.sources.is_empty()
            && self.remote.is_empty()
    }

    /// Sets the subscriptions of a publisher of another process to those that match it now.
    fn serve(&self, source: &Arc<dyn RemoteSource>, deferred: &mut Deferred) {
        let matching = |subscription: &&Arc<SubscriptionCore>| {
            matches!(match_source(&**source, subscription), Match::Yes)
        };
        let subscriptions: Vec<_> = self.subscriptions.iter().filter(matching).cloned().collect();
        source.serve(&subscriptions);
        deferred.drain_later(source.clone());
    }

    /// Returns the class of such publishers; a new class looks up the existing subscriptions.
    fn class_for(&mut self, table: &'static TypeSupport, qos: &QoS, origin: Origin) -> Arc<MatchClass> {
        let same = |class: &&Arc<MatchClass>| {
            class.table.is(table) && class.qos.same_class(qos) && class.origin == origin
        };
        if let Some(class) = self.classes.iter().find(same) {
            return class.clone();
        }
        let class =
            MatchClass::new(table, *qos, origin, self.subscribers_for(table, &End::new(table, qos, origin)));
        push(&mut self.classes, class.clone());
        class
    }

    fn subscribers_for(&self, table: &TypeSupport, offered: &End<'_>) -> Subscribers {
        let matching = |subscription: &&Arc<SubscriptionCore>| {
            matches!(match_ends(table, offered, subscription), Match::Yes)
        };
        let subscriptions = self.subscriptions.iter().filter(matching).cloned().collect();
        Subscribers::of_class(subscriptions, table, offered.is_blocking())
    }

    /// Makes new lists for the classes that the subscription matches; returns the old ones.
    fn renew_subscribers(&self, subscription: &SubscriptionCore) -> Vec<Arc<Subscribers>> {
        let matching = |class: &&Arc<MatchClass>| {
            matches!(match_ends(class.table, &class.offers(), subscription), Match::Yes)
        };
        let classes = self.classes.iter().filter(matching);
        classes.map(|class| class.replace(self.subscribers_for(class.table, &class.offers()))).collect()
    }
}

/// Notifies a matched publisher and subscription that one of them is being removed.
fn disconnect(publisher: &PublisherCore, subscription: &SubscriptionCore, deferred: &mut Deferred) {
    unmatch(subscription, publisher.promised.lease.as_ref(), deferred);
    publisher.match_listeners.subscription(subscription.wanted.origin, false, deferred);
}

/// Notifies a subscription that a publisher matches. Its observers run last: see
/// [`MatchListeners`].
fn match_up(subscription: &SubscriptionCore, lease: Option<&Arc<LivelinessLease>>, deferred: &mut Deferred) {
    if let Some(liveliness) = &subscription.liveliness {
        liveliness.is_matched(lease, deferred);
    }
    subscription.match_listeners.is_matched(deferred);
}

/// Notifies a subscription that a publisher which matched is being removed. Its observers run last:
/// see [`MatchListeners`].
fn unmatch(subscription: &SubscriptionCore, lease: Option<&Arc<LivelinessLease>>, deferred: &mut Deferred) {
    if let Some(liveliness) = &subscription.liveliness {
        liveliness.is_unmatched(lease, deferred);
    }
    subscription.match_listeners.is_unmatched(deferred);
}

fn match_source(source: &dyn RemoteSource, subscription: &SubscriptionCore) -> Match {
    Match::outside(&source.offered().end(), &subscription.asks())
}

fn match_remote(publisher: &PublisherCore, remote: &RemoteSubscription) -> Match {
    Match::outside(&publisher.offers(), &remote.wanted.end())
}

/// Notifies a subscription of its relation to a publisher of another process.
fn meet_source(
    source: &Arc<dyn RemoteSource>,
    subscription: &Arc<SubscriptionCore>,
    deferred: &mut Deferred,
) {
    let found = match_source(&**source, subscription);
    if found == Match::Apart {
        return;
    }
    let (offered, asked) = (source.offered().end(), subscription.asks());
    let Some(mismatch) = found.mismatch(&offered, &asked) else {
        let owner = || source.offered().owner();
        warn_tolerant_subscription(subscription, found.tolerated(&offered, &asked), owner, deferred);
        subscription.add_source(source);
        match_up(subscription, source.lease(), deferred);
        return;
    };
    let reason = format!("{mismatch} with {}", source.offered().owner());
    if !subscription.match_listeners.cannot_match(&mismatch, &reason, deferred) {
        warn_subscription(subscription, &reason, deferred);
    }
}

/// Notifies a publisher of its relation to a subscription of another process.
fn meet_remote(publisher: &Arc<PublisherCore>, remote: &Arc<RemoteSubscription>, deferred: &mut Deferred) {
    let wanted = &remote.wanted;
    let found = match_remote(publisher, remote);
    if found == Match::Apart {
        return;
    }
    let (offered, asked) = (publisher.offers(), wanted.end());
    let Some(mismatch) = found.mismatch(&offered, &asked) else {
        warn_tolerant_publisher(publisher, found.tolerated(&offered, &asked), || wanted.owner(), deferred);
        if publisher.connect(remote) {
            publisher.match_listeners.subscription(wanted.origin, true, deferred);
        }
        return;
    };
    if !wanted.origin.is_shown() {
        return; // the endpoints for which it carries are reported on their own
    }
    let reason = format!("{mismatch} with {}", wanted.owner());
    if !publisher.match_listeners.cannot_match(&mismatch, &reason, deferred) {
        warn_publisher(publisher, &reason, deferred);
    }
}

/// Notifies both endpoints of their relation.
fn notify_both(publisher: &PublisherCore, subscription: &SubscriptionCore, deferred: &mut Deferred) {
    let found = match_local(publisher, subscription);
    if found == Match::Apart {
        return;
    }
    let (offered, asked) = (publisher.offers(), subscription.asks());
    let Some(mismatch) = found.mismatch(&offered, &asked) else {
        // Both are in the gateway's process: the publisher stands for one of the network.
        let owner = || format!("{} of the network", publisher.node);
        warn_tolerant_subscription(subscription, found.tolerated(&offered, &asked), owner, deferred);
        match_up(subscription, publisher.promised.lease.as_ref(), deferred);
        publisher.match_listeners.subscription(subscription.wanted.origin, true, deferred);
        return;
    };
    if !subscription.wanted.origin.is_shown() {
        return; // as in `meet_remote`
    }
    let to_publisher = format!("{mismatch} with {}", subscription.wanted.node);
    let to_subscription = format!("{mismatch} with {}", publisher.node);
    let publisher_knows = publisher.match_listeners.cannot_match(&mismatch, &to_publisher, deferred);
    let subscription_knows = subscription.match_listeners.cannot_match(&mismatch, &to_subscription, deferred);
    // Once per pair.
    if !subscription_knows {
        warn_subscription(subscription, &to_subscription, deferred);
    } else if !publisher_knows {
        warn_publisher(publisher, &to_publisher, deferred);
    }
}

/// Logs a mismatch that has no handler: a pair must not silently exchange nothing.
fn warn_subscription(subscription: &SubscriptionCore, reason: &str, deferred: &mut Deferred) {
    let topic = &subscription.wanted.topic;
    deferred.warn(
        &subscription.wanted.node,
        topic,
        format!("no message of a publisher on {topic} is received, incompatible: {reason}"),
    );
}

fn warn_publisher(publisher: &PublisherCore, reason: &str, deferred: &mut Deferred) {
    let topic = &publisher.topic;
    deferred.warn(
        &publisher.node,
        topic,
        format!("no message of this publisher goes to a subscription of {topic}, incompatible: {reason}"),
    );
}

/// End of the log line about the first endpoint of the network that matches only because programs
/// with rmw_zenoh match regardless of the QoS.
const TOLERATED: &str =
    "they match nevertheless, as endpoints of rmw_zenoh do (sinew gateway --strict-qos keeps them apart)";

fn warn_tolerant_subscription(
    subscription: &SubscriptionCore,
    tolerated: Option<Incompatibility>,
    owner: impl FnOnce() -> String,
    deferred: &mut Deferred,
) {
    let Some(why) = tolerated.filter(|_| subscription.match_listeners.tolerates()) else { return };
    let (topic, owner) = (&subscription.wanted.topic, owner());
    let text = format!("a publisher on {topic} offers less than requested: {why} with {owner}; {TOLERATED}");
    deferred.warn(&subscription.wanted.node, topic, text);
}

fn warn_tolerant_publisher(
    publisher: &PublisherCore,
    tolerated: Option<Incompatibility>,
    owner: impl FnOnce() -> String,
    deferred: &mut Deferred,
) {
    // A publisher that stands for one of the network belongs to a gateway: the subscription logs
    // it.
    let is_said = |_: &Incompatibility| {
        publisher.class.origin == Origin::Local && publisher.match_listeners.tolerates()
    };
    let Some(why) = tolerated.filter(is_said) else { return };
    let (topic, owner) = (&publisher.topic, owner());
    let text =
        format!("a subscription of {topic} requests more than offered: {why} with {owner}; {TOLERATED}");
    deferred.warn(&publisher.node, topic, text);
}

/// See [`MatchListeners::take_unsaid`].
fn warn_unmatched_publisher(publisher: &PublisherCore, has_ended: bool, deferred: &mut Deferred) {
    if let Some(reason) = publisher.match_listeners.take_unsaid(has_ended) {
        warn_publisher(publisher, &reason, deferred);
    }
}

/// See [`MatchListeners::take_unsaid`].
fn warn_unmatched_subscription(subscription: &SubscriptionCore, has_ended: bool, deferred: &mut Deferred) {
    if let Some(reason) = subscription.match_listeners.take_unsaid(has_ended) {
        warn_subscription(subscription, &reason, deferred);
    }
}
