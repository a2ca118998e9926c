//! The graph of a domain at one moment, and the figures of its endpoints, read from outside.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sinew::gateway::Origin;
use sinew::graph::{EndpointInfo, EndpointKind, GraphReader, GraphSnapshot, NodeInfo, Place};
use sinew_bench::clock::now_ns;
use sinew_shm::inspect::Unread;
use sinew_shm::{Counts, Domain, Endpoint, EndpointKey, EndpointKind as RecordKind, Peer};

use crate::cli::tools::Where;
use crate::error::Error;
use crate::output::says;

/// A domain that can be read repeatedly. It need not exist yet.
pub(crate) struct Observed {
    domain: u32,
    reader: GraphReader,
}

/// The content of a domain at one moment: its graph, and what the memory of its participants says
/// besides.
pub(crate) struct ObservedDomain {
    /// Steady nanoseconds.
    pub(crate) at_ns: i64,
    /// The domain, if it exists.
    pub(crate) place: Option<Domain>,
    /// In the order in which they joined.
    pub(crate) processes: Vec<Arc<Peer>>,
    pub(crate) nodes: Vec<ObservedNode>,
    /// The endpoints of all processes.
    pub(crate) endpoints: Vec<ObservedEndpoint>,
    /// Messages that they haven't read from each other.
    pub(crate) unread: Vec<Unread>,
    /// The reports of gateways and contexts.
    pub(crate) reports: Vec<ObservedRecord>,
    /// The subscriptions through which gateways take messages to the network.
    pub(crate) carriers: Vec<ObservedRecord>,
    /// Connections of services, and ends of programs without nodes: only their counters matter.
    pub(crate) others: Vec<ObservedRecord>,
}

/// A node, and its participant.
pub(crate) struct ObservedNode {
    pub(crate) peer: Arc<Peer>,
    pub(crate) key: EndpointKey,
    pub(crate) info: NodeInfo,
}

/// A publisher, subscription, server or client, and its participant.
pub(crate) struct ObservedEndpoint {
    pub(crate) peer: Arc<Peer>,
    pub(crate) key: EndpointKey,
    pub(crate) info: EndpointInfo,
}

/// A record of a participant that is no part of the graph.
pub(crate) struct ObservedRecord {
    pub(crate) peer: Arc<Peer>,
    key: EndpointKey,
    pub(crate) record: Endpoint,
}

/// Returns the path of messages from or to that place: `network` or `host`.
pub(crate) fn path(place: &Place) -> &'static str {
    if place.is_network() { "network" } else { "host" }
}

/// Describes a process or host for people.
pub(crate) fn text_of(place: &Place) -> String {
    let (pid, program) = process_of(place);
    match place.is_network() {
        true => format!("network, by {pid} {program}"),
        false => format!("{pid} {program}"),
    }
}

/// Returns the process, or the gateway's for an end on the network.
pub(crate) fn process_of(place: &Place) -> (u64, &str) {
    match place {
        Place::Process { pid, program, .. } | Place::Network { gateway: pid, program, .. } => (*pid, program),
        _ => (u64::from(std::process::id()), "sinew"), // nothing is in this process
    }
}

impl ObservedNode {
    /// Returns `true` if that endpoint belongs to it, as far as names show.
    pub(crate) fn has(&self, end: &ObservedEndpoint) -> bool {
        let is_remote = self.info.place.is_network();
        let same_name = end.info.node == self.info.name && end.is_remote() == is_remote;
        // For remote nodes, several participants of a gateway's process may hold the endpoints.
        let same_place = match is_remote {
            true => end.peer.pid() == self.peer.pid(),
            false => end.peer.id() == self.peer.id(),
        };
        same_name && same_place
    }
}

/// Identifies an endpoint among all that ever existed.
pub(crate) type EndpointId = (u64, EndpointKey);

impl Observed {
    /// Opens the domain. Reports on standard error problems of its directory, and what can't be
    /// read.
    pub(crate) fn open(place: &Where) -> Result<Self, Error> {
        let mut observed = Self::open_quietly(place)?;
        observed.read()?.unreadable().iter().for_each(|sentence| says(sentence));
        Ok(observed)
    }

    /// The same without reporting what can't be read.
    pub(crate) fn open_quietly(place: &Where) -> Result<Self, Error> {
        let observed = Self::open_silently(place)?;
        for concern in Domain::concerns(place.dir.as_deref(), observed.domain) {
            says(&concern.to_string());
        }
        Ok(observed)
    }

    /// The same without any report.
    pub(crate) fn open_silently(place: &Where) -> Result<Self, Error> {
        let domain = place.domain().map_err(Error::DomainNumber)?;
        if let Some(path) = place.dir.as_ref().filter(|path| !path.exists()) {
            return Err(Error::NoDirectory { path: path.clone() });
        }
        let reader = GraphReader::new(domain);
        let reader = match &place.dir {
            Some(path) => reader.directory(path),
            None => reader,
        };
        let mut observed = Self { domain, reader };
        observed.reader.records()?;
        Ok(observed)
    }

    /// Returns the domain's number.
    pub(crate) fn domain(&self) -> u32 {
        self.domain
    }

    /// Reads the current graph.
    pub(crate) fn read(&mut self) -> Result<GraphSnapshot, Error> {
        Ok(self.reader.read()?)
    }

    /// Reads the current graph with the figures of its endpoints.
    pub(crate) fn look(&mut self) -> Result<ObservedDomain, Error> {
        let mut observed = ObservedDomain::empty();
        let Some(found) = self.reader.records()? else { return Ok(observed) };
        observed.place = Some(found.domain().clone());
        observed.processes = found.peers().to_vec();
        for peer in found.peers() {
            peer.endpoints()
                .into_iter()
                .for_each(|(key, record)| observed.add(peer, key, record, found.domain()));
        }
        observed.unread = found.unread();
        // Two participants of a gateway may announce the same remote node or server.
        let mut told = BTreeSet::new();
        observed.nodes.retain(|ObservedNode { peer, info, .. }| {
            !info.place.is_network() || told.insert((peer.pid(), info.name.clone()))
        });
        let mut told = BTreeSet::new();
        observed.endpoints.retain(|ObservedEndpoint { peer, info, .. }| {
            let is_twice = info.kind == EndpointKind::Server && info.place.is_network();
            let what = || (peer.pid(), info.node.clone(), info.name.clone(), info.type_name.clone());
            !is_twice || told.insert(what())
        });
        observed.at_ns = now_ns();
        Ok(observed)
    }
}

impl ObservedDomain {
    fn empty() -> Self {
        Self {
            at_ns: now_ns(),
            place: None,
            processes: Vec::new(),
            nodes: Vec::new(),
            endpoints: Vec::new(),
            unread: Vec::new(),
            reports: Vec::new(),
            carriers: Vec::new(),
            others: Vec::new(),
        }
    }

    /// Adds a record of a participant of that domain.
    fn add(&mut self, peer: &Arc<Peer>, key: EndpointKey, record: Endpoint, domain: &Domain) {
        let is_shown = Origin::of(&record).is_none_or(Origin::is_shown);
        let place = match record.kind {
            RecordKind::Report => &mut self.reports,
            // A gateway's own endpoints belong to no program: the remote endpoints that it carries
            // for are listed separately.
            RecordKind::Subscription if !is_shown => &mut self.carriers,
            _ if !is_shown => return,
            RecordKind::Node => {
                let info = NodeInfo::of_record(peer, record);
                self.nodes.extend(info.map(|info| ObservedNode { peer: peer.clone(), key, info }));
                return;
            }
            RecordKind::Publisher | RecordKind::Subscription | RecordKind::Server | RecordKind::Client => {
                // `Observed::open` has reported one that can't be read.
                let info = EndpointInfo::of_record(peer, record, domain).ok().flatten();
                self.endpoints.extend(info.map(|info| ObservedEndpoint { peer: peer.clone(), key, info }));
                return;
            }
            _ => &mut self.others,
        };
        place.push(ObservedRecord { peer: peer.clone(), key, record });
    }
}

impl ObservedDomain {
    /// Returns all endpoints of one kind.
    pub(crate) fn of(&self, kind: EndpointKind) -> impl Iterator<Item = &ObservedEndpoint> {
        self.endpoints.iter().filter(move |endpoint| endpoint.info.kind == kind)
    }

    /// Returns the senders and receivers of each topic (or servers and clients of each service), by
    /// its name.
    pub(crate) fn ends(&self, kinds: [EndpointKind; 2]) -> BTreeMap<&str, Ends<'_>> {
        let mut ends = BTreeMap::<&str, Ends<'_>>::new();
        for endpoint in &self.endpoints {
            let Some(side) = kinds.iter().position(|&kind| kind == endpoint.info.kind) else { continue };
            ends.entry(&endpoint.info.name).or_default().0[side].push(endpoint);
        }
        ends
    }

    /// Returns publishers and subscriptions, by the names of their topics.
    pub(crate) fn topics(&self) -> BTreeMap<&str, Ends<'_>> {
        self.ends([EndpointKind::Publisher, EndpointKind::Subscription])
    }
}

/// The endpoints that share a topic or service.
#[derive(Default)]
pub(crate) struct Ends<'a>(pub(crate) [Vec<&'a ObservedEndpoint>; 2]);

impl Ends<'_> {
    /// Returns the names of their types: one, if they agree.
    pub(crate) fn types(&self) -> Vec<&str> {
        let all = self.0.iter().flatten();
        let mut types: Vec<&str> = all.map(|endpoint| endpoint.info.type_name.as_str()).collect();
        types.sort_unstable();
        types.dedup();
        types
    }
}

impl ObservedRecord {
    pub(crate) fn id(&self) -> EndpointId {
        (self.peer.id(), self.key)
    }

    /// Returns its counters; all 0 once it is gone.
    pub(crate) fn counts(&self) -> Counts {
        self.peer.counts(self.key).unwrap_or_default()
    }
}

impl ObservedEndpoint {
    pub(crate) fn id(&self) -> EndpointId {
        (self.peer.id(), self.key)
    }

    /// Returns its counters; all 0 once it is gone.
    pub(crate) fn counts(&self) -> Counts {
        self.peer.counts(self.key).unwrap_or_default()
    }

    /// Returns `true` if it is on the network, and a gateway's process stands for it.
    pub(crate) fn is_remote(&self) -> bool {
        self.info.place.is_network()
    }
}

/// Returns the 16 bytes of a participant's entity, as in `rmw_gid_t`.
pub(crate) fn gid(participant: u64, number: u64) -> [u8; 16] {
    let mut gid = [0; 16];
    gid[..8].copy_from_slice(&participant.to_le_bytes());
    gid[8..].copy_from_slice(&number.to_le_bytes());
    gid
}
