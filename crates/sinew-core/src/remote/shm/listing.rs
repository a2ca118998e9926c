//! The nodes and endpoints of other participants, for programs that look at the graph.

use super::transport::ShmTransport;
use crate::message::Gid;
use crate::ros::origin::Origin;
use crate::ros::qos::QoS;
use crate::topic::endpoint_info::{EndpointInfo, EndpointKind, NodeInfo, Place, Wanted, hash_of};
use sinew_shm::{Endpoint, EndpointKind as ShmKind, Peer};

impl ShmTransport {
    /// Appends the wanted endpoints of other participants. An endpoint of another version of Sinew
    /// is left out: the log says so when it is found.
    pub(crate) fn list(&self, wanted: &Wanted<'_>, into: &mut Vec<EndpointInfo>) {
        let Some(participant) = self.participant() else { return };
        into.extend(participant.others(|peer, endpoint| {
            let kind = match endpoint.kind {
                ShmKind::Publisher => EndpointKind::Publisher,
                ShmKind::Subscription => EndpointKind::Subscription,
                ShmKind::Server => EndpointKind::Server,
                ShmKind::Client => EndpointKind::Client,
                _ => return None,
            };
            if !wanted.is(kind, &endpoint.name, &endpoint.node) {
                return None;
            }
            let (place, origin) = place_of(peer, &endpoint)?;
            let travels = QoS::says_travels(&endpoint.qos);
            let qos = QoS::from_bytes(&endpoint.qos)?;
            let gid = Gid::of_endpoint(peer.id(), endpoint.number);
            let Endpoint { node, name, type_name, hash, .. } = endpoint;
            let type_hash = hash_of(hash);
            Some(EndpointInfo { kind, node, name, type_name, type_hash, qos, gid, place, travels, origin })
        }));
    }

    /// Appends the nodes of other participants.
    pub(crate) fn list_nodes(&self, into: &mut Vec<NodeInfo>) {
        let Some(participant) = self.participant() else { return };
        into.extend(participant.others(|peer, endpoint| {
            let is_node = endpoint.kind == ShmKind::Node;
            let (place, _) = is_node.then(|| place_of(peer, &endpoint)).flatten()?;
            Some(NodeInfo { name: endpoint.node, place })
        }));
    }
}

/// Returns the place and the origin of an endpoint; `None` if lists don't show it.
fn place_of(peer: &Peer, endpoint: &Endpoint) -> Option<(Place, Origin)> {
    let origin = Origin::of(endpoint).filter(|origin| origin.is_shown())?;
    let place = match origin.is_remote() {
        true => Place::Network { gateway: peer.pid() },
        false => Place::Process { pid: peer.pid(), program: peer.program() },
    };
    Some((place, origin))
}
