//! The QoS of a player's publishers.

use crate::topic::BagTopic;
use sinew::QoS;
use sinew::qos::{Durability, History, Liveliness, Reliability};

/// Maximum depth that is taken from a bag: a damaged one may name any.
const MAX_DEPTH: usize = 10_000;

/// Returns the QoS of a publisher that stands for all publishers of a topic: each subscription that
/// matched one of them matches it.
///
/// A latched topic such as `/tf_static` often has several publishers, and each retains its
/// messages: so their depths are added up.
pub(super) fn offer<'a>(topics: impl IntoIterator<Item = &'a BagTopic>) -> QoS {
    let recorded = topics.into_iter().flat_map(|topic| &topic.qos).map(|qos| limited(qos.qos()));
    recorded.reduce(both).unwrap_or_default()
}

fn limited(qos: QoS) -> QoS {
    match qos.history {
        History::KeepLast(depth) if depth > MAX_DEPTH => qos.keep_last(MAX_DEPTH),
        _ => qos,
    }
}

/// Returns a QoS that satisfies every subscription which one of the two satisfies.
fn both(one: QoS, other: QoS) -> QoS {
    let is_latched = |qos: &QoS| qos.durability == Durability::TransientLocal;
    let history = match (one.history, other.history) {
        (History::KeepLast(one_depth), History::KeepLast(other_depth)) => {
            let sum = if is_latched(&one) && is_latched(&other) {
                one_depth.saturating_add(other_depth)
            } else {
                one_depth.max(other_depth)
            };
            History::KeepLast(sum.min(MAX_DEPTH))
        }
        _ => History::KeepAll,
    };
    let mut qos = one;
    qos.history = history;
    if other.reliability == Reliability::Reliable {
        qos.reliability = Reliability::Reliable;
    }
    if is_latched(&other) {
        qos.durability = Durability::TransientLocal;
    }
    if other.liveliness == Liveliness::ManualByTopic {
        qos.liveliness = Liveliness::ManualByTopic;
    }
    let shorter = |one: Option<_>, other: Option<_>| one.into_iter().chain(other).min();
    qos.deadline = shorter(one.deadline, other.deadline);
    qos.lease = shorter(one.lease, other.lease);
    // A message lives as long as that of the publisher which kept it longest.
    qos.lifespan = one.lifespan.zip(other.lifespan).map(|(one, other)| one.max(other));
    qos
}

/// Returns the number of messages that late joiners of a latched topic got; `None` if it is not
/// latched.
pub(super) fn retained(qos: &QoS) -> Option<usize> {
    let depth = match qos.history {
        History::KeepLast(depth) => depth,
        History::KeepAll => MAX_DEPTH,
    };
    (qos.durability == Durability::TransientLocal).then_some(depth)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn an_offer_satisfies_all_that_one_of_the_publishers_satisfied() {
        let latched = QoS::default().keep_last(1).transient_local();
        let sensor = QoS::sensor_data().deadline(Duration::from_millis(10));
        assert_eq!(both(latched, latched), QoS::default().keep_last(2).transient_local());
        let mixed = both(sensor, latched);
        for requested in [latched, sensor, QoS::default(), QoS::sensor_data()] {
            assert!(mixed.incompatibility(&requested).is_none(), "{requested:?}");
        }
        assert_eq!(both(sensor, QoS::default().keep_all()).history, History::KeepAll);
        assert_eq!((retained(&latched), retained(&sensor)), (Some(1), None));
        assert_eq!(limited(QoS::default().keep_last(usize::MAX)).history, History::KeepLast(MAX_DEPTH));
    }
}
