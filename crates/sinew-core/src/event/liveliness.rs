//! Checks whether publishers are alive.
//!
//! An automatic publisher is alive while it exists, and so is a manual one without a lease. A
//! manual one with a lease has a [`LivelinessLease`]: it *expires* when more than the lease has
//! passed since its last sign of life (its creation, a publication, an assertion), and revives with
//! the next. The first look notices the expiry: that of the timer of the publisher's handler (or of
//! the log line, without a handler), that of the timer of any matched subscription's handler, or a
//! late sign of life. All handlers are notified at once, under the lease's lock.
//!
//! Locks: graph or publisher -> lease -> timer or status -> scheduler.

use super::condition::StatusCondition;
use super::deadline_timer::{DeadlineTimer, Timed};
use super::status::{LivelinessChanged, LivelinessLost};
use crate::mailbox::deferred::Deferred;
use crate::sys::clock::{Clock, Stamp};
use crate::sys::sync::{Arc, Mutex};
use std::sync::Weak;
use std::time::Duration;

/// Signs of life, and whether the last one is longer ago than the lease. Times are in nanoseconds.
#[derive(Debug)]
pub(crate) struct Lease {
    duration: i64,
    last: i64,
    alive: bool,
}

/// The effects of a sign of life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sign {
    /// Time of an expiry that no look had noticed.
    pub(crate) expired: Option<i64>,
    /// The publisher is alive again.
    pub(crate) revived: bool,
    /// The next expiry may come sooner than the last look found.
    pub(crate) sooner: bool,
}

impl Lease {
    /// Creates a lease that is alive at this time. `duration` is more than 0.
    pub(crate) fn new(duration: i64, now: i64) -> Self {
        Self { duration, last: now, alive: true }
    }

    /// Returns the time at which it will expire without another sign; `None` if it has expired.
    pub(crate) fn ends(&self) -> Option<i64> {
        self.alive.then(|| self.end())
    }

    /// Returns the time of expiry, 1 ns after the lease's last.
    fn end(&self) -> i64 {
        self.last.saturating_add(self.duration).saturating_add(1)
    }

    /// Returns the time of an expiry until now that no look had noticed.
    pub(crate) fn look(&mut self, now: i64) -> Option<i64> {
        let expired = self.alive && now >= self.end();
        self.alive &= !expired;
        expired.then(|| self.end())
    }

    pub(crate) fn sign(&mut self, now: i64) -> Sign {
        let expired = self.look(now);
        let revived = !self.alive;
        let sooner = revived || now < self.last; // or the clock was set back
        (self.last, self.alive) = (now, true);
        Sign { expired, revived, sooner }
    }
}

/// The liveliness of one manual publisher with a lease, and the handlers that observe it.
pub(crate) struct LivelinessLease {
    clock: Clock,
    state: Mutex<LeaseState>,
    lost: LeaseListener,
}

/// The handler that is notified of a publisher's expiry, and the timer that looks for it.
pub(crate) struct LeaseListener {
    /// Without a handler, the expiry is logged.
    pub(crate) handler: Option<Arc<StatusCondition<LivelinessLost>>>,
    pub(crate) timer: Arc<DeadlineTimer>,
    /// The publisher's node.
    pub(crate) node: Arc<str>,
    pub(crate) topic: Arc<str>,
}

struct LeaseState {
    lease: Lease,
    /// The matched subscriptions that have a handler.
    watchers: Vec<LivelinessListener>,
}

/// A subscription's handler for the liveliness of its publishers, and the timer that looks for it.
#[derive(Clone)]
pub(crate) struct LivelinessListener {
    pub(crate) changed: Arc<StatusCondition<LivelinessChanged>>,
    pub(crate) timer: Arc<DeadlineTimer>,
}

impl LivelinessListener {
    /// Handles a new match with a publisher.
    pub(crate) fn is_matched(&self, lease: Option<&Arc<LivelinessLease>>, deferred: &mut Deferred) {
        match lease {
            Some(lease) => lease.join(self, deferred),
            None => deferred.signal(self.changed.update(LivelinessChanged::came_alive)),
        }
    }

    /// Handles the end of a match.
    pub(crate) fn is_unmatched(&self, lease: Option<&Arc<LivelinessLease>>, deferred: &mut Deferred) {
        match lease {
            Some(lease) => lease.remove(self, deferred),
            None => deferred.signal(self.changed.update(LivelinessChanged::went_alive)),
        }
    }
}

impl LivelinessLease {
    /// Creates the liveliness of a publisher; `lease` in nanoseconds, more than 0.
    pub(crate) fn new(lease: i64, clock: Clock, lost: LeaseListener) -> Arc<Self> {
        let state = LeaseState { lease: Lease::new(lease, clock.steady()), watchers: Vec::new() };
        let ends = state.lease.end();
        let this = Arc::new(Self { clock, state: Mutex::new(state), lost });
        this.lost.timer.watch(this.watched());
        if let Some(scheduler) = this.lost.timer.look_by(ends) {
            scheduler.signal();
        }
        this
    }

    fn watched(self: &Arc<Self>) -> Weak<dyn Timed> {
        let watched: Arc<dyn Timed> = self.clone();
        Arc::downgrade(&watched)
    }

    /// Records a publication at this (steady) time.
    pub(crate) fn published(&self, at: i64, deferred: &mut Deferred) {
        self.state.lock().sign(at, &self.lost, deferred);
    }

    /// Records the program's assertion that the publisher is alive.
    pub(crate) fn assert(&self) {
        Deferred::with(|deferred| {
            let mut state = self.state.lock();
            state.sign(self.clock.steady(), &self.lost, deferred);
        });
    }

    /// Adds the handler of a matched subscription.
    fn join(self: &Arc<Self>, watcher: &LivelinessListener, deferred: &mut Deferred) {
        let mut state = self.state.lock();
        state.look(self.clock.steady(), &self.lost, deferred);
        state.watchers.push(watcher.clone());
        watcher.timer.watch(self.watched());
        let ends = state.lease.ends();
        let came =
            if ends.is_some() { LivelinessChanged::came_alive } else { LivelinessChanged::came_expired };
        deferred.signal(watcher.changed.update(came)); // under the lock: before any change
        deferred.signal(ends.and_then(|ends| watcher.timer.look_by(ends)));
    }

    /// Removes the handler of a matched subscription.
    fn remove(self: &Arc<Self>, watcher: &LivelinessListener, deferred: &mut Deferred) {
        let mut state = self.state.lock();
        state.watchers.retain(|other| !Arc::ptr_eq(&other.changed, &watcher.changed));
        watcher.timer.forget(&self.watched());
        let alive = state.lease.ends().is_some(); // as the handler was notified
        let went = if alive { LivelinessChanged::went_alive } else { LivelinessChanged::went_expired };
        deferred.signal(watcher.changed.update(went));
    }
}

impl LeaseState {
    fn look(&mut self, now: i64, lost: &LeaseListener, deferred: &mut Deferred) {
        if let Some(at) = self.lease.look(now) {
            self.tell_expired(at, lost, deferred);
        }
    }

    fn sign(&mut self, now: i64, lost: &LeaseListener, deferred: &mut Deferred) {
        let Sign { expired, revived, sooner } = self.lease.sign(now);
        if let Some(at) = expired {
            self.tell_expired(at, lost, deferred);
        }
        if revived {
            for watcher in &self.watchers {
                deferred.signal(watcher.changed.update(LivelinessChanged::revived));
            }
        }
        if sooner && let Some(ends) = self.lease.ends() {
            let alarms = self.watchers.iter().map(|watcher| &watcher.timer);
            for timer in alarms.chain([&lost.timer]) {
                deferred.signal(timer.look_by(ends));
            }
        }
    }

    fn tell_expired(&self, at: i64, lost: &LeaseListener, deferred: &mut Deferred) {
        let stamp = Stamp::due(at);
        match &lost.handler {
            Some(handler) => deferred.signal(handler.update_since(stamp, |event| {
                event.total += 1;
                event.total_change += 1;
            })),
            None => deferred.warn(
                &lost.node,
                &lost.topic,
                format!(
                    "publisher on {} gave no sign of life for longer than its lease of {:?}: it counts as not alive",
                    lost.topic,
                    Duration::from_nanos(self.lease.duration.unsigned_abs()),
                ),
            ),
        }
        for watcher in &self.watchers {
            deferred.signal(watcher.changed.update_since(stamp, LivelinessChanged::expired));
        }
    }
}

impl Timed for LivelinessLease {
    fn look(&self, deferred: &mut Deferred) -> Option<i64> {
        let mut state = self.state.lock();
        state.look(self.clock.steady(), &self.lost, deferred);
        state.lease.ends()
    }
}

impl LivelinessChanged {
    fn came_alive(&mut self) {
        self.alive += 1;
        self.alive_change += 1;
    }

    fn came_expired(&mut self) {
        self.not_alive += 1;
        self.not_alive_change += 1;
    }

    fn went_alive(&mut self) {
        self.alive -= 1;
        self.alive_change -= 1;
    }

    fn went_expired(&mut self) {
        self.not_alive -= 1;
        self.not_alive_change -= 1;
    }

    fn expired(&mut self) {
        self.went_alive();
        self.came_expired();
    }

    fn revived(&mut self) {
        self.went_expired();
        self.came_alive();
    }
}
