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
    /// Indices of the inboxes that want the message, and the reference that each gets (`None`: the original).
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
    pub(crate) fn choose(&mut self, routes: &Subscribers, node: Option<u64>, message: &RawMessage) {
        self.chosen.clear();
        for (index, inbox) in routes.inboxes.iter().enumerate() {
            let wanted = &inbox.wanted;
            let own = wanted.ignore_own && Some(wanted.node_number) == node;
            if !own && wanted.filter.as_ref().is_none_or(|filter| filter(message)) {
                self.chosen.push((index, None));
            }
        }
    }

    pub(crate) fn plan(&self, routes: &Subscribers, form: Ownership) -> CopyPlan {
        let count = |role| self.chosen.iter().filter(|(i, _)| routes.inboxes[*i].wanted.role == role).count();
        CopyPlan::new(form, count(Role::Owner), count(Role::Sharer), count(Role::Value))
    }

    /// Makes the copies; if a `Clone` panics, nothing has been delivered.
    pub(crate) fn copy(
        &mut self,
        routes: &Subscribers,
        plan: CopyPlan,
        message: &RawMessage,
        pool: &Arc<Pool>,
    ) {
        let mut nth = [0; 3];
        let mut shared: Option<RawMessage> = None;
        // The last that reads along: it gets the original itself if nobody else does, so that no reference stays with the publisher, whose
        // thread may be slow, when all who read have let go.
        let mut last = None;
        for (place, (index, given)) in self.chosen.iter_mut().enumerate() {
            let wanted = &routes.inboxes[*index].wanted;
            let share = plan.share(wanted.role, nth[wanted.role as usize]);
            nth[wanted.role as usize] += 1;
            let pool = if wanted.role == Role::Value { &wanted.pool } else { pool };
            *given = match share {
                Disposition::Original => None,
                Disposition::OriginalShared => {
                    last = Some(place);
                    Some(message.another())
                }
                Disposition::Copy => Some(duplicate(message, routes, pool)),
                Disposition::SharedCopy => {
                    let copy = shared.get_or_insert_with(|| duplicate(message, routes, pool));
                    Some(copy.another())
                }
            };
        }
        if let Some((_, given)) = last.and_then(|place| self.chosen.get_mut(place)) {
            *given = None;
        }
    }

    pub(crate) fn deliver(
        &mut self,
        message: RawMessage,
        publication: &Publication,
        promises: &Permits<'_>,
        outbox: &mut Deferred,
    ) {
        let mut original = Some(message);
        for (index, given) in self.chosen.drain(..) {
            let inbox = &promises.routes.inboxes[index];
            let message = match (given, original.take()) {
                (Some(given), untouched) => {
                    original = untouched;
                    given
                }
                // SAFETY: `Original` goes to one buffer only, so this is the sole reference; the inbox's pool is for the
                // type that the topic's ends agreed on when they matched.
                (None, Some(message)) if inbox.wanted.role == Role::Value => unsafe {
                    message.move_into(&inbox.wanted.pool)
                },
                (None, Some(message)) => message,
                (None, None) => continue,
            };
            let place = if promises.has(inbox) { Admission::Reserved } else { Admission::Any };
            outbox.add(inbox.push(message, publication, place));
        }
        outbox.dropped.extend(original);
    }
}

/// A copy, made by whoever of the subscriptions knows how: all that own their messages do.
fn duplicate(message: &RawMessage, routes: &Subscribers, pool: &Arc<Pool>) -> RawMessage {
    let clone = routes.inboxes.iter().find_map(|inbox| inbox.wanted.clone);
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
    routes: &'a Subscribers,
    /// Indices of the inboxes, ascending.
    at: Vec<usize>,
}

impl<'a> Permits<'a> {
    /// Reserves a place at every chosen inbox that may hold up the publisher, in their order; all, or none.
    pub(super) fn collect(
        routes: &'a Subscribers,
        given: &mut Recipients,
        (qos, session): (&QoS, &Session),
        deadline: Time,
    ) -> Result<Self, Unpublished> {
        let mut promises =
            Permits { routes, at: PROMISED.try_with(std::cell::Cell::take).unwrap_or_default() };
        if !qos.is_blocking() {
            return Ok(promises);
        }
        let mut failure = None;
        given.chosen.retain(|(index, _)| {
            let inbox = &routes.inboxes[*index];
            if failure.is_some() || !inbox.wanted.qos.is_blocking() {
                return true;
            }
            match inbox.reserve(deadline.nanoseconds(), &session.waits, &session.ended) {
                Ok(()) => promises.at.push(*index),
                Err(NoPermit::Gone) => return false,
                Err(NoPermit::Full) => failure = Some(Unpublished::Full),
                Err(NoPermit::WouldDeadlock) => failure = Some(Unpublished::WouldDeadlock),
                Err(NoPermit::Shutdown) => failure = Some(Unpublished::Shutdown),
            }
            true
        });
        failure.map_or(Ok(promises), Err)
    }

    /// The same for a message that came from another process: without waiting, and `None` if there is a place missing.
    pub(crate) fn collect_now(routes: &'a Subscribers, given: &Recipients, blocking: bool) -> Option<Self> {
        let mut promises =
            Permits { routes, at: PROMISED.try_with(std::cell::Cell::take).unwrap_or_default() };
        for (index, _) in given.chosen.iter().filter(|_| blocking) {
            let inbox = &routes.inboxes[*index];
            match inbox.wanted.qos.is_blocking().then(|| inbox.try_reserve()).flatten() {
                Some(true) => promises.at.push(*index),
                Some(false) => return None,
                None => {}
            }
        }
        Some(promises)
    }

    fn has(&self, inbox: &Arc<SubscriptionCore>) -> bool {
        self.at.iter().any(|&index| Arc::ptr_eq(&self.routes.inboxes[index], inbox))
    }

    /// The messages came: the places are theirs.
    pub(crate) fn kept(mut self) {
        self.at.clear();
    }
}

impl Drop for Permits<'_> {
    fn drop(&mut self) {
        self.at.drain(..).for_each(|index| self.routes.inboxes[index].unreserve());
        let _ = PROMISED.try_with(|place| place.set(mem::take(&mut self.at))); // none is left in a thread that ends
    }
}
