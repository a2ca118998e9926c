//! Policies that an endpoint adopts from the other ends of its topic when it is made.
//!
//! As in `rmw_dds_common` of ROS 2: the strictest setting with which the endpoint matches all ends
//! that exist then. It never changes afterwards.
//!
//! | policy | a publisher offers | a subscription requests |
//! |---|---|---|
//! | reliability | reliable | reliable, if all publishers offer it |
//! | durability | transient local | transient local, if all publishers offer it |
//! | liveliness | manual by topic, if a subscription requests it | manual by topic, if all publishers offer it |
//! | deadline, lease | the shortest of all subscriptions | the longest of all publishers |

use super::limits::{limit, limited};
use super::policy::{Policy, PolicySet};
use super::settings::{Durability, Liveliness, QoS, Reliability};

impl QoS {
    /// The last 10 messages; reliability, durability, deadline, liveliness and lease as the other
    /// ends of the topic have them when the entity is made. `rmw_qos_profile_best_available` in
    /// ROS 2.
    ///
    /// The entity gets the strictest setting with which it matches all ends that exist then, of any
    /// type, in any process. A subscription is reliable, transient local and manual by topic only
    /// if all publishers are; its deadline and its lease are their longest. A publisher is reliable
    /// and transient local; it is manual by topic if a subscription is, and its deadline and its
    /// lease are the subscriptions' shortest. If there is no other end, a subscription requests,
    /// and a publisher offers, as if they all were the strictest, without limits in time.
    ///
    /// The choice is made once: an end that is made later may not match, which is reported like any
    /// mismatch. `qos()` of the [publisher](crate::Publisher::qos) or the
    /// [subscription](crate::Subscription::qos) returns the choice, and so do tools. Setting a
    /// policy takes it out of the choice again, [`best_available_for`](Self::best_available_for)
    /// leaves a single one to it.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// use sinew::qos::{Durability, Reliability};
    /// # #[derive(Clone)] struct Scan; impl Message for Scan {}
    /// let node = Context::builder().shared_memory(false).build()?.node("viewer")?;
    /// let _scans = node.publisher::<Scan>("scan").qos(QoS::sensor_data()).create()?;
    /// let viewer = node.subscription::<Scan>("scan").qos(QoS::best_available()).create()?;
    /// assert_eq!(viewer.qos(), QoS::new().best_effort());
    /// assert_eq!(viewer.publisher_count(), 1);
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub const fn best_available() -> Self {
        let mut qos = Self::new();
        qos.best_available = PolicySet::ALL;
        qos
    }

    /// Leaves one policy to the other ends of the topic, as
    /// [`best_available`](Self::best_available) does with all. Until the entity is made, its field
    /// keeps the former value, which has no meaning.
    ///
    /// ```
    /// use sinew::QoS;
    /// use sinew::qos::Policy;
    /// let qos = QoS::sensor_data().best_available_for(Policy::Reliability);
    /// assert!(qos.is_best_available(Policy::Reliability));
    /// assert!(!qos.is_best_available(Policy::Durability));
    /// assert_eq!(qos.best_effort(), QoS::sensor_data());
    /// ```
    pub const fn best_available_for(mut self, policy: Policy) -> Self {
        self.best_available = self.best_available.with(policy);
        self
    }

    /// Returns `true` if the policy is left to the other ends of the topic. Never true for the QoS
    /// of an entity that exists.
    pub const fn is_best_available(&self, policy: Policy) -> bool {
        self.best_available.contains(policy)
    }

    /// Whether any policy is left to the other ends.
    pub(crate) fn is_undecided(&self) -> bool {
        self.best_available != PolicySet::NONE
    }

    /// Returns what a publisher with this QoS offers to these subscriptions.
    pub(crate) fn offered_to(self, requested: &[QoS]) -> Self {
        let shortest = |of: fn(&QoS) -> _| requested.iter().map(|qos| limit(of(qos))).min().and_then(limited);
        let mut offered = Self { best_available: PolicySet::NONE, ..self };
        for policy in self.best_available.iter() {
            match policy {
                Policy::Reliability => offered.reliability = Reliability::Reliable,
                Policy::Durability => offered.durability = Durability::TransientLocal,
                Policy::Deadline => offered.deadline = shortest(|qos| qos.deadline),
                Policy::Liveliness => {
                    let strictest = requested.iter().map(|qos| qos.liveliness).max();
                    offered.liveliness = strictest.unwrap_or(Liveliness::Automatic);
                }
                Policy::Lease => offered.lease = shortest(|qos| qos.lease),
            }
        }
        offered
    }

    /// Returns what a subscription with this QoS requests of these publishers.
    pub(crate) fn requested_from(self, offered: &[QoS]) -> Self {
        let longest = |of: fn(&QoS) -> _| offered.iter().map(|qos| limit(of(qos))).max().and_then(limited);
        let mut requested = Self { best_available: PolicySet::NONE, ..self };
        for policy in self.best_available.iter() {
            match policy {
                Policy::Reliability => {
                    let weakest = offered.iter().map(|qos| qos.reliability).min();
                    requested.reliability = weakest.unwrap_or(Reliability::Reliable);
                }
                Policy::Durability => {
                    let weakest = offered.iter().map(|qos| qos.durability).min();
                    requested.durability = weakest.unwrap_or(Durability::TransientLocal);
                }
                Policy::Deadline => requested.deadline = longest(|qos| qos.deadline),
                Policy::Liveliness => {
                    let weakest = offered.iter().map(|qos| qos.liveliness).min();
                    requested.liveliness = weakest.unwrap_or(Liveliness::ManualByTopic);
                }
                Policy::Lease => requested.lease = longest(|qos| qos.lease),
            }
        }
        requested
    }
}

#[cfg(test)]
mod tests {
    use super::super::{any, incompatibility};
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::time::Duration;

    const MANUAL: Liveliness = Liveliness::ManualByTopic;

    /// Cases of `rmw_dds_common`'s `qos_profile_get_best_available_for_subscription`, with "no
    /// limit" as the longest.
    #[test]
    fn a_subscription_requests_what_all_publishers_offer() {
        let ms = Duration::from_millis;
        let strict = QoS::new().transient_local().liveliness(MANUAL);
        for (offered, requested) in [
            (&[][..], strict),
            (&[strict], strict),
            (&[strict, QoS::new()], QoS::new()),
            (&[strict, strict.best_effort()], strict.best_effort()),
            (&[strict.deadline(ms(5)), strict.deadline(ms(7))], strict.deadline(ms(7))),
            (&[strict.deadline(ms(5)), strict], strict),
            (&[strict.lease(ms(5)), strict.lease(ms(3)).volatile()], strict.lease(ms(5)).volatile()),
        ] {
            assert_eq!(QoS::best_available().requested_from(offered), requested, "{offered:?}");
        }
    }

    /// The same for publishers.
    #[test]
    fn a_publisher_offers_what_any_subscription_requests() {
        let ms = Duration::from_millis;
        let full = QoS::new().transient_local();
        for (requested, offered) in [
            (&[][..], full),
            (&[QoS::sensor_data()], full),
            (&[QoS::new(), QoS::new().liveliness(MANUAL)], full.liveliness(MANUAL)),
            (&[QoS::new().deadline(ms(5)), QoS::new().deadline(ms(7))], full.deadline(ms(5))),
            (&[QoS::new().lease(ms(5)), QoS::new()], full.lease(ms(5))),
        ] {
            assert_eq!(QoS::best_available().offered_to(requested), offered, "{requested:?}");
        }
    }

    #[test]
    fn a_policy_that_is_set_is_not_chosen() {
        let set = [
            QoS::best_available().reliable().is_best_available(Policy::Reliability),
            QoS::best_available().best_effort().is_best_available(Policy::Reliability),
            QoS::best_available().volatile().is_best_available(Policy::Durability),
            QoS::best_available().transient_local().is_best_available(Policy::Durability),
            QoS::best_available().deadline(Duration::MAX).is_best_available(Policy::Deadline),
            QoS::best_available().liveliness(MANUAL).is_best_available(Policy::Liveliness),
            QoS::best_available().lease(Duration::MAX).is_best_available(Policy::Lease),
        ];
        assert_eq!(set, [false; 7]);
        let some = QoS::best_available().volatile().deadline(Duration::MAX);
        assert_eq!(format!("{:?}", some.best_available), "{Reliability, Liveliness, Lease}");
        assert!(some.is_undecided() && !QoS::new().is_undecided());
        assert_eq!(some.requested_from(&[]), QoS::new().liveliness(MANUAL));
    }

    proptest! {
        #[test]
        fn the_choice_matches_all_ends(others in vec(any::qos(), 0..5)) {
            let (offered, requested) = (
                QoS::best_available().offered_to(&others),
                QoS::best_available().requested_from(&others),
            );
            prop_assert!(!offered.is_undecided() && !requested.is_undecided());
            for other in &others {
                prop_assert_eq!(incompatibility(&offered, other), None);
                prop_assert_eq!(incompatibility(other, &requested), None);
            }
        }
    }
}
