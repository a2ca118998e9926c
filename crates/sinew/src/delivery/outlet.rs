//! A publisher's end of the delivery.
//!
//! # How a publish finds its subscriptions
//!
//! All publishers of one topic, type and QoS class share a [`Class`]: an immutable list of the inboxes that match, and its
//! generation. Creating or destroying an entity makes a new list and counts the generation up; a publisher holds the list
//! it used last under its own lock, and fetches the new one when the generation has changed. So publishing looks nothing
//! up, allocates nothing, and takes two kinds of short locks: its own, and that of each history it delivers to.
//!
//! # Sync points
//!
//! - C1 [`Class::replace`]: the list under the class's lock, then generation + 1 (Release).
//! - C2 publish: generation (Acquire) under the publisher's lock. Pairs with C1: seeing the new number means finding at
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

use super::history::{Entry, Place};
use super::inbox::{Inbox, NoPlace, Outbox};
use super::observers::Observers;
use super::plan::{Form, Plan, Role, Share};
use crate::clock::Time;
use crate::context::Shared as ContextShared;
use crate::message::block::{Erased, Pool};
use crate::message::info::Publication;
use crate::message::table::Table;
use crate::qos::QoS;
use crate::sync::{Arc, AtomicU64, Guard, Mutex, Ordering};
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

    fn plan(&self, form: Form) -> Plan {
        Plan::new(form, self.owners, self.sharers, self.values)
    }
}

/// The publishers of one topic, type and QoS class, as far as matching goes.
pub(crate) struct Class {
    pub(crate) table: &'static Table,
    pub(crate) qos: QoS,
    generation: AtomicU64,
    routes: Mutex<Arc<Routes>>,
}

impl Class {
    pub(crate) fn new(table: &'static Table, qos: QoS, routes: Routes) -> Arc<Self> {
        Arc::new(Self { table, qos, generation: AtomicU64::new(1), routes: Mutex::new(Arc::new(routes)) })
    }

    /// The list changes; returns the old one, to be dropped outside all locks.
    #[must_use]
    pub(crate) fn replace(&self, routes: Routes) -> Arc<Routes> {
        let mut place = self.routes.lock();
        let old = mem::replace(&mut *place, Arc::new(routes));
        // C1: Release; pairs with C2; carries the list.
        self.generation.fetch_add(1, Ordering::Release);
        old
    }
}

/// A publisher.
pub(crate) struct Outlet {
    /// The publisher's number in its participant.
    pub(crate) number: u64,
    pub(crate) topic: Arc<str>,
    /// The node's full name, for people.
    pub(crate) node: Arc<str>,
    pub(crate) node_number: u64,
    pub(crate) qos: QoS,
    pub(crate) table: &'static Table,
    pub(crate) class: Arc<Class>,
    pub(crate) context: Arc<ContextShared>,
    pub(crate) observers: Observers,
    /// Blocks for what it publishes.
    pub(crate) pool: Arc<Pool>,
    lifespan: Option<i64>,
    state: Mutex<State>,
}

struct State {
    routes: Arc<Routes>,
    generation: u64,
    sequence: u64,
    copies: u64,
    /// What late joiners get: of a transient-local publisher only.
    retained: VecDeque<(Erased, Publication)>,
    closed: bool,
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
}

impl Outlet {
    pub(crate) fn new(offered: Offered, class: Arc<Class>, observers: Observers) -> Arc<Self> {
        let Offered { number, topic, node, node_number, qos, table, pool, context } = offered;
        let state = State {
            routes: Arc::default(),
            generation: 0, // no class has it: the first publish fetches the list
            sequence: 0,
            copies: 0,
            retained: VecDeque::new(),
            closed: false,
        };
        let lifespan = qos.lifespan_nanoseconds();
        let state = Mutex::new(state);
        Arc::new(Self {
            number,
            topic,
            node,
            node_number,
            qos,
            table,
            class,
            context,
            observers,
            pool,
            lifespan,
            state,
        })
    }

    /// Publishes a message, of which `form` says whether this is the sole reference. A message that could not be published
    /// comes back as it was.
    pub(crate) fn publish(&self, message: Erased, form: Form) -> Result<(), (Erased, Unpublished)> {
        let form = if self.qos.is_transient_local() { Form::Shared } else { form };
        Outbox::with(|outbox| {
            let mut state = self.state.lock();
            if let Some(reason) = self.refuses(&state) {
                return Err((message, reason));
            }
            let old = self.fetch_routes(&mut state);
            let plan = state.routes.plan(form);
            if state.routes.particular || plan.copies() > 0 || old.is_some() || state.routes.values > 0 {
                drop(state);
                drop(old);
                return self.publish_with_care(message, form, outbox);
            }
            let publication = self.next_publication(&mut state);
            self.retain(&mut state, &message, &publication, outbox);
            // No copies and no values: one owner alone, or sharers only.
            match &*state.routes.inboxes {
                [] => outbox.dropped.push(message),
                [rest @ .., last] => {
                    for inbox in rest {
                        inbox.push(message.another(), &publication, Place::Any, outbox);
                    }
                    last.push(message, &publication, Place::Any, outbox);
                }
            }
            drop(state);
            Ok(())
        })
    }

    /// The general case: filters, reserved places, copies.
    #[cold]
    #[inline(never)]
    fn publish_with_care(
        &self,
        message: Erased,
        form: Form,
        outbox: &mut Outbox,
    ) -> Result<(), (Erased, Unpublished)> {
        let deadline = Time::steady() + self.qos.max_blocking_time;
        let mut given = Given::take();
        loop {
            let (routes, generation, old) = {
                let mut state = self.state.lock();
                if let Some(reason) = self.refuses(&state) {
                    return Err((message, reason));
                }
                let old = self.fetch_routes(&mut state);
                (state.routes.clone(), state.generation, old)
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
            if self.qos.is_transient_local() && self.class.generation.load(Ordering::Acquire) != generation {
                drop(state);
                given.forget_copies();
                continue;
            }
            let publication = self.next_publication(&mut state);
            self.retain(&mut state, &message, &publication, outbox);
            state.copies += plan.copies() as u64;
            given.deliver(&routes, message, &publication, &promises, outbox);
            drop(state);
            promises.kept();
            given.put_back();
            drop(routes); // the last of an old list, perhaps: outside the locks
            return Ok(());
        }
    }

    fn refuses(&self, state: &State) -> Option<Unpublished> {
        if state.closed {
            return Some(Unpublished::Closed);
        }
        // Acquire: pairs with the Release of the shutdown; nothing is accepted after it.
        self.context.ended.load(Ordering::Acquire).then_some(Unpublished::Shutdown)
    }

    /// C2: sees to it that the list is the newest; returns the old one, to be dropped outside the lock.
    #[inline]
    fn fetch_routes(&self, state: &mut Guard<'_, State>) -> Option<Arc<Routes>> {
        // C2: Acquire; pairs with C1.
        let generation = self.class.generation.load(Ordering::Acquire);
        if generation == state.generation {
            return None;
        }
        let routes = self.class.routes.lock().clone();
        state.generation = generation; // the list may be newer than that: then it is fetched once more
        Some(mem::replace(&mut state.routes, routes))
    }

    #[inline]
    fn next_publication(&self, state: &mut State) -> Publication {
        state.sequence += 1;
        Publication::new(self.context.clock.stamp(), state.sequence, self.number, self.lifespan)
    }

    #[inline]
    fn retain(&self, state: &mut State, message: &Erased, publication: &Publication, outbox: &mut Outbox) {
        if !self.qos.is_transient_local() {
            return;
        }
        if state.retained.len() >= self.qos.capacity()
            && let Some((oldest, _)) = state.retained.pop_front()
        {
            outbox.dropped.push(oldest);
        }
        state.retained.push_back((message.another(), *publication));
    }

    /// What a late joiner gets from this publisher. From here on it is delivered to.
    pub(crate) fn retained(&self) -> Vec<Entry> {
        let mut state = self.state.lock();
        let old = self.fetch_routes(&mut state);
        let entries = state.retained.iter();
        let entries = entries
            .map(|(message, publication)| Entry {
                message: message.another(),
                publication: *publication,
                reception: 0,
            })
            .collect();
        drop(state);
        drop(old);
        entries
    }

    /// Nothing is published any more.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        let retained = mem::take(&mut state.retained);
        let routes = mem::take(&mut state.routes);
        drop(state);
        drop((retained, routes));
        self.pool.close();
    }

    pub(crate) fn sent(&self) -> Sent {
        let state = self.state.lock();
        Sent { published: state.sequence, copies: state.copies, retained: state.retained.len() }
    }
}

/// Who gets what in one careful publish: scratch that is used again.
#[derive(Default)]
struct Given {
    /// Indices of the inboxes that want the message, and the reference that each gets (`None`: the original).
    chosen: Vec<(usize, Option<Erased>)>,
}

thread_local! {
    static GIVEN: std::cell::Cell<Option<Given>> = const { std::cell::Cell::new(None) };
}

impl Given {
    fn take() -> Self {
        GIVEN.try_with(std::cell::Cell::take).ok().flatten().unwrap_or_default()
    }

    fn put_back(mut self) {
        self.chosen.clear();
        let _ = GIVEN.try_with(|place| place.set(Some(self))); // none is left in a thread that ends
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
        routes: &Routes,
        message: Erased,
        publication: &Publication,
        promises: &Promises<'_>,
        outbox: &mut Outbox,
    ) {
        let mut original = Some(message);
        for (index, given) in self.chosen.drain(..) {
            let inbox = &routes.inboxes[index];
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
            inbox.push(message, publication, place, outbox);
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
        let mut promises = Promises { routes, at: Vec::new() };
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
        self.at.iter().for_each(|&index| self.routes.inboxes[index].unreserve());
    }
}
