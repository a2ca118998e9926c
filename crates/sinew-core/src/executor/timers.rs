//! A thread of their own for an executor's timers.
//!
//! By default the threads that run callbacks mind the timers, too, which costs no switch between
//! threads; but then a timer that is due waits until one of them has time. A thread of their own
//! wakes when they are due, however busy the others are, and either puts them into the queue, or
//! runs their callbacks itself, if their groups are free.

use super::options::TimerThread;
use super::scheduler::{Next, RunningTask, Scheduler, Worker};
use super::state::{RunBy, Sleep};
use crate::sys::clock::Time;

impl Scheduler {
    /// The timers are minded by a thread of their own from now on, or not any more.
    pub(super) fn give_timers_a_thread(&self, has_one: bool) {
        let mut state = self.lock();
        state.timers_have_thread = has_one;
        state.fired.clear();
    }

    /// Puts back what ran, makes ready what is due, and gets what to run next, if this thread runs
    /// what is due.
    pub(super) fn next_timer(
        &self,
        kind: TimerThread,
        work: &mut Option<RunningTask>,
        worker: &mut Worker,
    ) -> Next {
        if work.is_some() {
            self.finish(work);
        }
        let mut state = self.lock();
        loop {
            if state.stopped || state.ended || state.dismissed {
                return Next::Stopped;
            }
            state.fire_by_clock();
            while let Some(member) = state.fired.pop() {
                if kind == TimerThread::Runs && state.pop_member(member, RunBy::Timers, work) {
                    return Next::Run;
                }
            }
            // What is due is in the queue by now, and the worker that has its group, or a free one,
            // will take it.
            let (ready, load) = (state.ready.len(), state.load);
            let now = Time::steady().nanoseconds();
            if ready > 0
                && let Some(called) = state.workers.for_new(ready, load, None, now)
            {
                self.bells.call(called);
                drop(state);
                self.signal();
                state = self.lock();
                continue;
            }
            let Sleep::AtMost(timeout) = state.longest_wait(None, true) else { continue };
            worker.slack.tighten();
            drop(state);
            self.bells.of_timers.park(timeout);
            state = self.lock();
        }
    }
}
