//! Callbacks that fail or panic.

use crate::executor::error::{CallbackError, SpinError};
use crate::executor::fault_policy::FaultPolicy;
use crate::executor::task::TaskBase;
use crate::sys::logging::{About, Level, log_line};
use crate::sys::panics::{dispose_of, panic_message};
use crate::sys::says;
use crate::sys::sync::{AtomicBool, Mutex, Ordering};
use std::any::Any;
use std::error::Error;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The reaction of an executor to faults of callbacks, and the fault that ends the current spin.
pub(crate) struct Faults {
    state: Mutex<FaultState>,
    /// Whether there is a fault. A thread that looks without the lock sees every fault for which it
    /// was stopped: the scheduler's lock carries it.
    any: AtomicBool,
}

struct FaultState {
    on_panic: FaultPolicy,
    on_error: FaultPolicy,
    /// The fault that ends the spin, until its thread takes it.
    fault: Option<SpinError>,
}

impl Default for Faults {
    fn default() -> Self {
        let (on_panic, on_error) = (FaultPolicy::Stop, FaultPolicy::Report);
        let state = FaultState { on_panic, on_error, fault: None };
        Self { state: Mutex::new(state), any: AtomicBool::new(false) }
    }
}

impl Faults {
    pub(crate) fn set_policies(&self, on_panic: FaultPolicy, on_error: FaultPolicy) {
        let mut state = self.state.lock();
        (state.on_panic, state.on_error) = (on_panic, on_error);
    }

    /// Keeps a fault for the thread that spins, unless that already has one to return.
    pub(super) fn keep(&self, mut fault: Option<SpinError>) {
        let mut state = self.state.lock();
        if state.fault.is_none() {
            state.fault = fault.take();
        }
        self.any.store(state.fault.is_some(), Ordering::Relaxed); // written under the lock
        drop(state);
        drop(fault); // not under the lock: the error in it is the program's
    }

    /// Takes the fault that ends the current spin, if a callback failed on another thread.
    #[inline]
    pub(crate) fn take(&self) -> Option<SpinError> {
        // Relaxed: see `any`.
        if self.any.load(Ordering::Relaxed) { self.take_one() } else { None }
    }

    #[cold]
    fn take_one(&self) -> Option<SpinError> {
        let mut state = self.state.lock();
        self.any.store(false, Ordering::Relaxed); // written under the lock
        state.fault.take()
    }
}

// Not inlined, so that nested calls need less of the stack.

#[cold]
#[inline(never)]
pub(super) fn failed(
    faults: &Faults,
    task: &TaskBase,
    error: Box<dyn Error + Send + Sync>,
) -> Result<bool, Box<SpinError>> {
    let fault = SpinError::Failed { entity: task.describe(), error: CallbackError::new(error) };
    if faults.state.lock().on_error == FaultPolicy::Stop {
        return Err(Box::new(fault));
    }
    // A callback may fail because its context was shut down meanwhile: that is an orderly end.
    let has_ended = task.has_ended();
    // The error's text and its `Drop` are code of the program, as the callback is.
    match catch_unwind(AssertUnwindSafe(move || says::in_one_line(&fault))) {
        Ok(text) if has_ended => {
            report(Level::Info, &task.describe(), &format!("{text} (its context was shut down meanwhile)"));
            Ok(true)
        }
        Ok(text) => {
            report(Level::Error, &task.describe(), &text);
            Ok(true)
        }
        Err(panic) => panicked(faults, task, panic),
    }
}

#[cold]
#[inline(never)]
pub(super) fn panicked(
    faults: &Faults,
    task: &TaskBase,
    panic: Box<dyn Any + Send>,
) -> Result<bool, Box<SpinError>> {
    let message = panic_message(&*panic);
    dispose_of(panic);
    let fault = SpinError::Panicked { entity: task.describe(), message };
    let on_panic = faults.state.lock().on_panic;
    match on_panic {
        FaultPolicy::Stop => Err(Box::new(fault)),
        FaultPolicy::Report => {
            report(Level::Error, &task.describe(), &fault);
            Ok(true)
        }
    }
}

/// Reports a fault of a callback, listener or other code of an entity, which `entity` describes.
#[cold]
pub(crate) fn report(level: Level, entity: &str, fault: &dyn fmt::Display) {
    // Every entity's description ends with its node.
    let node = entity.rsplit_once(" of node ").map_or("", |(_, node)| node);
    log_line!(level; About { node, subject: entity }, "{fault}");
}
