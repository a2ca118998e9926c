//! What is known about a message.

use crate::structure::Structure;
use crate::time::{nanoseconds, sinew_duration, sinew_time};
use sinew::MessageInfo;
use sinew::msg::{Gid, Transport};
use std::ffi::c_int;

/// An identity, unique among all participants: ROS 2's `rmw_gid_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_gid {
    /// The bytes.
    pub bytes: [u8; 16],
}

impl From<Gid> for sinew_gid {
    fn from(gid: Gid) -> Self {
        Self { bytes: gid.0 }
    }
}

/// The transport that brought a message to its subscription: `SINEW_TRANSPORT_..`.
pub type sinew_transport = c_int;

/// Inside the process.
pub const SINEW_TRANSPORT_INTRA: sinew_transport = 1;
/// Between processes of one host, through shared memory.
pub const SINEW_TRANSPORT_SHM: sinew_transport = 2;
/// From another host, through a gateway.
pub const SINEW_TRANSPORT_NETWORK: sinew_transport = 3;

/// What is known about a message.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_message_info {
    /// `sizeof(struct sinew_message_info)`.
    pub size: usize,
    /// The wall time of its publication.
    pub source_time: sinew_time,
    /// The wall time at which it was taken from the subscription's buffer.
    pub reception_time: sinew_time,
    /// Its number among its publisher's messages, from 1. Gaps are messages that this subscription
    /// never got, or lost to newer ones.
    pub publication_sequence: u64,
    /// Its number among those that reached this subscription's buffer, from 1.
    pub reception_sequence: u64,
    /// The time from publication to reception; for a message from another host, from its arrival at
    /// this one.
    pub latency: sinew_duration,
    /// The time from the publication of the first message of the chain that led to this one. A
    /// message that is published in a subscription's callback continues the chain of the callback's
    /// message.
    pub chain_latency: sinew_duration,
    /// The number of the chain's first message, unique among those of one participant.
    pub chain: u64,
    /// Its publisher.
    pub publisher: sinew_gid,
    /// The transport that brought it.
    pub transport: sinew_transport,
}

// SAFETY: C's layout, beginning with the size; all fields are numbers.
unsafe impl Structure for sinew_message_info {
    const NAME: &str = "sinew_message_info";
}

impl From<&MessageInfo> for sinew_message_info {
    fn from(info: &MessageInfo) -> Self {
        Self {
            size: size_of::<Self>(),
            source_time: info.source_time().nanoseconds(),
            reception_time: info.reception_time().nanoseconds(),
            publication_sequence: info.publication_sequence(),
            reception_sequence: info.reception_sequence(),
            latency: nanoseconds(info.latency()),
            chain_latency: nanoseconds(info.chain_latency()),
            chain: info.lineage().id(),
            publisher: info.publisher().into(),
            transport: match info.transport() {
                Transport::Intra => SINEW_TRANSPORT_INTRA,
                Transport::Shm => SINEW_TRANSPORT_SHM,
                _ => SINEW_TRANSPORT_NETWORK,
            },
        }
    }
}
