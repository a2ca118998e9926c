//! What is known about a request besides its content.

use crate::message::info::Publication;
use crate::message::{ChainGuard, Gid, Lineage, MessageInfo};
use crate::sys::clock::{Clock, Time};
use std::time::Duration;

/// What a server's callback may ask about a request. ROS 2: `rmw_service_info_t`.
///
/// Times are computed when they are asked for. Together, the client and the number identify the
/// request.
#[derive(Debug, Clone)]
pub struct RequestInfo(MessageInfo);

impl RequestInfo {
    pub(crate) fn new(publication: Publication, participant: u64, clock: &Clock) -> Self {
        Self(MessageInfo::new(publication, publication.sequence, participant, clock))
    }

    /// Who asks.
    pub fn client(&self) -> Gid {
        self.0.publisher()
    }

    /// The number of the request among those of its client, from 1.
    pub fn sequence(&self) -> u64 {
        self.0.publication_sequence()
    }

    /// Wall time of the call.
    pub fn source_time(&self) -> Time {
        self.0.source_time()
    }

    /// Wall time at which the server took the request.
    pub fn reception_time(&self) -> Time {
        self.0.reception_time()
    }

    /// From the call to its reception.
    pub fn latency(&self) -> Duration {
        self.0.latency()
    }

    /// Where the chain that led to this request began.
    pub fn lineage(&self) -> Lineage {
        self.0.lineage()
    }

    /// From the beginning of the chain to the reception of this request.
    pub fn chain_latency(&self) -> Duration {
        self.0.chain_latency()
    }

    /// While the returned scope lives, what this thread publishes and calls continues this
    /// request's chain, as it does in the callback: for answers that are worked out elsewhere.
    pub fn continue_chain(&self) -> ChainGuard {
        self.0.continue_chain()
    }
}
