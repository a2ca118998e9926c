//! The cache.

use crate::Stamp;
use proptest::prelude::*;
use sinew::time::Time;
use sinew_filters::Cache;

fn time(nanoseconds: i64) -> Time {
    Time::from_nanoseconds(nanoseconds)
}

proptest! {
    #[test]
    fn it_is_a_sorted_list(
        stamps in proptest::collection::vec(0..20_i64, 0..40),
        depth in 0..12_usize,
        from in -2..22_i64,
        length in -2..12_i64,
    ) {
        let cache = Cache::<Stamp<0>>::new(depth);
        let mut list: Vec<Stamp<0>> = Vec::new();
        for (number, stamp) in stamps.iter().enumerate() {
            cache.add(Stamp(*stamp, number));
            list.push(Stamp(*stamp, number));
            list.sort_by_key(|stamp| stamp.0); // stable
            if list.len() > depth.max(1) {
                list.remove(0);
            }
        }
        let to = from + length;
        prop_assert_eq!((cache.len(), cache.is_empty()), (list.len(), list.is_empty()));
        prop_assert_eq!((cache.oldest(), cache.latest()), (list.first().copied(), list.last().copied()));
        prop_assert_eq!(cache.before(time(from)), list.iter().rfind(|stamp| stamp.0 <= from).copied());
        prop_assert_eq!(cache.after(time(from)), list.iter().find(|stamp| stamp.0 >= from).copied());
        let within: Vec<_> = list.iter().filter(|stamp| (from..=to).contains(&stamp.0)).copied().collect();
        prop_assert_eq!(cache.between(time(from), time(to)), within);
        if from <= to {
            let surrounding = cache.surrounding(time(from), time(to));
            let begin = cache.before(time(from)).map_or(i64::MIN, |first| first.0);
            let end = cache.after(time(to)).map_or(i64::MAX, |last| last.0);
            let around: Vec<_> = list.iter().filter(|stamp| (begin..=end).contains(&stamp.0)).copied().collect();
            prop_assert_eq!(surrounding, around);
        }
        cache.clear();
        prop_assert!(cache.is_empty());
    }
}
