//! Participants that say and send nonsense, below the layer that nodes are made of: they harm
//! nobody, and callers that wait for them get an error.
#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "a stranger's own clock and locks")]

mod support;

use sinew::Executor;
use sinew::error::CallFailure;
use sinew::prelude::*;
use sinew_shm::transport::{Connect, Head, Incoming, Observer, OwnEndpoint, Participant, Sink, Writer};
use sinew_shm::{Domain, Endpoint, EndpointKey, EndpointKind, Peer};
use std::sync::{Arc, Mutex};
use support::{Number, Numbers};

const PATIENCE: Duration = Duration::from_secs(60);

/// QoS in the form that participants publish: reliable, keep_all, of a type that travels.
fn qos() -> [u8; 64] {
    let mut bytes = [0; 64];
    bytes[..6].copy_from_slice(&[1, 1, 1, 0, 0, 1]);
    bytes[16..40].fill(0xff); // no deadline, no lifespan, no lease
    bytes[40] = 100; // max_samples
    bytes
}

fn number_entity(kind: EndpointKind, name: &str, qos: [u8; 64]) -> Endpoint {
    let (type_name, hash) = match kind {
        EndpointKind::Publisher | EndpointKind::Subscription => ("test_msgs/msg/Number", [8; 32]),
        _ => ("test_msgs/srv/Numbers", [10; 32]),
    };
    let (node, name, type_name) = ("/stranger".to_owned(), name.to_owned(), type_name.to_owned());
    Endpoint { kind, number: 7, node, name, type_name, hash, qos }
}

#[derive(Default)]
struct Met {
    known: Mutex<Vec<(Arc<Peer>, EndpointKey, Endpoint)>>,
    incoming: Mutex<Vec<Incoming>>,
}

impl Observer for Met {
    fn appeared(&self, peer: &Arc<Peer>, key: EndpointKey, entity: &Endpoint) {
        self.known.lock().expect("no panic").push((peer.clone(), key, entity.clone()));
    }

    fn vanished(&self, _: &Arc<Peer>, _: EndpointKey) {}

    fn connected(&self, incoming: Incoming, _: Option<EndpointKey>) -> Option<Arc<dyn Sink>> {
        self.incoming.lock().expect("no panic").push(incoming);
        None
    }

    fn left(&self, _: &Arc<Peer>) {}
}

/// A participant without nodes, and where it meets a context.
struct Stranger {
    place: Arc<tempfile::TempDir>,
    participant: Arc<Participant>,
    met: Arc<Met>,
}

impl Stranger {
    fn new() -> Self {
        Self::at(&Arc::new(tempfile::tempdir_in("/dev/shm").expect("shared memory")))
    }

    fn at(place: &Arc<tempfile::TempDir>) -> Self {
        let domain = Domain::open(Some(place.path()), 3).expect("a directory");
        let met = Arc::new(Met::default());
        let participant = Participant::join(&domain, met.clone()).expect("there is room");
        Self { place: place.clone(), participant, met }
    }

    fn context(&self) -> Context {
        Context::builder().domain(3).directory(self.place.path()).build().expect("a context")
    }

    fn advertise(&self, kind: EndpointKind, name: &str, qos: [u8; 64]) -> Arc<OwnEndpoint> {
        let entity = number_entity(kind, name, qos);
        Arc::new(self.participant.advertise(&entity, None).expect("there is room"))
    }

    /// An entity of the others.
    fn find(&self, kind: EndpointKind) -> (Arc<Peer>, EndpointKey) {
        let find = || {
            self.participant.refresh();
            let known = self.met.known.lock().expect("no panic");
            known.iter().find(|(_, _, entity)| entity.kind == kind).map(|(peer, key, _)| (peer.clone(), *key))
        };
        wait_for("they meet", find)
    }

    /// Begins to send to another one, to this entity of it alone if one is named.
    fn send_to(&self, entity: &Arc<OwnEndpoint>, peer: &Arc<Peer>, target: Option<EndpointKey>) -> Writer {
        let mut writer = Writer::new(entity.clone(), 16, 200, 1).expect("there is room");
        let connect = Connect { target, first: 1, live: 1, depth: 16, capacity: Some(16) };
        writer.connect(peer, &connect).expect("there is room");
        writer
    }

    fn next_incoming(&self) -> Incoming {
        wait_for("a stranger connects", || {
            self.participant.refresh();
            self.met.incoming.lock().expect("no panic").pop()
        })
    }
}

#[track_caller]
fn wait_for<R>(what: &str, mut look: impl FnMut() -> Option<R>) -> R {
    let begin = std::time::Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begin.elapsed() < PATIENCE, "{what}: it never is");
        std::thread::yield_now();
    }
}

fn send(writer: &mut Writer, encoded: &[u8]) {
    let number = writer.next();
    writer.publish_inline(number, &Head { stamp: 1, ..Head::default() }, encoded);
}

/// The bytes of what comes next, for a reader that gets everything.
fn receive(incoming: &mut Incoming) -> Vec<u8> {
    let mut buffer = Vec::new();
    wait_for("it comes", || incoming.read(&mut buffer).expect("no nonsense"));
    incoming.set_cursor(incoming.next());
    buffer
}

fn header(sequence: u64, place: u32, kind: u8) -> Vec<u8> {
    let mut bytes = sequence.to_le_bytes().to_vec();
    bytes.extend_from_slice(&place.to_le_bytes());
    bytes.extend_from_slice(&[kind, 0, 0, 0]);
    bytes
}

#[test]
fn nonsense_in_a_description_is_nobodys_business() -> sinew::Result<()> {
    let stranger = Stranger::new();
    let context = stranger.context();
    let node = context.node("node")?;
    let publisher = node.publisher::<Number>("numbers").create()?;
    let local = node.subscription::<Number>("numbers").create()?;
    let mut deepest = qos();
    deepest[1] = 0;
    deepest[8..16].fill(0xff); // depth
    let mut most = qos();
    most[40..48].fill(0xff);
    let mut other_version = qos();
    other_version[0] = 9;
    let mut no_flag = qos();
    no_flag[1] = 2;
    for (index, qos) in [[0xff; 64], [0; 64], deepest, most, other_version, no_flag].into_iter().enumerate() {
        let ends =
            [EndpointKind::Subscription, EndpointKind::Publisher, EndpointKind::Server, EndpointKind::Client]
                .map(|kind| stranger.advertise(kind, "/numbers", qos));
        let _other = node.publisher::<Number>("others").create()?; // looks who is there
        publisher.publish(Number(index as u64))?;
        let (number, _) = local.take().expect("it is there at once");
        assert_eq!(number.0, index as u64);
        drop(ends);
    }
    Ok(())
}

#[test]
fn encoded_messages_that_make_no_sense_are_lost_and_the_next_one_comes() -> sinew::Result<()> {
    let stranger = Stranger::new();
    let context = stranger.context();
    let all = QoS::default().keep_all();
    let numbers = context.node("node")?.subscription::<Number>("numbers").qos(all).create()?;
    let entity = stranger.advertise(EndpointKind::Publisher, "/numbers", qos());
    let (peer, _) = stranger.find(EndpointKind::Subscription);
    let mut writer = stranger.send_to(&entity, &peer, None);
    for encoded in [&[][..], &[1, 2, 3], &[0xff; 200], &42u64.to_le_bytes()] {
        send(&mut writer, encoded);
    }
    assert_eq!(wait_for("it comes", || numbers.take()).0.0, 42);
    assert_eq!(numbers.statistics().overwritten, 3, "the others count as lost");
    Ok(())
}

#[test]
fn answers_that_make_no_sense_fail_their_calls() -> sinew::Result<()> {
    let stranger = Stranger::new();
    let context = stranger.context();
    let server = stranger.advertise(EndpointKind::Server, "/double", qos());
    let client = context.node("node")?.client::<Numbers>("double").create()?;
    assert!(client.wait_for_server(PATIENCE));
    let begin = |number| client.call_async(Number(number));
    let first = begin(1);
    let mut requests = stranger.next_incoming();
    let entity = stranger.advertise(EndpointKind::Reply, "/double", qos());
    let mut answers = stranger.send_to(&entity, requests.peer(), Some(requests.source()));
    drop(receive(&mut requests));
    let fails = |call: sinew::service::PendingCall<Numbers>| -> sinew::Result<()> {
        let failed = Executor::single().spin_until(call)?.expect_err("it makes no sense");
        assert!(matches!(failed.failure(), CallFailure::Transport { .. }), "{failed}");
        Ok(())
    };
    // Too short to say whose it is: all that wait get an error.
    let second = begin(2);
    drop(receive(&mut requests));
    send(&mut answers, &[1, 2, 3]);
    fails(first)?;
    fails(second)?;
    // No encoded response; no such kind of answer.
    for (kind, body) in [(0, &[1, 2][..]), (200, &[0xff; 30])] {
        let call = begin(3);
        let request = receive(&mut requests);
        send(&mut answers, &[&request[..12], &[kind, 0, 0, 0], body].concat());
        fails(call)?;
    }
    // Answers to calls that there aren't are nobody's; then the right one comes.
    let call = begin(4);
    let request = receive(&mut requests);
    assert_eq!(request[16..], 4u64.to_le_bytes());
    for (sequence, place) in [(u64::MAX, 0), (0, u32::MAX), (1, 0)] {
        send(&mut answers, &[header(sequence, place, 0), 9u64.to_le_bytes().to_vec()].concat());
    }
    send(&mut answers, &[&request[..16], &8u64.to_le_bytes()].concat());
    assert_eq!(Executor::single().spin_until(call)?.expect("an answer").0, 8);
    drop(server);
    Ok(())
}

/// A server that has gone answers, by its own line, a call that went to the next one.
#[test]
fn a_call_is_answered_by_the_server_that_it_went_to() -> sinew::Result<()> {
    let stranger = Stranger::new();
    let context = stranger.context();
    let client = context.node("node")?.client::<Numbers>("double").create()?;
    let serve = |number| {
        let server = stranger.advertise(EndpointKind::Server, "/double", qos());
        assert!(client.wait_for_server(PATIENCE));
        let call = client.call_async(Number(number));
        let mut requests = stranger.next_incoming();
        let entity = stranger.advertise(EndpointKind::Reply, "/double", qos());
        let answers = stranger.send_to(&entity, requests.peer(), Some(requests.source()));
        let request = receive(&mut requests);
        (server, call, request, requests, answers)
    };
    let answer = |to: &[u8], number: u64| [&to[..16], &number.to_le_bytes()].concat();

    let (first, lost, to_first, _first_requests, mut first_answers) = serve(1);
    drop(first);
    let failed = Executor::single().spin_until(lost)?.expect_err("its server has gone");
    assert_eq!(*failed.failure(), CallFailure::ServerGone);
    let (_second, call, to_second, _second_requests, mut second_answers) = serve(2);
    assert_ne!(to_first[..16], to_second[..16]);
    // One participant announces both: they are read in this order.
    send(&mut first_answers, &answer(&to_second, 9));
    send(&mut second_answers, &answer(&to_second, 4));
    assert_eq!(Executor::single().spin_until(call)?.expect("an answer").0, 4);
    Ok(())
}

/// A participant that isn't the server's sends answers where the server does.
#[test]
fn a_participant_that_was_not_asked_answers_nothing() -> sinew::Result<()> {
    let stranger = Stranger::new();
    let other = Stranger::at(&stranger.place);
    let context = stranger.context();
    let _server = stranger.advertise(EndpointKind::Server, "/double", qos());
    let client = context.node("node")?.client::<Numbers>("double").create()?;
    assert!(client.wait_for_server(PATIENCE));
    let call = client.call_async(Number(2));
    let mut requests = stranger.next_incoming();
    let request = receive(&mut requests);
    let (_, line) = other.find(EndpointKind::Request);
    assert_eq!(line, requests.source(), "all participants see it");
    let answer = |by: &Stranger, number: u64| {
        let entity = by.advertise(EndpointKind::Reply, "/double", qos());
        let (peer, _) = by.find(EndpointKind::Request);
        let mut answers = by.send_to(&entity, &peer, Some(line));
        send(&mut answers, &[&request[..16], &number.to_le_bytes()].concat());
        answers
    };
    let _others = answer(&other, 9);
    let _publisher = context.node("looks")?.publisher::<Number>("numbers").create()?; // who is there
    let _answers = answer(&stranger, 4);
    assert_eq!(Executor::single().spin_until(call)?.expect("an answer").0, 4);
    Ok(())
}

#[test]
fn requests_that_make_no_sense_are_answered_with_failures() -> sinew::Result<()> {
    let stranger = Stranger::new();
    let context = stranger.context();
    let _server = context.node("node")?.server::<Numbers>("double").callback(|n: &Number| Number(2 * n.0))?;
    let spinning = {
        let context = context.clone();
        std::thread::spawn(move || sinew::spin(&context))
    };
    let (peer, server) = stranger.find(EndpointKind::Server);
    let entity = stranger.advertise(EndpointKind::Request, "/double", qos());
    let mut requests = stranger.send_to(&entity, &peer, Some(server));
    send(&mut requests, &[1]);
    let mut answers = stranger.next_incoming();
    assert_eq!(receive(&mut answers)[12], 7, "one that nobody knows is lost");
    send(&mut requests, &[header(5, 6, 0), vec![1, 2, 3]].concat());
    let refused = receive(&mut answers);
    assert_eq!((&refused[..12], refused[12]), (&header(5, 6, 0)[..12], 6), "it says whose it is");
    send(&mut requests, &[header(u64::MAX, u32::MAX, 255), 21u64.to_le_bytes().to_vec()].concat());
    let answer = receive(&mut answers);
    assert_eq!(answer, [header(u64::MAX, u32::MAX, 0), 42u64.to_le_bytes().to_vec()].concat());
    context.shutdown();
    spinning.join().expect("no panic")
}

#[test]
fn a_clock_that_jumps_changes_nothing_between_participants() -> sinew::Result<()> {
    let stranger = Stranger::new();
    let (one, other) = (stranger.context(), stranger.context());
    let qos =
        QoS::default().keep_last(100).lifespan(Duration::from_secs(60)).deadline(Duration::from_secs(60));
    let publisher = one.node("talker")?.publisher::<Number>("numbers").qos(qos).create()?;
    let numbers = other.node("listener")?.subscription::<Number>("numbers").qos(qos).create()?;
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    for (number, seconds) in [0, 4_000_000_000, 1, 9_000_000_000, 0, 50].into_iter().enumerate() {
        let time = sinew::time::Time::from_nanoseconds(seconds * 1_000_000_000);
        one.set_ros_time(Some(time));
        other.set_ros_time(Some(sinew::time::Time::from_nanoseconds(i64::MAX - time.nanoseconds())));
        publisher.publish(Number(number as u64))?;
        let (taken, info) = wait_for("it comes", || numbers.take());
        assert_eq!(taken.0, number as u64);
        assert_eq!(info.publication_sequence(), number as u64 + 1);
    }
    assert_eq!((numbers.statistics().expired, numbers.statistics().overwritten), (0, 0));
    Ok(())
}

/// The log, which is the program's, says so once the context holds no lock of joining. (The check of
/// locks panics otherwise.)
#[test]
fn who_joins_where_nonsense_is_said_says_so() -> sinew::Result<()> {
    let stranger = Stranger::new();
    let _nonsense = stranger.advertise(EndpointKind::Subscription, "/numbers", [9; 64]);
    let context = stranger.context();
    let node = context.node("node")?;
    let publisher = node.publisher::<Number>("numbers").create()?;
    assert_eq!(publisher.subscription_count(), 0);
    publisher.publish(Number(1))?;
    Ok(())
}
