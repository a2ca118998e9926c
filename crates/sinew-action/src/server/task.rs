//! The future of a goal. The server's group polls it; its waker makes the group's executor come
//! again.

use super::core::ServerCore;
use crate::goal_id::GoalId;
use crate::maker::CallbackResult;
use sinew::__private::locks::{Mutex, no_lock_is_held};
use sinew::msg::Action;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Wake};

type GoalFuture = Pin<Box<dyn Future<Output = CallbackResult> + Send>>;

pub(super) struct GoalTask<A: Action> {
    id: GoalId,
    core: Weak<ServerCore<A>>,
    state: Mutex<TaskState>,
    /// The task is in the server's `ready` queue.
    is_ready: AtomicBool,
}

/// The thread that polls the future takes it out and puts it back: it is polled under no lock.
struct TaskState {
    /// `None` while a thread polls it, and once it is finished.
    future: Option<GoalFuture>,
    is_polled: bool,
    /// It was woken while a thread polled it.
    is_wanted: bool,
    /// The server is gone: the thread that polls the future drops it.
    is_discarded: bool,
}

impl<A: Action> GoalTask<A> {
    /// Stores the future, and polls it for the first time.
    pub(super) fn begin(
        core: &Arc<ServerCore<A>>,
        id: GoalId,
        future: impl Future<Output = CallbackResult> + Send + 'static,
    ) -> CallbackResult {
        let future: Option<GoalFuture> = Some(Box::pin(future));
        let state = TaskState { future, is_polled: false, is_wanted: false, is_discarded: false };
        let task = Arc::new(Self {
            id,
            core: Arc::downgrade(core),
            state: Mutex::new(state),
            is_ready: AtomicBool::new(false),
        });
        core.keep(id, task.clone());
        task.run()
    }

    /// Polls the future. If another thread is polling it, as in a reentrant group, that thread
    /// polls it once more.
    pub(super) fn run(self: Arc<Self>) -> CallbackResult {
        // Relaxed: the future is guarded by its lock. A wake after this queues the task again.
        self.is_ready.store(false, Ordering::Relaxed);
        let future = {
            let mut state = self.state.lock();
            state.is_wanted = state.is_polled;
            state.is_polled |= state.future.is_some();
            state.future.take()
        };
        let Some(mut future) = future else { return Ok(()) };
        // If it panics, it is finished, and the goal's handle is dropped with it.
        let mut polling = Polling { task: &self, future: None };
        let waker = self.clone().into();
        no_lock_is_held();
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(result) => {
                drop(future); // before the server forgets the task
                drop(polling);
                result
            }
            Poll::Pending => {
                polling.future = Some(future);
                Ok(())
            }
        }
    }

    pub(super) fn id(&self) -> GoalId {
        self.id
    }

    /// Drops the future here or, if a thread polls it, on that thread.
    pub(super) fn discard(&self) {
        let over = {
            let mut state = self.state.lock();
            state.is_discarded = true;
            state.future.take()
        };
        drop(over); // dropping it runs the program's code: outside the lock
    }
}

/// A poll of a goal's future. Dropping it puts the future back, if it is not finished.
struct Polling<'a, A: Action> {
    task: &'a Arc<GoalTask<A>>,
    future: Option<GoalFuture>,
}

impl<A: Action> Drop for Polling<'_, A> {
    fn drop(&mut self) {
        let future = self.future.take();
        let is_over = future.is_none();
        let (dropped, again) = {
            let mut state = self.task.state.lock();
            state.is_polled = false;
            let again = std::mem::take(&mut state.is_wanted);
            if state.is_discarded {
                (future, false)
            } else {
                state.future = future;
                (None, again && !is_over)
            }
        };
        let is_over = is_over || dropped.is_some();
        drop(dropped); // dropping it runs the program's code: outside the lock
        if is_over && let Some(core) = self.task.core.upgrade() {
            core.forget(self.task.id);
        }
        if again {
            self.task.clone().wake();
        }
    }
}

impl<A: Action> Wake for GoalTask<A> {
    fn wake(self: Arc<Self>) {
        if !self.is_ready.swap(true, Ordering::Relaxed)
            && let Some(core) = self.core.upgrade()
        {
            core.resume(self);
        }
    }
}
