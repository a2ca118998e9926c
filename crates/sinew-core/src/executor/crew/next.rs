//! What a thread runs next, and how it sleeps when there is nothing.

use super::lane::{Advance, InLane, SHUT};
use super::scheduler::{Locked, RunBy, RunningTask, Scheduler, Worker};
use super::state::{SchedulerState, Sleep, wait_of};
use super::wake_policy::WakeReason;
use crate::executor::prefetch;
use crate::sys::clock::{Stamp, Time};
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

impl Scheduler {
    /// Brings in what other processes have sent, but where what runs next was published before the
    /// last look, after a short callback: it runs first anyway. A spin that runs only what was
    /// ready when it began looks once: it may run nothing that arrives later. Whether this thread
    /// has listened now.
    #[inline]
    fn hear(
        &self,
        work: &mut Option<RunningTask>,
        ended: i64,
        patience: Blocking,
        worker: &mut Worker,
    ) -> (Locked<'_>, bool) {
        let has_heard_all = matches!(patience, Blocking::Until(_)) && worker.heard.has_begun();
        if has_heard_all || !self.remote_events.has_ports() {
            return (self.lock(), true);
        }
        // `ended` is there for callbacks that are not known to be short, and now and then for those
        // that are.
        if ended == 0
            && let Some(heard) = worker.heard.lasts()
        {
            let state = self.lock();
            if state.goes_on_before(heard, work) {
                return (state, false);
            }
            drop(state);
        }
        worker.heard.begins(ended);
        self.remote_events.listen();
        (self.lock(), true)
    }

    /// Puts back what ran, and gets what to run next.
    #[inline(never)]
    pub(crate) fn next(
        &self,
        work: &mut Option<RunningTask>,
        patience: Blocking,
        worker: &mut Worker,
    ) -> Next {
        let ended = RunningTask::end(work);
        let (mut state, mut has_listened) = self.hear(work, ended, patience, worker);
        state.end_lane(worker.index);
        if work.is_some() {
            let gone = state.put_back(work, ended);
            if state.leaving > 0 {
                self.finished.notify_all();
            }
            if gone.is_some() {
                self.settle(&mut state);
                // Its last reference may be ours: dropped without the lock, as it holds the user's
                // closure.
                drop(state);
                drop(gone);
                state = self.lock();
            }
        }
        let mut woken = WakeReason::Called;
        loop {
            if state.stopped || state.ended || state.dismissed {
                self.leave_rest(state);
                return Next::Stopped;
            }
            if worker.index == 0 && mem::take(&mut state.poked) {
                self.settle(&mut state);
                return Next::Poked;
            }
            if self.remote_events.is_drained_by_another() {
                self.settle(&mut state);
                drop(state);
                let is_over = self.remote_events.wait_for_drain();
                state = self.lock();
                if is_over {
                    continue; // there may be another one, and the executor may have been stopped
                }
            }
            if woken != WakeReason::Look || state.is_something_left_lying(worker.now) {
                let lane = self.look_into_lane(&mut state);
                if !state.timers_have_thread {
                    state.fire_timers(lane);
                }
                if let Some(lane) = lane
                    && self.take_from_lane(&mut state, lane, worker)
                {
                    return Next::Lane;
                }
                let limit = if let Blocking::Until(limit) = patience { Some(limit) } else { None };
                if state.pop(limit, RunBy::Worker(worker.index), ended, work) {
                    state.workers.leave_poller(worker.index);
                    if self.threads() > 1 {
                        self.settle(&mut state); // W1: what waits there waits for this one now
                    }
                    let is_anybody_there = state.workers.has_parked() || !state.waiting_callers.is_empty();
                    let signal = is_anybody_there
                        && state.call_for_rest(work, &self.bells, self.remote_events.have_no_poller());
                    drop(state);
                    if signal {
                        self.signal();
                    }
                    return Next::Run;
                }
            }
            self.settle(&mut state);
            if !mem::replace(&mut has_listened, true) {
                drop(state);
                self.remote_events.listen();
                state = self.lock();
                continue;
            }
            let deadline = match patience {
                Blocking::None | Blocking::Until(_) => return Next::Idle,
                Blocking::Deadline(deadline) => Some(deadline),
                Blocking::Forever => None,
            };
            let slept;
            (state, slept) = self.rest(state, deadline, worker);
            match slept {
                Some(why) => woken = why,
                None => return Next::Idle,
            }
        }
    }

    /// What this thread leaves may be what another one waits for in the middle of its last
    /// callback.
    #[cold]
    fn leave_rest(&self, mut state: Locked<'_>) {
        self.settle(&mut state);
        let signal = !state.waiting_callers.is_empty() && state.call_waiting_caller(&self.bells);
        drop(state);
        if signal {
            self.signal();
        }
    }

    // ---- the lane ----

    /// The key of the first task in the lane, if it may run past the queue.
    #[inline]
    fn look_into_lane(&self, state: &mut SchedulerState) -> Option<Stamp> {
        if !state.has_open_lane() {
            return None;
        }
        let first = self.lane.lock().first()?;
        if state.gate() == SHUT || state.workers.are_full() {
            self.settle(state);
            return None;
        }
        Some(first)
    }

    /// Hands the worker the first task in the lane, which has this key, if nothing in the queue is
    /// older. With it the worker has a place among the executor's callbacks, until it asks again.
    #[inline(never)]
    pub(super) fn take_from_lane(&self, state: &mut SchedulerState, key: Stamp, worker: &mut Worker) -> bool {
        if state.queue.first_key().is_some_and(|first| first <= key) {
            return false;
        }
        worker.task = self.lane.lock().take();
        worker.tellers = (!state.tellers.is_empty()).then(|| state.tellers.clone());
        state.begin_lane(worker.index);
        true
    }

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

    /// The lane's tasks go into the queue, and the one that runs is marked as running.
    #[inline]
    pub(super) fn settle(&self, state: &mut SchedulerState) {
        if state.has_open_lane() {
            self.lane.set_gate(state.gate()); // before: what enters afterwards may run past the queue
            state.settle(&mut self.lane.lock());
        }
    }

    /// The calling thread, which spins, uses the lane from now on, or not any more.
    pub(crate) fn open_lane(&self, worker: u32, is_open: bool) {
        let mut state = self.lock();
        if is_open {
            state.open_lanes += 1;
            return;
        }
        state.open_lanes -= 1;
        self.lane.set_gate(SHUT); // as it stays, if no other worker has it open
        state.settle(&mut self.lane.lock());
        state.end_lane(worker);
    }

    /// Sleeps until this worker is called, or there is something to look for; `None` when the
    /// deadline has passed.
    #[inline]
    pub(super) fn rest<'a>(
        &'a self,
        mut state: Locked<'a>,
        deadline: Option<i64>,
        worker: &mut Worker,
    ) -> (Locked<'a>, Option<WakeReason>) {
        state.tell_rest(worker.index);
        let (minds_timers, watch) = state.workers.park(worker.index, worker.now); // P1
        let minds_timers = minds_timers && !state.timers_have_thread;
        if minds_timers && state.workers.are_full() {
            // What is due can't run: threads from outside have all the places. Each of them calls a
            // worker for what is ready when it goes, so that is where it waits.
            state.fire_by_clock();
        }
        let timeout = match state.longest_wait(deadline, minds_timers) {
            Sleep::AtMost(timeout) => timeout,
            over_or_look => {
                state.workers.unpark(worker.index, worker.now);
                let look = matches!(over_or_look, Sleep::Look).then_some(WakeReason::Timeout);
                return (state, look);
            }
        };
        let watch = watch.map(wait_of);
        let timeout = timeout.into_iter().chain(watch).min();
        let parker = &self.bells.of_workers[worker.index as usize];
        let poller = self.remote_events.become_poller(worker.index);
        drop(state);
        let mut fetches = true;
        match poller {
            Some(poller) => {
                fetches = poller.wait(parker, timeout, || worker.slack.tighten());
                // What comes in touches the same histories and callbacks as what runs then.
                if fetches && poller.is_pending() {
                    fetches = false;
                    prefetch::fetch();
                }
                poller.end();
            }
            None => {
                worker.slack.tighten();
                parker.park(timeout);
            }
        }
        state = self.lock();
        if self.threads() > 1 {
            worker.now = Time::steady().nanoseconds();
        }
        let woken = state.workers.unpark(worker.index, worker.now);
        parker.take_call(); // what it was called for it finds under the mutex: P2 comes before P3
        if self.threads() > 1 {
            self.settle(&mut state); // of the worker that was alone
        }
        // A thread that was awake a moment ago has in its caches what it had.
        if fetches && woken != WakeReason::Look {
            drop(state);
            prefetch::fetch();
            state = self.lock();
        }
        (state, Some(woken))
    }

    /// Puts back what ran last, when no more is wanted.
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
        // A caller that takes no more leaves the rest to others.
        let calls = was_caller && self.call_for_ready(&mut state);
        drop(state);
        if calls {
            self.signal();
        }
        drop(gone);
    }
}
