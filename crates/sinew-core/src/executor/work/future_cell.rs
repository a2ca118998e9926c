//! A future of a queue: its owner, and the times at which it is polled.
//!
//! | phase | owner of the future | phase after a wake-up |
//! |---|---|---|
//! | `Idle` | its cell | `Woken`, and it enters the queue |
//! | `Woken` | its cell | - |
//! | `Polled` | the thread that polls it, or drops it | `PolledAgain` |
//! | `PolledAgain` | the thread that polls it, which puts it back as `Woken` and into the queue | - |
//! | `Over` | no thread: it was ready, panicked, or was cancelled, and is dropped | - |
//!
//! A future that is cancelled while a thread polls it is dropped by that thread, after the poll.
//!
//! A cell may be used for one future after another, so that a steady flow of them allocates
//! nothing. The waker of a finished future may then wake the next one, which is polled once in
//! vain.

use super::queue::{SpawnedFuture, WorkId, WorkQueueCore};
use crate::executor::error::JoinError;
use crate::executor::task::CallbackResult;
use crate::message::info::{ChainScope, Lineage};
use crate::sys::panics::{caught, dispose_of, panic_message};
use crate::sys::sync::{Arc, Mutex, no_lock_is_held};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Weak;
use std::task::{Context, Poll, Wake, Waker};

/// The memory of a future; empty once that is over.
pub(crate) type FutureRoom<F> = Pin<Box<Option<F>>>;

/// The destination of the output of a cell's futures.
pub(crate) trait OutputSink<F: Future>: Send + Sync + Sized + 'static {
    /// Takes the output, after the future is dropped, under no lock. A returned error is reported
    /// as an error of the callback.
    fn finish(&self, output: Result<F::Output, JoinError>) -> CallbackResult;

    /// Called last, if the future wasn't cancelled while it waited: the cell may be reused.
    fn retire(cell: Arc<FutureCell<F, Self>>, room: FutureRoom<F>) {
        drop((cell, room));
    }
}

/// A future, and the destination of its output.
pub(crate) struct FutureCell<F: Future, S> {
    queue: Weak<WorkQueueCore>,
    pub(crate) sink: S,
    id: Option<WorkId>,
    state: Mutex<CellState<F>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Idle,
    Woken,
    Polled,
    PolledAgain,
    Over,
}

struct CellState<F> {
    phase: Phase,
    /// Its key among the queue's futures.
    key: usize,
    /// `None` while a thread has it. A reused cell keeps its empty memory.
    room: Option<FutureRoom<F>>,
    /// Whether the thread that polls the future has to drop it.
    is_cancelled: bool,
    /// The chain of messages that the future continues.
    lineage: Option<Lineage>,
}

impl<F, S> FutureCell<F, S>
where
    F: Future + Send + 'static,
    S: OutputSink<F>,
{
    /// Returns a cell without a future.
    pub(crate) fn new(queue: &Arc<WorkQueueCore>, sink: S) -> Arc<Self> {
        let (phase, queue) = (Phase::Over, Arc::downgrade(queue));
        let state = CellState { phase, key: 0, room: None, is_cancelled: false, lineage: None };
        Arc::new(Self { queue, sink, id: None, state: Mutex::new(state) })
    }

    /// Returns a cell with a future that is about to enter its queue.
    pub(super) fn woken(
        queue: &Arc<WorkQueueCore>,
        future: F,
        (id, lineage): (Option<WorkId>, Option<Lineage>),
        sink: S,
    ) -> Arc<Self> {
        let (phase, room) = (Phase::Woken, Some(Box::pin(Some(future))));
        let state = CellState { phase, key: 0, room, is_cancelled: false, lineage };
        Arc::new(Self { queue: Arc::downgrade(queue), sink, id, state: Mutex::new(state) })
    }

    /// Starts a future: polls it on this thread, or cancels it if the queue is closed.
    ///
    /// # Panics
    /// Panics if the future does.
    pub(crate) fn start(self: Arc<Self>, future: F, lineage: Option<Lineage>) -> CallbackResult {
        let room = {
            let mut state = self.state.lock();
            debug_assert!(state.phase == Phase::Over, "a cell has one future at a time");
            // From now on it can be cancelled, and this thread has the future.
            (state.phase, state.is_cancelled, state.lineage) = (Phase::Polled, false, lineage);
            state.room.take()
        };
        let mut room = room.unwrap_or_else(|| Box::pin(None));
        room.set(Some(future));
        let erased: Arc<dyn SpawnedFuture> = self.clone();
        if self.queue.upgrade().is_some_and(|queue| queue.keep(&erased)) {
            drop(erased);
            return self.poll_in(room, lineage);
        }
        self.drop_in(room);
        self.finish(Err(JoinError::Cancelled), None)
    }

    /// Puts a woken future into the queue, to be polled.
    pub(super) fn enter_queue(self: &Arc<Self>, key: usize) {
        if let Some(queue) = self.queue.upgrade() {
            queue.resume(key, self.clone());
        }
    }

    pub(super) fn key(&self) -> usize {
        self.state.lock().key
    }

    pub(super) fn queue(&self) -> Option<Arc<WorkQueueCore>> {
        self.queue.upgrade()
    }

    /// Polls the future, which this thread has.
    fn poll_in(self: Arc<Self>, mut room: FutureRoom<F>, lineage: Option<Lineage>) -> CallbackResult {
        let _chain = ChainScope::enter(lineage);
        let waker = Waker::from(self.clone());
        let polled = catch_unwind(AssertUnwindSafe(|| {
            let future = room.as_mut().as_pin_mut();
            future.map_or(Poll::Pending, |future| future.poll(&mut Context::from_waker(&waker)))
        }));
        drop(waker);
        let (output, mut room) = match polled {
            Ok(Poll::Pending) => match self.put_back(room) {
                None => return Ok(()),
                Some(room) => (Ok(Err(JoinError::Cancelled)), room),
            },
            Ok(Poll::Ready(output)) => (Ok(Ok(output)), room),
            Err(panic) => (Err(panic), room),
        };
        let dropped = catch_unwind(AssertUnwindSafe(|| room.set(None)));
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
        let result = self.finish(output, Some(false));
        S::retire(self, room);
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
        result
    }

    /// Puts a future back that is not ready. Returns it if it was cancelled meanwhile.
    fn put_back(self: &Arc<Self>, room: FutureRoom<F>) -> Option<FutureRoom<F>> {
        let mut state = self.state.lock();
        if state.is_cancelled {
            return Some(room);
        }
        state.room = Some(room);
        let again = state.phase == Phase::PolledAgain;
        state.phase = if again { Phase::Woken } else { Phase::Idle };
        let key = state.key;
        drop(state);
        if again {
            self.enter_queue(key);
        }
        None
    }

    /// The future is over and dropped. `is_queued`: it is one of the queue's futures, and perhaps
    /// in the queue.
    fn finish(&self, output: Result<F::Output, JoinError>, is_queued: Option<bool>) -> CallbackResult {
        let key = {
            let mut state = self.state.lock();
            state.phase = Phase::Over;
            state.key
        };
        if let Some(is_queued) = is_queued
            && let Some(queue) = self.queue.upgrade()
        {
            queue.forget(key, is_queued);
        }
        no_lock_is_held();
        self.sink.finish(output)
    }

    /// Drops a future that isn't over.
    fn drop_in(&self, room: FutureRoom<F>) {
        match self.queue.upgrade() {
            Some(queue) => queue.drop_of_program(room),
            None => drop(room),
        }
    }

    /// Keeps the memory for the next future.
    pub(crate) fn reuse(&self, room: FutureRoom<F>) {
        let before = self.state.lock().room.replace(room);
        drop(before);
    }
}

impl<F, S> SpawnedFuture for FutureCell<F, S>
where
    F: Future + Send + 'static,
    S: OutputSink<F>,
{
    fn set_key(&self, key: usize) {
        self.state.lock().key = key;
    }

    fn id(&self) -> Option<&WorkId> {
        self.id.as_ref()
    }

    fn poll(self: Arc<Self>) -> Option<CallbackResult> {
        let (room, lineage) = {
            let mut state = self.state.lock();
            if state.phase != Phase::Woken {
                return None; // it was cancelled
            }
            let room = state.room.take()?;
            state.phase = Phase::Polled;
            (room, state.lineage)
        };
        Some(self.poll_in(room, lineage))
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
                let room = state.room.take();
                drop(state);
                if let Some(room) = room {
                    self.drop_in(room);
                }
                drop(self.finish(Err(JoinError::Cancelled), Some(is_queued)));
            }
        }
    }
}

impl<F, S> Wake for FutureCell<F, S>
where
    F: Future + Send + 'static,
    S: OutputSink<F>,
{
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut state = self.state.lock();
        match state.phase {
            Phase::Idle => {
                state.phase = Phase::Woken;
                let key = state.key;
                drop(state);
                self.enter_queue(key);
            }
            Phase::Polled => state.phase = Phase::PolledAgain,
            Phase::Woken | Phase::PolledAgain | Phase::Over => {}
        }
    }
}
