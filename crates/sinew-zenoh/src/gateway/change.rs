//! Notifications for the gateway's thread.

use super::statistics::GatewayStatistics;
use crate::wire::token::Token;
use sinew::msg::{Gid, TypeHash};
use sinew::time::Time;
use sinew_shm::{Endpoint, EndpointKey, Peer};
use std::sync::Arc;
use std::sync::mpsc::Sender;

/// An endpoint of this host: its participant, and its key there.
pub(super) type LocalKey = (u64, EndpointKey);

/// The properties that endpoints must share to match.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct RouteKey {
    pub(super) name: String,
    pub(super) type_name: String,
    pub(super) hash: TypeHash,
}

/// A notification for the gateway's thread.
pub(super) enum Change {
    /// A node or an endpoint of this host has appeared.
    Local(LocalKey, Box<Endpoint>, Arc<Peer>),
    /// That node or endpoint is gone.
    LocalGone(LocalKey),
    /// A token of another session has appeared: its key and its content.
    Remote(String, Box<Token>),
    /// That token is gone.
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
