//! Checks whether publishers are alive.
//!
//! Within a process, an automatic publisher is alive while it exists, and so is a manual one
//! without a lease. A manual one with a lease has a [`LivelinessLease`]: it *expires* when more
//! than the lease has passed since its last sign of life (its creation, a publication, an
//! assertion), and revives with the next. The first to look notices the expiry: the timer of the
//! publisher's handler (or of its log line, without a handler), the timer of a matched
//! subscription's handler, or the thread that gives a late sign of life. All handlers are notified
//! at once, under the lease's lock.
//!
//! Other processes read the time of the last sign in shared memory ([`RemoteSigns`]): of a manual
//! publisher, or of its process for an automatic publisher with a lease. There, the lease is
//! watched in the same way by the timers of the matched subscriptions, and only by them: each look
//! begins with the newest sign. So a publisher lapses there as well if its process is stopped. A
//! gap between two signs is noticed only if a look falls into it, as the newest sign replaces those
//! before it. Nothing announces that the publisher lives again: the timers look at an expired lease
//! again now and then, and so does the thread that receives a message.
//!
//! Locks: graph or publisher -> lease -> timer or status -> scheduler.

use super::condition::StatusCondition;
use super::deadline_timer::{DeadlineTimer, Timed};
use super::status::{LivelinessChanged, LivelinessLost};
use crate::mailbox::deferred::Deferred;
use crate::sys::clock::{Clock, Stamp};
use crate::sys::sync::{Arc, Mutex};
use sinew_shm::transport::Counters;
use std::sync::{OnceLock, Weak};
use std::time::Duration;

/// Shortest time in nanoseconds between two looks at an expired lease of another process's
/// publisher.
const SOONEST: i64 = 20_000_000;

/// Longest such time.
const LATEST: i64 = 1_000_000_000;

/// The last sign of life, and whether the lease has run out since. Times are in nanoseconds.
#[derive(Debug)]
pub(crate) struct Lease {
    duration: i64,
    last: i64,
    alive: bool,
}

/// The effects of a sign of life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sign {
    /// Time of an expiry that no look noticed before.
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

    /// Returns the time of expiry: 1 ns after the end of the lease.
    fn end(&self) -> i64 {
        self.last.saturating_add(self.duration).saturating_add(1)
    }

    /// Returns the time of an expiry, if there was one by `now` that no look noticed before.
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

    /// Records the newest sign of a publisher in another process, later than the last one known.
    /// Returns `false` if the lease has expired, which only [`sign`](Self::sign) undoes.
    ///
    /// Unlike [`sign`](Self::sign), it finds no expiry in between: earlier signs were overwritten,
    /// so a long time since the last one known proves no expiry.
    fn extend(&mut self, newest: i64) -> bool {
        if self.alive {
            self.last = newest;
        }
        self.alive
    }
}

/// The liveliness of one publisher with a lease, and the handlers that observe it.
pub(crate) struct LivelinessLease {
    clock: Clock,
    state: Mutex<LeaseState>,
    publisher: WatchedPublisher,
}

/// The publisher with the lease.
enum WatchedPublisher {
    /// It is in this process.
    Local {
        lost: LeaseListener,
        /// The counters in which other processes see its signs of life, once they know the
        /// publisher.
        counters: OnceLock<Counters>,
    },
    /// It is in another process.
    Remote(Box<dyn RemoteSigns>),
}

/// The signs of life of a publisher in another process.
pub(crate) trait RemoteSigns: Send + Sync {
    /// Returns the steady time of the last one; `None` if there is none yet.
    fn last(&self) -> Option<i64>;
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
            None => self.changed.update(LivelinessChanged::came_alive, deferred),
        }
    }

    /// Handles the end of a match.
    pub(crate) fn is_unmatched(&self, lease: Option<&Arc<LivelinessLease>>, deferred: &mut Deferred) {
        match lease {
            Some(lease) => lease.remove(self, deferred),
            None => self.changed.update(LivelinessChanged::went_alive, deferred),
        }
    }
}

impl LivelinessLease {
    /// Creates the liveliness of a publisher of this process; `lease` in nanoseconds, more than 0.
    pub(crate) fn new(lease: i64, clock: Clock, lost: LeaseListener) -> Arc<Self> {
        let timer = lost.timer.clone();
        let publisher = WatchedPublisher::Local { lost, counters: OnceLock::new() };
        let this = Self::with(lease, clock, publisher);
        timer.watch(this.watched());
        let ends = this.state.lock().lease.end();
        Deferred::with(|deferred| timer.look_by(ends, deferred));
        this
    }

    /// Creates the liveliness of a publisher of another process. A publisher without a sign of life
    /// is alive now.
    pub(crate) fn remote(lease: i64, clock: Clock, signs: Box<dyn RemoteSigns>) -> Arc<Self> {
        let now = clock.steady();
        let last = signs.last().map_or(now, |last| last.min(now));
        let this = Self::with(lease, clock, WatchedPublisher::Remote(signs));
        this.state.lock().lease.last = last;
        this
    }

    fn with(lease: i64, clock: Clock, publisher: WatchedPublisher) -> Arc<Self> {
        let state = LeaseState { lease: Lease::new(lease, clock.steady()), watchers: Vec::new() };
        Arc::new(Self { clock, state: Mutex::new(state), publisher })
    }

    /// Sets the counters in which other processes see the signs of life; called once.
    pub(crate) fn is_counted(&self, counters: Counters) {
        if let WatchedPublisher::Local { counters: place, .. } = &self.publisher {
            let state = self.state.lock(); // no sign is missed in between
            counters.set_alive(state.lease.last);
            let _ = place.set(counters);
        }
    }

    fn watched(self: &Arc<Self>) -> Weak<dyn Timed> {
        let watched: Arc<dyn Timed> = self.clone();
        Arc::downgrade(&watched)
    }

    /// Records a publication at this (steady) time.
    pub(crate) fn published(&self, at: i64, deferred: &mut Deferred) {
        self.state.lock().sign(at, &self.publisher, deferred);
    }

    /// Records the program's assertion that the publisher is alive.
    pub(crate) fn assert(&self) {
        Deferred::with(|deferred| {
            let mut state = self.state.lock();
            state.sign(self.clock.steady(), &self.publisher, deferred);
        });
    }

    /// Notices the signs that a publisher of another process gave, and the end of its lease.
    pub(crate) fn look_again(&self, deferred: &mut Deferred) {
        self.state.lock().look(self.clock.steady(), &self.publisher, deferred);
    }

    /// Adds the handler of a matched subscription.
    fn join(self: &Arc<Self>, watcher: &LivelinessListener, deferred: &mut Deferred) {
        let mut state = self.state.lock();
        let now = self.clock.steady();
        state.look(now, &self.publisher, deferred);
        state.watchers.push(watcher.clone());
        watcher.timer.watch(self.watched());
        let ends = state.lease.ends();
        let came =
            if ends.is_some() { LivelinessChanged::came_alive } else { LivelinessChanged::came_expired };
        watcher.changed.update(came, deferred); // under the lock: before any change
        let next = state.next_look(now, &self.publisher);
        if let Some(next) = next {
            watcher.timer.look_by(next, deferred);
        }
    }

    /// Removes the handler of a matched subscription.
    fn remove(self: &Arc<Self>, watcher: &LivelinessListener, deferred: &mut Deferred) {
        let mut state = self.state.lock();
        state.watchers.retain(|other| !Arc::ptr_eq(&other.changed, &watcher.changed));
        watcher.timer.forget(&self.watched());
        let alive = state.lease.ends().is_some(); // the state of which the handler was last notified
        let went = if alive { LivelinessChanged::went_alive } else { LivelinessChanged::went_expired };
        watcher.changed.update(went, deferred);
    }
}

impl LeaseState {
    fn look(&mut self, now: i64, publisher: &WatchedPublisher, deferred: &mut Deferred) {
        if let WatchedPublisher::Remote(signs) = publisher
            && let Some(last) = signs.last().map(|last| last.min(now)) // its process is not trusted
            && last > self.lease.last
            && !self.lease.extend(last)
        {
            self.sign(last, publisher, deferred);
        }
        if let Some(at) = self.lease.look(now) {
            self.notify_expired(at, publisher, deferred);
        }
    }

    /// Returns the time at which a timer has to look again, `now` being the time of this look.
    fn next_look(&self, now: i64, publisher: &WatchedPublisher) -> Option<i64> {
        let again = || now.saturating_add(self.lease.duration.clamp(SOONEST, LATEST));
        let is_remote = matches!(publisher, WatchedPublisher::Remote(_)) && !self.watchers.is_empty();
        self.lease.ends().or_else(|| is_remote.then(again))
    }

    fn sign(&mut self, now: i64, publisher: &WatchedPublisher, deferred: &mut Deferred) {
        let Sign { expired, revived, sooner } = self.lease.sign(now);
        let own_timer = match publisher {
            WatchedPublisher::Local { lost, counters } => {
                if let Some(counters) = counters.get() {
                    counters.set_alive(now);
                }
                Some(&lost.timer)
            }
            WatchedPublisher::Remote(_) => None,
        };
        if let Some(at) = expired {
            self.notify_expired(at, publisher, deferred);
        }
        if revived {
            for watcher in &self.watchers {
                watcher.changed.update(LivelinessChanged::revived, deferred);
            }
        }
        if sooner && let Some(ends) = self.lease.ends() {
            let alarms = self.watchers.iter().map(|watcher| &watcher.timer);
            for timer in alarms.chain(own_timer) {
                timer.look_by(ends, deferred);
            }
        }
    }

    fn notify_expired(&self, at: i64, publisher: &WatchedPublisher, deferred: &mut Deferred) {
        let stamp = Stamp::due(at);
        if let WatchedPublisher::Local { lost, .. } = publisher {
            self.notify_publisher(stamp, lost, deferred);
        }
        for watcher in &self.watchers {
            watcher.changed.update_since(stamp, LivelinessChanged::expired, deferred);
        }
    }

    fn notify_publisher(&self, stamp: Stamp, lost: &LeaseListener, deferred: &mut Deferred) {
        match &lost.handler {
            Some(handler) => {
                let expired = |event: &mut LivelinessLost| {
                    event.total += 1;
                    event.total_change += 1;
                };
                handler.update_since(stamp, expired, deferred);
            }
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
    }
}

impl Timed for LivelinessLease {
    fn look(&self, deferred: &mut Deferred) -> Option<i64> {
        let mut state = self.state.lock();
        let now = self.clock.steady();
        state.look(now, &self.publisher, deferred);
        state.next_look(now, &self.publisher)
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
