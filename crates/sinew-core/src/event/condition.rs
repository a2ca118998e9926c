//! Collects events until the executor delivers them, or the program takes them.

use super::status::{
    IncompatibleQos, IncompatibleType, LivelinessChanged, LivelinessLost, Matched, MessageLost,
    OfferedDeadlineMissed, RequestedDeadlineMissed, Triggered,
};
use crate::executor::crew::scheduler::{TaskRef, ToSignal};
use crate::executor::group::GroupMember;
use crate::executor::group_core::{GroupCore, Membership};
use crate::executor::group_token::GroupToken;
use crate::executor::inbox::{Inbox, Queue};
use crate::executor::prefetch::Part;
use crate::executor::task::{CallbackResult, Run, Task, TaskBase, TaskOutcome};
use crate::mailbox::deferred::Deferred;
use crate::mailbox::waiters::{Listener, Waiter};
use crate::message::info::ChainScope;
use crate::sys::clock::{Clock, Stamp};
use crate::sys::sync::Arc;
use std::mem;

/// An event that is collected until the executor delivers it, or the program takes it.
pub trait Status: Clone + Default + Send + Sync + 'static {
    /// Resets the changes that were delivered.
    #[doc(hidden)]
    fn delivered(&mut self);
}

impl Status for Matched {
    fn delivered(&mut self) {
        (self.total_change, self.current_change) = (0, 0);
    }
}

impl Status for IncompatibleQos {
    fn delivered(&mut self) {
        self.total_change = 0;
    }
}

impl Status for IncompatibleType {
    fn delivered(&mut self) {
        self.total_change = 0;
    }
}

impl Status for MessageLost {
    fn delivered(&mut self) {
        self.total_change = 0;
    }
}

impl Status for OfferedDeadlineMissed {
    fn delivered(&mut self) {
        self.total_change = 0;
    }
}

impl Status for RequestedDeadlineMissed {
    fn delivered(&mut self) {
        self.total_change = 0;
    }
}

impl Status for LivelinessLost {
    fn delivered(&mut self) {
        self.total_change = 0;
    }
}

impl Status for LivelinessChanged {
    fn delivered(&mut self) {
        (self.alive_change, self.not_alive_change) = (0, 0);
    }
}

impl Status for Triggered {
    fn delivered(&mut self) {
        self.count = 0;
    }
}

/// A type-erased event callback with its group.
pub(crate) type OnEvent<E> = Box<dyn Fn(&mut GroupToken, &E) -> CallbackResult + Send + Sync>;

/// A collector of events of one kind, which passes all those since the last call to a handler at
/// once; or keeps them until the program takes them.
pub struct StatusCondition<E> {
    clock: Clock,
    gathered: Inbox<PendingStatus<E>>,
    /// Without one, the program takes the events.
    handler: Option<Handler<E>>,
}

/// A callback, and where it runs.
struct Handler<E> {
    group: Arc<GroupCore>,
    what: String,
    callback: OnEvent<E>,
}

struct PendingStatus<E> {
    event: E,
    since: Option<Stamp>,
    /// Number of changes since it was delivered or taken.
    changes: u64,
    /// Is notified of each change, if the program takes the events.
    listener: Option<Arc<Listener>>,
}

impl<E: Status> PendingStatus<E> {
    fn new() -> Self {
        Self { event: E::default(), since: None, changes: 0, listener: None }
    }

    /// Takes the event; its changes begin anew.
    fn take(&mut self) -> E {
        let event = self.event.clone();
        self.event.delivered();
        (self.since, self.changes) = (None, 0);
        event
    }
}

impl<E> Queue for PendingStatus<E> {
    fn oldest(&self) -> Option<Stamp> {
        self.since
    }
}

impl<E: Status> StatusCondition<E> {
    /// Creates a condition with a callback that knows its group.
    pub(crate) fn erased(group: Arc<GroupCore>, what: String, callback: OnEvent<E>) -> Arc<Self> {
        let clock = group.clock.clone();
        let handler = Some(Handler { group, what, callback });
        Arc::new(Self { clock, gathered: Inbox::new(PendingStatus::new()), handler })
    }

    /// Creates a condition with events that the program takes.
    fn kept(clock: &Clock) -> Arc<Self> {
        let gathered = Inbox::new(PendingStatus::new());
        Arc::new(Self { clock: clock.clone(), gathered, handler: None })
    }

    /// Whether the program takes the events.
    pub(crate) fn is_kept(&self) -> bool {
        self.handler.is_none()
    }

    /// Takes the event collected so far; its changes begin anew.
    pub(crate) fn take(&self) -> E {
        self.gathered.lock().take()
    }

    /// Sets the listener for changes, or none, and notifies it of those that were not taken.
    pub(crate) fn set_listener(&self, listener: Option<Arc<Listener>>) {
        let mut waiting = self.gathered.lock();
        let before = mem::replace(&mut waiting.listener, listener.clone());
        let changes = waiting.changes;
        drop(waiting);
        drop(before); // code of the program
        if let Some(listener) = listener
            && changes > 0
        {
            listener.notify(changes);
        }
    }

    /// Adds to the collected event.
    pub(crate) fn update(&self, change: impl FnOnce(&mut E), deferred: &mut Deferred) {
        self.gather(|| self.clock.stamp(), change, deferred);
    }

    /// The same for an event that happened earlier.
    pub(crate) fn update_since(&self, stamp: Stamp, change: impl FnOnce(&mut E), deferred: &mut Deferred) {
        self.gather(|| stamp, change, deferred);
    }

    fn gather(&self, stamp: impl FnOnce() -> Stamp, change: impl FnOnce(&mut E), deferred: &mut Deferred) {
        let mut waiting = self.gathered.lock();
        change(&mut waiting.event);
        waiting.changes += 1;
        if let Some(listener) = waiting.listener.clone() {
            deferred.wake_later(Waiter::Listener(listener));
        }
        if waiting.since.is_none() {
            let stamp = stamp();
            waiting.since = Some(stamp);
            deferred.signal(waiting.announce());
        }
    }

    /// Passes the event collected so far to `look`.
    pub(crate) fn look<R>(&self, look: impl FnOnce(&E) -> R) -> R {
        look(&self.gathered.lock().event)
    }
}

impl<E: Status> Run for Arc<StatusCondition<E>> {
    fn run(&self, token: &mut GroupToken) -> TaskOutcome {
        let mut waiting = self.gathered.lock();
        if waiting.since.is_none() {
            return TaskOutcome::NOTHING;
        }
        let event = waiting.take();
        let (next, signal) = waiting.next(token.is_reentrant());
        signal.signal();
        let _no_chain = ChainScope::enter(None);
        let result = self.handler.as_ref().map_or(Ok(()), |handler| (handler.callback)(token, &event));
        // Events that arrived meanwhile announced themselves: they found nothing queued.
        TaskOutcome { result, next, called: true }
    }

    fn pending(&self) -> Option<Stamp> {
        self.gathered.lock().pending()
    }

    fn clear_ready(&self) -> bool {
        self.gathered.lock().clear_ready(false)
    }
}

impl<E: Status> GroupMember for Arc<StatusCondition<E>> {
    fn attach(&self, task_ref: Option<TaskRef>) -> ToSignal {
        self.gathered.lock().attach(task_ref)
    }
}

/// A condition of an endpoint. One with a handler is in the handler's group; dropping this removes
/// it.
pub struct AttachedCondition<E: Status> {
    source: Arc<StatusCondition<E>>,
    member: Option<(Arc<GroupCore>, Membership)>,
}

impl<E: Status> Drop for AttachedCondition<E> {
    fn drop(&mut self) {
        self.deregister(false);
    }
}

impl<E: Status> AttachedCondition<E> {
    pub(crate) fn new(source: Arc<StatusCondition<E>>) -> Self {
        let member = source.handler.as_ref().map(|Handler { group, what, .. }| {
            let base = TaskBase::new(group.node.clone(), &**what);
            let base = base.subject(&source).uses(vec![Part::value(&source, 4)]);
            (group.clone(), group.join(Task::new(base, source.clone())))
        });
        Self { source, member }
    }

    /// Creates a condition with events that the program takes.
    pub(crate) fn kept(clock: &Clock) -> Self {
        Self::new(StatusCondition::kept(clock))
    }

    pub(crate) fn source(&self) -> &Arc<StatusCondition<E>> {
        &self.source
    }

    pub(crate) fn deregister(&self, wait: bool) {
        match &self.member {
            Some((group, membership)) => _ = group.deregister(*membership, wait),
            None => self.source.set_listener(None),
        }
    }
}
