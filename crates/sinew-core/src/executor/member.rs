//! A task of a callback group.

use super::crew::scheduler::{TaskRef, ToSignal};
use super::task::Run;

/// Something with callbacks that runs in a group.
pub(crate) trait GroupMember: Run {
    /// Sets where the task announces itself, and announces at once what waits already. Runs none of
    /// the program's code, and signals no executor: the group's lock is held.
    fn attach(&self, task_ref: Option<TaskRef>) -> ToSignal;

    /// Called after [`attach`](Self::attach), once no lock is held: from now on another thread
    /// brings in what came from elsewhere, and up to now this one does.
    fn attached(&self) {}

    /// Called before a paused group goes on: drops what came meanwhile and is out of date by now.
    fn discard(&self) {}
}
