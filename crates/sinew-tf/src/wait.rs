//! Waiting for a transform.
//!
//! A waiter first registers and then looks the transform up; an inserting thread first inserts and
//! then checks the waiters. The buffer's lock orders the two, so at least one of them sees the
//! other's step.

use crate::buffer::BufferCore;
use crate::lookup::{At, LookupError};
use crate::transform::StampedTransform;
use sinew::__private::locks::{Mutex, no_lock_is_held};
use sinew::Duration;
use slab::Slab;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// A requested transform.
#[derive(Debug, Clone)]
pub(crate) struct Query {
    pub(crate) target: Arc<str>,
    pub(crate) source: Arc<str>,
    pub(crate) at: At,
}

/// The waiters. An entry without a waker has been woken, and has not looked the transform up again
/// yet.
#[derive(Debug, Default)]
pub(crate) struct Waiters(Mutex<Slab<(Query, Option<Waker>)>>);

impl Waiters {
    /// Wakes the waiters for which `is_over` is true.
    pub(crate) fn wake(&self, is_over: impl Fn(&Query) -> bool) {
        let mut waiters = self.0.lock();
        if waiters.is_empty() {
            return;
        }
        let over = waiters.iter_mut().filter(|(_, (query, waker))| waker.is_some() && is_over(query));
        let over: Vec<Waker> = over.filter_map(|(_, (_, waker))| waker.take()).collect();
        drop(waiters); // woken tasks may wait again
        no_lock_is_held();
        over.into_iter().for_each(Waker::wake);
    }
}

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
        let ours = Some(waker.clone()); // runs the program's code, as all wakers do, so outside the lock
        let mut waiters = self.core.waiters.0.lock();
        let former = match self.place.and_then(|place| waiters.get_mut(place)) {
            Some((_, former)) => std::mem::replace(former, ours),
            None => {
                self.place = Some(waiters.insert((self.query.clone(), ours)));
                None
            }
        };
        drop(waiters);
        drop(former);
    }
}

impl Future for PendingTransform {
    type Output = Result<StampedTransform, LookupError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.register(context.waker());
        let found = self.look();
        match &found {
            Err(error) if !self.core.tree.read().is_past(error) => Poll::Pending,
            _ => Poll::Ready(found),
        }
    }
}

impl Drop for PendingTransform {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            let gone = self.core.waiters.0.lock().remove(place);
            drop(gone); // drops the waker as well, so outside the lock
        }
    }
}

impl fmt::Debug for PendingTransform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingTransform").field("query", &self.query).finish_non_exhaustive()
    }
}
