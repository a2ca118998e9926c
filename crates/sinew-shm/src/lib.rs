//! Single-writer shared memory between the processes of one host.
//!
//! A [`Participant`] is a process's presence in a [`Domain`], a directory of memory files. Other
//! processes map its memory read-only; the operating system enforces it. There is no daemon: each
//! participant records its own state, and the others adopt what they find.
//!
//! Programs use [`raw`]: topics, queues and variables without nodes. Tools that inspect a running
//! system use [`Domain`] and its [`Snapshot`]. The rest is internal to `sinew`: it isn't listed
//! here, and changes with `sinew`.
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
mod inspect;
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
pub use inspect::snapshot::{Leftovers, Snapshot};
pub use inspect::unread::Unread;
pub use inspect::workers::{Busy, Callback, Worker};
pub use peer::mapped_peer::{Peer, program_name};
#[cfg(feature = "kill-points")]
pub use platform::failpoints;
pub use segment::domain::Domain;
pub use segment::file_system::Medium;
pub use segment::header::LAYOUT_VERSION;
pub use segment::location_warnings::Concern;
pub use tables::endpoint::{Counter, Counts, Endpoint, EndpointKey, EndpointKind};

// The parts that `sinew` is built from; they change with it.
#[doc(hidden)]
pub use chunk::hold::Hold;
#[doc(hidden)]
pub use chunk::loan::{Lent, Loan};
#[doc(hidden)]
pub use connection::incoming::{Incoming, Message};
#[doc(hidden)]
pub use connection::outgoing::Connect;
#[doc(hidden)]
pub use discovery::observer::Observer;
#[doc(hidden)]
pub use event::receiver::EventReceiver;
#[doc(hidden)]
pub use inspect::workers::PackedCallback;
#[doc(hidden)]
pub use own::heartbeat::Heartbeat;
#[doc(hidden)]
pub use own::incoming_entry::Sink;
#[doc(hidden)]
pub use participant::{OwnEndpoint, Participant};
#[doc(hidden)]
pub use platform::{locks, logging};
#[doc(hidden)]
pub use ring::Head;
#[doc(hidden)]
pub use tables::counters::Counters;
#[doc(hidden)]
pub use writer::chunks::Lender;
#[doc(hidden)]
pub use writer::connection::Laggard;
#[doc(hidden)]
pub use writer::message_writer::Writer;
#[doc(hidden)]
pub use writer::waiting::Waiting;
