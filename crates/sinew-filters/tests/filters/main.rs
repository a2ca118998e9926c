//! Message filters, fed by hand and by subscriptions.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod approximate;
mod cache;
mod exact;
mod subscriptions;

use sinew::msg::Stamped;
use sinew_filters::{MessageSet, Synchronizer, Topic};

/// A message: its topic, its stamp, and its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp<const TOPIC: usize>(i64, usize);

impl<const TOPIC: usize> Stamped for Stamp<TOPIC> {
    fn stamp_nanoseconds(&self) -> i64 {
        self.0
    }
}

type Three = (Stamp<0>, Stamp<1>, Stamp<2>);

/// Adds numbered messages of three topics in this order; returns the sets, and the number of
/// dropped messages per topic.
fn fed(mut synchronizer: Synchronizer<Three>, messages: &[(usize, i64)]) -> (Vec<[Stamp<9>; 3]>, Vec<u64>) {
    let mut sets = Vec::new();
    let mut found = |(a, b, c): Three| sets.push([Stamp(a.0, a.1), Stamp(b.0, b.1), Stamp(c.0, c.1)]);
    for (number, (topic, stamp)) in messages.iter().enumerate() {
        match topic {
            0 => synchronizer.add::<0>(Stamp(*stamp, number), &mut found),
            1 => synchronizer.add::<1>(Stamp(*stamp, number), &mut found),
            _ => synchronizer.add::<2>(Stamp(*stamp, number), &mut found),
        }
    }
    (sets, synchronizer.dropped())
}

/// Returns only the stamps.
fn stamps(sets: &[[Stamp<9>; 3]]) -> Vec<[i64; 3]> {
    sets.iter().map(|set| set.map(|message| message.0)).collect()
}

#[test]
fn nine_topics_make_a_set() {
    type Nine = (Stamp<0>, Stamp<1>, Stamp<2>, Stamp<3>, Stamp<4>, Stamp<5>, Stamp<6>, Stamp<7>, Stamp<8>);
    fn add_eight<T>(all: &mut Synchronizer<T>, found: &mut dyn FnMut(T))
    where
        T: MessageSet
            + Topic<0, Message = Stamp<0>>
            + Topic<1, Message = Stamp<1>>
            + Topic<2, Message = Stamp<2>>
            + Topic<3, Message = Stamp<3>>
            + Topic<4, Message = Stamp<4>>
            + Topic<5, Message = Stamp<5>>
            + Topic<6, Message = Stamp<6>>
            + Topic<7, Message = Stamp<7>>,
    {
        all.add::<0>(Stamp(7, 0), &mut *found);
        all.add::<1>(Stamp(7, 1), &mut *found);
        all.add::<2>(Stamp(7, 2), &mut *found);
        all.add::<3>(Stamp(7, 3), &mut *found);
        all.add::<4>(Stamp(7, 4), &mut *found);
        all.add::<5>(Stamp(7, 5), &mut *found);
        all.add::<6>(Stamp(7, 6), &mut *found);
        all.add::<7>(Stamp(7, 7), &mut *found);
    }
    for mut all in [Synchronizer::<Nine>::exact(1), Synchronizer::<Nine>::approximate(1).build()] {
        let mut sets: Vec<Nine> = Vec::new();
        add_eight(&mut all, &mut |set| sets.push(set));
        assert!(sets.is_empty());
        all.add::<8>(Stamp(7, 8), |set| sets.push(set));
        assert_eq!((sets.len(), sets[0].8, all.dropped()), (1, Stamp(7, 8), vec![0; 9]));
    }
}
