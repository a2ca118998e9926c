//! The interface through which a participant reports changes of the others.

use crate::connection::incoming::Incoming;
use crate::own::incoming_entry::Sink;
use crate::peer::mapped_peer::Peer;
use crate::platform::sync::Arc;
use crate::tables::endpoint::{Endpoint, EndpointKey};
use std::time::Duration;

/// Receives a participant's news of the others. Called by its helper thread, or by a thread of its
/// own process that [refreshes](crate::transport::Participant::refresh) it; one call at a time, in
/// the order of the events at each peer.
///
/// The calls are made under a lock: none of them may wait for another thread, or run or drop user
/// code or values, which could wait for one. Work that must be done without the lock belongs in
/// [`attend`](Self::attend).
pub trait Observer: Send + Sync + 'static {
    /// Runs `look`, which makes the calls below, on the same thread; no lock is held before and
    /// after it. Work that those calls have put off can be done here after `look` returns.
    fn attend(&self, look: &mut dyn FnMut()) {
        look();
    }
    /// A peer has this entity now.
    fn appeared(&self, peer: &Arc<Peer>, key: EndpointKey, endpoint: &Endpoint);
    /// A peer no longer has this entity.
    fn vanished(&self, peer: &Arc<Peer>, key: EndpointKey);
    /// A peer's entity sends to this participant from now on; with `target`, to that entity of this
    /// participant alone. Returns the sink that reads the connection, if there is one.
    fn connected(&self, incoming: Incoming, target: Option<EndpointKey>) -> Option<Arc<dyn Sink>>;
    /// Reads a connection, which may run code of the program: at once, or once the caller of
    /// [`refresh`](crate::transport::Participant::refresh) holds no lock of its own any more. By
    /// default at once.
    fn drain(&self, sink: Arc<dyn Sink>) {
        sink.drain();
    }
    /// A peer has left or died. Its entities have vanished before.
    fn left(&self, peer: &Arc<Peer>);
    /// Called without any lock, two seconds after this participant has gained or lost an entity,
    /// or another one an entity or a connection, or after a
    /// [request](crate::transport::Participant::request_look). There may be room now for something
    /// that was refused before. Returns the time, at least two seconds, after which it must be
    /// called again even if nothing changes; `None` if it needn't.
    /// Does nothing by default.
    fn retry(&self) -> Option<Duration> {
        None
    }
}

/// The effects of looking around, which happens under the lock of [`Discovery`].
pub(super) struct Effects<'a> {
    pub(super) observer: &'a dyn Observer,
    /// Sinks to drain once the lock is released, because readers run filters and listeners, and
    /// drop the user's values. Some are kept here only to be dropped at that time.
    pub(super) sinks: Vec<Arc<dyn Sink>>,
}
