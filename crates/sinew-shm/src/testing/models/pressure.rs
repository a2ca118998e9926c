//! B1-B3: a writer that waits for its readers continues when there is room.

use super::{check, port};
use crate::connection::flow_control::{self, Cursor, Want};
use crate::platform::shm_ref::ShmRef;
use crate::platform::sync::{Arc, AtomicU64};
use crate::tables::bell::Bell;
use crate::tables::control_segment::IncomingRecord;
use loom::cell::UnsafeCell;
use loom::thread;

fn record() -> ShmRef<IncomingRecord> {
    let [generation, peer, outgoing, port, cursor, next] = [0; 6].map(AtomicU64::new);
    let (spare, spare_line) = ([0; 3].map(AtomicU64::new), [0; 7].map(AtomicU64::new));
    ShmRef::alone(IncomingRecord { generation, peer, outgoing, port, cursor, spare, next, spare_line })
}

/// Waits until there is as much room as `want` for message `next`, as a writer does.
fn wait(
    cursors: &[Arc<Cursor>],
    waiting: &[Arc<AtomicU64>],
    bell: &Bell,
    next: u64,
    (capacity, want): (u64, Want),
) {
    let wanted = flow_control::wanted(next, capacity, want);
    let has_room = || cursors.iter().all(|cursor| cursor.at() >= wanted);
    while !has_room() {
        let readers = waiting.iter().map(|word| (&**word, wanted));
        if let Some(seen) = flow_control::begin_to_wait(bell, readers, has_room) {
            bell.sleep(seen, None);
        }
    }
}

/// A connection with a known cursor of its reader.
fn connected(bell: &Bell) -> (ShmRef<IncomingRecord>, Arc<Cursor>, Arc<AtomicU64>) {
    let (theirs, cursor) = (record(), Arc::new(Cursor::new(0)));
    cursor.adopt(theirs.clone(), bell);
    (theirs, cursor, Arc::new(AtomicU64::new(0)))
}

/// Makes the reader release the messages before each of these cursors, one after the other. Returns
/// how often it rang.
fn read(
    record: &IncomingRecord,
    waiting: &AtomicU64,
    bell: &Bell,
    cursors: impl IntoIterator<Item = u64>,
) -> usize {
    let mut rung = 0;
    let rings = |cursor: &u64| flow_control::advance(&record.cursor, *cursor, waiting, &mut rung);
    cursors.into_iter().filter(rings).map(|_| bell.ring()).count()
}

/// A slot that loom watches: the writer writes it when the reader is done with it.
struct Slot(UnsafeCell<u64>);

// SAFETY: it is shared like a slot, which is what the model checks: loom reports every unordered
// access.
unsafe impl Sync for Slot {}
// SAFETY: as above.
unsafe impl Send for Slot {}

/// A waiting writer is woken by the reader's progress, and writes after the reader has read.
///
/// Fails if B1's or B2's fence is left out, if the bell is read after the cursors, or if the cursor
/// is relaxed.
#[test]
fn room_is_noticed() {
    check(3, || {
        let bell = port().bell;
        let (theirs, cursor, waiting) = connected(&bell);
        let slot = Arc::new(Slot(UnsafeCell::new(0)));
        let (bell_there, waiting_there, slot_there) = (bell.clone(), waiting.clone(), slot.clone());
        let reader = thread::spawn(move || {
            let cursors = (1..=2).inspect(|&cursor| {
                if cursor == 2 {
                    // SAFETY: loom hands out a valid pointer, and has checked that no thread is
                    // writing.
                    slot_there.0.with(|value| assert_eq!(unsafe { *value }, 0));
                }
            });
            read(&theirs, &waiting_there, &bell_there, cursors);
        });
        wait(&[cursor], &[waiting], &bell, 2, (1, Want::Half));
        // SAFETY: loom hands out a valid pointer, and has checked that no other thread uses it.
        slot.0.with_mut(|value| unsafe { *value = 1 });
        reader.join().unwrap();
    });
}

/// Two readers that both must have room.
///
/// Fails if B1's or B2's fence is left out, or if only one of them is notified that the writer
/// waits.
#[test]
fn the_slowest_counts() {
    check(2, || {
        let bell = port().bell;
        let (mut cursors, mut waiting, mut readers) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..2 {
            let (theirs, cursor, word) = connected(&bell);
            cursors.push(cursor);
            waiting.push(word.clone());
            let bell = bell.clone();
            readers.push(thread::spawn(move || drop(read(&theirs, &word, &bell, [1]))));
        }
        wait(&cursors, &waiting, &bell, 1, (1, Want::Any));
        readers.into_iter().for_each(|reader| reader.join().unwrap());
    });
}

/// A writer that waits before it has found its reader's cursor learns of progress made before.
///
/// Fails if B3 doesn't ring, or rings first.
#[test]
fn a_reader_that_was_quicker_than_its_acceptance() {
    check(3, || {
        let (bell, theirs, cursor) = (port().bell, record(), Arc::new(Cursor::new(0)));
        let waiting = Arc::new(AtomicU64::new(0));
        let (rung, there, word) = (bell.clone(), theirs.clone(), waiting.clone());
        let reader = thread::spawn(move || drop(read(&there, &word, &rung, [1])));
        let (rung, adopting) = (bell.clone(), cursor.clone());
        let helper = thread::spawn(move || adopting.adopt(theirs, &rung));
        wait(&[cursor], &[waiting], &bell, 1, (1, Want::Any));
        reader.join().unwrap();
        helper.join().unwrap();
    });
}

/// A reader that takes one message after the other rings once, when it has freed half of the
/// capacity.
///
/// Fails if it rings before that, or for each message after it.
#[test]
fn a_wait_is_rung_for_once() {
    check(3, || {
        let bell = port().bell;
        let (theirs, cursor, waiting) = connected(&bell);
        let (rung, word) = (bell.clone(), waiting.clone());
        let reader = thread::spawn(move || read(&theirs, &word, &rung, 1..=4));
        wait(&[cursor.clone()], &[waiting], &bell, 4, (4, Want::Half));
        assert!(cursor.at() >= 2);
        assert!(reader.join().unwrap() <= 1);
    });
}

/// A wait for half of the capacity doesn't end if the reader stops before that, but a wait for any
/// room does.
///
/// Fails if the reader rings only for the first cursor that the writer asks for, or if the word
/// keeps its old value.
#[test]
fn a_reader_that_stops_short_of_half() {
    check(3, || {
        let bell = port().bell;
        let (theirs, cursor, waiting) = connected(&bell);
        let (rung, word) = (bell.clone(), waiting.clone());
        let reader = thread::spawn(move || read(&theirs, &word, &rung, [1]));
        let half = flow_control::wanted(4, 4, Want::Half);
        // The time for waiting is over at once.
        let _ = flow_control::begin_to_wait(&bell, [(&*waiting, half)].into_iter(), || cursor.at() >= half);
        wait(&[cursor], &[waiting], &bell, 4, (4, Want::Any));
        reader.join().unwrap();
    });
}

/// A reader that has gone back, and reaches a cursor that it has rung for before, rings again.
///
/// Fails if it doesn't forget what it rang for when it goes back.
#[test]
fn a_cursor_that_goes_back_is_rung_for_again() {
    check(3, || {
        let bell = port().bell;
        let (theirs, cursor, waiting) = connected(&bell);
        let (rung, word) = (bell.clone(), waiting.clone());
        let reader = thread::spawn(move || read(&theirs, &word, &rung, [1, 0, 1]));
        wait(&[cursor], &[waiting], &bell, 1, (1, Want::Any));
        reader.join().unwrap();
    });
}
