//! The exact policy.

use crate::{Three, fed, stamps};
use proptest::prelude::*;
use sinew_filters::Synchronizer;
use std::collections::BTreeMap;

#[test]
fn stamps_that_are_the_same_meet() {
    let messages = [(0, 1), (1, 1), (0, 2), (2, 2), (1, 2), (2, 1), (2, 3)];
    let (sets, dropped) = fed(Synchronizer::<Three>::exact(10), &messages);
    assert_eq!(stamps(&sets), [[2; 3]]);
    assert_eq!(dropped, [1, 1, 1], "those at 1 are older than a set");
}

#[test]
fn the_oldest_stamp_gives_way() {
    let messages = [(0, 1), (0, 2), (0, 3), (1, 1), (2, 1), (1, 3), (2, 3)];
    let (sets, dropped) = fed(Synchronizer::<Three>::exact(2), &messages);
    assert_eq!((stamps(&sets), dropped), (vec![[3; 3]], vec![2, 1, 1]));
}

#[test]
fn a_depth_of_zero_is_one() {
    let messages = [(0, 1), (1, 1), (0, 2), (1, 2), (2, 2)];
    for depth in [0, 1] {
        let (sets, dropped) = fed(Synchronizer::<Three>::exact(depth), &messages);
        assert_eq!((stamps(&sets), dropped), (vec![[2; 3]], vec![1, 1, 0]));
        let (sets, _) =
            fed(Synchronizer::<Three>::approximate(depth).build(), &[(0, 1), (1, 1), (2, 1), (0, 9)]);
        assert_eq!(stamps(&sets), [[1; 3]]);
    }
}

#[test]
fn of_two_with_one_stamp_the_newer_counts() {
    let messages = [(0, 1), (0, 1), (1, 1), (2, 1)];
    let (sets, dropped) = fed(Synchronizer::<Three>::exact(2), &messages);
    assert_eq!((sets[0][0].1, dropped), (1, vec![1, 0, 0]));
}

/// A detector publishes many messages with the stamp of one image.
#[test]
fn many_with_the_stamp_of_the_last_set_begin_nothing_anew() {
    let set = [(0, 1), (1, 1), (2, 1), (0, 2)];
    let messages = [&set[..], &[(2, 1); 30], &[(1, 2), (2, 2)]].concat();
    let (sets, dropped) = fed(Synchronizer::<Three>::exact(10), &messages);
    assert_eq!((stamps(&sets), dropped), (vec![[1; 3], [2; 3]], vec![0, 0, 30]));
}

/// Implements the rules naively.
fn oracle(depth: usize, messages: &[(usize, i64)]) -> (Vec<[i64; 3]>, [u64; 3]) {
    let mut waiting: BTreeMap<i64, [bool; 3]> = BTreeMap::new();
    let (mut sets, mut dropped, mut last, mut late) = (Vec::new(), [0; 3], None, [0; 3]);
    for (topic, stamp) in messages {
        if last.is_some_and(|last| *stamp <= last) {
            late[*topic] = if last == Some(*stamp) { 0 } else { late[*topic] + 1 };
            if late[*topic] < 10 {
                dropped[*topic] += 1;
                continue;
            }
            (late, last) = ([0; 3], None);
            for has in std::mem::take(&mut waiting).into_values() {
                (0..3).for_each(|topic| dropped[topic] += u64::from(has[topic]));
            }
        }
        late[*topic] = 0;
        let has = waiting.entry(*stamp).or_default();
        dropped[*topic] += u64::from(has[*topic]);
        has[*topic] = true;
        let mut gone = Vec::new();
        if *has == [true; 3] {
            sets.push([*stamp; 3]);
            last = Some(*stamp);
            gone.extend(waiting.keys().copied().filter(|other| other < stamp));
            waiting.remove(stamp);
        } else if waiting.len() > depth {
            gone.extend(waiting.keys().next().copied());
        }
        for stamp in gone {
            let has = waiting.remove(&stamp).unwrap();
            (0..3).for_each(|topic| dropped[topic] += u64::from(has[topic]));
        }
    }
    (sets, dropped)
}

proptest! {
    #[test]
    fn it_is_a_table_by_stamps(
        depth in 1..6_usize,
        messages in proptest::collection::vec((0..3_usize, -3..12_i64), 0..120),
    ) {
        let (sets, dropped) = fed(Synchronizer::<Three>::exact(depth), &messages);
        let (expected, lost) = oracle(depth, &messages);
        prop_assert_eq!((stamps(&sets), dropped), (expected, lost.to_vec()));
    }
}
