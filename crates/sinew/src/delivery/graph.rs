//! Who is there: the publishers and subscriptions of a context by topic, and which of them match.
//!
//! Everything here happens when an entity is created or destroyed, under one lock; publishing never comes here.

use super::inbox::{Inbox, Outbox};
use super::observers::Observers;
use super::outlet::{Class, Offered, Outlet, Routes};
use crate::message::table::Table;
use crate::qos::{self, QoS};
use crate::sync::{Arc, AtomicU64, Mutex, Ordering};
use std::collections::HashMap;

/// The topics of a context.
#[repr(C)] // what every publish reads comes first
pub(crate) struct Graph {
    /// Counts changes of any topic's subscriptions; see [`outlet`](super::outlet).
    generation: AtomicU64,
    topics: Mutex<HashMap<Arc<str>, Topic>>,
}

#[derive(Default)]
struct Topic {
    outlets: Vec<Arc<Outlet>>,
    inboxes: Vec<Arc<Inbox>>,
    classes: Vec<Arc<Class>>,
}

/// How an outlet and an inbox of one topic stand to each other.
enum Match {
    Yes,
    OtherType,
    OtherQos(qos::Policy),
}

fn match_ends(offered_type: &Table, offered: &QoS, inbox: &Inbox) -> Match {
    if offered_type.representation != inbox.wanted.table.representation {
        return Match::OtherType;
    }
    qos::incompatibility(offered, &inbox.wanted.qos).map_or(Match::Yes, Match::OtherQos)
}

impl Default for Graph {
    fn default() -> Self {
        // No publisher has seen generation 1: the first publish fetches its list.
        Self { generation: AtomicU64::new(1), topics: Mutex::default() }
    }
}

impl Graph {
    /// C2: which lists are the newest.
    #[inline]
    pub(crate) fn generation(&self) -> u64 {
        // C2: Acquire; pairs with C1.
        self.generation.load(Ordering::Acquire)
    }

    /// C1: a list was replaced.
    fn count_change(&self) {
        // C1: Release; pairs with C2; carries the list.
        self.generation.fetch_add(1, Ordering::Release);
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

    /// Makes a publisher. It matches before this returns, so its first message reaches who is there.
    pub(crate) fn add_outlet(&self, topic: &str, offered: Offered, observers: Observers) -> Arc<Outlet> {
        Outbox::with(|outbox| {
            let mut topics = self.topics.lock();
            let name = Self::topic_name(&mut topics, topic);
            let entry = topics.entry(name.clone()).or_default();
            let class = entry.class_for(offered.table, &offered.qos);
            let outlet = Outlet::new(Offered { topic: name, ..offered }, class, observers);
            for inbox in &entry.inboxes {
                tell(&outlet, inbox, outbox);
            }
            entry.outlets.push(outlet.clone());
            outlet
        })
    }

    pub(crate) fn remove_outlet(&self, outlet: &Arc<Outlet>) {
        let gone = Outbox::with(|outbox| {
            let mut topics = self.topics.lock();
            let topic = topics.get_mut(&outlet.topic)?;
            let index = topic.outlets.iter().position(|other| Arc::ptr_eq(other, outlet))?;
            let gone = topic.outlets.swap_remove(index);
            for inbox in &topic.inboxes {
                if matches!(match_ends(outlet.table, &outlet.qos, inbox), Match::Yes) {
                    part(outlet, inbox, outbox);
                }
            }
            let class = &outlet.class;
            let unused = !topic.outlets.iter().any(|other| Arc::ptr_eq(&other.class, class));
            let class = unused.then(|| topic.classes.iter().position(|other| Arc::ptr_eq(other, class)));
            let class = class.flatten().map(|index| topic.classes.swap_remove(index));
            let topic = topic.is_empty().then(|| topics.remove(&outlet.topic));
            Some((gone, class, topic))
        });
        drop(gone); // outside the lock
    }

    /// Brings a subscription in: from now on, what its publishers publish comes to it. Then the caller brings in what
    /// they retain, see [`Graph::join`].
    pub(crate) fn add_inbox(&self, topic: &str, make: impl FnOnce(Arc<str>) -> Arc<Inbox>) -> Arc<Inbox> {
        let (inbox, old) = Outbox::with(|outbox| {
            let mut topics = self.topics.lock();
            let name = Self::topic_name(&mut topics, topic);
            let entry = topics.entry(name.clone()).or_default();
            let inbox = make(name);
            entry.inboxes.push(inbox.clone());
            let old = entry.reroute(&inbox);
            self.count_change();
            for outlet in &entry.outlets {
                tell(outlet, &inbox, outbox);
            }
            (inbox, old)
        });
        drop(old); // old lists may be the last to hold entities: outside the lock
        inbox
    }

    /// Gives a transient-local subscription what its publishers retain. Runs its filter.
    pub(crate) fn join(&self, inbox: &Arc<Inbox>) {
        if !inbox.wanted.qos.is_transient_local() {
            return;
        }
        let outlets: Vec<_> = {
            let topics = self.topics.lock();
            let Some(topic) = topics.get(&inbox.wanted.topic) else { return };
            let matching = |outlet: &&Arc<Outlet>| {
                matches!(match_ends(outlet.table, &outlet.qos, inbox), Match::Yes)
                    && !(inbox.wanted.ignore_own && outlet.node_number == inbox.wanted.node_number)
            };
            topic.outlets.iter().filter(matching).cloned().collect()
        };
        let mut retained: Vec<_> = outlets.iter().flat_map(|outlet| outlet.retained()).collect();
        if let Some(filter) = &inbox.wanted.filter {
            retained.retain(|entry| filter(&entry.message));
        }
        inbox.merge(retained);
    }

    pub(crate) fn remove_inbox(&self, inbox: &Arc<Inbox>) {
        let gone = Outbox::with(|outbox| {
            let mut topics = self.topics.lock();
            let topic = topics.get_mut(&inbox.wanted.topic)?;
            let index = topic.inboxes.iter().position(|other| Arc::ptr_eq(other, inbox))?;
            let gone = topic.inboxes.remove(index); // their order is the order of delivery
            let old = topic.reroute(inbox);
            self.count_change();
            for outlet in &topic.outlets {
                if matches!(match_ends(outlet.table, &outlet.qos, inbox), Match::Yes) {
                    part(outlet, inbox, outbox);
                }
            }
            let topic = topic.is_empty().then(|| topics.remove(&inbox.wanted.topic));
            Some((gone, old, topic))
        });
        drop(gone); // outside the lock
    }

    /// Every subscription, e.g. to wake who waits for one.
    pub(crate) fn inboxes(&self) -> Vec<Arc<Inbox>> {
        self.topics.lock().values().flat_map(|topic| topic.inboxes.iter().cloned()).collect()
    }
}

impl Topic {
    fn is_empty(&self) -> bool {
        self.outlets.is_empty() && self.inboxes.is_empty()
    }

    /// The class of publishers like this; a new one finds who is there.
    fn class_for(&mut self, table: &'static Table, qos: &QoS) -> Arc<Class> {
        let same = |class: &&Arc<Class>| {
            class.table.representation == table.representation && class.qos.same_class(qos)
        };
        if let Some(class) = self.classes.iter().find(same) {
            return class.clone();
        }
        let class = Class::new(table, *qos, self.routes_for(table, qos));
        self.classes.push(class.clone());
        class
    }

    fn routes_for(&self, table: &Table, qos: &QoS) -> Routes {
        let matching = |inbox: &&Arc<Inbox>| matches!(match_ends(table, qos, inbox), Match::Yes);
        Routes::new(self.inboxes.iter().filter(matching).cloned().collect(), qos.is_blocking())
    }

    /// New lists for the classes that the inbox matches; returns the old ones.
    fn reroute(&self, inbox: &Inbox) -> Vec<Arc<Routes>> {
        let matching = |class: &&Arc<Class>| matches!(match_ends(class.table, &class.qos, inbox), Match::Yes);
        let classes = self.classes.iter().filter(matching);
        classes.map(|class| class.replace(self.routes_for(class.table, &class.qos))).collect()
    }
}

/// Tells both ends, which matched, that one of them goes.
fn part(outlet: &Outlet, inbox: &Inbox, outbox: &mut Outbox) {
    outlet.observers.is_unmatched(outbox);
    inbox.observers.is_unmatched(outbox);
    if let Some(liveliness) = &inbox.liveliness {
        liveliness.is_unmatched(outlet.promised.pulse.as_ref(), outbox);
    }
}

/// Tells both ends what they are to each other.
fn tell(outlet: &Outlet, inbox: &Inbox, outbox: &mut Outbox) {
    let publisher = || format!("publisher on {} of node {}", outlet.topic, outlet.node);
    let subscription = || format!("subscription to {} of node {}", inbox.wanted.topic, inbox.wanted.node);
    match match_ends(outlet.table, &outlet.qos, inbox) {
        Match::Yes => {
            outlet.observers.is_matched(outbox);
            inbox.observers.is_matched(outbox);
            if let Some(liveliness) = &inbox.liveliness {
                liveliness.is_matched(outlet.promised.pulse.as_ref(), outbox);
            }
        }
        Match::OtherQos(policy) => {
            let reason = format!(
                "{} is offered by the {}, {} is requested by the {}",
                outlet.qos.word(policy),
                publisher(),
                inbox.wanted.qos.word(policy),
                subscription(),
            );
            outlet.observers.has_incompatible_qos(&publisher(), policy, &reason, outbox);
            inbox.observers.has_incompatible_qos(&subscription(), policy, &reason, outbox);
        }
        Match::OtherType => {
            let reason = format!(
                "the {} has type {}, the {} has type {}",
                publisher(),
                outlet.table.describe(),
                subscription(),
                inbox.wanted.table.describe(),
            );
            outlet.observers.has_incompatible_type(&publisher(), &reason, outbox);
            inbox.observers.has_incompatible_type(&subscription(), &reason, outbox);
        }
    }
}
