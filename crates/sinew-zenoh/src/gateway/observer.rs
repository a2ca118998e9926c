//! Watches the domain, and reports each change to the gateway's thread.

use super::change::Change;
use sinew::gateway::Origin;
use sinew::records::{is_knock, leaves_process};
use sinew_shm::transport::{Incoming, Observer, Sink};
use sinew_shm::{Endpoint, EndpointKey, EndpointKind, Peer};
use std::sync::Arc;
use std::sync::mpsc::Sender;

/// Watches the participants of the domain.
pub(super) struct DomainObserver(pub(super) Sender<Change>);

impl Observer for DomainObserver {
    fn appeared(&self, peer: &Arc<Peer>, key: EndpointKey, endpoint: &Endpoint) {
        if is_knock(endpoint) {
            return drop(self.0.send(Change::Knock)); // as below
        }
        let is_carried = match endpoint.kind {
            EndpointKind::Node => true,
            // Endpoints with types that stay in their process don't concern the network.
            EndpointKind::Publisher
            | EndpointKind::Subscription
            | EndpointKind::Server
            | EndpointKind::Client => leaves_process(endpoint) && endpoint.hash != [0; 32],
            _ => false,
        };
        if is_carried && Origin::of(endpoint) == Some(Origin::Local) {
            // The gateway's thread is gone only with the gateway.
            let _ = self.0.send(Change::Local((peer.id(), key), Box::new(endpoint.clone()), peer.clone()));
        }
    }

    fn vanished(&self, peer: &Arc<Peer>, key: EndpointKey) {
        let _ = self.0.send(Change::LocalGone((peer.id(), key)));
    }

    fn connected(&self, _: Incoming, _: Option<EndpointKey>) -> Option<Arc<dyn Sink>> {
        None // this participant receives nothing
    }

    fn left(&self, _: &Arc<Peer>) {}
}
