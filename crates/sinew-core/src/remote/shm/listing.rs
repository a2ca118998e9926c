//! The nodes and endpoints of other participants, for programs that look at the graph.

use super::transport::ShmTransport;
use crate::message::Gid;
use crate::ros::origin::Origin;
use crate::ros::qos::QoS;
use crate::topic::endpoint_info::{EndpointInfo, EndpointKind, NodeInfo, Place, Wanted, hash_of};
use sinew_shm::{Domain, Endpoint, EndpointKind as ShmKind, Peer};
use std::fmt;

impl ShmTransport {
    /// Appends the wanted endpoints of other participants. An endpoint of another version of Sinew
    /// is left out: the log says so when it is found.
    pub(crate) fn list(&self, wanted: &Wanted<'_>, into: &mut Vec<EndpointInfo>) {
        let Some(participant) = self.participant() else { return };
        into.extend(participant.others(|peer, record| {
            let is_wanted = kind_of(&record).is_some_and(|kind| wanted.is(kind, &record.name, &record.node));
            is_wanted.then(|| EndpointInfo::of_record(peer, record, self.domain()).ok().flatten())?
        }));
    }

    /// Appends the nodes of other participants.
    pub(crate) fn list_nodes(&self, into: &mut Vec<NodeInfo>) {
        let Some(participant) = self.participant() else { return };
        into.extend(participant.others(|peer, record| NodeInfo::of_record(peer, record)));
    }
}

/// An endpoint's QoS or origin is of another version of Sinew.
#[doc(hidden)] // for the command: it changes with `sinew_shm`
#[derive(Debug)]
pub struct UnknownRecord {
    node: String,
    name: String,
}

impl fmt::Display for UnknownRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} announces one on {} that this version of Sinew can't read", self.node, self.name)
    }
}

impl EndpointInfo {
    /// Returns the endpoint that a participant has announced by this record; `None` if lists don't
    /// show it, and for records of other kinds. `domain`: the participant's, which keeps the
    /// descriptions of types.
    #[doc(hidden)] // for the command: it changes with `sinew_shm`
    pub fn of_record(
        peer: &Peer,
        record: Endpoint,
        domain: &Domain,
    ) -> Result<Option<Self>, Box<UnknownRecord>> {
        let Some(kind) = kind_of(&record) else { return Ok(None) };
        let Some((origin, qos)) = Origin::of(&record).zip(QoS::from_bytes(&record.qos)) else {
            let Endpoint { node, name, .. } = record;
            return Err(Box::new(UnknownRecord { node, name }));
        };
        let travels = leaves_process(&record);
        let Endpoint { number, node, name, type_name, hash, .. } = record;
        Ok(origin.is_shown().then(|| Self {
            kind,
            node,
            name,
            type_name,
            type_hash: hash_of(hash),
            qos,
            gid: Gid::of_endpoint(peer.id(), number),
            place: place_of(peer, origin),
            travels,
            origin,
            domain: Some(domain.clone()),
        }))
    }
}

impl NodeInfo {
    /// Returns the node that a participant has announced by this record; `None` if lists don't show
    /// it, and for records of other kinds.
    #[doc(hidden)] // for the command: it changes with `sinew_shm`
    pub fn of_record(peer: &Peer, record: Endpoint) -> Option<Self> {
        let origin = Origin::of(&record).filter(|origin| origin.is_shown())?;
        (record.kind == ShmKind::Node).then(|| Self { name: record.node, place: place_of(peer, origin) })
    }
}

/// Returns `true` if values of the type of an endpoint with this record can leave its process.
#[doc(hidden)] // for the command and the gateway: it changes with `sinew_shm`
pub fn leaves_process(record: &Endpoint) -> bool {
    QoS::says_travels(&record.qos)
}

fn kind_of(record: &Endpoint) -> Option<EndpointKind> {
    match record.kind {
        ShmKind::Publisher => Some(EndpointKind::Publisher),
        ShmKind::Subscription => Some(EndpointKind::Subscription),
        ShmKind::Server => Some(EndpointKind::Server),
        ShmKind::Client => Some(EndpointKind::Client),
        _ => None,
    }
}

fn place_of(peer: &Peer, origin: Origin) -> Place {
    match origin.is_remote() {
        true => Place::Network { gateway: peer.pid(), program: peer.program() },
        false => Place::Process { pid: peer.pid(), program: peer.program() },
    }
}
