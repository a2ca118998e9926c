//! The readers that a writer notifies, and the number of messages that it keeps for them.

use crate::connection::outgoing::Connect;
use crate::platform::sync::Arc;
use crate::platform::sys;
use crate::ring::Head;
use crate::testing::recording_observer::{RecordingObserver, endpoint};
use crate::transport::Participant;
use crate::writer::message_writer::Writer;
use crate::{Domain, EndpointKind};
use std::time::Duration;

/// A writer with a connection to a reader that only polls.
struct Pair {
    _base: tempfile::TempDir,
    writing: Arc<Participant>,
    reading: Arc<Participant>,
    /// Has the reader's connection.
    observer: Arc<RecordingObserver>,
    writer: Writer,
}

fn until(is_so: &dyn Fn() -> bool) {
    let end = sys::steady() + 20_000_000_000;
    while !is_so() {
        assert!(sys::steady() < end, "it never is so");
        sys::wait_for(&sys::Wake::new().unwrap(), None, Some(Duration::from_millis(1)));
    }
}

impl Pair {
    fn new(depth: usize) -> Self {
        let base = tempfile::tempdir_in("/dev/shm").unwrap();
        let domain = Domain::open(Some(base.path()), 0).unwrap();
        let (a, observer) = (Arc::new(RecordingObserver::default()), Arc::new(RecordingObserver::default()));
        let writing = Participant::join(&domain, a.clone()).unwrap();
        let reading = Participant::join(&domain, observer.clone()).unwrap();
        let _target = reading.advertise(&endpoint(EndpointKind::Subscription), None).unwrap();
        until(&|| !a.0.lock().0.is_empty());
        let peer = a.0.lock().0[0].clone();
        let source = Arc::new(writing.advertise(&endpoint(EndpointKind::Publisher), None).unwrap());
        let mut writer = Writer::new(source, depth, 8, 1).unwrap();
        let connect = Connect { target: None, first: 1, live: 1, depth, capacity: None };
        writer.connect(&peer, &connect).unwrap();
        until(&|| writer.knows_reader());
        Self { _base: base, writing, reading, observer, writer }
    }

    fn end(self) {
        let Self { _base, writing, reading, observer, writer } = self;
        observer.0.lock().1.clear();
        drop(writer);
        writing.leave();
        reading.leave();
    }
}

/// Whether a writer announces its messages to a reader that only polls.
fn announces_to_who_polls() -> bool {
    let pair = Pair::new(1);
    let announces = pair.writer.connections[0].accepted.has_listener();
    pair.end();
    announces
}

/// So a publisher that seldom publishes keeps nothing that was read, and one that never does wakes
/// no thread.
#[test]
fn a_look_is_requested_for_chunks_until_all_are_read() {
    let mut pair = Pair::new(4);
    let mut number = 0;
    let mut publish = |pair: &mut Pair| {
        number += 1;
        let loan = pair.writer.lender().loan(1000).unwrap();
        pair.writer.publish_lent(number, &Head::default(), loan.share());
    };
    assert!(pair.writer.tidied.is_none() && !pair.writer.tidy());
    publish(&mut pair);
    assert!(pair.writer.tidied.is_some(), "a look is requested");
    for _ in 0..3 {
        assert!(pair.writer.tidy(), "it was published, and then not read");
    }
    pair.observer.0.lock().1.clear(); // the reader goes
    assert!(!pair.writer.tidy());
    assert!(pair.writer.named.iter().all(Option::is_none));
    publish(&mut pair);
    assert!(pair.writer.tidied.is_some(), "a look is requested again");
    pair.writer.retain(1);
    assert!(pair.writer.tidy(), "it was published since the last time");
    assert!(!pair.writer.tidy(), "what is retained for late joiners stays");
    assert_eq!(pair.writer.named.iter().flatten().count(), 1);
    pair.end();
}

#[test]
fn every_message_is_announced_where_the_kernel_puts_no_fence_into_threads() {
    sys::prepare_fences();
    if sys::fences_threads() {
        assert!(!announces_to_who_polls(), "a fence for nothing");
    }
    let without = std::thread::spawn(|| {
        if !sys::forbid_membarrier() {
            println!("skipped: no filters here, as under qemu's user mode");
            return true;
        }
        assert!(!sys::fence_all_threads() && !sys::fences_threads());
        announces_to_who_polls()
    });
    assert!(without.join().unwrap());
}

/// The writer's helper thread may be late: the writer looks for the reader's record before the
/// reader counts as slow.
#[test]
fn a_reader_that_has_read_everything_does_not_block_a_writer_without_its_report() {
    let base = tempfile::tempdir_in("/dev/shm").unwrap();
    let domain = Domain::open(Some(base.path()), 0).unwrap();
    let (here, there) = (Arc::new(RecordingObserver::default()), Arc::new(RecordingObserver::default()));
    let writing = Participant::join(&domain, here.clone()).unwrap();
    let reading = Participant::join(&domain, there.clone()).unwrap();
    let _target = reading.advertise(&endpoint(EndpointKind::Subscription), None).unwrap();
    writing.refresh();
    let peer = here.0.lock().0[0].clone();
    let source = Arc::new(writing.advertise(&endpoint(EndpointKind::Publisher), None).unwrap());
    let mut writer = Writer::new(source, 1, 8, 1).unwrap();
    let its_helper_is_late = writing.follower.discovery.lock();
    let connect = Connect { target: None, first: 1, live: 1, depth: 1, capacity: Some(1) };
    writer.connect(&peer, &connect).unwrap();
    writer.publish_inline(1, &Head::default(), b"1");
    assert!(!writer.has_room());
    reading.refresh();
    let mut incoming = there.0.lock().1.pop().unwrap();
    assert!(writer.wait_for_room().is_some(), "it hasn't read anything yet");
    let mut buffer = Vec::new();
    incoming.read(&mut buffer).unwrap().unwrap();
    incoming.set_cursor(incoming.next());
    assert!(writer.wait_for_room().is_none(), "it has read everything");
    drop(its_helper_is_late);
    drop((incoming, writer));
    writing.leave();
    reading.leave();
}

/// A reader may ask for any depth, but the memory is the writer's.
#[test]
fn a_ring_grows_for_readers_to_a_limit_only_and_for_its_own_history_beyond() {
    let base = tempfile::tempdir_in("/dev/shm").unwrap();
    let domain = Domain::open(Some(base.path()), 0).unwrap();
    let here = Arc::new(RecordingObserver::default());
    let writing = Participant::join(&domain, here.clone()).unwrap();
    let reading = Participant::join(&domain, Arc::new(RecordingObserver::default())).unwrap();
    let _target = reading.advertise(&endpoint(EndpointKind::Subscription), None).unwrap();
    writing.refresh();
    let peer = here.0.lock().0[0].clone();
    for (inline, most) in [(0, 1 << 16), (200, 1 << 16), (4000, 1 << 14), (100_000_000, 1)] {
        let source = Arc::new(writing.advertise(&endpoint(EndpointKind::Publisher), None).unwrap());
        let mut writer = Writer::new(source, 1, inline, 1).unwrap();
        assert!(writer.ring.shape.keeping(most).unwrap().bytes() <= (64 << 20) + 64 || most == 1);
        let asked = 1_000_000;
        let connect = Connect { target: None, first: 1, live: 1, depth: asked, capacity: Some(asked) };
        // Without its memory: the greatest one needs more than a test should take.
        if inline < 4000 {
            writer.connect(&peer, &connect).unwrap();
            assert_eq!(writer.depth(), most);
            assert_eq!(
                writer.connections[0].capacity,
                Some(most as u64),
                "no message under way is overwritten"
            );
            writer.bind(peer.id(), Some(asked));
            assert_eq!(writer.connections[0].capacity, Some(most as u64));
            writer.grow(2 * most).unwrap();
            assert_eq!(writer.depth(), 2 * most);
        }
        assert_eq!(writer.ring.shape.most_for_readers(), most);
    }
    writing.leave();
    reading.leave();
}

/// Otherwise messages that a writer publishes for others just after the end would arrive twice,
/// once as the rest of what it retained.
#[test]
fn a_reader_that_reads_while_its_connection_ends_reads_nothing_behind_the_end() {
    let base = tempfile::tempdir_in("/dev/shm").unwrap();
    let domain = Domain::open(Some(base.path()), 0).unwrap();
    let (here, there) = (Arc::new(RecordingObserver::default()), Arc::new(RecordingObserver::default()));
    let writing = Participant::join(&domain, here.clone()).unwrap();
    let reading = Participant::join(&domain, there.clone()).unwrap();
    let target = reading.advertise(&endpoint(EndpointKind::Subscription), None).unwrap();
    writing.refresh();
    let peer = here.0.lock().0[0].clone();
    let source = Arc::new(writing.advertise(&endpoint(EndpointKind::Publisher), None).unwrap());
    let mut writer = Writer::new(source, 4, 8, 1).unwrap();
    for round in 1..=500 {
        let connect =
            Connect { target: Some(target.key()), first: round, live: round, depth: 0, capacity: None };
        let accepted = writer.accept(&peer, &connect).unwrap().unwrap();
        reading.refresh();
        let mut incoming = there.0.lock().1.pop().unwrap();
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut buffer = Vec::new();
                while !incoming.is_over() {
                    let message = incoming.read(&mut buffer).unwrap();
                    assert!(message.is_none(), "message {round} is for others");
                }
            });
            accepted.end(round);
            writer.publish_inline(round, &Head::default(), b"other");
            reader.join().unwrap();
        });
    }
    drop(writer);
    writing.leave();
    reading.leave();
}
