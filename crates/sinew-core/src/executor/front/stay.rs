//! The place of a thread that waits for work, and runs none meanwhile.

use crate::executor::crew::control::Place;
use crate::executor::crew::scheduler::Scheduler;
use crate::executor::crew::spinning::Spinning;
use crate::executor::error::SpinError;
use crate::sys::sync::Arc;

/// While this lives, the thread spins the scheduler. A stop that comes between two waits is for the
/// next one.
pub(super) struct Stay<'a> {
    _place: Place<'a>,
    _spinning: Spinning,
}

impl<'a> Stay<'a> {
    /// `hosts`: threads from outside may run callbacks meanwhile.
    pub(super) fn begin(scheduler: &'a Arc<Scheduler>, hosts: bool) -> Result<Self, SpinError> {
        let place = Place::waiting(scheduler, hosts).ok_or(SpinError::Busy)?;
        Ok(Self { _place: place, _spinning: Spinning::enter(scheduler, 0) })
    }
}
