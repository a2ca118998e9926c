//! Who gets what of one message, where that takes thought: filters, reserved places, copies.
//!
//! All of it happens under no lock; a publisher that finds the list changed afterwards does it again.

use super::copy_plan::{CopyPlan, Disposition, Ownership, Role};
use super::session::Session;
use super::subscribers::Subscribers;
use super::subscription_core::{NoPermit, SubscriptionCore};
use crate::mailbox::deferred::Deferred;
use crate::mailbox::history::Admission;
use crate::message::block::{Pool, RawMessage};
use crate::message::info::Publication;
use crate::ros::qos::QoS;
use crate::sys::clock::Time;
use crate::sys::sync::Arc;
use std::mem;

/// Who gets what in one careful publish: scratch that is used again.
#[derive(Default)]
pub(crate) struct Recipients {
    /// Indices of the subscriptions that want the message, and the reference that each gets (`None`: the original).
    chosen: Vec<(usize, Option<RawMessage>)>,
}

thread_local! {
    static GIVEN: std::cell::Cell<Vec<(usize, Option<RawMessage>)>> = const { std::cell::Cell::new(Vec::new()) };
    static PROMISED: std::cell::Cell<Vec<usize>> = const { std::cell::Cell::new(Vec::new()) };
}

impl Drop for Recipients {
    fn drop(&mut self) {
        self.chosen.clear();
        let _ = GIVEN.try_with(|place| place.set(mem::take(&mut self.chosen))); // none is left in a thread that ends
    }
}

impl Recipients {
    pub(crate) fn take() -> Self {
        Self { chosen: GIVEN.try_with(std::cell::Cell::take).unwrap_or_default() }
    }

    /// Whether nobody wants the message.
    pub(crate) fn is_empty(&self) -> bool {
        self.chosen.is_empty()
    }

    pub(crate) fn forget_copies(&mut self) {
        self.chosen.clear();
    }

    /// Runs the filters.
    pub(crate) fn choose(&mut self, subscribers: &Subscribers, node: Option<u64>, message: &RawMessage) {
        self.chosen.clear();
        for (index, subscription) in subscribers.subscriptions.iter().enumerate() {
            let wanted = &subscription.wanted;
            let own = wanted.ignore_own && Some(wanted.node_number) == node;
            if !own && wanted.filter.as_ref().is_none_or(|filter| filter(message)) {
                self.chosen.push((index, None));
            }
        }
    }

    pub(crate) fn plan(&self, subscribers: &Subscribers, form: Ownership) -> CopyPlan {
        let count = |role| {
            self.chosen.iter().filter(|(i, _)| subscribers.subscriptions[*i].wanted.role == role).count()
        };
        CopyPlan::new(form, count(Role::Owner), count(Role::Sharer), count(Role::Value))
    }

    /// Makes the copies; if a `Clone` panics, nothing has been delivered.
    pub(crate) fn copy(
        &mut self,
        subscribers: &Subscribers,
        plan: CopyPlan,
        message: &RawMessage,
        pool: &Arc<Pool>,
    ) {
        let mut nth = [0; 3];
        let mut shared: Option<RawMessage> = None;
        // The last that reads along: it gets the original itself if nobody else does, so that no reference stays with the publisher, whose
        // thread may be slow, when all who read have let go.
        let mut last = None;
        for (place, (index, recipients)) in self.chosen.iter_mut().enumerate() {
            let wanted = &subscribers.subscriptions[*index].wanted;
            let share = plan.share(wanted.role, nth[wanted.role as usize]);
            nth[wanted.role as usize] += 1;
            let pool = if wanted.role == Role::Value { &wanted.pool } else { pool };
            *recipients = match share {
                Disposition::Original => None,
                Disposition::OriginalShared => {
                    last = Some(place);
                    Some(message.another())
                }
                Disposition::Copy => Some(duplicate(message, subscribers, pool)),
                Disposition::SharedCopy => {
                    let copy = shared.get_or_insert_with(|| duplicate(message, subscribers, pool));
                    Some(copy.another())
                }
            };
        }
        if let Some((_, recipients)) = last.and_then(|place| self.chosen.get_mut(place)) {
            *recipients = None;
        }
    }

    pub(crate) fn deliver(
        &mut self,
        message: RawMessage,
        publication: &Publication,
        permits: &Permits<'_>,
        deferred: &mut Deferred,
    ) {
        let mut original = Some(message);
        for (index, recipients) in self.chosen.drain(..) {
            let subscription = &permits.subscribers.subscriptions[index];
            let message = match (recipients, original.take()) {
                (Some(recipients), untouched) => {
                    original = untouched;
                    recipients
                }
                // SAFETY: `Original` goes to one buffer only, so this is the sole reference; the subscription's pool is for the
                // type that the topic's ends agreed on when they matched.
                (None, Some(message)) if subscription.wanted.role == Role::Value => unsafe {
                    message.move_into(&subscription.wanted.pool)
                },
                (None, Some(message)) => message,
                (None, None) => continue,
            };
            let place = if permits.has(subscription) { Admission::Reserved } else { Admission::Any };
            deferred.add(subscription.push(message, publication, place));
        }
        deferred.dropped.extend(original);
    }
}

/// A copy, made by whoever of the subscriptions knows how: all that own their messages do.
fn duplicate(message: &RawMessage, subscribers: &Subscribers, pool: &Arc<Pool>) -> RawMessage {
    let clone = subscribers.subscriptions.iter().find_map(|subscription| subscription.wanted.clone);
    #[expect(
        clippy::expect_used,
        reason = "a plan has copies only if a buffer owns, and creating one requires `Clone`"
    )]
    let clone = clone.expect("a subscription that owns its messages can clone them");
    // SAFETY: matching made sure that the subscriptions and the publisher have the same type, so that the function and the
    // pool are for the type of the message.
    unsafe { message.duplicate(clone, pool) }
}

/// Why a message could not be published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unpublished {
    /// There is no memory for its image.
    NoSpace {
        wanted: usize,
        free: u64,
        size: u64,
    },
    Shutdown,
    Closed,
    Full,
    WouldDeadlock,
    /// It is an image of which no value can be made, and somebody here takes values.
    Undecodable,
}

/// Places reserved for one message. Dropped, they are given back.
pub(crate) struct Permits<'a> {
    subscribers: &'a Subscribers,
    /// Indices of the subscriptions, ascending.
    at: Vec<usize>,
}

impl<'a> Permits<'a> {
    /// Reserves a place at every chosen subscription that may hold up the publisher, in their order; all, or none.
    pub(super) fn collect(
        subscribers: &'a Subscribers,
        recipients: &mut Recipients,
        (qos, session): (&QoS, &Session),
        deadline: Time,
    ) -> Result<Self, Unpublished> {
        let mut permits =
            Permits { subscribers, at: PROMISED.try_with(std::cell::Cell::take).unwrap_or_default() };
        if !qos.is_blocking() {
            return Ok(permits);
        }
        let mut failure = None;
        recipients.chosen.retain(|(index, _)| {
            let subscription = &subscribers.subscriptions[*index];
            if failure.is_some() || !subscription.wanted.qos.is_blocking() {
                return true;
            }
            match subscription.reserve(deadline.nanoseconds(), &session.wait_graph, &session.ended) {
                Ok(()) => permits.at.push(*index),
                Err(NoPermit::Gone) => return false,
                Err(NoPermit::Full) => failure = Some(Unpublished::Full),
                Err(NoPermit::WouldDeadlock) => failure = Some(Unpublished::WouldDeadlock),
                Err(NoPermit::Shutdown) => failure = Some(Unpublished::Shutdown),
            }
            true
        });
        failure.map_or(Ok(permits), Err)
    }

    /// The same for a message that came from another process: without waiting, and `None` if there is a place missing.
    pub(crate) fn collect_now(
        subscribers: &'a Subscribers,
        recipients: &Recipients,
        blocking: bool,
    ) -> Option<Self> {
        let mut permits =
            Permits { subscribers, at: PROMISED.try_with(std::cell::Cell::take).unwrap_or_default() };
        for (index, _) in recipients.chosen.iter().filter(|_| blocking) {
            let subscription = &subscribers.subscriptions[*index];
            match subscription.wanted.qos.is_blocking().then(|| subscription.try_reserve()).flatten() {
                Some(true) => permits.at.push(*index),
                Some(false) => return None,
                None => {}
            }
        }
        Some(permits)
    }

    fn has(&self, subscription: &Arc<SubscriptionCore>) -> bool {
        self.at.iter().any(|&index| Arc::ptr_eq(&self.subscribers.subscriptions[index], subscription))
    }

    /// The messages came: the places are theirs.
    pub(crate) fn kept(mut self) {
        self.at.clear();
    }
}

impl Drop for Permits<'_> {
    fn drop(&mut self) {
        self.at.drain(..).for_each(|index| self.subscribers.subscriptions[index].unreserve());
        let _ = PROMISED.try_with(|place| place.set(mem::take(&mut self.at))); // none is left in a thread that ends
    }
}
