//! A queue under a lock that one task empties.
//!
//! An [`Inbox`] keeps a task's waiting work together with the task's announcements, so that both
//! change under one lock. Its owner supplies the queue: posted work, or a collected event.
//!
//! Signalling an executor is a system call, and the threads that it wakes want this lock. So a
//! guard only *records* the executor. After it has released the lock, it signals the executor, or
//! returns it to a caller that holds further locks ([`InboxGuard::unlock`]). There is no other way
//! to signal.

use super::crew::scheduler::{TaskRef, ToSignal};
use super::notifier::TaskNotifier;
use crate::sys::clock::Stamp;
use crate::sys::sync::{Guard, Mutex};
use std::mem;
use std::ops::{Deref, DerefMut};

/// The contents of an inbox.
pub(crate) trait Queue {
    /// Returns the time since which the oldest element waits; `None` if nothing waits.
    fn oldest(&self) -> Option<Stamp>;
}

/// A queue, and the task to which its elements are announced.
pub(crate) struct Inbox<Q>(Mutex<Contents<Q>>);

#[repr(C)] // the first cache line tells whether a task has to be notified
struct Contents<Q> {
    notifier: TaskNotifier,
    queue: Q,
}

/// An executor that is signalled when this is dropped.
struct SignalOnDrop(ToSignal);

impl Drop for SignalOnDrop {
    #[inline]
    fn drop(&mut self) {
        mem::take(&mut self.0).signal();
    }
}

/// A locked inbox. Dropping it releases the lock, then signals the executor that got an
/// announcement.
pub(crate) struct InboxGuard<'a, Q> {
    contents: Guard<'a, Contents<Q>>,
    /// Must come after the guard: fields are dropped in order of declaration.
    signal: SignalOnDrop,
}

impl<Q: Queue> Inbox<Q> {
    pub(crate) fn new(queue: Q) -> Self {
        Self(Mutex::new(Contents { notifier: TaskNotifier::default(), queue }))
    }

    #[inline]
    pub(crate) fn lock(&self) -> InboxGuard<'_, Q> {
        InboxGuard { contents: self.0.lock(), signal: SignalOnDrop(ToSignal::NONE) }
    }

    /// Returns the task, if it has an executor.
    pub(crate) fn task_ref(&self) -> Option<TaskRef> {
        self.lock().task_ref().cloned()
    }
}

impl<Q> Deref for InboxGuard<'_, Q> {
    type Target = Q;

    #[inline]
    fn deref(&self) -> &Q {
        &self.contents.queue
    }
}

impl<Q> DerefMut for InboxGuard<'_, Q> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Q {
        &mut self.contents.queue
    }
}

impl<Q: Queue> InboxGuard<'_, Q> {
    /// Returns the task, if it has an executor.
    #[inline]
    pub(crate) fn task_ref(&self) -> Option<&TaskRef> {
        self.contents.notifier.task_ref()
    }

    /// Announces work that waits since then, unless work is already announced.
    #[inline]
    pub(crate) fn announce(&mut self, since: Stamp) {
        let signal = self.contents.notifier.notify(since);
        self.record(signal);
    }

    /// Records the executor to signal. An inbox has one task, so one executor.
    #[inline]
    fn record(&mut self, signal: ToSignal) {
        if !signal.is_none() {
            self.signal.0 = signal;
        }
    }

    /// Ends a turn of the task. Returns the stamp under which its executor keeps it ready, if more
    /// waits; in a reentrant group that is announced here instead.
    #[must_use]
    #[inline]
    pub(crate) fn next(mut self, is_reentrant: bool) -> Option<Stamp> {
        let oldest = self.oldest();
        let (next, signal) = self.contents.notifier.next(oldest, is_reentrant);
        self.record(signal);
        next
    }

    /// Returns the stamp that is still announced, after a callback that may have panicked.
    pub(crate) fn pending(&mut self) -> Option<Stamp> {
        let oldest = self.oldest();
        self.contents.notifier.pending(oldest)
    }

    /// Takes the announcement back if nothing waits. Returns `true` if work waits, or if `other` is
    /// set: the task has something else to do.
    pub(crate) fn clear_ready(&mut self, other: bool) -> bool {
        let waits = self.oldest().is_some();
        if !waits {
            self.contents.notifier.retract(other);
        }
        waits
    }

    /// Gives the task another executor, or none, and announces waiting work there. Releases the
    /// lock without signalling, as [`unlock`](Self::unlock).
    pub(crate) fn attach(mut self, task_ref: Option<TaskRef>) -> ToSignal {
        let oldest = self.oldest();
        let (before, signal) = self.contents.notifier.attach(task_ref, oldest);
        self.record(signal);
        let signal = self.unlock();
        drop(before); // perhaps the last reference to its executor
        signal
    }

    /// Releases the lock without signalling. Returns the executor that the caller must signal once
    /// it holds no other lock.
    pub(crate) fn unlock(self) -> ToSignal {
        let Self { contents, mut signal } = self;
        drop(contents);
        mem::take(&mut signal.0)
    }
}
