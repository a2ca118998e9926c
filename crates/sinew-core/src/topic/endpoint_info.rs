//! Nodes, names and endpoints as a program sees them in the graph: plain data.

use crate::message::Gid;
use crate::ros::mismatch::{End, Match, Mismatch};
use crate::ros::name::is_hidden;
use crate::ros::origin::Origin;
use crate::ros::qos::{Incompatibility, QoS};
use sinew_msg::TypeHash;
use sinew_shm::Domain;

/// The kind of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum EndpointKind {
    /// Publishes messages on a topic.
    Publisher,
    /// Receives messages of a topic.
    Subscription,
    /// Answers requests of a service.
    Server,
    /// Calls a service.
    Client,
}

/// The place where a node or an endpoint lives.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Place {
    /// In this context.
    Here,
    /// In another context of this host: of another process, or of this one.
    #[non_exhaustive]
    Process {
        /// The process id, in the PID namespace of that process.
        pid: u64,
        /// The name of its program.
        program: String,
    },
    /// On the network: another host, or a program of ROS 2. A gateway brings it to this host.
    #[non_exhaustive]
    Network {
        /// The process id of the gateway.
        gateway: u64,
        /// The name of the gateway's program.
        program: String,
    },
}

/// A node.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeInfo {
    /// Its full name: namespace and name.
    pub name: String,
    /// Where it lives.
    pub place: Place,
}

/// A topic, service or action, with the types of its endpoints.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NameAndTypes {
    /// Its full name.
    pub name: String,
    /// The names of its types, sorted: one, if its endpoints agree.
    pub types: Vec<String>,
}

/// A publisher, subscription, server or client.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct EndpointInfo {
    /// Its kind.
    pub kind: EndpointKind,
    /// The full name of its node.
    pub node: String,
    /// The full name of its topic or service.
    pub name: String,
    /// The name of its type.
    pub type_name: String,
    /// The hash of its type; `None` for a type without one, which stays in its process.
    pub type_hash: Option<TypeHash>,
    /// Its QoS: offered by a publisher, requested by a subscription.
    pub qos: QoS,
    /// Its identity, as in [`MessageInfo::publisher`](crate::MessageInfo::publisher). For a
    /// publisher of the network, this is the identity of the gateway's publisher that stands for
    /// it here.
    pub gid: Gid,
    /// Where it lives.
    pub place: Place,
    pub(crate) travels: bool,
    pub(crate) origin: Origin,
    /// The domain that keeps the descriptions of types, for a type of another process.
    pub(crate) domain: Option<Domain>,
}

/// The endpoints that a query is about.
#[derive(Default, Clone, Copy)]
pub(crate) struct Wanted<'a> {
    pub(crate) kind: Option<EndpointKind>,
    /// The full name of the topic or service.
    pub(crate) name: Option<&'a str>,
    /// The node's full name.
    pub(crate) node: Option<&'a str>,
}

impl Wanted<'_> {
    pub(crate) fn is(&self, kind: EndpointKind, name: &str, node: &str) -> bool {
        self.kind.is_none_or(|wanted| wanted == kind)
            && self.name.is_none_or(|wanted| wanted == name)
            && self.node.is_none_or(|wanted| wanted == node)
    }
}

impl Place {
    /// Returns the place of a node or endpoint that this context announces with that origin.
    pub(crate) fn of_own(origin: Origin) -> Self {
        match origin.is_remote() {
            true => {
                Self::Network { gateway: u64::from(std::process::id()), program: sinew_shm::program_name() }
            }
            false => Self::Here,
        }
    }

    /// Returns `true` if it is on the network.
    ///
    /// ```
    /// assert!(!sinew::graph::Place::Here.is_network());
    /// ```
    pub fn is_network(&self) -> bool {
        matches!(self, Self::Network { .. })
    }
}

impl NameAndTypes {
    /// Returns `true` if tools hide the name unless they are asked for it: a part of it begins with
    /// an underscore, as in the topics of an action.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// # #[derive(Message)]
    /// # struct Scan { ranges: Vec<f32> }
    /// let node = Context::new()?.node("scanner")?;
    /// let _scans = node.publisher::<Scan>("scan").create()?;
    /// let _raw = node.publisher::<Scan>("_raw/scan").create()?;
    /// let topics = node.graph().topics();
    /// let shown: Vec<_> = topics.iter().filter(|topic| !topic.is_hidden()).collect();
    /// assert!(shown.iter().any(|topic| topic.name == "/scan"));
    /// assert!(!shown.iter().any(|topic| topic.name == "/_raw/scan"));
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn is_hidden(&self) -> bool {
        is_hidden(&self.name)
    }
}

impl Mismatch {
    /// Returns the reason why a publisher and a subscription, or a server and a client, exchange
    /// nothing; `None` if they match, or are not two such endpoints of one name. Allocates texts.
    /// For two types of one name, it reads two files: their descriptions, where processes keep
    /// them, to name the first difference.
    ///
    /// ```
    /// use sinew::event::Mismatch;
    /// use sinew::prelude::*;
    /// # #[derive(Message)]
    /// # struct Grid { cells: Vec<u8> }
    /// let node = Context::new()?.node("mapper")?;
    /// let _grids = node.publisher::<Grid>("some_map").create()?;
    /// let _seen = node.subscription::<Grid>("some_map").qos(QoS::new().transient_local()).create()?;
    /// let graph = node.graph();
    /// let (publishers, subscriptions) = (graph.publishers("/some_map"), graph.subscriptions("/some_map"));
    /// let why = Mismatch::between(&publishers[0], &subscriptions[0]).expect("one asks for more");
    /// assert_eq!(why.to_string(), "durability (offers volatile, asked transient_local)");
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn between(publisher: &EndpointInfo, subscription: &EndpointInfo) -> Option<Self> {
        use EndpointKind::{Client, Publisher, Server, Subscription};
        let kinds = (publisher.kind, subscription.kind);
        let is_pair = matches!(kinds, (Publisher, Subscription) | (Server, Client));
        if !is_pair || publisher.name != subscription.name {
            return None;
        }
        let in_one_context = publisher.gid.0[..8] == subscription.gid.0[..8];
        let (offered, asked) = (publisher.end(), subscription.end());
        Self::of_ends(&offered, &asked, in_one_context, publisher.kind == Server)
    }

    /// Returns the policies in which a publisher offers less than a subscription asks for, although
    /// they match: one belongs to a program of the network that matches any QoS, as rmw_zenoh does.
    /// Returns `None` for other pairs. Allocates nothing; never blocks.
    ///
    /// ```
    /// use sinew::event::Mismatch;
    /// use sinew::prelude::*;
    /// # #[derive(Message)]
    /// # struct Grid { cells: Vec<u8> }
    /// let node = Context::new()?.node("mapper")?;
    /// let _grids = node.publisher::<Grid>("a_map").create()?;
    /// let _seen = node.subscription::<Grid>("a_map").create()?;
    /// let snapshot = node.graph().snapshot();
    /// for publisher in snapshot.publishers("/a_map") {
    ///     for subscription in snapshot.subscriptions("/a_map") {
    ///         assert_eq!(Mismatch::tolerated(publisher, subscription), None);
    ///     }
    /// }
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn tolerated(publisher: &EndpointInfo, subscription: &EndpointInfo) -> Option<Incompatibility> {
        let is_pair = (publisher.kind, subscription.kind)
            == (EndpointKind::Publisher, EndpointKind::Subscription)
            && publisher.name == subscription.name;
        let (offered, asked) = (publisher.end(), subscription.end());
        let found = is_pair.then(|| Match::outside(&offered, &asked))?;
        found.tolerated(&offered, &asked)
    }
}

impl EndpointInfo {
    /// Returns `true` if messages of its type can leave their process: their type has an encoded
    /// form.
    pub fn leaves_process(&self) -> bool {
        self.travels
    }

    /// Returns the endpoint as matching sees it.
    fn end(&self) -> End<'_> {
        let hash = self.type_hash.map_or([0; 32], |hash| hash.0);
        End::published((&self.type_name, hash), self.travels, &self.qos, self.origin)
            .described_in(self.domain.as_ref())
    }
}

/// Returns a type's hash, unless it is the one that stands for none.
pub(crate) fn hash_of(bytes: [u8; 32]) -> Option<TypeHash> {
    (bytes != [0; 32]).then_some(TypeHash(bytes))
}
