//! Whole participants at once: two writers whose rings grow, and readers that poll, sleep, hold
//! messages and hold the writers up. Every number and every byte is checked.
//!
//! Takes about a second; `SINEW_STRESS=10` makes it ten times as long. `.ci/deep` runs it under the
//! thread sanitizer.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use parking_lot::Mutex; // the thread sanitizer doesn't see the standard one
use sinew_shm::transport::*;
use sinew_shm::*;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Number of messages of each writer.
fn messages() -> u64 {
    let factor = std::env::var("SINEW_STRESS").ok().and_then(|factor| factor.parse().ok()).unwrap_or(1.0_f64);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rough number")]
    let messages = (4_000.0 * factor) as u64;
    messages.max(1_000)
}

/// A generator of pseudo-random numbers.
fn scramble(mut number: u64) -> u64 {
    number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

/// The bytes of a writer's message: their length and values follow from its number.
fn encoded(number: u64) -> Vec<u8> {
    let mut state = scramble(number);
    let length = match state % 5 {
        0 => state / 5 % 8,
        1 | 2 => state / 5 % 200,
        3 => state / 5 % 3_000,
        _ => 5_000 + number % 64 * 100,
    };
    let bytes = (0..length.div_ceil(8)).flat_map(|_| {
        state = scramble(state.wrapping_add(0x9e37_79b9_7f4a_7c15));
        state.to_le_bytes()
    });
    bytes.take(usize::try_from(length).unwrap()).collect()
}

/// The way in which a reader reads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// Gets every message: its writers wait for it.
    Bound,
    /// Is woken for messages, and may miss some.
    Woken,
    /// Polls.
    Polling,
}

/// Number of messages that may be under way to a bound reader.
const CAPACITY: usize = 16;

/// How long a sleeping thread waits for a message before it reports that none came.
const PATIENCE: Duration = Duration::from_secs(60);

/// Number of messages that a reader keeps for a while.
const KEPT: usize = 9;

/// The receiving end of one connection.
struct Reading {
    manner: Manner,
    port: Option<Arc<EventReceiver>>,
    state: Mutex<State>,
    failed: Arc<AtomicBool>,
}

struct State {
    incoming: Incoming,
    next: u64,
    got: u64,
    missed: u64,
    held: VecDeque<(u64, Hold)>,
    is_over: bool,
}

impl Reading {
    fn read(&self) {
        let mut state = self.state.lock();
        let State { incoming, next, got, missed, held, is_over } = &mut *state;
        let mut buffer = Vec::new();
        while let Some(message) = incoming.read(&mut buffer).unwrap() {
            assert_eq!(message.number, *next + message.missed, "a message twice, or out of order");
            assert_eq!(message.head.order, message.number);
            assert!(self.manner != Manner::Bound || message.missed == 0, "a message that must not be lost");
            *next = message.number + 1;
            *got += 1;
            *missed += message.missed;
            match message.hold {
                Some(hold) => held.push_back((message.number, hold)),
                None => assert!(buffer == encoded(message.number), "message {} is torn", message.number),
            }
            if held.len() > KEPT || message.number % 3 == 0 {
                let kept = held.pop_front();
                kept.into_iter().for_each(|(number, hold)| check(number, &hold));
            }
            if self.manner == Manner::Bound {
                incoming.set_cursor(message.number + 1);
            }
        }
        if !*is_over && incoming.is_over() {
            held.drain(..).for_each(|(number, hold)| check(number, &hold));
            incoming.done();
            *is_over = true;
            // The helper thread may be the one that finds the end.
            self.port.iter().for_each(|port| port.ring());
        }
    }
}

fn check(number: u64, hold: &Hold) {
    assert!(hold.bytes() == encoded(number), "message {number} was written while it was held");
}

impl Sink for Reading {
    fn drain(&self) {
        let ok = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.read())).is_ok();
        if !ok {
            self.failed.store(true, Ordering::SeqCst); // on any thread
        }
    }
}

/// A reading participant.
struct Reader {
    manner: Manner,
    port: Mutex<Option<Arc<EventReceiver>>>,
    readings: Mutex<Vec<Arc<Reading>>>,
    failed: Arc<AtomicBool>,
}

impl Observer for Reader {
    fn appeared(&self, _: &Arc<Peer>, _: EndpointKey, _: &Endpoint) {}
    fn vanished(&self, _: &Arc<Peer>, _: EndpointKey) {}
    fn connected(&self, mut incoming: Incoming, _: Option<EndpointKey>) -> Option<Arc<dyn Sink>> {
        let port = self.port.lock().clone();
        incoming.set_port(port.as_deref());
        if self.manner != Manner::Bound {
            incoming.unbind();
        }
        let next = incoming.next();
        let state = State { incoming, next, got: 0, missed: 0, held: VecDeque::new(), is_over: false };
        let (manner, failed) = (self.manner, self.failed.clone());
        let reading = Arc::new(Reading { manner, port, state: Mutex::new(state), failed });
        self.readings.lock().push(reading.clone());
        Some(reading)
    }
    fn left(&self, _: &Arc<Peer>) {}
}

impl Reader {
    fn is_over(&self) -> bool {
        let readings = self.readings.lock();
        readings.len() == 2 && readings.iter().all(|reading| reading.state.lock().is_over)
    }

    fn is_ready(&self) -> bool {
        let readings = self.readings.lock();
        readings.iter().any(|reading| reading.state.lock().incoming.is_ready())
    }

    /// Reads until both writers have ended.
    fn run(&self) {
        while !self.is_over() && !self.failed.load(Ordering::SeqCst) {
            let port = self.port.lock().clone();
            let Some(port) = port else {
                let readings = self.readings.lock().clone();
                readings.iter().for_each(|reading| reading.drain());
                thread::yield_now();
                continue;
            };
            port.drain();
            let seen = port.bell();
            port.park();
            if !port.is_pending() && !self.is_over() {
                // The time is for the end, which the helper thread may see first.
                port.sleep(seen, Some(PATIENCE));
                let is_lost = port.bell() == seen && self.is_ready();
                assert!(!is_lost, "nobody rang, though there is something to read");
            }
            port.unpark();
        }
    }
}

/// The observer of a writing participant, which connects the readers.
#[derive(Default)]
struct Audience {
    readers: Mutex<HashMap<u64, Arc<Peer>>>,
}

impl Observer for Audience {
    fn appeared(&self, peer: &Arc<Peer>, _: EndpointKey, endpoint: &Endpoint) {
        if endpoint.kind == EndpointKind::Subscription {
            self.readers.lock().insert(peer.id(), peer.clone());
        }
    }
    fn vanished(&self, _: &Arc<Peer>, _: EndpointKey) {}
    fn connected(&self, _: Incoming, _: Option<EndpointKey>) -> Option<Arc<dyn Sink>> {
        None
    }
    fn left(&self, _: &Arc<Peer>) {}
}

fn endpoint(kind: EndpointKind) -> Endpoint {
    Endpoint {
        kind,
        number: 1,
        node: "/stress".into(),
        name: "/parcels".into(),
        type_name: "test/msg/Parcel".into(),
        hash: [0; 32],
        qos: [0; 64],
    }
}

/// Publishes all messages, to readers one of which must get every message.
fn write(participant: &Arc<Participant>, readers: &[(Arc<Peer>, Manner)], failed: &AtomicBool) {
    let endpoint = Arc::new(participant.advertise(&endpoint(EndpointKind::Publisher), None).unwrap());
    let mut writer = Writer::new(endpoint, 2, 100, 1).unwrap();
    for (peer, manner) in readers {
        let capacity = (*manner == Manner::Bound).then_some(CAPACITY);
        let connect = Connect { target: None, first: 1, live: 1, depth: 2, capacity };
        writer.connect(peer, &connect).unwrap();
    }
    let lender = writer.lender();
    for number in 1..=messages() {
        while let Some(waiting) = writer.wait_for_room() {
            assert!(!failed.load(Ordering::SeqCst), "a reader has failed");
            waiting.sleep(Some(PATIENCE));
        }
        let bytes = encoded(number);
        let head = Head { order: number, ..Head::default() };
        if bytes.len() <= writer.inline() && number % 7 != 0 {
            writer.publish_inline(number, &head, &bytes);
        } else {
            let mut loan = lender.loan(bytes.len()).unwrap();
            loan.bytes_mut().copy_from_slice(&bytes);
            writer.publish_lent(number, &head, loan.share());
        }
        if number % 500 == 0 && writer.depth() < 512 {
            writer.grow(writer.depth() * 2).unwrap();
        }
    }
}

#[test]
fn all_that_is_written_is_read_whole_and_in_order() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let domain = Domain::open(Some(directory.path()), 0).unwrap();
    let failed = Arc::new(AtomicBool::new(false));
    let mut readers = Vec::new();
    for manner in [Manner::Bound, Manner::Woken, Manner::Polling] {
        let reader = Arc::new(Reader {
            manner,
            port: Mutex::default(),
            readings: Mutex::default(),
            failed: failed.clone(),
        });
        let participant = Participant::join(&domain, reader.clone()).unwrap();
        if manner != Manner::Polling {
            *reader.port.lock() = Some(participant.port(None).unwrap());
        }
        let subscription = participant.advertise(&endpoint(EndpointKind::Subscription), None).unwrap();
        readers.push((reader, participant, subscription));
    }
    let manners: HashMap<u64, Manner> =
        readers.iter().map(|(reader, participant, _)| (participant.id(), reader.manner)).collect();

    thread::scope(|scope| {
        for (reader, ..) in &readers {
            scope.spawn(|| reader.run());
        }
        for _ in 0..2 {
            scope.spawn(|| {
                let audience = Arc::new(Audience::default());
                let participant = Participant::join(&domain, audience.clone()).unwrap();
                // A reader that was there at first is known from the start.
                let peers: Vec<_> = audience.readers.lock().values().cloned().collect();
                assert_eq!(peers.len(), 3);
                let peers: Vec<_> =
                    peers.into_iter().map(|peer| (peer.clone(), manners[&peer.id()])).collect();
                write(&participant, &peers, &failed);
                // The writer leaves; its messages are read all the same.
            });
        }
    });

    assert!(!failed.load(Ordering::SeqCst), "a reader has failed; what it said stands above");
    for (reader, ..) in &readers {
        for reading in reader.readings.lock().iter() {
            let state = reading.state.lock();
            assert_eq!(state.next, messages() + 1, "read to the end");
            assert_eq!(state.got + state.missed, messages());
            assert!(state.got > 0);
        }
    }
}
