//! A publisher's end of the delivery.
//!
//! # How a publish finds its subscriptions
//!
//! All publishers of one topic, type and QoS class share a [`Class`], which has an immutable list of the inboxes that match.
//! Creating or destroying a subscription makes a new list for the classes it matches, and counts the graph's generation up.
//! A publisher keeps, under its own lock, the list it used last and the generation at which it fetched it, and fetches
//! again when the generation has changed. So publishing looks nothing up, allocates nothing, and takes two kinds of short
//! locks: its own, and that of each history it delivers to. (One generation for all topics costs a fetch per publisher after
//! each change, and makes the check of the others read a line that is always in the cache.)
//!
//! # Sync points
//!
//! - C1 `Graph::count_change`: the list under the class's lock ([`Class::replace`]), then generation + 1 (Release).
//! - C2 `Graph::generation` (Acquire) under the publisher's lock. Pairs with C1: seeing the new number means finding at
//!   least the list it stands for. Seeing the old one means that the publish began before the join returned.
//!
//! # Joining is atomic with publishing
//!
//! A late joiner of a transient-local publisher is in the list first (C1), then locks the publisher, has it fetch the
//! list, and copies what it retains. Each message is published before that lock (then it is retained, and perhaps
//! delivered too: [`History::merge`](super::history::History::merge) drops the second one) or after it (then it is
//! delivered).
//!
//! # The user's code
//!
//! Filters, `Clone` and `Drop` run on the publishing thread under none of these locks: a publish that needs any of them
//! takes the list out, does them, and delivers then. A transient-local publisher does it again if the list has changed
//! meanwhile, since a late joiner may rely on either getting the message or finding it retained.

use super::deadline::Deadline;
use super::history::{Entry, Place};
use super::inbox::{Inbox, NoPlace, Outbox};
use super::liveliness::Pulse;
use super::observers::Observers;
use super::plan::{Form, Plan, Role, Share};
use crate::clock::Time;
use crate::context::Shared as ContextShared;
use crate::event::OfferedDeadlineMissed;
use crate::executor::trail;
use crate::message::block::{Erased, Pool};
use crate::message::info::Publication;
use crate::message::table::Table;
use crate::qos::QoS;
use crate::sync::{Arc, Guard, Mutex};
use std::collections::VecDeque;
use std::mem;

/// The subscriptions of a class of publishers, and what a publish needs to know of them all.
#[derive(Default)]
pub(crate) struct Routes {
    inboxes: Box<[Arc<Inbox>]>,
    owners: usize,
    sharers: usize,
    values: usize,
    /// Some have a filter, ignore their own node, or can hold up the publisher.
    particular: bool,
}

impl Routes {
    pub(crate) fn new(inboxes: Vec<Arc<Inbox>>, blocking: bool) -> Self {
        let count = |role| inboxes.iter().filter(|inbox| inbox.wanted.role == role).count();
        let particular = inboxes.iter().any(|inbox| {
            let wanted = &inbox.wanted;
            wanted.filter.is_some() || wanted.ignore_own || (blocking && wanted.qos.is_blocking())
        });
        let (owners, sharers, values) = (count(Role::Owner), count(Role::Sharer), count(Role::Value));
        Self { inboxes: inboxes.into(), owners, sharers, values, particular }
    }
}

/// The publishers of one topic, type and QoS class, as far as matching goes.
pub(crate) struct Class {
    pub(crate) table: &'static Table,
    pub(crate) qos: QoS,
    routes: Mutex<Arc<Routes>>,
}

impl Class {
    pub(crate) fn new(table: &'static Table, qos: QoS, routes: Routes) -> Arc<Self> {
        Arc::new(Self { table, qos, routes: Mutex::new(Arc::new(routes)) })
    }

    /// The list changes (before C1); returns the old one, to be dropped outside all locks.
    #[must_use]
    pub(crate) fn replace(&self, routes: Routes) -> Arc<Routes> {
        mem::replace(&mut *self.routes.lock(), Arc::new(routes))
    }
}

/// A publisher.
///
/// What every publish touches comes first, and close together: after a sleep, fetching it from memory is what it costs.
#[repr(C)]
pub(crate) struct Outlet {
    state: Mutex<State>,
    pub(crate) context: Arc<ContextShared>,
    /// The publisher's number in its participant.
    pub(crate) number: u64,
    /// Nanoseconds that its messages live; `i64::MAX` for ever.
    lifespan: i64,
    /// Blocks for what it publishes.
    pub(crate) pool: Arc<Pool>,
    /// Where the thread that publishes with it has noted it.
    pub(crate) place: trail::Place,
    pub(crate) qos: QoS,
    pub(crate) class: Arc<Class>,
    pub(crate) topic: Arc<str>,
    /// The node's full name, for people.
    pub(crate) node: Arc<str>,
    pub(crate) node_number: u64,
    pub(crate) table: &'static Table,
    pub(crate) observers: Observers,
    pub(crate) promised: Promised,
}

/// What a publisher has promised, as far as somebody watches whether it keeps it.
pub(crate) struct Promised {
    pub(crate) deadline: Option<Arc<Deadline<OfferedDeadlineMissed>>>,
    /// Of a manual publisher with a lease.
    pub(crate) pulse: Option<Arc<Pulse>>,
}

impl Promised {
    fn is_watched(&self) -> bool {
        self.deadline.is_some() || self.pulse.is_some()
    }

    fn published(&self, publication: &Publication, outbox: &mut Outbox) {
        let at = publication.stamp.time;
        if let Some(deadline) = &self.deadline {
            outbox.signal(deadline.arrived(at));
        }
        if let Some(pulse) = &self.pulse {
            pulse.published(at, outbox);
        }
    }
}

#[repr(C)]
struct State {
    /// The graph's generation at which `routes` were fetched.
    generation: u64,
    sequence: u64,
    way: Way,
    /// What late joiners get: of a transient-local publisher only.
    retained: Option<Box<Retained>>,
    copies: u64,
    closed: bool,
}

/// The newest messages of a transient-local publisher, oldest first.
#[derive(Default)]
struct Retained(VecDeque<(Erased, Publication)>);

/// How to deliver, as far as the list says.
enum Way {
    /// Nobody listens.
    Nobody,
    /// One that takes references: any message goes to it as it is.
    Sharer(Arc<Inbox>),
    /// One that owns: a message of which there is one reference goes to it as it is.
    Owner(Arc<Inbox>),
    /// Several that take references.
    Sharers(Arc<Routes>),
    /// Filters, reserved places, copies or moves may be needed, or the publisher has promises that are watched.
    Careful,
}

impl Way {
    fn along(routes: &Arc<Routes>, retains: bool, watched: bool) -> Self {
        let Routes { inboxes, owners, sharers, values, particular } = &**routes;
        match (&**inboxes, owners, sharers, values) {
            _ if *particular || watched => Way::Careful,
            ([], ..) => Way::Nobody,
            ([sole], 0, 1, 0) => Way::Sharer(sole.clone()),
            ([sole], 1, 0, 0) if !retains => Way::Owner(sole.clone()),
            (_, 0, _, 0) => Way::Sharers(routes.clone()),
            _ => Way::Careful,
        }
    }
}

/// Why a message could not be published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unpublished {
    Shutdown,
    Closed,
    Full,
    WouldDeadlock,
}

/// What an outlet has done.
pub(crate) struct Sent {
    pub(crate) published: u64,
    pub(crate) copies: u64,
    pub(crate) retained: usize,
}

/// What an outlet is made of; fixed when it is created.
pub(crate) struct Offered {
    pub(crate) number: u64,
    pub(crate) topic: Arc<str>,
    pub(crate) node: Arc<str>,
    pub(crate) node_number: u64,
    pub(crate) qos: QoS,
    pub(crate) table: &'static Table,
    pub(crate) pool: Arc<Pool>,
    pub(crate) context: Arc<ContextShared>,
    pub(crate) promised: Promised,
}

impl Outlet {
    pub(crate) fn new(offered: Offered, class: Arc<Class>, observers: Observers) -> Arc<Self> {
        let Offered { number, topic, node, node_number, qos, table, pool, context, promised } = offered;
        let retained = qos.is_transient_local().then(Box::default);
        // No graph has generation 0: the first publish fetches the list.
        let state =
            State { generation: 0, sequence: 0, way: Way::Nobody, retained, copies: 0, closed: false };
        let lifespan = qos.lifespan_nanoseconds().unwrap_or(i64::MAX);
        let state = Mutex::new(state);
        Arc::new(Self {
            state,
            context,
            number,
            lifespan,
            pool,
            place: trail::Place::new(),
            qos,
            class,
            topic,
            node,
            node_number,
            table,
            observers,
            promised,
        })
    }

    /// Publishes a message, of which `form` says whether this is the sole reference. A message that could not be published
    /// comes back as it was.
    #[inline(never)]
    pub(crate) fn publish(&self, message: Erased, form: Form) -> Result<(), (Erased, Unpublished)> {
        let mut state = self.state.lock();
        // C2
        let is_current = state.generation == self.context.graph.generation();
        if !is_current || state.closed || self.context.has_ended() {
            drop(state);
            return self.publish_with_care(message, form);
        }
        let State { way, sequence, retained, .. } = &mut *state;
        match way {
            Way::Sharer(inbox) => {
                let publication = self.next_publication(sequence);
                let displaced = self.retain(retained, &message, &publication);
                let left = inbox.push(message, &publication, Place::Any);
                drop(state);
                left.finish();
                drop(displaced);
            }
            Way::Owner(inbox) if form == Form::Unique => {
                let publication = self.next_publication(sequence);
                let left = inbox.push(message, &publication, Place::Any);
                drop(state);
                left.finish();
            }
            Way::Nobody => {
                let publication = self.next_publication(sequence);
                let displaced = self.retain(retained, &message, &publication);
                drop(state);
                drop((message, displaced));
            }
            Way::Sharers(_) => self.publish_to_sharers(state, message),
            Way::Owner(_) | Way::Careful => {
                drop(state);
                return self.publish_with_care(message, form);
            }
        }
        Ok(())
    }

    /// Several take references to the same message.
    fn publish_to_sharers(&self, mut state: Guard<'_, State>, message: Erased) {
        Outbox::with(|outbox| {
            let State { way, sequence, retained, .. } = &mut *state;
            let Way::Sharers(routes) = way else { return };
            let publication = self.next_publication(sequence);
            outbox.dropped.extend(self.retain(retained, &message, &publication));
            for inbox in &routes.inboxes {
                outbox.add(inbox.push(message.another(), &publication, Place::Any));
            }
            drop(state);
            outbox.dropped.push(message);
        });
    }

    /// The general case: a new list, filters, reserved places, copies, watched promises.
    #[cold]
    #[inline(never)]
    fn publish_with_care(&self, message: Erased, form: Form) -> Result<(), (Erased, Unpublished)> {
        let retains = self.qos.is_transient_local();
        let form = if retains { Form::Shared } else { form };
        let deadline = Time::steady() + self.qos.max_blocking_time;
        let mut given = Given::take();
        loop {
            let (routes, generation, old) = {
                let mut state = self.state.lock();
                if let Some(reason) = self.refuses(&state) {
                    return Err((message, reason));
                }
                let (routes, old) = self.fetch(&mut state);
                (routes, state.generation, old)
            };
            drop(old);
            given.choose(&routes, self, &message);
            let promises = match Promises::collect(&routes, &mut given, self, deadline) {
                Ok(promises) => promises,
                Err(reason) => return Err((message, reason)),
            };
            let plan = given.plan(&routes, form);
            given.copy(&routes, plan, &message, self);
            let mut state = self.state.lock();
            if let Some(reason) = self.refuses(&state) {
                drop(state);
                given.forget_copies();
                return Err((message, reason));
            }
            // C2 again: what joined since must either be delivered to or find the message retained.
            if retains && self.context.graph.generation() != generation && !self.is_newest(&routes) {
                state.copies += plan.copies() as u64; // made in vain, but made
                drop(state);
                given.forget_copies();
                continue;
            }
            Outbox::with(|outbox| {
                let State { sequence, retained, copies, .. } = &mut *state;
                let publication = self.next_publication(sequence);
                outbox.dropped.extend(self.retain(retained, &message, &publication));
                *copies += plan.copies() as u64;
                self.promised.published(&publication, outbox);
                given.deliver(message, &publication, &promises, outbox);
                promises.kept(); // before the outbox, where the program's code may panic
                drop(state);
            });
            drop(routes); // the last of an old list, perhaps: outside the locks
            return Ok(());
        }
    }

    fn refuses(&self, state: &State) -> Option<Unpublished> {
        if state.closed {
            return Some(Unpublished::Closed);
        }
        self.context.has_ended().then_some(Unpublished::Shutdown)
    }

    /// Whether the class still has this list: the generation counts changes of all topics.
    fn is_newest(&self, routes: &Arc<Routes>) -> bool {
        Arc::ptr_eq(routes, &self.class.routes.lock())
    }

    /// The newest list, and the way along it from now on; also returns the old way, to be dropped outside the lock.
    fn fetch(&self, state: &mut State) -> (Arc<Routes>, Way) {
        // The list may be newer than the generation: then it is fetched once more.
        state.generation = self.context.graph.generation();
        let routes = self.class.routes.lock().clone();
        let way = Way::along(&routes, self.qos.is_transient_local(), self.promised.is_watched());
        let old = mem::replace(&mut state.way, way);
        (routes, old)
    }

    #[inline]
    fn next_publication(&self, sequence: &mut u64) -> Publication {
        *sequence += 1;
        Publication::new(self.context.clock.stamp(), *sequence, self.number, self.lifespan)
    }

    /// Keeps the message for late joiners, if this publisher does that; returns the one that gave way.
    #[inline]
    fn retain(
        &self,
        retained: &mut Option<Box<Retained>>,
        message: &Erased,
        publication: &Publication,
    ) -> Option<Erased> {
        let Retained(retained) = &mut **retained.as_mut()?;
        let full = retained.len() >= self.qos.capacity();
        let oldest = if full { retained.pop_front() } else { None };
        retained.push_back((message.another(), *publication));
        oldest.map(|(message, _)| message)
    }

    /// What a late joiner gets from this publisher. From here on it is delivered to.
    pub(crate) fn retained(&self) -> Vec<Entry> {
        let mut state = self.state.lock();
        let (routes, old) = self.fetch(&mut state);
        let entry = |(message, publication): &(Erased, Publication)| Entry {
            message: message.another(),
            publication: *publication,
            reception: 0,
        };
        let entries = state.retained.iter().flat_map(|retained| retained.0.iter()).map(entry).collect();
        drop(state);
        drop((routes, old));
        entries
    }

    /// Nothing is published any more.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        let retained = state.retained.take();
        let way = mem::replace(&mut state.way, Way::Nobody);
        drop(state);
        drop((retained, way));
        self.pool.close();
    }

    pub(crate) fn sent(&self) -> Sent {
        let state = self.state.lock();
        Sent {
            published: state.sequence,
            copies: state.copies,
            retained: state.retained.as_ref().map_or(0, |retained| retained.0.len()),
        }
    }
}

/// Who gets what in one careful publish: scratch that is used again.
#[derive(Default)]
struct Given {
    /// Indices of the inboxes that want the message, and the reference that each gets (`None`: the original).
    chosen: Vec<(usize, Option<Erased>)>,
}

thread_local! {
    static GIVEN: std::cell::Cell<Vec<(usize, Option<Erased>)>> = const { std::cell::Cell::new(Vec::new()) };
    static PROMISED: std::cell::Cell<Vec<usize>> = const { std::cell::Cell::new(Vec::new()) };
}

impl Drop for Given {
    fn drop(&mut self) {
        self.chosen.clear();
        let _ = GIVEN.try_with(|place| place.set(mem::take(&mut self.chosen))); // none is left in a thread that ends
    }
}

impl Given {
    fn take() -> Self {
        Self { chosen: GIVEN.try_with(std::cell::Cell::take).unwrap_or_default() }
    }

    fn forget_copies(&mut self) {
        self.chosen.clear();
    }

    /// Runs the filters.
    fn choose(&mut self, routes: &Routes, outlet: &Outlet, message: &Erased) {
        self.chosen.clear();
        for (index, inbox) in routes.inboxes.iter().enumerate() {
            let wanted = &inbox.wanted;
            let own = wanted.ignore_own && wanted.node_number == outlet.node_number;
            if !own && wanted.filter.as_ref().is_none_or(|filter| filter(message)) {
                self.chosen.push((index, None));
            }
        }
    }

    fn plan(&self, routes: &Routes, form: Form) -> Plan {
        let count = |role| self.chosen.iter().filter(|(i, _)| routes.inboxes[*i].wanted.role == role).count();
        Plan::new(form, count(Role::Owner), count(Role::Sharer), count(Role::Value))
    }

    /// Makes the copies; if a `Clone` panics, nothing has been delivered.
    fn copy(&mut self, routes: &Routes, plan: Plan, message: &Erased, outlet: &Outlet) {
        let mut nth = [0; 3];
        let mut shared: Option<Erased> = None;
        for (index, given) in &mut self.chosen {
            let wanted = &routes.inboxes[*index].wanted;
            let share = plan.share(wanted.role, nth[wanted.role as usize]);
            nth[wanted.role as usize] += 1;
            let pool = if wanted.role == Role::Value { &wanted.pool } else { &outlet.pool };
            *given = match share {
                Share::Original => None,
                Share::OriginalShared => Some(message.another()),
                Share::Copy => Some(duplicate(message, routes, pool)),
                Share::SharedCopy => {
                    let copy = shared.get_or_insert_with(|| duplicate(message, routes, pool));
                    Some(copy.another())
                }
            };
        }
    }

    fn deliver(
        &mut self,
        message: Erased,
        publication: &Publication,
        promises: &Promises<'_>,
        outbox: &mut Outbox,
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
            let place = if promises.has(inbox) { Place::Reserved } else { Place::Any };
            outbox.add(inbox.push(message, publication, place));
        }
        outbox.dropped.extend(original);
    }
}

/// A copy, made by whoever of the subscriptions knows how: all that own their messages do.
fn duplicate(message: &Erased, routes: &Routes, pool: &Arc<Pool>) -> Erased {
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

/// Places reserved for one message. Dropped, they are given back.
struct Promises<'a> {
    routes: &'a Routes,
    /// Indices of the inboxes, ascending.
    at: Vec<usize>,
}

impl<'a> Promises<'a> {
    /// Reserves a place at every chosen inbox that may hold up the publisher, in their order; all, or none.
    fn collect(
        routes: &'a Routes,
        given: &mut Given,
        outlet: &Outlet,
        deadline: Time,
    ) -> Result<Self, Unpublished> {
        let mut promises =
            Promises { routes, at: PROMISED.try_with(std::cell::Cell::take).unwrap_or_default() };
        if !outlet.qos.is_blocking() {
            return Ok(promises);
        }
        let context = &outlet.context;
        let mut failure = None;
        given.chosen.retain(|(index, _)| {
            let inbox = &routes.inboxes[*index];
            if failure.is_some() || !inbox.wanted.qos.is_blocking() {
                return true;
            }
            match inbox.reserve(deadline.nanoseconds(), &context.waits, &context.ended) {
                Ok(()) => promises.at.push(*index),
                Err(NoPlace::Gone) => return false,
                Err(NoPlace::Full) => failure = Some(Unpublished::Full),
                Err(NoPlace::WouldDeadlock) => failure = Some(Unpublished::WouldDeadlock),
                Err(NoPlace::Shutdown) => failure = Some(Unpublished::Shutdown),
            }
            true
        });
        failure.map_or(Ok(promises), Err)
    }

    fn has(&self, inbox: &Arc<Inbox>) -> bool {
        self.at.iter().any(|&index| Arc::ptr_eq(&self.routes.inboxes[index], inbox))
    }

    /// The messages came: the places are theirs.
    fn kept(mut self) {
        self.at.clear();
    }
}

impl Drop for Promises<'_> {
    fn drop(&mut self) {
        self.at.drain(..).for_each(|index| self.routes.inboxes[index].unreserve());
        let _ = PROMISED.try_with(|place| place.set(mem::take(&mut self.at))); // none is left in a thread that ends
    }
}
