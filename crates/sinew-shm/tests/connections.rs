//! Participants find each other, connect, and pass messages.

#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a test's own locks and waits; nothing here is modelled"
)]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use sinew_shm::inspect::*;
use sinew_shm::transport::*;
use sinew_shm::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A domain directory of its own, removed at the end.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir_in("/dev/shm").unwrap())
    }

    fn domain(&self) -> Domain {
        Domain::open(Some(self.0.path()), 0).unwrap()
    }

    fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path().join("0")).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

/// Records its notifications.
#[derive(Default)]
struct Observed {
    appeared: Mutex<Vec<(Arc<Peer>, EndpointKey, Endpoint)>>,
    vanished: AtomicUsize,
    left: AtomicUsize,
    incoming: Mutex<Vec<Arc<Reading>>>,
    port: Mutex<Option<Arc<EventReceiver>>>,
    /// Whether the test reads the messages itself, instead of the thread that looks around.
    is_read_by_hand: AtomicBool,
}

struct Reading {
    incoming: Mutex<Incoming>,
    got: Mutex<Vec<(u64, Vec<u8>)>>,
}

impl Sink for Reading {
    fn drain(&self) {
        let mut incoming = self.incoming.lock().unwrap();
        let mut buffer = Vec::new();
        while let Some(message) = incoming.read(&mut buffer).unwrap() {
            let bytes = message.hold.map_or_else(|| buffer.clone(), |hold| hold.bytes().to_vec());
            self.got.lock().unwrap().push((message.number, bytes));
        }
        if incoming.is_over() {
            incoming.done();
        }
    }
}

impl Observer for Observed {
    fn appeared(&self, peer: &Arc<Peer>, key: EndpointKey, endpoint: &Endpoint) {
        self.appeared.lock().unwrap().push((peer.clone(), key, endpoint.clone()));
    }
    fn vanished(&self, _: &Arc<Peer>, _: EndpointKey) {
        self.vanished.fetch_add(1, Ordering::SeqCst);
    }
    fn connected(&self, mut incoming: Incoming, _: Option<EndpointKey>) -> Option<Arc<dyn Sink>> {
        incoming.set_port(self.port.lock().unwrap().as_deref());
        let reading = Arc::new(Reading { incoming: Mutex::new(incoming), got: Mutex::default() });
        self.incoming.lock().unwrap().push(reading.clone());
        (!self.is_read_by_hand.load(Ordering::SeqCst)).then_some(reading)
    }
    fn left(&self, _: &Arc<Peer>) {
        self.left.fetch_add(1, Ordering::SeqCst);
    }
}

fn endpoint(kind: EndpointKind, name: &str) -> Endpoint {
    Endpoint {
        kind,
        number: 1,
        node: "/node".into(),
        name: name.into(),
        type_name: "test/msg/Bytes".into(),
        hash: [3; 32],
        qos: [5; 64],
    }
}

#[track_caller]
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn connect(first: u64) -> Connect {
    Connect { target: None, first, live: first, depth: 8, capacity: None }
}

#[test]
fn messages_of_any_size_arrive_in_order_and_nothing_is_left_behind() {
    let place = Place::new();
    let (a, b) = (Arc::new(Observed::default()), Arc::new(Observed::default()));
    let writing = Participant::join(&place.domain(), a.clone()).unwrap();
    let reading = Participant::join(&place.domain(), b.clone()).unwrap();
    let port = reading.port(None).unwrap();
    *b.port.lock().unwrap() = Some(port.clone());
    let source = Arc::new(writing.advertise(&endpoint(EndpointKind::Publisher, "/bytes"), None).unwrap());
    let target = reading.advertise(&endpoint(EndpointKind::Subscription, "/bytes"), None).unwrap();
    until("both know each other", || {
        a.appeared.lock().unwrap().len() == 1 && b.appeared.lock().unwrap().len() == 1
    });
    let (peer, _, found) = a.appeared.lock().unwrap()[0].clone();
    assert_eq!(found, endpoint(EndpointKind::Subscription, "/bytes"));
    assert_eq!(peer.id(), reading.id());

    let mut writer = Writer::new(source, 8, 200, 1).unwrap();
    writer.connect(&peer, &connect(1)).unwrap();
    let mut sent = Vec::new();
    for number in 1..=500u64 {
        let length = [0, 1, 40, 200, 1000, 100_000][usize::try_from(number % 6).unwrap()];
        let encoded: Vec<u8> = (0..length).map(|i| (i as u64 * number).to_le_bytes()[0]).collect();
        let head = Head { stamp: number as i64, ..Head::default() };
        if encoded.len() <= writer.inline() {
            writer.publish_inline(number, &head, &encoded);
        } else {
            let mut loan = writer.lender().loan(encoded.len()).unwrap();
            loan.bytes_mut().copy_from_slice(&encoded);
            writer.publish_lent(number, &head, loan.share());
        }
        sent.push((number, encoded));
        until("it arrives", || {
            port.drain();
            b.incoming.lock().unwrap().first().is_some_and(|r| r.got.lock().unwrap().len() == sent.len())
        });
    }
    assert_eq!(*b.incoming.lock().unwrap()[0].got.lock().unwrap(), sent);

    drop(target);
    until("it vanishes", || a.vanished.load(Ordering::SeqCst) == 1);
    writer.disconnect(peer.id());
    drop(writer);
    drop(port);
    b.port.lock().unwrap().take();
    drop(writing);
    until("it is gone", || b.left.load(Ordering::SeqCst) == 1);
    drop(peer);
    b.incoming.lock().unwrap().clear();
    reading.leave();
    until("the directory is empty", || place.files().is_empty());
}

/// Each time it has read all messages, makes the writer publish one more.
#[derive(Default)]
struct Echoed {
    observed: Observed,
    echo: Arc<Echo>,
}

#[derive(Default)]
struct Echo {
    reading: Mutex<Option<Arc<dyn Sink>>>,
    writer: Mutex<Option<Writer>>,
    drains: AtomicUsize,
}

impl Sink for Echo {
    fn drain(&self) {
        let mut writer = self.writer.lock().unwrap();
        let (Some(reading), Some(writer)) = (&*self.reading.lock().unwrap(), &mut *writer) else { return };
        assert!(self.drains.load(Ordering::SeqCst) < 100, "one drain after the other");
        reading.drain();
        writer.publish_inline(writer.next(), &Head::default(), b"more");
        // Counted last: the first drain runs on the participant's thread, and the test waits for
        // its end.
        self.drains.fetch_add(1, Ordering::SeqCst);
    }
}

impl Observer for Echoed {
    fn appeared(&self, peer: &Arc<Peer>, key: EndpointKey, endpoint: &Endpoint) {
        self.observed.appeared(peer, key, endpoint);
    }
    fn vanished(&self, peer: &Arc<Peer>, key: EndpointKey) {
        self.observed.vanished(peer, key);
    }
    fn connected(&self, incoming: Incoming, target: Option<EndpointKey>) -> Option<Arc<dyn Sink>> {
        *self.echo.reading.lock().unwrap() = self.observed.connected(incoming, target);
        Some(self.echo.clone())
    }
    fn left(&self, peer: &Arc<Peer>) {
        self.observed.left(peer);
    }
}

#[test]
fn a_drain_ends_though_its_peers_go_on() {
    let place = Place::new();
    let (a, b) = (Arc::new(Observed::default()), Arc::new(Echoed::default()));
    let writing = Participant::join(&place.domain(), a.clone()).unwrap();
    let reading = Participant::join(&place.domain(), b.clone()).unwrap();
    let drains = || b.echo.drains.load(Ordering::SeqCst);
    let port = reading.port(None).unwrap();
    *b.observed.port.lock().unwrap() = Some(port.clone());
    let source = Arc::new(writing.advertise(&endpoint(EndpointKind::Publisher, "/bytes"), None).unwrap());
    let _target = reading.advertise(&endpoint(EndpointKind::Subscription, "/bytes"), None).unwrap();
    until("the reader is known", || a.appeared.lock().unwrap().len() == 1);
    let (peer, ..) = a.appeared.lock().unwrap()[0].clone();
    let mut writer = Writer::new(source, 8, 200, 1).unwrap();
    writer.connect(&peer, &connect(1)).unwrap();
    writer.publish_inline(1, &Head::default(), b"first");
    *b.echo.writer.lock().unwrap() = Some(writer);
    until("it is connected, and known", || {
        port.drain();
        drains() > 0
    });
    // The writer's thread announces it if it has only now learned of the port.
    until("it has published one more", || port.is_pending());
    let before = drains();
    assert!(port.drain());
    // Our drain, and one on the participant's thread if ours was the first.
    let count = drains() - before;
    assert!((1..=2).contains(&count), "{count}");
    until("it has published one more again", || port.is_pending());
}

/// Publishes a message of one repeated byte in a chunk.
fn publish_filled(writer: &mut Writer, value: u8) {
    let mut loan = writer.lender().loan(100_000).unwrap();
    loan.bytes_mut().fill(value);
    writer.publish_lent(writer.next(), &Head::default(), loan.share());
}

#[test]
fn what_is_held_stays_when_its_reader_leaves() {
    let place = Place::new();
    let (a, b) = (Arc::new(Observed::default()), Arc::new(Observed::default()));
    b.is_read_by_hand.store(true, Ordering::SeqCst);
    let writing = Participant::join(&place.domain(), a.clone()).unwrap();
    let reading = Participant::join(&place.domain(), b.clone()).unwrap();
    let source = Arc::new(writing.advertise(&endpoint(EndpointKind::Publisher, "/bytes"), None).unwrap());
    let target = reading.advertise(&endpoint(EndpointKind::Subscription, "/bytes"), None).unwrap();
    until("the reader is known", || a.appeared.lock().unwrap().len() == 1);
    let (peer, ..) = a.appeared.lock().unwrap()[0].clone();
    let mut writer = Writer::new(source, 1, 200, 1).unwrap();
    writer.connect(&peer, &Connect { depth: 1, ..connect(1) }).unwrap();
    until("it is connected", || b.incoming.lock().unwrap().len() == 1);
    publish_filled(&mut writer, 1);
    let first = b.incoming.lock().unwrap()[0].clone();
    let read = || first.incoming.lock().unwrap().read(&mut Vec::new()).unwrap().map(|m| m.hold.unwrap());
    let held = read().unwrap();
    publish_filled(&mut writer, 2);
    let newer = read().unwrap();

    drop(target);
    reading.leave();
    drop(reading);
    until("the writer knows that it has left", || a.left.load(Ordering::SeqCst) == 1);
    for value in 3..20 {
        publish_filled(&mut writer, value);
        assert!(read().is_none(), "it has left");
    }
    assert!(held.bytes().iter().all(|&byte| byte == 1), "written over while it is read");
    drop(held);
    for value in 20..40 {
        publish_filled(&mut writer, value);
    }
    assert!(newer.bytes().iter().all(|&byte| byte == 2), "written over while it is read");
    assert!(
        place
            .files()
            .iter()
            .any(|name| name.ends_with(".control") && !name.contains(&format!("{:016x}", writing.id())))
    );
    drop(newer);
    drop((writer, peer));
    writing.leave();
    assert_eq!(place.files(), Vec::<String>::new());
}

#[test]
fn a_late_joiner_gets_what_is_brought_back_into_a_ring_that_grew() {
    let place = Place::new();
    let (a, b) = (Arc::new(Observed::default()), Arc::new(Observed::default()));
    let writing = Participant::join(&place.domain(), a.clone()).unwrap();
    let reading = Participant::join(&place.domain(), b.clone()).unwrap();
    let source = Arc::new(writing.advertise(&endpoint(EndpointKind::Publisher, "/bytes"), None).unwrap());
    let _target = reading.advertise(&endpoint(EndpointKind::Subscription, "/bytes"), None).unwrap();
    until("the reader is known", || a.appeared.lock().unwrap().len() == 1);
    let (peer, target, _) = a.appeared.lock().unwrap()[0].clone();

    // No reader was connected while 1 to 9 were published, so they aren't in the ring.
    let mut writer = Writer::new(source, 2, 200, 1).unwrap();
    writer.skip_to(10);
    writer.grow(8).unwrap();
    for number in 3..10u8 {
        assert!(!writer.has_number(number.into()));
        writer.bring_back(number.into(), &Head::default(), Some(Err(&[number])));
        assert!(writer.has_number(number.into()));
    }
    writer.hand_over(&peer, target, 3, false).unwrap();
    let wanted: Vec<_> = (3..10u8).map(|number| (u64::from(number), vec![number])).collect();
    until("all of them arrive", || {
        b.incoming.lock().unwrap().first().is_some_and(|reading| *reading.got.lock().unwrap() == wanted)
    });

    // 11 is in the slot of 3.
    writer.publish_inline(10, &Head::default(), &[10]);
    writer.publish_inline(11, &Head::default(), &[11]);
    writer.bring_back(3, &Head::default(), Some(Err(&[3])));
    assert!(!writer.has_number(3) && writer.has_number(11));
    drop(writer);
    b.incoming.lock().unwrap().clear();
    writing.leave();
    reading.leave();
}

#[test]
fn a_report_is_for_tools_and_counted_by_any_thread() {
    let place = Place::new();
    let observed = Arc::new(Observed::default());
    let telling = Participant::join(&place.domain(), Arc::new(Observed::default())).unwrap();
    let report = telling.advertise(&endpoint(EndpointKind::Report, "/first"), None).unwrap();
    let late = Participant::join(&place.domain(), observed.clone()).unwrap();
    let second = telling.advertise(&endpoint(EndpointKind::Report, "/second"), None).unwrap();
    let counters = report.counters();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..1000).for_each(|_| counters.count(3, 2)));
        }
    });
    counters.store(15, 7);
    counters.count(16, 1);
    counters.store(usize::MAX, 1);
    let snapshot = Snapshot::take(&place.domain()).unwrap();
    let peer = snapshot.peers().iter().find(|peer| peer.id() == telling.id()).unwrap();
    let found: Vec<_> = peer.endpoints();
    let names: Vec<_> = found.iter().map(|(_, end)| (end.kind, end.name.as_str())).collect();
    assert_eq!(names, [(EndpointKind::Report, "/first"), (EndpointKind::Report, "/second")]);
    let counts = peer.counts(report.key()).unwrap();
    assert_eq!([0, 3, 15, 16, usize::MAX].map(|word| counts.word(word)), [0, 8000, 7, 0, 0]);
    drop(second);
    assert_eq!(peer.endpoints().len(), 1);
    // The next entity in the same slot is announced.
    let _end = telling.advertise(&endpoint(EndpointKind::Node, ""), None).unwrap();
    until("the node is known", || {
        late.refresh();
        !observed.appeared.lock().unwrap().is_empty()
    });
    let kinds: Vec<_> = observed.appeared.lock().unwrap().iter().map(|(.., end)| end.kind).collect();
    assert_eq!((kinds, observed.vanished.load(Ordering::SeqCst)), (vec![EndpointKind::Node], 0));
}
