//! Closures and futures that run in a callback group.
//!
//! A queue is one task of its group. Work stands in it in the order in which it was posted or woken,
//! each piece under the stamp of that moment, so the executor runs it in order with messages and
//! timers. A spawned future is polled by threads that run the group, and by no other thread: its
//! waker only puts it into the queue again.
//!
//! | phase of a future | who has the future | a wake-up makes it |
//! |---|---|---|
//! | `Idle` | its cell | `Woken`, and it enters the queue |
//! | `Woken` | its cell | - |
//! | `Polled` | the thread that polls it | `PolledAgain` |
//! | `PolledAgain` | the thread that polls it, which puts it back as `Woken` and into the queue | - |
//! | `Over` | nobody: it was ready, panicked, or was cancelled | - |
//!
//! Closures, polls, and drops of futures and outputs are the program's code: no lock is held
//! meanwhile. A future that is cancelled while a thread polls it is dropped by that thread, after the
//! poll.

use super::error::{JoinError, PostError};
use super::faults::panic_message;
use super::group_token::GroupToken;
use super::member::GroupMember;
use super::notifier::TaskNotifier;
use super::owner::{Close, Owner};
use super::prefetch::NoteIndex;
use super::scheduler::{TaskRef, signal};
use super::task::{CallbackResult, Task, TaskOutcome};
use crate::message::info::{ChainScope, Lineage};
use crate::sys::clock::{Clock, Stamp};
use crate::sys::sync::{Arc, Mutex, no_lock_is_held};
use slab::Slab;
use std::collections::VecDeque;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Weak;
use std::task::{Context, Poll, Wake, Waker};

/// A closure with its group's state, erased.
pub(crate) type Job = Box<dyn FnOnce(&mut GroupToken) -> CallbackResult + Send>;

/// A queue of closures and futures.
pub(crate) struct WorkQueueCore {
    /// Doesn't keep the node: what is posted may be all that refers to it.
    owner: Weak<dyn Owner>,
    /// For people, e.g. "work posted of node /arm".
    what: String,
    clock: Clock,
    place: NoteIndex,
    pending: Mutex<PendingWork>,
}

struct PendingWork {
    queue: VecDeque<(Stamp, Work)>,
    /// The futures that are not over. (A future that could never be woken again still goes with its
    /// queue, and not on the thread that drops its last waker.)
    futures: Slab<Arc<dyn SpawnedFuture>>,
    notifier: TaskNotifier,
    is_closed: bool,
}

impl PendingWork {
    fn oldest(&self) -> Option<Stamp> {
        self.queue.front().map(|(stamp, _)| *stamp)
    }
}

enum Work {
    Closure(Job, Option<Lineage>),
    Future(Arc<dyn SpawnedFuture>),
}

impl WorkQueueCore {
    pub(crate) fn new(owner: &Arc<dyn Owner>, clock: &Clock, what: &str) -> Arc<Self> {
        let pending = PendingWork {
            queue: VecDeque::new(),
            futures: Slab::new(),
            notifier: TaskNotifier::default(),
            is_closed: false,
        };
        Arc::new(Self {
            owner: Arc::downgrade(owner),
            what: format!("{what} of node {}", owner.full_name()),
            clock: clock.clone(),
            place: NoteIndex::new(),
            pending: Mutex::new(pending),
        })
    }

    /// Has the closure run once, after what is ready already. It continues the chain of messages in
    /// which this thread is.
    pub(crate) fn post(&self, job: Job) -> Result<(), PostError> {
        let work = Work::Closure(job, Lineage::current());
        if self.has_ended() || self.enqueue(work).is_err() {
            return Err(self.closed());
        }
        Ok(())
    }

    /// Has the future polled for the first time after what is ready already.
    pub(crate) fn spawn<F>(self: &Arc<Self>, future: F) -> Result<Arc<FutureCell<F>>, PostError>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        let future = Box::pin(future);
        let lineage = Lineage::current();
        let cell = {
            let mut pending = self.pending.lock();
            if pending.is_closed || self.has_ended() {
                drop(pending);
                return Err(self.closed()); // what it has captured goes outside the lock
            }
            let entry = pending.futures.vacant_entry();
            let cell = FutureCell::new(self, entry.key(), future, lineage);
            entry.insert(cell.clone());
            cell
        };
        self.resume(cell.clone());
        Ok(cell)
    }

    /// Number of closures and woken futures that wait to run.
    pub(crate) fn len(&self) -> usize {
        self.pending.lock().queue.len()
    }

    fn closed(&self) -> PostError {
        PostError::Closed { queue: self.what.clone() }
    }

    /// Adds work. It comes back if the queue is closed.
    fn enqueue(&self, work: Work) -> Result<(), Work> {
        let mut pending = self.pending.lock();
        if pending.is_closed {
            return Err(work);
        }
        let stamp = self.clock.stamp(); // under the lock: the queue is in the order of its stamps
        pending.queue.push_back((stamp, work));
        let call = pending.notifier.notify(stamp);
        drop(pending);
        signal(call);
        Ok(())
    }

    /// A future can go on. In a closed queue it is cancelled already.
    fn resume(&self, future: Arc<dyn SpawnedFuture>) {
        drop(self.enqueue(Work::Future(future)));
    }

    /// A future is over.
    fn forget(&self, key: usize) {
        let future = self.pending.lock().futures.try_remove(key);
        drop(future); // perhaps the last reference, and with it an output
    }
}

impl Close for WorkQueueCore {
    /// Drops what waits, and cancels the futures.
    fn close(&self) {
        no_lock_is_held();
        let (queue, futures) = {
            let mut pending = self.pending.lock();
            pending.is_closed = true;
            (mem::take(&mut pending.queue), mem::take(&mut pending.futures))
        };
        drop(queue);
        futures.iter().for_each(|(_, future)| future.cancel());
    }
}

impl Task for WorkQueueCore {
    fn run(&self, token: &mut GroupToken) -> TaskOutcome {
        let mut pending = self.pending.lock();
        let work = pending.queue.pop_front();
        let oldest = pending.oldest();
        let (next, call) = pending.notifier.next(oldest, token.is_reentrant());
        drop(pending);
        signal(call);
        let result = match work {
            Some((_, Work::Closure(job, lineage))) => {
                let _chain = ChainScope::enter(lineage);
                Some(job(token))
            }
            Some((_, Work::Future(future))) => future.poll(),
            None => None,
        };
        TaskOutcome { called: result.is_some(), result: result.unwrap_or(Ok(())), next }
    }

    fn pending(&self) -> Option<Stamp> {
        let mut pending = self.pending.lock();
        let oldest = pending.oldest();
        pending.notifier.pending(oldest)
    }

    fn clear_ready(&self) -> bool {
        let mut pending = self.pending.lock();
        let is_ready = !pending.queue.is_empty();
        if !is_ready {
            pending.notifier.retract(false);
        }
        is_ready
    }

    fn place(&self) -> &NoteIndex {
        &self.place
    }

    fn subject(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    fn has_ended(&self) -> bool {
        self.owner.upgrade().is_none_or(|owner| owner.host().has_ended())
    }

    fn describe(&self) -> String {
        self.what.clone()
    }
}

impl GroupMember for WorkQueueCore {
    fn attach(&self, task_ref: Option<TaskRef>) {
        let mut pending = self.pending.lock();
        let oldest = pending.oldest();
        let (before, call) = pending.notifier.attach(task_ref, oldest);
        drop(pending);
        drop(before);
        signal(call);
    }
}

/// A future that was spawned in a queue.
trait SpawnedFuture: Send + Sync {
    /// Polls it, on a thread that runs its group. None if there is nothing to poll.
    fn poll(self: Arc<Self>) -> Option<CallbackResult>;

    /// Drops it: here, or on the thread that polls it, after that.
    fn cancel(&self);
}

/// The part of a spawned future that its handle sees.
pub(crate) trait Joinable<T>: Send + Sync {
    /// The future's output, once.
    fn poll_join(&self, context: &mut Context<'_>) -> Poll<Result<T, JoinError>>;

    /// Drops it: here, or on the thread that polls it, after that.
    fn cancel(&self);

    fn is_over(&self) -> bool;

    /// From now on the output goes to `report`, in the group.
    fn detach(&self, report: fn(T) -> CallbackResult);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Idle,
    Woken,
    Polled,
    PolledAgain,
    Over,
}

/// A spawned future, and its output.
pub(crate) struct FutureCell<F: Future> {
    me: Weak<Self>,
    queue: Weak<WorkQueueCore>,
    /// Among the queue's futures.
    key: usize,
    /// The chain of messages in which it was spawned.
    lineage: Option<Lineage>,
    state: Mutex<CellState<F>>,
}

struct CellState<F: Future> {
    phase: Phase,
    /// `None` while a thread polls it, and once it is over.
    future: Option<Pin<Box<F>>>,
    /// The thread that polls it drops it.
    is_cancelled: bool,
    /// Until the handle takes it.
    output: Option<Result<F::Output, JoinError>>,
    /// Waits for the output.
    joining: Option<Waker>,
    /// Gets the output, if there is no handle.
    report: Option<fn(F::Output) -> CallbackResult>,
}

impl<F> FutureCell<F>
where
    F: Future<Output: Send> + Send + 'static,
{
    /// It is about to enter the queue.
    fn new(
        queue: &Arc<WorkQueueCore>,
        key: usize,
        future: Pin<Box<F>>,
        lineage: Option<Lineage>,
    ) -> Arc<Self> {
        let state = CellState {
            phase: Phase::Woken,
            future: Some(future),
            is_cancelled: false,
            output: None,
            joining: None,
            report: None,
        };
        let queue = Arc::downgrade(queue);
        Arc::new_cyclic(|me| Self { me: me.clone(), queue, key, lineage, state: Mutex::new(state) })
    }

    /// The future is not ready.
    fn put_back(&self, future: Pin<Box<F>>) {
        let mut state = self.state.lock();
        if state.is_cancelled {
            drop(state);
            drop(future);
            drop(self.finish(Err(JoinError::Cancelled)));
            return;
        }
        state.future = Some(future);
        let again = state.phase == Phase::PolledAgain;
        state.phase = if again { Phase::Woken } else { Phase::Idle };
        drop(state);
        if again {
            self.enter_queue();
        }
    }

    fn enter_queue(&self) {
        if let (Some(queue), Some(me)) = (self.queue.upgrade(), self.me.upgrade()) {
            queue.resume(me);
        }
    }

    /// The future is over and dropped. Returns what is reported if there is no handle.
    fn finish(&self, output: Result<F::Output, JoinError>) -> CallbackResult {
        let mut state = self.state.lock();
        state.phase = Phase::Over;
        let joining = state.joining.take();
        let reported = match (state.report, output) {
            (Some(report), Ok(output)) => Some((report, output)),
            (_, output) => {
                state.output = Some(output);
                None
            }
        };
        drop(state);
        if let Some(queue) = self.queue.upgrade() {
            queue.forget(self.key);
        }
        if let Some(joining) = joining {
            joining.wake();
        }
        reported.map_or(Ok(()), |(report, output)| report(output))
    }
}

impl<F> SpawnedFuture for FutureCell<F>
where
    F: Future<Output: Send> + Send + 'static,
{
    fn poll(self: Arc<Self>) -> Option<CallbackResult> {
        let mut future = {
            let mut state = self.state.lock();
            let future = state.future.take()?; // else it was cancelled
            state.phase = Phase::Polled;
            future
        };
        let _chain = ChainScope::enter(self.lineage);
        let waker = Waker::from(self.clone());
        let polled =
            catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(&mut Context::from_waker(&waker))));
        if let Ok(Poll::Pending) = polled {
            self.put_back(future);
            return Some(Ok(()));
        }
        let dropped = catch_unwind(AssertUnwindSafe(|| drop(future)));
        let panic =
            |panic: &(dyn std::any::Any + Send)| JoinError::Panicked { message: panic_message(panic) };
        let (output, panic) = match (polled, dropped) {
            (Ok(Poll::Ready(output)), Ok(())) => (Ok(output), None),
            (Ok(_), Err(panicked)) | (Err(panicked), _) => (Err(panic(&*panicked)), Some(panicked)),
            (Ok(Poll::Pending), Ok(())) => (Err(JoinError::Cancelled), None), // it was put back above
        };
        let result = self.finish(output);
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
        Some(result)
    }

    fn cancel(&self) {
        Joinable::cancel(self);
    }
}

impl<F> Joinable<F::Output> for FutureCell<F>
where
    F: Future<Output: Send> + Send + 'static,
{
    fn poll_join(&self, context: &mut Context<'_>) -> Poll<Result<F::Output, JoinError>> {
        let mut state = self.state.lock();
        if let Some(output) = state.output.take() {
            return Poll::Ready(output);
        }
        if state.phase == Phase::Over {
            return Poll::Ready(Err(JoinError::Cancelled)); // it was taken before
        }
        let before = state.joining.replace(context.waker().clone());
        drop(state);
        drop(before); // the program's code
        Poll::Pending
    }

    fn cancel(&self) {
        no_lock_is_held();
        let mut state = self.state.lock();
        match state.phase {
            Phase::Over => {}
            Phase::Polled | Phase::PolledAgain => state.is_cancelled = true,
            Phase::Idle | Phase::Woken => {
                state.phase = Phase::Over; // another cancel finds nothing to do
                let future = state.future.take();
                drop(state);
                drop(future);
                drop(self.finish(Err(JoinError::Cancelled)));
            }
        }
    }

    fn is_over(&self) -> bool {
        self.state.lock().phase == Phase::Over
    }

    fn detach(&self, report: fn(F::Output) -> CallbackResult) {
        let mut state = self.state.lock();
        state.report = Some(report);
        let output = state.output.take();
        drop(state);
        // It was ready before: its error is reported where its callback ran.
        if let (Some(Ok(output)), Some(queue)) = (output, self.queue.upgrade()) {
            drop(queue.post(Box::new(move |_| report(output))));
        }
    }
}

impl<F> Wake for FutureCell<F>
where
    F: Future<Output: Send> + Send + 'static,
{
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut state = self.state.lock();
        match state.phase {
            Phase::Idle => {
                state.phase = Phase::Woken;
                drop(state);
                self.enter_queue();
            }
            Phase::Polled => state.phase = Phase::PolledAgain,
            Phase::Woken | Phase::PolledAgain | Phase::Over => {}
        }
    }
}
