//! Who is told when an end of the delivery is matched, or can't be.

use super::condition::StatusCondition;
use super::status::{IncompatibleQos, IncompatibleType, Matched};
use crate::mailbox::deferred::Deferred;
use crate::ros::mismatch::Mismatch;
use crate::ros::origin::Origin;
use crate::sys::clock::Time;
use crate::sys::sync::{Arc, Mutex};
use sinew_shm::{Counter, Counters};
use std::time::Duration;

/// So long an end may wait for its first partner in this process, before the log says that one of
/// another process stays there: a program makes its publishers and subscriptions one after the
/// other.
const PATIENCE: Duration = Duration::from_secs(1);

/// The status handlers of a publisher or a subscription, and what they are about.
pub(crate) struct MatchListeners {
    matched: Option<Arc<StatusCondition<Matched>>>,
    incompatible_qos: Option<Arc<StatusCondition<IncompatibleQos>>>,
    incompatible_type: Option<Arc<StatusCondition<IncompatibleType>>>,
    current: Mutex<MatchStatus>,
}

#[derive(Default)]
struct MatchStatus {
    matched: Matched,
    /// Subscriptions of the network that match, and by how many carriers a publisher's messages get
    /// there: they count while there is one.
    listed: u64,
    carriers: u64,
    /// What others can see of it.
    counters: Option<Counters>,
    /// The log says that it matches one whose QoS would keep them apart, if both were of Sinew.
    has_tolerated: bool,
    /// An end of another process that is private to it, and since when that is known: the first
    /// one. Not said yet.
    stays_inside: Option<(Time, String)>,
}

impl MatchStatus {
    fn change(&mut self, change: impl FnOnce(&mut Matched)) {
        change(&mut self.matched);
        self.tell();
    }

    fn tell(&self) {
        if let Some(counters) = &self.counters {
            counters.set(Counter::Matched, self.matched.current);
        }
    }
}

/// A handler is told before the number changes that can be asked for: a thread that has seen the
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
        deferred.signal(self.matched.as_ref().and_then(|source| source.update(change)));
        self.current.lock().change(change);
    }

    pub(crate) fn is_unmatched(&self, deferred: &mut Deferred) {
        let change = |event: &mut Matched| {
            event.current -= 1;
            event.current_change -= 1;
        };
        deferred.signal(self.matched.as_ref().and_then(|source| source.update(change)));
        self.current.lock().change(change);
    }

    /// A publisher matches a subscription that is at home there, or no longer does.
    pub(crate) fn subscription(&self, origin: Origin, came: bool, deferred: &mut Deferred) {
        match origin {
            Origin::Listed | Origin::AnyQosListed => self.listed(came, deferred),
            Origin::Carrier => self.carried(came, deferred),
            Origin::Local | Origin::Network | Origin::AnyQosNetwork if came => self.is_matched(deferred),
            Origin::Local | Origin::Network | Origin::AnyQosNetwork => self.is_unmatched(deferred),
        }
    }

    /// A subscription of the network matches, or no longer does.
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

    /// A carrier is connected with a publisher, or no longer is.
    fn carried(&self, came: bool, deferred: &mut Deferred) {
        let changed = {
            let mut current = self.current.lock();
            let before = current.carriers;
            current.carriers = if came { before + 1 } else { before - 1 };
            if before.min(current.carriers) == 0 { current.listed } else { 0 }
        };
        (0..changed).for_each(|_| if came { self.is_matched(deferred) } else { self.is_unmatched(deferred) });
    }

    /// How many are matched now.
    pub(crate) fn matched_now(&self) -> u64 {
        self.current.lock().matched.current
    }

    /// Whether there ever was an end that it matches.
    pub(crate) fn was_matched(&self) -> bool {
        self.current.lock().matched.total > 0
    }

    /// What others can see of it; set once.
    pub(crate) fn is_counted(&self, counters: Counters) {
        let mut current = self.current.lock();
        current.counters = Some(counters);
        current.tell();
    }

    /// It matches an end of the network whose QoS would keep them apart, if both were of Sinew.
    /// Whether that is the first one, which the log tells of.
    pub(crate) fn tolerates(&self) -> bool {
        !std::mem::replace(&mut self.current.lock().has_tolerated, true)
    }

    /// There is an end on the topic that this doesn't match. Whether nothing more is to be said of
    /// it: a handler is told.
    pub(crate) fn cannot_match(&self, mismatch: &Mismatch, reason: &str, deferred: &mut Deferred) -> bool {
        match (mismatch, &self.incompatible_qos, &self.incompatible_type) {
            (Mismatch::Qos(incompatibility), Some(source), _) => deferred.signal(source.update(|event| {
                event.total += 1;
                event.total_change += 1;
                event.last_policy = incompatibility.policies().next();
                reason.clone_into(&mut event.last_reason);
            })),
            (Mismatch::Type { .. }, _, Some(source)) => deferred.signal(source.update(|event| {
                event.total += 1;
                event.total_change += 1;
                reason.clone_into(&mut event.last_reason);
            })),
            // If it is matched here, or will be when this program has made its other end, it is
            // most likely another instance of a program whose topic is private to its process.
            (Mismatch::StaysInside { .. }, ..) => {
                let held = &mut self.current.lock().stays_inside;
                held.get_or_insert_with(|| (Time::steady(), reason.to_owned()));
            }
            _ => return false,
        }
        true
    }
    /// What is to be said of an end that is private to its process: this one, which `has_ended` or
    /// has waited for long enough, has never been matched.
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
