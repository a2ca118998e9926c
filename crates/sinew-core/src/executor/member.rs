//! A task of a callback group.

use super::crew::scheduler::{TaskRef, ToSignal};
use super::task::Run;

/// A task with callbacks that runs in a group.
pub(crate) trait GroupMember: Run {
    /// Sets where the task announces itself, and announces at once what waits already. Runs none of
    /// the program's code, and signals no executor: the group's lock is held.
    fn attach(&self, task_ref: Option<TaskRef>) -> ToSignal;

    /// Called after [`attach`](Self::attach), under no lock: this thread reads the messages that
    /// have come from elsewhere, and another thread reads the next ones.
    fn attached(&self) {}

    /// Called before a paused group resumes: drops messages that came meanwhile and are out of
    /// date.
    fn discard(&self) {}
}
