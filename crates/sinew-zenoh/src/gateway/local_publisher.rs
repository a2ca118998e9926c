//! A publisher of this host, and its path to the network.

use super::priority::LIGHT;
use super::qos_class::depth_of;
use super::route::Route;
use super::shared::Shared;
use crate::wire::attachment::{Attachment, Chain};
use bytes::Bytes;
use sinew::__private::locks::RwLock;
use sinew::msg::{Gid, Sample, SerializedMessage};
use sinew::qos::{Durability, Reliability};
use sinew::{MessageInfo, QoS};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use zenoh::Wait;
use zenoh::bytes::ZBytes;
use zenoh::qos::{CongestionControl, Reliability as ZenohReliability};
use zenoh::sample::Locality;
use zenoh_ext::{AdvancedPublisherBuilderExt, CacheConfig, MissDetectionConfig};

/// Largest message, in bytes, that is copied for the session, so that only few messages are held in
/// shared memory.
const COPIED: usize = 4096;

/// Period at which a publisher with late joiners announces its last message if it publishes seldom;
/// the value is rmw_zenoh's.
const HEARTBEAT: Duration = Duration::from_millis(500);

/// A publisher of this host, and its representation on the network.
pub(super) struct LocalPublisher {
    pub(super) qos: QoS,
    /// As in [`MessageInfo::publisher`].
    pub(super) gid: Gid,
    /// Its gid on the network.
    pub(super) wire_gid: [u8; 16],
    /// A thread uses it without the lock: a put may wait for the link, and the gateway's thread
    /// must not wait for that. So its last user undeclares it.
    way: RwLock<Option<Arc<Way>>>,
    /// Number of messages that a rate limit dropped: on the network they never existed.
    limited: AtomicU64,
    /// Number of the last message that was sent, or dropped by the limit. A carrier that replaces
    /// another one delivers retained messages again.
    last: AtomicU64,
}

/// A publisher's path to the network.
enum Way {
    /// For a topic of few bytes.
    Light(zenoh::pubsub::Publisher<'static>),
    Volatile(zenoh::pubsub::Publisher<'static>),
    /// Retains messages for late joiners.
    TransientLocal(zenoh_ext::AdvancedPublisher<'static>),
}

impl LocalPublisher {
    pub(super) fn new(qos: QoS, gid: Gid, wire_gid: [u8; 16]) -> Arc<Self> {
        Arc::new(Self {
            qos,
            gid,
            wire_gid,
            way: RwLock::new(None),
            limited: AtomicU64::new(0),
            last: AtomicU64::new(0),
        })
    }

    /// Starts or ends publishing on the network.
    pub(super) fn set_carried(&self, shared: &Shared, route: &Route, wanted: bool) -> zenoh::Result<()> {
        let is_carried = self.is_carried();
        if wanted == is_carried {
            return Ok(());
        }
        let way = wanted.then(|| Way::open(shared, route, &self.qos)).transpose()?.map(Arc::new);
        let before = std::mem::replace(&mut *self.way.write(), way);
        drop(before); // undeclared outside the lock
        Ok(())
    }

    /// Closes the publisher, which is gone.
    pub(super) fn close(&self) {
        let gone = self.way.write().take();
        drop(gone); // undeclared outside the lock
    }

    pub(super) fn is_carried(&self) -> bool {
        self.way.read().is_some()
    }

    /// Its topic has become heavy, with the message that follows.
    pub(super) fn grow_heavy(&self, shared: &Shared, route: &Route) -> zenoh::Result<()> {
        let is_light = |way: &Arc<Way>| matches!(**way, Way::Light(_));
        if !self.way.read().as_ref().is_some_and(is_light) {
            return Ok(());
        }
        let heavy = Arc::new(Way::open(shared, route, &self.qos)?);
        let mut way = self.way.write();
        // Another thread may have closed it meanwhile.
        let light = way.take_if(|way| is_light(way));
        if light.is_some() {
            *way = Some(heavy);
        }
        drop(way);
        drop(light); // undeclared outside the lock
        Ok(())
    }

    /// Returns `true` if a message was sent or dropped by a rate limit, or was displaced by one
    /// that was.
    pub(super) fn has_put(&self, info: &MessageInfo) -> bool {
        // Relaxed: a message that is being sent meanwhile is skipped when it would be sent again.
        self.last.load(Ordering::Relaxed) >= info.publication_sequence()
    }

    /// Records that a rate limit dropped the message with that number.
    pub(super) fn limit(&self, sequence: u64) {
        if self.begins(sequence) {
            self.limited.fetch_add(1, Ordering::Relaxed); // only its carrier's thread changes it
        }
    }

    /// Makes a message the last one. Returns `false` if it, or a later one, has been.
    fn begins(&self, sequence: u64) -> bool {
        // There is one carrier at a time, and one thread carries: nothing depends on the order.
        self.last.fetch_max(sequence, Ordering::Relaxed) < sequence
    }

    /// Returns a message's number on the network.
    fn wire_sequence(&self, sequence: u64) -> i64 {
        let sequence = sequence.saturating_sub(self.limited.load(Ordering::Relaxed)); // as in `limit`
        i64::try_from(sequence).unwrap_or(i64::MAX)
    }

    /// Publishes a message on the network.
    pub(super) fn put(
        &self,
        sample: Sample<SerializedMessage>,
        info: &MessageInfo,
    ) -> Option<zenoh::Result<usize>> {
        let way = self.way.read().clone()?;
        if !self.begins(info.publication_sequence()) {
            return None;
        }
        let attachment = Attachment {
            sequence: self.wire_sequence(info.publication_sequence()),
            time: info.source_time().nanoseconds(),
            gid: self.wire_gid,
            chain: continued(info),
        };
        let attachment = ZBytes::from(attachment.to_bytes());
        let length = sample.bytes().len();
        let payload = match length <= COPIED {
            true => ZBytes::from(sample.bytes()),
            false => ZBytes::from(Bytes::from_owner(HeldBytes(sample))),
        };
        let sent = match &*way {
            Way::Light(publisher) | Way::Volatile(publisher) => {
                publisher.put(payload).attachment(attachment).wait()
            }
            Way::TransientLocal(publisher) => publisher.put(payload).attachment(attachment).wait(),
        };
        Some(sent.map(|()| length))
    }
}

/// Returns the chain of a message, unless it is the chain's first message.
fn continued(info: &MessageInfo) -> Option<Chain> {
    let lineage = info.lineage();
    let began = lineage.wall();
    (began < info.source_time()).then(|| Chain { began: began.nanoseconds(), id: lineage.id() })
}

/// An encoded message that stays where its publisher put it, until the session has sent it.
struct HeldBytes(Sample<SerializedMessage>);

impl AsRef<[u8]> for HeldBytes {
    fn as_ref(&self) -> &[u8] {
        self.0.bytes()
    }
}

impl Way {
    fn open(shared: &Shared, route: &Route, qos: &QoS) -> zenoh::Result<Self> {
        let is_reliable = qos.reliability == Reliability::Reliable;
        let reliability = match is_reliable {
            true => ZenohReliability::Reliable,
            false => ZenohReliability::BestEffort,
        };
        // rmw_zenoh drops messages that a slow link can't take, except for keep_all. Here the
        // publishing thread waits: then the carrier's history decides which messages are lost, and
        // counts them.
        let congestion = match is_reliable {
            true => CongestionControl::Block,
            false => CongestionControl::Drop,
        };
        let publisher = shared
            .session
            .declare_publisher(route.wire_key.clone())
            .reliability(reliability)
            .congestion_control(congestion)
            .allowed_destination(Locality::Remote);
        if !route.is_heavy() {
            return Ok(Self::Light(publisher.priority(LIGHT).wait()?));
        }
        if qos.durability == Durability::Volatile {
            return Ok(Self::Volatile(publisher.wait()?));
        }
        let kept = CacheConfig::default().max_samples(depth_of(qos));
        let publisher = publisher.cache(kept).publisher_detection();
        let publisher = match is_reliable {
            true => publisher
                .sample_miss_detection(MissDetectionConfig::default().sporadic_heartbeat(HEARTBEAT))
                .wait()?,
            false => publisher.wait()?,
        };
        Ok(Self::TransientLocal(publisher))
    }
}

/// A topic's publishers of this host.
#[derive(Default)]
pub(super) struct LocalPublishers(RwLock<HashMap<Gid, Arc<LocalPublisher>>>);

impl LocalPublishers {
    pub(super) fn with(&self, gid: Gid) -> Option<Arc<LocalPublisher>> {
        self.0.read().get(&gid).cloned()
    }

    pub(super) fn replace(&self, all: HashMap<Gid, Arc<LocalPublisher>>) {
        *self.0.write() = all;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limited_message_that_comes_again_changes_no_number() {
        let publisher = LocalPublisher::new(QoS::new(), Gid([0; 16]), [0; 16]);
        assert!(publisher.begins(1));
        assert_eq!(publisher.wire_sequence(1), 1);
        for _ in 0..3 {
            (2..=4).for_each(|sequence| publisher.limit(sequence));
        }
        assert!(!publisher.begins(1) && !publisher.begins(4), "they have been");
        assert!(publisher.begins(5));
        assert_eq!(publisher.wire_sequence(5), 2);
        publisher.limit(3);
        assert!(publisher.begins(6));
        assert_eq!(publisher.wire_sequence(6), 3, "they go on growing");
    }
}
