//! The data that participants publish of an entity besides names: its QoS in 64 bytes, and whether
//! its type can leave the process.
//!
//! | bytes | field |
//! |---|---|
//! | 0 | version of this table: 1 |
//! | 1 | history: 0 keep_last, 1 keep_all |
//! | 2 | reliability: 0 best effort, 1 reliable |
//! | 3 | durability: 0 volatile, 1 transient local |
//! | 4 | liveliness: 0 automatic, 1 manual by topic |
//! | 5 | 1 if values of the type can be encoded, so that they can leave the process |
//! | 6 | origin: 0 here, 1 network, 2 listed only, 3 a carrier; 4, 5: as 1, 2 with any QoS |
//! | 8.. | depth, u64 |
//! | 16.. | deadline in ns, u64; `u64::MAX` for none; and so for the next two |
//! | 24.. | lifespan |
//! | 32.. | liveliness lease |
//! | 40.. | `max_samples`, u64; 0 for the default |
//! | 48.. | `max_blocking_time` in ns |
//! | 56.. | clock of the signs of life, u64: 0 the machine's, otherwise a virtual clock's random number |

use crate::ros::origin::Origin;
use crate::ros::qos::{Durability, History, Liveliness, QoS, Reliability};
use crate::topic::remote_endpoint::RemoteEndpoint;
use sinew_shm::{Domain, Endpoint, Peer};
use std::time::Duration;

const VERSION: u8 = 1;

impl QoS {
    /// Returns the QoS in the form in which participants publish it, in an
    /// [`Endpoint`](sinew_shm::Endpoint). `travels`: whether the type can leave its process. For
    /// tools that take part without this crate's nodes.
    pub fn to_bytes(self, travels: bool) -> [u8; 64] {
        let mut bytes = [0; 64];
        let (history, depth) = match self.history {
            History::KeepLast(depth) => (0, depth),
            History::KeepAll => (1, 0),
        };
        bytes[0] = VERSION;
        bytes[1] = history;
        bytes[2] = u8::from(self.reliability == Reliability::Reliable);
        bytes[3] = u8::from(self.durability == Durability::TransientLocal);
        bytes[4] = u8::from(self.liveliness == Liveliness::ManualByTopic);
        bytes[5] = u8::from(travels);
        let nanoseconds = |duration: Duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        let limit = |duration: Option<Duration>| duration.map_or(u64::MAX, nanoseconds);
        let words = [
            depth as u64,
            limit(self.deadline),
            limit(self.lifespan),
            limit(self.lease),
            self.max_samples.unwrap_or(0) as u64,
            nanoseconds(self.max_blocking_time),
        ];
        for (place, word) in bytes[8..].as_chunks_mut::<8>().0.iter_mut().zip(words) {
            *place = word.to_le_bytes();
        }
        bytes
    }

    /// Whether bytes from [`to_bytes`](Self::to_bytes) say that the type can leave its process.
    pub(crate) fn says_travels(bytes: &[u8; 64]) -> bool {
        bytes[5] == 1
    }

    /// Returns the QoS that a participant publishes in an [`Endpoint`](sinew_shm::Endpoint); `None`
    /// if the bytes are invalid.
    ///
    /// ```
    /// assert_eq!(sinew::QoS::from_bytes(&[0; 64]), None);
    /// ```
    pub fn from_bytes(bytes: &[u8; 64]) -> Option<Self> {
        if bytes[0] != VERSION || bytes[1..6].iter().any(|&flag| flag > 1) {
            return None;
        }
        let word = |index: usize| {
            let word = bytes[8..].as_chunks::<8>().0.get(index).copied().unwrap_or_default();
            u64::from_le_bytes(word)
        };
        let limit = |word: u64| (word != u64::MAX).then(|| Duration::from_nanos(word));
        let size = |word: u64| usize::try_from(word).ok();
        let history = if bytes[1] == 0 { History::KeepLast(size(word(0))?) } else { History::KeepAll };
        let mut qos = Self::new();
        qos.history = history;
        qos.reliability = if bytes[2] == 1 { Reliability::Reliable } else { Reliability::BestEffort };
        qos.durability = if bytes[3] == 1 { Durability::TransientLocal } else { Durability::Volatile };
        qos.deadline = limit(word(1));
        qos.lifespan = limit(word(2));
        qos.liveliness = if bytes[4] == 1 { Liveliness::ManualByTopic } else { Liveliness::Automatic };
        qos.lease = limit(word(3));
        qos.max_samples = size(word(4)).filter(|&samples| samples > 0);
        qos.max_blocking_time = Duration::from_nanos(word(5));
        Some(qos)
    }
}

impl Origin {
    /// Writes the origin into the bytes of a [QoS](QoS::to_bytes), in an
    /// [`Endpoint`](sinew_shm::Endpoint). For gateways that advertise an endpoint without this
    /// crate's nodes.
    pub fn write_to(self, bytes: &mut [u8; 64]) {
        bytes[6] = self.to_byte();
    }

    /// Returns the origin that a participant publishes in an [`Endpoint`](sinew_shm::Endpoint);
    /// `None` if it is of another version of Sinew.
    #[doc(hidden)] // for the command and the gateway: it changes with `sinew_shm`
    pub fn of(endpoint: &Endpoint) -> Option<Self> {
        Self::from_byte(endpoint.qos[6])
    }
}

/// The word of the bytes that is the number of the clock.
const CLOCK: usize = 7;

/// Writes the number of a participant's clock into the bytes of a QoS.
pub(super) fn write_clock(clock: u64, bytes: &mut [u8; 64]) {
    bytes.as_chunks_mut::<8>().0[CLOCK] = clock.to_le_bytes();
}

/// Returns the number of the clock of which an endpoint's signs of life are times.
pub(super) fn clock_of(endpoint: &Endpoint) -> u64 {
    u64::from_le_bytes(endpoint.qos.as_chunks::<8>().0[CLOCK])
}

impl RemoteEndpoint {
    /// Returns the description that `entity` of `peer` publishes of itself; `None` if it is
    /// invalid. `domain`: the domain of both.
    pub(crate) fn of(entity: &Endpoint, peer: &Peer, domain: &Domain) -> Option<Self> {
        Some(Self {
            topic: entity.name.clone(),
            node: entity.node.clone(),
            process: format!("process {} ({})", peer.pid(), peer.program()),
            type_name: entity.type_name.clone(),
            hash: entity.hash,
            travels: QoS::says_travels(&entity.qos),
            qos: QoS::from_bytes(&entity.qos)?,
            origin: Origin::of(entity)?,
            number: entity.number,
            domain: Some(domain.clone()),
        })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bytes_tell_the_whole_qos(
            keep_all: bool, depth in 1usize..1000, flags: [bool; 4], limits: [Option<u32>; 3], samples in 0usize..9,
        ) {
            let mut qos = QoS::new();
            qos.history = if keep_all { History::KeepAll } else { History::KeepLast(depth) };
            if flags[0] { qos = qos.best_effort(); }
            if flags[1] { qos = qos.transient_local(); }
            if flags[2] { qos = qos.liveliness(Liveliness::ManualByTopic); }
            let [deadline, lifespan, lease] = limits.map(|limit| limit.map(|ns| Duration::from_nanos(ns.into())));
            (qos.deadline, qos.lifespan, qos.lease) = (deadline, lifespan, lease);
            qos.max_samples = (samples > 0).then_some(samples);
            prop_assert_eq!(QoS::from_bytes(&qos.to_bytes(flags[3])), Some(qos));
        }

        #[test]
        fn any_bytes_are_understood_or_refused(bytes: [[u8; 32]; 2]) {
            let mut all = [0; 64];
            all[..32].copy_from_slice(&bytes[0]);
            all[32..].copy_from_slice(&bytes[1]);
            let _ = QoS::from_bytes(&all);
        }
    }
}
