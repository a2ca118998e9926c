//! Announces waiting messages to a task, and records whether they are announced.
//!
//! The waiting messages lie under a lock, with their notifier beside them. The first message that
//! arrives is announced; after each message, the thread that runs the task asks for the next. So an
//! announcement is pending exactly while a message waits and the task belongs to an executor.

use super::crew::scheduler::{TaskRef, ToSignal};
use crate::sys::clock::Stamp;

/// A task's announcements. Its owner keeps it under a lock.
#[derive(Default)]
pub(crate) struct TaskNotifier {
    announced: bool,
    task_ref: Option<TaskRef>,
}

impl TaskNotifier {
    /// Returns the task, if it has an executor.
    #[inline]
    pub(crate) fn task_ref(&self) -> Option<&TaskRef> {
        self.task_ref.as_ref()
    }

    #[inline]
    pub(crate) fn is_announced(&self) -> bool {
        self.announced
    }

    /// Announces a message that waits since then.
    #[inline]
    pub(crate) fn notify(&mut self, since: Stamp) -> ToSignal {
        match self.notify_quietly() {
            Some(task_ref) => task_ref.notify(since),
            None => ToSignal::NONE,
        }
    }

    /// Records an announcement that the caller makes itself, or replaces by running the task.
    /// Returns `None` if it is already announced, or there is no executor.
    #[must_use]
    #[inline]
    pub(crate) fn notify_quietly(&mut self) -> Option<&TaskRef> {
        let task_ref = self.task_ref.as_ref()?;
        if std::mem::replace(&mut self.announced, true) { None } else { Some(task_ref) }
    }

    /// Updates the announcement after a message was taken; the next waits since `oldest`. Returns
    /// the stamp of the task's next work. In a reentrant group this announces that work instead,
    /// since the callback may run for a long time.
    #[inline]
    pub(crate) fn next(&mut self, oldest: Option<Stamp>, is_reentrant: bool) -> (Option<Stamp>, ToSignal) {
        self.announced = false;
        match oldest {
            Some(oldest) if is_reentrant && self.task_ref.is_some() => (None, self.notify(oldest)),
            _ => {
                self.announced = oldest.is_some() && self.task_ref.is_some();
                (oldest, ToSignal::NONE)
            }
        }
    }

    /// Returns the stamp that is still announced, after a callback that may have panicked, if a
    /// message waits since `oldest`. If none waits, a thread took the rest without the executor:
    /// then the next arrival is announced.
    pub(crate) fn pending(&mut self, oldest: Option<Stamp>) -> Option<Stamp> {
        self.announced &= oldest.is_some();
        oldest.filter(|_| self.announced)
    }

    /// Takes the announcement back, because no message waits any more. `other`: the task has
    /// something else to do.
    pub(crate) fn retract(&mut self, other: bool) {
        self.announced = false;
        if !other && let Some(task_ref) = &self.task_ref {
            task_ref.clear_ready();
        }
    }

    /// Gives the task another executor, or none, and announces there the messages that wait since
    /// `oldest`. Returns the previous one, for the caller to drop under no lock.
    pub(crate) fn attach(
        &mut self,
        task_ref: Option<TaskRef>,
        oldest: Option<Stamp>,
    ) -> (Option<TaskRef>, ToSignal) {
        let before = std::mem::replace(&mut self.task_ref, task_ref);
        self.announced = false;
        (before, oldest.map(|oldest| self.notify(oldest)).unwrap_or_default())
    }
}
