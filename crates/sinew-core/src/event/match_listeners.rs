//! Notifies handlers when an endpoint is matched, or can't be.

use super::condition::StatusCondition;
use super::status::{IncompatibleQos, IncompatibleType, Matched};
use crate::mailbox::deferred::Deferred;
use crate::ros::mismatch::Mismatch;
use crate::ros::origin::Origin;
use crate::sys::clock::Time;
use crate::sys::sync::{Arc, Mutex};
use sinew_shm::Counter;
use sinew_shm::transport::Counters;
use std::time::Duration;

/// Time that an endpoint waits for its first match in this process before the log reports an
/// endpoint of another process that is private to that process. A program creates its publishers
/// and subscriptions one after the other.
const PATIENCE: Duration = Duration::from_secs(1);

/// The status handlers of a publisher or a subscription, and the state that they report.
pub(crate) struct MatchListeners {
    matched: Option<Arc<StatusCondition<Matched>>>,
    incompatible_qos: Option<Arc<StatusCondition<IncompatibleQos>>>,
    incompatible_type: Option<Arc<StatusCondition<IncompatibleType>>>,
    current: Mutex<MatchStatus>,
}

#[derive(Default)]
struct MatchStatus {
    matched: Matched,
    /// Matching subscriptions of the network, and the number of carriers that bring a publisher's
    /// messages there: the subscriptions count while there is a carrier.
    listed: usize,
    carriers: usize,
    /// The counters that other processes can read.
    counters: Option<Counters>,
    /// Whether the log already reports a match that the QoS would prevent between endpoints of
    /// Sinew.
    has_tolerated: bool,
    /// The first endpoint of another process that is private to it, and the time at which it was
    /// found. Not logged yet.
    stays_inside: Option<(Time, String)>,
}

impl MatchStatus {
    fn change(&mut self, change: impl FnOnce(&mut Matched)) {
        change(&mut self.matched);
        self.count();
    }

    /// Updates the number of matches that other processes read.
    fn count(&self) {
        if let Some(counters) = &self.counters {
            counters.set(Counter::Matched, self.matched.current as u64);
        }
    }
}

/// A handler is notified before the public number of matches changes: a thread that has seen the
/// number finds the handler ready.
impl MatchListeners {
    pub(crate) fn new(
        matched: Option<Arc<StatusCondition<Matched>>>,
        incompatible_qos: Option<Arc<StatusCondition<IncompatibleQos>>>,
        incompatible_type: Option<Arc<StatusCondition<IncompatibleType>>>,
    ) -> Self {
        Self { matched, incompatible_qos, incompatible_type, current: Mutex::default() }
    }

    pub(crate) fn is_matched(&self, deferred: &mut Deferred) {
        let change = |event: &mut Matched| {
            event.total += 1;
            event.total_change += 1;
            event.current += 1;
            event.current_change += 1;
        };
        if let Some(source) = &self.matched {
            source.update(change, deferred);
        }
        self.current.lock().change(change);
    }

    pub(crate) fn is_unmatched(&self, deferred: &mut Deferred) {
        let change = |event: &mut Matched| {
            event.current -= 1;
            event.current_change -= 1;
        };
        if let Some(source) = &self.matched {
            source.update(change, deferred);
        }
        self.current.lock().change(change);
    }

    /// Handles a match of a publisher with a subscription of this origin, or its end.
    pub(crate) fn subscription(&self, origin: Origin, came: bool, deferred: &mut Deferred) {
        match origin {
            Origin::Listed | Origin::AnyQosListed => self.listed(came, deferred),
            Origin::Carrier => self.carried(came, deferred),
            Origin::Local | Origin::Network | Origin::AnyQosNetwork if came => self.is_matched(deferred),
            Origin::Local | Origin::Network | Origin::AnyQosNetwork => self.is_unmatched(deferred),
        }
    }

    /// Handles a match with a subscription of the network, or its end.
    fn listed(&self, came: bool, deferred: &mut Deferred) {
        let counts = {
            let mut current = self.current.lock();
            current.listed = if came { current.listed + 1 } else { current.listed - 1 };
            current.carriers > 0
        };
        match (counts, came) {
            (true, true) => self.is_matched(deferred),
            (true, false) => self.is_unmatched(deferred),
            (false, _) => {}
        }
    }

    /// Handles the connection of a carrier with a publisher, or its end.
    fn carried(&self, came: bool, deferred: &mut Deferred) {
        let changed = {
            let mut current = self.current.lock();
            let before = current.carriers;
            current.carriers = if came { before + 1 } else { before - 1 };
            if before.min(current.carriers) == 0 { current.listed } else { 0 }
        };
        (0..changed).for_each(|_| if came { self.is_matched(deferred) } else { self.is_unmatched(deferred) });
    }

    /// Returns the current number of matches.
    pub(crate) fn matched_now(&self) -> usize {
        self.current.lock().matched.current
    }

    /// Whether there ever was a match.
    pub(crate) fn was_matched(&self) -> bool {
        self.current.lock().matched.total > 0
    }

    /// Sets the counters that other processes can read; called once.
    pub(crate) fn is_counted(&self, counters: Counters) {
        let mut current = self.current.lock();
        current.counters = Some(counters);
        current.count();
    }

    /// Records a match with an endpoint of the network that the QoS would prevent between endpoints
    /// of Sinew. Returns whether it is the first one, which is logged.
    pub(crate) fn tolerates(&self) -> bool {
        !std::mem::replace(&mut self.current.lock().has_tolerated, true)
    }

    /// Handles an endpoint on the topic that doesn't match. Returns whether nothing needs to be
    /// logged, because a handler is notified.
    pub(crate) fn cannot_match(&self, mismatch: &Mismatch, reason: &str, deferred: &mut Deferred) -> bool {
        match (mismatch, &self.incompatible_qos, &self.incompatible_type) {
            (Mismatch::Qos(incompatibility), Some(source), _) => {
                let found = |event: &mut IncompatibleQos| {
                    event.total += 1;
                    event.total_change += 1;
                    event.last_policy = incompatibility.policies().next();
                    reason.clone_into(&mut event.last_reason);
                };
                source.update(found, deferred);
            }
            (Mismatch::Type { .. }, _, Some(source)) => {
                let found = |event: &mut IncompatibleType| {
                    event.total += 1;
                    event.total_change += 1;
                    reason.clone_into(&mut event.last_reason);
                };
                source.update(found, deferred);
            }
            // If it is matched here, or will be once this program has created its other endpoint,
            // that endpoint most likely belongs to another instance of a program with a topic
            // private to its process.
            (Mismatch::StaysInside { .. }, ..) => {
                let held = &mut self.current.lock().stays_inside;
                held.get_or_insert_with(|| (Time::steady(), reason.to_owned()));
            }
            _ => return false,
        }
        true
    }

    /// Whether [`take_unsaid`](Self::take_unsaid) is to return a text later.
    pub(crate) fn has_unsaid(&self) -> bool {
        self.current.lock().stays_inside.is_some()
    }

    /// Returns the log text about an endpoint that is private to its process, if this one was never
    /// matched and `has_ended` is set or it has waited long enough.
    pub(crate) fn take_unsaid(&self, has_ended: bool) -> Option<String> {
        let mut current = self.current.lock();
        let (since, _) = current.stays_inside.as_ref()?;
        if !has_ended && Time::steady() - *since < PATIENCE {
            return None;
        }
        let (_, reason) = current.stays_inside.take()?;
        (current.matched.total == 0).then_some(reason)
    }
}
