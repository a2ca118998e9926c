//! One of a writer's connections, as the writer keeps it.

use crate::connection::flow_control::{self, Want};
use crate::connection::outgoing::Accepted;
use crate::peer::mapped_peer::Peer;
use crate::platform::sync::Arc;
use crate::tables::endpoint::EndpointKey;

pub(super) struct Connection {
    pub(super) accepted: Arc<Accepted>,
    /// The reading entity, if the connection is for that one alone.
    pub(super) target: Option<EndpointKey>,
    /// For a bound connection: the number of messages that the reader may have yet to read. For an
    /// ended one: the number of messages that its reader must still get.
    pub(super) capacity: Option<u64>,
    /// A cursor that the reader has had. While it leaves room, the cache line of the current cursor
    /// needn't be fetched from the reader's core. The reader never has to read a message before it,
    /// even if the current cursor goes back.
    pub(super) seen: u64,
}

/// A reader that must get every message and has no room for more.
#[derive(Debug, Clone)]
pub struct Laggard {
    /// The reader's participant.
    pub peer: Arc<Peer>,
    /// The reading entity, if the connection is for it alone.
    pub target: Option<EndpointKey>,
    /// The number of the first message that the reader still needs.
    pub cursor: u64,
}

impl Connection {
    #[inline]
    pub(super) fn has_room(&mut self, next: u64) -> bool {
        let Some(capacity) = self.capacity else { return true };
        if next.saturating_sub(self.seen) < capacity {
            return true;
        }
        let cursor = self.accepted.cursor.at();
        if cursor <= next {
            self.seen = cursor.max(self.seen); // a cursor beyond `next` doesn't show what the reader has read
        }
        next.saturating_sub(cursor) < capacity || self.accepted.peer.is_gone()
    }

    /// Returns `true` if the reader has to make room until message `next` has as much as `want`.
    pub(super) fn lacks_room(&self, next: u64, want: Want) -> bool {
        self.capacity
            .is_some_and(|capacity| self.accepted.cursor.at() < flow_control::wanted(next, capacity, want))
            && !self.accepted.peer.is_gone()
    }
}
