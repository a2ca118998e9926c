//! A separate thread for an executor's timers.
//!
//! By default the threads that run callbacks also mind the timers, which costs no switch between
//! threads; but a timer that is due then waits until one of them has time. The separate thread wakes
//! up when timers are due, however busy the others are, and puts them into the queue.

use super::scheduler::Scheduler;
use super::state::Sleep;
use super::worker::Slack;
use crate::sys::clock::Time;

impl Scheduler {
    /// From now on the timers are minded by a separate thread, or no longer are.
    pub(crate) fn give_timers_a_thread(&self, has_one: bool) {
        self.lock().timers_have_thread = has_one;
    }

    /// The separate thread: queues each timer when it is due. Returns when the spin ends.
    pub(crate) fn mind_timers(&self) {
        let mut slack = Slack::new();
        let mut state = self.lock();
        loop {
            if state.stopped || state.ended || state.dismissed {
                state.timers_have_thread = false;
                return;
            }
            state.fire_by_clock();
            // What is due is in the queue now. The worker that has its group, or a free one, takes
            // it.
            let (ready, load) = (state.queue.len(), state.queue.load());
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
            slack.tighten();
            drop(state);
            self.bells.of_timers.park(timeout);
            state = self.lock();
        }
    }
}
