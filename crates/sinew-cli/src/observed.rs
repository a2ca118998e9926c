//! The participants of a domain at one moment, read from their own memory.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use sinew::gateway::Origin;
use sinew_bench::clock::now_ns;
use sinew_shm::{Counts, Domain, Endpoint, EndpointKey, EndpointKind, Peer, Snapshot, Unread};

use crate::cli::tools::Where;
use crate::error::Error;
use crate::output::says;

/// A domain that can be read repeatedly. It need not exist yet.
pub(crate) struct Observed {
    base: Option<PathBuf>,
    domain: u32,
    place: Option<Domain>,
    census: Option<Snapshot>,
}

/// The content of a domain at one moment.
pub(crate) struct ObservedDomain {
    /// Steady nanoseconds.
    pub(crate) at_ns: i64,
    /// The domain, if it exists.
    pub(crate) place: Option<Domain>,
    /// In the order in which they joined.
    pub(crate) processes: Vec<Arc<Peer>>,
    /// The endpoints of all processes.
    pub(crate) endpoints: Vec<ObservedEndpoint>,
    /// Messages that they haven't read from each other.
    pub(crate) unread: Vec<Unread>,
    /// The reports of gateways.
    pub(crate) reports: Vec<ObservedEndpoint>,
    /// The subscriptions through which gateways take messages to the network.
    pub(crate) carriers: Vec<ObservedEndpoint>,
}

/// A node, publisher, subscription, server or client of a participant.
pub(crate) struct ObservedEndpoint {
    pub(crate) peer: Arc<Peer>,
    pub(crate) key: EndpointKey,
    pub(crate) entity: Endpoint,
}

impl ObservedEndpoint {
    /// Returns `true` if it is on the network, and a gateway's process stands for it.
    pub(crate) fn is_remote(&self) -> bool {
        Origin::of(&self.entity).is_some_and(Origin::is_remote)
    }

    /// Returns the path of its messages: `network` or `host`.
    pub(crate) fn path(&self) -> &'static str {
        if self.is_remote() { "network" } else { "host" }
    }

    /// Describes its process or host for people.
    pub(crate) fn place(&self) -> String {
        let (pid, program) = (self.peer.pid(), self.peer.program());
        match self.is_remote() {
            true => format!("network, by {pid} {program}"),
            false => format!("{pid} {program}"),
        }
    }

    /// Returns `true` if it belongs to that node, as far as names show.
    pub(crate) fn is_of(&self, node: &Self) -> bool {
        let same_name = self.entity.node == node.entity.node && self.is_remote() == node.is_remote();
        // For remote nodes, several participants of a gateway's process may hold the endpoints.
        let same_place = match node.is_remote() {
            true => self.peer.pid() == node.peer.pid(),
            false => self.peer.id() == node.peer.id(),
        };
        same_name && same_place
    }
}

/// Identifies an endpoint among all that ever existed.
pub(crate) type EndpointId = (u64, EndpointKey);

impl Observed {
    /// Opens the domain. Reports on standard error problems of its directory, and participants that
    /// can't be read.
    pub(crate) fn open(place: &Where) -> Result<Self, Error> {
        let observed = Self::open_quietly(place)?;
        for refused in observed.census.iter().flat_map(Snapshot::refused) {
            says(&format!("a participant is left out: {refused}"));
        }
        Ok(observed)
    }

    /// The same without reporting the participants that are left out.
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
        let mut observed = Self { base: place.dir.clone(), domain, place: None, census: None };
        observed.refresh()?;
        Ok(observed)
    }

    fn refresh(&mut self) -> Result<(), Error> {
        let gone = match &mut self.census {
            Some(census) => census.refresh().is_err_and(|error| error.errno == rustix::io::Errno::NOENT),
            None => true,
        };
        if gone {
            self.place = Domain::find(self.base.as_deref(), self.domain)?;
            self.census = self.place.as_ref().map(Snapshot::take).transpose()?;
        }
        Ok(())
    }

    /// Returns the domain's number.
    pub(crate) fn domain(&self) -> u32 {
        self.domain
    }

    /// Reads the current content.
    pub(crate) fn look(&mut self) -> Result<ObservedDomain, Error> {
        self.refresh()?;
        let processes = self.census.as_ref().map(|census| census.peers().to_vec()).unwrap_or_default();
        let of = |peer: &Arc<Peer>| {
            let peer = Arc::clone(peer);
            let entities = peer.endpoints();
            entities.into_iter().map(move |(key, entity)| ObservedEndpoint {
                peer: Arc::clone(&peer),
                key,
                entity,
            })
        };
        // A gateway's own endpoints belong to no program: the remote endpoints that it carries for
        // are listed separately.
        let is_shown = |end: &ObservedEndpoint| Origin::of(&end.entity).is_none_or(Origin::is_shown);
        let (reports, all): (Vec<_>, Vec<_>) =
            processes.iter().flat_map(of).partition(|end| end.entity.kind == EndpointKind::Report);
        let (mut endpoints, hidden): (Vec<_>, Vec<_>) = all.into_iter().partition(is_shown);
        let carriers: Vec<_> =
            hidden.into_iter().filter(|end| end.entity.kind == EndpointKind::Subscription).collect();
        // Two participants of a gateway may announce the same remote node or server.
        let mut told = BTreeSet::new();
        endpoints.retain(|end| {
            let is_twice = matches!(end.entity.kind, EndpointKind::Node | EndpointKind::Server);
            let Endpoint { kind, node, name, type_name, .. } = &end.entity;
            let what = (end.peer.pid(), *kind, node.clone(), name.clone(), type_name.clone());
            !(is_twice && end.is_remote()) || told.insert(what)
        });
        let unread = self.census.as_ref().map(Snapshot::unread).unwrap_or_default();
        let place = self.place.clone();
        Ok(ObservedDomain { at_ns: now_ns(), place, processes, endpoints, unread, reports, carriers })
    }
}

impl ObservedDomain {
    /// Returns all endpoints of one kind.
    pub(crate) fn of(&self, kind: EndpointKind) -> impl Iterator<Item = &ObservedEndpoint> {
        self.endpoints.iter().filter(move |endpoint| endpoint.entity.kind == kind)
    }

    /// Returns the senders and receivers of each topic (or servers and clients of each service), by
    /// its name.
    pub(crate) fn ends(&self, kinds: [EndpointKind; 2]) -> BTreeMap<&str, Ends<'_>> {
        let mut ends = BTreeMap::<&str, Ends<'_>>::new();
        for endpoint in &self.endpoints {
            let Some(side) = kinds.iter().position(|&kind| kind == endpoint.entity.kind) else { continue };
            ends.entry(&endpoint.entity.name).or_default().0[side].push(endpoint);
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
        let mut types: Vec<&str> = all.map(|endpoint| endpoint.entity.type_name.as_str()).collect();
        types.sort_unstable();
        types.dedup();
        types
    }

    /// Returns the number of types; a name with several hashes counts once for each hash.
    pub(crate) fn count_types(&self) -> usize {
        let all = self.0.iter().flatten();
        all.map(|end| (&end.entity.type_name, end.entity.hash)).collect::<BTreeSet<_>>().len()
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

    /// Returns the 16 bytes that identify it, as in `rmw_gid_t`.
    pub(crate) fn gid(&self) -> [u8; 16] {
        gid(self.peer.id(), self.entity.number)
    }
}

/// Returns the 16 bytes of a participant's entity.
pub(crate) fn gid(participant: u64, number: u64) -> [u8; 16] {
    let mut gid = [0; 16];
    gid[..8].copy_from_slice(&participant.to_le_bytes());
    gid[8..].copy_from_slice(&number.to_le_bytes());
    gid
}
