//! B1-B3: a writer that waits for its readers goes on when there is room.

use super::{check, port};
use crate::control::IncomingRecord;
use crate::events::Bell;
use crate::place::Place;
use crate::room::{self, Cursor};
use crate::sync::{Arc, AtomicU64};
use loom::cell::UnsafeCell;
use loom::thread;

fn record() -> Place<IncomingRecord> {
    let [life, peer, outgoing, port, cursor, next] = [0; 6].map(AtomicU64::new);
    let (spare, spare_line) = ([0; 3].map(AtomicU64::new), [0; 7].map(AtomicU64::new));
    Place::alone(IncomingRecord { life, peer, outgoing, port, cursor, spare, next, spare_line })
}

/// Waits until fewer than `capacity` messages before `next` are under way, as a writer does.
fn wait(cursors: &[Arc<Cursor>], waiting: &[Arc<AtomicU64>], bell: &Bell, next: u64, capacity: u64) {
    let has_room = || cursors.iter().all(|cursor| cursor.lag(next) < capacity);
    while !has_room() {
        if let Some(seen) = room::begin_to_wait(bell, waiting.iter().map(|word| &**word), has_room) {
            bell.sleep(seen, None);
        }
    }
}

/// A place that loom watches: what the writer writes when the reader is done with it.
struct Slot(UnsafeCell<u64>);

// SAFETY: it is shared as a slot is, which is what the model checks: loom reports every access that isn't ordered.
unsafe impl Sync for Slot {}
// SAFETY: as above.
unsafe impl Send for Slot {}

/// A writer that waits is woken by the reader's progress, and comes after what the reader read.
///
/// Fails if B1's or B2's fence is left out, if the bell is read after the cursors, or if the cursor is relaxed.
#[test]
fn room_is_noticed() {
    check(3, || {
        let (bell, theirs, cursor) = (port().bell, record(), Arc::new(Cursor::new(0)));
        cursor.adopt(theirs.clone(), &bell);
        let waiting = Arc::new(AtomicU64::new(0));
        let slot = Arc::new(Slot(UnsafeCell::new(0)));
        let (bell_there, waiting_there, slot_there) = (bell.clone(), waiting.clone(), slot.clone());
        let reader = thread::spawn(move || {
            for cursor in 1..=2 {
                if cursor == 2 {
                    // SAFETY: loom hands out a valid pointer, and has checked that nobody is writing.
                    slot_there.0.with(|value| assert_eq!(unsafe { *value }, 0));
                }
                if room::advance(&theirs.cursor, cursor, &waiting_there) {
                    bell_there.ring();
                }
            }
        });
        wait(&[cursor], &[waiting], &bell, 2, 1);
        // SAFETY: loom hands out a valid pointer, and has checked that nobody else uses it.
        slot.0.with_mut(|value| unsafe { *value = 1 });
        reader.join().unwrap();
    });
}

/// Two readers that both must have room.
///
/// Fails if B1's or B2's fence is left out, or if only one of them is told that somebody waits.
#[test]
fn the_slowest_counts() {
    check(2, || {
        let bell = port().bell;
        let (mut cursors, mut waiting, mut readers) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..2 {
            let (theirs, cursor, word) = (record(), Arc::new(Cursor::new(0)), Arc::new(AtomicU64::new(0)));
            cursor.adopt(theirs.clone(), &bell);
            cursors.push(cursor);
            waiting.push(word.clone());
            let bell = bell.clone();
            readers.push(thread::spawn(move || {
                if room::advance(&theirs.cursor, 1, &word) {
                    bell.ring();
                }
            }));
        }
        wait(&cursors, &waiting, &bell, 1, 1);
        readers.into_iter().for_each(|reader| reader.join().unwrap());
    });
}

/// A writer that waits before it knows where its reader's cursor is learns of progress that came before.
///
/// Fails if B3 doesn't ring, or rings first.
#[test]
fn a_reader_that_was_quicker_than_its_acceptance() {
    check(3, || {
        let (bell, theirs, cursor) = (port().bell, record(), Arc::new(Cursor::new(0)));
        let waiting = Arc::new(AtomicU64::new(0));
        let (rung, there, word) = (bell.clone(), theirs.clone(), waiting.clone());
        let reader = thread::spawn(move || {
            if room::advance(&there.cursor, 1, &word) {
                rung.ring();
            }
        });
        let (rung, adopting) = (bell.clone(), cursor.clone());
        let helper = thread::spawn(move || adopting.adopt(theirs, &rung));
        wait(&[cursor], &[waiting], &bell, 1, 1);
        reader.join().unwrap();
        helper.join().unwrap();
    });
}
