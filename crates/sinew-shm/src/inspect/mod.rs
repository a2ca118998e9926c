//! Views of a running system for tools: participants, backlogs, and the callbacks that are running.
//!
//! | file | contents |
//! |---|---|
//! | `snapshot` | the participants of a domain, seen from outside |
//! | `watch` | notices of changes in a domain |
//! | `unread` | messages that a reader has not read yet |
//! | `workers` | threads and the callbacks that they run |
//!
//! Looking joins nothing and writes nothing, and no participant notices: a [`Snapshot`] maps what
//! participants publish, read-only. Its [peers](Snapshot::peers) have the endpoints with their
//! [counters](crate::Peer::counts), and the callbacks that [run](crate::Peer::busy);
//! [`unread`](Snapshot::unread) counts the messages between them.
//!
//! The records mean what the layer above has written into them: `sinew::graph::GraphReader` reads
//! nodes, topics and QoS from them. The layout may change with every version ([`LAYOUT_VERSION`]):
//! a participant of another one is [refused](Snapshot::refused).
//!
//! ```
//! use sinew_shm::Domain;
//! use sinew_shm::inspect::Snapshot;
//! if let Some(domain) = Domain::find(None, 0)? {
//!     for peer in Snapshot::take(&domain)?.peers() {
//!         println!("{} {}: {} records", peer.pid(), peer.program(), peer.endpoints().len());
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`LAYOUT_VERSION`]: crate::LAYOUT_VERSION

pub(crate) mod snapshot;
pub(crate) mod unread;
pub(crate) mod watch;
pub(crate) mod workers;

pub use crate::segment::file_system::Medium;
pub use crate::segment::location_warnings::Concern;
pub use snapshot::{Leftovers, Snapshot};
pub use unread::Unread;
pub use watch::Watch;
pub use workers::Busy;
