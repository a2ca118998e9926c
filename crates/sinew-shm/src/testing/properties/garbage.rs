//! Whatever another process's memory contains: no panic, and no access outside of what is mapped
//! and reserved.

use super::words;
use crate::event::protocol::{Drained, Drainer, Entries, Entry};
use crate::platform::shm_ref::ShmRef;
use crate::platform::sync::{Arc, AtomicU64, Ordering};
use crate::platform::sys::Mapping;
use crate::ring::{Found, Ring, Shape};
use crate::segment::header::Header;
use crate::segment::slab;
use crate::tables::control_segment::{self, EndpointRecord};
use crate::tables::endpoint::{Counts, Endpoint};
use proptest::collection::vec;
use proptest::prelude::*;
use std::array;

/// A record with these words in it.
pub(super) fn endpoint_record(mut next: impl FnMut() -> u64) -> EndpointRecord {
    let mut word = || AtomicU64::new(next());
    EndpointRecord {
        generation: word(),
        kind_node: word(),
        number: word(),
        ring: word(),
        hash: array::from_fn(|_| word()),
        lengths: word(),
        memory: word(),
        notes: array::from_fn(|_| word()),
        alive: word(),
        spare: array::from_fn(|_| word()),
        qos: array::from_fn(|_| word()),
        text: array::from_fn(|_| word()),
        counters: array::from_fn(|_| word()),
        histogram: array::from_fn(|_| word()),
    }
}

/// Words that are often small, or close to the limits.
fn word() -> impl Strategy<Value = u64> {
    prop_oneof![
        3 => 0..70u64,
        1 => (0..8u64, 0..8u64).prop_map(|(high, low)| high << 32 | low),
        1 => (0..5u64).prop_map(|back| u64::MAX - back),
        1 => (0..64u32).prop_map(|bit| 1 << bit),
        2 => any::<u64>(),
    ]
}

/// Reads everything that a ring of these words can return.
fn read_ring(ring: &Ring, number: u64) {
    match ring.look(number) {
        Found::Inline(_, length) => {
            assert!(length <= ring.shape.inline());
            ring.read_inline(number, &mut vec![0; length]);
        }
        Found::Overwritten(oldest) => assert!(oldest > number),
        Found::Chunk(..) | Found::LeftOut | Found::Nothing | Found::Moved => {}
    }
    ring.still_there(number);
}

proptest! {
    #[test]
    fn a_shape_fits_or_is_refused(first in word(), count in 0..500usize) {
        if let Ok(shape) = Shape::parse(first, count, "a file") {
            prop_assert!(shape.bytes() / 8 <= count);
            prop_assert!(shape.slots.is_power_of_two());
            shape.inline();
        }
    }

    #[test]
    fn a_ring_of_anything(
        shape in prop_oneof![word(), (0..6u32, 7..12u64).prop_map(|(log, stride)| (1 << log) << 32 | stride)],
        rest in vec(word(), 0..200),
        numbers in vec(0..u64::MAX / 4 + 1, 1..20),
    ) {
        if let Ok(ring) = Ring::open(words(std::iter::once(shape).chain(rest)), "a file") {
            numbers.into_iter().chain(0..10).for_each(|number| read_ring(&ring, number));
        }
    }

    #[test]
    fn an_event_ring_of_anything(
        all in vec(word(), 0..100),
        indices in vec(word(), 0..20),
        moved_to in vec(word(), 0..30),
    ) {
        let Some(entries) = Entries::open(words(all)) else { return Ok(()) };
        for index in indices {
            entries.entry(index);
        }
        let (mut drainer, tail) = (Drainer::new(entries), AtomicU64::new(0));
        let find = || Entries::open(words(moved_to.clone()));
        for _ in 0..50 {
            if drainer.next(&tail, find) == Drained::Nothing {
                break;
            }
        }
    }

    /// An event ring that always claims to have moved doesn't hold a reader up; one that has moved
    /// is followed.
    #[test]
    fn an_event_ring_that_only_moves(capacity in 0..4u32) {
        let capacity = 1usize << capacity;
        let moved = || {
            let count = Entries::words(capacity) - 1;
            let log = u64::from(capacity.trailing_zeros());
            Entries::open(words(std::iter::once(log).chain(std::iter::repeat_n(u64::MAX, count)))).unwrap()
        };
        prop_assert_eq!(moved().entry(0), Entry::Moved);
        let tail = AtomicU64::new(0);
        let mut drainer = Drainer::new(moved());
        prop_assert!(drainer.is_pending());
        prop_assert_eq!(drainer.next(&tail, || Some(moved())), Drained::Lost);
        prop_assert_eq!(Drainer::new(moved()).next(&tail, || None), Drained::Lost);
        drainer = Drainer::new(moved());
        let entry = 1u64 << 32 | 5;
        let good = || {
            let count = Entries::words(capacity) - crate::event::protocol::HEADER - 1;
            let rest = std::iter::once(entry).chain(std::iter::repeat_n(0, count));
            let log = u64::from(capacity.trailing_zeros());
            let header = std::iter::once(log).chain(std::iter::repeat_n(0, crate::event::protocol::HEADER - 1));
            Entries::open(words(header.chain(rest)))
        };
        prop_assert_eq!(drainer.next(&tail, good), Drained::Connection(5));
        prop_assert_eq!(tail.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn an_entity_of_anything(all in vec(word(), 168), generation in word()) {
        let mut all = all.into_iter();
        let record = endpoint_record(|| all.next().unwrap_or(0));
        record.generation.store(generation, Ordering::Relaxed);
        if let Ok(found) = Endpoint::load(&record, "a file") {
            prop_assert_eq!(found.is_some(), generation % 2 == 1);
        }
        Counts::load(&record);
    }

    #[test]
    fn a_log_of_anything(all in vec(word(), 1..20), head in word(), since in word()) {
        let log: Vec<_> = all.into_iter().map(AtomicU64::new).collect();
        match control_segment::entered(&log, &AtomicU64::new(head), since) {
            Ok((found, to)) => prop_assert!(to == head && found.len() as u64 == head - since),
            Err(to) => prop_assert_eq!(to, head),
        }
    }

    #[test]
    fn a_chunk_lies_within_what_is_reserved(
        size in prop_oneof![word(), (1..40u64).prop_map(|n| n * 64)],
        name in word(),
        length in word(),
        reserved in 0..=MAPPED,
    ) {
        let mapping = mapped();
        ShmRef::<AtomicU64>::at(&mapping, size_of::<Header>()).unwrap().store(size, Ordering::Relaxed);
        let chunk = slab::chunk_size(&mapping);
        if let Some(offset) = chunk.and_then(|chunk| slab::locate(chunk, reserved, name, length)) {
            let end = offset as u64 + length;
            prop_assert!(end <= reserved as u64);
            prop_assert!(offset % 4 == 0 && (offset + 4) % 16 == 0);
        }
    }

    #[test]
    fn a_place_lies_within_its_mapping(offset in word(), count in word()) {
        let (offset, count) = (usize::try_from(offset).unwrap(), usize::try_from(count).unwrap());
        if let Some(place) = ShmRef::<[AtomicU64]>::slice(&mapped(), offset, count) {
            prop_assert_eq!(place.len(), count);
            prop_assert!(offset + count * 8 <= MAPPED && offset % 8 == 0);
            place.iter().for_each(|word| _ = word.load(Ordering::Relaxed));
        }
    }
}

/// Size of [`mapped`] in bytes.
const MAPPED: usize = 16 << 10;

fn mapped() -> Arc<Mapping> {
    let file = tempfile::tempfile_in("/dev/shm").unwrap();
    file.set_len(MAPPED as u64).unwrap();
    Arc::new(Mapping::new(&file, MAPPED, true).unwrap())
}
