//! A separate thread for an executor's timers.
//!
//! By default the threads that run callbacks also watch the timers, which costs no switch between
//! threads; but then a due timer waits until one of them has time. The separate thread wakes up
//! when timers are due, however busy the others are, and puts them into the queue.

use super::scheduler::Scheduler;
use super::state::Sleep;
use super::worker::Slack;
use crate::sys::clock::Time;

/// While it lives, a separate thread watches the timers.
pub(crate) struct TimerThread<'a>(&'a Scheduler);

impl<'a> TimerThread<'a> {
    pub(crate) fn begin(scheduler: &'a Scheduler) -> Self {
        scheduler.lock().timers_have_thread = true;
        Self(scheduler)
    }

    /// The separate thread: queues each timer when it is due. Returns when the spin ends.
    pub(crate) fn run(self) {
        let scheduler = self.0;
        let mut slack = Slack::new();
        let mut state = scheduler.lock();
        while !state.spins.are_over() {
            state.fire_by_clock();
            // The due timers are in the queue now. A worker that has their group, or a free one,
            // takes them.
            let (ready, load) = (state.queue.groups().len(), state.queue.groups().load());
            let now = Time::steady().nanoseconds();
            if ready > 0
                && let Some(called) = state.workers.for_new(ready, load, None, now)
            {
                scheduler.bells.call(called);
                drop(state);
                scheduler.signal();
                state = scheduler.lock();
                continue;
            }
            let Sleep::AtMost(timeout) = state.longest_wait(None, true) else { continue };
            slack.tighten();
            drop(state);
            scheduler.bells.of_timers.park(timeout);
            state = scheduler.lock();
        }
    }
}

impl Drop for TimerThread<'_> {
    fn drop(&mut self) {
        self.0.lock().timers_have_thread = false;
    }
}
