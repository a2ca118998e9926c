//! Deadlines and leases against all past messages and signs of life.

use crate::event::deadline::Pace;
use crate::event::liveliness::Lease;
use proptest::collection::vec;
use proptest::prelude::*;

#[derive(Debug, Clone, Copy)]
enum Operation {
    Wait(i64),
    /// A message, or a sign of life.
    Sign,
    Look,
    /// Time passes until the next expiry, or until just before it.
    WaitForNext {
        just_before: bool,
    },
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let operation = prop_oneof![
        3 => (0..40_i64).prop_map(Operation::Wait),
        3 => Just(Operation::Sign),
        3 => Just(Operation::Look),
        2 => any::<bool>().prop_map(|just_before| Operation::WaitForNext { just_before }),
    ];
    vec(operation, 1..60)
}

/// Returns the deadline's misses up to now, counted one period at a time.
fn misses(messages: &[i64], period: i64, now: i64) -> u64 {
    let mut count = 0;
    for (index, message) in messages.iter().enumerate() {
        let end = messages.get(index + 1).copied().unwrap_or(now);
        let mut due = message + period;
        while due < end {
            count += 1;
            due += period;
        }
    }
    count
}

proptest! {
    #[test]
    fn a_deadline_counts_each_period_once_and_says_when_the_next_is_missed(
        start in 0..100_i64,
        period in 1..15_i64,
        operations in operations(),
    ) {
        let mut pace = Pace::new(period);
        let (mut now, mut messages, mut counted) = (start, Vec::new(), 0);
        for operation in operations {
            let missed = match operation {
                Operation::Wait(time) => {
                    now += time;
                    None
                }
                Operation::WaitForNext { just_before } => {
                    now = now.max(pace.next().map_or(now, |next| next - i64::from(just_before)));
                    None
                }
                Operation::Sign => {
                    let missed = pace.arrived(now);
                    messages.push(now);
                    prop_assert_eq!(counted + missed.map_or(0, |missed| missed.periods), misses(&messages, period, now));
                    missed
                }
                Operation::Look => {
                    let missed = pace.look(now);
                    prop_assert_eq!(counted + missed.map_or(0, |missed| missed.periods), misses(&messages, period, now));
                    missed
                }
            };
            if let Some(missed) = missed {
                prop_assert!(missed.periods > 0);
                // The first of them was missed at that time, and not before.
                let before = messages.iter().copied().filter(|message| *message < missed.since).collect::<Vec<_>>();
                prop_assert_eq!(misses(&before, period, missed.since), counted + 1);
                prop_assert_eq!(misses(&before, period, missed.since - 1), counted);
                counted += missed.periods;
            }
            if let Some(next) = pace.next() {
                prop_assert_eq!(misses(&messages, period, next), counted + 1);
                prop_assert_eq!(misses(&messages, period, next - 1), counted);
            } else {
                prop_assert!(messages.is_empty());
            }
        }
    }

    #[test]
    fn a_lease_lapses_once_for_each_gap_that_is_longer(
        start in 0..100_i64,
        duration in 1..15_i64,
        operations in operations(),
    ) {
        let mut lease = Lease::new(duration, start);
        let (mut now, mut signs, mut lapses, mut alive) = (start, vec![start], 0, true);
        let gaps = |signs: &[i64], now: i64| {
            let ends = signs.iter().skip(1).copied().chain([now]);
            signs.iter().zip(ends).filter(|(sign, end)| end - **sign > duration).count()
        };
        for operation in operations {
            let expired = match operation {
                Operation::Wait(time) => {
                    now += time;
                    None
                }
                Operation::WaitForNext { just_before } => {
                    now = now.max(lease.ends().map_or(now, |ends| ends - i64::from(just_before)));
                    None
                }
                Operation::Sign => {
                    let sign = lease.sign(now);
                    prop_assert_eq!(sign.revived, !alive || sign.expired.is_some());
                    prop_assert_eq!(sign.sooner, sign.revived, "time never goes back");
                    signs.push(now);
                    alive = true;
                    sign.expired
                }
                Operation::Look => {
                    let expired = lease.look(now);
                    alive &= expired.is_none();
                    prop_assert_eq!(alive, now - signs.last().unwrap() <= duration);
                    expired
                }
            };
            if let Some(at) = expired {
                lapses += 1;
                let before: Vec<_> = signs.iter().copied().filter(|sign| *sign < at).collect();
                prop_assert_eq!((gaps(&before, at), gaps(&before, at - 1)), (lapses, lapses - 1));
            }
            if matches!(operation, Operation::Sign | Operation::Look) {
                prop_assert_eq!(lapses, gaps(&signs, now));
            }
            match lease.ends() {
                Some(ends) => prop_assert_eq!((gaps(&signs, ends), gaps(&signs, ends - 1)), (lapses + 1, lapses)),
                None => prop_assert!(!alive),
            }
        }
    }
}

#[test]
fn the_largest_figures_overflow_nothing() {
    let mut pace = Pace::new(i64::MAX - 1);
    assert_eq!(pace.arrived(i64::MAX - 5), None);
    assert_eq!(pace.next(), Some(i64::MAX), "never");
    assert_eq!(pace.look(i64::MAX), None);
    let mut pace = Pace::new(1);
    assert_eq!(pace.arrived(i64::MIN), None);
    assert_eq!(pace.look(i64::MAX).map(|missed| missed.periods), Some(i64::MAX as u64 - 1));
    let mut lease = Lease::new(i64::MAX - 1, 5);
    assert_eq!(lease.look(i64::MAX - 1), None);
    assert_eq!(lease.ends(), Some(i64::MAX), "never");
}
