//! The groups and tasks of an executor: adding and removing them, and their timers.

use super::current;
use super::header::TaskHeader;
use super::scheduler::{Locked, Scheduler, TaskRef, ToSignal, index};
use super::state::{Member, SchedulerState};
use crate::executor::histogram::RunTimes;
use crate::executor::queue::ready_queue::MemberId;
use crate::executor::task::Task;
use crate::sys::clock::{Clock, ClockKind, Wake};
use crate::sys::sync::{Arc, Ordering};
use sinew_shm::transport::{PackedCallback, Participant, Worker as WorkerRecord};
use std::mem;

impl Scheduler {
    /// Sets the clocks that all groups here follow. Returns `false` if the groups follow other
    /// clocks that don't agree with these.
    pub(crate) fn accept_clock(self: &Arc<Self>, clock: &Clock) -> bool {
        let mut state = self.lock();
        match &state.clock {
            Some(ours) => ours.goes_with(clock),
            None => {
                state.clock = Some(clock.clone());
                state.queue.is_virtual = clock.is_virtual();
                drop(state);
                if let Some(source) = clock.virtual_clock() {
                    let this: Arc<dyn Wake> = self.clone();
                    source.watch(Arc::downgrade(&this));
                }
                true
            }
        }
    }

    /// Returns the number of groups.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn slots(&self) -> usize {
        self.lock().queue.groups().count()
    }

    /// Closes the executor: it accepts no more groups.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
    }

    /// Lets the threads show tools the callbacks of this participant that they run. Returns `false`
    /// if they do so for another one, or there is no room.
    pub(crate) fn keep_records_of(&self, participant: &Arc<Participant>) -> bool {
        let is_recorded = |state: &SchedulerState| {
            state.worker_records.first().map(|record| Arc::ptr_eq(record.participant(), participant))
        };
        let gone = {
            let mut state = self.lock();
            let has_left = |record: &WorkerRecord| record.participant().check().is_err();
            if state.worker_records.first().is_some_and(has_left) {
                mem::take(&mut state.worker_records) // that context is gone: this one is the first now
            } else if let Some(is_recorded) = is_recorded(&state) {
                return is_recorded;
            } else {
                Arc::default()
            }
        };
        drop(gone); // outside the lock: it may hold the last reference to that participant
        // One for each worker. Made without the lock: another thread may have been faster.
        let threads = 0..index(self.threads());
        let made: Result<Arc<[_]>, _> =
            threads.map(|worker| WorkerRecord::new(participant, self.id, worker)).collect();
        let Ok(mut made) = made else { return false };
        let mut state = self.lock();
        if state.worker_records.is_empty() {
            std::mem::swap(&mut state.worker_records, &mut made);
        }
        let is_recorded = is_recorded(&state);
        drop(state);
        drop(made);
        is_recorded == Some(true)
    }

    /// Returns the task of a member that still exists.
    #[cold]
    pub(super) fn find(&self, id: MemberId) -> Option<Arc<TaskHeader>> {
        let mut state = self.lock();
        state.queue.get_mut(id).map(|member| member.task.clone())
    }

    /// Returns the virtual time of the next due timer.
    pub(crate) fn next_due(&self) -> Option<i64> {
        let state = self.lock();
        let clock = state.clock.as_ref()?;
        let moving = ClockKind::ALL.into_iter().filter(|kind| clock.moves_with_steady(*kind));
        moving.filter_map(|kind| state.queue.timers().due(kind)).min()
    }

    /// Returns the run times of callbacks.
    pub(crate) fn run_times(&self) -> Vec<RunTimes> {
        let measured: Vec<_> = {
            let state = self.lock();
            let ran = state.queue.iter().filter(|member| member.histogram.count() > 0);
            ran.filter_map(|member| Some((member.task.entity.upgrade()?, member.histogram.clone()))).collect()
        };
        let described = measured
            .into_iter()
            .map(|(entity, histogram)| RunTimes { entity: entity.base.describe(), histogram });
        described.collect()
    }

    /// Reads the clock of the groups, if there are any.
    pub(crate) fn read_clock<R>(&self, read: impl FnOnce(&Clock) -> R) -> Option<R> {
        self.lock().clock.as_ref().map(read)
    }
}

impl Locked<'_> {
    /// Takes an entity out of the queue and the lane. Returns it, to be dropped once no lock is
    /// held.
    fn take_member(&mut self, id: MemberId) -> Option<Member> {
        let mut line = self.scheduler().lane.lock();
        if line.runs(id) {
            self.take_in(&mut line);
        }
        let gone = self.queue.leave(id)?;
        gone.task.is_gone.store(true, Ordering::Relaxed); // M1: read under the lane's lock
        line.remove(id); // M2
        if line.runs(id) {
            line.leave_behind(Box::new(gone)); // M3
            return None;
        }
        Some(gone)
    }
}

/// A group's place in an executor.
#[derive(Clone)]
pub(crate) struct GroupSlot {
    pub(crate) scheduler: Arc<Scheduler>,
    slot: u32,
}

impl GroupSlot {
    /// Adds a group; `group` is the number of its token. Returns `None` if the executor is gone.
    pub(crate) fn new(scheduler: &Arc<Scheduler>, group: u64, priority: i32) -> Option<Self> {
        let mut state = scheduler.lock();
        if state.closed {
            return None;
        }
        let slot = state.queue.add_group(group, priority, scheduler.threads());
        Some(Self { scheduler: scheduler.clone(), slot })
    }

    pub(crate) fn set_priority(&self, priority: i32) {
        self.scheduler.lock().queue.set_priority(self.slot, priority);
    }

    /// Adds a task; the caller then attaches it. `callback` is the record that tools see while it
    /// runs.
    pub(crate) fn enter(&self, (serial, callback): (u64, PackedCallback), entity: Arc<Task>) -> TaskRef {
        let mut state = self.scheduler.lock();
        let header = state.queue.enter(self.slot, serial, |id, group| {
            let header = Arc::new(TaskHeader::new(id, group, &entity, callback));
            (Member::new(header.clone(), entity), header)
        });
        TaskRef { scheduler: self.scheduler.clone(), header }
    }

    /// Removes a group that all members have left, after its last running callback.
    pub(crate) fn remove(&self) {
        self.scheduler.lock().queue.remove_group(self.slot);
    }

    /// Whether the group has left, and its last callback runs; `group` is the number of its token,
    /// since another group may have its place.
    pub(crate) fn still_runs(&self, group: u64) -> bool {
        self.scheduler.lock().queue.groups().still_runs(self.slot, group)
    }
}

impl TaskRef {
    /// Removes the task. When this returns, none of its callbacks starts. With `wait`, none runs
    /// either, except on this very thread.
    pub(crate) fn leave(&self, wait: bool) {
        let gone = self.scheduler.lock().take_member(self.header.member);
        if wait {
            self.await_callbacks();
        }
        drop(gone);
    }

    /// Waits until none of its callbacks runs, except on this very thread.
    pub(crate) fn await_callbacks(&self) {
        let serial = self.header.member.serial;
        if current::runs(serial) {
            return;
        }
        let mut state = self.scheduler.lock();
        state.leaving += 1;
        while state.queue.groups().runs(serial) {
            state.sleep(&self.scheduler.finished);
        }
        state.leaving -= 1;
    }

    /// Makes the task no longer ready, because it has no work. The caller holds the lock under
    /// which the task announces itself.
    pub(crate) fn clear_ready(&self) {
        let mut state = self.scheduler.lock();
        state.queue.unready(self.header.member);
        self.scheduler.lane.lock().remove(self.header.member);
    }

    /// Sets when a timer is due; before that nothing of it is ready any more.
    pub(crate) fn arm(&self, clock: ClockKind, due: Option<i64>) -> ToSignal {
        self.signals(self.set_timer(clock, due))
    }

    /// Implements [`arm`](Self::arm). True if the caller must signal.
    fn set_timer(&self, clock: ClockKind, due: Option<i64>) -> bool {
        let scheduler = &*self.scheduler;
        let mut state = scheduler.lock();
        // Only an earlier end of the sleep is worth a wake-up.
        if !state.queue.set_timer(self.header.member, clock, due) {
            return false;
        }
        if state.timers_have_thread {
            scheduler.bells.call_timers();
            return true;
        }
        let due = due.filter(|_| clock == ClockKind::Steady).unwrap_or(i64::MIN);
        if mem::take(&mut state.descriptor_waits) {
            // The thread that waits for the descriptor looks, and waits for the right time.
            scheduler.bells.call_descriptor();
            return true;
        }
        let called = state.workers.for_timer(due, current::worker_of(scheduler.id));
        called.inspect(|worker| scheduler.bells.call(*worker)).is_some()
    }
}
