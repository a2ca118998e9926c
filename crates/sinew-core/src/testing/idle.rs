//! An entity for tests of the scheduler that can be ready and does nothing.

use crate::executor::crew::control::Place;
use crate::executor::crew::members::GroupSlot;
use crate::executor::crew::scheduler::{Scheduler, TaskRef, index};
use crate::executor::group_token::GroupToken;
use crate::executor::task::{Run, Task, TaskBase, TaskOutcome, TaskOwner};
use crate::sys::clock::Stamp;
use crate::sys::sync::{Arc, next_serial};
use sinew_shm::transport::PackedCallback;

struct Idle;

impl Run for Idle {
    fn run(&self, _token: &mut GroupToken) -> TaskOutcome {
        TaskOutcome { result: Ok(()), next: None, called: true }
    }

    fn pending(&self) -> Option<Stamp> {
        None
    }

    fn clear_ready(&self) -> bool {
        true
    }
}

struct NoNode(Arc<str>);

impl TaskOwner for NoNode {
    fn full_name(&self) -> &Arc<str> {
        &self.0
    }

    fn has_ended(&self) -> bool {
        false
    }
}

/// Has the calling thread and its helpers spin an executor, for good.
pub(crate) fn spin(scheduler: &Arc<Scheduler>) {
    let place = Place::first(scheduler, true);
    std::mem::forget(place.expect("no thread spins it"));
    for worker in 1..scheduler.threads() {
        std::mem::forget(Place::helper(scheduler, index(worker)));
    }
}

/// Returns an entity that does this.
pub(crate) fn task<W: Run + 'static>(work: W) -> Arc<Task<W>> {
    Task::new(TaskBase::new(Arc::new(NoNode("/idle".into())), "idle"), work)
}

/// Adds an idle entity to a group; also returns its serial number.
pub(crate) fn enter(group: &GroupSlot) -> (TaskRef, u64) {
    enter_task(group, task(Idle))
}

/// Adds an entity to a group; also returns its serial number.
pub(crate) fn enter_task(group: &GroupSlot, task: Arc<Task>) -> (TaskRef, u64) {
    let serial = next_serial();
    (group.enter((serial, PackedCallback::default()), task), serial)
}
