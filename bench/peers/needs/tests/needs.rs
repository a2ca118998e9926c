//! Each test is something that a robot needs. It shows that Sinew has it, and that the peers do not
//! which the report names beside it.

#[allow(
    clippy::all,
    dead_code,
    missing_docs,
    clippy::allow_attributes_without_reason,
    reason = "it is generated"
)]
#[path = "../../thrift/src/hop.rs"]
mod hop;
#[allow(dead_code, reason = "the peer needs more of it")]
#[path = "../../zenoh/src/sessions.rs"]
mod sessions;

use std::error::Error;
use std::io::{ErrorKind, Read, Write};
use std::marker::PhantomData;
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use hop::{HopSyncClient, Stamped, THopSyncClient};
use iceoryx2::port::publisher::PublisherCreateError;
use iceoryx2::prelude::{NodeBuilder, local};
use rustix::fs::OFlags;
use sessions::Memory;
use sinew::prelude::*;
use thrift::protocol::{TBinaryInputProtocol, TBinaryOutputProtocol};
use zenoh::Wait as _;

type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// The ends of a stream of bytes.
type Ends = (Box<dyn Write>, Box<dyn Read>);

/// Longer than anything here takes, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Clone, Debug, PartialEq)]
struct Number(u64);

impl Message for Number {}

struct Echo;

impl Service for Echo {
    type Request = Number;
    type Response = Number;
}

/// A node without other processes.
fn node() -> Result<(Context, Node), sinew::Error> {
    let context = Context::builder().shared_memory(false).build()?;
    let node = context.node("robot")?;
    Ok((context, node))
}

fn taken(from: &Subscription<Number>) -> Vec<u64> {
    std::iter::from_fn(|| from.take()).map(|(number, _)| number.0).collect()
}

/// A socket and a pipe with ends that don't block.
fn byte_streams() -> Outcome<[Ends; 2]> {
    let (to, from) = UnixStream::pair()?;
    to.set_nonblocking(true)?;
    from.set_nonblocking(true)?;
    let (reads, writes) = std::io::pipe()?;
    rustix::fs::fcntl_setfl(&reads, OFlags::NONBLOCK)?;
    rustix::fs::fcntl_setfl(&writes, OFlags::NONBLOCK)?;
    Ok([(Box::new(to), Box::new(from)), (Box::new(writes), Box::new(reads))])
}

/// A map, an image or a pose has several readers: control, a recorder, a viewer.
#[test]
fn every_subscriber_gets_every_message() -> Outcome {
    let (_context, node) = node()?;
    let publisher = node.publisher::<Number>("pose").create()?;
    let readers = [node.subscription::<Number>("pose").create()?, node.subscription("pose").create()?];
    publisher.publish(Number(1))?;
    assert_eq!(readers.each_ref().map(taken), [[1], [1]]);

    let (to, from) = crossbeam_channel::bounded(10);
    let readers = [from.clone(), from];
    to.send(1)?;
    assert_eq!(readers.each_ref().map(|from| from.try_iter().count()), [1, 0]);

    let (to, from) = flume::bounded(10);
    let readers = [from.clone(), from];
    to.send(1)?;
    assert_eq!(readers.each_ref().map(|from| from.try_iter().count()), [1, 0]);

    // tokio's receiver can't be cloned. The constant of the type goes before that of the trait.
    trait Otherwise {
        const IS_CLONE: bool = false;
    }
    impl<T> Otherwise for T {}
    struct Of<T>(PhantomData<T>);
    impl<T: Clone> Of<T> {
        const IS_CLONE: bool = true;
    }
    const { assert!(Of::<crossbeam_channel::Receiver<u64>>::IS_CLONE) };
    const { assert!(!Of::<tokio::sync::mpsc::Receiver<u64>>::IS_CLONE) };

    let (to, from) = UnixStream::pair()?;
    alone_reads(to, from.try_clone()?, from)?;
    let (from, to) = std::io::pipe()?;
    alone_reads(to, from.try_clone()?, from)
}

/// Writes one message; then one reader of a socket or pipe gets it, and the other one does not.
fn alone_reads<R: Read + AsFd>(mut to: impl Write, mut one: R, mut other: R) -> Outcome {
    rustix::fs::fcntl_setfl(&other, OFlags::NONBLOCK)?;
    to.write_all(&[1])?;
    one.read_exact(&mut [0])?;
    assert_eq!(other.read(&mut [0]).map_err(|error| error.kind()), Err(ErrorKind::WouldBlock));
    Ok(())
}

/// A planner that was busy for a while wants the newest scans, and the driver must not wait for it.
#[test]
fn a_reader_that_is_behind_finds_the_newest() -> Outcome {
    const SENT: u64 = 100_000;
    let (_context, node) = node()?;
    let publisher = node.publisher::<Number>("scan").create()?;
    let reader = node.subscription::<Number>("scan").qos(QoS::default().keep_last(2)).create()?;
    for number in 1..=SENT {
        publisher.publish(Number(number))?;
    }
    assert_eq!(taken(&reader), [SENT - 1, SENT]);

    let refused =
        |is_refused: &dyn Fn(u64) -> bool| (1..=SENT).filter(|&number| is_refused(number)).count() as u64;
    let (to, from) = crossbeam_channel::bounded(2);
    assert_eq!(refused(&|number| to.try_send(number).is_err()), SENT - 2);
    assert_eq!(from.try_iter().collect::<Vec<_>>(), [1, 2]);

    let (to, from) = flume::bounded(2);
    assert_eq!(refused(&|number| to.try_send(number).is_err()), SENT - 2);
    assert_eq!(from.try_iter().collect::<Vec<_>>(), [1, 2]);

    let (to, mut from) = tokio::sync::mpsc::channel(2);
    assert_eq!(refused(&|number| to.try_send(number).is_err()), SENT - 2);
    assert_eq!(std::iter::from_fn(|| from.try_recv().ok()).collect::<Vec<_>>(), [1, 2]);

    for (mut to, mut from) in byte_streams()? {
        let sent = (1..=SENT).take_while(|number| to.write_all(&number.to_le_bytes()).is_ok()).count();
        assert!((sent as u64) < SENT, "it takes {sent} messages that nothing reads");
        let mut oldest = [0; 8];
        from.read_exact(&mut oldest)?;
        assert_eq!(u64::from_le_bytes(oldest), 1);
    }
    Ok(())
}

/// A driver that publishes must not run, or wait for, what its subscribers do with the message.
#[test]
fn a_publisher_does_not_run_its_subscribers() -> Outcome {
    let driver = thread::current().id();
    let (context, node) = node()?;
    let ran_in = Arc::new(Mutex::new(None));
    let seen = ran_in.clone();
    let publisher = node.publisher::<Number>("scan").create()?;
    let _reader = node.subscription::<Number>("scan").callback(move |_: &Number| {
        *seen.lock().unwrap() = Some(thread::current().id());
    })?;
    publisher.publish(Number(1))?;
    assert_eq!(*ran_in.lock().unwrap(), None);
    let executor = Executor::single();
    executor.add(&context)?;
    thread::scope(|scope| scope.spawn(|| executor.spin_some()).join().unwrap())?;
    assert!(ran_in.lock().unwrap().is_some_and(|thread| thread != driver));

    let session = sessions::alone()?;
    let ran_in = Arc::new(Mutex::new(None));
    let seen = ran_in.clone();
    let called = move |_| *seen.lock().unwrap() = Some(thread::current().id());
    let _reader = session.declare_subscriber("scan").callback(called).wait()?;
    session.put("scan", "1").wait()?;
    assert_eq!(*ran_in.lock().unwrap(), Some(driver));
    Ok(())
}

/// A controller that reads the latest state after it was written acts on that one. (zenoh is read
/// by subscription, as it is measured; a query asks the writer.)
#[test]
fn a_read_finds_what_was_written_before() -> Outcome {
    const WRITES: u64 = 1000;
    let place = tempfile::Builder::new().prefix("sinew-needs-").tempdir_in("/dev/shm")?;
    let join = || sinew_shm::raw::Space::join(&sinew_shm::Domain::open(Some(place.path()), 0)?);
    let (writes, reads) = (join()?, join()?);
    let state = sinew_shm::raw::Variable::master_in(&writes, "state", &0u64)?;
    let mut seen = sinew_shm::raw::Variable::<u64>::open_in(&reads, "state")?;
    for number in 1..=WRITES {
        state.write(&number)?;
        assert_eq!(*seen.read()?.ok_or("the master is gone")?, number);
    }

    let writes = sessions::listening(Memory::Heap, &[])?;
    let reads = sessions::connected(Memory::Heap, &[sessions::locator(&writes)?])?;
    let newest = Arc::new(AtomicU64::new(0));
    let seen = newest.clone();
    let arrived = move |sample: zenoh::sample::Sample| {
        let bytes = sample.payload().to_bytes();
        seen.store(u64::from_le_bytes(bytes.as_ref().try_into().unwrap()), Ordering::Release);
    };
    let _reader = reads.declare_subscriber("state").callback(arrived).wait()?;
    let state = writes.declare_publisher("state").wait()?;
    sessions::matched(&state)?;
    let mut stale = 0;
    for number in 1..=WRITES {
        state.put(number.to_le_bytes().to_vec()).wait()?;
        stale += u64::from(newest.load(Ordering::Acquire) != number);
    }
    assert!(stale > 0, "every value had arrived when its put returned");
    Ok(())
}

/// A server that went and came again serves the clients that were there before.
#[test]
fn a_server_that_comes_again_is_found() -> Outcome {
    let (context, node) = node()?;
    let serve = || node.server::<Echo>("echo").callback(|number: &Number| number.clone());
    let client = node.client::<Echo>("echo").create()?;
    let executor = Executor::single();
    executor.add(&context)?;
    let stop = executor.stop_handle();
    let answers = thread::scope(|scope| {
        scope.spawn(|| executor.spin());
        let answers = [1, 2].map(|number| -> Outcome<u64> {
            let _server = serve()?;
            Ok(client.call(Number(number), PATIENCE)?.0)
        });
        stop.stop(); // before anything is asserted: else the scope would wait for `spin`
        answers
    });
    for (answer, number) in answers.into_iter().zip([1, 2]) {
        assert_eq!(answer?, number);
    }

    let place = tempfile::Builder::new().prefix("sinew-needs-").tempdir()?;
    let address = place.path().join("server");
    let server = UnixListener::bind(&address)?;
    let to = UnixStream::connect(&address)?;
    drop(server.accept()?);
    drop(server);
    std::fs::remove_file(&address)?;
    let _again = UnixListener::bind(&address)?;
    let input = TBinaryInputProtocol::new(to.try_clone()?, true);
    let mut client = HopSyncClient::new(input, TBinaryOutputProtocol::new(to, true));
    assert!((0..2).all(|number| client.call(Stamped::new(0, number)).is_err()));
    UnixStream::connect(&address)?; // what the program has to do
    Ok(())
}

/// A robot's nodes come one by one, from many teams: the first one doesn't know how many will.
/// (iceoryx2 has the same limits between processes as in one.)
#[test]
fn any_number_of_publishers_joins() -> Outcome {
    const PUBLISHERS: usize = 100;
    let (_context, node) = node()?;
    let publishers: Result<Vec<_>, _> =
        (0..PUBLISHERS).map(|_| node.publisher::<Number>("diagnostics").create()).collect();
    assert_eq!(publishers?.len(), PUBLISHERS);

    let node = NodeBuilder::new().create::<local::Service>()?;
    let service = node.service_builder(&"diagnostics".try_into()?).publish_subscribe::<u64>();
    let service = service.open_or_create()?;
    let publishers: Result<Vec<_>, _> =
        (0..PUBLISHERS).map(|_| service.publisher_builder().create()).collect();
    assert_eq!(publishers.err(), Some(PublisherCreateError::ExceedsMaxSupportedPublishers));
    Ok(())
}
