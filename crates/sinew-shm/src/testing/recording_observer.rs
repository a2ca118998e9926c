//! A simple observer for tests of the internals.

use crate::Peer;
use crate::platform::sync::{Arc, Mutex};
use crate::tables::endpoint::{Endpoint, EndpointKey, EndpointKind};
use crate::transport::{Incoming, Observer, Sink};

/// Stores appearing peers and connections, and listens to nothing.
#[derive(Default)]
pub(crate) struct RecordingObserver(pub(crate) Mutex<(Vec<Arc<Peer>>, Vec<Incoming>)>);

impl Observer for RecordingObserver {
    fn appeared(&self, peer: &Arc<Peer>, _: EndpointKey, _: &Endpoint) {
        self.0.lock().0.push(peer.clone());
    }
    fn vanished(&self, _: &Arc<Peer>, _: EndpointKey) {}
    fn connected(&self, incoming: Incoming, _: Option<EndpointKey>) -> Option<Arc<dyn Sink>> {
        self.0.lock().1.push(incoming);
        None
    }
    fn left(&self, _: &Arc<Peer>) {}
}

/// An entity of which only its kind matters.
pub(crate) fn endpoint(kind: EndpointKind) -> Endpoint {
    let text = String::new;
    let (node, name, type_name) = (text(), text(), text());
    Endpoint { kind, number: 1, node, name, type_name, hash: [0; 32], qos: [0; 64] }
}
