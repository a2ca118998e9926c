//! Single-writer shared memory between the processes of one host.
//!
//! A [`Participant`] is a process's presence in a [`Domain`], a directory of memory files. Other
//! processes map what it writes read-only; the operating system enforces it. There is no daemon:
//! each participant records its own state, and the others adopt what they find.
//!
//! Programs use [`raw`], queues of bytes without nodes. Tools that inspect a running system use
//! [`Domain`] and its [`Snapshot`]. The rest is internal to `sinew`: it isn't listed here, and
//! changes with `sinew`.
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

mod bell;
mod cell;
mod chunk;
mod concern;
mod control;
mod counters;
mod descriptions;
mod directory;
mod discovery;
mod domain;
mod endpoint;
mod error;
mod event_rx;
mod event_tx;
mod events;
#[cfg(feature = "kill-points")]
pub mod failpoints;
#[cfg(not(feature = "kill-points"))]
mod failpoints;
mod flow_control;
mod fork;
mod hazards;
mod incoming;
#[cfg(all(test, not(loom)))]
mod layout;
mod leftovers;
mod local;
mod local_tables;
#[doc(hidden)]
pub mod locks;
#[doc(hidden)]
pub mod logging;
mod medium;
mod memory;
#[cfg(all(test, loom))]
mod models;
#[cfg(all(test, not(loom)))]
mod onlooker;
mod outgoing;
mod participant;
mod peer;
#[cfg(all(test, not(loom)))]
mod properties;
pub mod raw;
mod readers;
mod ring;
mod segment;
mod shm_ref;
mod slab;
mod snapshot;
mod sync;
mod sys;
mod taken;
mod unread;
mod workers;
mod writer;

pub use concern::Concern;
pub use domain::Domain;
pub use endpoint::{Counter, Counts, Endpoint, EndpointKey, EndpointKind};
pub use error::{CapacityError, DomainError, JoinError, SegmentError, SegmentProblem, SystemError};
pub use medium::Medium;
pub use peer::Peer;
pub use segment::LAYOUT_VERSION;
pub use snapshot::{Leftovers, Snapshot};
pub use unread::Unread;
pub use workers::{Busy, Callback, Worker};

// The parts that `sinew` is built from; they change with it.
#[doc(hidden)]
pub use chunk::{Hold, Lent, Loan};
#[doc(hidden)]
pub use counters::Counters;
#[doc(hidden)]
pub use discovery::Observer;
#[doc(hidden)]
pub use event_rx::EventReceiver;
#[doc(hidden)]
pub use incoming::{Incoming, Message};
#[doc(hidden)]
pub use outgoing::Connect;
#[doc(hidden)]
pub use participant::{OwnEndpoint, Participant};
#[doc(hidden)]
pub use ring::Head;
#[doc(hidden)]
pub use taken::Sink;
#[doc(hidden)]
pub use workers::PackedCallback;
#[doc(hidden)]
pub use writer::{Laggard, Lender, Waiting, Writer};
