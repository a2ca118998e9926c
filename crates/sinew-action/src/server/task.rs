//! The future of a goal. The server's group polls it; a waker has the group's executor come again.

use super::core::ServerCore;
use crate::goal_id::GoalId;
use crate::maker::CallbackResult;
use parking_lot::Mutex;
use sinew::msg::Action;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Wake};

type GoalFuture = Pin<Box<dyn Future<Output = CallbackResult> + Send>>;

pub(super) struct GoalTask<A: Action> {
    id: GoalId,
    core: Weak<ServerCore<A>>,
    /// Held while it is polled; `None` once it is over.
    future: Mutex<Option<GoalFuture>>,
    /// It lies among what is ready.
    is_ready: AtomicBool,
    /// The server is gone: the thread that polls it drops it.
    is_discarded: AtomicBool,
}

impl<A: Action> GoalTask<A> {
    /// Keeps the future, and polls it for the first time.
    pub(super) fn begin(
        core: &Arc<ServerCore<A>>,
        id: GoalId,
        future: impl Future<Output = CallbackResult> + Send + 'static,
    ) -> CallbackResult {
        let task = Arc::new(Self {
            id,
            core: Arc::downgrade(core),
            future: Mutex::new(Some(Box::pin(future))),
            is_ready: AtomicBool::new(false),
            is_discarded: AtomicBool::new(false),
        });
        core.keep(id, task.clone());
        task.run()
    }

    /// Polls it.
    pub(super) fn run(self: Arc<Self>) -> CallbackResult {
        // Relaxed, here and below: the future is guarded by its lock. A wake after this comes again.
        self.is_ready.store(false, Ordering::Relaxed);
        let waker = self.clone().into();
        let mut place = self.future.lock();
        let Some(future) = place.as_mut() else { return Ok(()) };
        let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
        let is_over = polled.is_ready() || self.is_discarded.load(Ordering::SeqCst);
        let over = if is_over { place.take() } else { None };
        drop(place);
        let has_ended = over.is_some();
        drop(over); // the program's code, outside the lock
        if has_ended && let Some(core) = self.core.upgrade() {
            core.forget(self.id);
        }
        match polled {
            Poll::Ready(result) => result,
            Poll::Pending => Ok(()),
        }
    }

    /// Drops the future, here or, if a thread polls it, there.
    pub(super) fn discard(&self) {
        self.is_discarded.store(true, Ordering::SeqCst); // before the look at the lock, as `run` after its poll
        let over = self.future.try_lock().and_then(|mut place| place.take());
        drop(over);
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
