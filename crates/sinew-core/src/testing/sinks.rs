//! A publisher with two transports: each message goes to both, even if one of them fails.

use crate::api::context::Context;
use crate::api::node::Node;
use crate::api::publisher::Publisher;
use crate::api::subscription::BufferType;
use crate::message::backing::LendsMemory;
use crate::message::block::RawMessage;
use crate::message::info::Publication;
use crate::ros::failure::PublishFailure;
use crate::ros::origin::Origin;
use crate::ros::qos::QoS;
use crate::sys::sync::{Arc, AtomicBool, Mutex, Ordering};
use crate::topic::remote_endpoint::RemoteEndpoint;
use crate::topic::remote_sink::{
    JoiningSubscription, Prepared, PublisherEndpoint, RemoteSink, RemoteSubscription, RetainedSent,
};
use sinew_msg::Message;
use sinew_shm::CapacityError;
use sinew_shm::transport::{Counters, Lent, Loan, Waiting};
use std::collections::VecDeque;

#[derive(Clone, Debug, Default, PartialEq, Message)]
struct Number {
    value: u32,
}

/// A transport with subscriptions that have its name as their address.
#[derive(Clone)]
struct Wire(Arc<WireState>);

struct WireState {
    name: &'static str,
    /// Numbers and encoded bytes of the messages sent; no bytes for a message that was left out.
    sent: Mutex<Vec<(u64, Vec<u8>)>>,
    has_memory: AtomicBool,
    has_room: AtomicBool,
}

struct WireSink {
    wire: Wire,
    connected: usize,
    buffer: Vec<u8>,
}

impl Wire {
    fn new(name: &'static str) -> Self {
        let (has_memory, has_room) = (AtomicBool::new(true), AtomicBool::new(true));
        Self(Arc::new(WireState { name, sent: Mutex::default(), has_memory, has_room }))
    }

    fn subscription(&self, qos: QoS) -> Arc<RemoteSubscription> {
        let wanted = RemoteEndpoint {
            topic: "/numbers".to_owned(),
            node: "/far".to_owned(),
            process: "elsewhere".to_owned(),
            type_name: String::new(),
            hash: [0; 32],
            travels: true,
            qos,
            origin: Origin::Local,
            number: 1,
            domain: None,
        };
        Arc::new(RemoteSubscription { wanted, address: Box::new(self.0.name) })
    }

    /// Returns the messages sent since the last call: numbers and lengths.
    fn sent(&self) -> Vec<(u64, usize)> {
        self.0.sent.lock().drain(..).map(|(number, encoded)| (number, encoded.len())).collect()
    }
}

impl LendsMemory for Wire {
    fn lend(&self, _length: usize) -> Option<Loan> {
        None
    }
}

impl PublisherEndpoint for Wire {
    fn counters(&self) -> Option<Counters> {
        None
    }

    fn reaches(&self, subscription: &RemoteSubscription) -> bool {
        subscription.address.downcast_ref() == Some(&self.0.name)
    }

    fn open(&self, _next: u64) -> Result<Box<dyn RemoteSink>, CapacityError> {
        Ok(Box::new(WireSink { wire: self.clone(), connected: 0, buffer: Vec::new() }))
    }

    fn note(&self, _difference: u64, _identity: u64) {}

    fn sends_where_it_lies(&self, _message: &RawMessage) -> bool {
        false
    }
}

impl RemoteSink for WireSink {
    fn connect(
        &mut self,
        _joiner: &mut JoiningSubscription,
        _next: u64,
        _retained: &VecDeque<(RawMessage, Publication)>,
    ) -> Result<RetainedSent, CapacityError> {
        self.connected += 1;
        Ok(RetainedSent::default())
    }

    fn disconnect(&mut self, subscription: &RemoteSubscription) {
        self.connected -= usize::from(self.wire.reaches(subscription));
    }

    fn is_connected(&self) -> bool {
        self.connected > 0
    }

    fn count_of(&self, _participant: u64) -> usize {
        self.connected
    }

    fn is_bound(&self) -> bool {
        false
    }

    fn has_room(&mut self) -> bool {
        self.wire.0.has_room.load(Ordering::Relaxed)
    }

    fn next(&self) -> u64 {
        0
    }

    fn wait_until_read(&mut self, _number: u64) -> Option<Waiting> {
        None
    }

    fn prepare(
        &mut self,
        length: usize,
        _message: Option<&mut RawMessage>,
    ) -> Result<Prepared, CapacityError> {
        match self.wire.0.has_memory.load(Ordering::Relaxed) {
            true => Ok(Prepared::Small(length)),
            false => Err(CapacityError::Length { length, limit: 0 }),
        }
    }

    fn buffer(&mut self, length: usize) -> &mut [u8] {
        self.buffer.resize(length, 0);
        &mut self.buffer
    }

    fn send(&mut self, publication: &Publication, encoded: Option<Lent>) {
        assert!(encoded.is_none(), "it lent nothing");
        self.wire.0.sent.lock().push((publication.sequence, self.buffer.clone()));
    }

    fn leave_out(&mut self, publication: &Publication) -> bool {
        self.wire.0.sent.lock().push((publication.sequence, Vec::new()));
        false
    }
}

/// Two transports, each with a subscription.
type Wires = [(Wire, Arc<RemoteSubscription>); 2];

/// Creates a publisher that is known through two transports, and one subscription of each.
fn publisher() -> (Node, Publisher<Number>, Wires) {
    let context = Context::builder().domain(0).shared_memory(false).build().unwrap();
    let node = context.node("near").unwrap();
    let publisher = node.publisher::<Number>("numbers").create().unwrap();
    let wires = [Wire::new("first"), Wire::new("second")];
    publisher.core().is_known_as(wires.iter().map(|wire| Box::new(wire.clone()) as Box<_>).collect());
    let subscribed = wires.map(|wire| {
        let subscription = wire.subscription(publisher.qos());
        (wire, subscription)
    });
    (node, publisher, subscribed)
}

/// Length of an encoded number: a header and four bytes.
const ENCODED: usize = 8;

#[test]
fn each_sink_gets_what_is_published_while_it_is_connected() {
    let (_node, publisher, [(first, at_first), (second, at_second)]) = publisher();
    let publish = |value| publisher.publish(Number { value }).unwrap();
    publish(1);
    assert!(publisher.core().connect(&at_second));
    publish(2);
    assert!(publisher.core().connect(&at_first));
    publish(3);
    assert!(publisher.core().disconnect(&at_second));
    publish(4);
    assert!(publisher.core().disconnect(&at_first));
    publish(5);
    assert_eq!(first.sent(), [(3, ENCODED), (4, ENCODED)]);
    assert_eq!(second.sent(), [(2, ENCODED), (3, ENCODED)]);
}

#[test]
fn all_ways_to_publish_reach_all_sinks_and_those_here() {
    let (node, publisher, wires) = publisher();
    for (_, subscription) in &wires {
        assert!(publisher.core().connect(subscription));
    }
    let publish_all = || {
        publisher.publish(Number { value: 1 }).unwrap();
        publisher.publish(&Number { value: 1 }).unwrap();
        publisher.publish(Box::new(Number { value: 1 })).unwrap();
        publisher.publish(publisher.loan()).unwrap();
        publisher.publish(publisher.loan().into_shared()).unwrap();
    };
    publish_all();
    for (wire, _) in &wires {
        assert_eq!(wire.sent(), [1, 2, 3, 4, 5].map(|number| (number, ENCODED)));
    }
    // With one subscription here that owns its messages, they are encoded before they are given
    // away; with two, they are copied.
    let owned = [(); 2].map(|()| {
        let owning = node.subscription::<Number>("numbers").buffer(BufferType::Unique).create().unwrap();
        publish_all();
        owning
    });
    assert_eq!(owned.map(|owning| std::iter::from_fn(|| owning.take()).count()), [10, 5]);
    for (wire, _) in &wires {
        assert_eq!(wire.sent(), (6..=15).map(|number| (number, ENCODED)).collect::<Vec<_>>());
    }
}

#[test]
fn a_sink_without_memory_is_left_out_if_another_sends() {
    let (_node, publisher, [(first, at_first), (second, at_second)]) = publisher();
    assert!(publisher.core().connect(&at_first) && publisher.core().connect(&at_second));
    first.0.has_memory.store(false, Ordering::Relaxed);
    publisher.publish(Number { value: 1 }).unwrap();
    assert_eq!((first.sent(), second.sent()), (vec![(1, 0)], vec![(1, ENCODED)]));
    second.0.has_memory.store(false, Ordering::Relaxed);
    let error = publisher.publish(Number { value: 2 }).unwrap_err();
    assert!(matches!(error.failure(), PublishFailure::NoSpace { .. }), "{error}");
    assert_eq!(error.into_message().into_shared().unwrap().value, 2);
    first.0.has_memory.store(true, Ordering::Relaxed);
    publisher.publish(Number { value: 3 }).unwrap();
    assert_eq!((first.sent(), second.sent()), (vec![(2, ENCODED)], vec![(2, 0)]));
}
