//! A queue of closures and woken futures.
//!
//! Waiting work keeps its group alive, and with it the node, as a detached entity does. The context
//! closes its queues when it ends, so that no work keeps itself alive.
//!
//! A queue is a member of its group, except where another task runs it with work of its own: an
//! asynchronous server runs its requests and its queue.

use crate::executor::crew::faults::report;
use crate::executor::crew::scheduler::{TaskRef, ToSignal};
use crate::executor::error::PostError;
use crate::executor::group_token::GroupToken;
use crate::executor::inbox::{Inbox, Queue};
use crate::executor::member::GroupMember;
use crate::executor::owner::{Close, Owner};
use crate::executor::task::{CallbackResult, Run, TaskOutcome};
use crate::message::info::{ChainScope, Lineage};
use crate::sys::clock::{Clock, Stamp};
use crate::sys::logging::Level;
use crate::sys::panics::caught;
use crate::sys::sync::{Arc, no_lock_is_held};
use slab::Slab;
use std::any::Any;
use std::collections::VecDeque;
use std::fmt::Display;
use std::mem;
use std::sync::Weak;

/// A closure with its group's state, erased.
pub(crate) type Job = Box<dyn FnOnce(&mut GroupToken) -> CallbackResult + Send>;

/// Keeps the group of waiting work alive.
pub(crate) type KeepAlive = Arc<dyn Any + Send + Sync>;

/// Identifies work for which threads wait: meanwhile they run it themselves if they can.
pub(crate) type WorkId = [u8; 16];

/// A queue of closures and futures.
pub(crate) struct WorkQueueCore {
    /// Doesn't keep the node alive: posted work may hold the last references to it.
    owner: Weak<dyn Owner>,
    /// The name for log lines, e.g. "work posted of node /arm".
    what: String,
    clock: Clock,
    /// Whether the queue is a task by itself, not part of a task with other work.
    is_task: bool,
    pending: Inbox<PendingWork>,
}

struct PendingWork {
    queue: VecDeque<(Stamp, Work)>,
    /// The futures that are not over. (So a future that can never be woken again is dropped with
    /// its queue, and not by the thread that drops its last waker.)
    futures: Slab<Arc<dyn SpawnedFuture>>,
    is_closed: bool,
}

impl Queue for PendingWork {
    fn oldest(&self) -> Option<Stamp> {
        self.queue.front().map(|(stamp, _)| *stamp)
    }
}

/// One piece of work.
pub(crate) enum Work {
    Closure {
        job: Job,
        id: Option<WorkId>,
        lineage: Option<Lineage>,
        group: KeepAlive,
    },
    /// A woken future, by its key.
    Future(usize, Arc<dyn SpawnedFuture>),
}

impl WorkQueueCore {
    pub(crate) fn new(owner: &Arc<dyn Owner>, clock: &Clock, what: &str, is_task: bool) -> Arc<Self> {
        let pending = PendingWork { queue: VecDeque::new(), futures: Slab::new(), is_closed: false };
        Arc::new(Self {
            owner: Arc::downgrade(owner),
            what: format!("{what} of node {}", owner.full_name()),
            clock: clock.clone(),
            is_task,
            pending: Inbox::new(pending),
        })
    }

    /// Queues the closure, to run once after the work that is already ready. It continues this
    /// thread's chain of messages, and keeps its group alive until then.
    pub(crate) fn post(&self, job: Job, id: Option<WorkId>, group: KeepAlive) -> Result<(), PostError> {
        let work = Work::Closure { job, id, lineage: Lineage::current(), group };
        if self.has_ended() {
            return Err(self.closed());
        }
        self.enqueue(work).map_err(|_dropped_here| self.closed())
    }

    /// Keeps a future until it is over: closing the queue cancels it. `false` if the queue is
    /// closed.
    pub(super) fn keep(&self, future: &Arc<dyn SpawnedFuture>) -> bool {
        let mut pending = self.pending.lock();
        if pending.is_closed {
            return false;
        }
        let entry = pending.futures.vacant_entry();
        future.set_key(entry.key());
        entry.insert(future.clone());
        true
    }

    /// Number of closures and woken futures that wait to run.
    pub(crate) fn len(&self) -> usize {
        self.pending.lock().queue.len()
    }

    /// Whether the context was shut down, or the node is gone.
    fn has_ended(&self) -> bool {
        self.owner.upgrade().is_none_or(|owner| owner.has_ended())
    }

    /// Whether the queue accepts no more work.
    pub(super) fn is_closed(&self) -> bool {
        self.has_ended() || self.pending.lock().is_closed
    }

    pub(super) fn closed(&self) -> PostError {
        PostError::Closed { queue: self.what.clone() }
    }

    /// Whether there is no work, and no future that could be woken.
    pub(crate) fn is_idle(&self) -> bool {
        let pending = self.pending.lock();
        pending.queue.is_empty() && pending.futures.is_empty()
    }

    /// Whether this work waits to run.
    pub(crate) fn has(&self, id: &WorkId) -> bool {
        let is_it = |(_, work): &(Stamp, Work)| match work {
            Work::Closure { id: other, .. } => other.as_ref() == Some(id),
            Work::Future(_, future) => future.id() == Some(id),
        };
        self.pending.lock().queue.iter().any(is_it)
    }

    /// Returns the queue's task, if it is in an executor.
    pub(crate) fn task_ref(&self) -> Option<TaskRef> {
        self.pending.task_ref()
    }

    /// Adds work, or returns it if the queue is closed.
    fn enqueue(&self, work: Work) -> Result<(), Work> {
        let mut pending = self.pending.lock();
        if pending.is_closed {
            return Err(work);
        }
        let stamp = self.clock.stamp(); // under the lock: the queue is in the order of its stamps
        pending.queue.push_back((stamp, work));
        pending.announce().signal();
        Ok(())
    }

    /// Queues a woken future. In a closed queue it is already cancelled.
    pub(super) fn resume(&self, key: usize, future: Arc<dyn SpawnedFuture>) {
        drop(self.enqueue(Work::Future(key, future)));
    }

    /// Reports a failure of the program's code for which no callback runs any more.
    pub(super) fn report_failure(&self, failure: &dyn Display) {
        report(Level::Error, &self.what, failure);
    }

    /// Removes a future that is over; `is_queued` if it may be in the queue.
    pub(super) fn forget(&self, key: usize, is_queued: bool) {
        let mut pending = self.pending.lock();
        let future = pending.futures.try_remove(key);
        let is_it = |(_, work): &(Stamp, Work)| matches!(work, Work::Future(other, _) if *other == key);
        let place = if is_queued { pending.queue.iter().position(is_it) } else { None };
        let queued = place.and_then(|place| pending.queue.remove(place));
        if queued.is_some() {
            pending.clear_ready(!self.is_task);
        }
        drop(pending);
        drop((future, queued)); // perhaps the last references
    }

    /// Drops a value of the program; reports a panic, and continues.
    pub(super) fn drop_of_program(&self, value: impl Sized) {
        if let Err(message) = caught(|| drop(value)) {
            self.report_failure(&format_args!("dropping unfinished work panicked: {message}"));
        }
    }
}

// ---- as a part of a task ----
impl WorkQueueCore {
    /// Takes the oldest work, and returns the stamp of the next. In a reentrant group this also
    /// announces the next.
    pub(crate) fn take(&self, token: &GroupToken) -> (Option<Work>, Option<Stamp>) {
        let mut pending = self.pending.lock();
        let work = pending.queue.pop_front();
        let (next, signal) = pending.next(token.is_reentrant());
        signal.signal();
        (work.map(|(_, work)| work), next)
    }

    /// Returns the stamp of the next work, after the task has run something else. In a reentrant
    /// group this also announces it.
    pub(crate) fn next_for(&self, token: &GroupToken) -> Option<Stamp> {
        let (next, signal) = self.pending.lock().next(token.is_reentrant());
        signal.signal();
        next
    }

    /// Takes back the announcement if no work waits. `others` gets whether work waits, and returns
    /// whether the task has any work; it runs under this queue's lock, so that no thread announces
    /// in between. `has_others`: `others` takes the task out of the executor's queue itself.
    pub(crate) fn clear_ready_with(&self, has_others: bool, others: impl FnOnce(bool) -> bool) -> bool {
        let mut pending = self.pending.lock();
        let is_ready = pending.clear_ready(has_others);
        others(is_ready)
    }
}

impl Work {
    /// Runs the work, on a thread that runs its group. Returns `None` if there was nothing to run.
    pub(crate) fn run(self, token: &mut GroupToken) -> Option<CallbackResult> {
        match self {
            Self::Closure { job, lineage, group: _group, .. } => {
                let _chain = ChainScope::enter(lineage);
                Some(job(token))
            }
            Self::Future(_, future) => future.poll(),
        }
    }
}

impl Close for WorkQueueCore {
    /// Drops the waiting work, and cancels the futures.
    fn close(&self) {
        no_lock_is_held();
        let (queue, futures) = {
            let mut pending = self.pending.lock();
            pending.is_closed = true;
            let queue = mem::take(&mut pending.queue);
            if !queue.is_empty() {
                pending.clear_ready(!self.is_task);
            }
            (queue, mem::take(&mut pending.futures))
        };
        futures.iter().for_each(|(_, future)| future.cancel());
        for (_, work) in queue {
            self.drop_of_program(work);
        }
    }
}

impl Run for Arc<WorkQueueCore> {
    fn run(&self, token: &mut GroupToken) -> TaskOutcome {
        let (work, next) = self.take(token);
        let result = work.and_then(|work| work.run(token));
        TaskOutcome { called: result.is_some(), result: result.unwrap_or(Ok(())), next }
    }

    fn pending(&self) -> Option<Stamp> {
        self.pending.lock().pending()
    }

    fn clear_ready(&self) -> bool {
        self.clear_ready_with(false, |is_ready| is_ready)
    }
}

impl GroupMember for Arc<WorkQueueCore> {
    fn attach(&self, task_ref: Option<TaskRef>) -> ToSignal {
        self.pending.lock().attach(task_ref)
    }
}

/// A future of a queue.
pub(crate) trait SpawnedFuture: Send + Sync {
    /// Sets its key among the queue's futures.
    fn set_key(&self, key: usize);

    fn id(&self) -> Option<&WorkId>;

    /// Polls the future, on a thread that runs its group. Returns `None` if there is nothing to
    /// poll.
    fn poll(self: Arc<Self>) -> Option<CallbackResult>;

    /// Drops the future: here, or after the poll on the thread that polls it.
    fn cancel(&self);
}
