//! Spawning a future, and its output for the handle.

use super::future_cell::{FutureCell, OutputSink};
use super::queue::{KeepAlive, SpawnedFuture, WorkId, WorkQueueCore};
use crate::executor::error::{JoinError, PostError};
use crate::executor::report;
use crate::executor::task::CallbackResult;
use crate::message::info::Lineage;
use crate::sys::logging::Level;
use crate::sys::panics::caught;
use crate::sys::sync::{Arc, Mutex};
use std::mem;
use std::task::{Context, Poll, Waker};

/// A future that was spawned, as its handle sees it.
pub(crate) trait Joinable<T>: SpawnedFuture {
    /// Returns the future's output, once.
    fn poll_join(&self, context: &mut Context<'_>) -> Poll<Result<T, JoinError>>;

    /// Cancels the future, and drops its output, now or later.
    fn abandon(&self);

    fn is_over(&self) -> bool;

    /// Sends the output to `report`, in the group, which is kept alive until then.
    fn detach(&self, report: fn(T) -> CallbackResult, group: KeepAlive);
}

/// A spawned future.
pub(crate) type Spawned<F> = FutureCell<F, JoinState<<F as Future>::Output>>;

/// The output of a spawned future.
pub(crate) struct JoinState<T>(Mutex<Joined<T>>);

struct Joined<T> {
    output: Output<T>,
    /// Waits for the output.
    joining: Option<Waker>,
}

enum Output<T> {
    /// The handle waits for it.
    Awaited,
    /// The handle hasn't taken it yet.
    Ready(Result<T, JoinError>),
    /// The handle has taken it, or doesn't want it.
    Gone,
    /// It will be reported to the executor. The group is kept alive until then.
    Reported(fn(T) -> CallbackResult, KeepAlive),
}

impl<T> JoinState<T> {
    fn new(output: Output<T>) -> Self {
        Self(Mutex::new(Joined { output, joining: None }))
    }
}

impl<F> OutputSink<F> for JoinState<F::Output>
where
    F: Future<Output: Send> + 'static,
{
    fn finish(&self, output: Result<F::Output, JoinError>) -> CallbackResult {
        let (joining, unclaimed) = {
            let mut state = self.0.lock();
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
        // Other futures of the queue may wait for this thread: a panic in a waker must not stop it.
        if let Some(joining) = joining
            && let Err(message) = caught(|| joining.wake())
        {
            let what = "waking a task that waits for a spawned future";
            report(Level::Error, what, &format_args!("{what} panicked: {message}"));
        }
        match unclaimed {
            Some((Ok(output), Some((report, _group)))) => report(output),
            _ => Ok(()),
        }
    }
}

/// Queues the future, to be polled for the first time after the work that is already ready.
pub(crate) fn spawn<F>(queue: &Arc<WorkQueueCore>, future: F) -> Result<Arc<Spawned<F>>, PostError>
where
    F: Future<Output: Send> + Send + 'static,
{
    enter(queue, future, None, Output::Awaited)
}

/// As [`spawn`], without a handle: the output goes to `report`, as in [`Joinable::detach`].
pub(crate) fn spawn_detached<F>(
    queue: &Arc<WorkQueueCore>,
    future: F,
    id: WorkId,
    (report, group): (fn(F::Output) -> CallbackResult, KeepAlive),
) -> Result<(), PostError>
where
    F: Future<Output: Send> + Send + 'static,
{
    enter(queue, future, Some(id), Output::Reported(report, group)).map(drop)
}

fn enter<F>(
    queue: &Arc<WorkQueueCore>,
    future: F,
    id: Option<WorkId>,
    output: Output<F::Output>,
) -> Result<Arc<Spawned<F>>, PostError>
where
    F: Future<Output: Send> + Send + 'static,
{
    if queue.is_closed() {
        return Err(queue.closed());
    }
    let cell = FutureCell::woken(queue, future, (id, Lineage::current()), JoinState::new(output));
    let erased: Arc<dyn SpawnedFuture> = cell.clone();
    if !queue.keep(&erased) {
        return Err(queue.closed()); // drops the future, outside the lock
    }
    cell.enter_queue(cell.key());
    Ok(cell)
}

impl<F> Joinable<F::Output> for Spawned<F>
where
    F: Future<Output: Send> + Send + 'static,
{
    fn poll_join(&self, context: &mut Context<'_>) -> Poll<Result<F::Output, JoinError>> {
        let mut ours = None;
        loop {
            let mut state = self.sink.0.lock();
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
                drop(before); // code of the program: outside the lock
                return Poll::Pending;
            }
            drop(state);
            ours = Some(context.waker().clone()); // code of the program: outside the lock; then look again
        }
    }

    fn abandon(&self) {
        let (output, joining) = {
            let mut state = self.sink.0.lock();
            (mem::replace(&mut state.output, Output::Gone), state.joining.take())
        };
        drop((output, joining)); // code of the program: outside the lock
        self.cancel();
    }

    fn is_over(&self) -> bool {
        matches!(self.sink.0.lock().output, Output::Ready(_) | Output::Gone)
    }

    fn detach(&self, report: fn(F::Output) -> CallbackResult, group: KeepAlive) {
        let (output, joining) = {
            let mut state = self.sink.0.lock();
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
            && let Some(queue) = self.queue()
        {
            let text = error.to_string();
            if queue.post(Box::new(move |_| Err(error)), None, group).is_err() {
                queue.report_failure(&text);
            }
        }
    }
}
