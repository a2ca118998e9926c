//! An entity for tests of the scheduler: it can be ready, and does nothing.

use crate::executor::group_token::Turn;
use crate::executor::prefetch;
use crate::executor::scheduler::{Entity, Home, Ran, Scheduler};
use crate::sys::clock::Stamp;
use crate::sys::sync::{Arc, next_serial};
use sinew_shm::Task;

struct Idle(prefetch::Place);

impl Entity for Idle {
    fn run(&self, _turn: &mut Turn) -> Ran {
        Ran { result: Ok(()), next: None, called: true }
    }

    fn left(&self) -> Option<Stamp> {
        None
    }

    fn withdraw(&self) -> bool {
        true
    }

    fn place(&self) -> &prefetch::Place {
        &self.0
    }

    fn describe(&self) -> String {
        "idle".to_owned()
    }
}

/// Adds an idle entity to a group; returns its serial number, too.
pub(crate) fn enter(scheduler: &Arc<Scheduler>, slot: u32) -> (Home, u64) {
    let serial = next_serial();
    let idle = Arc::new(Idle(prefetch::Place::new()));
    (scheduler.enter(slot, (serial, Task::default()), idle), serial)
}
