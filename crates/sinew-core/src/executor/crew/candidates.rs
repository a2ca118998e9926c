//! The ready tasks, for a program that chooses which of them to run.

use super::scheduler::{Locked, RunBy, RunningTask, Scheduler};
use super::worker::Worker;
use crate::executor::error::SpinError;
use crate::executor::queue::ready_queue::MemberId;
use crate::executor::task::Task;
use crate::sys::clock::Stamp;
use std::cmp::Reverse;
use std::mem;
use std::sync::Weak;

/// A task in the queue.
pub(crate) struct Candidate {
    /// Its place in the order: priority, then age.
    key: (Reverse<i32>, Stamp),
    id: MemberId,
    /// Weak, so that an entity that is dropped while it is on the list is dropped in full.
    pub(crate) entity: Weak<Task>,
}

impl<'a> Worker<'a> {
    /// Waits until a task is ready, and lists the ready tasks; none if the executor was poked, or the
    /// deadline (of the machine's steady clock) has passed.
    pub(crate) fn wait(
        &mut self,
        deadline: Option<i64>,
        found: &mut Vec<Candidate>,
    ) -> Result<(), SpinError> {
        while let Some(state) = self.until_ready(deadline)? {
            let ready = state.queue.ready();
            found.extend(ready.map(|(key, id, member)| {
                let entity = member.task.entity.clone();
                Candidate { key, id, entity }
            }));
            drop(state);
            found.sort_unstable_by_key(|candidate| candidate.key);
            // A task that is being removed also returns `false`, and leaves the queue soon.
            found.retain(|candidate| {
                candidate.entity.upgrade().is_some_and(|entity| entity.work.clear_ready())
            });
            if !found.is_empty() {
                break;
            }
        }
        Ok(())
    }

    /// Waits until a task is ready. Returns `false` if the executor was poked, or the deadline has
    /// passed.
    pub(crate) fn wait_for_work(&mut self, deadline: Option<i64>) -> Result<bool, SpinError> {
        self.until_ready(deadline).map(|ready| ready.is_some())
    }

    /// Waits until a task is ready, and returns the state that says so; `None` if the executor was
    /// poked, or the deadline has passed.
    fn until_ready(&mut self, deadline: Option<i64>) -> Result<Option<Locked<'a>>, SpinError> {
        let scheduler = self.scheduler;
        scheduler.remote_events.listen();
        let mut state = scheduler.lock();
        loop {
            if state.spins.are_over() {
                state.spins.take_stop();
                drop(state);
                return Err(scheduler.faults.take().unwrap_or(SpinError::Stopped));
            }
            if mem::take(&mut state.spins.poked) {
                return Ok(None);
            }
            state.fire_by_clock();
            // While a thread from outside runs a callback in place of this one, there is nothing
            // for this one to run.
            if !state.queue.groups().is_empty() && !state.workers.are_full() {
                return Ok(Some(state));
            }
            let slept;
            (state, slept) = self.rest(state, deadline);
            if slept.is_none() {
                return Ok(None);
            }
        }
    }
}

impl Candidate {
    /// Hands out what was ready, if it still is.
    pub(crate) fn take(&self, scheduler: &Scheduler) -> Option<RunningTask> {
        let mut work = None;
        let mut state = scheduler.lock();
        if !state.spins.ended && !state.workers.are_full() {
            state.pop_this(self.id, RunBy::Worker(0), &mut work);
        }
        work
    }
}
