//! A thread that asks for work: what it runs next, and how it sleeps when there is nothing.

use super::lane::{Advance, InLane, SHUT};
use super::scheduler::{self, Locked, RunBy, RunningTask, Scheduler};
use super::state::{SchedulerState, Sleep, wait_of};
use super::wake_policy::{SAMPLED, WakeReason};
use crate::executor::prefetch;
use crate::executor::task::Task;
use crate::sys::clock::{self, Stamp, Time};
use crate::sys::sync::Arc;
use sinew_shm::transport::Worker as Teller;
use std::mem;

/// What a thread that asks for work gets.
pub(crate) enum Next {
    Run,
    /// A task of its lane: [`Worker::task`].
    Lane,
    /// Nothing is ready (before the limit, or within the time allowed).
    Idle,
    /// The executor was poked.
    Poked,
    /// The executor was stopped, or its context was shut down.
    Stopped,
}

/// How long a thread that asks for work is ready to wait.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Blocking {
    /// Not at all; and only for what was ready at this stamp.
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
    /// When it woke up last.
    now: i64,
    heard: LastPoll,
    /// The task of its lane that it is to run.
    pub(crate) task: Option<InLane>,
    /// What tools are told of what the workers are at, while it runs tasks of its lane.
    pub(super) tellers: Option<Arc<[Teller]>>,
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
        let (slack, heard) = (Slack::new(), LastPoll::default());
        Self { scheduler, index, slack, now: 0, heard, task: None, tellers: None }
    }

    /// Puts back what ran, and gets what to run next.
    #[inline(never)]
    pub(crate) fn next(&mut self, work: &mut Option<RunningTask>, patience: Blocking) -> Next {
        let scheduler = self.scheduler;
        let ended = RunningTask::end(work);
        let (mut state, mut has_listened) = self.hear(work, ended, patience);
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
                    continue; // there may be another one, and the executor may have been stopped
                }
            }
            if woken != WakeReason::Look || state.is_something_left_lying(self.now) {
                let lane = look_into_lane(&mut state);
                if !state.timers_have_thread {
                    state.fire_timers(lane);
                }
                if let Some(lane) = lane
                    && self.take_from_lane(&mut state, lane)
                {
                    return Next::Lane;
                }
                let limit = if let Blocking::Until(limit) = patience { Some(limit) } else { None };
                if state.pop(limit, RunBy::Worker(self.index), ended, work) {
                    state.workers.leave_poller(self.index);
                    if scheduler.threads() > 1 {
                        state.settle(); // W1: what waits there waits for this one now
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

    /// Brings in what other processes have sent, but where what runs next was published before the
    /// last look, after a short callback: it runs first anyway. A spin that runs only what was
    /// ready when it began looks once: it may run nothing that arrives later. Whether this thread
    /// has listened now.
    #[inline]
    fn hear(&mut self, work: &Option<RunningTask>, ended: i64, patience: Blocking) -> (Locked<'a>, bool) {
        let scheduler = self.scheduler;
        let has_heard_all = matches!(patience, Blocking::Until(_)) && self.heard.has_begun();
        if has_heard_all || !scheduler.remote_events.has_ports() {
            return (scheduler.lock(), true);
        }
        // `ended` is there for callbacks that are not known to be short, and now and then for those
        // that are.
        if ended == 0
            && let Some(heard) = self.heard.lasts()
        {
            let state = scheduler.lock();
            if state.goes_on_before(heard, work) {
                return (state, false);
            }
            drop(state);
        }
        self.heard.begins(ended);
        scheduler.remote_events.listen();
        (scheduler.lock(), true)
    }

    /// Sleeps until this worker is called, or there is something to look for; `None` when the
    /// deadline has passed.
    #[inline(never)] // the way that hands out a task is short without it
    pub(super) fn rest(
        &mut self,
        mut state: Locked<'a>,
        deadline: Option<i64>,
    ) -> (Locked<'a>, Option<WakeReason>) {
        let scheduler = self.scheduler;
        state.tell_rest(self.index);
        let (minds_timers, watch) = state.workers.park(self.index, self.now); // P1
        let minds_timers = minds_timers && !state.timers_have_thread;
        if minds_timers && state.workers.are_full() {
            // What is due can't run: threads from outside have all the places. Each of them calls a
            // worker for what is ready when it goes, so that is where it waits.
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
        let mut fetches = true;
        match poller {
            Some(poller) => {
                fetches = poller.wait(parker, timeout, || self.slack.tighten());
                // What comes in touches the same histories and callbacks as what runs then.
                if fetches && poller.is_pending() {
                    fetches = false;
                    prefetch::fetch();
                }
                poller.end();
            }
            None => {
                self.slack.tighten();
                parker.park(timeout);
            }
        }
        state = scheduler.lock();
        if scheduler.threads() > 1 {
            self.now = Time::steady().nanoseconds();
        }
        let woken = state.workers.unpark(self.index, self.now);
        parker.take_call(); // what it was called for it finds under the mutex: P2 comes before P3
        if scheduler.threads() > 1 {
            state.settle(); // of the worker that was alone
        }
        // A thread that was awake a moment ago has in its caches what it had.
        if fetches && woken != WakeReason::Look {
            drop(state);
            prefetch::fetch();
            state = scheduler.lock();
        }
        (state, Some(woken))
    }

    // ---- the lane ----

    /// Hands the worker the first task in the lane, which has this key, if nothing in the queue is
    /// older. With it the worker has a place among the executor's callbacks, until it asks again.
    #[inline(never)]
    fn take_from_lane(&mut self, state: &mut SchedulerState, key: Stamp) -> bool {
        if state.queue.groups().first_key().is_some_and(|first| first <= key) {
            return false;
        }
        self.task = self.scheduler.lane.lock().take();
        self.tellers = (!state.tellers.is_empty()).then(|| state.tellers.clone());
        state.begin_lane(self.index);
        true
    }
}

// The thread that runs its lane has the scheduler at hand, and no worker.
impl Scheduler {
    /// What a worker does when a task of its lane has run and has nothing more to do.
    #[inline]
    pub(crate) fn advance(&self, ran: InLane) -> Advance {
        // What other processes have sent may be older: that takes a look.
        let may_pass = !self.remote_events.has_ports();
        self.lane.advance(ran, may_pass)
    }

    /// A task of the lane has run, and there is more to do about it: it has more to do itself, its
    /// run was measured, it has left, or the lane was settled meanwhile.
    #[cold]
    #[inline(never)]
    pub(crate) fn finish_in_lane(&self, ran: &InLane, next: Option<Stamp>, measured: Option<(i64, u8)>) {
        let id = ran.task().member;
        let mut state = self.lock();
        let (slot, gone) = self.lane.lock().end();
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

/// Calls a thread for what is ready besides the task that this one took. True if the caller must
/// signal.
#[inline]
fn call_for_rest(state: &mut Locked<'_>, work: &Option<RunningTask>) -> bool {
    let Scheduler { bells, remote_events, .. } = state.scheduler();
    let is_anybody_there = state.workers.has_parked() || !state.waiting_callers.is_empty();
    is_anybody_there && state.call_for_rest(work, bells, remote_events.have_no_poller())
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

/// What this thread leaves may be what another one waits for in the middle of its last
/// callback.
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
    let first = state.scheduler().lane.lock().first()?;
    if state.gate() == SHUT || state.workers.are_full() {
        state.settle();
        return None;
    }
    Some(first)
}

/// What a thread knows of its last look at what other processes have sent.
///
/// A look costs as much as a short callback. So what was published before a look may run without
/// another one after it: what the next look could bring was published later, and runs later. That
/// goes for short callbacks, and for a few of them.
#[derive(Default)]
struct LastPoll {
    /// When the look began, in steady nanoseconds.
    at: i64,
    /// How many callbacks may run before the next one; 0 if the worker didn't look at the clock.
    left: u8,
    /// Whether there was a look.
    has_begun: bool,
}

/// How many callbacks may run between two looks at most.
const UNHEARD: u8 = SAMPLED;

impl LastPoll {
    /// When the last look was, if another callback may do with it.
    #[inline]
    fn lasts(&mut self) -> Option<i64> {
        self.left = self.left.saturating_sub(1);
        (self.left > 0).then_some(self.at)
    }

    /// A look begins. `now` is 0 if the worker didn't look at the clock.
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
