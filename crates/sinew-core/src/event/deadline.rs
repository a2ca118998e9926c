//! Checks whether messages come as often as the deadline demands.
//!
//! Each endpoint with a handler counts for itself: a publisher counts its publications, a
//! subscription the messages that arrive from any publisher, even if it drops them. Counting starts
//! with the first message. A deadline is missed when *more* than a period has passed since the last
//! message, and again after each further period.

use super::condition::{Status, StatusCondition};
use super::deadline_timer::{DeadlineTimer, Timed};
use super::status::{OfferedDeadlineMissed, RequestedDeadlineMissed};
use crate::mailbox::deferred::Deferred;
use crate::sys::clock::{Clock, Stamp};
use crate::sys::sync::{Arc, Mutex};

/// Times of messages, and the number of periods that have passed without one. Times are in
/// nanoseconds.
#[derive(Debug)]
pub(crate) struct Pace {
    period: i64,
    /// Time of the last message; `None` before the first.
    last: Option<i64>,
    /// Number of misses that were counted since the last message.
    counted: i64,
}

/// Periods that have passed, in addition to those counted before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Missed {
    pub(crate) periods: u64,
    /// End of the first of them.
    pub(crate) since: i64,
}

impl Pace {
    /// Creates a pace. `period` is more than 0.
    pub(crate) fn new(period: i64) -> Self {
        Self { period, last: None, counted: 0 }
    }

    /// Records a message. Returns the periods missed until then.
    pub(crate) fn arrived(&mut self, at: i64) -> Option<Missed> {
        if self.last.is_some_and(|last| at < last && last - at < self.period) {
            return None; // a newer message overtook it; if it were a period older, the clock was set back
        }
        let missed = self.look(at);
        (self.last, self.counted) = (Some(at), 0);
        missed
    }

    /// Returns the periods missed by now.
    pub(crate) fn look(&mut self, now: i64) -> Option<Missed> {
        let last = self.last?;
        // The n-th period is missed 1 ns after its end.
        let passed = now.saturating_sub(last).saturating_sub(1) / self.period;
        let periods = u64::try_from(passed - self.counted).ok().filter(|&periods| periods > 0)?;
        let since = self.next()?;
        self.counted = passed;
        Some(Missed { periods, since })
    }

    /// Returns the time at which the next period will be missed.
    pub(crate) fn next(&self) -> Option<i64> {
        let periods = self.period.saturating_mul(self.counted + 1);
        Some(self.last?.saturating_add(periods).saturating_add(1))
    }
}

/// The event of one endpoint.
pub(crate) trait DeadlineMissed: Status {
    fn add(&mut self, periods: u64);
}

impl DeadlineMissed for OfferedDeadlineMissed {
    fn add(&mut self, periods: u64) {
        self.total += periods;
        self.total_change += periods;
    }
}

impl DeadlineMissed for RequestedDeadlineMissed {
    fn add(&mut self, periods: u64) {
        self.total += periods;
        self.total_change += periods;
    }
}

/// A deadline with a handler that is notified when it is missed.
pub(crate) struct Deadline<E> {
    clock: Clock,
    source: Arc<StatusCondition<E>>,
    timer: Arc<DeadlineTimer>,
    state: Mutex<DeadlineState>,
}

struct DeadlineState {
    pace: Pace,
    /// Time of the timer's next look; `i64::MAX` for never.
    look_at: i64,
}

impl<E: DeadlineMissed> Deadline<E> {
    /// Creates a deadline; `period` in nanoseconds, more than 0.
    pub(crate) fn new(
        period: i64,
        clock: Clock,
        source: Arc<StatusCondition<E>>,
        timer: Arc<DeadlineTimer>,
    ) -> Arc<Self> {
        let state = DeadlineState { pace: Pace::new(period), look_at: i64::MAX };
        let this = Arc::new(Self { clock, source, timer, state: Mutex::new(state) });
        let watched: Arc<dyn Timed> = this.clone();
        this.timer.watch(Arc::downgrade(&watched));
        this
    }

    /// Records a message at this (steady) time.
    pub(crate) fn arrived(&self, at: i64, deferred: &mut Deferred) {
        let mut state = self.state.lock();
        if let Some(missed) = state.pace.arrived(at) {
            // The timer is late, or in no executor: it is already due.
            return self.notify(missed, deferred);
        }
        // Usually the timer looks sooner, and finds this message.
        if let Some(next) = state.pace.next().filter(|&next| next < state.look_at) {
            state.look_at = next;
            self.timer.look_by(next, deferred);
        }
    }

    fn notify(&self, missed: Missed, deferred: &mut Deferred) {
        let since = Stamp::due(missed.since);
        self.source.update_since(since, |event| event.add(missed.periods), deferred);
    }
}

impl<E: DeadlineMissed> Timed for Deadline<E> {
    fn look(&self, deferred: &mut Deferred) -> Option<i64> {
        let mut state = self.state.lock();
        if let Some(missed) = state.pace.look(self.clock.steady()) {
            self.notify(missed, deferred);
        }
        let next = state.pace.next();
        state.look_at = next.unwrap_or(i64::MAX);
        next
    }
}
