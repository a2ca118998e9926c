//! Where something that waits is announced, and whether it has been.
//!
//! What waits lies under a lock, and its notifier beside it. It is announced once, when something
//! comes; the thread that runs the task asks for the next after each. So an announcement is
//! pending exactly while something waits and the task belongs to an executor.

use super::scheduler::{Scheduler, TaskRef};
use crate::sys::clock::Stamp;
use crate::sys::sync::Arc;

/// An executor that the caller must [signal](crate::executor::scheduler::signal) once it holds no
/// lock.
pub(crate) type ToSignal = Option<Arc<Scheduler>>;

/// A task's announcements. Its owner has it under a lock.
#[derive(Default)]
pub(crate) struct TaskNotifier {
    announced: bool,
    task_ref: Option<TaskRef>,
}

impl TaskNotifier {
    /// Where the task lives, if it has an executor.
    #[inline]
    pub(crate) fn task_ref(&self) -> Option<&TaskRef> {
        self.task_ref.as_ref()
    }

    #[inline]
    pub(crate) fn is_announced(&self) -> bool {
        self.announced
    }

    /// Something waits since then.
    #[must_use]
    #[inline]
    pub(crate) fn notify(&mut self, since: Stamp) -> ToSignal {
        let task_ref = self.notify_quietly()?;
        if task_ref.notify(since) { Some(task_ref.scheduler.clone()) } else { None }
    }

    /// Something waits, and the caller announces it or runs the task. `None` if it is announced
    /// already, or there is no executor.
    #[must_use]
    #[inline]
    pub(crate) fn notify_quietly(&mut self) -> Option<&TaskRef> {
        let task_ref = self.task_ref.as_ref()?;
        if std::mem::replace(&mut self.announced, true) { None } else { Some(task_ref) }
    }

    /// One was taken; the next has waited since `oldest`. Returns what the task has to do next. In
    /// a reentrant group that is announced here instead, as the callback may run for long.
    #[must_use]
    #[inline]
    pub(crate) fn next(&mut self, oldest: Option<Stamp>, is_reentrant: bool) -> (Option<Stamp>, ToSignal) {
        self.announced = false;
        match oldest {
            Some(oldest) if is_reentrant && self.task_ref.is_some() => (None, self.notify(oldest)),
            _ => {
                self.announced = oldest.is_some() && self.task_ref.is_some();
                (oldest, None)
            }
        }
    }

    /// What is announced still, after a callback that may have panicked, if something has waited
    /// since `oldest`. If nothing has, a thread took without the executor what the callback left:
    /// then what comes next is announced.
    pub(crate) fn pending(&mut self, oldest: Option<Stamp>) -> Option<Stamp> {
        self.announced &= oldest.is_some();
        oldest.filter(|_| self.announced)
    }

    /// Nothing waits any more. `other`: the task has something else to do.
    pub(crate) fn retract(&mut self, other: bool) {
        self.announced = false;
        if !other && let Some(task_ref) = &self.task_ref {
            task_ref.clear_ready();
        }
    }

    /// The task has another executor, or none. Announces there what has waited since `oldest`. The
    /// place before is for the caller to drop under no lock.
    #[must_use]
    pub(crate) fn attach(
        &mut self,
        task_ref: Option<TaskRef>,
        oldest: Option<Stamp>,
    ) -> (Option<TaskRef>, ToSignal) {
        let before = std::mem::replace(&mut self.task_ref, task_ref);
        self.announced = false;
        (before, oldest.and_then(|oldest| self.notify(oldest)))
    }
}
