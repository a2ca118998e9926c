//! Collects events until the executor delivers them.

use super::status::{
    IncompatibleQos, IncompatibleType, LivelinessChanged, LivelinessLost, Matched, MessageLost,
    OfferedDeadlineMissed, RequestedDeadlineMissed, Triggered,
};
use crate::executor::crew::scheduler::{TaskRef, ToSignal};
use crate::executor::group::{GroupCore, GroupMember, Membership};
use crate::executor::group_token::GroupToken;
use crate::executor::inbox::{Inbox, Queue};
use crate::executor::prefetch::Part;
use crate::executor::task::{CallbackResult, Run, Task, TaskBase, TaskOutcome};
use crate::mailbox::deferred::Deferred;
use crate::message::info::ChainScope;
use crate::sys::clock::{Clock, Stamp};
use crate::sys::sync::Arc;

/// An event that is collected until the executor delivers it.
pub(crate) trait Status: Clone + Default + Send + Sync + 'static {
    /// Resets the changes that were delivered.
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

/// A collector of events of one kind, which passes all those since the last call to a callback at
/// once.
pub(crate) struct StatusCondition<E> {
    group: Arc<GroupCore>,
    what: String,
    clock: Clock,
    gathered: Inbox<PendingStatus<E>>,
    callback: OnEvent<E>,
}

struct PendingStatus<E> {
    event: E,
    since: Option<Stamp>,
}

impl<E> Queue for PendingStatus<E> {
    fn oldest(&self) -> Option<Stamp> {
        self.since
    }
}

impl<E: Status> StatusCondition<E> {
    /// Creates a condition with a callback that knows its group.
    pub(crate) fn erased(group: Arc<GroupCore>, what: String, callback: OnEvent<E>) -> Arc<Self> {
        Arc::new(Self {
            clock: group.clock.clone(),
            group,
            what,
            gathered: Inbox::new(PendingStatus { event: E::default(), since: None }),
            callback,
        })
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
        if waiting.since.is_none() {
            let stamp = stamp();
            waiting.since = Some(stamp);
            waiting.announce(stamp);
        }
        deferred.signal(waiting.unlock());
    }

    /// Passes the event collected so far to `look`.
    pub(crate) fn look<R>(&self, look: impl FnOnce(&E) -> R) -> R {
        look(&self.gathered.lock().event)
    }
}

impl<E: Status> Run for Arc<StatusCondition<E>> {
    fn run(&self, token: &mut GroupToken) -> TaskOutcome {
        let event = {
            let mut waiting = self.gathered.lock();
            if waiting.since.take().is_none() {
                return TaskOutcome::NOTHING;
            }
            let event = waiting.event.clone();
            waiting.event.delivered();
            let _nothing = waiting.next(token.is_reentrant());
            event
        };
        let _no_chain = ChainScope::enter(None);
        let result = (self.callback)(token, &event);
        // Events that arrived meanwhile announced themselves: they found nothing queued.
        TaskOutcome { result, next: None, called: true }
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

/// A handler in its group; dropping it removes it from the group.
pub(crate) struct AttachedCondition<E: Status> {
    source: Arc<StatusCondition<E>>,
    membership: Membership,
}

impl<E: Status> Drop for AttachedCondition<E> {
    fn drop(&mut self) {
        self.deregister(false);
    }
}

impl<E: Status> AttachedCondition<E> {
    pub(crate) fn new(source: Arc<StatusCondition<E>>) -> Self {
        let base = TaskBase::new(source.group.node.clone(), &*source.what);
        let base = base.subject(&source).uses(vec![Part::value(&source, 4)]);
        let membership = source.group.join(Task::new(base, source.clone()));
        Self { source, membership }
    }

    pub(crate) fn source(&self) -> &Arc<StatusCondition<E>> {
        &self.source
    }

    pub(crate) fn deregister(&self, wait: bool) {
        self.source.group.deregister(self.membership, wait);
    }
}
