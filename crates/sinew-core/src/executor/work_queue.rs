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
//! | `Polled` | the thread that polls it, or drops it | `PolledAgain` |
//! | `PolledAgain` | the thread that polls it, which puts it back as `Woken` and into the queue | - |
//! | `Over` | no thread: it was ready, panicked, or was cancelled, and is dropped | - |
//!
//! Closures, polls, wakers, and drops of all of them and of outputs are the program's code: no lock
//! is held meanwhile, and a panic in one of them leaves no handle waiting. A future that is cancelled
//! while a thread polls it is dropped by that thread, after the poll.
//!
//! Work that waits keeps its group, and with it the node, as a detached entity does. What ends with
//! the context is closed then, so that nothing keeps itself.

use super::error::{JoinError, PostError};
use super::faults::{caught, dispose_of, panic_message, report};
use super::group_token::GroupToken;
use super::member::GroupMember;
use super::notifier::TaskNotifier;
use super::owner::{Close, Owner};
use super::prefetch::NoteIndex;
use super::scheduler::{TaskRef, signal};
use super::task::{CallbackResult, Task, TaskOutcome};
use crate::message::info::{ChainScope, Lineage};
use crate::sys::clock::{Clock, Stamp};
use crate::sys::logging::Level;
use crate::sys::sync::{Arc, Mutex, no_lock_is_held};
use slab::Slab;
use std::any::Any;
use std::collections::VecDeque;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Weak;
use std::task::{Context, Poll, Wake, Waker};

/// A closure with its group's state, erased.
pub(crate) type Job = Box<dyn FnOnce(&mut GroupToken) -> CallbackResult + Send>;

/// Keeps the group of work that waits.
pub(crate) type KeepAlive = Arc<dyn Any + Send + Sync>;

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
    Closure {
        job: Job,
        lineage: Option<Lineage>,
        group: KeepAlive,
    },
    /// A woken future, by its key.
    Future(usize, Arc<dyn SpawnedFuture>),
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
    /// which this thread is, and keeps its group until then.
    pub(crate) fn post(&self, job: Job, group: KeepAlive) -> Result<(), PostError> {
        let work = Work::Closure { job, lineage: Lineage::current(), group };
        if self.has_ended() {
            return Err(self.closed());
        }
        self.enqueue(work).map_err(|_dropped_here| self.closed())
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
        self.resume(cell.key, cell.clone());
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
    fn resume(&self, key: usize, future: Arc<dyn SpawnedFuture>) {
        drop(self.enqueue(Work::Future(key, future)));
    }

    /// A future is over; `is_queued` if it may be in the queue.
    fn forget(&self, key: usize, is_queued: bool) {
        let mut pending = self.pending.lock();
        let future = pending.futures.try_remove(key);
        let is_it = |(_, work): &(Stamp, Work)| matches!(work, Work::Future(other, _) if *other == key);
        let place = if is_queued { pending.queue.iter().position(is_it) } else { None };
        let queued = place.and_then(|place| pending.queue.remove(place));
        if queued.is_some() && pending.queue.is_empty() {
            pending.notifier.retract(false);
        }
        drop(pending);
        drop((future, queued)); // perhaps the last references
    }

    /// Drops what is the program's; a panic in that is reported and ends nothing.
    fn drop_of_program(&self, value: impl Sized) {
        if let Err(message) = caught(|| drop(value)) {
            report(
                Level::Error,
                &self.what,
                &format_args!("what was dropped unfinished panicked: {message}"),
            );
        }
    }
}

impl Close for WorkQueueCore {
    /// Drops what waits, and cancels the futures.
    fn close(&self) {
        no_lock_is_held();
        let (queue, futures) = {
            let mut pending = self.pending.lock();
            pending.is_closed = true;
            if !pending.queue.is_empty() {
                pending.notifier.retract(false);
            }
            (mem::take(&mut pending.queue), mem::take(&mut pending.futures))
        };
        futures.iter().for_each(|(_, future)| future.cancel());
        for (_, work) in queue {
            self.drop_of_program(work);
        }
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
            Some((_, Work::Closure { job, lineage, group: _group })) => {
                let _chain = ChainScope::enter(lineage);
                Some(job(token))
            }
            Some((_, Work::Future(_, future))) => future.poll(),
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
pub(crate) trait SpawnedFuture: Send + Sync {
    /// Polls it, on a thread that runs its group. None if there is nothing to poll.
    fn poll(self: Arc<Self>) -> Option<CallbackResult>;

    /// Drops it: here, or on the thread that polls it, after that.
    fn cancel(&self);
}

/// The part of a spawned future that its handle sees.
pub(crate) trait Joinable<T>: SpawnedFuture {
    /// The future's output, once.
    fn poll_join(&self, context: &mut Context<'_>) -> Poll<Result<T, JoinError>>;

    /// Cancels it, and drops its output now or when there is one.
    fn abandon(&self);

    fn is_over(&self) -> bool;

    /// From now on the output goes to `report`, in the group, which is kept until then.
    fn detach(&self, report: fn(T) -> CallbackResult, group: KeepAlive);
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
    queue: Weak<WorkQueueCore>,
    /// Among the queue's futures.
    key: usize,
    /// The chain of messages in which it was spawned.
    lineage: Option<Lineage>,
    state: Mutex<CellState<F>>,
}

struct CellState<F: Future> {
    phase: Phase,
    /// `None` while a thread has it, and once it is over.
    future: Option<Pin<Box<F>>>,
    /// The thread that polls it drops it.
    is_cancelled: bool,
    output: Output<F::Output>,
    /// Waits for the output.
    joining: Option<Waker>,
}

/// What becomes of a future's output.
enum Output<T> {
    /// It is for the handle.
    Awaited,
    /// The handle hasn't taken it yet.
    Ready(Result<T, JoinError>),
    /// The handle has taken it, or wants none.
    Gone,
    /// It is reported to the executor. The group is kept until then.
    Reported(fn(T) -> CallbackResult, KeepAlive),
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
            output: Output::Awaited,
            joining: None,
        };
        let queue = Arc::downgrade(queue);
        Arc::new(Self { queue, key, lineage, state: Mutex::new(state) })
    }

    fn enter_queue(self: &Arc<Self>) {
        if let Some(queue) = self.queue.upgrade() {
            queue.resume(self.key, self.clone());
        }
    }

    /// The future is not ready. It comes back if it was cancelled meanwhile.
    fn put_back(self: &Arc<Self>, future: Pin<Box<F>>) -> Option<Pin<Box<F>>> {
        let mut state = self.state.lock();
        if state.is_cancelled {
            return Some(future);
        }
        state.future = Some(future);
        let again = state.phase == Phase::PolledAgain;
        state.phase = if again { Phase::Woken } else { Phase::Idle };
        drop(state);
        if again {
            self.enter_queue();
        }
        None
    }

    /// The future is over and dropped. Returns what is reported if there is no handle.
    fn finish(&self, output: Result<F::Output, JoinError>, is_queued: bool) -> CallbackResult {
        let (joining, unclaimed) = {
            let mut state = self.state.lock();
            state.phase = Phase::Over;
            let unclaimed = match mem::replace(&mut state.output, Output::Gone) {
                Output::Awaited => {
                    state.output = Output::Ready(output);
                    None
                }
                Output::Reported(report, group) => Some((output, Some((report, group)))),
                Output::Gone | Output::Ready(_) => Some((output, None)),
            };
            (state.joining.take(), unclaimed)
        };
        if let Some(queue) = self.queue.upgrade() {
            queue.forget(self.key, is_queued);
        }
        no_lock_is_held();
        if let Some(joining) = joining {
            joining.wake();
        }
        match unclaimed {
            Some((Ok(output), Some((report, _group)))) => report(output),
            _ => Ok(()),
        }
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
        let (output, future) = match polled {
            Ok(Poll::Pending) => match self.put_back(future) {
                None => return Some(Ok(())),
                Some(future) => (Ok(Err(JoinError::Cancelled)), future),
            },
            Ok(Poll::Ready(output)) => (Ok(Ok(output)), future),
            Err(panic) => (Err(panic), future),
        };
        let dropped = catch_unwind(AssertUnwindSafe(|| drop(future)));
        let (output, panic) = match (output, dropped) {
            (Ok(output), Ok(())) => (output, None),
            (Err(panic), dropped) => {
                dropped.unwrap_or_else(dispose_of); // one report is enough
                (Err(JoinError::Panicked { message: panic_message(&*panic) }), Some(panic))
            }
            (Ok(output), Err(panic)) => {
                let message = panic_message(&*panic);
                let _ = caught(|| drop(output));
                (Err(JoinError::Panicked { message }), Some(panic))
            }
        };
        let result = self.finish(output, false);
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
        Some(result)
    }

    fn cancel(&self) {
        no_lock_is_held();
        let mut state = self.state.lock();
        match state.phase {
            Phase::Over => {}
            Phase::Polled | Phase::PolledAgain => state.is_cancelled = true,
            Phase::Idle | Phase::Woken => {
                let is_queued = state.phase == Phase::Woken;
                state.phase = Phase::Polled; // this thread has it: another cancel finds nothing to do
                let future = state.future.take();
                drop(state);
                match self.queue.upgrade() {
                    Some(queue) => queue.drop_of_program(future),
                    None => drop(future),
                }
                drop(self.finish(Err(JoinError::Cancelled), is_queued));
            }
        }
    }
}

impl<F> Joinable<F::Output> for FutureCell<F>
where
    F: Future<Output: Send> + Send + 'static,
{
    fn poll_join(&self, context: &mut Context<'_>) -> Poll<Result<F::Output, JoinError>> {
        let mut ours = None;
        loop {
            let mut state = self.state.lock();
            if matches!(state.output, Output::Ready(_) | Output::Gone) {
                let output = mem::replace(&mut state.output, Output::Gone);
                drop(state);
                drop(ours);
                let Output::Ready(output) = output else {
                    panic!("a JoinHandle was polled after it was ready")
                };
                return Poll::Ready(output);
            }
            if state.joining.as_ref().is_some_and(|joining| joining.will_wake(context.waker())) {
                return Poll::Pending;
            }
            if let Some(ours) = ours.take() {
                let before = state.joining.replace(ours);
                drop(state);
                drop(before); // the program's code: outside the lock
                return Poll::Pending;
            }
            drop(state);
            ours = Some(context.waker().clone()); // the program's code: outside the lock; then look again
        }
    }

    fn abandon(&self) {
        let (output, joining) = {
            let mut state = self.state.lock();
            (mem::replace(&mut state.output, Output::Gone), state.joining.take())
        };
        drop((output, joining)); // the program's code: outside the lock
        self.cancel();
    }

    fn is_over(&self) -> bool {
        self.state.lock().phase == Phase::Over
    }

    fn detach(&self, report: fn(F::Output) -> CallbackResult, group: KeepAlive) {
        let (output, joining) = {
            let mut state = self.state.lock();
            let output = match mem::replace(&mut state.output, Output::Gone) {
                Output::Awaited => {
                    state.output = Output::Reported(report, group.clone());
                    None
                }
                Output::Ready(output) => output.ok(),
                Output::Gone | Output::Reported(..) => None,
            };
            (output, state.joining.take())
        };
        drop(joining);
        // It was ready before: its error is reported where its callback ran.
        if let Some(Err(error)) = output.map(report)
            && let Some(queue) = self.queue.upgrade()
        {
            let text = error.to_string();
            if queue.post(Box::new(move |_| Err(error)), group).is_err() {
                self::report(Level::Error, &queue.what, &text);
            }
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
