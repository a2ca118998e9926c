//! The subscriptions of a class of publishers: immutable lists, replaced when a subscription is
//! added or removed.

use super::copy_plan::Role;
use super::strategy::Strategy;
use super::subscription_core::SubscriptionCore;
use super::typed_reader::TypedReader;
use crate::message::type_support::TypeSupport;
use crate::message::work::CopyWork;
use crate::ros::mismatch::End;
use crate::ros::origin::Origin;
use crate::ros::qos::QoS;
use crate::sys::sync::{Arc, Mutex};
use std::mem;

/// Subscriptions of one type that take messages in the same way.
pub(crate) struct TypedReaders {
    pub(crate) subscribers: Arc<Subscribers>,
    pub(crate) reader: TypedReader,
}

impl TypedReaders {
    /// Counts, at the first subscription, work that was done once for all of them.
    #[inline]
    pub(crate) fn count(&self, work: CopyWork) {
        if let Some(first) = self.subscribers.subscriptions().first() {
            first.count(work);
        }
    }
}

/// Groups these subscriptions by type and by how they take messages. Groups that read in place come
/// last: the last one gets the hold of the encoded bytes.
pub(crate) fn groups(subscriptions: &[Arc<SubscriptionCore>], blocking: bool) -> Vec<TypedReaders> {
    let mut groups: Vec<(TypedReader, Vec<Arc<SubscriptionCore>>)> = Vec::new();
    for subscription in subscriptions {
        match groups.iter_mut().find(|(reader, _)| reader.suits(subscription)) {
            Some((_, of_type)) => of_type.push(subscription.clone()),
            None => groups.push((TypedReader::for_subscription(subscription), vec![subscription.clone()])),
        }
    }
    groups.sort_by_key(|(reader, _)| reader.reads_in_place());
    let group = |(reader, subscriptions)| TypedReaders {
        subscribers: Arc::new(Subscribers::new(subscriptions, blocking)),
        reader,
    };
    let mut all = Vec::with_capacity(groups.len()); // collecting in place would keep the capacity of `groups`
    all.extend(groups.into_iter().map(group));
    all
}

/// The subscriptions of a class of publishers, and a summary of them for publishing.
#[derive(Default)]
pub(crate) struct Subscribers {
    pub(super) subscriptions: Box<[Arc<SubscriptionCore>]>,
    /// The bits of the strategy that depend on the subscriptions.
    pub(super) strategy: Strategy,
    /// Whether some only read, and so could read a message before it is given away.
    pub(super) shares: bool,
    /// Subscriptions with another Rust type for the same ROS 2 type: they get messages converted
    /// through the encoded form.
    pub(super) others: Vec<TypedReaders>,
}

impl Subscribers {
    pub(crate) fn new(subscriptions: Vec<Arc<SubscriptionCore>>, blocking: bool) -> Self {
        let any =
            |is: fn(&SubscriptionCore) -> bool| subscriptions.iter().any(|subscription| is(subscription));
        let is_particular = any(|one| one.wanted.filter.is_some() || one.wanted.ignore_own);
        let owns = any(|one| one.wanted.role == Role::Owner);
        let copies = any(|one| one.wanted.role == Role::Value) || owns && subscriptions.len() > 1;
        let strategy = Strategy::LOCAL.only_if(!subscriptions.is_empty())
            | Strategy::CARE.only_if(is_particular || copies)
            | Strategy::OWNED.only_if(owns)
            | Strategy::VALUES.only_if(any(|one| one.wanted.check.is_none()))
            | Strategy::BOUND.only_if(blocking && any(|one| one.wanted.qos.is_blocking()));
        let shares = any(|one| one.wanted.role == Role::Sharer);
        Self { subscriptions: subscriptions.into(), strategy, shares, others: Vec::new() }
    }

    /// Returns the subscriptions of publishers with this message type.
    pub(super) fn of_class(
        subscriptions: Vec<Arc<SubscriptionCore>>,
        table: &TypeSupport,
        blocking: bool,
    ) -> Self {
        let is_same = |subscription: &Arc<SubscriptionCore>| subscription.wanted.table.is(table);
        let (same, others): (Vec<_>, Vec<_>) = subscriptions.into_iter().partition(is_same);
        let (same, others) = (Self::new(same, blocking), groups(&others, blocking));
        let strategy = same.strategy | Strategy::CARE.only_if(!others.is_empty());
        Self { strategy, others, ..same }
    }

    /// Whether this is the only subscription.
    pub(crate) fn is_only(&self, subscription: &SubscriptionCore) -> bool {
        matches!(&*self.subscriptions, [only] if std::ptr::eq(&raw const **only, subscription))
    }

    pub(crate) fn subscriptions(&self) -> &[Arc<SubscriptionCore>] {
        &self.subscriptions
    }

    /// Reserves a place for the message at each subscription that may block the publisher, without
    /// waiting: at all of them or at none.
    #[inline]
    pub(crate) fn reserve(&self) -> bool {
        let Some(full) = self.bound_subscriptions().position(|subscription| !subscription.reserve_free())
        else {
            return true;
        };
        self.bound_subscriptions().take(full).for_each(|subscription| subscription.unreserve());
        false
    }

    fn bound_subscriptions(&self) -> impl Iterator<Item = &Arc<SubscriptionCore>> {
        let all = if self.strategy.has(Strategy::BOUND) { &self.subscriptions[..] } else { &[] };
        all.iter().filter(|subscription| subscription.wanted.qos.is_blocking())
    }
}

/// The publishers of one topic, type and QoS class, as far as matching goes.
pub(crate) struct MatchClass {
    pub(crate) table: &'static TypeSupport,
    pub(crate) qos: QoS,
    pub(crate) origin: Origin,
    pub(super) subscribers: Mutex<Arc<Subscribers>>,
}

impl MatchClass {
    pub(crate) fn new(
        table: &'static TypeSupport,
        qos: QoS,
        origin: Origin,
        subscribers: Subscribers,
    ) -> Arc<Self> {
        Arc::new(Self { table, qos, origin, subscribers: Mutex::new(Arc::new(subscribers)) })
    }

    /// Returns its publishers' endpoint as matching sees it.
    pub(super) fn offers(&self) -> End<'_> {
        End::new(self.table, &self.qos, self.origin)
    }

    /// Replaces the list (before C1); returns the old one, to be dropped outside all locks.
    #[must_use]
    pub(crate) fn replace(&self, subscribers: Subscribers) -> Arc<Subscribers> {
        mem::replace(&mut *self.subscribers.lock(), Arc::new(subscribers))
    }
}
