//! An entity for tests of the scheduler that can be ready and does nothing.

use crate::executor::crew::scheduler::{Scheduler, Task, TaskOutcome, TaskRef};
use crate::executor::group_token::GroupToken;
use crate::executor::prefetch;
use crate::sys::clock::Stamp;
use crate::sys::sync::{Arc, next_serial};
use sinew_shm::PackedCallback;

struct Idle(prefetch::NoteIndex);

impl Task for Idle {
    fn run(&self, _token: &mut GroupToken) -> TaskOutcome {
        TaskOutcome { result: Ok(()), next: None, called: true }
    }

    fn pending(&self) -> Option<Stamp> {
        None
    }

    fn clear_ready(&self) -> bool {
        true
    }

    fn place(&self) -> &prefetch::NoteIndex {
        &self.0
    }

    fn describe(&self) -> String {
        "idle".to_owned()
    }
}

/// Adds an idle entity to a group; also returns its serial number.
pub(crate) fn enter(scheduler: &Arc<Scheduler>, slot: u32) -> (TaskRef, u64) {
    let serial = next_serial();
    let idle = Arc::new(Idle(prefetch::NoteIndex::new()));
    (scheduler.enter(slot, (serial, PackedCallback::default()), idle), serial)
}
