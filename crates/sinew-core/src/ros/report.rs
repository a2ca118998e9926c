//! What a gateway tells tools of itself, and other contexts.
//!
//! A gateway's participant has [reports](EndpointKind::Report) in its table: their texts say what
//! they are about, their counters what there is to know of it. Tools read them as they read the
//! counters of publishers, and the gateway does nothing for it. One of the reports is not a
//! gateway's: of a rule that matched nothing.

use super::origin::Origin;
use super::qos::QoS;
use sinew_shm::{Endpoint, EndpointKind};

/// The file in a domain's directory on which the gateway that leads there holds a lock.
pub const LOCK_FILE: &str = "gateway.lock";

/// What a report of a gateway is about.
///
/// | | `name` | `type_name` | `node` | counters |
/// |---|---|---|---|---|
/// | `Gateway` | its session's id | where it connects to, with commas between | | [`GatewayWord`] |
/// | `Link` | the id of the session at its other end | that end's address | | [`LinkWord`] |
/// | `Session` | its id | | a node of it | [`SessionWord`] |
/// | `Topic` | the topic's | its type's, and `hash` | | [`TopicWord`] |
/// | `Service` | the service's | its type's, and `hash` | | [`ServiceWord`] |
/// | `Unmatched` | | a sentence | | |
///
/// ```
/// use sinew::gateway::Report;
/// let report = Report::Session.about("8b20917502ee955a", "");
/// assert_eq!(Report::of(&report), Some(Report::Session));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Report {
    /// A gateway that leads in its domain.
    Gateway,
    /// A connection of its session with another one.
    Link,
    /// A session of the network that has nodes.
    Session,
    /// A topic of one type.
    Topic,
    /// A service of one type.
    Service,
    /// Of any context: a rule or parameter of its command line that has matched nothing so far.
    Unmatched,
}

impl Report {
    const ALL: [Self; 6] =
        [Self::Gateway, Self::Link, Self::Session, Self::Topic, Self::Service, Self::Unmatched];

    /// One to be told of. Its number, its node and its hash are still to be set.
    pub fn about(self, name: &str, type_name: &str) -> Endpoint {
        let mut qos = [0; 64];
        qos[0] = self as u8;
        Endpoint {
            kind: EndpointKind::Report,
            number: 0,
            node: String::new(),
            name: name.to_owned(),
            type_name: type_name.to_owned(),
            hash: [0; 32],
            qos,
        }
    }

    /// What an endpoint is a report of; `None` if it is none, or of another version of Sinew.
    pub fn of(endpoint: &Endpoint) -> Option<Self> {
        if endpoint.kind != EndpointKind::Report {
            return None;
        }
        Self::ALL.get(usize::from(endpoint.qos[0])).copied()
    }
}

/// The node's name that a knock is known by.
const KNOCK: &str = "/_sinew_knock";

/// What a tool tells of that wants to know whether the gateway of a domain is at work, which counts it:
/// [`GatewayWord::Knocks`]. (A report would do, but wakes no participant.) Its number is still to be
/// set.
///
/// ```
/// use sinew::gateway::{is_knock, knock};
/// assert!(is_knock(&knock()));
/// ```
pub fn knock() -> Endpoint {
    let mut qos = QoS::default().to_bytes(false);
    Origin::Carrier.write_to(&mut qos); // lists don't show it
    Endpoint {
        kind: EndpointKind::Node,
        number: 0,
        node: KNOCK.to_owned(),
        name: String::new(),
        type_name: String::new(),
        hash: [0; 32],
        qos,
    }
}

/// Whether an endpoint is a [knock].
pub fn is_knock(endpoint: &Endpoint) -> bool {
    endpoint.kind == EndpointKind::Node
        && endpoint.node == KNOCK
        && Origin::of(endpoint) == Some(Origin::Carrier)
}

/// The counters of [`Report::Gateway`], by their index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
#[non_exhaustive]
pub enum GatewayWord {
    /// Tokens of the network that made no sense.
    Garbage = 0,
    /// 1: it finds others by a router, or not at all.
    WantsRouter = 1,
    /// While no node of its domain is on the network: 1 + the domain that most nodes there are of;
    /// 0 if there are none.
    OtherDomain = 2,
    /// How many nodes of that domain there are.
    OtherNodes = 3,
    /// [Knocks](knock) that it has heard.
    Knocks = 4,
}

/// The counters of [`Report::Link`], by their index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
#[non_exhaustive]
pub enum LinkWord {
    /// What is at the other end: 1 a router, 2 a peer, 3 a client.
    Role = 0,
}

/// The counters of [`Report::Session`], by their index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
#[non_exhaustive]
pub enum SessionWord {
    /// Its nodes.
    Nodes = 0,
    /// Whether messages get there: 0 not known yet, 1 yes, 2 no: it has no link with the gateway,
    /// and answers no query.
    Reached = 1,
    /// Messages of it that were published here.
    Heard = 2,
    /// Messages by which the clocks were compared.
    Compared = 3,
    /// How much later than they were published messages of it came at least, of the last ones: what
    /// its clock is behind this host's, and the way. Nanoseconds, as a signed number.
    Behind = 4,
}

/// The counters of [`Report::Topic`], by their index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
#[non_exhaustive]
pub enum TopicWord {
    /// Messages that went to the network.
    Sent = 0,
    /// Bytes of their images.
    SentBytes = 1,
    /// Messages that didn't. What the gateway's own subscriptions, which bring them there, count as
    /// overwritten, comes on top.
    Unsent = 2,
    /// Messages that were left out for a rate limit.
    Limited = 3,
    /// Messages of the network that were published here.
    Received = 4,
    /// Bytes of their images.
    ReceivedBytes = 5,
    /// Messages that publishers there published, and that didn't come.
    Missed = 6,
    /// Messages that came, and could not be published here.
    Refused = 7,
    /// Those among them that had an attachment as rmw_zenoh wrote it before April 2025.
    Old = 8,
    /// Messages that waited for the link for more than a second.
    Late = 9,
}

/// The counters of [`Report::Service`], by their index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
#[non_exhaustive]
pub enum ServiceWord {
    /// Calls that were brought over.
    Asked = 0,
    /// Those that were answered.
    Answered = 1,
    /// Those that failed.
    Failed = 2,
    /// Requests with an attachment as rmw_zenoh wrote it before April 2025.
    Old = 3,
}
