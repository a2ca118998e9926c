//! A queue under a lock that one task empties.
//!
//! An [`Inbox`] keeps a task's waiting work under one lock, together with whether that work is
//! announced to the task's executor. Its owner supplies the queue: messages, requests, completed
//! calls, posted work, or a collected event.
//!
//! The first element that arrives is announced; after each turn, the thread that runs the task asks
//! for the next. So an announcement is pending exactly while an element waits and the task belongs
//! to an executor.
//!
//! Signalling an executor is a system call, and the threads that it wakes want this lock. So every
//! operation that may call such a thread consumes the guard: it releases the lock and returns the
//! executor, which its caller signals once it holds no lock. There is no other way to announce.

use super::crew::scheduler::{TaskRef, ToSignal};
use crate::sys::clock::Stamp;
use crate::sys::sync::{Condvar, Guard, Mutex};
use std::mem;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

/// The contents of an inbox.
pub(crate) trait Queue {
    /// Returns the time since which the oldest element waits; `None` if nothing waits.
    fn oldest(&self) -> Option<Stamp>;
}

/// A queue, and the task to which its elements are announced.
pub(crate) struct Inbox<Q>(Mutex<Contents<Q>>);

#[repr(C)] // the first cache line shows whether a task has to be notified
struct Contents<Q> {
    announced: bool,
    task_ref: Option<TaskRef>,
    queue: Q,
}

/// A locked inbox.
pub(crate) struct InboxGuard<'a, Q>(Guard<'a, Contents<Q>>);

impl<Q> Inbox<Q> {
    /// Number of bytes before the queue.
    pub(crate) const HEAD: usize =
        size_of::<Mutex<u64>>() - size_of::<u64>() + mem::offset_of!(Contents<Q>, queue);

    pub(crate) fn new(queue: Q) -> Self {
        Self(Mutex::new(Contents { announced: false, task_ref: None, queue }))
    }

    #[inline]
    pub(crate) fn lock(&self) -> InboxGuard<'_, Q> {
        InboxGuard(self.0.lock())
    }

    /// Returns the task, if it has an executor.
    pub(crate) fn task_ref(&self) -> Option<TaskRef> {
        self.0.lock().task_ref.clone()
    }
}

impl<Q> Deref for InboxGuard<'_, Q> {
    type Target = Q;

    #[inline]
    fn deref(&self) -> &Q {
        &self.0.queue
    }
}

impl<Q> DerefMut for InboxGuard<'_, Q> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Q {
        &mut self.0.queue
    }
}

impl<Q: Queue> InboxGuard<'_, Q> {
    /// Returns the task, if it has an executor.
    #[inline]
    pub(crate) fn task_ref(&self) -> Option<&TaskRef> {
        self.0.task_ref.as_ref()
    }

    /// Announces the oldest element, unless work is already announced. Releases the lock.
    #[inline]
    pub(crate) fn announce(mut self) -> ToSignal {
        match self.announce_quietly() {
            Some((task_ref, since)) => task_ref.notify(since),
            None => ToSignal::NONE,
        }
    }

    /// Records an announcement that the caller makes itself, or replaces by running the task. Also
    /// returns the time since which the oldest element waits. Returns `None` if work is already
    /// announced, none waits, or there is no executor.
    #[must_use]
    #[inline]
    pub(crate) fn announce_quietly(&mut self) -> Option<(&TaskRef, Stamp)> {
        let Contents { announced, task_ref, queue } = &mut *self.0;
        let task_ref = task_ref.as_ref().filter(|_| !*announced)?;
        let oldest = queue.oldest()?;
        *announced = true;
        Some((task_ref, oldest))
    }

    /// Ends a turn of the task. Returns the stamp under which its executor keeps it ready, if more
    /// waits. In a reentrant group that is announced here instead, since the callback may run for a
    /// long time. Releases the lock.
    #[inline]
    pub(crate) fn next(mut self, is_reentrant: bool) -> (Option<Stamp>, ToSignal) {
        let Contents { announced, task_ref, queue } = &mut *self.0;
        let oldest = queue.oldest();
        *announced = oldest.is_some() && task_ref.is_some();
        match (oldest, task_ref) {
            (Some(oldest), Some(task_ref)) if is_reentrant => (None, task_ref.notify(oldest)),
            _ => (oldest, ToSignal::NONE),
        }
    }

    /// Returns the stamp that is still announced, after a callback that may have panicked. If
    /// nothing waits, a thread took the rest without the executor: then the next arrival is
    /// announced.
    pub(crate) fn pending(&mut self) -> Option<Stamp> {
        let oldest = self.oldest();
        self.0.announced &= oldest.is_some();
        oldest.filter(|_| self.0.announced)
    }

    /// Takes the announcement back if nothing waits. Returns `true` if work waits. `other`: the
    /// task has something else to do.
    pub(crate) fn clear_ready(&mut self, other: bool) -> bool {
        let waits = self.oldest().is_some();
        if !waits {
            self.0.announced = false;
            if !other && let Some(task_ref) = &self.0.task_ref {
                task_ref.clear_ready();
            }
        }
        waits
    }

    /// Gives the task another executor, or none, and announces waiting work there. Releases the
    /// lock.
    pub(crate) fn attach(mut self, task_ref: Option<TaskRef>) -> ToSignal {
        let before = self.detach();
        self.0.task_ref = task_ref;
        let signal = self.announce();
        drop(before); // perhaps the last reference to its executor
        signal
    }

    /// Takes the task away from its executor. Returns it, for the caller to drop under no lock.
    #[must_use]
    pub(crate) fn detach(&mut self) -> Option<TaskRef> {
        self.0.announced = false;
        self.0.task_ref.take()
    }

    /// Waits on a condition variable, without the lock meanwhile; see [`Condvar::wait_at_most`].
    pub(crate) fn wait_at_most(&mut self, on: &Condvar, timeout: Option<Duration>) {
        on.wait_at_most(&mut self.0, timeout);
    }
}
