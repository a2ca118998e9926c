//! The state of an executor: its queue, its workers, and the current spin. One lock guards all of
//! it.

use super::bells::Bells;
use super::header::TaskHeader;
use super::lane::{Line, SHUT};
use super::spins::Spins;
use super::wake_policy::{Times, Workers};
use crate::executor::dispatch_order::DispatchOrder;
use crate::executor::group_token::{GroupToken, REENTRANT};
use crate::executor::histogram::Histogram;
use crate::executor::queue::ready_queue::{MemberId, Queued, ReadyQueue, Turn};
use crate::executor::task::Task;
use crate::sys::clock::{self, Clock, ClockKind, Stamp, Time};
use crate::sys::parker::Parker;
use crate::sys::sync::Arc;
use sinew_shm::transport::Worker as WorkerRecord;
use std::time::Duration;

pub(crate) struct SchedulerState {
    pub(super) clock: Option<Clock>,
    pub(super) queue: ReadyQueue<Member>,
    pub(super) workers: Workers,
    /// Whether the executor is gone, and accepts no more groups.
    pub(super) closed: bool,
    pub(super) spins: Spins,
    pub(super) order: DispatchOrder,
    /// Whether a thread waits for the executor's descriptor, which isn't readable.
    pub(super) descriptor_waits: bool,
    /// Whether a separate thread watches the timers.
    pub(super) timers_have_thread: bool,
    /// Number of workers with an open lane: if there are any, the gate has to be set.
    pub(super) open_lanes: u32,
    /// The worker that runs tasks of its lane.
    lane_worker: Option<u32>,
    /// Number of threads that wait in `leave` for a callback to finish.
    pub(super) leaving: usize,
    /// Threads that wait for a server and would run it themselves.
    pub(super) waiting_callers: Vec<WaitingCaller>,
    /// The waiting callers to be rung.
    pub(super) rung: Vec<WaitingCaller>,
    /// The records in which tools see the workers' callbacks; none without shared memory.
    pub(super) worker_records: Arc<[WorkerRecord]>,
}

/// An entity on its way through its callback.
pub(crate) struct RunningTask {
    pub(crate) entity: Arc<Task>,
    /// The token of the entity's group, until the work is put back.
    pub(crate) token: GroupToken,
    /// The role of the thread that runs it.
    pub(crate) run_by: RunBy,
    pub(super) turn: Turn,
    /// After the run: the stamp of the next work, if there is any.
    pub(crate) next: Option<Stamp>,
    /// Its start, and the number of runs for which it stands, if it is measured.
    pub(super) measured: Option<(i64, u8)>,
    /// Time at which its callback last published a message for this executor; 0 for never, or if no
    /// worker of several ran it.
    pub(super) published: i64,
    pub(super) times: Times,
}

impl RunningTask {
    #[inline]
    pub(crate) fn serial(&self) -> u64 {
        self.turn.id.serial
    }

    /// Returns the number of its group; 0 if that is reentrant.
    #[inline]
    pub(crate) fn group(&self) -> u64 {
        self.turn.group
    }

    /// Returns the time at which its callback ended, if it is measured.
    #[inline]
    pub(super) fn end(this: &Option<Self>) -> i64 {
        if this.as_ref().is_some_and(|work| work.measured.is_some()) {
            Time::steady().nanoseconds()
        } else {
            0
        }
    }
}

/// A thread that waits until an entity has run, and would run it itself if it could.
pub(super) struct WaitingCaller {
    pub(super) entity: MemberId,
    /// Whether it is in a callback of this executor, as one of its workers or in place of one.
    pub(super) nested: bool,
    /// Maximum time that it waits.
    pub(super) within: i64,
    pub(super) parker: Arc<Parker>,
}

/// A task, in the queue.
pub(super) struct Member {
    pub(super) task: Arc<TaskHeader>,
    /// `None` while it runs in an exclusive group: the thread that runs it takes the reference, so
    /// none has to be counted.
    entity: Option<Arc<Task>>,
    times: Times,
    /// The run times of its callbacks.
    pub(super) histogram: Histogram,
}

impl Member {
    pub(super) fn new(task: Arc<TaskHeader>, entity: Arc<Task>) -> Self {
        Self { task, entity: Some(entity), times: Times::UNKNOWN, histogram: Histogram::default() }
    }

    /// Records a run that began at `since`, ended at `now` and stands for `weight` runs. It last
    /// published a message at `published`, if that is not before `since`.
    #[inline(never)]
    pub(super) fn learn(&mut self, (since, weight): (i64, u8), now: i64, published: i64) {
        self.times.run.learn(now - since);
        if published >= since {
            self.times.tail.learn(now - published);
        }
        self.histogram.record_nanoseconds(u64::try_from(now - since).unwrap_or(0), weight.into());
        self.task.sampling.set(self.times.run.is_surely_short());
        self.task.expected.set(&self.times);
    }
}

impl Queued for Member {
    #[inline]
    fn expected(&self) -> i64 {
        self.times.run.expected()
    }
}

/// The role of a thread that runs a callback.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunBy {
    Worker(u32),
    /// A worker of this executor, inside another callback.
    Nested,
    /// A thread from outside the executor.
    Caller,
}

/// The time to sleep.
pub(super) enum Sleep {
    /// The deadline has passed.
    Over,
    /// A timer is already due.
    Look,
    /// At most this time, or until another thread signals.
    AtMost(Option<Duration>),
}

impl SchedulerState {
    pub(super) fn new(threads: usize) -> Self {
        Self {
            clock: None,
            queue: ReadyQueue::new(threads > 1),
            workers: Workers::new(threads),
            closed: false,
            spins: Spins::default(),
            order: DispatchOrder::ByTime,
            descriptor_waits: false,
            timers_have_thread: false,
            open_lanes: 0,
            lane_worker: None,
            leaving: 0,
            waiting_callers: Vec::new(),
            rung: Vec::new(),
            worker_records: Arc::default(),
        }
    }

    /// Ends the spin: no thread spins any more.
    pub(super) fn leave_spin(&mut self) {
        self.spins.leave();
        self.retire(0);
    }

    /// Removes a worker from the executor for good.
    pub(super) fn retire(&mut self, worker: u32) {
        self.workers.retire(worker);
        self.record_rest(worker);
    }

    /// Shows tools that a worker runs no callback.
    pub(super) fn record_rest(&self, worker: u32) {
        if let Some(record) = self.worker_records.get(worker as usize) {
            record.rest();
        }
    }

    /// Makes the timers ready that are due before the first ready task of the queue or the lane,
    /// or, without one, now.
    #[inline]
    pub(super) fn fire_timers(&mut self, lane: Option<Stamp>) {
        let queue = &mut self.queue;
        let first = match (queue.groups().first_key(), lane) {
            (Some(first), Some(lane)) => Some(first.min(lane).time),
            (first, lane) => first.or(lane).map(|key| key.time),
        };
        let (reads_clock, first_due) = (queue.reads_clock(), queue.timers().first_due());
        if let Some(first) = first.filter(|_| !reads_clock) {
            // The task's message was published in the past, so a timer with an earlier due time is
            // due.
            if first_due <= first {
                queue.fire(ClockKind::Steady, first, 0);
            }
        } else if first_due != i64::MAX || reads_clock {
            self.fire_by_clock();
        }
    }

    /// Makes all timers ready that are due now.
    #[inline(never)]
    pub(super) fn fire_by_clock(&mut self) {
        let Some(clock) = self.clock.clone() else { return };
        let steady = clock.steady();
        for kind in ClockKind::ALL {
            if self.queue.timers().due(kind).is_some() {
                let now = if kind == ClockKind::Steady { steady } else { clock.now(kind) };
                self.queue.fire(kind, now, steady.saturating_sub(now));
            }
        }
    }

    /// Whether the next task's message was published before `polled`, in any process, so that it
    /// runs before all messages published since. `work` is about to be put back.
    #[inline]
    pub(super) fn goes_on_before(&self, polled: i64, work: &Option<RunningTask>) -> bool {
        let is_older = |key: Stamp| key.time <= polled;
        let is_first = self.queue.groups().first_key().is_some_and(is_older);
        let is_next = work.as_ref().and_then(|work| work.next).is_some_and(is_older);
        (is_first || is_next) && !self.queue.groups().have_priorities() && !self.queue.is_virtual
    }

    /// Takes the [next](ReadyQueue::pop) task to run, unless threads from outside run callbacks in
    /// place of this one.
    #[inline]
    pub(super) fn pop(
        &mut self,
        limit: Option<Stamp>,
        run_by: RunBy,
        now: i64,
        work: &mut Option<RunningTask>,
    ) -> bool {
        if self.workers.are_full() {
            return false;
        }
        let Some((key, id)) = self.queue.pop(limit) else { return false };
        self.hand_out(id, run_by, (now, key.time), work)
    }

    /// Takes a certain task, if it exists and is ready, and its group is free.
    pub(super) fn pop_this(&mut self, id: MemberId, run_by: RunBy, work: &mut Option<RunningTask>) {
        if self.queue.pop_this(id) {
            self.hand_out(id.index, run_by, (0, 0), work);
        }
    }

    /// Hands out a task that was taken out of its group's queue, into `work`. `now` is 0 if no
    /// clock was read; it was ready since `key`, or 0. Returns `false` if its entity is with
    /// another thread.
    #[inline(never)]
    pub(super) fn hand_out(
        &mut self,
        id: u32,
        run_by: RunBy,
        (mut now, key): (i64, i64),
        work: &mut Option<RunningTask>,
    ) -> bool {
        let (turn, member) = self.queue.begin(id);
        let weight = member.task.sampling.measures_next();
        if weight.is_some() && now == 0 {
            now = clock::Time::steady().nanoseconds();
        }
        let (entity, token) = match turn.group {
            REENTRANT => {
                let Some(entity) = member.entity.clone() else { return false };
                (entity, GroupToken::reentrant())
            }
            number => {
                let Some(entity) = member.entity.take() else { return false };
                // SAFETY: a group is in one scheduler at a time (`GroupCore::add_to`; it leaves
                // when the executor is dropped, which can't be while a spin borrows it, and a
                // thread that runs a callback of it for a caller keeps the token until `put_back`),
                // and here it runs one member at a time: none ran, or the queue would not have
                // handed this one out, and none does until `put_back` takes the token back and ends
                // the turn.
                (entity, unsafe { GroupToken::of(number) })
            }
        };
        let (callback, times) = (member.task.callback, member.times);
        let record = match run_by {
            RunBy::Worker(worker) => {
                self.workers.begin(worker, times, now);
                self.worker_records.get(worker as usize)
            }
            RunBy::Caller => {
                self.workers.begin_caller();
                None
            }
            RunBy::Nested => None,
        };
        if let Some(record) = record {
            record.begin(callback, if now == 0 { key } else { now });
        }
        let measured = weight.map(|weight| (now, weight));
        *work = Some(RunningTask { entity, token, run_by, turn, next: None, measured, published: 0, times });
        true
    }

    /// Puts a task back; returns it if it left while it ran. `now` is the time at which its
    /// callback ended, if it is measured.
    #[inline(never)]
    pub(crate) fn put_back(&mut self, work: &mut Option<RunningTask>, now: i64) -> Option<Arc<Task>> {
        // This drops the token, before any thread can get the next one.
        let RunningTask { entity, run_by, turn, next, measured, published, .. } = work.take()?;
        match run_by {
            RunBy::Worker(worker) => self.workers.end(worker),
            RunBy::Caller => self.workers.end_caller(),
            RunBy::Nested => {}
        }
        if let Some(measured) = measured
            && let Some(member) = self.queue.get_mut(turn.id)
        {
            member.learn(measured, now, published); // first: the queue uses the expected time
        }
        match self.queue.end(&turn, next) {
            Some(_) if turn.group == REENTRANT => Some(entity), // a clone, which is not the last
            Some(member) => member.entity.replace(entity),
            None => Some(entity), // the last member of a group that leaves
        }
    }

    // ---- the lane ----

    /// Returns the gate: tasks that run past the queue must be older than its first task and than
    /// the next due timer, unless they run next anyway.
    #[inline]
    pub(super) fn gate(&self) -> i64 {
        let Spins { stopped, ended, dismissed, poked, .. } = self.spins;
        let is_shut = stopped
            | ended
            | dismissed
            | poked
            | self.closed
            | self.queue.reads_clock()
            | self.timers_have_thread
            | self.queue.is_virtual
            | self.queue.groups().have_priorities()
            | !self.workers.leave_one_awake(self.spins.present);
        if is_shut {
            return SHUT;
        }
        if self.order == DispatchOrder::RunNext {
            return i64::MAX;
        }
        let first_due = self.queue.timers().first_due();
        self.queue.groups().first_key().map_or(first_due, |key| key.time.min(first_due))
    }

    /// Whether nothing in the queue has been ready as long as a task with this key.
    #[inline]
    pub(super) fn is_oldest(&self, key: Stamp) -> bool {
        self.queue.groups().first_key().is_none_or(|first| first > key)
    }

    /// Moves the lane's waiting tasks into the queue, and marks the group of the running one as
    /// running.
    #[inline(never)]
    pub(super) fn take_in(&mut self, line: &mut Line) {
        for (id, key) in line.drain() {
            self.queue.make_ready(id, key);
        }
        if let Some(id) = line.unsettled()
            && let Some(slot) = self.queue.mark_running(id)
        {
            line.settled(slot);
        }
    }

    /// Records that a worker runs tasks of its lane, and keeps its place meanwhile.
    #[inline]
    pub(super) fn begin_lane(&mut self, worker: u32) {
        self.lane_worker = Some(worker);
        self.workers.begin(worker, Times::SHORT, 0);
    }

    /// Records that the worker of the lane asks for more work.
    #[inline]
    pub(super) fn end_lane(&mut self, worker: u32) {
        if self.lane_worker == Some(worker) {
            self.lane_worker = None;
            self.workers.end(worker);
        }
    }

    /// Whether a worker has its lane open.
    #[inline]
    pub(super) fn has_open_lane(&self) -> bool {
        self.open_lanes > 0
    }

    /// Calls a thread for the ready tasks that remain after a thread took `work`. Returns `true` if
    /// the caller must signal.
    #[inline(never)] // mostly no thread is parked, and nothing is asked
    pub(super) fn call_for_rest(
        &mut self,
        work: &Option<RunningTask>,
        bells: &Bells,
        has_no_poller: bool,
    ) -> bool {
        let Some(work) = work else { return false };
        let run = work.times.run.expected();
        if has_no_poller && let Some(worker) = self.workers.for_poller(run) {
            bells.call(worker);
            return true;
        }
        let queue = &self.queue;
        if !queue.groups().is_empty() {
            let called = self.workers.for_rest(queue.groups().len(), queue.groups().load(), run);
            if let Some(worker) = called {
                bells.call(worker);
                return true;
            }
            if !self.waiting_callers.is_empty() {
                return self.call_waiting_caller(bells);
            }
        }
        let (first_due, reads_clock) = (queue.timers().first_due(), queue.reads_clock());
        if (first_due == i64::MAX && !reads_clock) || self.timers_have_thread {
            return false;
        }
        let now = work.measured.map_or(0, |(now, _)| now);
        // The due times of the other clocks' timers are unknown without reading those clocks.
        let soon = if reads_clock { now.saturating_add(self.workers.patience()) } else { i64::MAX };
        let due = first_due.min(soon);
        let called = self.workers.for_timer_during(due, now, run);
        called.inspect(|worker| bells.call(*worker)).is_some()
    }

    /// Whether a thread may run any task at all.
    pub(super) fn accepts(&self, nested: bool) -> bool {
        if self.closed || self.spins.ended {
            return false;
        }
        // A thread inside a callback may, even if the spin is to end: the spin ends after that
        // callback.
        nested || (self.spins.accept_callers() && self.workers.accepts_caller())
    }

    /// Rings a waiting caller that can run its task itself now. It rings no other thread, which
    /// would look in vain, sleep, and be rung again.
    pub(super) fn call_waiting_caller(&mut self, bells: &Bells) -> bool {
        let can_run = |caller: &WaitingCaller| {
            self.accepts(caller.nested)
                && self.queue.runnable(caller.entity, caller.nested, caller.within).is_some()
        };
        let Some(place) = self.waiting_callers.iter().position(can_run) else { return false };
        let gone = self.waiting_callers.swap_remove(place);
        self.rung.push(gone);
        bells.call_callers();
        true
    }

    /// Whether a ready task has waited for longer than a wake-up takes.
    pub(super) fn is_something_left_lying(&self, now: i64) -> bool {
        let patience = self.workers.patience();
        self.queue.groups().first_key().is_some_and(|key| now - key.time > patience)
    }

    /// Returns the time for which a thread may sleep when no task is ready.
    pub(super) fn longest_wait(&self, deadline: Option<i64>, minds_timers: bool) -> Sleep {
        let mut sleep = i64::MAX;
        if let Some(deadline) = deadline {
            sleep = deadline.saturating_sub(clock::Time::steady().nanoseconds());
            if sleep <= 0 {
                return Sleep::Over;
            }
        }
        let Some(clock) = self.clock.as_ref().filter(|_| minds_timers) else {
            return Sleep::AtMost((sleep != i64::MAX).then(|| wait_of(sleep))); // no group, or another thread watches
        };
        let now = clock.steady();
        for kind in ClockKind::ALL {
            let Some(due) = self.queue.timers().due(kind) else { continue };
            let left = due.saturating_sub(if kind == ClockKind::Steady { now } else { clock.now(kind) });
            if left <= 0 {
                return Sleep::Look;
            }
            if clock.passes(kind) {
                // The wall clock may be set without notification: look again every second.
                sleep = sleep.min(if kind == ClockKind::Steady { left } else { left.min(1_000_000_000) });
            }
        }
        Sleep::AtMost((sleep != i64::MAX).then(|| wait_of(sleep)))
    }
}

pub(super) fn wait_of(nanoseconds: i64) -> Duration {
    Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(0))
}
