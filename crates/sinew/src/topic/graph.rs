//! Who is there: the publishers and subscriptions of a context by topic, and which of them match.
//!
//! Everything here happens when an entity is created or destroyed, under one lock; publishing never
//! comes here.

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
use crate::ros::qos::QoS;
use crate::sys::logging::later;
use crate::sys::sync::{Arc, Condvar, Mutex};
use std::collections::HashMap;
use std::time::Duration;

/// The topics of a context.
pub(crate) struct Graph {
    session: Arc<Session>,
    topics: Mutex<HashMap<Arc<str>, Topic>>,
    /// Signalled when ends came or went.
    changed: Condvar,
}

#[derive(Default)]
struct Topic {
    outlets: Vec<Arc<PublisherCore>>,
    inboxes: Vec<Arc<SubscriptionCore>>,
    classes: Vec<Arc<MatchClass>>,
    /// Publishers of other processes.
    proxies: Vec<Arc<dyn RemoteSource>>,
    /// Subscriptions of other processes.
    remote: Vec<Arc<RemoteSubscription>>,
}

/// Most topics have one of each: the first takes no more memory than it needs.
fn push<T>(all: &mut Vec<T>, one: T) {
    if all.is_empty() {
        all.reserve_exact(1);
    }
    all.push(one);
}

/// With an outbox; and what connecting to others has to say waits until the lock is released, too.
fn later_with<R>(work: impl FnOnce(&mut Deferred) -> R) -> R {
    later(|| Deferred::with(work))
}

fn match_ends(table: &TypeSupport, qos: &QoS, inbox: &SubscriptionCore) -> Match {
    let wanted = &inbox.wanted;
    let (offered, asked) = (End::new(table, qos), End::new(wanted.table, &wanted.qos));
    Match::of(table.exchanges_with(wanted.table), &offered, &asked)
}

impl Graph {
    pub(crate) fn new(session: &Arc<Session>) -> Self {
        Self { session: session.clone(), topics: Mutex::default(), changed: Condvar::new() }
    }

    /// A topic's name, one copy for all.
    fn topic_name(topics: &mut HashMap<Arc<str>, Topic>, name: &str) -> Arc<str> {
        if let Some((name, _)) = topics.get_key_value(name) {
            return name.clone();
        }
        let name: Arc<str> = name.into();
        topics.insert(name.clone(), Topic::default());
        name
    }

    /// Makes a publisher, which others know by `endpoint`. It matches before this returns, so its
    /// first message reaches who is there.
    pub(crate) fn add_outlet(
        &self,
        topic: &str,
        offered: PublisherConfig,
        observers: MatchListeners,
        endpoint: Option<Box<dyn PublisherEndpoint>>,
    ) -> Arc<PublisherCore> {
        later_with(|outbox| {
            let mut topics = self.topics.lock();
            let name = Self::topic_name(&mut topics, topic);
            let entry = topics.entry(name.clone()).or_default();
            let class = entry.class_for(offered.table, &offered.qos);
            let outlet = PublisherCore::new(PublisherConfig { topic: name, ..offered }, class, observers);
            for inbox in &entry.inboxes {
                tell(&outlet, inbox, outbox);
            }
            if let Some(endpoint) = endpoint {
                outlet.is_known_as(endpoint);
                for remote in &entry.remote {
                    meet_remote(&outlet, remote, outbox);
                }
            }
            push(&mut entry.outlets, outlet.clone());
            self.changed.notify_all();
            outlet
        })
    }

    pub(crate) fn remove_outlet(&self, outlet: &Arc<PublisherCore>) {
        let gone = Deferred::with(|outbox| {
            let mut topics = self.topics.lock();
            let topic = topics.get_mut(&outlet.topic)?;
            let index = topic.outlets.iter().position(|other| Arc::ptr_eq(other, outlet))?;
            let gone = topic.outlets.swap_remove(index);
            warn_unmatched_outlet(outlet, true, outbox);
            for inbox in &topic.inboxes {
                if matches!(match_ends(outlet.table, &outlet.qos, inbox), Match::Yes) {
                    part(outlet, inbox, outbox);
                }
            }
            self.changed.notify_all();
            let class = &outlet.class;
            let unused = !topic.outlets.iter().any(|other| Arc::ptr_eq(&other.class, class));
            let class = unused.then(|| topic.classes.iter().position(|other| Arc::ptr_eq(other, class)));
            let class = class.flatten().map(|index| topic.classes.swap_remove(index));
            let topic = topic.is_empty().then(|| topics.remove(&outlet.topic));
            Some((gone, class, topic))
        });
        drop(gone); // outside the lock
    }

    /// Brings a subscription in: from now on, what its publishers publish comes to it. Then the
    /// caller brings in what they retain, see [`Graph::join`].
    pub(crate) fn add_inbox(
        &self,
        topic: &str,
        make: impl FnOnce(Arc<str>) -> Arc<SubscriptionCore>,
    ) -> Arc<SubscriptionCore> {
        let (inbox, old) = Deferred::with(|outbox| {
            let mut topics = self.topics.lock();
            let name = Self::topic_name(&mut topics, topic);
            let entry = topics.entry(name.clone()).or_default();
            let inbox = make(name);
            push(&mut entry.inboxes, inbox.clone());
            let old = entry.reroute(&inbox);
            self.session.count_change();
            for outlet in &entry.outlets {
                tell(outlet, &inbox, outbox);
            }
            for proxy in &entry.proxies {
                meet_proxy(proxy, &inbox, outbox);
                entry.serve(proxy, outbox);
            }
            self.changed.notify_all();
            (inbox, old)
        });
        drop(old); // old lists may be the last to hold entities: outside the lock
        inbox
    }

    /// Gives a transient-local subscription what its publishers retain. Runs its filter.
    pub(crate) fn join(&self, inbox: &Arc<SubscriptionCore>) {
        if !inbox.wanted.qos.is_transient_local() {
            return;
        }
        let outlets: Vec<_> = {
            let topics = self.topics.lock();
            let Some(topic) = topics.get(&inbox.wanted.topic) else { return };
            let matching = |outlet: &&Arc<PublisherCore>| {
                matches!(match_ends(outlet.table, &outlet.qos, inbox), Match::Yes)
                    && !(inbox.wanted.ignore_own && outlet.node_number == inbox.wanted.node_number)
            };
            topic.outlets.iter().filter(matching).cloned().collect()
        };
        let mut retained: Vec<_> = outlets.iter().flat_map(|outlet| outlet.retained()).collect();
        let reader = TypedReader::for_inbox(inbox);
        retained.retain_mut(|entry| match reader.convert(&entry.message) {
            Ok((message, work)) => {
                entry.message = message;
                inbox.count(work);
                true
            }
            Err(error) => {
                inbox.cannot_decode(&error);
                false
            }
        });
        if let Some(filter) = &inbox.wanted.filter {
            retained.retain(|entry| filter(&entry.message));
        }
        inbox.merge(retained, JoinOrder::Now);
    }

    pub(crate) fn remove_inbox(&self, inbox: &Arc<SubscriptionCore>) {
        let gone = Deferred::with(|outbox| {
            let mut topics = self.topics.lock();
            let topic = topics.get_mut(&inbox.wanted.topic)?;
            let index = topic.inboxes.iter().position(|other| Arc::ptr_eq(other, inbox))?;
            let gone = topic.inboxes.remove(index); // their order is the order of delivery
            warn_unmatched_inbox(inbox, true, outbox);
            let old = topic.reroute(inbox);
            self.session.count_change();
            let mut ways = Vec::new();
            for outlet in &topic.outlets {
                if matches!(match_ends(outlet.table, &outlet.qos, inbox), Match::Yes) {
                    part(outlet, inbox, outbox);
                    ways.extend(outlet.refetch()); // one that never publishes again would keep it
                }
            }
            for proxy in &topic.proxies {
                topic.serve(proxy, outbox);
            }
            self.changed.notify_all();
            let topic = topic.is_empty().then(|| topics.remove(&inbox.wanted.topic));
            Some((gone, old, ways, topic))
        });
        drop(gone); // outside the lock
    }

    // ---- other processes ----

    /// A publisher of another process came.
    pub(crate) fn add_proxy(&self, proxy: Arc<dyn RemoteSource>) {
        Deferred::with(|outbox| {
            let mut topics = self.topics.lock();
            let name = Self::topic_name(&mut topics, &proxy.offered().topic);
            let entry = topics.entry(name).or_default();
            for inbox in &entry.inboxes {
                meet_proxy(&proxy, inbox, outbox);
            }
            entry.serve(&proxy, outbox);
            push(&mut entry.proxies, proxy);
            self.changed.notify_all();
        });
    }

    /// A publisher of another process is gone. What it published is read to the end.
    pub(crate) fn remove_proxy(&self, proxy: &Arc<dyn RemoteSource>) {
        Deferred::with(|outbox| {
            let mut topics = self.topics.lock();
            let topic = topics.get_mut(&*proxy.offered().topic)?;
            let index = topic.proxies.iter().position(|other| Arc::ptr_eq(other, proxy))?;
            let gone = topic.proxies.swap_remove(index);
            for inbox in &topic.inboxes {
                if matches!(match_proxy(&**proxy, inbox), Match::Yes) {
                    unmatch(inbox, None, outbox);
                }
            }
            outbox.drain_later(gone);
            self.changed.notify_all();
            let topic = topic.is_empty().then(|| topics.remove(&*proxy.offered().topic));
            Some(topic)
        });
    }

    /// A subscription of another process came.
    pub(crate) fn add_remote_subscription(&self, remote: Arc<RemoteSubscription>) {
        Deferred::with(|outbox| {
            let mut topics = self.topics.lock();
            let name = Self::topic_name(&mut topics, &remote.wanted.topic);
            let entry = topics.entry(name).or_default();
            for outlet in &entry.outlets {
                meet_remote(outlet, &remote, outbox);
            }
            push(&mut entry.remote, remote);
            self.changed.notify_all();
        });
    }

    /// A subscription of another process is gone.
    pub(crate) fn remove_remote_subscription(&self, remote: &Arc<RemoteSubscription>) {
        let gone = Deferred::with(|outbox| {
            let mut topics = self.topics.lock();
            let entry = topics.get_mut(&*remote.wanted.topic)?;
            let index = entry.remote.iter().position(|other| Arc::ptr_eq(other, remote))?;
            entry.remote.swap_remove(index);
            for outlet in &entry.outlets {
                let matched = matches!(match_remote(outlet, remote), Match::Yes);
                if matched && outlet.disconnect(remote) {
                    outlet.observers.is_unmatched(outbox);
                }
            }
            self.changed.notify_all();
            let entry = entry.is_empty().then(|| topics.remove(&*remote.wanted.topic));
            Some(entry)
        });
        drop(gone); // outside the lock
    }

    /// Connects subscriptions of other processes for which there was no room, if there is some now:
    /// from then on they match.
    pub(crate) fn connect_again(&self) {
        if !self.session.take_refused() {
            return;
        }
        later_with(|outbox| {
            let topics = self.topics.lock();
            for outlet in topics.values().flat_map(|topic| &topic.outlets) {
                (0..outlet.connect_again()).for_each(|_| outlet.observers.is_matched(outbox));
            }
            self.changed.notify_all();
        });
    }

    /// Publishers that publish seldom let go of what subscriptions of other processes have read.
    pub(crate) fn tidy(&self) {
        let topics = self.topics.lock();
        topics.values().flat_map(|topic| &topic.outlets).for_each(|outlet| outlet.tidy());
    }

    /// Warns of ends that have no partner here, while one of another process is private to it.
    pub(crate) fn warn_unmatched(&self) {
        Deferred::with(|outbox| {
            let topics = self.topics.lock();
            for topic in topics.values() {
                topic.outlets.iter().for_each(|outlet| warn_unmatched_outlet(outlet, false, outbox));
                topic.inboxes.iter().for_each(|inbox| warn_unmatched_inbox(inbox, false, outbox));
            }
        });
    }

    /// Waits until something is so that depends on who is there, at most for `timeout` of real
    /// time. Whether it is.
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
            // A shutdown signals nobody here: it is looked for now and then.
            topics = self.changed.wait_at_most(topics, Some(left.min(Duration::from_millis(50))));
        }
    }

    /// Every subscription, e.g. to wake who waits for one.
    pub(crate) fn inboxes(&self) -> Vec<Arc<SubscriptionCore>> {
        self.topics.lock().values().flat_map(|topic| topic.inboxes.iter().cloned()).collect()
    }
}

impl Topic {
    fn is_empty(&self) -> bool {
        self.outlets.is_empty()
            && self.inboxes.is_empty()
            && self.proxies.is_empty()
            && self.remote.is_empty()
    }

    /// The subscriptions of a publisher of another process are those that match it now.
    fn serve(&self, proxy: &Arc<dyn RemoteSource>, outbox: &mut Deferred) {
        let matching = |inbox: &&Arc<SubscriptionCore>| matches!(match_proxy(&**proxy, inbox), Match::Yes);
        let inboxes: Vec<_> = self.inboxes.iter().filter(matching).cloned().collect();
        proxy.serve(&inboxes);
        outbox.drain_later(proxy.clone());
    }

    /// The class of publishers like this; a new one finds who is there.
    fn class_for(&mut self, table: &'static TypeSupport, qos: &QoS) -> Arc<MatchClass> {
        let same = |class: &&Arc<MatchClass>| {
            class.table.representation == table.representation && class.qos.same_class(qos)
        };
        if let Some(class) = self.classes.iter().find(same) {
            return class.clone();
        }
        let class = MatchClass::new(table, *qos, self.routes_for(table, qos));
        push(&mut self.classes, class.clone());
        class
    }

    fn routes_for(&self, table: &TypeSupport, qos: &QoS) -> Subscribers {
        let matching = |inbox: &&Arc<SubscriptionCore>| matches!(match_ends(table, qos, inbox), Match::Yes);
        let inboxes = self.inboxes.iter().filter(matching).cloned().collect();
        Subscribers::of_class(inboxes, table, qos.is_blocking())
    }

    /// New lists for the classes that the inbox matches; returns the old ones.
    fn reroute(&self, inbox: &SubscriptionCore) -> Vec<Arc<Subscribers>> {
        let matching =
            |class: &&Arc<MatchClass>| matches!(match_ends(class.table, &class.qos, inbox), Match::Yes);
        let classes = self.classes.iter().filter(matching);
        classes.map(|class| class.replace(self.routes_for(class.table, &class.qos))).collect()
    }
}

/// Tells both ends, which matched, that one of them goes.
fn part(outlet: &PublisherCore, inbox: &SubscriptionCore, outbox: &mut Deferred) {
    unmatch(inbox, outlet.promised.pulse.as_ref(), outbox);
    outlet.observers.is_unmatched(outbox);
}

/// Tells a subscription that a publisher matches. Its observers come last: see [`MatchListeners`].
fn match_up(inbox: &SubscriptionCore, pulse: Option<&Arc<LivelinessLease>>, outbox: &mut Deferred) {
    if let Some(liveliness) = &inbox.liveliness {
        liveliness.is_matched(pulse, outbox);
    }
    inbox.observers.is_matched(outbox);
}

/// Tells a subscription that a publisher which matched goes. Its observers come last: see
/// [`MatchListeners`].
fn unmatch(inbox: &SubscriptionCore, pulse: Option<&Arc<LivelinessLease>>, outbox: &mut Deferred) {
    if let Some(liveliness) = &inbox.liveliness {
        liveliness.is_unmatched(pulse, outbox);
    }
    inbox.observers.is_unmatched(outbox);
}

fn match_proxy(proxy: &dyn RemoteSource, inbox: &SubscriptionCore) -> Match {
    Match::outside(&proxy.offered().end(), &inbox.asks())
}

fn match_remote(outlet: &PublisherCore, remote: &RemoteSubscription) -> Match {
    Match::outside(&outlet.offers(), &remote.wanted.end())
}

/// Tells a subscription what a publisher of another process is to it.
fn meet_proxy(proxy: &Arc<dyn RemoteSource>, inbox: &Arc<SubscriptionCore>, outbox: &mut Deferred) {
    let found = match_proxy(&**proxy, inbox);
    let Some(mismatch) = found.mismatch(&proxy.offered().end(), &inbox.asks()) else {
        inbox.add_source(proxy);
        match_up(inbox, None, outbox);
        return;
    };
    let reason = format!("{mismatch} with {}", proxy.offered().whose());
    if !inbox.observers.cannot_match(&mismatch, &reason, outbox) {
        warn_subscription(inbox, &reason, outbox);
    }
}

/// Tells a publisher what a subscription of another process is to it.
fn meet_remote(outlet: &Arc<PublisherCore>, remote: &Arc<RemoteSubscription>, outbox: &mut Deferred) {
    let wanted = &remote.wanted;
    let found = match_remote(outlet, remote);
    let Some(mismatch) = found.mismatch(&outlet.offers(), &wanted.end()) else {
        if outlet.connect(remote) {
            outlet.observers.is_matched(outbox);
        }
        return;
    };
    let reason = format!("{mismatch} with {}", wanted.whose());
    if !outlet.observers.cannot_match(&mismatch, &reason, outbox) {
        warn_publisher(outlet, &reason, outbox);
    }
}

/// Tells both ends what they are to each other.
fn tell(outlet: &PublisherCore, inbox: &SubscriptionCore, outbox: &mut Deferred) {
    let found = match_ends(outlet.table, &outlet.qos, inbox);
    let Some(mismatch) = found.mismatch(&outlet.offers(), &inbox.asks()) else {
        match_up(inbox, outlet.promised.pulse.as_ref(), outbox);
        outlet.observers.is_matched(outbox);
        return;
    };
    let to_publisher = format!("{mismatch} with {}", inbox.wanted.node);
    let to_subscription = format!("{mismatch} with {}", outlet.node);
    let publisher_knows = outlet.observers.cannot_match(&mismatch, &to_publisher, outbox);
    let subscription_knows = inbox.observers.cannot_match(&mismatch, &to_subscription, outbox);
    // Once for the pair.
    if !subscription_knows {
        warn_subscription(inbox, &to_subscription, outbox);
    } else if !publisher_knows {
        warn_publisher(outlet, &to_publisher, outbox);
    }
}

/// What the log says, if no handler is told: a pair that silently doesn't talk is the worst of
/// answers.
fn warn_subscription(inbox: &SubscriptionCore, reason: &str, outbox: &mut Deferred) {
    let topic = &inbox.wanted.topic;
    outbox.warn(
        &inbox.wanted.node,
        topic,
        format!("nothing of a publisher on {topic} is received, incompatible: {reason}"),
    );
}

fn warn_publisher(outlet: &PublisherCore, reason: &str, outbox: &mut Deferred) {
    let topic = &outlet.topic;
    outbox.warn(
        &outlet.node,
        topic,
        format!("nothing of this publisher goes to a subscription of {topic}, incompatible: {reason}"),
    );
}

/// See [`MatchListeners::take_unsaid`].
fn warn_unmatched_outlet(outlet: &PublisherCore, has_ended: bool, outbox: &mut Deferred) {
    if let Some(reason) = outlet.observers.take_unsaid(has_ended) {
        warn_publisher(outlet, &reason, outbox);
    }
}

/// See [`MatchListeners::take_unsaid`].
fn warn_unmatched_inbox(inbox: &SubscriptionCore, has_ended: bool, outbox: &mut Deferred) {
    if let Some(reason) = inbox.observers.take_unsaid(has_ended) {
        warn_subscription(inbox, &reason, outbox);
    }
}
