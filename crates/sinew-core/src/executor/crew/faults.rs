//! Callbacks that fail or panic.

use super::scheduler::Scheduler;
use crate::executor::error::{CallbackError, SpinError};
use crate::executor::fault_policy::FaultPolicy;
use crate::executor::task::TaskBase;
use crate::sys::logging::{About, Level, tell};
use crate::sys::panics::{dispose_of, panic_message};
use crate::sys::says;
use std::any::Any;
use std::error::Error;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

// Out of the way, so that calls inside calls need less of the stack.

#[cold]
#[inline(never)]
pub(super) fn failed(
    scheduler: &Scheduler,
    task: &TaskBase,
    error: Box<dyn Error + Send + Sync>,
) -> Result<bool, Box<SpinError>> {
    let (_, on_error) = scheduler.reactions();
    let fault = SpinError::Failed { entity: task.describe(), error: CallbackError::new(error) };
    if on_error == FaultPolicy::Stop {
        return Err(Box::new(fault));
    }
    // What a callback was doing when its context was shut down fails: that is how it ends in order.
    let has_ended = task.has_ended();
    // The error's text and its `Drop` are the user's code, as the callback is.
    match catch_unwind(AssertUnwindSafe(move || says::in_one_line(&fault))) {
        Ok(text) if has_ended => {
            report(Level::Info, &task.describe(), &format!("{text} (its context was shut down meanwhile)"));
            Ok(true)
        }
        Ok(text) => {
            report(Level::Error, &task.describe(), &text);
            Ok(true)
        }
        Err(panic) => panicked(scheduler, task, panic),
    }
}

#[cold]
#[inline(never)]
pub(super) fn panicked(
    scheduler: &Scheduler,
    task: &TaskBase,
    panic: Box<dyn Any + Send>,
) -> Result<bool, Box<SpinError>> {
    let message = panic_message(&*panic);
    dispose_of(panic);
    let (on_panic, _) = scheduler.reactions();
    let fault = SpinError::Panicked { entity: task.describe(), message };
    match on_panic {
        FaultPolicy::Stop => Err(Box::new(fault)),
        FaultPolicy::Report => {
            report(Level::Error, &task.describe(), &fault);
            Ok(true)
        }
    }
}

/// Tells the program's maker of a fault in the callback, listener or the like of an entity, as it
/// is described.
#[cold]
pub(crate) fn report(level: Level, entity: &str, fault: &dyn fmt::Display) {
    // Every entity's description ends with its node.
    let node = entity.rsplit_once(" of node ").map_or("", |(_, node)| node);
    tell!(level; About { node, subject: entity }, "{fault}");
}
