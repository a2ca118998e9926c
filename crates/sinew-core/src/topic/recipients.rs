//! Delivers a message to the subscriptions of a list: as it is, or with filters, reserved places
//! and copies.
//!
//! Filters and copies run under no lock; a publisher that finds the list changed afterwards repeats
//! them.

use super::copy_plan::{CopyPlan, Disposition, Ownership, Role};
use super::strategy::Strategy;
use super::subscribers::{Subscribers, TypedReaders};
use super::subscription_core::SubscriptionCore;
use super::subscription_core::permits::NoPermit;
use crate::mailbox::deferred::Deferred;
use crate::mailbox::history::Admission;
use crate::message::block::{Pool, RawMessage};
use crate::message::info::Publication;
use crate::sys::panics::caught;
use crate::sys::sync::{Arc, no_lock_is_held};
use std::cell::Cell;
use std::mem;

/// Delivers a message as it is to all of these subscriptions. `place` applies to those that may
/// block the publisher. Returns the message if there is no subscription; otherwise the last one
/// gets the message itself, so that the publisher's thread, which may be slow, keeps no reference.
///
/// # Errors
/// Returns the message if it is for one subscription, which had no [free place](Admission::Free).
#[inline(always)]
pub(super) fn push_as_it_is(
    to: &[Arc<SubscriptionCore>],
    message: RawMessage,
    place: Admission,
    publication: &Publication,
    deferred: &mut Deferred,
) -> Result<Option<RawMessage>, RawMessage> {
    let Some((last, others)) = to.split_last() else { return Ok(Some(message)) };
    for subscription in others {
        let place = place_at(subscription, place);
        // With several subscriptions, `place` never requires a free one, so each takes the message.
        let _ = subscription.push(message.another(), publication, place, deferred);
    }
    let place = if others.is_empty() { place } else { place_at(last, place) };
    last.push(message, publication, place, deferred).map_or(Ok(None), Err)
}

/// Returns the admission for one of several subscriptions: only those that may block the publisher
/// reserve places.
#[inline]
fn place_at(subscription: &SubscriptionCore, place: Admission) -> Admission {
    let is_any = place == Admission::Any || !subscription.wanted.qos.is_blocking();
    if is_any { Admission::Any } else { place }
}

impl TypedReaders {
    /// Delivers a message that came from elsewhere to the subscriptions here, without waiting. If a
    /// filter or a `Clone` panics, all subscriptions lose the message, and this reports the panic.
    ///
    /// # Errors
    /// Returns the message, which no subscription got, if one that must get every message has no
    /// place.
    pub(crate) fn deliver(
        &self,
        mut message: RawMessage,
        publication: &Publication,
        deferred: &mut Deferred,
    ) -> Result<(), RawMessage> {
        let subscribers = &*self.subscribers;
        let to = subscribers.subscriptions();
        let is_bound = subscribers.strategy.has(Strategy::BOUND);
        let place = match to {
            _ if subscribers.strategy.has(Strategy::CARE) => None,
            _ if !is_bound => Some(Admission::Any),
            [_] => Some(Admission::Free),
            _ => subscribers.reserve().then_some(Admission::Reserved),
        };
        if let Some(place) = place {
            match push_as_it_is(to, message, place, publication, deferred) {
                Ok(left) => {
                    left.into_iter().for_each(|message| deferred.drop_later(message));
                    return Ok(());
                }
                Err(back) => message = back,
            }
        }
        self.deliver_with_care(message, publication, deferred)
    }

    /// Delivers a message with filters, places and copies.
    #[inline(never)]
    fn deliver_with_care(
        &self,
        message: RawMessage,
        publication: &Publication,
        deferred: &mut Deferred,
    ) -> Result<(), RawMessage> {
        let subscribers = &*self.subscribers;
        let is_bound = subscribers.strategy.has(Strategy::BOUND);
        let mut recipients = Recipients::of(subscribers);
        let reserve = |subscription: &SubscriptionCore| {
            if !is_bound || !subscription.wanted.qos.is_blocking() {
                return Ok(false);
            }
            match subscription.try_reserve() {
                Some(true) => Ok(true),
                Some(false) => Err(NoPermit::Full),
                None => Err(NoPermit::Gone),
            }
        };
        let pool = &self.reader.values;
        let selection = Selection { group: 0, ownership: Ownership::Unique, node: None, pool };
        no_lock_is_held(); // as in `select`, which may panic
        // A panic must not end this thread: it belongs to no publisher of the program, and other
        // messages need it.
        match caught(|| recipients.select(&selection, &message, reserve)) {
            Ok(Ok(_)) => {}
            Ok(Err(_)) => return Err(message),
            Err(panic) => {
                drop(recipients);
                let to = subscribers.subscriptions();
                to.iter().for_each(|subscription| subscription.is_lost_by_panic(&panic, deferred));
                deferred.drop_later(message);
                return Ok(());
            }
        }
        let left = recipients.deliver(message, publication, deferred);
        left.into_iter().for_each(|message| deferred.drop_later(message));
        Ok(())
    }
}

/// A group of subscriptions to select from, and the way to hand its message on.
pub(super) struct Selection<'a> {
    /// 0 for the list itself, otherwise one of the [groups](Subscribers::others) of other types.
    pub(super) group: usize,
    pub(super) ownership: Ownership,
    /// The publisher's node, if it is in this process.
    pub(super) node: Option<u64>,
    /// Blocks for copies.
    pub(super) pool: &'a Arc<Pool>,
}

/// The subscriptions that get one message on the slow path, and their shares of it. Dropping this
/// releases its reserved places.
pub(super) struct Recipients<'a> {
    subscribers: &'a Subscribers,
    /// Reused scratch memory: selecting allocates nothing.
    chosen: Vec<Recipient>,
}

/// A subscription that gets the message.
struct Recipient {
    /// As in [`Selection`].
    group: usize,
    index: usize,
    /// Whether a place is reserved at the subscription.
    is_reserved: bool,
    /// The message for the subscription; `None`: the original.
    message: Option<RawMessage>,
}

thread_local! {
    static SCRATCH: Cell<Vec<Recipient>> = const { Cell::new(Vec::new()) };
}

impl Drop for Recipients<'_> {
    fn drop(&mut self) {
        let subscribers = self.subscribers;
        for recipient in self.chosen.drain(..).filter(|recipient| recipient.is_reserved) {
            recipient.subscription(subscribers).unreserve();
        }
        let _ = SCRATCH.try_with(|place| place.set(mem::take(&mut self.chosen))); // or it is ending
    }
}

impl Recipient {
    #[inline]
    fn subscription<'a>(&self, subscribers: &'a Subscribers) -> &'a Arc<SubscriptionCore> {
        &list(subscribers, self.group).subscriptions[self.index]
    }
}

/// Returns the subscriptions of a [group](Selection::group).
#[inline]
fn list(subscribers: &Subscribers, group: usize) -> &Subscribers {
    match group {
        0 => subscribers,
        group => &subscribers.others[group - 1].subscribers,
    }
}

impl<'a> Recipients<'a> {
    pub(super) fn of(subscribers: &'a Subscribers) -> Self {
        Self { subscribers, chosen: SCRATCH.try_with(Cell::take).unwrap_or_default() }
    }

    /// Whether no subscription gets the message.
    pub(super) fn is_empty(&self) -> bool {
        self.chosen.is_empty()
    }

    /// Runs the filters of a [group](Selection::group), reserves places, plans, and makes the
    /// copies; returns their number. `reserve` returns whether there is a place to keep; this
    /// leaves out a subscription that is gone. If a `Clone` panics, nothing has been delivered.
    pub(super) fn select(
        &mut self,
        selection: &Selection<'_>,
        message: &RawMessage,
        mut reserve: impl FnMut(&SubscriptionCore) -> Result<bool, NoPermit>,
    ) -> Result<usize, NoPermit> {
        no_lock_is_held(); // filters and `Clone`
        let Selection { group, ownership, node, pool } = *selection;
        let (list, start) = (list(self.subscribers, group), self.chosen.len());
        for (index, subscription) in list.subscriptions.iter().enumerate() {
            let wanted = &subscription.wanted;
            let own = wanted.ignore_own && Some(wanted.node_number) == node;
            if !own && wanted.filter.as_ref().is_none_or(|filter| filter(message)) {
                self.chosen.push(Recipient { group, index, is_reserved: false, message: None });
            }
        }
        let mut at = start;
        while let Some(recipient) = self.chosen.get_mut(at) {
            match reserve(&list.subscriptions[recipient.index]) {
                Ok(is_reserved) => {
                    recipient.is_reserved = is_reserved;
                    at += 1;
                }
                Err(NoPermit::Gone) => drop(self.chosen.remove(at)),
                Err(reason) => return Err(reason),
            }
        }
        let chosen = &mut self.chosen[start..];
        let role_of = |recipient: &Recipient| list.subscriptions[recipient.index].wanted.role;
        let count = |role| chosen.iter().filter(|recipient| role_of(recipient) == role).count();
        let plan = CopyPlan::new(ownership, count(Role::Owner), count(Role::Sharer), count(Role::Value));
        copy(chosen, list, plan, message, pool);
        Ok(plan.copies())
    }

    /// Gives the original to the subscription of a group that is to have it; a subscription that
    /// takes another type gets it before the others do.
    pub(super) fn give(&mut self, group: usize, original: RawMessage) {
        let is_heir = |recipient: &&mut Recipient| recipient.group == group && recipient.message.is_none();
        if let Some(heir) = self.chosen.iter_mut().find(is_heir) {
            let subscription = heir.subscription(self.subscribers);
            heir.message = Some(settled(original, subscription));
        }
    }

    /// Delivers the message to all of them; returns it if none of them gets the original.
    pub(super) fn deliver(
        &mut self,
        message: RawMessage,
        publication: &Publication,
        deferred: &mut Deferred,
    ) -> Option<RawMessage> {
        let (mut original, subscribers) = (Some(message), self.subscribers);
        for mut recipient in self.chosen.drain(..) {
            let subscription = recipient.subscription(subscribers);
            let place = if recipient.is_reserved { Admission::Reserved } else { Admission::Any };
            let message = match (recipient.message.take(), &mut original) {
                (Some(message), _) => message,
                (None, original) => match original.take() {
                    Some(original) => settled(original, subscription),
                    None => continue,
                },
            };
            let _ = subscription.push(message, publication, place, deferred); // `place` requires no free one
        }
        original
    }
}

/// Returns the original in the form that this subscription stores.
fn settled(original: RawMessage, subscription: &SubscriptionCore) -> RawMessage {
    match subscription.wanted.role {
        // SAFETY: a plan gives the original to one buffer by ownership, so this is the sole
        // reference; the subscription's pool is for the type that the topic's endpoints agreed on
        // when they matched.
        Role::Value => unsafe { original.move_into(&subscription.wanted.pool) },
        Role::Owner | Role::Sharer => original,
    }
}

fn copy(
    chosen: &mut [Recipient],
    list: &Subscribers,
    plan: CopyPlan,
    message: &RawMessage,
    pool: &Arc<Pool>,
) {
    let mut nth = [0; 3];
    let mut shared: Option<RawMessage> = None;
    // As in `push_as_it_is`, the last sharer gets the original itself if no owner does.
    let mut last = None;
    for (place, recipient) in chosen.iter_mut().enumerate() {
        let wanted = &list.subscriptions[recipient.index].wanted;
        let share = plan.share(wanted.role, nth[wanted.role as usize]);
        nth[wanted.role as usize] += 1;
        let pool = if wanted.role == Role::Value { &wanted.pool } else { pool };
        recipient.message = match share {
            Disposition::Original => None,
            Disposition::OriginalShared => {
                last = Some(place);
                Some(message.another())
            }
            Disposition::Copy => Some(duplicate(message, list, pool)),
            Disposition::SharedCopy => {
                let copy = shared.get_or_insert_with(|| duplicate(message, list, pool));
                Some(copy.another())
            }
        };
    }
    if let Some(recipient) = last.and_then(|place| chosen.get_mut(place)) {
        recipient.message = None;
    }
}

/// Makes a copy with a subscription's clone function: every subscription that owns its messages has
/// one.
fn duplicate(message: &RawMessage, subscribers: &Subscribers, pool: &Arc<Pool>) -> RawMessage {
    let clone = subscribers.subscriptions.iter().find_map(|subscription| subscription.wanted.clone);
    #[expect(
        clippy::expect_used,
        reason = "a plan has copies only if a buffer owns, and creating one requires `Clone`"
    )]
    let clone = clone.expect("a subscription that owns its messages can clone them");
    // SAFETY: matching made sure that the subscriptions and the publisher have the same type, so
    // that the function and the pool are for the type of the message.
    unsafe { message.duplicate(clone, pool) }
}

/// The reason why a message could not be published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unpublished {
    /// There is no memory for its encoded form.
    NoSpace {
        wanted: usize,
        free: u64,
        size: u64,
    },
    Shutdown,
    Closed,
    Full,
    WouldDeadlock,
    /// The message is in encoded form and can't be decoded, and a subscription here takes values.
    Undecodable,
}

impl From<NoPermit> for Unpublished {
    fn from(reason: NoPermit) -> Self {
        match reason {
            // A subscription that is gone doesn't prevent a publish.
            NoPermit::Gone | NoPermit::Shutdown => Unpublished::Shutdown,
            NoPermit::Full => Unpublished::Full,
            NoPermit::WouldDeadlock => Unpublished::WouldDeadlock,
        }
    }
}
