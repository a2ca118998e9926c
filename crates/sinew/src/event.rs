//! What happens to an entity besides messages: status events and guard conditions.

use crate::callback::{EventCallback, OnEvent};
use crate::clock::{Clock, Stamp};
use crate::executor::group::{CallbackGroup, GroupCore, GroupMember, Membership};
use crate::executor::scheduler::{self, Entity, Home, Ran, Scheduler};
use crate::executor::trail;
use crate::executor::turn::Turn;
use crate::message::info::ChainScope;
use crate::qos::Policy;
use crate::sync::{Arc, Mutex};
use sinew_msg::DecodeError;

/// Somebody matched with this entity, or went away. ROS 2: `rmw_matched_status_t`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Matched {
    /// How many entities have ever matched.
    pub total: u64,
    /// How many of them since the last event.
    pub total_change: u64,
    /// How many are matched now.
    pub current: u64,
    /// How that changed since the last event.
    pub current_change: i64,
}

/// An entity of the same topic asks for, or offers, a QoS that doesn't go with this one's. ROS 2:
/// `rmw_qos_incompatible_event_status_t`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct IncompatibleQos {
    /// How many there were.
    pub total: u64,
    /// How many of them since the last event.
    pub total_change: u64,
    /// The policy that kept the last one apart.
    pub last_policy: Option<Policy>,
    /// The node of the last one, and what was offered and asked for.
    pub last_reason: String,
}

/// An entity of the same topic has another type. ROS 2: `rmw_incompatible_type_status_t`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct IncompatibleType {
    /// How many there were.
    pub total: u64,
    /// How many of them since the last event.
    pub total_change: u64,
    /// The node of the last one, and its type.
    pub last_reason: String,
}

/// Messages that reached the subscription's history were lost to newer ones, or found it full; or
/// messages of another process were overwritten before they were read, or made no sense, such as a
/// string that is not UTF-8 (which the log tells once, too). ROS 2: `rmw_message_lost_status_t`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct MessageLost {
    /// How many there were.
    pub total: u64,
    /// How many of them since the last event.
    pub total_change: u64,
    /// How many of `total` made no sense, or were refused by an [`Adapter`](crate::Adapter).
    pub undecodable: u64,
    /// What was wrong with the last one of these, and where in it.
    pub last_problem: Option<DecodeError>,
}

/// A publisher was silent for longer than the deadline it offers, once for each period without a
/// message. ROS 2: `rmw_offered_deadline_missed_status_t`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct OfferedDeadlineMissed {
    /// How many periods there were.
    pub total: u64,
    /// How many of them since the last event.
    pub total_change: u64,
}

/// No message reached a subscription for longer than the deadline it requests, once for each period
/// without a message. ROS 2: `rmw_requested_deadline_missed_status_t`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RequestedDeadlineMissed {
    /// How many periods there were.
    pub total: u64,
    /// How many of them since the last event.
    pub total_change: u64,
}

/// A publisher gave no sign of life for longer than its lease, and counts as not alive. ROS 2:
/// `rmw_liveliness_lost_status_t`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LivelinessLost {
    /// How often it did.
    pub total: u64,
    /// How many times of them since the last event.
    pub total_change: u64,
}

/// Publishers that match a subscription came, went, lapsed, or gave a sign of life again. ROS 2:
/// `rmw_liveliness_changed_status_t`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LivelinessChanged {
    /// How many of them are alive now.
    pub alive: u64,
    /// How many exist, but have given no sign of life within their lease.
    pub not_alive: u64,
    /// How `alive` changed since the last event; 0 if it went down and up again.
    pub alive_change: i64,
    /// How `not_alive` changed since the last event.
    pub not_alive_change: i64,
}

/// A guard condition was triggered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Triggered {
    /// How often since the callback ran last.
    pub count: u64,
}

/// What is gathered until the executor delivers it.
pub(crate) trait Gathered: Clone + Default + Send + Sync + 'static {
    /// Forgets the changes that were delivered.
    fn delivered(&mut self);
}

impl Gathered for Matched {
    fn delivered(&mut self) {
        (self.total_change, self.current_change) = (0, 0);
    }
}

impl Gathered for IncompatibleQos {
    fn delivered(&mut self) {
        self.total_change = 0;
    }
}

impl Gathered for IncompatibleType {
    fn delivered(&mut self) {
        self.total_change = 0;
    }
}

impl Gathered for MessageLost {
    fn delivered(&mut self) {
        self.total_change = 0;
    }
}

impl Gathered for OfferedDeadlineMissed {
    fn delivered(&mut self) {
        self.total_change = 0;
    }
}

impl Gathered for RequestedDeadlineMissed {
    fn delivered(&mut self) {
        self.total_change = 0;
    }
}

impl Gathered for LivelinessLost {
    fn delivered(&mut self) {
        self.total_change = 0;
    }
}

impl Gathered for LivelinessChanged {
    fn delivered(&mut self) {
        (self.alive_change, self.not_alive_change) = (0, 0);
    }
}

impl Gathered for Triggered {
    fn delivered(&mut self) {
        self.count = 0;
    }
}

/// An entity that gathers events of one kind and hands them to a callback, all that came since the
/// last time at once.
pub(crate) struct Source<E> {
    group: Arc<GroupCore>,
    what: String,
    clock: Clock,
    gathered: Mutex<Waiting<E>>,
    place: trail::Place,
    callback: OnEvent<E>,
}

struct Waiting<E> {
    event: E,
    since: Option<Stamp>,
    home: Option<Home>,
}

impl<E: Gathered> Source<E> {
    pub(crate) fn new<G, Form, F>(group: &G, what: String, callback: F) -> Arc<Self>
    where
        G: CallbackGroup,
        F: EventCallback<E, G, Form>,
    {
        let core = group.core().clone();
        let (cell, group) = (callback.cell(group), group.clone());
        Self::erased(core, what, Box::new(move |turn, event| F::call(&cell, &group, turn, event)))
    }

    /// With a callback that knows its group.
    pub(crate) fn erased(group: Arc<GroupCore>, what: String, callback: OnEvent<E>) -> Arc<Self> {
        Arc::new(Self {
            clock: group.clock.clone(),
            group,
            what,
            gathered: Mutex::new(Waiting { event: E::default(), since: None, home: None }),
            place: trail::Place::new(),
            callback,
        })
    }

    /// Adds to what is gathered. Returns the executor that the caller must signal once it holds no
    /// lock.
    #[must_use]
    pub(crate) fn update(&self, change: impl FnOnce(&mut E)) -> Option<Arc<Scheduler>> {
        self.gather(|| self.clock.stamp(), change)
    }

    /// The same for what happened earlier.
    #[must_use]
    pub(crate) fn update_since(&self, stamp: Stamp, change: impl FnOnce(&mut E)) -> Option<Arc<Scheduler>> {
        self.gather(|| stamp, change)
    }

    fn gather(&self, stamp: impl FnOnce() -> Stamp, change: impl FnOnce(&mut E)) -> Option<Arc<Scheduler>> {
        let mut waiting = self.gathered.lock();
        change(&mut waiting.event);
        if waiting.since.is_some() {
            return None; // it is queued already
        }
        let stamp = stamp();
        waiting.since = Some(stamp);
        let home = waiting.home.as_ref()?;
        home.notify(stamp).then(|| home.scheduler.clone())
    }

    /// What is gathered now.
    pub(crate) fn look<R>(&self, look: impl FnOnce(&E) -> R) -> R {
        look(&self.gathered.lock().event)
    }
}

impl<E: Gathered> Entity for Source<E> {
    fn run(&self, turn: &mut Turn) -> Ran {
        let event = {
            let mut waiting = self.gathered.lock();
            if waiting.since.take().is_none() {
                return Ran::NOTHING;
            }
            let event = waiting.event.clone();
            waiting.event.delivered();
            event
        };
        let _no_chain = ChainScope::enter(None);
        let result = (self.callback)(turn, &event);
        // What came meanwhile announced itself: it found nothing queued.
        Ran { result, next: None, called: true }
    }

    fn left(&self) -> Option<Stamp> {
        self.gathered.lock().since
    }

    fn withdraw(&self) -> bool {
        let waiting = self.gathered.lock();
        if waiting.since.is_none()
            && let Some(home) = &waiting.home
        {
            home.withdraw();
        }
        waiting.since.is_some()
    }

    fn place(&self) -> &trail::Place {
        &self.place
    }

    fn subject(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    fn describe(&self) -> String {
        format!("{} of node {}", self.what, self.group.node.full_name())
    }
}

impl<E: Gathered> GroupMember for Source<E> {
    fn attach(&self, home: Option<Home>) {
        let mut waiting = self.gathered.lock();
        waiting.home = home;
        let signal = match (&waiting.home, waiting.since) {
            (Some(home), Some(since)) if home.notify(since) => Some(home.scheduler.clone()),
            _ => None,
        };
        drop(waiting);
        scheduler::signal(signal);
    }
}

/// A handler in its group; dropped, it leaves.
pub(crate) struct Joined<E: Gathered> {
    source: Arc<Source<E>>,
    membership: Membership,
}

impl<E: Gathered> Drop for Joined<E> {
    fn drop(&mut self) {
        self.part(false);
    }
}

impl<E: Gathered> Joined<E> {
    pub(crate) fn new(source: Arc<Source<E>>) -> Self {
        let membership = source.group.join(source.clone());
        Self { source, membership }
    }

    pub(crate) fn source(&self) -> &Arc<Source<E>> {
        &self.source
    }

    pub(crate) fn part(&self, wait: bool) {
        self.source.group.part(self.membership, wait);
    }
}
