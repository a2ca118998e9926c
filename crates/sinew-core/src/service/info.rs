//! Metadata of a request.

use crate::message::info::Publication;
use crate::message::{ChainGuard, Gid, Lineage, MessageInfo};
use crate::sys::clock::{Clock, Time};
use std::time::Duration;

/// Identifies a request that was taken: the client, and the request's number at this client. ROS 2:
/// `rmw_request_id_t`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RequestKey {
    /// The client that sent the request.
    pub client: Gid,
    /// The request's number among those of its client, from 1.
    pub sequence: u64,
}

/// Metadata of a request, for a server's callback. ROS 2: `rmw_service_info_t`.
///
/// Times are computed on request. The client and the number together identify the request.
#[derive(Debug, Clone)]
pub struct RequestInfo(MessageInfo);

impl RequestInfo {
    pub(crate) fn new(publication: Publication, participant: u64, clock: &Clock) -> Self {
        Self(MessageInfo::new(publication, publication.sequence, participant, clock))
    }

    /// Returns the client that sent the request.
    pub fn client(&self) -> Gid {
        self.0.publisher()
    }

    /// Returns the request's number among those of its client, from 1.
    pub fn sequence(&self) -> u64 {
        self.0.publication_sequence()
    }

    /// Returns client and number, with which a [`PulledServer`](crate::service::PulledServer)
    /// answers the request.
    pub fn key(&self) -> RequestKey {
        RequestKey { client: self.client(), sequence: self.sequence() }
    }

    /// Returns the wall time of the call.
    pub fn source_time(&self) -> Time {
        self.0.source_time()
    }

    /// Returns the wall time at which the server took the request.
    pub fn reception_time(&self) -> Time {
        self.0.reception_time()
    }

    /// Returns the time from the call to its reception.
    pub fn latency(&self) -> Duration {
        self.0.latency()
    }

    /// Returns the origin of the chain that led to this request.
    pub fn lineage(&self) -> Lineage {
        self.0.lineage()
    }

    /// Returns the time from the beginning of the chain to the reception of this request.
    pub fn chain_latency(&self) -> Duration {
        self.0.chain_latency()
    }

    /// Continues this request's chain: while the returned scope lives, this thread's messages and
    /// calls belong to the chain, as they do in the callback. For answers that are computed on
    /// another thread.
    pub fn continue_chain(&self) -> ChainGuard {
        self.0.continue_chain()
    }
}
