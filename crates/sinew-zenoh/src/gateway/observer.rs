//! Watches the domain and the network, and reports each change to the gateway's thread.

use super::GatewayStatistics;
use super::route::RouteKey;
use crate::wire::token::Token;
use sinew::gateway::{Origin, is_knock};
use sinew::msg::Gid;
use sinew::time::Time;
use sinew_shm::{Endpoint, EndpointKey, EndpointKind, Incoming, Observer, Peer, Sink};
use std::sync::Arc;
use std::sync::mpsc::Sender;

/// An endpoint of this host: its participant, and its key there.
pub(super) type LocalKey = (u64, EndpointKey);

/// A notification for the gateway's thread.
pub(super) enum Change {
    /// A node or an endpoint of this host has come.
    Local(LocalKey, Box<Endpoint>, Arc<Peer>),
    /// It is gone.
    LocalGone(LocalKey),
    /// A token of another session has come: its key and its content.
    Remote(String, Box<Token>),
    /// It is gone.
    RemoteGone(String),
    /// Messages that the publisher of this token sent last have had time to arrive.
    RemoteLeft(String),
    /// The needs of this service may have changed.
    Service(RouteKey),
    /// A tool checks whether the gateway's thread is working.
    Knock,
    /// A local client calls for the first time.
    FreshClient(RouteKey, Gid),
    /// Its calls go on if its program's endpoints are on the network, or after this many looks.
    Introduce(RouteKey, Gid, u32),
    /// As `FreshClient`, for a remote client, by its gid.
    FreshRemoteClient(RouteKey, [u8; 16]),
    /// Its calls go on if the topics to which its program subscribes are on the network, or after
    /// this many looks.
    IntroduceRemote(RouteKey, [u8; 16], Vec<RouteKey>, u32),
    /// Work to be done at that time.
    Later(Time, Box<dyn FnOnce() + Send>),
    /// Work to be done once all endpoints that this host has announced so far are known.
    OnceKnown(Box<dyn FnOnce() + Send>),
    /// Links with other sessions have come or gone.
    Links,
    /// A session has been asked whether it is reachable; the answer.
    Answered(String, bool),
    /// A request for the gateway's counters.
    Statistics(Sender<GatewayStatistics>),
    /// The gateway ends.
    Stop,
}

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
            | EndpointKind::Client => endpoint.qos[5] == 1 && endpoint.hash != [0; 32],
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
