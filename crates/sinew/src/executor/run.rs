//! Running callbacks on a thread, and what becomes of those that fail.

use super::current::CallbackScope;
use super::prefetch::{self, Noting, Part};
use super::scheduler::{Blocking, Next, RunningTask, Scheduler, Task, TaskOutcome, Worker};
use super::spinning::Spinning;
use super::{Executor, FaultPolicy, SpinError};
use crate::sys::clock::Time;
use crate::sys::logging::{About, Level, tell};
use crate::sys::sync::Arc;
use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// One thread's part in a spin, from beginning to end.
pub(super) struct Spin<'a> {
    pub(super) executor: &'a Executor,
    pub(super) worker: u32,
    /// Callbacks to run at most.
    pub(super) most: u64,
    /// When to stop even if there is more to do.
    pub(super) end: Option<Time>,
    pub(super) _spinning: Spinning,
    pub(super) _noting: Option<Noting>,
}

impl Spin<'_> {
    /// Runs callbacks as long as `patience` and the other limits say; returns how many.
    pub(super) fn run(&self, patience: Blocking) -> Result<u64, SpinError> {
        let mut worker = Worker::new(self.worker);
        let mut ran = 0;
        let mut hand = self.in_hand();
        loop {
            match self.executor.scheduler.next(&mut hand.work, patience, &mut worker) {
                Next::Run => {
                    ran += u64::from(self.execute(&mut hand)?);
                    if ran >= self.most || self.end.is_some_and(|end| Time::steady() >= end) {
                        break;
                    }
                }
                Next::Poked => {}
                Next::Idle | Next::Stopped => break,
            }
        }
        // Something may have gone wrong elsewhere: on another thread, or in a server that a callback here called.
        self.executor.scheduler.fault().map_or(Ok(ran), Err)
    }

    /// Runs callbacks until somebody pokes; false if the executor was stopped. `worker`: this thread, the same one for all calls
    /// of a spin: to make its waits precise takes three system calls.
    pub(super) fn run_until_poked(&self, worker: &mut Worker) -> Result<bool, SpinError> {
        let mut hand = self.in_hand();
        loop {
            match self.executor.scheduler.next(&mut hand.work, Blocking::Forever, worker) {
                Next::Run => drop(self.execute(&mut hand)?),
                Next::Poked => return Ok(true),
                Next::Idle => return Ok(false),
                Next::Stopped => return self.executor.scheduler.fault().map_or(Ok(false), Err),
            }
        }
    }

    /// Runs one callback. If that is to end the spin, no thread begins another one from then on, of the same group least of
    /// all: its token isn't free yet.
    fn execute(&self, hand: &mut InHand<'_>) -> Result<bool, SpinError> {
        hand.execute().map_err(|fault| {
            if self.executor.threads() > 1 {
                self.executor.scheduler.dismiss((self.worker != 0).then(|| (*fault).clone()));
            }
            *fault
        })
    }

    fn in_hand(&self) -> InHand<'_> {
        InHand { scheduler: &self.executor.scheduler, work: None }
    }
}

impl Drop for Spin<'_> {
    fn drop(&mut self) {
        if self.worker == 0 {
            self.executor.scheduler.end_spin();
        } else {
            self.executor.scheduler.drop_out(self.worker);
        }
    }
}

/// Of an entity so many bytes are fetched at most; what is behind them the callback has captured.
const ENTITY: usize = 256;

/// Notes that this thread runs the entity.
#[inline]
fn note(entity: &Arc<dyn Task>) {
    let parts = || {
        let mut parts = entity.rest();
        let value: Arc<dyn Send + Sync> = entity.clone();
        parts.push(Part::Value(Arc::downgrade(&value), size_of_val(&**entity).min(ENTITY)));
        parts
    };
    prefetch::note(Arc::as_ptr(entity).addr(), entity.place(), parts);
}

/// What this thread runs. It goes back however the spin ends, also if a logger panics over the report of a panic.
pub(super) struct InHand<'a> {
    pub(super) scheduler: &'a Scheduler,
    pub(super) work: Option<RunningTask>,
}

impl InHand<'_> {
    /// Runs one callback; false if there was nothing left to call it for.
    #[inline]
    pub(super) fn execute(&mut self) -> Result<bool, Box<SpinError>> {
        let Some(work) = &mut self.work else { return Ok(false) };
        let _running = CallbackScope::enter(work.serial, work.group);
        let RunningTask { entity, token, .. } = work;
        note(entity);
        match catch_unwind(AssertUnwindSafe(|| entity.run(token))) {
            Ok(TaskOutcome { result, next, called }) => {
                work.next = self.scheduler.next_of(&work.entity, next);
                match result {
                    Ok(()) => Ok(called),
                    Err(message) => failed(self.scheduler, work, message),
                }
            }
            Err(panic) => panicked(self.scheduler, work, panic),
        }
    }
}

// Out of the way, so that calls inside calls need less of the stack.

#[cold]
#[inline(never)]
fn failed(scheduler: &Scheduler, work: &RunningTask, message: String) -> Result<bool, Box<SpinError>> {
    let (_, on_error) = scheduler.reactions();
    let fault = SpinError::Failed { entity: work.entity.describe(), message };
    on_error.handle(&work.entity.describe(), fault).map(|()| true).map_err(Box::new)
}

#[cold]
#[inline(never)]
fn panicked(
    scheduler: &Scheduler,
    work: &mut RunningTask,
    panic: Box<dyn Any + Send>,
) -> Result<bool, Box<SpinError>> {
    work.next = work.entity.pending();
    let message = panic_message(&*panic);
    dispose_of(panic);
    let (on_panic, _) = scheduler.reactions();
    let fault = SpinError::Panicked { entity: work.entity.describe(), message };
    on_panic.handle(&work.entity.describe(), fault).map(|()| true).map_err(Box::new)
}

impl Drop for InHand<'_> {
    fn drop(&mut self) {
        if self.work.is_some() {
            self.scheduler.finish(&mut self.work);
        }
    }
}

impl FaultPolicy {
    #[cold]
    fn handle(self, entity: &str, error: SpinError) -> Result<(), SpinError> {
        match self {
            FaultPolicy::Stop => Err(error),
            FaultPolicy::Report => {
                report(entity, &error);
                Ok(())
            }
        }
    }
}

/// Tells the program's maker of a fault in the callback, listener or the like of an entity, as it is described.
#[cold]
pub(crate) fn report(entity: &str, fault: &dyn fmt::Display) {
    // Every entity's description ends with its node.
    let node = entity.rsplit_once(" of node ").map_or("", |(_, node)| node);
    tell!(Level::Error; About { node, subject: entity }, "{fault}");
}

/// Drops a panic's payload, whose `Drop` may panic in turn: one report is enough.
pub(crate) fn dispose_of(panic: Box<dyn Any + Send>) {
    let mut payload = panic;
    for _ in 0..8 {
        match catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            Ok(()) => return,
            Err(another) => payload = another,
        }
    }
    std::mem::forget(payload); // it would go on for ever
}

pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "not a text".to_owned())
}
