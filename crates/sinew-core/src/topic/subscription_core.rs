//! A subscription as its publishers see it: a history under a lock, and the task to notify of new
//! messages.
//!
//! # Ways to take a message
//!
//! `take_from` takes the oldest message out of the history, under its lock. Up to three other steps
//! come before or with it:
//!
//! - `take_direct` takes the next message out of the ring of a publisher in another process, past
//!   the history: if that is the only publisher, no message waits here, and no task or listener is
//!   notified of messages.
//! - `read_remote` reads the messages of publishers in other processes into the history.
//! - With a `Deferred`, `take_from` leaves work for after the lock: to drop expired messages, and
//!   in a reentrant group to signal the executor that runs the next message.
//!
//! A thread that takes by hand calls `take`, which goes through all of them. An executor calls
//! `take_for`, which only takes from the history: its threads read from other processes before they
//! choose a task. A task that awaits calls `poll_take`, which calls `read_remote`, then checks the
//! history and registers its waker under one lock.

mod joining;
pub(crate) mod permits;
mod remote_sources;

use super::copy_plan::Role;
use super::remote_endpoint::RemoteEndpoint;
use super::remote_reads::{DirectTake, Progress};
use super::statistics_collector::StatisticsCollector;
use super::warn_once::WarnOnce;
use crate::event::condition::StatusCondition;
use crate::event::deadline::Deadline;
use crate::event::liveliness::{LivelinessLease, LivelinessListener};
use crate::event::match_listeners::MatchListeners;
use crate::event::status::{MessageLost, RequestedDeadlineMissed};
use crate::executor::crew::scheduler::{TaskRef, ToSignal};
use crate::executor::group_token::GroupToken;
use crate::executor::inbox::{Inbox, InboxGuard, Queue};
use crate::mailbox::deferred::{Deferred, Drainable};
use crate::mailbox::history::{Admission, Entry, HistoryCache, HistoryCounts, JoinOrder, LossCause};
use crate::mailbox::waiters::{Listener, Notifications, Waiter, WaiterId, Waiters};
use crate::message::block::{self, OwnPool, RawMessage};
use crate::message::info::{Publication, expiry};
use crate::message::type_support::{CloneInto, TypeSupport};
use crate::message::work::CopyWork;
use crate::message::{Check, MessageInfo};
use crate::ros::mismatch::End;
use crate::ros::origin::Origin;
use crate::ros::qos::{Durability, QoS};
use crate::sys::clock::{Clock, Stamp, Time};
use crate::sys::logging::{About, log_line};
use crate::sys::sync::{Arc, AtomicBool, Condvar, Mutex, Ordering, no_lock_is_held};
use sinew_msg::DecodeError;
use sinew_shm::transport::Counters;
use sinew_shm::{Counter, EndpointKey};
use std::collections::VecDeque;
use std::mem::{self, ManuallyDrop};
use std::ops::ControlFlow;
use std::task::{Poll, Waker};

/// Inspects a message on the publisher's thread. Returns `false` to leave the message out.
pub(crate) type Filter = Box<dyn Fn(&RawMessage) -> bool + Send + Sync>;

/// A subscription's identity and configuration; fixed when it is created.
pub(crate) struct SubscriptionConfig {
    pub(crate) topic: Arc<str>,
    /// The node's full name, for log lines.
    pub(crate) node: Arc<str>,
    pub(crate) node_number: u64,
    /// The subscription's number in its participant.
    pub(crate) number: u64,
    pub(crate) origin: Origin,
    pub(crate) table: &'static TypeSupport,
    pub(crate) qos: QoS,
    pub(crate) role: Role,
    /// Makes a message of its own; present for every role but `Sharer`.
    pub(crate) clone: Option<CloneInto>,
    pub(crate) filter: Option<Filter>,
    /// If present, the subscription takes encoded messages as they are, once this check accepts
    /// them; otherwise it takes values only.
    pub(crate) check: Option<Check>,
    /// Whether publications of its own node are ignored.
    pub(crate) ignore_own: bool,
    /// Blocks for messages kept by value, and for copies made when a message is taken.
    pub(crate) pool: OwnPool,
    pub(crate) participant: u64,
}

/// Additional places in the history of a gateway's subscription that asks for retained messages:
/// several publishers share the history, and the gateway ensures that one publisher's retained
/// messages displace no other publisher's, as soon as it has taken the messages that arrived.
const CARRIER_ROOM: usize = 256;

/// A subscription's listeners, besides those for matching.
pub(crate) struct SubscriptionListeners {
    pub(crate) lost: Option<Arc<StatusCondition<MessageLost>>>,
    pub(crate) deadline: Option<Arc<Deadline<RequestedDeadlineMissed>>>,
    pub(crate) liveliness: Option<LivelinessListener>,
}

/// The receiving side of a subscription.
///
/// The fields that every message touches come first, in [five cache lines](LINES): after a sleep,
/// fetching them from memory dominates the cost of a delivery.
#[repr(C, align(64))]
pub(crate) struct SubscriptionCore {
    /// Nanoseconds after its publication at which a message is too old for this subscription;
    /// `i64::MAX`: never.
    lifespan: i64,
    deadline: Option<Arc<Deadline<RequestedDeadlineMissed>>>,
    /// Whether publishers may wait for places.
    is_blocking: bool,
    /// Measures the messages that are taken.
    collector: Option<Arc<StatisticsCollector>>,
    pub(crate) clock: Clock,
    /// A subscription with a callback is a task of an executor.
    state: Inbox<SubscriptionState>,
    pub(crate) wanted: SubscriptionConfig,
    /// Signalled when a place becomes free while a publisher waits for one.
    space: Condvar,
    pub(crate) match_listeners: MatchListeners,
    pub(crate) lost: Option<Arc<StatusCondition<MessageLost>>>,
    pub(crate) liveliness: Option<LivelinessListener>,
    /// Matching publishers elsewhere. A thread that takes by hand reads their messages.
    sources: RemoteSources,
    complaints: WarnOnce,
}

/// Number of cache lines of a subscription that every message touches.
pub(crate) const LINES: usize = 5;

const _: () = assert!(
    cfg!(loom)
        || mem::offset_of!(SubscriptionCore, state)
            + Inbox::<SubscriptionState>::HEAD
            + mem::offset_of!(SubscriptionState, history)
            + HistoryCache::HOT
            <= LINES * 64
);

#[repr(C)]
struct SubscriptionState {
    closed: bool,
    /// Whether each message that arrives notifies a task or a listener; see `listening`.
    listened: bool,
    /// Whether the messages of `only` may be taken past the history.
    direct: bool,
    /// Number of publishers waiting for a place.
    waiting: u32,
    /// The counters that other processes can read.
    counters: Option<Counters>,
    /// The publication time of the last message with a recorded latency.
    noted: i64,
    history: HistoryCache,
    /// Created when a task or a listener waits for the first time.
    listening: Option<Box<Waiters>>,
    work: CopyWork,
    /// The only publisher elsewhere.
    only: Option<Arc<dyn RemoteSource>>,
    /// Number of free places at which waiting publishers are woken. As between processes,
    /// publishers that found no place wait for half of them, and after a moment for any.
    enough: usize,
}

/// A publisher elsewhere, as its subscriptions here see it.
///
/// Its messages reach the histories when it is [drained](Drainable::drain): by the executor that
/// its transport notifies, or by a thread that asks for a message. One thread at a time reads; a
/// thread that finds another one reading makes that one read once more, and doesn't wait.
pub(crate) trait RemoteSource: Drainable {
    /// Returns its description of itself.
    fn offered(&self) -> &RemoteEndpoint;

    /// Sets the subscriptions that get its messages from now on. The caller then drains.
    fn serve(&self, subscriptions: &[Arc<SubscriptionCore>]);

    /// Disconnects a subscription that is being closed: the source keeps no reference to it.
    /// Drains.
    fn disconnect(&self, subscription: &SubscriptionCore);

    /// Updates who is notified of its messages, after other executors, or none, serve its
    /// subscriptions. Drains.
    fn retune(&self) {
        self.drain();
    }

    /// Drains if there may be anything to read, for a thread that polls.
    fn look(&self) {
        self.drain();
    }

    /// Whether a thread is reading it now.
    fn is_being_read(&self) -> bool;

    /// Makes a receiving thread notify the listeners; none does once the context is gone.
    fn notify_elsewhere(&self, notifications: Notifications);

    /// Whether the publisher is gone and all its messages were read.
    fn is_over(&self) -> bool;

    /// Returns its lease, if it has to give signs of life within one.
    fn lease(&self) -> Option<&Arc<LivelinessLease>> {
        None
    }

    /// Returns its progress, if it stands for a publisher on the network.
    fn progress(&self) -> Option<Progress> {
        None
    }

    /// Takes the next message for the only subscription, past its history; of more than `depth`
    /// messages only the newest. Also returns whether the caller must drain afterwards. Called
    /// under that subscription's lock, so it never waits.
    fn take_for(&self, _subscription: &SubscriptionCore, _depth: u64) -> (DirectTake, bool) {
        (DirectTake::NotSo, false)
    }

    /// Records that the only subscription has taken a message, and that `oldest` is the first it
    /// still has: earlier messages are done with. Returns `false` if there is more to do; the
    /// caller then looks. Called under that subscription's lock.
    fn advance_for(&self, _subscription: &SubscriptionCore, _oldest: &Publication) -> bool {
        false
    }
}

/// A subscription's publishers elsewhere.
#[derive(Default)]
struct RemoteSources {
    any: AtomicBool,
    all: Mutex<Arc<Vec<Arc<dyn RemoteSource>>>>,
    /// Whether the subscription waits for retained messages. A hint.
    is_joining: AtomicBool,
    /// That wait. Locked before the history.
    joining: Mutex<Option<Joining>>,
    /// Publishers on the network that lost their gateway and that no other gateway brings yet.
    left: Mutex<VecDeque<Progress>>,
    /// Whether `left` has any.
    any_left: AtomicBool,
}

/// A subscription's wait for retained messages.
struct Joining {
    /// Publishers that haven't handed over their retained messages.
    awaited: Vec<Arc<dyn RemoteSource>>,
    /// End of the wait, in steady time of the machine.
    until: Time,
}

/// Minimum nanoseconds between two messages with a latency recorded for other processes: reading
/// the clock for each message would cost too much.
const NOTED: i64 = 10_000_000;

impl SubscriptionState {
    /// Counts messages that arrived or left, for other processes.
    #[inline]
    fn count(&self, last: Option<i64>) {
        let Some(counters) = &self.counters else { return };
        let (received, taken) = self.history.received_and_taken();
        let waiting = self.history.len() as u64;
        let counts = [(Counter::Messages, received), (Counter::Taken, taken), (Counter::Waiting, waiting)];
        match last {
            None => counters.set_all(counts),
            Some(last) => {
                let [received, taken, waiting] = counts;
                counters.set_all([received, taken, waiting, (Counter::Last, last.cast_unsigned())]);
            }
        }
        if let Some(lost) = self.history.losses() {
            counters.set_all([
                (Counter::Overwritten, lost.overwritten - lost.unread),
                (Counter::Missed, lost.unread + lost.missed),
                (Counter::Refused, lost.refused),
                (Counter::Expired, lost.expired),
            ]);
        }
    }

    /// Records a message's latency now and then.
    #[inline]
    fn note_latency(&mut self, published: i64, now: impl Fn() -> i64) {
        if let Some(counters) = &self.counters
            && published.wrapping_sub(self.noted) >= NOTED
        {
            self.noted = published;
            counters.record_latency(now().saturating_sub(published).max(0).cast_unsigned());
        }
    }

    /// Changes the waiting tasks and listeners.
    fn listen<R>(&mut self, change: impl FnOnce(&mut Waiters) -> R) -> R {
        let listening = self.listening.get_or_insert_default();
        let result = change(listening);
        self.listened = listening.is_wanted();
        result
    }

    /// Whether publishers wait for places, and enough are free. Then the caller wakes all of them
    /// once it has released the lock, since each looks again and registers its new wait.
    #[inline]
    fn makes_room(&mut self) -> bool {
        let makes_room = self.waiting > 0 && self.history.free() >= self.enough;
        if makes_room {
            self.enough = usize::MAX;
        }
        makes_room
    }

    /// A2: has the task and the listener woken for the message that arrived.
    #[cold]
    #[inline(never)]
    fn arrived(&mut self, deferred: &mut Deferred) {
        self.listen(Waiters::arrived).for_each(|waiter| deferred.wake_later(waiter));
    }
}

impl Queue for SubscriptionState {
    #[inline]
    fn oldest(&self) -> Option<Stamp> {
        self.history.oldest()
    }
}

type Locked<'a> = InboxGuard<'a, SubscriptionState>;

/// A message that was taken, and the stamp under which the executor keeps the subscription ready,
/// if it has more.
type Taken = (Entry, Option<Stamp>);

/// The taker of a message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taker {
    /// A thread that takes by hand.
    ByHand,
    /// The callback, with its group's only token.
    Exclusive,
    /// The callback, while another thread may call it for the next message.
    Reentrant,
}

/// Names the code that every message runs through when it is taken.
pub(crate) fn code(name: &mut dyn FnMut(usize, usize)) {
    name(SubscriptionCore::take_as as *const () as usize, 35);
    block::code(name);
}

impl SubscriptionCore {
    /// Returns the endpoint as matching sees it.
    pub(crate) fn asks(&self) -> End<'_> {
        End::new(self.wanted.table, &self.wanted.qos, self.wanted.origin)
    }

    pub(crate) fn new(
        wanted: SubscriptionConfig,
        match_listeners: MatchListeners,
        listeners: SubscriptionListeners,
        (clock, collector): (Clock, Option<Arc<StatisticsCollector>>),
    ) -> Arc<Self> {
        let SubscriptionListeners { lost, deadline, liveliness } = listeners;
        let retained = wanted.qos.durability == Durability::TransientLocal && !wanted.qos.is_keep_all();
        let spare = if wanted.origin == Origin::Carrier && retained { CARRIER_ROOM } else { 0 };
        let history = HistoryCache::new(wanted.qos.capacity() + spare, wanted.qos.is_keep_all());
        let state = SubscriptionState {
            closed: false,
            listened: false,
            waiting: 0,
            enough: 0,
            history,
            listening: None,
            counters: None,
            noted: i64::MIN / 2,
            work: CopyWork::NONE,
            only: None,
            direct: false,
        };
        let lifespan = wanted.qos.lifespan_nanoseconds().unwrap_or(i64::MAX);
        Arc::new(Self {
            state: Inbox::new(state),
            lifespan,
            is_blocking: wanted.qos.is_blocking(),
            deadline,
            collector,
            clock,
            wanted,
            space: Condvar::new(),
            match_listeners,
            lost,
            liveliness,
            sources: RemoteSources::default(),
            complaints: WarnOnce::default(),
        })
    }

    /// Adds a message and announces it. Called under the publisher's lock. Returns the message if
    /// it needed a [free place](Admission::Free) and there was none.
    #[inline(never)] // one copy of the code for all callers: it is fetched once
    pub(crate) fn push(
        &self,
        message: RawMessage,
        publication: &Publication,
        place: Admission,
        deferred: &mut Deferred,
    ) -> Option<RawMessage> {
        let mut state = self.state.lock();
        if state.closed {
            deferred.drop_later(message);
            return None;
        }
        if publication.is_kept() && self.wanted.qos.durability == Durability::Volatile {
            drop(state);
            if place == Admission::Reserved {
                self.unreserve();
            }
            deferred.drop_later(message);
            return None; // retained messages are for subscriptions that ask for them
        }
        if place == Admission::Free && !state.history.has_room() {
            return Some(message);
        }
        let lost = state.history.push(message, publication, self.lifespan, place);
        state.count(Some(publication.stamp.time));
        // While the history is held, they are notified once the message may be handed out.
        if state.listened && !matches!(lost, Some((_, LossCause::Refused))) && !state.history.is_held() {
            state.arrived(deferred);
        }
        deferred.signal(state.announce());
        if let Some((message, cause)) = lost {
            deferred.drop_later(message);
            if cause != LossCause::Expired {
                self.report_lost(deferred);
            }
        }
        if let Some(deadline) = &self.deadline {
            deadline.arrived(publication.stamp.time, deferred);
        }
        None
    }

    /// Measures a message that is taken, if statistics are collected.
    #[inline]
    pub(crate) fn collect(&self, message: &RawMessage, publication: &Publication) {
        if let Some(collector) = &self.collector {
            collector.collect(message, publication);
        }
    }

    /// Returns the metadata of a message that was taken.
    pub(crate) fn info(&self, publication: Publication, reception: u64) -> MessageInfo {
        MessageInfo::new(publication, reception, self.wanted.participant, &self.clock)
    }

    /// Counts a taken message that can't be decoded as lost.
    #[cold]
    pub(crate) fn cannot_decode(&self, error: &DecodeError) {
        let SubscriptionConfig { topic, node, .. } = &self.wanted;
        let about = About { node, subject: topic };
        log_line!(self.complaints.level(); about, "a message on {topic} can't be decoded: {error}");
        Deferred::with(|deferred| self.count_lost_for(1, Some(error), deferred));
    }

    /// Reports a message of a publisher elsewhere that is lost because a filter or a `Clone`
    /// panicked.
    #[cold]
    pub(crate) fn is_lost_by_panic(&self, panic: &str, deferred: &mut Deferred) {
        let SubscriptionConfig { topic, node, .. } = &self.wanted;
        let about = About { node, subject: topic };
        log_line!(
            self.complaints.level(); about,
            "a message on {topic} is lost, a filter or Clone panicked: {panic}"
        );
        self.count_lost_for(1, None, deferred);
    }

    #[cold]
    fn report_lost(&self, deferred: &mut Deferred) {
        let Some(lost) = &self.lost else { return };
        let one_more = |event: &mut MessageLost| {
            event.total += 1;
            event.total_change += 1;
        };
        lost.update(one_more, deferred);
    }

    /// Takes the oldest message, for a thread that takes by hand.
    pub(crate) fn take(&self) -> Option<Entry> {
        no_lock_is_held(); // reads messages from elsewhere, for other subscriptions as well
        // Relaxed: as in `read_remote`.
        if self.sources.any.load(Ordering::Relaxed) {
            if let ControlFlow::Break(taken) = self.take_direct() {
                return taken;
            }
            self.read_remote();
        }
        let taken = self.take_as(Taker::ByHand);
        if taken.is_none() && self.gives_up() {
            return self.take();
        }
        taken.map(|(entry, _)| entry)
    }

    /// Takes the oldest message, for the callback. Also returns the stamp under which the executor
    /// keeps the subscription ready, if it has more; in a reentrant group the next message has
    /// already been announced.
    #[inline]
    pub(crate) fn take_for(&self, token: &GroupToken) -> Option<Taken> {
        self.take_as(if token.is_reentrant() { Taker::Reentrant } else { Taker::Exclusive })
    }

    /// Drops the waiting messages, unless later subscriptions would get them as well.
    pub(crate) fn discard(&self) {
        if self.wanted.qos.durability == Durability::TransientLocal {
            return;
        }
        // Stops at the first message that arrived since: publishers may never pause.
        let now = self.clock.steady();
        while self.take().is_some_and(|entry| entry.publication.stamp.time <= now) {}
    }

    #[inline(never)]
    pub(crate) fn take_as(&self, taker: Taker) -> Option<Taken> {
        let state = self.state.lock();
        if state.history.has_mortals() || taker == Taker::Reentrant {
            return self.take_and_defer(state, taker);
        }
        // Only a reentrant group signals: nothing is left to drop.
        let mut no_signal = ManuallyDrop::new(ToSignal::NONE);
        self.take_from(state, taker, HistoryCache::pop_first, &mut no_signal)
    }

    /// Takes a message where that leaves work for after the lock: to drop expired messages, and to
    /// signal the executor that runs the next message of a reentrant group.
    #[inline(never)] // so that the usual way is short
    fn take_and_defer(&self, state: Locked<'_>, taker: Taker) -> Option<Taken> {
        Deferred::with(|deferred| {
            let now = || self.clock.steady();
            let pop = |history: &mut HistoryCache| history.pop(now, |old| deferred.drop_later(old.message));
            let mut signal = ToSignal::NONE;
            let taken = self.take_from(state, taker, pop, &mut signal);
            deferred.signal(signal);
            taken
        })
    }

    #[inline]
    fn take_from(
        &self,
        mut state: Locked<'_>,
        taker: Taker,
        pop: impl FnOnce(&mut HistoryCache) -> Option<Entry>,
        signal: &mut ToSignal,
    ) -> Option<Taken> {
        let entry = pop(&mut state.history);
        state.count(None);
        if let Some(entry) = &entry {
            state.note_latency(entry.publication.stamp.time, || self.clock.steady());
        }
        let frees = self.frees_elsewhere()
            && entry.as_ref().is_none_or(|entry| state.history.is_to_be_notified(entry.reception));
        let frees = frees && !(entry.is_some() && self.advances(&state));
        let makes_room = state.makes_room();
        let mut next = None;
        if taker == Taker::ByHand {
            drop(state);
        } else {
            (next, *signal) = state.next(taker == Taker::Reentrant);
        }
        if makes_room {
            self.space.notify_all();
        }
        if frees {
            self.read_sources();
        }
        Some((entry?, next))
    }

    /// Releases the lock, and wakes the publishers that wait for places if there are enough.
    #[inline]
    fn release(&self, mut state: Locked<'_>) {
        let makes_room = state.makes_room();
        drop(state);
        if makes_room {
            self.space.notify_all();
        }
    }

    /// Takes the oldest message for a task. If there is none, the task is woken when one arrives,
    /// or when the context ends or the subscription is closed; then this returns ready with `None`.
    pub(crate) fn poll_take(
        &self,
        waiter: &mut WaiterId,
        task: &Waker,
        ended: &AtomicBool,
    ) -> Poll<Option<Entry>> {
        no_lock_is_held(); // as in `take`; and the waker is cloned
        self.read_remote();
        let result = Deferred::with(|deferred| {
            let mut ours: Option<Waker> = None;
            loop {
                let mut state = self.state.lock();
                let expired = |old: Entry| deferred.drop_later(old.message);
                let entry = state.history.pop(|| self.clock.steady(), expired);
                // Acquire: pairs with the Release of the shutdown, which then reads the waiting
                // tasks under this lock.
                if entry.is_some() || state.closed || ended.load(Ordering::Acquire) {
                    state.count(None);
                    if let Some(entry) = &entry {
                        state.note_latency(entry.publication.stamp.time, || self.clock.steady());
                    }
                    let before = if waiter.is_none() { None } else { state.listen(|all| all.served(waiter)) };
                    self.release(state);
                    drop(before);
                    return Poll::Ready(entry);
                }
                if state.listening.as_ref().is_some_and(|all| all.has(waiter, task)) {
                    self.release(state);
                    return Poll::Pending;
                }
                if let Some(ours) = ours.take() {
                    let before = state.listen(|all| all.wait(waiter, ours)); // A1
                    self.release(state);
                    drop(before);
                    return Poll::Pending;
                }
                self.release(state);
                ours = Some(task.clone()); // runs code of the program; then everything is checked again
            }
        });
        match &result {
            Poll::Pending => self.retune(), // a thread has to receive now
            Poll::Ready(Some(_)) if self.frees_elsewhere() => self.read_sources(),
            Poll::Ready(_) => {}
        }
        result
    }

    /// Ends a task's wait that got no message.
    pub(crate) fn stop_waiting(&self, waiter: &mut WaiterId) {
        if waiter.is_none() {
            return;
        }
        let mut state = self.state.lock();
        let has_messages = state.history.oldest().is_some();
        let (ours, next) = state.listen(|all| all.left(waiter, has_messages));
        drop(state);
        drop(ours);
        if let Some(next) = next {
            next.wake();
        }
    }

    /// Sets the listener to be notified of every message, and notifies it at once of the waiting
    /// ones.
    pub(crate) fn set_listener(&self, listener: Option<Arc<Listener>>) {
        let mut state = self.state.lock();
        let waiting = if state.history.is_held() { 0 } else { state.history.len() as u64 };
        let before = state.listen(|all| all.set_listener(listener.clone()));
        drop(state);
        drop(before);
        self.retune();
        if let Some(listener) = listener
            && waiting > 0
        {
            listener.notify(waiting);
        }
    }

    /// Returns the key by which other processes know the subscription.
    pub(crate) fn key(&self) -> Option<EndpointKey> {
        self.state.lock().counters.as_ref().map(Counters::key)
    }

    /// Sets the counters that other processes can read; called once.
    pub(crate) fn is_counted(&self, counters: Counters) {
        let mut state = self.state.lock();
        self.match_listeners.is_counted(counters.clone());
        state.counters = Some(counters);
        state.count(None);
    }

    /// Returns the publication of this publisher's oldest waiting message.
    pub(crate) fn oldest_of(&self, publisher: u64) -> Option<Publication> {
        self.state.lock().history.oldest_of(publisher)
    }

    /// Announces `count` messages that were added by other means than [`push`](Self::push).
    pub(crate) fn announce_waiting(&self, count: usize, deferred: &mut Deferred) {
        Self::announce(self.state.lock(), count, deferred);
    }

    /// Takes back the announcement if no message waits. Returns whether one does.
    pub(crate) fn clear_ready(&self) -> bool {
        self.state.lock().clear_ready(false)
    }

    /// Returns the stamp that is still announced, after a callback that may have panicked.
    pub(crate) fn pending(&self) -> Option<Stamp> {
        self.state.lock().pending()
    }

    /// Sets the task to which messages are announced, and announces those that wait.
    pub(crate) fn attach(&self, task_ref: Option<TaskRef>) -> ToSignal {
        self.state.lock().attach(task_ref)
    }

    /// Adds messages that were retained for late joiners; see [`HistoryCache::merge`]. Returns how
    /// many more messages wait now.
    pub(crate) fn merge(&self, mut retained: Vec<Entry>, joins: JoinOrder) -> usize {
        for Entry { publication, .. } in &mut retained {
            publication.expires = publication.expires.min(expiry(publication.stamp.time, self.lifespan));
        }
        let now = self.clock.steady();
        Deferred::with(|deferred| {
            if let Some(deadline) = self.deadline.as_ref().filter(|_| !retained.is_empty()) {
                deadline.arrived(now, deferred);
            }
            let mut state = self.state.lock();
            let before = state.history.len();
            let out = state.history.merge(retained, now, joins);
            let more = state.history.len().saturating_sub(before);
            drop(state);
            drop(out); // runs code of the program, outside the lock
            more
        })
    }

    /// Ends the subscription's waits after the context has ended: wakes publishers that wait for a
    /// place and tasks that wait for a message.
    pub(crate) fn end(&self) {
        let mut state = self.state.lock(); // a thread that looked before is asleep by now
        let tasks = state.listening.is_some().then(|| state.listen(Waiters::take_tasks));
        drop(state);
        self.space.notify_all();
        tasks.into_iter().flatten().for_each(Waiter::wake);
    }

    /// Closes the subscription: it accepts no messages, drops those that waited, and wakes waiting
    /// tasks.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        let tasks = state.listening.is_some().then(|| state.listen(Waiters::take_tasks));
        let task_ref = state.detach();
        state.listened = false;
        let out = (state.history.drain(), state.listening.take());
        drop(state);
        self.space.notify_all();
        drop((out, task_ref));
        tasks.into_iter().flatten().for_each(Waiter::wake);
        self.stop_joining();
        self.leave_sources();
    }

    /// Counts work done with a message besides adding and taking it.
    #[inline]
    pub(crate) fn count(&self, work: CopyWork) {
        if !work.is_none() {
            let mut state = self.state.lock();
            let SubscriptionState { work: sum, counters, .. } = &mut *state;
            sum.count(work, counters);
        }
    }

    pub(crate) fn counts(&self) -> (HistoryCounts, CopyWork, usize) {
        let state = self.state.lock();
        (state.history.counts(), state.work, state.history.len())
    }
}
