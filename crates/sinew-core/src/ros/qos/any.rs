//! Any QoS, for property tests: also one with fields that were set by hand.

use super::policy::PolicySet;
use super::{Durability, History, Liveliness, QoS, Reliability};
use proptest::option;
use proptest::prelude::*;
use std::time::Duration;

fn size() -> impl Strategy<Value = usize> {
    prop_oneof![0..4_usize, 8..12_usize, any::<usize>()]
}

/// Any duration; often one with a special meaning, or close to one.
pub(super) fn duration() -> impl Strategy<Value = Duration> {
    prop_oneof![
        1 => Just(Duration::ZERO),
        1 => Just(Duration::MAX),
        1 => (0..3_u64).prop_map(|more| Duration::from_nanos(i64::MAX as u64 - 1 + more)),
        1 => (any::<u64>(), 0..1_000_000_000_u32).prop_map(|(seconds, nanos)| Duration::new(seconds, nanos)),
        4 => (1..5_u64).prop_map(Duration::from_millis),
    ]
}

prop_compose! {
    pub(super) fn qos()(
        history in prop_oneof![size().prop_map(History::KeepLast), Just(History::KeepAll)],
        reliable in any::<bool>(),
        transient_local in any::<bool>(),
        manual in any::<bool>(),
        (deadline, lease) in (option::of(duration()), option::of(duration())),
        lifespan in option::of(duration()),
        max_samples in option::of(size()),
        max_blocking_time in duration(),
    ) -> QoS {
        QoS {
            history,
            reliability: if reliable { Reliability::Reliable } else { Reliability::BestEffort },
            durability: if transient_local { Durability::TransientLocal } else { Durability::Volatile },
            deadline,
            lifespan,
            liveliness: if manual { Liveliness::ManualByTopic } else { Liveliness::Automatic },
            lease,
            max_samples,
            max_blocking_time,
            best_available: PolicySet::NONE,
        }
    }
}
