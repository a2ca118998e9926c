//! How much memory a writer uses, and how often it checks its readers' holds.

use crate::Domain;
use crate::platform::sync::Arc;
use crate::ring::Head;
use crate::tables::control_segment::Table;
use crate::tables::endpoint::EndpointKind;
use crate::testing::recording_observer::{RecordingObserver, endpoint};
use crate::transport::{Connect, Hold, Incoming, Participant, Writer};
use std::os::unix::fs::MetadataExt;

/// A writer, and a reader in another participant.
struct Pair {
    writer: Writer,
    incoming: Incoming,
    writing: Arc<Participant>,
    reading: Arc<Participant>,
    base: tempfile::TempDir,
}

impl Pair {
    fn new(depth: usize) -> Self {
        let base = tempfile::tempdir_in("/dev/shm").unwrap();
        let domain = Domain::open(Some(base.path()), 0).unwrap();
        let (a, b) = (Arc::new(RecordingObserver::default()), Arc::new(RecordingObserver::default()));
        let writing = Participant::join(&domain, a.clone()).unwrap();
        let reading = Participant::join(&domain, b.clone()).unwrap();
        let _reads = reading.advertise(&endpoint(EndpointKind::Subscription), None).unwrap();
        writing.refresh();
        let peer = a.0.lock().0.pop().unwrap();
        let source = Arc::new(writing.advertise(&endpoint(EndpointKind::Publisher), None).unwrap());
        let mut writer = Writer::new(source, depth, 0, 1).unwrap();
        let connect = Connect { target: None, first: 1, live: 1, depth, capacity: None };
        writer.connect(&peer, &connect).unwrap();
        let incoming = loop {
            reading.refresh();
            if let Some(incoming) = b.0.lock().1.pop() {
                break incoming;
            }
            std::thread::yield_now();
        };
        let pair = Self { writer, incoming, writing, reading, base };
        // Until the writer knows the reader's record as well.
        while !pair.writer.knows_reader() {
            pair.writing.refresh();
            std::thread::yield_now();
        }
        pair
    }

    fn publish(&mut self, length: usize) {
        let mut loan = self.writer.loan(length).unwrap();
        loan.bytes_mut()[0] = 1;
        let number = self.writer.next();
        self.writer.publish_lent(number, &Head::default(), loan.share());
    }

    fn read(&mut self) -> Hold {
        self.incoming.read(&mut Vec::new()).unwrap().unwrap().hold.unwrap()
    }

    /// The memory that the pool's counters show.
    fn memory(&self) -> u64 {
        self.writer.endpoint().counts().memory
    }

    /// The memory that the writer's data files take.
    fn allocated(&self) -> u64 {
        let begins = format!("{:016x}.data", self.writing.id());
        let files = std::fs::read_dir(self.base.path().join("0")).unwrap().map(Result::unwrap);
        let ours = files.filter(|file| file.file_name().to_str().unwrap().starts_with(&begins));
        ours.map(|file| file.metadata().unwrap().blocks() * 512).sum()
    }

    fn chunks(&self) -> usize {
        self.writer.lender().pool().state.lock().made()
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        self.writing.leave();
        self.reading.leave();
    }
}

#[test]
fn what_readers_keep_costs_no_more_the_more_it_is() {
    const KEPT: usize = 4000;
    const MORE: usize = 4000;
    let mut pair = Pair::new(10);
    let mut kept = Vec::new();
    let steps = |pair: &Pair| pair.writer.lender().pool().state.lock().all_steps;
    for _ in 0..KEPT {
        pair.publish(1000);
        kept.push(pair.read());
    }
    let filling = steps(&pair);
    assert!(filling < 200 * KEPT, "{} steps for each that is kept", filling / KEPT);
    for _ in 0..MORE {
        pair.publish(1000);
        drop(pair.read());
    }
    let each = (steps(&pair) - filling) / MORE;
    assert!(each < 40, "{each} steps for each message while {KEPT} are kept");
    assert!(pair.chunks() < KEPT * 10 / 8, "{} chunks", pair.chunks());
    assert!(pair.reading.own.hazards.ready() <= Table::Holds.capacity());
}

#[test]
fn one_large_message_makes_no_later_one_large_and_is_forgotten() {
    const LARGE: u64 = 16 << 20;
    let mut pair = Pair::new(10);
    pair.publish(1 << 24);
    drop(pair.read());
    for _ in 0..50 {
        pair.publish(1000);
        drop(pair.read());
    }
    let most = LARGE + LARGE / 4 + (1 << 20);
    assert!(pair.memory() < most && pair.allocated() < most, "{} of {}", pair.allocated(), pair.memory());
    // As the helper thread does every few seconds.
    let own = &pair.writing.own;
    (0..2).for_each(|_| own.memory.tidy(&own.readers));
    assert!(pair.memory() < 30_000, "{}", pair.memory());
    assert!(pair.allocated() < 200_000, "{}", pair.allocated());
    // The message comes again, in a place where there was a hole.
    pair.publish(1 << 24);
    assert_eq!(pair.read().bytes().len(), 1 << 24);
}

#[test]
fn the_memory_of_a_writer_that_is_gone_is_given_back_once_it_is_not_read() {
    let mut pair = Pair::new(10);
    pair.publish(1 << 24);
    let held = pair.read();
    let other = Arc::new(pair.writing.advertise(&endpoint(EndpointKind::Publisher), None).unwrap());
    let gone = std::mem::replace(&mut pair.writer, Writer::new(other, 1, 0, 1).unwrap());
    drop(gone);
    pair.incoming.done();
    let tidy = || pair.writing.own.memory.tidy(&pair.writing.own.readers);
    tidy();
    assert!(pair.allocated() >= 1 << 24, "it is read");
    drop(held);
    pair.writing.refresh(); // the reader is done
    tidy();
    assert!(pair.allocated() < 200_000, "{}", pair.allocated());
}

#[test]
fn messages_of_all_sizes_take_about_as_much_as_the_history_of_the_greatest() {
    let mut pair = Pair::new(10);
    let mut length = 1000;
    for _ in 0..3000 {
        length = (length * 7919 + 13) % 500_000;
        pair.publish(1000 + length);
        drop(pair.read());
        assert!(pair.memory() < 22 * 500_000, "{}", pair.memory());
    }
}

#[test]
fn large_messages_that_are_read_take_turns_in_few_chunks() {
    let mut pair = Pair::new(10);
    for _ in 0..100 {
        pair.publish(200_000);
        drop(pair.read());
    }
    assert_eq!(pair.chunks(), 2, "of all of the ring's slots, the newest and the one before");
    // A message that is kept stays.
    pair.publish(200_000);
    let kept = pair.read();
    for _ in 0..100 {
        pair.publish(200_000);
        drop(pair.read());
    }
    assert_eq!((pair.chunks(), kept.bytes()[0]), (3, 1));
    // A slow reader has the depth that it was promised.
    (0..10).for_each(|_| pair.publish(200_000));
    for _ in 0..10 {
        assert_eq!(pair.read().bytes().len(), 200_000);
    }
    assert!(pair.incoming.read(&mut Vec::new()).unwrap().is_none());
}

#[test]
fn what_is_retained_stays_in_the_ring() {
    let mut pair = Pair::new(10);
    pair.writer.retain(5);
    for number in 1..=20 {
        pair.publish(200_000);
        drop(pair.read());
        let first = (number + 1 - 5i64).max(1).cast_unsigned();
        assert!((first..=number.cast_unsigned()).all(|number| pair.writer.has_number(number)));
    }
    assert!(!pair.writer.has_number(14), "all readers have read it, and nobody else is to");
}
