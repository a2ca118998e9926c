//! A gateway's reports for tools and other contexts.
//!
//! A gateway's participant has [reports](EndpointKind::Report) in its table: their texts name their
//! subjects, their counters hold the values. Tools read them as they read the counters of
//! publishers, without any work by the gateway. One kind of report does not come from a gateway: a
//! rule that matched nothing.

use super::origin::Origin;
use super::qos::QoS;
use sinew_shm::{Endpoint, EndpointKind};

/// The file in a domain's directory that the leading gateway keeps locked.
pub const LOCK_FILE: &str = "gateway.lock";

/// The subject of a gateway's report.
///
/// | | `name` | `type_name` | `node` | counters |
/// |---|---|---|---|---|
/// | `Gateway` | its session's id | its connections, separated by commas | | [`GatewayWord`] |
/// | `Link` | the id of the session at its other end | that session's address | | [`LinkWord`] |
/// | `Session` | its id | | a node of it | [`SessionWord`] |
/// | `Topic` | the topic's | its type's, and `hash` | | [`TopicWord`] |
/// | `Service` | the service's | its type's, and `hash` | | [`ServiceWord`] |
/// | `Unmatched` | | a sentence | | |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Report {
    /// The leading gateway of its domain.
    Gateway,
    /// A connection of its session with another one.
    Link,
    /// A session of the network that has nodes.
    Session,
    /// A topic of one type.
    Topic,
    /// A service of one type.
    Service,
    /// From any context: a rule or parameter of its command line that has matched nothing so far.
    Unmatched,
}

impl Report {
    const ALL: [Self; 6] =
        [Self::Gateway, Self::Link, Self::Session, Self::Topic, Self::Service, Self::Unmatched];

    /// Returns an endpoint for a report. Its number, its node and its hash are still to be set.
    #[doc(hidden)] // for the command and the gateway: it changes with `sinew_shm`
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

    /// Returns the kind of an endpoint's report; `None` if it is not a report, or is from another
    /// version of Sinew.
    #[doc(hidden)] // for the command and the gateway: it changes with `sinew_shm`
    pub fn of(endpoint: &Endpoint) -> Option<Self> {
        if endpoint.kind != EndpointKind::Report {
            return None;
        }
        Self::ALL.get(usize::from(endpoint.qos[0])).copied()
    }
}

/// The node name that identifies a knock.
const KNOCK: &str = "/_sinew_knock";

/// Returns the endpoint that a tool announces to find out whether the gateway of a domain is at
/// work, which counts it: [`GatewayWord::Knocks`]. (A report would do, but wakes no participant.)
/// Its number is still to be set.
///
/// ```
/// use sinew::records::{is_knock, knock};
/// assert!(is_knock(&knock()));
/// ```
#[doc(hidden)] // for the command and the gateway: it changes with `sinew_shm`
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

/// Returns `true` if an endpoint is a [knock].
#[doc(hidden)] // for the command and the gateway: it changes with `sinew_shm`
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
    /// Malformed tokens from the network.
    Garbage = 0,
    /// 1: it finds other sessions by a router, or not at all.
    WantsRouter = 1,
    /// While no node of its domain is on the network: 1 + the domain of most nodes there; 0 if
    /// there are none.
    OtherDomain = 2,
    /// Nodes of that domain.
    OtherNodes = 3,
    /// [Knocks](knock) that it has seen.
    Knocks = 4,
}

/// The counters of [`Report::Link`], by their index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
#[non_exhaustive]
pub enum LinkWord {
    /// The role of the other end: 1 a router, 2 a peer, 3 a client.
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
    /// Messages from it that were published here.
    Heard = 2,
    /// Messages used to compare the clocks.
    Compared = 3,
    /// The least delay between publication there and arrival here, among its latest messages: the
    /// time by which its clock is behind this host's, plus the transmission time. Nanoseconds, as a
    /// signed number.
    Behind = 4,
}

/// The counters of [`Report::Topic`], by their index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
#[non_exhaustive]
pub enum TopicWord {
    /// Messages that went to the network.
    Sent = 0,
    /// Bytes of their encoded forms.
    SentBytes = 1,
    /// Messages that did not go there. Messages that the gateway's own subscriptions, which carry
    /// them, count as overwritten are not included.
    Unsent = 2,
    /// Messages that were left out because of a rate limit.
    Limited = 3,
    /// Messages from the network that were published here.
    Received = 4,
    /// Bytes of their encoded forms.
    ReceivedBytes = 5,
    /// Messages that publishers there published, and that didn't arrive.
    Missed = 6,
    /// Messages that arrived, and could not be published here.
    Refused = 7,
    /// Refused messages with an attachment as rmw_zenoh wrote it before April 2025.
    Old = 8,
    /// Messages that waited for the link for more than a second.
    Late = 9,
}

/// The counters of [`Report::Service`], by their index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
#[non_exhaustive]
pub enum ServiceWord {
    /// Calls that were passed on.
    Asked = 0,
    /// Calls that were answered.
    Answered = 1,
    /// Calls that failed.
    Failed = 2,
    /// Requests with an attachment as rmw_zenoh wrote it before April 2025.
    Old = 3,
}
