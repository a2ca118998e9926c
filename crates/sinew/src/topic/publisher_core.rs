//! A publisher's end of the delivery.
//!
//! # How a publish finds its subscriptions
//!
//! All publishers of one topic, type and QoS class share a [`MatchClass`], which has an immutable list of the subscriptions that match.
//! Creating or destroying a subscription makes a new list for the classes it matches, and counts the graph's generation up.
//! A publisher keeps, under its own lock, the list it used last and the generation at which it fetched it, and fetches
//! again when the generation has changed. So publishing looks nothing up, allocates nothing, and takes two kinds of short
//! locks: its own, and that of each history it delivers to. (One generation for all topics costs a fetch per publisher after
//! each change, and makes the check of the others read a line that is always in the cache.)
//!
//! # Sync points
//!
//! - C1 `Session::count_change`: the list under the class's lock ([`MatchClass::replace`]), then generation + 1 (Release).
//!   A publisher that publishes seldom would keep a subscription that is gone, and what its handlers captured, for as long: so
//!   whoever removes one has the publishers that matched it fetch the new list ([`PublisherCore::refetch`]).
//! - C2 `Session::generation` (Acquire) under the publisher's lock. Pairs with C1: seeing the new number means finding at
//!   least the list it stands for. Seeing the old one means that the publish began before the join returned.
//!
//! # Joining is atomic with publishing
//!
//! A late joiner of a transient-local publisher is in the list first (C1), then locks the publisher, has it fetch the
//! list, and copies what it retains. Each message is published before that lock (then it is retained, and perhaps
//! delivered too: [`HistoryCache::merge`](crate::mailbox::history::HistoryCache::merge) drops the second one) or after it (then it is
//! delivered).
//!
//! # The user's code
//!
//! Filters, `Clone` and `Drop` run on the publishing thread under none of these locks: a publish that needs any of them
//! takes the list out, does them, and delivers then. A transient-local publisher does it again if the list has changed
//! meanwhile, since a late joiner may rely on either getting the message or finding it retained.

mod remote;
mod slow_path;

use super::copy_plan::Ownership;
use super::recipients::Unpublished;
use super::session::Session;
use super::subscribers::{MatchClass, Subscribers};
use super::subscription_core::SubscriptionCore;
use crate::event::deadline::Deadline;
use crate::event::liveliness::LivelinessLease;
use crate::event::match_listeners::MatchListeners;
use crate::event::status::OfferedDeadlineMissed;
use crate::executor::prefetch::{self, Part};
use crate::mailbox::deferred::{Deferred, PushEffects};
use crate::mailbox::history::{Admission, Entry};
use crate::message::block::{Pool, RawMessage};
use crate::message::info::Publication;
use crate::message::type_support::TypeSupport;
use crate::message::work::CopyWork;
use crate::ros::mismatch::End;
use crate::ros::qos::QoS;
use crate::sys::logging::{About, Level, tell};
use crate::sys::sync::{Arc, AtomicBool, Guard, Mutex, Ordering};
use remote::RemoteDelivery;
use sinew_msg::Message;
use sinew_shm::{CapacityError, Counter, Counters};
use std::collections::VecDeque;
use std::mem;

/// A publisher.
///
/// What every publish touches comes first, and close together: after a sleep, fetching it from memory is what it costs.
#[repr(C)]
pub(crate) struct PublisherCore {
    state: Mutex<PublisherState>,
    pub(crate) session: Arc<Session>,
    /// The publisher's number in its participant.
    pub(crate) number: u64,
    /// Nanoseconds that its messages live; `i64::MAX` for ever.
    lifespan: i64,
    /// Somebody in another process is connected. As [`PublisherState::leaves`], for a look without the lock.
    leaves: AtomicBool,
    /// Blocks for what it publishes.
    pub(crate) pool: Arc<Pool>,
    /// Where the thread that publishes with it has noted it.
    pub(crate) place: prefetch::NoteIndex,
    pub(crate) qos: QoS,
    pub(crate) class: Arc<MatchClass>,
    pub(crate) topic: Arc<str>,
    /// The node's full name, for people.
    pub(crate) node: Arc<str>,
    pub(crate) node_number: u64,
    pub(crate) table: &'static TypeSupport,
    pub(crate) match_listeners: MatchListeners,
    pub(crate) promised: WatchedPromises,
    pub(crate) remote: RemoteDelivery,
}

/// What a publisher has promised, as far as somebody watches whether it keeps it.
pub(crate) struct WatchedPromises {
    pub(crate) deadline: Option<Arc<Deadline<OfferedDeadlineMissed>>>,
    /// Of a manual publisher with a lease.
    pub(crate) lease: Option<Arc<LivelinessLease>>,
}

impl WatchedPromises {
    fn is_watched(&self) -> bool {
        self.deadline.is_some() || self.lease.is_some()
    }

    fn published(&self, publication: &Publication, deferred: &mut Deferred) {
        let at = publication.stamp.time;
        if let Some(deadline) = &self.deadline {
            deferred.signal(deadline.arrived(at));
        }
        if let Some(lease) = &self.lease {
            lease.published(at, deferred);
        }
    }
}

#[repr(C)]
struct PublisherState {
    /// The graph's generation at which `strategy` was fetched; 0 while messages leave the process: then no publish takes the short way.
    generation: u64,
    sequence: u64,
    strategy: Strategy,
    /// What late joiners get: of a transient-local publisher only.
    retained: Option<Box<Retained>>,
    /// Boxed, since it is seldom written: what follows stays on the lines that are fetched.
    work: Box<CopyWork>,
    closed: bool,
    /// Somebody in another process is connected. Changes under the sender's lock and this one.
    leaves: bool,
    /// The generation at which `strategy` was fetched, whatever `generation` says.
    fetched: u64,
    /// What others can see of it.
    counters: Option<Counters>,
}

impl PublisherState {
    #[inline]
    fn count(&mut self, work: CopyWork) {
        self.work.count(work, &self.counters);
    }
}

/// The newest messages of a transient-local publisher, oldest first.
#[derive(Default)]
struct Retained(VecDeque<(RawMessage, Publication)>);

/// How to deliver, as far as the list says.
pub(crate) enum Strategy {
    /// Nobody listens.
    Nobody,
    /// One that takes references: any message goes to it as it is, into such a place.
    Sharer(Arc<SubscriptionCore>, Admission),
    /// One that owns: a message of which there is one reference goes to it as it is.
    Owner(Arc<SubscriptionCore>, Admission),
    /// Several that take references.
    Sharers(Arc<Subscribers>),
    /// Filters, copies or moves may be needed, or the publisher has promises that are watched, or keeps what may find no place.
    SlowPath,
}

impl Strategy {
    fn along(subscribers: &Arc<Subscribers>, retains: bool, watched: bool) -> Self {
        let Subscribers { subscriptions, owners, sharers, values, particular, bound, others, .. } =
            &**subscribers;
        let place = if *bound { Admission::Free } else { Admission::Any };
        match (&**subscriptions, owners, sharers, values) {
            _ if *particular || watched || !others.is_empty() || *bound && retains => Strategy::SlowPath,
            ([], ..) => Strategy::Nobody,
            ([sole], 0, 1, 0) => Strategy::Sharer(sole.clone(), place),
            ([sole], 1, 0, 0) if !retains => Strategy::Owner(sole.clone(), place),
            (_, 0, _, 0) => Strategy::Sharers(subscribers.clone()),
            _ => Strategy::SlowPath,
        }
    }

    /// Reserves a place wherever the publisher may be held up, without waiting: everywhere or nowhere.
    #[inline]
    fn reserve(&self) -> bool {
        match self {
            Strategy::Sharer(subscription, Admission::Free) => subscription.reserve_free(),
            Strategy::Sharers(subscribers) => subscribers.reserve(),
            _ => true,
        }
    }
}

/// What a publisher has done.
pub(crate) struct PublisherCounts {
    pub(crate) published: u64,
    pub(crate) work: CopyWork,
    pub(crate) retained: usize,
}

/// What a publisher is made of; fixed when it is created.
pub(crate) struct PublisherConfig {
    pub(crate) number: u64,
    pub(crate) topic: Arc<str>,
    pub(crate) node: Arc<str>,
    pub(crate) node_number: u64,
    pub(crate) qos: QoS,
    pub(crate) table: &'static TypeSupport,
    pub(crate) pool: Arc<Pool>,
    pub(crate) session: Arc<Session>,
    pub(crate) promised: WatchedPromises,
}

impl prefetch::Footprint for PublisherCore {
    fn look(&self, level: usize, name: &mut dyn FnMut(usize, usize)) -> bool {
        self.name_remote(level, name)
    }
}

/// The code that every message goes through when it is published.
fn code(name: &mut dyn FnMut(usize, usize)) {
    name(PublisherCore::publish as *const () as usize, 13);
    name(PublisherCore::next_publication as *const () as usize, 6);
    name(PublisherCore::retain as *const () as usize, 8);
    name(SubscriptionCore::push as *const () as usize, 26);
    name(PushEffects::placed as *const () as usize, 3);
    name(PushEffects::finish as *const () as usize, 3);
}

/// The code that every message on its way out goes through.
fn code_of_remote(name: &mut dyn FnMut(usize, usize)) {
    name(PublisherCore::publish_slowly as *const () as usize, 24);
}

impl PublisherCore {
    /// Notes that this thread publishes with it.
    #[inline]
    pub(crate) fn note(self: &Arc<Self>) {
        let parts = || vec![Part::value(self, 3), Part::pool(&self.pool), Part::Code(code)];
        prefetch::note(Arc::as_ptr(self).addr(), &self.place, parts);
        if self.leaves() {
            let parts = || {
                let footprint: Arc<dyn prefetch::Footprint> = self.clone();
                vec![Part::Deep(Arc::downgrade(&footprint)), Part::Code(code_of_remote)]
            };
            prefetch::note((&raw const self.remote).addr(), &self.remote.place, parts);
        }
    }

    /// What matching knows of it.
    pub(crate) fn offers(&self) -> End<'_> {
        End::new(self.table, &self.qos)
    }

    pub(crate) fn new(
        offered: PublisherConfig,
        class: Arc<MatchClass>,
        match_listeners: MatchListeners,
    ) -> Arc<Self> {
        let PublisherConfig { number, topic, node, node_number, qos, table, pool, session, promised } =
            offered;
        let retained = qos.is_transient_local().then(Box::default);
        // No graph has generation 0: the first publish fetches the list.
        let state = PublisherState {
            generation: 0,
            sequence: 0,
            strategy: Strategy::Nobody,
            retained,
            work: Box::default(),
            closed: false,
            leaves: false,
            fetched: 0,
            counters: None,
        };
        let lifespan = qos.lifespan_nanoseconds().unwrap_or(i64::MAX);
        let state = Mutex::new(state);
        Arc::new(Self {
            state,
            session,
            number,
            lifespan,
            pool,
            place: prefetch::NoteIndex::new(),
            qos,
            class,
            topic,
            node,
            node_number,
            table,
            match_listeners,
            promised,
            leaves: AtomicBool::new(false),
            remote: RemoteDelivery::default(),
        })
    }

    /// Publishes a message, of which `form` says whether this is the sole reference. A message that could not be published
    /// comes back as it was.
    #[inline(never)]
    pub(crate) fn publish(
        &self,
        message: RawMessage,
        form: Ownership,
    ) -> Result<(), (RawMessage, Unpublished)> {
        // Relaxed: the publisher's lock is taken before it counts.
        if self.leaves.load(Ordering::Relaxed) {
            return self.publish_slowly(message, form);
        }
        let mut state = self.state.lock();
        // C2
        let is_current = state.generation == self.session.generation();
        if !is_current || state.closed || self.session.has_ended() {
            drop(state);
            return self.publish_slowly(message, form);
        }
        let PublisherState { strategy, sequence, retained, counters, .. } = &mut *state;
        match strategy {
            Strategy::Sharer(subscription, place) => {
                let publication = self.next_publication(sequence, counters);
                let displaced = self.retain(retained, counters, &message, &publication);
                match subscription.push(message, &publication, *place).placed() {
                    Ok(left) => {
                        drop(state);
                        left.finish();
                        drop(displaced);
                    }
                    Err(message) => return self.wait_and_publish(state, message, form),
                }
            }
            Strategy::Owner(subscription, place) if form == Ownership::Unique => {
                let publication = self.next_publication(sequence, counters);
                match subscription.push(message, &publication, *place).placed() {
                    Ok(left) => {
                        drop(state);
                        left.finish();
                    }
                    Err(message) => return self.wait_and_publish(state, message, form),
                }
            }
            Strategy::Nobody => {
                let publication = self.next_publication(sequence, counters);
                let displaced = self.retain(retained, counters, &message, &publication);
                drop(state);
                drop((message, displaced));
            }
            Strategy::Sharers(subscribers) if subscribers.reserve() => {
                self.publish_to_sharers(state, message)
            }
            Strategy::Sharers(_) | Strategy::Owner(..) | Strategy::SlowPath => {
                drop(state);
                return self.publish_on_slow_path(message, form);
            }
        }
        Ok(())
    }

    /// The message went back, for want of a free place: its number is taken back, and it is published when there is one.
    #[cold]
    #[inline(never)]
    fn wait_and_publish(
        &self,
        mut state: Guard<'_, PublisherState>,
        message: RawMessage,
        form: Ownership,
    ) -> Result<(), (RawMessage, Unpublished)> {
        state.sequence -= 1;
        if let Some(counters) = &state.counters {
            counters.set(Counter::Messages, state.sequence);
        }
        drop(state);
        self.publish_on_slow_path(message, form)
    }

    /// Several take references to the same message; where they may hold it up, places are reserved.
    fn publish_to_sharers(&self, mut state: Guard<'_, PublisherState>, message: RawMessage) {
        Deferred::with(|deferred| {
            let PublisherState { strategy, sequence, retained, counters, .. } = &mut *state;
            let Strategy::Sharers(subscribers) = strategy else { return };
            let publication = self.next_publication(sequence, counters);
            deferred.dropped.extend(self.retain(retained, counters, &message, &publication));
            for subscription in &subscribers.subscriptions {
                deferred.add(subscription.push(
                    message.another(),
                    &publication,
                    subscribers.place_at(subscription),
                ));
            }
            drop(state);
            deferred.dropped.push(message);
        });
    }

    /// Whether messages leave the process, as far as that can be said without a lock.
    #[inline]
    pub(crate) fn leaves(&self) -> bool {
        self.leaves.load(Ordering::Relaxed)
    }

    /// Whether all who get a message are in other processes.
    #[inline]
    fn all_are_remote(&self, state: &PublisherState) -> bool {
        state.leaves
            && !state.closed
            && !self.session.has_ended()
            && matches!(state.strategy, Strategy::Nobody)
            && state.fetched == self.session.generation() // C2
    }

    /// Publishes a value that only other processes get: it is encoded where it is, without a block of its own. False: it is not so simple,
    /// and nothing was published.
    #[inline]
    pub(crate) fn publish_value<T: Message>(&self, value: &T) -> bool {
        // Relaxed: checked again under the locks.
        if !self.leaves.load(Ordering::Relaxed) || self.qos.is_transient_local() {
            return false;
        }
        let Some(encoding) = T::ENCODING else { return false };
        let length = (encoding.size)(value);
        let mut sender = self.remote.sender.lock();
        let Some(open) = sender.as_deref_mut() else { return false };
        let mut state = self.state.lock();
        if !self.all_are_remote(&state) || !open.has_room() {
            return false;
        }
        let Ok(prepared) = open.prepare(length, None) else { return false };
        state.count(CopyWork::encoding(encoding.plain.is_some(), length));
        let PublisherState { sequence, counters, .. } = &mut *state;
        let publication = self.next_publication(sequence, counters);
        drop(state);
        let image = prepared.encode(open, |to| (encoding.encode)(value, to));
        open.send(&publication, image);
        true
    }

    /// A message leaves the process, or is an image, or who gets it has changed. In the first two cases, if all who get it here take it as it
    /// is, and all who must get it have room, there is still not much to do.
    #[inline(never)]
    pub(crate) fn publish_slowly(
        &self,
        mut message: RawMessage,
        form: Ownership,
    ) -> Result<(), (RawMessage, Unpublished)> {
        // Relaxed: the publisher's lock is taken before it counts.
        let mut remote = self.leaves.load(Ordering::Relaxed).then(|| self.remote.sender.lock());
        let mut open = remote.as_mut().and_then(|sender| sender.as_deref_mut());
        let leaves = open.is_some();
        let has_room = open.as_mut().is_none_or(|sender| sender.has_room());
        let mut state = self.state.lock();
        // A value that stays here came because the short way is closed: publishing with care opens it again.
        let opens = !leaves && !message.is_image();
        if opens || !has_room || state.leaves != leaves || !self.goes_straight(&state, &message) {
            drop((state, remote));
            return self.publish_on_slow_path(message, form);
        }
        let prepared = open.map(|sender| {
            let length = message.image_length().unwrap_or(0);
            sender.prepare(length, Some(&mut message))
        });
        let prepared = match prepared.transpose() {
            Ok(prepared) => prepared,
            Err(error) if matches!(state.strategy, Strategy::Nobody) => {
                return Err((message, self.no_space(&error)));
            }
            Err(_) => {
                drop((state, remote));
                return self.publish_on_slow_path(message, form); // those here get it all the same
            }
        };
        if !state.strategy.reserve() {
            drop((prepared, state, remote));
            return self.publish_on_slow_path(message, form);
        }
        let bringing_out = prepared.as_ref().map_or(CopyWork::NONE, |prepared| prepared.work(&message));
        state.count(bringing_out + CopyWork::of_form(&message));
        let PublisherState { strategy, sequence, retained, counters, .. } = &mut *state;
        let publication = self.next_publication(sequence, counters);
        let displaced = self.retain(retained, counters, &message, &publication);
        let stays = prepared.is_none();
        let send = |message: &RawMessage| {
            let sender = remote.as_mut().and_then(|sender| sender.as_deref_mut());
            if let Some((sender, prepared)) = sender.zip(prepared) {
                let image = prepared.encode(sender, |to| message.write_image(to));
                sender.send(&publication, image);
            }
            drop(remote);
        };
        // Those here first: they get it before it is encoded.
        let left = match strategy {
            // The only reference goes with it: who takes it may change it in place, whatever this thread is at.
            Strategy::Sharer(subscription, place) if stays => {
                let left = subscription.push(message, &publication, place.after_reserving());
                drop(state);
                left.finish();
                drop(displaced);
                return Ok(());
            }
            Strategy::Sharer(subscription, place) => {
                Some(subscription.push(message.another(), &publication, place.after_reserving()))
            }
            Strategy::Sharers(subscribers) => {
                let subscribers = subscribers.clone();
                Deferred::with(|deferred| {
                    for subscription in &subscribers.subscriptions {
                        deferred.add(subscription.push(
                            message.another(),
                            &publication,
                            subscribers.place_at(subscription),
                        ));
                    }
                    drop(state);
                    send(&message);
                    deferred.dropped.push(message);
                    deferred.dropped.extend(displaced);
                });
                return Ok(());
            }
            _ => None,
        };
        drop(state);
        send(&message);
        if let Some(left) = left {
            left.finish();
        }
        drop((message, displaced));
        Ok(())
    }

    /// Whether the list is the newest, and all who are on it take this message as it is.
    #[inline]
    fn goes_straight(&self, state: &PublisherState, message: &RawMessage) -> bool {
        let is_current = state.fetched == self.session.generation(); // C2
        if !is_current || state.closed || self.session.has_ended() {
            return false;
        }
        match &state.strategy {
            Strategy::Nobody => true,
            Strategy::Sharer(subscription, _) => !message.is_image() || subscription.wanted.check.is_some(),
            Strategy::Sharers(subscribers) => !message.is_image() || subscribers.take_images,
            Strategy::Owner(..) | Strategy::SlowPath => false,
        }
    }

    /// Publishes a message of which there is only an image.
    pub(crate) fn publish_image(&self, message: RawMessage) -> Result<(), (RawMessage, Unpublished)> {
        self.publish_slowly(message, Ownership::Shared)
    }

    /// Counts what was done with a message besides publishing it.
    pub(crate) fn count(&self, work: CopyWork) {
        self.state.lock().count(work);
    }

    fn refuses(&self, state: &PublisherState) -> Option<Unpublished> {
        if state.closed {
            return Some(Unpublished::Closed);
        }
        self.session.has_ended().then_some(Unpublished::Shutdown)
    }

    /// Whether the class still has this list: the generation counts changes of all topics.
    fn is_newest(&self, subscribers: &Arc<Subscribers>) -> bool {
        Arc::ptr_eq(subscribers, &self.class.subscribers.lock())
    }

    /// The newest list, and the way along it from now on; also returns the old way, to be dropped outside the lock.
    fn fetch(&self, state: &mut PublisherState) -> (Arc<Subscribers>, Strategy) {
        // The list may be newer than the generation: then it is fetched once more.
        state.fetched = self.session.generation();
        state.generation = if state.leaves { 0 } else { state.fetched };
        let subscribers = self.class.subscribers.lock().clone();
        let strategy =
            Strategy::along(&subscribers, self.qos.is_transient_local(), self.promised.is_watched());
        let old = mem::replace(&mut state.strategy, strategy);
        (subscribers, old)
    }

    /// A subscription is gone: the way that led to it, to be dropped outside all locks.
    pub(crate) fn refetch(&self) -> Option<(Arc<Subscribers>, Strategy)> {
        let mut state = self.state.lock();
        // Who has fetched nothing yet has nothing of it; nor who is closed.
        (state.fetched != 0 && !state.closed).then(|| self.fetch(&mut state))
    }

    #[inline]
    fn next_publication(&self, sequence: &mut u64, counters: &Option<Counters>) -> Publication {
        *sequence += 1;
        let stamp = self.session.clock.stamp();
        if let Some(counters) = counters {
            let last = stamp.time.cast_unsigned();
            counters.set_all([(Counter::Messages, *sequence), (Counter::Last, last)]);
        }
        Publication::new(stamp, *sequence, self.number, self.lifespan)
    }

    /// Keeps the message for late joiners, if this publisher does that; returns the one that gave way.
    #[inline]
    fn retain(
        &self,
        retained: &mut Option<Box<Retained>>,
        counters: &Option<Counters>,
        message: &RawMessage,
        publication: &Publication,
    ) -> Option<RawMessage> {
        let Retained(retained) = &mut **retained.as_mut()?;
        let full = retained.len() >= self.qos.capacity();
        let oldest = if full { retained.pop_front() } else { None };
        retained.push_back((message.another(), *publication));
        if let (None, Some(counters)) = (&oldest, counters) {
            counters.set(Counter::Waiting, retained.len() as u64);
        }
        oldest.map(|(message, _)| message)
    }

    /// What a late joiner gets from this publisher. From here on it is delivered to.
    pub(crate) fn retained(&self) -> Vec<Entry> {
        let mut state = self.state.lock();
        let (subscribers, old) = self.fetch(&mut state);
        let entry = |(message, publication): &(RawMessage, Publication)| Entry {
            message: message.another(),
            publication: *publication,
            reception: 0,
        };
        let entries = state.retained.iter().flat_map(|retained| retained.0.iter()).map(entry).collect();
        drop(state);
        drop((subscribers, old));
        entries
    }

    /// Nothing is published any more.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        let retained = state.retained.take();
        let strategy = mem::replace(&mut state.strategy, Strategy::Nobody);
        drop(state);
        drop((retained, strategy));
        let sender = self.remote.sender.lock().take();
        drop(sender);
        self.remote.refused.lock().clear();
        for pool in [&self.remote.foreign, &self.remote.images] {
            if let Some(pool) = pool.get() {
                pool.close();
            }
        }
        self.pool.close();
    }

    pub(crate) fn sent(&self) -> PublisherCounts {
        let state = self.state.lock();
        PublisherCounts {
            published: state.sequence,
            work: *state.work,
            retained: state.retained.as_ref().map_or(0, |retained| retained.0.len()),
        }
    }
}

impl PublisherCore {
    /// There is no memory for a message's image. If that isn't for want of room, the log says why, once.
    #[cold]
    fn no_space(&self, error: &CapacityError) -> Unpublished {
        match error {
            CapacityError::FileSystem { wanted, free, size, .. } => {
                Unpublished::NoSpace { wanted: *wanted, free: *free, size: *size }
            }
            CapacityError::Left { .. } => Unpublished::Shutdown,
            other => {
                self.remote.says_once(|| {
                    let about = About { node: &self.node, subject: &self.topic };
                    tell!(Level::Error; about, "a message on {} can't leave the process: {other}", self.topic);
                });
                Unpublished::NoSpace { wanted: 0, free: 0, size: 0 }
            }
        }
    }
}
