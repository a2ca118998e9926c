//! A ring compared with a map.

use super::words;
use crate::platform::shm_ref::ShmRef;
use crate::platform::sync::AtomicU64;
use crate::ring::{Chunk, Found, Head, Payload, Ring, Shape};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy)]
enum Operation {
    /// A message of this many bytes in the slot.
    Inline(usize),
    /// A message in the chunk of this name.
    Chunk(u64),
    /// A message without its bytes.
    LeftOut,
    /// This many empty messages.
    Many(u64),
    /// Growth to twice the slots.
    Grow,
    /// One of the readers reads once.
    Read(usize),
}

const READERS: usize = 3;
const INLINE: usize = 20;

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        4 => (0..=INLINE).prop_map(Operation::Inline),
        2 => (0..u64::MAX - 1).prop_map(Operation::Chunk),
        1 => Just(Operation::LeftOut),
        1 => (1..200u64).prop_map(Operation::Many),
        1 => Just(Operation::Grow),
        6 => (0..READERS).prop_map(Operation::Read),
    ]
}

#[derive(Debug, Clone, PartialEq)]
enum Encoded {
    Bytes(Vec<u8>),
    Chunk(Chunk),
    None,
}

/// The bytes of a message in its slot.
fn encoded(number: u64, length: usize) -> Vec<u8> {
    (0..length as u64).map(|index| (number.wrapping_mul(31) ^ index).to_le_bytes()[0]).collect()
}

fn head(number: u64) -> Head {
    Head { stamp: number.cast_signed(), order: !number, lineage_stamp: -1, lineage_id: number ^ 0xff }
}

struct Reader {
    ring: Ring,
    next: u64,
}

impl Reader {
    /// Like `Incoming::read`, with one thread. Returns the message, and how many were missed before
    /// it.
    fn read(&mut self, newest: &ShmRef<[AtomicU64]>) -> Option<(u64, Encoded, u64)> {
        let mut missed = 0;
        let mut steps = 0..5;
        while steps.next().is_some() {
            match self.ring.look(self.next) {
                Found::Nothing => return None,
                Found::Moved => self.ring = Ring::open(newest.clone(), "ring").unwrap(),
                Found::Overwritten(oldest) => {
                    assert!(oldest > self.next);
                    missed += oldest - self.next;
                    self.next = oldest;
                }
                Found::LeftOut => {
                    missed += 1;
                    self.next += 1;
                    steps = 0..5;
                }
                Found::Inline(found, length) => {
                    let mut bytes = vec![0; length];
                    assert!(self.ring.read_inline(self.next, &mut bytes));
                    return Some(self.found(found, Encoded::Bytes(bytes), missed));
                }
                Found::Chunk(found, chunk) => return Some(self.found(found, Encoded::Chunk(chunk), missed)),
            }
        }
        panic!("a reader that gets nowhere");
    }

    fn found(&mut self, found: Head, encoded: Encoded, missed: u64) -> (u64, Encoded, u64) {
        assert!(self.ring.still_there(self.next));
        assert_eq!(found, head(self.next));
        self.next += 1;
        (self.next - 1, encoded, missed)
    }
}

proptest! {
    /// A reader gets the kept messages in order, and counts the others.
    #[test]
    fn readers_get_what_is_kept(
        first in prop_oneof![Just(0u64), Just(1), 0..1000u64],
        slots in 1..5usize,
        operations in vec(operation(), 0..80),
    ) {
        let shape = Shape::new(slots, INLINE).unwrap();
        let mut slots = shape.slots;
        let mut newest = words(std::iter::repeat_n(0, shape.bytes() / 8));
        let mut ring = Ring::create(newest.clone(), shape);
        let mut readers: Vec<_> = (0..READERS).map(|_| Reader { ring: ring.clone(), next: first }).collect();
        let mut kept = BTreeMap::new();
        let mut next = first;
        let place = AtomicU64::new(0);
        for operation in operations {
            match operation {
                Operation::Inline(length) => {
                    let bytes = encoded(next, length);
                    ring.publish(next, &head(next), Payload::Inline(&bytes));
                    kept.insert(next, Encoded::Bytes(bytes));
                    next += 1;
                }
                Operation::Chunk(name) => {
                    let chunk = Chunk { name, length: name / 3 };
                    ring.publish(next, &head(next), Payload::Chunk(chunk));
                    kept.insert(next, Encoded::Chunk(chunk));
                    next += 1;
                }
                Operation::LeftOut => {
                    ring.publish(next, &head(next), Payload::LeftOut);
                    kept.insert(next, Encoded::None);
                    next += 1;
                }
                Operation::Many(count) => {
                    for _ in 0..count {
                        ring.publish(next, &head(next), Payload::Inline(&[]));
                        kept.insert(next, Encoded::Bytes(Vec::new()));
                        next += 1;
                    }
                }
                Operation::Grow if slots < 64 => {
                    slots *= 2;
                    let shape = Shape { slots, ..ring.shape };
                    newest = words(std::iter::repeat_n(0, shape.bytes() / 8));
                    let new = Ring::create(newest.clone(), shape);
                    ring.grow(new, next, &place, 1);
                }
                Operation::Grow => {}
                Operation::Read(index) => {
                    let reader = &mut readers[index];
                    let before = reader.next;
                    let expected = kept.range(before..).find(|(_, encoded)| **encoded != Encoded::None);
                    let expected = expected.map(|(number, encoded)| (*number, encoded.clone(), number - before));
                    prop_assert_eq!(reader.read(&newest), expected);
                }
            }
            while kept.len() > slots {
                kept.pop_first();
            }
        }
    }
}

/// Of the messages that were brought back, only those that were overwritten since are missed.
#[test]
fn what_is_brought_back_is_missed_one_by_one() {
    let shape = Shape::new(8, INLINE).unwrap();
    let mut ring =
        Ring::create(words(std::iter::repeat_n(0, shape.bytes() / 8)), Shape { slots: 1, ..shape });
    let newest = words(std::iter::repeat_n(0, shape.bytes() / 8));
    ring.grow(Ring::create(newest.clone(), shape), 10, &AtomicU64::new(0), 1);
    for number in 3..10 {
        assert!(!ring.is_displaced(number));
        ring.publish(number, &head(number), Payload::Inline(&[]));
    }
    ring.reach_back(3);
    ring.publish(10, &head(10), Payload::Inline(&[]));
    ring.publish(11, &head(11), Payload::Inline(&[]));
    assert!(ring.is_displaced(3) && !ring.is_displaced(4));
    let found = Ring::open(newest, "ring").unwrap();
    assert_eq!(found.look(3), Found::Overwritten(4));
    assert_eq!(found.look(4), Found::Inline(head(4), 0));
}
