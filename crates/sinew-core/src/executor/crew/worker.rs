//! A thread that asks for work: what it runs next, and how it sleeps when there is nothing.

use super::lane::{Advance, InLane, SHUT};
use super::scheduler::{self, Locked, RunBy, RunningTask, Scheduler};
use super::state::{SchedulerState, Sleep, wait_of};
use super::wake_policy::{SAMPLED, WakeReason};
use crate::executor::dispatch_order::DispatchOrder;
use crate::executor::prefetch;
use crate::executor::task::Task;
use crate::sys::clock::{self, Stamp, Time};
use crate::sys::sync::Arc;
use sinew_shm::transport::Worker as WorkerRecord;
use std::mem;

/// The answer to a thread that asks for work.
pub(crate) enum Next {
    Run,
    /// A task of its lane is ready, in [`Worker::task`].
    Lane,
    /// Nothing is ready (before the limit, or within the time allowed).
    Idle,
    /// The executor was poked.
    Poked,
    /// The executor was stopped, or its context was shut down.
    Stopped,
}

/// The time for which a thread that asks for work may wait.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Blocking {
    /// Not at all, and it gets only tasks that were ready at this stamp.
    Until(Stamp),
    /// Not at all.
    None,
    /// Until this time of the machine's steady clock, also in virtual time.
    Deadline(i64),
    Forever,
}

/// A thread that asks for work.
pub(crate) struct Worker<'a> {
    pub(crate) scheduler: &'a Scheduler,
    pub(crate) index: u32,
    slack: Slack,
    /// The steady time at which it last woke up.
    now: i64,
    last_poll: LastPoll,
    /// The next task to run from its lane.
    pub(crate) task: Option<InLane>,
    /// The records in which tools read what the workers run; set while it runs tasks of its lane.
    pub(super) records: Option<Arc<[WorkerRecord]>>,
}

/// The code that every callback goes through.
pub(super) fn code(name: &mut dyn FnMut(usize, usize)) {
    name(Worker::next as *const () as usize, 26);
    name(Worker::take_from_lane as *const () as usize, 7);
    name(Scheduler::finish_in_lane as *const () as usize, 14);
    scheduler::code(name);
}

impl<'a> Worker<'a> {
    pub(crate) fn new(scheduler: &'a Scheduler, index: u32) -> Self {
        let (slack, last_poll) = (Slack::new(), LastPoll::default());
        Self { scheduler, index, slack, now: 0, last_poll, task: None, records: None }
    }

    /// Puts back the task that ran, and gets the next one.
    #[inline(never)]
    pub(crate) fn next(&mut self, work: &mut Option<RunningTask>, patience: Blocking) -> Next {
        let scheduler = self.scheduler;
        let ended = RunningTask::end(work);
        let (mut state, mut has_listened) = self.listen(work, ended, patience);
        state.end_lane(self.index);
        if work.is_some() {
            let gone = state.put_back(work, ended);
            if state.leaving > 0 {
                scheduler.finished.notify_all();
            }
            if let Some(gone) = gone {
                state = drop_without_lock(state, gone);
            }
        }
        let mut woken = WakeReason::Called;
        loop {
            if state.spins.are_over() {
                leave_rest(state);
                return Next::Stopped;
            }
            if self.index == 0 && mem::take(&mut state.spins.poked) {
                state.settle();
                return Next::Poked;
            }
            if scheduler.remote_events.is_drained_by_another() {
                state.settle();
                drop(state);
                let is_over = scheduler.remote_events.wait_for_drain();
                state = scheduler.lock();
                if is_over {
                    continue; // another drain may have begun, and the executor may have been stopped
                }
            }
            if woken != WakeReason::Look || state.is_something_left_lying(self.now) {
                let lane = look_into_lane(&mut state);
                let runs_next = lane.is_some() && state.order == DispatchOrder::RunNext;
                if !state.timers_have_thread && !runs_next {
                    state.fire_timers(lane);
                }
                if let Some(lane) = lane
                    && (runs_next || state.is_oldest(lane))
                {
                    self.take_from_lane(&mut state);
                    return Next::Lane;
                }
                let limit = if let Blocking::Until(limit) = patience { Some(limit) } else { None };
                if state.pop(limit, RunBy::Worker(self.index), ended, work) {
                    state.workers.leave_poller(self.index);
                    if scheduler.threads() > 1 {
                        state.settle(); // W1: its tasks wait for this one now
                    }
                    let signal = call_for_rest(&mut state, work);
                    drop(state);
                    if signal {
                        scheduler.signal();
                    }
                    return Next::Run;
                }
            }
            state.settle();
            if !mem::replace(&mut has_listened, true) {
                drop(state);
                scheduler.remote_events.listen();
                state = scheduler.lock();
                continue;
            }
            let deadline = match patience {
                Blocking::None | Blocking::Until(_) => return Next::Idle,
                Blocking::Deadline(deadline) => Some(deadline),
                Blocking::Forever => None,
            };
            let slept;
            (state, slept) = self.rest(state, deadline);
            match slept {
                Some(why) => woken = why,
                None => return Next::Idle,
            }
        }
    }

    /// Brings in messages of other processes, and returns whether it has. After a short callback it
    /// doesn't if the next task's message was published before the last look, as that one runs
    /// first anyway. A spin that runs only tasks that were ready when it began looks once, because
    /// it may run nothing that arrives later.
    #[inline]
    fn listen(&mut self, work: &Option<RunningTask>, ended: i64, patience: Blocking) -> (Locked<'a>, bool) {
        let scheduler = self.scheduler;
        let has_polled = matches!(patience, Blocking::Until(_)) && self.last_poll.has_begun();
        if has_polled || !scheduler.remote_events.has_ports() {
            return (scheduler.lock(), true);
        }
        // `ended` is set for callbacks that are not known to be short, and now and then for others.
        if ended == 0
            && let Some(polled) = self.last_poll.lasts()
        {
            let state = scheduler.lock();
            if state.goes_on_before(polled, work) {
                return (state, false);
            }
            drop(state);
        }
        self.last_poll.begins(ended);
        scheduler.remote_events.listen();
        (scheduler.lock(), true)
    }

    /// Sleeps until this worker is called, or it has to look for work itself; `None` when the
    /// deadline has passed.
    #[inline(never)] // the way that hands out a task is short without it
    pub(super) fn rest(
        &mut self,
        mut state: Locked<'a>,
        deadline: Option<i64>,
    ) -> (Locked<'a>, Option<WakeReason>) {
        let scheduler = self.scheduler;
        state.record_rest(self.index);
        let (minds_timers, watch) = state.workers.park(self.index, self.now); // P1
        let minds_timers = minds_timers && !state.timers_have_thread;
        if minds_timers && state.workers.are_full() {
            // Due timers can't run, as threads from outside have all the places. Each of those
            // calls a worker for ready tasks when it leaves, so the timers wait among these.
            state.fire_by_clock();
        }
        let timeout = match state.longest_wait(deadline, minds_timers) {
            Sleep::AtMost(timeout) => timeout,
            over_or_look => {
                state.workers.unpark(self.index, self.now);
                let look = matches!(over_or_look, Sleep::Look).then_some(WakeReason::Timeout);
                return (state, look);
            }
        };
        let watch = watch.map(wait_of);
        let timeout = timeout.into_iter().chain(watch).min();
        let parker = &scheduler.bells.of_workers[self.index as usize];
        let poller = scheduler.remote_events.become_poller(self.index);
        drop(state);
        let rests_at = Time::steady().nanoseconds();
        let mut tighten = || {
            if timeout.is_some() {
                self.slack.tighten();
            }
        };
        let has_messages = match poller {
            Some(poller) => {
                poller.wait(parker, timeout, tighten);
                let has_messages = poller.is_pending();
                poller.end();
                has_messages
            }
            None => {
                tighten();
                parker.park(timeout);
                false
            }
        };
        let away = Time::steady().nanoseconds() - rests_at;
        state = scheduler.lock();
        if scheduler.threads() > 1 {
            self.now = rests_at + away;
        }
        let woken = state.workers.unpark(self.index, self.now);
        parker.take_call(); // the mutex shows why it was called: P2 comes before P3
        if scheduler.threads() > 1 {
            state.settle(); // of the worker that was alone
        }
        // The caches of a thread that was awake a moment ago still have its data.
        if away > prefetch::AWAY && woken != WakeReason::Look {
            if has_messages {
                prefetch::skip(); // the first of them would wait for all that is noted
            } else {
                drop(state);
                prefetch::fetch();
                state = scheduler.lock();
            }
        }
        (state, Some(woken))
    }

    // ---- the lane ----

    /// Hands the worker the first task in the lane. With it the worker has a place among the
    /// executor's callbacks, until it asks again.
    #[inline(never)]
    fn take_from_lane(&mut self, state: &mut SchedulerState) {
        self.task = self.scheduler.lane.lock().take();
        self.records = (!state.worker_records.is_empty()).then(|| state.worker_records.clone());
        state.begin_lane(self.index);
    }
}

// The thread that runs its lane has the scheduler, but no worker.
impl Scheduler {
    /// Goes on after a task of a lane that has run and has no more work.
    #[inline]
    pub(crate) fn advance(&self, ran: InLane) -> Advance {
        // Messages of other processes may be older: then the worker has to look.
        let may_pass = !self.remote_events.has_ports();
        self.lane.advance(ran, may_pass)
    }

    /// Ends the run of a task of the lane that needs more than [`advance`](Self::advance): it has
    /// more work, its run was measured, it has left, or the lane was settled meanwhile.
    #[cold]
    #[inline(never)]
    pub(crate) fn finish_in_lane(&self, ran: &InLane, next: Option<Stamp>, measured: Option<(i64, u8)>) {
        let id = ran.task().member;
        let mut state = self.lock();
        let mut line = self.lane.lock();
        let (slot, gone) = line.end();
        let may_go_on = slot.is_none() && gone.is_none() && self.lane.is_open();
        let next = next.filter(|&key| !(may_go_on && line.goes_on(ran.task(), key, self.lane.is_shared())));
        drop(line);
        if let (Some(measured), Some(member)) = (measured, state.queue.get_mut(id)) {
            member.learn(measured, Time::steady().nanoseconds(), self.lane.published());
            state.workers.count_run();
        }
        if let Some(slot) = slot {
            state.queue.end_turn(slot);
        }
        if let Some(key) = next {
            state.queue.make_ready(id, key);
        }
        if state.leaving > 0 {
            self.finished.notify_all();
        }
        drop(state);
        drop(gone);
    }
}

/// Calls a thread for the tasks that are ready besides the one that this thread took. Returns
/// `true` if the caller must signal.
#[inline]
fn call_for_rest(state: &mut Locked<'_>, work: &Option<RunningTask>) -> bool {
    let Scheduler { bells, remote_events, .. } = state.scheduler();
    let is_one_there = state.workers.has_parked() || !state.waiting_callers.is_empty();
    is_one_there && state.call_for_rest(work, bells, remote_events.have_no_poller())
}

/// The last reference to a task that has left may be this thread's: it is dropped without the lock,
/// as it holds the user's closure.
#[cold]
fn drop_without_lock<'a>(mut state: Locked<'a>, gone: Arc<Task>) -> Locked<'a> {
    let scheduler = state.scheduler();
    state.settle();
    drop(state);
    drop(gone);
    scheduler.lock()
}

/// Calls another thread that waits, in the middle of its last callback, for a task that this one
/// leaves.
#[cold]
fn leave_rest(mut state: Locked<'_>) {
    let scheduler = state.scheduler();
    state.settle();
    let signal = !state.waiting_callers.is_empty() && state.call_waiting_caller(&scheduler.bells);
    drop(state);
    if signal {
        scheduler.signal();
    }
}

/// The key of the first task in the lane, if it may run past the queue.
#[inline]
fn look_into_lane(state: &mut Locked<'_>) -> Option<Stamp> {
    if state.has_open_lane() { look_into_open_lane(state) } else { None }
}

#[inline(never)]
fn look_into_open_lane(state: &mut Locked<'_>) -> Option<Stamp> {
    let (first, has_turn) = state.scheduler().lane.lock().look();
    let first = first?;
    if !has_turn || state.gate() == SHUT || state.workers.are_full() {
        state.settle();
        return None;
    }
    Some(first)
}

/// A thread's last look for messages of other processes.
///
/// A look costs as much as a short callback. So messages that were published before a look may run
/// without another one: those that the next look could bring were published later, and run later.
/// That holds for short callbacks, and for a few of them.
#[derive(Default)]
struct LastPoll {
    /// Steady nanoseconds at which the look began.
    at: i64,
    /// Number of callbacks that may run before the next one; 0 if the worker didn't read the clock.
    left: u8,
    /// Whether there was a look.
    has_begun: bool,
}

/// Maximum number of callbacks between two looks.
const UNHEARD: u8 = SAMPLED;

impl LastPoll {
    /// Returns the time of the last look if it is recent enough for another callback.
    #[inline]
    fn lasts(&mut self) -> Option<i64> {
        self.left = self.left.saturating_sub(1);
        (self.left > 0).then_some(self.at)
    }

    /// Begins a look. `now` is 0 if the worker didn't read the clock.
    fn begins(&mut self, now: i64) {
        *self = Self { at: now, left: if now == 0 { 0 } else { UNHEARD }, has_begun: true };
    }

    /// Whether there was a look.
    #[inline]
    fn has_begun(&self) -> bool {
        self.has_begun
    }
}

/// A thread's timer slack, while it spins.
pub(super) struct Slack {
    before: Option<u64>,
    tightened: bool,
}

impl Slack {
    pub(super) fn new() -> Self {
        Self { before: None, tightened: false }
    }

    pub(super) fn tighten(&mut self) {
        if !mem::replace(&mut self.tightened, true) {
            self.before = clock::precise_waits();
        }
    }
}

impl Drop for Slack {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            clock::restore_waits(before);
        }
    }
}
