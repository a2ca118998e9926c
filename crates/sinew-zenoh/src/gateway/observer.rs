//! What is in the domain, and what is on the network: each change is told to the gateway's thread.

use super::GatewayStatistics;
use super::route::RouteKey;
use crate::wire::token::Token;
use sinew::gateway::{Origin, is_knock};
use sinew::msg::Gid;
use sinew::time::Time;
use sinew_shm::{Endpoint, EndpointKey, EndpointKind, Incoming, Observer, Peer, Sink};
use std::sync::Arc;
use std::sync::mpsc::Sender;

/// An end of this host: its participant, and which of that.
pub(super) type LocalKey = (u64, EndpointKey);

/// What the gateway's thread is told.
pub(super) enum Change {
    /// A node or an end of this host came.
    Local(LocalKey, Box<Endpoint>, Arc<Peer>),
    /// It is gone.
    LocalGone(LocalKey),
    /// A token of another session came: its key, and what that says.
    Remote(String, Box<Token>),
    /// It is gone.
    RemoteGone(String),
    /// What it published last has had its time to come.
    RemoteLeft(String),
    /// What this service needs may have changed.
    Service(RouteKey),
    /// A tool wants to know whether that thread is at work.
    Knock,
    /// A client here calls for the first time.
    FreshClient(RouteKey, Gid),
    /// Its calls go on, if what its program has is brought over; or after so many looks.
    Introduce(RouteKey, Gid, u32),
    /// The same of a client there, by its gid.
    FreshRemoteClient(RouteKey, [u8; 16]),
    /// Its calls go on, if these topics are brought there that its program subscribes to; or after so
    /// many looks.
    IntroduceRemote(RouteKey, [u8; 16], Vec<RouteKey>, u32),
    /// Something to be done then.
    Later(Time, Box<dyn FnOnce() + Send>),
    /// Something to be done once all is known that ends of this host have told of by now.
    OnceKnown(Box<dyn FnOnce() + Send>),
    /// Links with other sessions came or went.
    Links,
    /// A session was asked whether it is reached: it is, or not.
    Answered(String, bool),
    /// Its counters are asked for.
    Statistics(Sender<GatewayStatistics>),
    /// The gateway ends.
    Stop,
}

/// Sees the participants of the domain.
pub(super) struct DomainObserver(pub(super) Sender<Change>);

impl Observer for DomainObserver {
    fn appeared(&self, peer: &Arc<Peer>, key: EndpointKey, endpoint: &Endpoint) {
        if is_knock(endpoint) {
            return drop(self.0.send(Change::Knock)); // as below
        }
        let is_carried = match endpoint.kind {
            EndpointKind::Node => true,
            // Ends of types that stay in their process are nothing to others.
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
        None // nothing is received by this participant
    }

    fn left(&self, _: &Arc<Peer>) {}
}
