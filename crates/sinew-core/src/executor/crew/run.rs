//! Running callbacks on a thread.

use super::control::Place;
use super::current::{self, CallbackScope};
use super::faults::{failed, panicked};
use super::header::TaskHeader;
use super::lane::{Advance, InLane, SHUT};
use super::scheduler::{RunBy, RunningTask, Scheduler};
use super::spinning::Spinning;
use super::worker::{self, Blocking, Next, Worker};
use crate::executor::error::SpinError;
use crate::executor::prefetch::{self, Noting, Part};
use crate::executor::task::{Task, TaskOutcome};
use crate::sys::clock::{Clock, Stamp, Time};
use crate::sys::sync::{Arc, no_lock_is_held};
use sinew_shm::transport::Worker as WorkerRecord;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// One thread's part in a spin, from beginning to end.
pub(crate) struct Spin<'a> {
    pub(crate) scheduler: &'a Arc<Scheduler>,
    pub(crate) worker: u32,
    /// Maximum number of callbacks to run.
    pub(crate) most: u64,
    /// The time at which to stop even if there is more to do.
    pub(crate) end: Option<Time>,
    _place: Place<'a>,
    _spinning: Spinning,
    _noting: Option<Noting>,
}

/// How a thread ended that ran callbacks until the executor is poked.
#[derive(Clone, Copy)]
pub(crate) enum Poked {
    Yes,
    /// The spin's time is up.
    Late,
    Stopped,
}

impl<'a> Spin<'a> {
    /// Begins a spin. `sleeps`: it lasts for more than one callback, so that notes of the memory to
    /// fetch on waking are worth their cost.
    pub(crate) fn begin(place: Place<'a>, sleeps: bool) -> Self {
        let (scheduler, worker) = (place.scheduler(), place.worker());
        Self {
            scheduler,
            worker,
            most: u64::MAX,
            end: None,
            _place: place,
            _spinning: Spinning::enter(scheduler, worker),
            _noting: sleeps.then(|| Noting::begin(code)),
        }
    }

    /// Runs the callbacks that are ready now. Returns their number.
    pub(crate) fn run_ready(&self) -> Result<u64, SpinError> {
        let Some(now) = self.scheduler.read_clock(Clock::stamp) else { return Ok(0) };
        self.run(Blocking::Until(now))
    }

    /// Runs callbacks up to `patience` and the other limits. Returns their number.
    pub(crate) fn run(&self, patience: Blocking) -> Result<u64, SpinError> {
        let mut worker = Worker::new(self.scheduler, self.worker);
        let mut ran = 0;
        // If it runs only tasks that were ready before, or one callback, nothing passes the queue.
        let is_limited = self.most != u64::MAX || matches!(patience, Blocking::Until(_));
        let _lane = (!is_limited).then(|| OpenLane::begin(self.scheduler, self.worker));
        let mut hand = self.in_hand();
        loop {
            match worker.next(&mut hand.work, patience) {
                Next::Run => {
                    ran += u64::from(self.execute(&mut hand)?);
                    if ran >= self.most || self.is_over() {
                        break;
                    }
                }
                Next::Lane => {
                    ran += self.run_lane(&mut worker)?;
                    if self.is_over() {
                        break;
                    }
                }
                Next::Poked => {}
                Next::Idle | Next::Stopped => break,
            }
        }
        // Something may have gone wrong elsewhere: on another thread, or in a server that a
        // callback here called.
        self.scheduler.faults.take().map_or(Ok(ran), Err)
    }

    /// Runs callbacks until the executor is poked, or its time is up. `worker` is this thread, the
    /// same one for all calls of a spin, because making its waits precise takes three system calls.
    pub(crate) fn run_until_poked(&self, worker: &mut Worker<'_>) -> Result<Poked, SpinError> {
        let patience = self.end.map_or(Blocking::Forever, |end| Blocking::Deadline(end.nanoseconds()));
        let _lane = OpenLane::begin(self.scheduler, self.worker);
        let mut hand = self.in_hand();
        loop {
            match worker.next(&mut hand.work, patience) {
                Next::Run => drop(self.execute(&mut hand)?),
                Next::Lane => drop(self.run_lane(worker)?),
                Next::Poked => return Ok(Poked::Yes),
                Next::Idle if self.end.is_some() => return Ok(Poked::Late),
                Next::Idle => return Ok(Poked::Stopped),
                Next::Stopped => return self.scheduler.faults.take().map_or(Ok(Poked::Stopped), Err),
            }
            if self.is_over() {
                return Ok(Poked::Late);
            }
        }
    }

    /// Runs one callback. If its fault ends the spin, no thread begins another callback after it;
    /// in particular none of the same group, as its token isn't free yet.
    fn execute(&self, hand: &mut InHand<'_>) -> Result<bool, SpinError> {
        hand.execute().map_err(|fault| self.fails(*fault))
    }

    /// Ends the spin on all threads, because of a callback's fault.
    #[cold]
    fn fails(&self, fault: SpinError) -> SpinError {
        if self.scheduler.threads() > 1 {
            self.scheduler.dismiss((self.worker != 0).then(|| fault.clone()));
        }
        fault
    }

    /// Whether its time is up.
    #[inline]
    fn is_over(&self) -> bool {
        self.end.is_some_and(|end| Time::steady() >= end)
    }

    /// Runs the worker's task of the lane, and the next ones that may run past the queue. Returns
    /// the number of callbacks that ran.
    #[inline(never)]
    fn run_lane(&self, worker: &mut Worker<'_>) -> Result<u64, SpinError> {
        let scheduler = self.scheduler;
        let records = worker.records.take();
        let record = records.as_ref().and_then(|records| records.get(worker.index as usize));
        let task = worker.task.take();
        let mut running = RunningInLane { scheduler, record, task, left: None, measured: None };
        let mut ran = 0;
        while running.task.is_some() {
            ran += u64::from(running.execute().map_err(|fault| self.fails(*fault))?);
            if self.is_over() {
                break;
            }
            running.advance();
        }
        Ok(ran)
    }

    fn in_hand(&self) -> InHand<'_> {
        InHand { scheduler: self.scheduler, work: None }
    }
}

/// The code that every callback goes through.
fn code(name: &mut dyn FnMut(usize, usize)) {
    worker::code(name);
    name(Spin::run_lane as *const () as usize, 38);
}

/// Notes that this thread runs the task; `find` returns its header.
#[inline]
fn note(task: &Task, find: impl Fn() -> Option<Arc<TaskHeader>>) {
    let parts = || {
        let mut parts = task.base.hot().clone();
        parts.extend(find().map(|header| Part::value(&header, 1)));
        parts
    };
    prefetch::note(std::ptr::from_ref(task).addr(), &task.note, parts);
}

/// The task that this thread runs. It is put back however the spin ends, also if a logger panics
/// over the report of a panic.
pub(crate) struct InHand<'a> {
    pub(crate) scheduler: &'a Scheduler,
    pub(crate) work: Option<RunningTask>,
}

impl Scheduler {
    /// Puts back the last task, when the thread runs no more.
    #[inline(never)]
    pub(crate) fn finish(&self, work: &mut Option<RunningTask>) {
        let ended = RunningTask::end(work);
        let was_caller =
            work.as_ref().is_some_and(|work| matches!(work.run_by, RunBy::Caller | RunBy::Nested));
        let mut state = self.lock();
        let gone = state.put_back(work, ended);
        if state.leaving > 0 {
            self.finished.notify_all();
        }
        // A caller that runs no more leaves the rest to others.
        let calls = was_caller && state.call_for_ready();
        drop(state);
        if calls {
            self.signal();
        }
        drop(gone);
    }

    /// Opens the lane for the calling thread, which spins, or closes it.
    pub(crate) fn open_lane(&self, worker: u32, is_open: bool) {
        let mut state = self.lock();
        if is_open {
            state.open_lanes += 1;
            return;
        }
        state.open_lanes -= 1;
        self.lane.set_gate(SHUT); // as it stays, if no other worker has it open
        state.take_in(&mut self.lane.lock());
        state.end_lane(worker);
    }
}

/// While it lives, tasks that callbacks on this thread make ready may run past the queue.
struct OpenLane<'a> {
    scheduler: &'a Scheduler,
    worker: u32,
    outer: u64,
}

impl<'a> OpenLane<'a> {
    fn begin(scheduler: &'a Scheduler, worker: u32) -> Self {
        scheduler.open_lane(worker, true);
        Self { scheduler, worker, outer: current::enter_lane(scheduler.id) }
    }
}

impl Drop for OpenLane<'_> {
    fn drop(&mut self) {
        current::enter_lane(self.outer);
        self.scheduler.open_lane(self.worker, false);
    }
}

/// A task of the lane that this thread runs. It is finished however its callback ends.
struct RunningInLane<'a> {
    scheduler: &'a Scheduler,
    record: Option<&'a WorkerRecord>,
    task: Option<InLane>,
    /// The stamp of the work that is left.
    left: Option<Stamp>,
    /// The time at which it began, and the number of runs that it stands for, if it is measured.
    measured: Option<(i64, u8)>,
}

impl RunningInLane<'_> {
    /// Runs the callback. Returns `false` if there was nothing left to call it for.
    #[inline]
    fn execute(&mut self) -> Result<bool, Box<SpinError>> {
        let Some(lane) = &self.task else { return Ok(false) };
        let scheduler = self.scheduler;
        let task = lane.task();
        let entity = lane.entity();
        let since = match task.sampling.measures_next() {
            Some(weight) => {
                let now = Time::steady().nanoseconds();
                self.measured = Some((now, weight));
                now
            }
            None => lane.key.time,
        };
        if let Some(record) = self.record {
            record.begin(task.callback, since);
        }
        if scheduler.threads() > 1 {
            current::begin_with_tail(task.expected.tail());
        }
        let _running = CallbackScope::enter(task.member.serial, task.group);
        note(entity, || scheduler.find(task.member));
        let records = self.measured.is_some() && prefetch::is_beyond_notes();
        let _recording = if records { task.working_set.record() } else { None };
        no_lock_is_held();
        match catch_unwind(AssertUnwindSafe(|| entity.work.run(&mut lane.token()))) {
            Ok(TaskOutcome { result, next, called }) => {
                self.left = next;
                if !called {
                    self.measured = None; // that says nothing of its callback
                }
                match result {
                    Ok(()) => Ok(called),
                    Err(error) => failed(&scheduler.faults, &entity.base, error),
                }
            }
            Err(panic) => {
                self.left = entity.work.pending();
                panicked(&scheduler.faults, &entity.base, panic)
            }
        }
    }

    /// Goes on with the next task, if it may run past the queue.
    #[inline]
    fn advance(&mut self) {
        if self.left.is_some() || self.measured.is_some() {
            return self.finish();
        }
        let Some(ran) = self.task.take() else { return };
        match self.scheduler.advance(ran) {
            Advance::Next(task) => self.task = Some(task),
            Advance::Ask => {}
            Advance::Unfinished(task) => {
                self.task = Some(task);
                self.finish();
            }
        }
    }

    /// Ends the run of a task that needs more than `Scheduler::advance`.
    #[inline]
    fn finish(&mut self) {
        if let Some(task) = self.task.take() {
            self.scheduler.finish_in_lane(&task, self.left.take(), self.measured.take());
        }
    }
}

impl Drop for RunningInLane<'_> {
    #[inline]
    fn drop(&mut self) {
        self.finish();
    }
}

impl InHand<'_> {
    /// Runs one callback. Returns `false` if there was nothing left to call it for.
    #[inline]
    pub(crate) fn execute(&mut self) -> Result<bool, Box<SpinError>> {
        let Some(work) = &mut self.work else { return Ok(false) };
        // The time of a callback inside another one says nothing about that one.
        let is_timed = self.scheduler.threads() > 1 && matches!(work.run_by, RunBy::Worker(_));
        if is_timed {
            current::begin_with_tail(work.times.tail.expected());
        }
        let _running = CallbackScope::enter(work.serial(), work.group());
        let RunningTask { entity, token, turn, .. } = work;
        note(entity, || self.scheduler.find(turn.id));
        no_lock_is_held();
        let ran = catch_unwind(AssertUnwindSafe(|| entity.work.run(token)));
        if is_timed {
            work.published = current::published();
        }
        match ran {
            Ok(TaskOutcome { result, next, called }) => {
                work.next = next;
                if !called {
                    work.measured = None; // that says nothing of its callback
                }
                match result {
                    Ok(()) => Ok(called),
                    Err(error) => failed(&self.scheduler.faults, &work.entity.base, error),
                }
            }
            Err(panic) => {
                work.next = work.entity.work.pending();
                panicked(&self.scheduler.faults, &work.entity.base, panic)
            }
        }
    }
}

impl Drop for InHand<'_> {
    fn drop(&mut self) {
        if self.work.is_some() {
            self.scheduler.finish(&mut self.work);
        }
    }
}
