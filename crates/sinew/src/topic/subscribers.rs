//! The subscriptions that publishers of one class have: immutable lists, made anew when somebody comes or goes.

use super::copy_plan::Role;
use super::subscription_core::SubscriptionCore;
use super::typed_reader::TypedReader;
use crate::mailbox::history::Admission;
use crate::message::type_support::TypeSupport;
use crate::message::work::CopyWork;
use crate::ros::qos::QoS;
use crate::sys::sync::{Arc, Mutex};
use std::mem;

/// Subscriptions of one type that take messages in the same way.
pub(crate) struct TypedReaders {
    pub(crate) subscribers: Arc<Subscribers>,
    pub(crate) reader: TypedReader,
}

impl TypedReaders {
    /// Counts what is done once for all of them: at the first.
    #[inline]
    pub(crate) fn count(&self, work: CopyWork) {
        if let Some(first) = self.subscribers.subscriptions().first() {
            first.count(work);
        }
    }
}

/// Groups of these subscriptions. Those that read in place come last: the last one gets what holds the image.
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
    let mut all = Vec::with_capacity(groups.len()); // collected in place, it would keep the room of what it is made of
    all.extend(groups.into_iter().map(group));
    all
}

/// The subscriptions of a class of publishers, and what a publish needs to know of them all.
#[derive(Default)]
pub(crate) struct Subscribers {
    pub(super) subscriptions: Box<[Arc<SubscriptionCore>]>,
    pub(super) owners: usize,
    pub(super) sharers: usize,
    pub(super) values: usize,
    /// Some have a filter, or ignore their own node.
    pub(super) particular: bool,
    /// Some can hold up the publisher.
    pub(super) bound: bool,
    /// All take images as they are.
    pub(super) take_images: bool,
    /// Those whose messages are other types of the program, for the same type of ROS 2: they get what the message's image says.
    pub(super) others: Vec<TypedReaders>,
}

impl Subscribers {
    pub(crate) fn new(subscriptions: Vec<Arc<SubscriptionCore>>, blocking: bool) -> Self {
        let count =
            |role| subscriptions.iter().filter(|subscription| subscription.wanted.role == role).count();
        let particular = subscriptions.iter().any(|subscription| {
            let wanted = &subscription.wanted;
            wanted.filter.is_some() || wanted.ignore_own
        });
        let bound =
            blocking && subscriptions.iter().any(|subscription| subscription.wanted.qos.is_blocking());
        let (owners, sharers, values) = (count(Role::Owner), count(Role::Sharer), count(Role::Value));
        let take_images = subscriptions.iter().all(|subscription| subscription.wanted.check.is_some());
        let (subscriptions, others) = (subscriptions.into(), Vec::new());
        Self { subscriptions, owners, sharers, values, particular, bound, take_images, others }
    }

    /// The subscriptions of publishers with this type of message.
    pub(super) fn of_class(
        subscriptions: Vec<Arc<SubscriptionCore>>,
        table: &TypeSupport,
        blocking: bool,
    ) -> Self {
        let is_same = |subscription: &Arc<SubscriptionCore>| {
            subscription.wanted.table.representation == table.representation
        };
        let (same, others): (Vec<_>, Vec<_>) = subscriptions.into_iter().partition(is_same);
        Self { others: groups(&others, blocking), ..Self::new(same, blocking) }
    }

    /// Whether this is the only subscription.
    pub(crate) fn is_only(&self, subscription: &SubscriptionCore) -> bool {
        matches!(&*self.subscriptions, [only] if std::ptr::eq(&raw const **only, subscription))
    }

    pub(crate) fn subscriptions(&self) -> &[Arc<SubscriptionCore>] {
        &self.subscriptions
    }

    /// All take references, and nothing else is to be thought of.
    pub(crate) fn is_plain_sharers(&self) -> bool {
        !self.particular && self.owners == 0 && self.values == 0
    }

    /// Reserves a place at each subscription that may hold up the publisher, without waiting: at all of them or at none. The
    /// message then gets the place that [`place_at`](Self::place_at) says.
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
        let all = if self.bound { &self.subscriptions[..] } else { &[] };
        all.iter().filter(|subscription| subscription.wanted.qos.is_blocking())
    }

    /// The place of a message at one of these, after places were [reserved](Self::reserve).
    #[inline]
    pub(crate) fn place_at(&self, subscription: &SubscriptionCore) -> Admission {
        if self.bound && subscription.wanted.qos.is_blocking() { Admission::Reserved } else { Admission::Any }
    }

    /// The same for one for which no place was reserved: it goes back if there is none.
    #[inline]
    pub(crate) fn place_before_reserving(&self, subscription: &SubscriptionCore) -> Admission {
        if self.bound && subscription.wanted.qos.is_blocking() { Admission::Free } else { Admission::Any }
    }

    /// Nobody could read a message before it is given away.
    pub(super) fn nobody_shares(&self) -> bool {
        self.sharers == 0
    }
}

/// The publishers of one topic, type and QoS class, as far as matching goes.
pub(crate) struct MatchClass {
    pub(crate) table: &'static TypeSupport,
    pub(crate) qos: QoS,
    pub(super) subscribers: Mutex<Arc<Subscribers>>,
}

impl MatchClass {
    pub(crate) fn new(table: &'static TypeSupport, qos: QoS, subscribers: Subscribers) -> Arc<Self> {
        Arc::new(Self { table, qos, subscribers: Mutex::new(Arc::new(subscribers)) })
    }

    /// The list changes (before C1); returns the old one, to be dropped outside all locks.
    #[must_use]
    pub(crate) fn replace(&self, subscribers: Subscribers) -> Arc<Subscribers> {
        mem::replace(&mut *self.subscribers.lock(), Arc::new(subscribers))
    }
}
