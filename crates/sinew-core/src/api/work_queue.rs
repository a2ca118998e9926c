//! Running closures and futures in a callback group.

use super::callback::Outcome;
use super::erased::server::Server;
use crate::executor::error::{JoinError, PostError};
use crate::executor::group::{CallbackGroup, Group};
use crate::executor::group_core::{GroupCore, Membership};
use crate::executor::owner::Close;
use crate::executor::wait_set::{self, Waitable};
use crate::executor::work::join::{self, Joinable};
use crate::executor::work::queue::{Job, WorkQueueCore};
use crate::sys::sync::Arc;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A closure that runs once in a callback group.
///
/// In a [`Group<S>`](crate::Group) it takes nothing or the group's state `&mut S`; in a
/// [`ReentrantGroup`](crate::ReentrantGroup) it takes nothing. The closure returns nothing or a
/// `Result<(), E>`, as callbacks do.
#[diagnostic::on_unimplemented(
    message = "this can't be posted to the group",
    note = "a posted closure is `FnOnce()`, or in a `Group<S>` also `FnOnce(&mut S)`; it is `Send + 'static` and returns \
            nothing or a `Result<(), E>`"
)]
pub trait PostedClosure<G, Form>: Send + 'static {
    #[doc(hidden)]
    fn into_job(self, group: &G) -> Job;
}

impl<F, G, R> PostedClosure<G, fn() -> R> for F
where
    F: FnOnce() -> R + Send + 'static,
    R: Outcome,
{
    fn into_job(self, _group: &G) -> Job {
        Box::new(move |_| self().into_result())
    }
}

impl<F, S, R> PostedClosure<Group<S>, fn(&mut S) -> R> for F
where
    F: FnOnce(&mut S) -> R + Send + 'static,
    S: Send + 'static,
    R: Outcome,
{
    fn into_job(self, group: &Group<S>) -> Job {
        let state = group.state.clone();
        Box::new(move |token| self(state.open(&mut token.state)).into_result())
    }
}

/// A queue of closures and futures that run in a callback group.
///
/// Made by [`Group::work_queue`] for code that builds on Sinew: errors and tools show the queue's
/// name, and its work ends with its last handle. Programs usually want [`Group::post`] and
/// [`Group::spawn`], which use the group's own queue. Clones refer to the same queue. When the last
/// one is dropped, or any is [closed](Self::close), the queue drops its waiting closures and
/// cancels its futures. Work that holds a handle of its own queue keeps the queue until the work
/// has run or the context ends. The queue has no limit: it grows while the program posts faster
/// than the work runs.
///
/// ```
/// use sinew::prelude::*;
/// let context = Context::new()?;
/// let node = context.node("arm")?;
/// let group = node.group(Vec::new());
/// let moves = group.work_queue("moves");
/// moves.post(|done: &mut Vec<&str>| done.push("up"))?;
/// moves.post(|done: &mut Vec<&str>| assert_eq!(done, &["up"]))?;
/// assert_eq!(moves.len(), 2);
/// let executor = Executor::single();
/// executor.add(&context)?;
/// assert_eq!(executor.spin_some()?, 2);
/// # Ok::<(), sinew::Error>(())
/// ```
#[must_use = "a queue is closed when its last handle is dropped"]
pub struct WorkQueue<G: CallbackGroup = Group> {
    group: G,
    queue: Arc<MemberQueue>,
}

/// The queue as a member of its group; dropped with the last handle.
struct MemberQueue {
    core: Arc<WorkQueueCore>,
    membership: Membership,
    group: Arc<GroupCore>,
}

impl MemberQueue {
    fn close(&self, wait: bool) {
        self.core.close(); // first: nothing is taken any more while this waits
        self.group.deregister(self.membership, wait);
    }
}

impl Drop for MemberQueue {
    fn drop(&mut self) {
        self.close(false);
    }
}

impl<G: CallbackGroup> Clone for WorkQueue<G> {
    fn clone(&self) -> Self {
        Self { group: self.group.clone(), queue: self.queue.clone() }
    }
}

impl<G: CallbackGroup> WorkQueue<G> {
    pub(super) fn new(group: &G, name: &str) -> Self {
        let (core, membership) = group.core().work_queue(name);
        let queue = MemberQueue { core, membership, group: group.core().clone() };
        Self { group: group.clone(), queue: Arc::new(queue) }
    }

    /// Posts a closure, as [`Group::post`].
    ///
    /// # Errors
    /// [`PostError`]: the queue was closed, or the context is shut down.
    pub fn post<Form, F>(&self, closure: F) -> Result<(), PostError>
    where
        F: PostedClosure<G, Form>,
    {
        self.queue.core.post(closure.into_job(&self.group), None, self.queue.group.clone())
    }

    /// Spawns a future, as [`Group::spawn`].
    ///
    /// # Errors
    /// [`PostError`]: the queue was closed, or the context is shut down.
    pub fn spawn<F>(&self, future: F) -> Result<JoinHandle<F::Output>, PostError>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        spawn(&self.queue.core, &self.queue.group, future)
    }

    /// For crates built on this one: as [`post`](Self::post), for work under this id.
    #[doc(hidden)]
    pub fn __post_as<Form, F>(&self, id: [u8; 16], closure: F) -> Result<(), PostError>
    where
        F: PostedClosure<G, Form>,
    {
        self.queue.core.post(closure.into_job(&self.group), Some(id), self.queue.group.clone())
    }

    /// For crates built on this one: as [`spawn`](Self::spawn) and [`JoinHandle::detach`], for work
    /// under this id.
    #[doc(hidden)]
    pub fn __spawn_as<F>(&self, id: [u8; 16], future: F) -> Result<(), PostError>
    where
        F: Future<Output: Outcome + Send> + Send + 'static,
    {
        join::spawn_detached(&self.queue.core, future, id, (F::Output::into_result, self.queue.group.clone()))
    }

    /// For crates built on this one: declares that this queue does the work that the server answers
    /// later. A thread that waits for work by its id runs the queue.
    #[doc(hidden)]
    pub fn __works_for(&self, server: &Server) {
        server.is_worked_by(&self.queue.core);
    }

    /// Returns the number of closures and woken futures that wait to run.
    pub fn len(&self) -> usize {
        self.queue.core.len()
    }

    /// Returns `true` if no closure or woken future waits to run.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Closes the queue and its clones: it accepts no more work, drops waiting closures, cancels
    /// its futures, and waits for work that runs on another thread. Called in its own work, it
    /// doesn't wait.
    pub fn close(self) {
        self.queue.close(true);
    }
}

impl<G: CallbackGroup> wait_set::sealed::Sealed for WorkQueue<G> {}

impl<G: CallbackGroup> Waitable for WorkQueue<G> {
    fn subject(&self) -> usize {
        Arc::as_ptr(&self.queue.core).addr()
    }
}

impl<G: CallbackGroup> fmt::Debug for WorkQueue<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkQueue").field("len", &self.len()).finish_non_exhaustive()
    }
}

/// Runs a closure once in a group.
pub(super) fn post<G, Form, F>(group: &G, closure: F) -> Result<(), PostError>
where
    G: CallbackGroup,
    F: PostedClosure<G, Form>,
{
    let core = group.core();
    core.work().post(closure.into_job(group), None, core.clone())
}

/// Runs a future in a group, as work of one of its queues.
pub(super) fn spawn<F>(
    core: &Arc<WorkQueueCore>,
    group: &Arc<GroupCore>,
    future: F,
) -> Result<JoinHandle<F::Output>, PostError>
where
    F: Future<Output: Send> + Send + 'static,
{
    Ok(JoinHandle { future: Some(join::spawn(core, future)?), group: group.clone() })
}

/// A handle of a spawned future; from [`Group::spawn`]. The handle is a future itself, and yields
/// the output once.
///
/// Dropping the handle cancels the future, and discards its output, even an error;
/// [`detach`](Self::detach) lets the future continue. The handle keeps the group and its node. Any
/// thread may await it. After a shutdown of the context, the handle yields [`JoinError::Cancelled`]
/// once the executor has returned from its spin.
///
/// # Panics
/// If the handle is polled again after it was ready.
#[must_use = "a spawned future is cancelled when its handle is dropped: await it, keep it, or `detach()` it"]
pub struct JoinHandle<T> {
    /// `None` once the future is detached.
    future: Option<Arc<dyn Joinable<T>>>,
    group: Arc<GroupCore>,
}

impl<T> JoinHandle<T> {
    /// Cancels the future: drops it on this thread or, if another thread is polling it, on that
    /// thread after the poll. Awaiting the handle then yields [`JoinError::Cancelled`], unless that
    /// poll yields the output. Has no effect once the future is over.
    pub fn cancel(&self) {
        if let Some(future) = &self.future {
            future.cancel();
        }
    }

    /// Returns `true` if the future is over: ready, panicked or cancelled.
    pub fn is_finished(&self) -> bool {
        self.future.as_ref().is_none_or(|future| future.is_over())
    }
}

impl<T: Outcome + Send + 'static> JoinHandle<T> {
    /// Lets the future continue without a handle until it is over or the context ends; meanwhile it
    /// keeps its group and node. The executor handles an error that the future yields like a
    /// callback's ([`on_error`](crate::executor::ExecutorBuilder::on_error)). A future of a
    /// [`WorkQueue`] still ends with that queue.
    pub fn detach(mut self) {
        if let Some(future) = self.future.take() {
            future.detach(T::into_result, self.group.clone());
        }
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &self.future {
            Some(future) => future.poll_join(context),
            None => Poll::Pending, // a handle that is detached is gone
        }
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        if let Some(future) = &self.future {
            future.abandon();
        }
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").field("is_finished", &self.is_finished()).finish_non_exhaustive()
    }
}
