//! The sending side of the delivery: a publisher.
//!
//! # How a publish finds its subscriptions
//!
//! All publishers of one topic, type and QoS class share a [`MatchClass`], which has an immutable
//! list of the subscriptions that match. Creating or destroying a subscription makes a new list for
//! each class it matches, and increments the graph's generation. A publisher keeps, under its own
//! lock, the list it used last and the generation at which it fetched it, and fetches again when
//! the generation has changed. So publishing looks nothing up, allocates nothing, and takes two
//! kinds of short locks: its own, and that of each history it delivers to. (One generation for all
//! topics costs one fetch per publisher after each change; every other publish checks a cache line
//! that is always in the cache.)
//!
//! # Sync points
//!
//! - C1 `Session::count_change`: the list under the class's lock ([`MatchClass::replace`]), then
//!   generation + 1 (Release). A publisher that publishes seldom would keep a removed subscription,
//!   and everything its handlers captured, until its next publish. So the thread that removes a
//!   subscription has the publishers that matched it fetch the new list
//!   ([`PublisherCore::refetch`]).
//! - C2 `Session::generation` (Acquire) under the publisher's lock. Pairs with C1: a publisher that
//!   sees the new number finds that list or a newer one. A publisher that sees the old number began
//!   to publish before the join returned.
//!
//! # Joining is atomic with publishing
//!
//! A late joiner of a transient-local publisher is first added to the list (C1); its thread then
//! locks the publisher, has it fetch the list, and copies the retained messages. Each message is
//! published either before that lock (then it is retained, and perhaps delivered too:
//! [`HistoryCache::merge`](crate::mailbox::history::HistoryCache::merge) drops the duplicate) or
//! after it (then it is delivered).
//!
//! # The steps of a publish
//!
//! | step | under | where |
//! |---|---|---|
//! | room and memory elsewhere | the sinks' lock | `Beyond::has_room`, `prepare` |
//! | filters, places, copies | only the sinks' lock | `Recipients::select`; skipped if not needed |
//! | check that the list is still the newest | the publisher's lock as well | C2 |
//! | number and stamp, retain, each history | the same | [`PublisherCore::commit`] |
//! | encoding for other processes, sending | the sinks' lock | `Beyond::send` |
//! | signals, listeners, drops | no lock | `Deferred::finish` |
//!
//! A [`Strategy`], renewed when matching changes, names the steps that a message can't skip. Most
//! messages take the fast path ([`PublisherCore::go_straight`]): every subscription takes them as
//! they are. The slow path (`slow_path`) prepares the rest up to the last three steps, which all
//! messages share.
//!
//! # The user's code
//!
//! Filters, `Clone` and `Drop` run on the publishing thread under none of these locks: a publish
//! that needs any of them takes the list out, runs them, and then delivers. A transient-local
//! publisher repeats them if the list has changed meanwhile, since a late joiner relies on either
//! getting the message or finding it retained.

mod foreign;
mod remote;
mod sinks;
mod slow_path;

use super::recipients::{Unpublished, push_as_it_is};
use super::remote_sink::{BareValue, Content};
use super::session::Session;
use super::strategy::{Form, Strategy};
use super::subscribers::{MatchClass, Subscribers};
use super::subscription_core::SubscriptionCore;
use crate::event::deadline::Deadline;
use crate::event::liveliness::LivelinessLease;
use crate::event::match_listeners::MatchListeners;
use crate::event::status::OfferedDeadlineMissed;
use crate::executor::prefetch::{self, Hint, Part};
use crate::mailbox::deferred::Deferred;
use crate::mailbox::history::{Admission, Entry};
use crate::message::block::{OwnPool, RawMessage};
use crate::message::info::{NETWORK, Publication};
use crate::message::type_support::TypeSupport;
use crate::message::work::CopyWork;
use crate::ros::mismatch::End;
use crate::ros::origin::Origin;
use crate::ros::qos::QoS;
use crate::sys::logging::{About, Level, log_line};
use crate::sys::sync::{Arc, Guard, HintU8, Mutex, Ordering, no_lock_is_held};
use sinew_msg::Message;
use sinew_shm::transport::Counters;
use sinew_shm::{CapacityError, Counter};
use sinks::{Beyond, Closed, RemoteDelivery};
use std::collections::VecDeque;
use std::mem;

/// A publisher.
///
/// The fields that every publish touches come first, in [two cache lines](LINES): after a sleep,
/// fetching them from memory dominates the cost of a publish.
#[repr(C, align(64))]
pub(crate) struct PublisherCore {
    /// The current strategy, as [`Strategy::bits`]. Written under the publisher's lock; a hint when
    /// read without it.
    strategy: HintU8,
    /// Index of the note that the publishing thread made of this publisher.
    pub(crate) place: prefetch::NoteIndex,
    pub(crate) session: Arc<Session>,
    /// The publisher's number in its participant, with [`NETWORK`] if it stands for a publisher
    /// there.
    marked_number: u64,
    /// Lifespan of its messages in nanoseconds; `i64::MAX`: unlimited.
    lifespan: i64,
    /// Blocks for its messages.
    pub(crate) pool: OwnPool,
    pub(crate) table: &'static TypeSupport,
    state: Mutex<PublisherState>,
    pub(crate) qos: QoS,
    pub(crate) class: Arc<MatchClass>,
    pub(crate) topic: Arc<str>,
    /// The node's full name, for log lines.
    pub(crate) node: Arc<str>,
    pub(crate) node_number: u64,
    pub(crate) match_listeners: MatchListeners,
    pub(crate) promised: WatchedPromises,
    pub(crate) remote: RemoteDelivery,
    /// What a binding touches with each publish.
    pub(crate) binding: Mutex<Vec<Hint>>,
}

/// The deadline and the lease of a publisher, which a task watches.
pub(crate) struct WatchedPromises {
    pub(crate) deadline: Option<Arc<Deadline<OfferedDeadlineMissed>>>,
    /// The lease of a manual publisher, if it has one.
    pub(crate) lease: Option<Arc<LivelinessLease>>,
}

impl WatchedPromises {
    fn are_watched(&self) -> bool {
        self.deadline.is_some() || self.lease.is_some()
    }

    fn published(&self, publication: &Publication, deferred: &mut Deferred) {
        let at = publication.stamp.time;
        if let Some(deadline) = &self.deadline {
            deadline.arrived(at, deferred);
        }
        if let Some(lease) = &self.lease {
            lease.published(at, deferred);
        }
    }
}

/// Number of cache lines of a publisher that every message touches.
const LINES: usize = 2;

const _: () = assert!(
    cfg!(loom)
        || mem::offset_of!(PublisherCore, state)
            + size_of::<Mutex<u64>>() - size_of::<u64>() // the lock itself
            + mem::offset_of!(PublisherState, retained)
            <= LINES * 64
);

#[repr(C)]
struct PublisherState {
    fanout: Fanout,
    sequence: u64,
    /// The counters that other processes can read.
    counters: Option<Counters>,
    /// The messages for late joiners; present only for a transient-local publisher.
    retained: Option<Box<Retained>>,
    work: CopyWork,
    closed: bool,
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

/// The subscriptions of this process that get a publisher's messages. Subscriptions of other
/// processes are behind its sinks, which have a lock of their own.
#[derive(Default)]
#[repr(C)]
pub(crate) struct Fanout {
    /// The graph's generation at which the list was fetched; no graph has generation 0.
    generation: u64,
    /// The only subscription, if there is just one: then a publish doesn't look at the list.
    sole: Option<Arc<SubscriptionCore>>,
    list: Arc<Subscribers>,
}

impl Fanout {
    fn of(list: Arc<Subscribers>, generation: u64) -> Self {
        let sole = if let [sole] = &*list.subscriptions { Some(sole.clone()) } else { None };
        Self { generation, sole, list }
    }

    /// Subscriptions with the publisher's message type.
    #[inline]
    fn subscriptions(&self) -> &[Arc<SubscriptionCore>] {
        match &self.sole {
            Some(sole) => std::slice::from_ref(sole),
            None => &self.list.subscriptions,
        }
    }
}

/// How a message is delivered to the subscriptions of this process.
trait Delivery {
    /// Delivers the message under the publisher's lock. Returns it if no subscription took
    /// ownership of it.
    ///
    /// # Errors
    /// Returns the message if it is for one subscription, which had no [free
    /// place](Admission::Free).
    fn push(
        self,
        fanout: &Fanout,
        message: RawMessage,
        publication: &Publication,
        deferred: &mut Deferred,
    ) -> Result<Option<RawMessage>, RawMessage>;
}

/// Every subscription gets the message as it is; the admission applies to those that may block the
/// publisher.
struct AsItIs(Admission);

impl Delivery for AsItIs {
    #[inline(always)]
    fn push(
        self,
        fanout: &Fanout,
        message: RawMessage,
        publication: &Publication,
        deferred: &mut Deferred,
    ) -> Result<Option<RawMessage>, RawMessage> {
        push_as_it_is(fanout.subscriptions(), message, self.0, publication, deferred)
    }
}

/// Counts of a publisher's work.
pub(crate) struct PublisherCounts {
    pub(crate) published: u64,
    pub(crate) work: CopyWork,
    pub(crate) retained: usize,
}

/// The parts of a publisher that are fixed when it is created.
pub(crate) struct PublisherConfig {
    pub(crate) number: u64,
    pub(crate) topic: Arc<str>,
    pub(crate) node: Arc<str>,
    pub(crate) node_number: u64,
    pub(crate) qos: QoS,
    pub(crate) origin: Origin,
    pub(crate) table: &'static TypeSupport,
    pub(crate) pool: OwnPool,
    pub(crate) session: Arc<Session>,
    pub(crate) promised: WatchedPromises,
}

impl prefetch::Footprint for PublisherCore {
    fn look(&self, level: usize, name: &mut dyn FnMut(usize, usize)) -> bool {
        self.name_remote(level, name)
    }
}

/// Names the code that every published message runs through.
fn code(name: &mut dyn FnMut(usize, usize)) {
    name(PublisherCore::publish as *const () as usize, 15);
    name(PublisherCore::next_publication as *const () as usize, 6);
    name(SubscriptionCore::push as *const () as usize, 21);
}

/// Names the code that every message runs through on its way out of the process.
fn code_of_remote(name: &mut dyn FnMut(usize, usize)) {
    name(PublisherCore::publish_with_sinks as *const () as usize, 28);
    name(PublisherCore::publish_bare as *const () as usize, 28);
}

impl PublisherCore {
    /// Notes that this thread publishes with this publisher.
    #[inline]
    pub(crate) fn note(self: &Arc<Self>) {
        let parts = || {
            let mut parts = vec![Part::value(self, LINES), Part::pool(&self.pool), Part::Code(code)];
            parts.extend(self.binding.lock().iter().copied().map(Part::Hint));
            parts
        };
        prefetch::note(Arc::as_ptr(self).addr(), &self.place, parts);
        if self.is_remote() {
            let parts = || {
                let footprint: Arc<dyn prefetch::Footprint> = self.clone();
                vec![Part::Deep(Arc::downgrade(&footprint)), Part::Code(code_of_remote)]
            };
            prefetch::note((&raw const self.remote).addr(), &self.remote.place, parts);
        }
    }

    /// Returns the endpoint as matching sees it.
    pub(crate) fn offers(&self) -> End<'_> {
        End::new(self.table, &self.qos, self.class.origin)
    }

    pub(crate) fn new(
        offered: PublisherConfig,
        class: Arc<MatchClass>,
        match_listeners: MatchListeners,
    ) -> Arc<Self> {
        let PublisherConfig { number, topic, node, node_number, qos, origin, table, pool, session, promised } =
            offered;
        let network = if origin.is_network() { NETWORK } else { 0 };
        let retained = qos.is_transient_local().then(Box::default);
        let state = PublisherState {
            fanout: Fanout::default(), // the first publish fetches the list
            sequence: 0,
            retained,
            work: CopyWork::NONE,
            closed: false,
            counters: None,
        };
        let lifespan = qos.lifespan_nanoseconds().unwrap_or(i64::MAX);
        let state = Mutex::new(state);
        Arc::new(Self {
            state,
            session,
            marked_number: number | network,
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
            strategy: HintU8::new(0),
            remote: RemoteDelivery::default(),
            binding: Mutex::default(),
        })
    }

    /// Returns the current strategy. Exact under the publisher's lock.
    #[inline]
    fn strategy(&self) -> Strategy {
        Strategy::from_bits(self.strategy.load(Ordering::Relaxed)) // ordered by the lock, or a hint
    }

    /// Whether messages leave the process. Changes under the locks of the sinks and of the
    /// publisher; a hint without them.
    #[inline]
    pub(crate) fn is_remote(&self) -> bool {
        self.strategy().has(Strategy::REMOTE)
    }

    /// Publishes a message. A message that could not be published is returned unchanged.
    #[inline(never)]
    pub(crate) fn publish(&self, message: RawMessage, form: Form) -> Result<(), (RawMessage, Unpublished)> {
        no_lock_is_held(); // listeners run
        if self.is_remote() {
            return self.publish_with_sinks(message, form);
        }
        match self.go_straight(message, form, Closed) {
            Ok(()) => Ok(()),
            Err(message) => message.map_or(Ok(()), |message| self.publish_with_care(message, form)),
        }
    }

    #[inline(never)]
    fn publish_with_sinks(&self, message: RawMessage, form: Form) -> Result<(), (RawMessage, Unpublished)> {
        match self.go_straight(message, form, self.sinks()) {
            Ok(()) => Ok(()),
            Err(message) => message.map_or(Ok(()), |message| self.publish_with_care(message, form)),
        }
    }

    /// Publishes a value that only subscriptions elsewhere get: encodes the value where it is,
    /// without a block of its own. Returns `false`, and publishes nothing, if a block is needed.
    #[inline]
    pub(crate) fn publish_value<T: Message>(&self, value: &T) -> bool {
        no_lock_is_held(); // as in `publish`
        if !self.is_remote() || self.strategy().has(Form::BARE.obstacles()) {
            return false;
        }
        let Some(encoding) = T::ENCODING else { return false };
        let (length, is_plain) = ((encoding.size)(value), encoding.plain.is_some());
        self.publish_bare(BareValue { length, is_plain, encode: &|to| (encoding.encode)(value, to) })
    }

    /// The same, for a type that is known at run time only.
    ///
    /// # Safety
    /// The pointer is to a value of the publisher's type, which nothing changes during the call.
    pub(crate) unsafe fn publish_value_at(&self, value: *const u8) -> bool {
        no_lock_is_held(); // as in `publish`
        if !self.is_remote() || self.strategy().has(Form::BARE.obstacles()) {
            return false;
        }
        // SAFETY: as the caller says.
        let Some(length) = (unsafe { self.table.encoded_size(value) }) else { return false };
        // SAFETY: as the caller says.
        let encode = |to: &mut [u8]| unsafe { self.table.encode(value, to) };
        self.publish_bare(BareValue { length, is_plain: self.table.is_plain(), encode: &encode })
    }

    #[inline(never)]
    fn publish_bare(&self, value: BareValue<'_>) -> bool {
        self.go_straight(value, Form::BARE, self.sinks()).is_ok()
    }

    /// Publishes a message as it is to every subscription, if all of them have room: the fast path.
    /// Otherwise, or if the list is not the newest, does nothing and returns the message.
    #[inline(always)] // two instances: without sinks, sinks cost nothing
    fn go_straight<C: Content>(
        &self,
        mut content: C,
        form: Form,
        mut sinks: impl Beyond,
    ) -> Result<(), Option<RawMessage>> {
        let has_room = sinks.has_room();
        let mut state = self.state.lock();
        let strategy = self.strategy();
        // C2
        let is_current = state.fanout.generation == self.session.generation();
        let is_straight =
            !strategy.has(form.obstacles()) && strategy.has(Strategy::REMOTE) == sinks.is_open();
        if !is_current || !is_straight || !has_room || self.session.has_ended() {
            return Err(content.into_message());
        }
        if !sinks.prepare(&mut content) {
            return Err(content.into_message());
        }
        let is_alone = state.fanout.sole.is_some() && !sinks.is_open();
        let place = match strategy.has(Strategy::BOUND) {
            false => Admission::Any,
            // With a single subscription, a message that is returned has reached no other one.
            true if is_alone && !strategy.has(Strategy::WATCHED) => Admission::Free,
            true if state.fanout.list.reserve() => Admission::Reserved,
            true => return Err(content.into_message()),
        };
        if sinks.is_open() {
            state.count(sinks.work());
        }
        if form == Form::ENCODED {
            state.count(CopyWork::ENCODED);
        }
        let stays = strategy.has(Strategy::LOCAL | Strategy::RETAINS);
        let (local, beyond) = content.split(stays, sinks.is_open());
        self.commit(state, (local, beyond), sinks, AsItIs(place))
    }

    /// Performs the steps from the sequence number on, which every message takes. `to` delivers
    /// `local` to the subscriptions of this process; `beyond` leaves the process. Returns the
    /// message if there was no [free place](Admission::Free).
    #[inline(always)]
    fn commit<C: Content>(
        &self,
        mut state: Guard<'_, PublisherState>,
        (local, beyond): (Option<RawMessage>, Option<C>),
        mut sinks: impl Beyond,
        to: impl Delivery,
    ) -> Result<(), Option<RawMessage>> {
        let (strategy, mut deferred) = (self.strategy(), Deferred::default());
        let PublisherState { fanout, sequence, retained, counters, .. } = &mut *state;
        let publication = self.next_publication(sequence, counters);
        if let Some(local) = &local
            && strategy.has(Strategy::RETAINS)
            && let Some(displaced) = self.retain(retained, counters, local, &publication)
        {
            deferred.drop_later(displaced);
        }
        if strategy.has(Strategy::WATCHED) {
            self.promised.published(&publication, &mut deferred);
        }
        let left = match local.map(|local| to.push(fanout, local, &publication, &mut deferred)) {
            Some(Err(back)) => {
                *sequence -= 1;
                if let Some(counters) = counters {
                    counters.set(Counter::Messages, *sequence);
                }
                return Err(Some(back));
            }
            Some(Ok(left)) => left,
            None => None,
        };
        drop(state);
        if let Some(warning) = sinks.send(&publication, beyond.as_ref(), &self.topic) {
            deferred.warn(&self.node, &self.topic, warning);
        }
        drop(sinks);
        deferred.finish();
        if let Some(left) = left {
            drop(left); // no subscription took it
        }
        Ok(()) // the displaced message is dropped as well
    }

    /// Counts work done with a message besides publishing it.
    pub(crate) fn count(&self, work: CopyWork) {
        self.state.lock().count(work);
    }

    fn refuses(&self, state: &PublisherState) -> Option<Unpublished> {
        if state.closed {
            return Some(Unpublished::Closed);
        }
        self.session.has_ended().then_some(Unpublished::Shutdown)
    }

    /// Whether the class still has this list: the generation alone counts changes of all topics.
    fn is_newest(&self, subscribers: &Arc<Subscribers>) -> bool {
        Arc::ptr_eq(subscribers, &self.class.subscribers.lock())
    }

    /// Fetches the newest list. Also returns the old one, to be dropped outside the lock.
    fn fetch(&self, state: &mut PublisherState) -> (Arc<Subscribers>, Fanout) {
        // The list may be newer than the generation: then the next publish fetches it once more.
        let generation = self.session.generation();
        let list = self.class.subscribers.lock().clone();
        let old = mem::replace(&mut state.fanout, Fanout::of(list.clone(), generation));
        self.renew_strategy(state, self.is_remote());
        (list, old)
    }

    /// Computes the strategy for the publishes from now on.
    fn renew_strategy(&self, state: &PublisherState, is_remote: bool) {
        let list = state.fanout.list.strategy;
        let retains = self.qos.is_transient_local();
        // A message that is retained, or encoded afterwards, can't be given away; and the publisher
        // can't take a retained message back.
        let is_kept = list.has(Strategy::OWNED) && (retains || is_remote);
        let takes_care = is_kept || retains && list.has(Strategy::BOUND) || state.closed;
        let strategy = list
            | Strategy::CARE.only_if(takes_care)
            | Strategy::REMOTE.only_if(is_remote)
            | Strategy::RETAINS.only_if(retains)
            | Strategy::WATCHED.only_if(self.promised.are_watched());
        self.strategy.store(strategy.bits(), Ordering::Relaxed); // see `strategy`
    }

    /// Fetches the new list after a subscription was removed. Returns the list that it was on, to
    /// be dropped outside all locks.
    pub(crate) fn refetch(&self) -> Option<(Arc<Subscribers>, Fanout)> {
        let mut state = self.state.lock();
        // A publisher that has fetched no list yet doesn't hold the subscription; nor does a closed
        // one.
        (state.fanout.generation != 0 && !state.closed).then(|| self.fetch(&mut state))
    }

    #[inline(never)]
    fn next_publication(&self, sequence: &mut u64, counters: &Option<Counters>) -> Publication {
        *sequence += 1;
        let stamp = self.session.clock.stamp();
        if let Some(counters) = counters {
            let last = stamp.time.cast_unsigned();
            counters.set_all([(Counter::Messages, *sequence), (Counter::Last, last)]);
        }
        if self.marked_number & NETWORK != 0 {
            return self.foreign_publication(*sequence, stamp);
        }
        Publication::new(stamp, *sequence, self.marked_number, self.lifespan)
    }

    /// Returns the publisher's number in its participant.
    pub(crate) fn number(&self) -> u64 {
        self.marked_number & !NETWORK
    }

    /// Retains the message for late joiners, if this publisher does so; returns the message it
    /// displaced.
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

    /// Returns the retained messages for a late joiner. From now on, publishing delivers to it.
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

    /// Closes the publisher: it publishes nothing any more.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        let retained = state.retained.take();
        let fanout = mem::take(&mut state.fanout);
        self.renew_strategy(&state, false);
        drop(state);
        drop((retained, fanout));
        self.close_sinks();
        self.pool.close();
    }

    pub(crate) fn sent(&self) -> PublisherCounts {
        let state = self.state.lock();
        PublisherCounts {
            published: state.sequence,
            work: state.work,
            retained: state.retained.as_ref().map_or(0, |retained| retained.0.len()),
        }
    }
}

impl PublisherCore {
    /// Converts the error when there is no memory for a message's encoded form. Logs the reason
    /// once, unless it is lack of room.
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
                    log_line!(
                        Level::Error; about,
                        "a message on {} can't leave the process: {other}",
                        self.topic
                    );
                });
                Unpublished::NoSpace { wanted: 0, free: 0, size: 0 }
            }
        }
    }
}
