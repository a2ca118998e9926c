//! T1-T4: records that are reused while others read them; L1-L3: the log.

use super::check;
use crate::platform::sync::{Arc, AtomicU64, Mutex, Ordering};
use crate::tables::control_segment::{self, Table};
use loom::thread;

/// A record; all its fields contain its life's number.
struct Record {
    generation: AtomicU64,
    fields: [AtomicU64; 2],
}

impl Record {
    fn new() -> Arc<Self> {
        Arc::new(Self { generation: AtomicU64::new(0), fields: [AtomicU64::new(0), AtomicU64::new(0)] })
    }

    /// T2, with fields that contain the life's number.
    fn publish(&self, generation: u64) {
        self.fields.iter().for_each(|field| field.store(generation, Ordering::Relaxed)); // T2 publishes it
        assert_eq!(control_segment::publish_generation(&self.generation), generation);
    }

    /// T3; the fields found belong to one life.
    fn check(&self) {
        let fields = || [&self.fields[0], &self.fields[1]].map(|field| field.load(Ordering::Relaxed));
        if let Some((generation, fields)) = control_segment::read_generation(&self.generation, fields) {
            assert_eq!(fields, [generation, generation], "of another life");
        }
    }
}

/// The fields that are read belong to the life under which they are read.
///
/// Fails if T2 or T3's first load is relaxed, or if T3's or T1's fence is left out.
#[test]
fn a_record_that_is_used_again() {
    check(3, || {
        let record = Record::new();
        record.publish(1);
        let theirs = record.clone();
        let reader = thread::spawn(move || theirs.check());
        control_segment::end_generation(&record.generation);
        control_segment::begin_generation();
        record.publish(3);
        reader.join().unwrap();
    });
}

/// The same if one thread gives the record back and another one fills it.
///
/// Fails if T1's fence is left out, or moved to T4.
#[test]
fn a_record_that_is_used_again_by_another_thread() {
    check(3, || {
        let record = Record::new();
        record.publish(1);
        let free = Arc::new(Mutex::new(false));
        let (theirs, given_back) = (record.clone(), free.clone());
        let ending = thread::spawn(move || {
            control_segment::end_generation(&theirs.generation);
            *given_back.lock() = true; // as `OwnControl::give_back`
        });
        let theirs = record.clone();
        let reader = thread::spawn(move || theirs.check());
        let is_free = *free.lock(); // as `OwnControl::allocate`
        if is_free {
            control_segment::begin_generation();
            record.publish(3);
        }
        reader.join().unwrap();
        ending.join().unwrap();
    });
}

/// The entries of a log are read as they were entered, in order, and a reader of an entry sees
/// everything done before it. A reader that is too late finds out.
///
/// Fails if L2 or L3's head is relaxed, if L2 comes before L1, or if an entry's number isn't
/// compared.
#[test]
fn a_log_that_goes_round() {
    check(3, || {
        let shared = Arc::new(([AtomicU64::new(0), AtomicU64::new(0)], AtomicU64::new(0)));
        let records: Arc<[AtomicU64; 3]> = Arc::new([0; 3].map(AtomicU64::new));
        let (theirs, done) = (shared.clone(), records.clone());
        let reader = thread::spawn(move || {
            let mut position = 0;
            for _ in 0..2 {
                let head = match control_segment::entered(&theirs.0, &theirs.1, position) {
                    Ok((found, head)) => {
                        let expected: Vec<_> = (position..head)
                            .map(|number| (Table::Endpoints, u32::try_from(number).unwrap()))
                            .collect();
                        assert_eq!(found, expected);
                        head
                    }
                    Err(head) => head,
                };
                for record in &done[..usize::try_from(head).unwrap()] {
                    assert_eq!(record.load(Ordering::Relaxed), 1, "entered before it was done");
                }
                assert!(head >= position);
                position = head;
            }
        });
        for (slot, record) in (0u32..).zip(records.iter()) {
            record.store(1, Ordering::Relaxed); // L2 carries it
            control_segment::enter(&shared.0, &shared.1, Table::Endpoints, slot);
        }
        reader.join().unwrap();
    });
}
