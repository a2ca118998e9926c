//! The approximate policy.

use crate::{Three, fed, stamps};
use proptest::prelude::*;
use sinew::Duration;
use sinew_filters::Synchronizer;

fn exactly_best(depth: usize) -> Synchronizer<Three> {
    Synchronizer::approximate(depth).age_penalty(0.0).build()
}

#[test]
fn the_nearest_meet() {
    // A slow topic, and two fast ones with a small delay.
    let messages =
        [(0, 0), (1, 2), (2, 3), (1, 12), (2, 13), (1, 22), (2, 23), (0, 20), (1, 32), (2, 33), (0, 40)];
    let (sets, _) = fed(exactly_best(10), &messages);
    assert_eq!(stamps(&sets), [[0, 2, 3], [20, 22, 23]]);
}

#[test]
fn a_least_interval_gives_sets_sooner() {
    let messages = [(0, 0), (1, 1), (2, 2)];
    assert!(fed(exactly_best(10), &messages).0.is_empty(), "a better one may come");
    let sure = (0..3).fold(Synchronizer::<Three>::approximate(10), |builder, topic| {
        builder.least_interval(topic, Duration::from_nanos(10))
    });
    assert_eq!(stamps(&fed(sure.age_penalty(0.0).build(), &messages).0), [[0, 1, 2]]);
}

#[test]
fn what_is_too_far_apart_does_not_meet() {
    let near = Synchronizer::<Three>::approximate(10).max_interval(Duration::from_nanos(5)).build();
    let messages = [(0, 0), (1, 1), (2, 10), (0, 11), (1, 12), (2, 20), (0, 21), (1, 22)];
    let (sets, dropped) = fed(near, &messages);
    assert_eq!(stamps(&sets), [[11, 12, 10]]);
    assert_eq!(dropped, [1, 1, 0]);
}

#[test]
fn the_oldest_gives_way_and_leaves_a_gap() {
    let messages = [(0, 1), (0, 2), (0, 3), (1, 1), (2, 1), (1, 3), (2, 3), (0, 9), (1, 9), (2, 9)];
    let (sets, dropped) = fed(exactly_best(2), &messages);
    assert!(dropped[0] >= 1, "{dropped:?}");
    assert!(stamps(&sets).contains(&[3; 3]), "{sets:?}");
}

#[test]
fn what_is_out_of_order_is_dropped() {
    let messages = [(0, 5), (0, 4), (1, 5), (2, 5)];
    let (sets, dropped) = fed(exactly_best(10), &messages);
    assert_eq!((stamps(&sets), dropped), (vec![[5; 3]], vec![1, 0, 0]));
}

fn interval(set: [i64; 3]) -> i64 {
    set.iter().max().unwrap() - set.iter().min().unwrap()
}

/// Returns the size of the smallest set with the pivot (the latest of the first messages) among all
/// messages.
fn smallest(queues: &[Vec<i64>; 3]) -> Option<i64> {
    let firsts: Option<Vec<i64>> = queues.iter().map(|queue| queue.first().copied()).collect();
    let firsts = firsts?;
    let latest = *firsts.iter().max()?;
    let pivot = firsts.iter().position(|stamp| *stamp == latest)?;
    let of = |topic: usize| if topic == pivot { &queues[topic][..1] } else { &queues[topic][..] };
    let mut best = i64::MAX;
    for a in of(0) {
        for b in of(1) {
            for c in of(2) {
                best = best.min(interval([*a, *b, *c]));
            }
        }
    }
    Some(best)
}

fn messages() -> impl Strategy<Value = Vec<(usize, i64)>> {
    proptest::collection::vec((0..3_usize, 0..9_i64), 0..40).prop_map(|steps| {
        let mut last = [0; 3];
        let step = |(topic, step): (usize, i64)| {
            last[topic] += step;
            (topic, last[topic])
        };
        steps.into_iter().map(step).collect()
    })
}

proptest! {
    /// Each set is the smallest with its pivot, whatever the order of topics; no message is used
    /// twice, or after a later one.
    #[test]
    fn each_set_is_the_smallest_with_its_pivot(messages in messages()) {
        let (sets, dropped) = fed(exactly_best(1000), &messages);
        let mut queues: [Vec<i64>; 3] = Default::default();
        messages.iter().for_each(|(topic, stamp)| queues[*topic].push(*stamp));
        let mut before = [None; 3];
        let mut used = 0;
        for set in &sets {
            let stamps = set.map(|message| message.0);
            prop_assert_eq!(Some(interval(stamps)), smallest(&queues), "{:?}", stamps);
            for (topic, message) in set.iter().enumerate() {
                prop_assert!(before[topic].is_none_or(|before| before < message.1), "in order");
                before[topic] = Some(message.1);
                let place = queues[topic].iter().position(|stamp| *stamp == message.0).unwrap();
                queues[topic].drain(..=place);
                used += 1;
            }
        }
        prop_assert!(used + dropped.iter().sum::<u64>() <= messages.len() as u64);
    }

    /// With any options: sets are in order and within the interval, and nothing beyond the depth is
    /// kept.
    #[test]
    fn sets_keep_the_rules(
        messages in proptest::collection::vec((0..3_usize, 0..60_i64), 0..80),
        depth in 1..5_usize,
        most in 0..20_u64,
        penalty in 0.0..2.0_f64,
        least in 0..5_u64,
    ) {
        let builder = Synchronizer::<Three>::approximate(depth).max_interval(Duration::from_nanos(most));
        let builder = (0..3).fold(builder, |builder, topic| builder.least_interval(topic, Duration::from_nanos(least)));
        let (sets, dropped) = fed(builder.age_penalty(penalty).build(), &messages);
        let mut before = [None; 3];
        for set in &sets {
            prop_assert!(interval(set.map(|message| message.0)) <= most.cast_signed());
            for (topic, message) in set.iter().enumerate() {
                prop_assert!(before[topic].is_none_or(|before| before < message.1));
                before[topic] = Some(message.1);
            }
        }
        for (topic, dropped) in dropped.iter().enumerate() {
            let came = messages.iter().filter(|(of, _)| *of == topic).count() as u64;
            let kept = came - dropped - sets.len() as u64;
            prop_assert!(kept <= depth as u64, "{kept} of {came}");
        }
    }
}
