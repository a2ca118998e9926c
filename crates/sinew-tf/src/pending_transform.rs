//! The wait for one transform, as a future or blocking.

use crate::buffer_core::BufferCore;
use crate::lookup::{At, LookupError};
use crate::transform::StampedTransform;
use crate::waiters::Query;
use sinew::Duration;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// Waits for a transform; returned by [`Buffer::wait_for`](crate::Buffer::wait_for).
#[must_use = "it waits when it is awaited, or in `wait`"]
pub struct PendingTransform {
    core: Arc<BufferCore>,
    query: Query,
    /// Index among the waiters.
    place: Option<usize>,
}

impl PendingTransform {
    pub(crate) fn new(core: Arc<BufferCore>, target: &str, source: &str, at: At) -> Self {
        Self { core, query: Query { target: Arc::from(target), source: Arc::from(source), at }, place: None }
    }

    /// Blocks until the transform is there, at most for `timeout` (of real time). For threads, and
    /// for callbacks that may block their callback group: the buffer is filled meanwhile.
    ///
    /// # Errors
    /// [`LookupError`] for the part that is still missing.
    pub fn wait(mut self, timeout: Duration) -> Result<StampedTransform, LookupError> {
        let waited = sinew::executor::wait_for(&mut self, timeout);
        waited.unwrap_or_else(|| self.look().map_err(|error| self.core.told(error)))
    }

    fn look(&self) -> Result<StampedTransform, LookupError> {
        self.core.lookup(&self.query.target, &self.query.source, self.query.at)
    }

    fn register(&mut self, waker: &Waker) {
        self.place = Some(self.core.waiters.register(self.place, &self.query, waker));
    }
}

impl Future for PendingTransform {
    type Output = Result<StampedTransform, LookupError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.register(context.waker());
        let found = self.look();
        match &found {
            Err(error) if !self.core.tree.read().is_past(error, self.query.at) => Poll::Pending,
            _ => Poll::Ready(found),
        }
    }
}

impl Drop for PendingTransform {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            self.core.waiters.remove(place);
        }
    }
}

impl fmt::Debug for PendingTransform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingTransform").field("query", &self.query).finish_non_exhaustive()
    }
}
