//! Single-writer shared memory between the processes of one host.
//!
//! A [participant](transport::Participant) is a process's presence in a [`Domain`], a directory of
//! memory files. Other processes map its memory read-only; the operating system enforces it. There
//! is no daemon: each participant records its own state, and the others adopt what they find.
//!
//! | room | for |
//! |---|---|
//! | [`raw`] | programs: topics, queues and variables without nodes |
//! | [`inspect`] | tools: what runs, seen from outside |
//! | [`transport`] | `sinew`, and tools that take part: participants, endpoints, messages |
//! | [`logging`], [`locks`], [`threads`] | crates of Sinew: its own log lines; its locks and their rule; its own threads |
//!
//! A [`Domain`] is where all of them begin. `transport`, `logging`, `locks` and `threads` change as
//! `sinew` needs it; programs on topics and services use `sinew`.
//!
//! This crate moves bytes. Message types, QoS and callbacks belong to `sinew`.

#[cfg(not(target_os = "linux"))]
compile_error!(
    "Sinew runs on Linux only: it needs O_TMPFILE, open file description locks, shared futexes and inotify"
);
#[cfg(not(target_pointer_width = "64"))]
compile_error!(
    "Sinew needs a 64-bit target, such as aarch64-unknown-linux-gnu: processes share 64-bit words and map more than \
     4 GiB; a Raspberry Pi takes a 64-bit system from its model 3 on"
);

mod chunk;
mod connection;
mod discovery;
mod error;
mod event;
mod hazards;
pub mod inspect;
mod memory;
mod own;
mod participant;
mod peer;
mod platform;
pub mod raw;
mod ring;
mod segment;
mod tables;
#[cfg(test)]
mod testing;
mod writer;

pub use error::{CapacityError, DomainError, JoinError, SegmentError, SegmentProblem, SystemError};
pub use inspect::workers::Callback;
pub use peer::mapped_peer::{Peer, program_name};
#[cfg(feature = "kill-points")]
pub use platform::failpoints;
pub use platform::{locks, logging, prefetch, threads};
pub use segment::domain::Domain;
pub use segment::header::LAYOUT_VERSION;
pub use tables::endpoint::{Counter, Counts, Endpoint, EndpointKey, EndpointKind};

pub mod transport {
    //! Taking part in a domain: what `sinew` builds its endpoints on, and tools and gateways that
    //! have none of its nodes.
    //!
    //! A [`Participant`] advertises endpoints, and notifies its [`Observer`] of those of the
    //! others. Which of them exchange messages is for the layer above to decide: the writing side
    //! [connects](Writer::connect) its [`Writer`] with an endpoint, and the reading side's observer
    //! gets an [`Incoming`] connection.
    //!
    //! | types | |
    //! |---|---|
    //! | [`Participant`], [`OwnEndpoint`], [`Counters`], [`Heartbeat`] | one's own presence |
    //! | [`Observer`] | the others, as they come and go |
    //! | [`Writer`], [`Connect`], [`Waiting`], [`Laggard`] | sending: a ring, its connections |
    //! | [`Lender`], [`Loan`], [`Lent`] | memory for large messages: lent, written, published |
    //! | [`Head`], [`Message`], [`Hold`] | a message that is read, copied or in place |
    //! | [`Incoming`], [`Sink`], [`EventReceiver`] | receiving: a connection, its reader, a sleep |
    //! | [`Worker`], [`PackedCallback`] | the callback that a thread runs, for tools |
    //!
    //! ```
    //! use sinew_shm::transport::{Connect, Head, Incoming, Observer, Participant, Sink, Writer};
    //! use sinew_shm::{Domain, Endpoint, EndpointKey, EndpointKind, Peer};
    //! use std::sync::{Arc, Mutex};
    //!
    //! /// Keeps what it sees: the endpoints of others, and connections from them.
    //! #[derive(Default)]
    //! struct Seen {
    //!     endpoints: Mutex<Vec<(Arc<Peer>, EndpointKey)>>,
    //!     connections: Mutex<Vec<Incoming>>,
    //! }
    //!
    //! impl Observer for Seen {
    //!     fn appeared(&self, peer: &Arc<Peer>, key: EndpointKey, _: &Endpoint) {
    //!         self.endpoints.lock().unwrap().push((peer.clone(), key));
    //!     }
    //!     fn vanished(&self, _: &Arc<Peer>, _: EndpointKey) {}
    //!     fn connected(&self, incoming: Incoming, _: Option<EndpointKey>) -> Option<Arc<dyn Sink>> {
    //!         self.connections.lock().unwrap().push(incoming);
    //!         None // read by hand, below
    //!     }
    //!     fn left(&self, _: &Arc<Peer>) {}
    //! }
    //!
    //! let base = tempfile::tempdir_in("/dev/shm")?;
    //! let domain = Domain::open(Some(base.path()), 0)?;
    //! let (near, far) = (Arc::new(Seen::default()), Arc::new(Seen::default()));
    //! let one = Participant::join(&domain, near.clone())?;
    //! let other = Participant::join(&domain, far.clone())?;
    //! let endpoint = |kind| Endpoint {
    //!     kind,
    //!     number: 1,
    //!     node: "/node".into(),
    //!     name: "/topic".into(),
    //!     type_name: "bytes".into(),
    //!     hash: [0; 32],
    //!     qos: [0; 64],
    //! };
    //! let subscription = other.advertise(&endpoint(EndpointKind::Subscription), None)?;
    //! one.refresh();
    //! let (peer, key) = near.endpoints.lock().unwrap()[0].clone();
    //! assert_eq!(key, subscription.key());
    //!
    //! let publisher = Arc::new(one.advertise(&endpoint(EndpointKind::Publisher), None)?);
    //! let mut writer = Writer::new(publisher, 8, 64, 0)?; // 8 messages; up to 64 bytes in the ring
    //! let connect = Connect { target: None, first: 0, live: 0, depth: 8, capacity: None };
    //! writer.connect(&peer, &connect)?;
    //! writer.publish_inline(0, &Head::default(), b"hello");
    //!
    //! other.refresh();
    //! let mut buffer = Vec::new();
    //! let mut connections = far.connections.lock().unwrap();
    //! let message = connections[0].read(&mut buffer)?.expect("it was published before");
    //! assert_eq!((message.number, &buffer[..]), (0, &b"hello"[..]));
    //! # Ok::<(), Box<dyn std::error::Error>>(())
    //! ```

    pub use crate::chunk::hold::Hold;
    pub use crate::chunk::loan::{Lent, Loan};
    pub use crate::connection::incoming::{Incoming, Message};
    pub use crate::connection::outgoing::Connect;
    pub use crate::discovery::observer::Observer;
    pub use crate::event::receiver::EventReceiver;
    pub use crate::inspect::workers::{PackedCallback, Worker};
    pub use crate::own::heartbeat::Heartbeat;
    pub use crate::own::incoming_entry::Sink;
    pub use crate::participant::{OwnEndpoint, Participant};
    pub use crate::ring::Head;
    pub use crate::tables::counters::Counters;
    pub use crate::writer::chunks::Lender;
    pub use crate::writer::connection::Laggard;
    pub use crate::writer::message_writer::Writer;
    pub use crate::writer::waiting::Waiting;
}
