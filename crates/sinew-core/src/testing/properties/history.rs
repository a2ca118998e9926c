//! `HistoryCache` against a list.

use crate::mailbox::history::{Admission, Entry, HistoryCache, HistoryCounts, JoinOrder, LossCause};
use crate::message::Shared;
use crate::message::block::RawMessage;
use crate::message::info::Publication;
use crate::sys::clock::Stamp;
use crate::sys::sync::Arc;
use proptest::collection::vec;
use proptest::prelude::*;
use sinew_msg::Message;

/// A message that knows its number, and whether it still exists.
struct Numbered {
    number: u64,
    _alive: Arc<()>,
}

impl Message for Numbered {}

#[derive(Debug, Clone, Copy)]
enum Operation {
    /// Adds a message without a reserved place, with this lifespan.
    Push {
        lifespan: Option<u8>,
    },
    /// Adds a message to a reserved place, if there is one.
    Keep {
        lifespan: Option<u8>,
    },
    Reserve,
    /// Releases a reserved place, if there is one.
    Unreserve,
    Pop,
    /// Time passes.
    Wait(u8),
}

fn lifespan() -> impl Strategy<Value = Option<u8>> {
    prop::option::weighted(0.3, 1..20_u8)
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        4 => lifespan().prop_map(|lifespan| Operation::Push { lifespan }),
        2 => lifespan().prop_map(|lifespan| Operation::Keep { lifespan }),
        2 => Just(Operation::Reserve),
        1 => Just(Operation::Unreserve),
        3 => Just(Operation::Pop),
        1 => (0..15_u8).prop_map(Operation::Wait),
    ]
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Waiting {
    number: u64,
    expires: i64,
    reception: u64,
}

/// The oracle's list.
struct List {
    waiting: Vec<Waiting>,
    capacity: usize,
    keep_all: bool,
    reserved: usize,
    counts: HistoryCounts,
}

impl List {
    fn full(&self) -> bool {
        self.waiting.len() + self.reserved >= self.capacity
    }

    /// Removes the first one that has expired.
    fn expire_one(&mut self, now: i64) -> Option<u64> {
        let index = self.waiting.iter().position(|waiting| waiting.expires <= now)?;
        self.counts.expired += 1;
        Some(self.waiting.remove(index).number)
    }

    fn bring_in(&mut self, number: u64, expires: i64) {
        self.counts.received += 1;
        self.waiting.push(Waiting { number, expires, reception: self.counts.received });
    }

    fn push(&mut self, number: u64, expires: i64, now: i64) -> Option<(u64, LossCause)> {
        let mut out = None;
        if self.full() {
            if let Some(expired) = self.expire_one(now) {
                out = Some((expired, LossCause::Expired));
            } else if self.keep_all {
                self.counts.refused += 1;
                return Some((number, LossCause::Refused));
            } else {
                self.counts.overwritten += 1;
                out = Some((self.waiting.remove(0).number, LossCause::Overwritten));
            }
        }
        self.bring_in(number, expires);
        out
    }

    fn pop(&mut self, now: i64) -> (Option<Waiting>, Vec<u64>) {
        let mut expired = Vec::new();
        while !self.waiting.is_empty() {
            let first = self.waiting.remove(0);
            if first.expires > now {
                self.counts.taken += 1;
                return (Some(first), expired);
            }
            self.counts.expired += 1;
            expired.push(first.number);
        }
        (None, expired)
    }
}

/// A history, the oracle's list, and the state that both depend on.
struct Pair {
    history: HistoryCache,
    list: List,
    now: i64,
    published: u64,
    alive: Arc<()>,
}

impl Pair {
    fn new(capacity: usize, keep_all: bool) -> Self {
        let list =
            List { waiting: Vec::new(), capacity, keep_all, reserved: 0, counts: HistoryCounts::default() };
        Self {
            history: HistoryCache::new(capacity, keep_all),
            list,
            now: 0,
            published: 0,
            alive: Arc::new(()),
        }
    }

    fn next_message(&mut self) -> (RawMessage, Publication) {
        self.published += 1;
        self.message(self.published, i64::MAX)
    }

    /// Creates message `number`, published now.
    fn message(&self, number: u64, lifespan: i64) -> (RawMessage, Publication) {
        let message = RawMessage::new(Numbered { number, _alive: self.alive.clone() });
        let stamp = Stamp { time: self.now, order: number };
        (message, Publication::new(stamp, number, 1, lifespan))
    }

    fn run(&mut self, operation: Operation) {
        match operation {
            Operation::Push { lifespan } => {
                let lifespan = lifespan.map_or(i64::MAX, i64::from);
                let (message, publication) = self.next_message();
                let out = self.history.push(message, &publication, lifespan, Admission::Any);
                let expected = self.list.push(self.published, self.now.saturating_add(lifespan), self.now);
                assert_eq!(out.map(|(message, cause)| (number_of(message), cause)), expected);
            }
            Operation::Keep { lifespan } if self.list.reserved > 0 => {
                let lifespan = lifespan.map_or(i64::MAX, i64::from);
                let (message, publication) = self.next_message();
                assert!(self.history.push(message, &publication, lifespan, Admission::Reserved).is_none());
                self.list.reserved -= 1;
                self.list.bring_in(self.published, self.now.saturating_add(lifespan));
            }
            Operation::Reserve if self.list.keep_all => {
                let (granted, freed) = self.history.reserve(self.now);
                let expired = if self.list.full() { self.list.expire_one(self.now) } else { None };
                assert_eq!(freed.map(|entry| number_of(entry.message)), expired);
                assert_eq!(granted, !self.list.full());
                self.list.reserved += usize::from(granted);
            }
            Operation::Unreserve if self.list.reserved > 0 => {
                self.history.unreserve();
                self.list.reserved -= 1;
            }
            Operation::Pop => {
                let mut expired = Vec::new();
                let now = self.now;
                let entry = self.history.pop(|| now, |entry| expired.push(number_of(entry.message)));
                let (expected, expected_expired) = self.list.pop(now);
                assert_eq!(entry.map(waiting), expected);
                assert_eq!(expired, expected_expired);
            }
            Operation::Wait(time) => self.now += i64::from(time),
            Operation::Keep { .. } | Operation::Reserve | Operation::Unreserve => {}
        }
        self.check();
    }

    /// Checks the invariants after every operation.
    fn check(&self) {
        let counts = self.history.counts();
        assert_eq!(counts, self.list.counts);
        assert_eq!(self.history.len(), self.list.waiting.len());
        assert!(self.history.len() + self.list.reserved <= self.list.capacity, "it holds more than it may");
        let waiting = self.history.len() as u64;
        assert_eq!(counts.received, counts.taken + counts.overwritten + counts.expired + waiting);
        assert_eq!(Arc::strong_count(&self.alive), 1 + self.history.len(), "a message is lost or dropped");
        let oldest = self.list.waiting.first().map(|first| first.number);
        assert_eq!(self.history.oldest().map(|stamp| stamp.order), oldest);
    }
}

fn number_of(message: RawMessage) -> u64 {
    Shared::<Numbered>::assume(message).number
}

fn waiting(entry: Entry) -> Waiting {
    let Entry { message, publication, reception } = entry;
    Waiting { number: number_of(message), expires: publication.expires, reception }
}

proptest! {
    #[test]
    fn is_a_list(capacity in 1..6_usize, keep_all: bool, operations in vec(operation(), 0..120)) {
        let mut pair = Pair::new(capacity, keep_all);
        operations.into_iter().for_each(|operation| pair.run(operation));
        let rest: Vec<_> = pair.history.drain().into_iter().map(|entry| number_of(entry.message)).collect();
        let expected: Vec<_> = pair.list.waiting.iter().map(|waiting| waiting.number).collect();
        prop_assert_eq!(rest, expected);
    }

    /// A late joiner: some retained messages have arrived as well, some have expired, and not all
    /// of them fit. Afterwards it behaves like any history.
    #[test]
    fn a_merge_brings_in_each_once_in_order(
        capacity in 1..8_usize,
        keep_all: bool,
        // Per publication, in order of time: whether it is retained, whether it arrived after the
        // subscription was in the list, and its lifespan.
        publications in vec((any::<bool>(), any::<bool>(), lifespan()), 0..20),
        joins in prop_oneof![Just(JoinOrder::Now), Just(JoinOrder::Before)],
        later in vec(operation(), 0..40),
    ) {
        let mut pair = Pair::new(capacity, keep_all);
        let (mut retained, mut expected) = (Vec::new(), Vec::new());
        for (is_retained, arrives, lifespan) in publications {
            pair.now += 1;
            let lifespan = lifespan.map_or(i64::MAX, i64::from);
            pair.published += 1;
            let (number, expires) = (pair.published, pair.now.saturating_add(lifespan));
            if is_retained {
                let (message, publication) = pair.message(number, lifespan);
                retained.push(Entry { message, publication, reception: 0 });
            }
            if arrives {
                let (message, publication) = pair.message(number, lifespan);
                let out = pair.history.push(message, &publication, lifespan, Admission::Any);
                let expected_out = pair.list.push(number, expires, pair.now);
                prop_assert_eq!(out.map(|(message, cause)| (number_of(message), cause)), expected_out);
            }
            let there = pair.list.waiting.iter().any(|waiting| waiting.number == number);
            expected.push((number, expires, is_retained, there));
        }
        pair.now += 3;
        let now = pair.now;
        // Present messages stay; retained ones are added if they still live; the newest that fit
        // remain.
        let arrived: Vec<_> = pair.list.waiting.iter().map(|waiting| waiting.number).collect();
        expected.retain(|&(number, expires, retained, _)| arrived.contains(&number) || (retained && expires > now));
        let mut surplus = expected.len().saturating_sub(capacity);
        expected.retain(|&(number, ..)| {
            let goes = surplus > 0 && (joins == JoinOrder::Now || !arrived.contains(&number));
            surplus -= usize::from(goes);
            !goes
        });
        let counts = pair.list.counts;
        let gone = if joins == JoinOrder::Now { 0 } else { counts.overwritten + counts.expired };
        pair.list.waiting = expected
            .iter()
            .zip(gone + 1..)
            .map(|(&(number, expires, ..), reception)| Waiting { number, expires, reception })
            .collect();
        let received = gone + pair.list.waiting.len() as u64;
        pair.list.counts = match joins {
            JoinOrder::Now => HistoryCounts { received, refused: counts.refused, ..HistoryCounts::default() },
            JoinOrder::Before => HistoryCounts { received, ..counts },
        };

        drop(pair.history.merge(retained, now, joins));
        pair.check();
        later.into_iter().for_each(|operation| pair.run(operation));
    }

    /// A late joiner that waits for the retained messages of two publishers, while messages arrive:
    /// none is handed out before all have arrived, then the newest that fit, in order.
    #[test]
    fn what_is_held_comes_out_in_order_once_it_is_open(
        capacity in 1..8_usize,
        keep_all: bool,
        // Per publication, in order of time: which of two publishers retained it, or that it
        // arrived since.
        publications in vec(0..3_usize, 0..20),
        swapped: bool,
        before in 0..4_usize,
        later in vec(operation(), 0..40),
    ) {
        let mut pair = Pair::new(capacity, keep_all);
        let (mut retained, mut expected) = ([Vec::new(), Vec::new()], Vec::new());
        let mut came = 0;
        for which in publications {
            pair.now += 1;
            let (message, publication) = pair.next_message();
            let number = pair.published;
            if let Some(retained) = retained.get_mut(which) {
                retained.push(Entry { message, publication, reception: 0 });
                expected.push(number);
            } else {
                let out = pair.history.push(message, &publication, i64::MAX, Admission::Any);
                pair.list.push(number, i64::MAX, pair.now);
                drop(out);
                came += 1;
            }
            if came == before {
                pair.history.hold();
            }
        }
        pair.history.hold();
        expected.extend(pair.list.waiting.iter().map(|waiting| waiting.number));
        expected.sort_unstable();
        expected.drain(..expected.len().saturating_sub(capacity));
        if swapped {
            retained.reverse();
        }
        let now = pair.now;
        for retained in retained {
            drop(pair.history.merge(retained, now, JoinOrder::Before));
            prop_assert!(pair.history.oldest().is_none());
            prop_assert!(pair.history.pop(|| now, |_| ()).is_none());
        }
        let lost = pair.list.counts.overwritten;
        pair.list.counts.received = lost + expected.len() as u64;
        pair.list.waiting = expected
            .into_iter()
            .zip(lost + 1..)
            .map(|(number, reception)| Waiting { number, expires: i64::MAX, reception })
            .collect();

        pair.history.open();
        pair.check();
        later.into_iter().for_each(|operation| pair.run(operation));
    }
}
