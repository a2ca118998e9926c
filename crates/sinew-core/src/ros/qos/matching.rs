//! The rules by which a publisher's offer matches a subscription's request (DDS 1.4, section 2.2.3,
//! "RxO").
//!
//! | policy | offered and requested match if | order |
//! |---|---|---|
//! | deadline | offered <= requested | a duration; none is the longest |
//! | liveliness | offered >= requested | automatic < manual by topic |
//! | liveliness lease | offered <= requested | a duration; none is the longest |
//! | reliability | offered >= requested | best effort < reliable |
//! | durability | offered >= requested | volatile < transient local |
//!
//! Each endpoint settles everything else (history, lifespan, limits) for itself.

use super::limits::{limit, limited};
use super::policy::Policy;
use super::settings::{Durability, Liveliness, QoS, Reliability};
use std::fmt;
use std::time::Duration;

/// Returns each policy for which a publisher offers less than a subscription requests; they match
/// if there is none.
fn unmet(offered: &QoS, requested: &QoS) -> impl Iterator<Item = Policy> {
    let unmet = [
        (offered.reliability < requested.reliability, Policy::Reliability),
        (offered.durability < requested.durability, Policy::Durability),
        (limit(offered.deadline) > limit(requested.deadline), Policy::Deadline),
        (offered.liveliness < requested.liveliness, Policy::Liveliness),
        (limit(offered.lease) > limit(requested.lease), Policy::Lease),
    ];
    unmet.into_iter().filter_map(|(is_unmet, policy)| is_unmet.then_some(policy))
}

/// Returns the first of them.
pub(crate) fn incompatibility(offered: &QoS, requested: &QoS) -> Option<Policy> {
    unmet(offered, requested).next()
}

/// The policies for which a publisher offers less than a subscription requests, so that they
/// exchange no messages; from [`QoS::incompatibility`].
///
/// Its text names each policy with both values: "durability (offers volatile, asked
/// transient_local)".
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Incompatibility {
    offered: QoS,
    requested: QoS,
}

impl Incompatibility {
    /// Returns the policies for which the publisher offers too little: at least one.
    pub fn policies(&self) -> impl Iterator<Item = Policy> {
        unmet(&self.offered, &self.requested)
    }
}

impl fmt::Display for Incompatibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { offered, requested } = self;
        self.policies().enumerate().try_for_each(|(index, policy)| {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{policy} (offers {}, asked {})", offered.word(policy), requested.word(policy))
        })
    }
}

impl QoS {
    /// Returns the reason why a publisher that offers this QoS doesn't match a subscription that
    /// requests the other; `None` if they match.
    ///
    /// ```
    /// use sinew::QoS;
    /// let why = QoS::new().incompatibility(&QoS::new().transient_local()).expect("less than is asked for");
    /// assert_eq!(why.to_string(), "durability (offers volatile, asked transient_local)");
    /// assert!(QoS::new().transient_local().incompatibility(&QoS::new()).is_none());
    /// ```
    pub fn incompatibility(&self, requested: &QoS) -> Option<Incompatibility> {
        let found = incompatibility(self, requested);
        found.map(|_| Incompatibility { offered: *self, requested: *requested })
    }

    /// Returns `true` if publishers with these two reach the same subscriptions in the same way:
    /// they are equal in everything that matching compares, and in whether they wait for room.
    pub(crate) fn same_class(&self, other: &QoS) -> bool {
        let class = |qos: &QoS| {
            (
                qos.reliability,
                qos.durability,
                limit(qos.deadline),
                qos.liveliness,
                limit(qos.lease),
                qos.is_blocking(),
            )
        };
        class(self) == class(other)
    }

    /// Returns this QoS's value for the policy, e.g. "best_effort", "100ms".
    fn word(&self, policy: Policy) -> String {
        let limit = |limit: Option<Duration>| match limit.and_then(limited) {
            Some(limit) => format!("{limit:?}"),
            None => "none".to_owned(),
        };
        match policy {
            Policy::Reliability => match self.reliability {
                Reliability::Reliable => "reliable".to_owned(),
                Reliability::BestEffort => "best_effort".to_owned(),
            },
            Policy::Durability => match self.durability {
                Durability::TransientLocal => "transient_local".to_owned(),
                Durability::Volatile => "volatile".to_owned(),
            },
            Policy::Deadline => limit(self.deadline),
            Policy::Liveliness => match self.liveliness {
                Liveliness::Automatic => "automatic".to_owned(),
                Liveliness::ManualByTopic => "manual_by_topic".to_owned(),
            },
            Policy::Lease => limit(self.lease),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::any;
    use super::super::limits::LONGEST;
    use super::*;
    use proptest::prelude::*;

    /// DDS 1.4, table in section 2.2.3, for the supported kinds: R(eliable), B(est effort),
    /// T(ransient local), V(olatile).
    #[test]
    fn every_kind_offered_meets_every_kind_requested() {
        let qos = |text: &str| {
            let qos = if text.starts_with('R') { QoS::new().reliable() } else { QoS::new().best_effort() };
            if text.ends_with('T') { qos.transient_local() } else { qos.volatile() }
        };
        let (reliability, durability) = (Some(Policy::Reliability), Some(Policy::Durability));
        for (offered, requested, incompatible) in [
            ("RT", "RT", None),
            ("RT", "RV", None),
            ("RT", "BT", None),
            ("RT", "BV", None),
            ("RV", "RT", durability),
            ("RV", "RV", None),
            ("RV", "BT", durability),
            ("RV", "BV", None),
            ("BT", "RT", reliability),
            ("BT", "RV", reliability),
            ("BT", "BT", None),
            ("BT", "BV", None),
            ("BV", "RT", reliability), // and durability: one reason at a time
            ("BV", "RV", reliability),
            ("BV", "BT", durability),
            ("BV", "BV", None),
        ] {
            assert_eq!(
                incompatibility(&qos(offered), &qos(requested)),
                incompatible,
                "{offered} to {requested}"
            );
        }
    }

    /// The same table for policies with values, as the text that both endpoints report.
    #[test]
    fn limits_and_liveliness_offered_meet_those_requested() {
        use Liveliness::{Automatic, ManualByTopic};
        const NONE: Duration = Duration::MAX;
        let ms = Duration::from_millis;
        let deadline = |period| QoS::new().deadline(period);
        let lease = |duration| QoS::new().lease(duration);
        let kind = |kind| QoS::new().liveliness(kind);
        for (offered, requested, text) in [
            (deadline(NONE), deadline(NONE), None),
            (deadline(ms(9)), deadline(NONE), None),
            (deadline(ms(9)), deadline(ms(10)), None),
            (deadline(ms(9)), deadline(ms(9)), None),
            (deadline(ms(10)), deadline(ms(9)), Some("deadline (offers 10ms, asked 9ms)")),
            (deadline(NONE), deadline(ms(9)), Some("deadline (offers none, asked 9ms)")),
            (kind(Automatic), kind(Automatic), None),
            (kind(ManualByTopic), kind(Automatic), None),
            (kind(ManualByTopic), kind(ManualByTopic), None),
            (
                kind(Automatic),
                kind(ManualByTopic),
                Some("liveliness (offers automatic, asked manual_by_topic)"),
            ),
            (lease(ms(9)), lease(NONE), None),
            (lease(ms(9)), lease(ms(10)), None),
            (lease(ms(10)), lease(ms(9)), Some("liveliness lease (offers 10ms, asked 9ms)")),
            (lease(NONE), lease(ms(9)), Some("liveliness lease (offers none, asked 9ms)")),
            (
                QoS::new().best_effort(),
                QoS::new().transient_local(),
                Some(
                    "reliability (offers best_effort, asked reliable), \
                     durability (offers volatile, asked transient_local)",
                ),
            ),
        ] {
            let found = offered.incompatibility(&requested);
            assert_eq!(found.map(|found| found.to_string()).as_deref(), text);
        }
    }

    #[test]
    fn both_ways_to_say_for_ever_are_one() {
        let mut by_hand = QoS::new();
        by_hand.deadline = Some(Duration::MAX);
        by_hand.lease = Some(Duration::from_nanos(i64::MAX as u64));
        assert_eq!(incompatibility(&by_hand, &QoS::new()), None);
        assert_eq!(incompatibility(&QoS::new(), &by_hand), None);
        assert!(by_hand.same_class(&QoS::new()));
        assert_eq!(by_hand.word(Policy::Deadline), "none");
    }

    /// Returns the same QoS, but stronger in one policy (or as strong as possible).
    fn stronger(qos: QoS, policy: Policy, limit: Duration) -> QoS {
        let at_most = |other: Option<Duration>| other.map_or(limit, |other| other.min(limit));
        match policy {
            Policy::Reliability => qos.reliable(),
            Policy::Durability => qos.transient_local(),
            Policy::Deadline => qos.deadline(at_most(qos.deadline)),
            Policy::Liveliness => qos.liveliness(Liveliness::ManualByTopic),
            Policy::Lease => qos.lease(at_most(qos.lease)),
        }
    }

    const POLICIES: [Policy; 5] =
        [Policy::Reliability, Policy::Durability, Policy::Deadline, Policy::Liveliness, Policy::Lease];

    proptest! {
        /// A request is a list of demands; an offer is a list of abilities. Nothing else about the
        /// endpoints matters.
        #[test]
        fn ends_match_if_every_demand_is_met(offered in any::qos(), requested in any::qos()) {
            let within = |offered: Option<Duration>, requested: Option<Duration>| {
                match (offered.and_then(limited), requested.and_then(limited)) {
                    (_, None) => true,
                    (None, Some(_)) => false,
                    (Some(offered), Some(requested)) => offered <= requested,
                }
            };
            let met = |policy: &Policy| match policy {
                Policy::Reliability => {
                    requested.reliability == Reliability::BestEffort || offered.reliability == Reliability::Reliable
                }
                Policy::Durability => {
                    requested.durability == Durability::Volatile || offered.is_transient_local()
                }
                Policy::Deadline => within(offered.deadline, requested.deadline),
                Policy::Liveliness => {
                    requested.liveliness == Liveliness::Automatic || offered.liveliness == Liveliness::ManualByTopic
                }
                Policy::Lease => within(offered.lease, requested.lease),
            };
            match incompatibility(&offered, &requested) {
                None => prop_assert!(POLICIES.iter().all(met)),
                Some(policy) => prop_assert!(!met(&policy)),
            }
        }

        #[test]
        fn what_is_offered_meets_itself_requested(qos in any::qos()) {
            prop_assert_eq!(incompatibility(&qos, &qos), None);
        }

        /// A stronger offer loses no match; a stronger request gains none.
        #[test]
        fn matching_is_monotone(
            offered in any::qos(),
            requested in any::qos(),
            policy in prop::sample::select(&POLICIES),
            limit in any::duration(),
        ) {
            let matches = |offered: &QoS, requested: &QoS| incompatibility(offered, requested).is_none();
            let limits = [offered.deadline, offered.lease, requested.deadline, requested.lease, Some(limit)];
            // Longer ones are refused before any endpoints are matched.
            if limits.into_iter().flatten().filter_map(limited).any(|limit| limit > LONGEST) {
                return Ok(());
            }
            let before = matches(&offered, &requested);
            prop_assert!(matches(&stronger(offered, policy, limit), &requested) >= before);
            prop_assert!(matches(&offered, &stronger(requested, policy, limit)) <= before);
        }

        /// Publishers of one class share their subscriptions.
        #[test]
        fn publishers_of_a_class_match_the_same(
            one in any::qos(),
            changed in any::qos(),
            which in 0..9_usize,
            requested in any::qos(),
        ) {
            let mut other = one;
            match which {
                0 => other.history = changed.history,
                1 => other.reliability = changed.reliability,
                2 => other.durability = changed.durability,
                3 => other.deadline = changed.deadline,
                4 => other.lifespan = changed.lifespan,
                5 => other.liveliness = changed.liveliness,
                6 => other.lease = changed.lease,
                7 => other.max_samples = changed.max_samples,
                _ => other.max_blocking_time = changed.max_blocking_time,
            }
            if one.same_class(&other) {
                prop_assert_eq!(incompatibility(&one, &requested), incompatibility(&other, &requested));
                prop_assert_eq!(one.is_blocking(), other.is_blocking());
            }
        }
    }
}
