//! The gateway of a domain, read from its reports.

use std::sync::Arc;

use serde::Serialize;
use sinew::gateway::{GatewayWord, LinkWord, Report, ServiceWord, SessionWord, TopicWord};
use sinew_shm::{Counter, Counts, Peer};

use crate::observed::{ObservedDomain, ObservedRecord};

/// A gateway that leads in its domain.
#[derive(Clone, Serialize)]
pub(crate) struct ObservedGateway {
    #[serde(skip)]
    pub(crate) peer: Arc<Peer>,
    pub(crate) pid: u64,
    pub(crate) program: String,
    /// The id of its session with the network.
    pub(crate) session: String,
    /// The endpoints it connects to, separated by commas.
    pub(crate) connects_to: String,
    /// It depends on a router to find other sessions.
    pub(crate) wants_router: bool,
    /// Tokens of the network that were invalid.
    pub(crate) garbage: u64,
    /// While no node of this domain is on the network: another domain, and the number of its nodes
    /// there.
    pub(crate) other_domain: Option<(u64, u64)>,
    pub(crate) links: Vec<Link>,
    pub(crate) sessions: Vec<NetworkSession>,
    pub(crate) topics: Vec<NetworkTopic>,
    pub(crate) services: Vec<NetworkService>,
}

/// A connection of its session.
#[derive(Clone, Serialize)]
pub(crate) struct Link {
    /// The session at its other end.
    pub(crate) session: String,
    pub(crate) address: String,
    pub(crate) role: Role,
}

/// The kind of session at the other end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Role {
    Router,
    Peer,
    Client,
}

/// A session of the network with nodes.
#[derive(Clone, Serialize)]
pub(crate) struct NetworkSession {
    pub(crate) id: String,
    /// One of its nodes.
    pub(crate) node: String,
    pub(crate) nodes: u64,
    /// Whether messages reach it; `None` while that isn't known.
    pub(crate) is_reached: Option<bool>,
    pub(crate) heard: u64,
    /// The smallest delay of its messages: the lag of its clock, and the transmission.
    pub(crate) behind_ns: Option<i64>,
}

/// A topic of one type. The totals count from the creation of its endpoints.
#[derive(Clone, Default, Serialize)]
pub(crate) struct NetworkTopic {
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) type_name: String,
    pub(crate) sent: u64,
    pub(crate) sent_bytes: u64,
    pub(crate) unsent: u64,
    pub(crate) late: u64,
    pub(crate) limited: u64,
    pub(crate) received: u64,
    pub(crate) received_bytes: u64,
    pub(crate) missed: u64,
    pub(crate) refused: u64,
    pub(crate) old_attachments: u64,
}

/// A service of one type, as [`NetworkTopic`].
#[derive(Clone, Default, Serialize)]
pub(crate) struct NetworkService {
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) type_name: String,
    pub(crate) calls: u64,
    pub(crate) answered: u64,
    pub(crate) failed: u64,
    pub(crate) old_attachments: u64,
}

impl ObservedGateway {
    /// Returns the leading gateways of the domain: at most one.
    pub(crate) fn all(snapshot: &ObservedDomain) -> Vec<Self> {
        let leads = |end: &&ObservedRecord| Report::of(&end.record) == Some(Report::Gateway);
        let read = |about: &ObservedRecord| {
            let own = snapshot.reports.iter().filter(|end| end.peer.id() == about.peer.id());
            let carriers = snapshot.carriers.iter().filter(|end| end.peer.pid() == about.peer.pid());
            Self::read(about, own, &carriers.collect::<Vec<_>>())
        };
        snapshot.reports.iter().filter(leads).map(read).collect()
    }

    /// `carriers`: the gateway's own subscriptions, which take messages to the network.
    fn read<'a>(
        about: &ObservedRecord,
        reports: impl Iterator<Item = &'a ObservedRecord>,
        carriers: &[&ObservedRecord],
    ) -> Self {
        let counts = about.counts();
        let word = |word: GatewayWord| counts.word(word as usize);
        let domain = word(GatewayWord::OtherDomain).checked_sub(1);
        let mut gateway = Self {
            peer: about.peer.clone(),
            pid: about.peer.pid(),
            program: about.peer.program(),
            session: about.record.name.clone(),
            connects_to: about.record.type_name.clone(),
            wants_router: word(GatewayWord::WantsRouter) == 1,
            garbage: word(GatewayWord::Garbage),
            other_domain: domain.map(|domain| (domain, word(GatewayWord::OtherNodes))),
            links: Vec::new(),
            sessions: Vec::new(),
            topics: Vec::new(),
            services: Vec::new(),
        };
        for end in reports {
            let counts = end.counts();
            match Report::of(&end.record) {
                Some(Report::Link) => gateway.links.push(Link::read(end, &counts)),
                Some(Report::Session) => gateway.sessions.push(NetworkSession::read(end, &counts)),
                Some(Report::Topic) => {
                    let mut topic = NetworkTopic::read(end, &counts);
                    let same = carriers.iter().filter(|carrier| {
                        let (one, other) = (&carrier.record, &end.record);
                        (&one.name, &one.type_name, one.hash) == (&other.name, &other.type_name, other.hash)
                    });
                    let given_way = same.map(|carrier| {
                        let counts = carrier.counts();
                        counts.get(Counter::Overwritten).wrapping_add(counts.get(Counter::Missed))
                    });
                    topic.unsent = given_way.fold(topic.unsent, u64::wrapping_add);
                    gateway.topics.push(topic);
                }
                Some(Report::Service) => gateway.services.push(NetworkService::read(end, &counts)),
                _ => {}
            }
        }
        gateway.links.sort_by(|one, other| one.session.cmp(&other.session));
        gateway.sessions.sort_by(|one, other| (&one.node, &one.id).cmp(&(&other.node, &other.id)));
        gateway
            .topics
            .sort_by(|one, other| (&one.name, &one.type_name).cmp(&(&other.name, &other.type_name)));
        gateway
            .services
            .sort_by(|one, other| (&one.name, &one.type_name).cmp(&(&other.name, &other.type_name)));
        gateway
    }

    /// Returns `true` if a participant belongs to the gateway's process, as far as is known.
    pub(crate) fn is_of(&self, peer: &Peer) -> bool {
        (peer.pid(), peer.program()) == (self.pid, self.program.clone())
    }

    /// Returns the number of its links to sessions with that role.
    pub(crate) fn count(&self, role: Role) -> usize {
        self.links.iter().filter(|link| link.role == role).count()
    }

    /// Describes its links for people.
    pub(crate) fn connections(&self) -> String {
        let nodes: u64 = self.sessions.iter().map(|session| session.nodes).sum();
        format!(
            "{}, {}; {} of {} on the network",
            counted(self.count(Role::Router), "router"),
            counted(self.count(Role::Peer) + self.count(Role::Client), "peer"),
            counted(usize::try_from(nodes).unwrap_or(usize::MAX), "node"),
            counted(self.sessions.len(), "session"),
        )
    }
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("one {what}") } else { format!("{count} {what}s") }
}

impl Link {
    fn read(end: &ObservedRecord, counts: &Counts) -> Self {
        let role = match counts.word(LinkWord::Role as usize) {
            1 => Role::Router,
            2 => Role::Peer,
            _ => Role::Client,
        };
        Self { session: end.record.name.clone(), address: end.record.type_name.clone(), role }
    }
}

impl NetworkSession {
    fn read(end: &ObservedRecord, counts: &Counts) -> Self {
        let word = |word: SessionWord| counts.word(word as usize);
        Self {
            id: end.record.name.clone(),
            node: end.record.node.clone(),
            nodes: word(SessionWord::Nodes),
            is_reached: match word(SessionWord::Reached) {
                1 => Some(true),
                2 => Some(false),
                _ => None,
            },
            heard: word(SessionWord::Heard),
            behind_ns: (word(SessionWord::Compared) > 0).then(|| word(SessionWord::Behind).cast_signed()),
        }
    }

    /// Describes its nodes for people.
    pub(crate) fn who(&self) -> String {
        match self.nodes {
            0 | 1 => self.node.clone(),
            2 => format!("{} and another node of its program", self.node),
            nodes => format!("{} and {} other nodes of its program", self.node, nodes - 1),
        }
    }
}

impl NetworkTopic {
    fn read(end: &ObservedRecord, counts: &Counts) -> Self {
        let word = |word: TopicWord| counts.word(word as usize);
        Self {
            name: end.record.name.clone(),
            type_name: end.record.type_name.clone(),
            sent: word(TopicWord::Sent),
            sent_bytes: word(TopicWord::SentBytes),
            unsent: word(TopicWord::Unsent),
            limited: word(TopicWord::Limited),
            received: word(TopicWord::Received),
            received_bytes: word(TopicWord::ReceivedBytes),
            missed: word(TopicWord::Missed),
            refused: word(TopicWord::Refused),
            old_attachments: word(TopicWord::Old),
            late: word(TopicWord::Late),
        }
    }

    /// Returns its totals for people.
    pub(crate) fn totals(&self) -> [(&'static str, u64); 9] {
        [
            ("Sent", self.sent),
            ("Bytes sent", self.sent_bytes),
            ("Unsent", self.unsent),
            ("Late", self.late),
            ("Rate limited", self.limited),
            ("Received", self.received),
            ("Bytes received", self.received_bytes),
            ("Missed", self.missed),
            ("Refused", self.refused),
        ]
    }
}

impl NetworkService {
    fn read(end: &ObservedRecord, counts: &Counts) -> Self {
        let word = |word: ServiceWord| counts.word(word as usize);
        Self {
            name: end.record.name.clone(),
            type_name: end.record.type_name.clone(),
            calls: word(ServiceWord::Asked),
            answered: word(ServiceWord::Answered),
            failed: word(ServiceWord::Failed),
            old_attachments: word(ServiceWord::Old),
        }
    }

    /// Returns its totals for people.
    pub(crate) fn totals(&self) -> [(&'static str, u64); 3] {
        [("Calls", self.calls), ("Answered", self.answered), ("Failed", self.failed)]
    }
}
