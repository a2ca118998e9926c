//! From this host to the network: what publishers here publish, while a subscription there matches.
//!
//! # Threads
//!
//! A [`Carrier`] is a subscription whose listener runs on the thread that publishes (in its own
//! process) or on that which receives (from others). That thread puts the message into the session.
//! If the session makes it wait, that thread and all others leave what follows in the carriers'
//! histories, whose depth is the bound, to a thread of the gateway's: see [`Congestion`]. The one
//! wait lasts as long as the link takes for what it has in hand; a link that is dead is given up
//! by zenoh after `transport/link/tx/queue/congestion_control/block/wait_before_close`.

use super::Shared;
use super::observer::Change;
use super::route::Route;
use crate::wire::attachment::{Attachment, Chain};
use bytes::Bytes;
use parking_lot::{Mutex, RwLock};
use sinew::gateway::Origin;
use sinew::msg::{Gid, Sample, SerializedMessage};
use sinew::qos::{Durability, History, Reliability};
use sinew::time::Time;
use sinew::{MessageInfo, QoS, Subscription};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Weak};
use std::time::Duration;
use zenoh::Wait;
use zenoh::bytes::ZBytes;
use zenoh::qos::{CongestionControl, Reliability as ZenohReliability};
use zenoh::sample::Locality;
use zenoh_ext::{AdvancedPublisherBuilderExt, CacheConfig, MissDetectionConfig};

/// Images up to so many bytes are copied for the session: a message in shared memory is to be held
/// for few.
const COPIED: usize = 4096;

/// How often a publisher with late joiners says which its last message was, if it publishes seldom:
/// as rmw_zenoh does.
const HEARTBEAT: Duration = Duration::from_millis(500);

/// Messages that a carrier keeps while the session makes it wait, if its publishers keep all.
const KEPT: usize = 1000;

/// Messages that a carrier keeps at most, however many publishers it has.
pub(super) const MOST_KEPT: usize = 1_000_000;

/// A publisher of this host, as the network sees it.
pub(super) struct LocalPublisher {
    pub(super) qos: QoS,
    /// As in [`MessageInfo::publisher`].
    pub(super) gid: Gid,
    /// As the network knows it.
    pub(super) wire_gid: [u8; 16],
    way: RwLock<Option<Way>>,
    /// Messages that a rate limit left out: for the network they were never there.
    limited: AtomicU64,
    /// The number of the last message that went over. A carrier that takes the place of another one
    /// brings again what is kept.
    last: AtomicU64,
}

/// A publisher's way to the network.
enum Way {
    Volatile(zenoh::pubsub::Publisher<'static>),
    /// Keeps messages for late joiners.
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

    /// From now on it is published there, or no longer.
    pub(super) fn set_carried(&self, shared: &Shared, key: &str, wanted: bool) -> zenoh::Result<()> {
        let is_carried = self.is_carried();
        if wanted == is_carried {
            return Ok(());
        }
        let way = wanted.then(|| Way::open(shared, key, &self.qos)).transpose()?;
        let before = std::mem::replace(&mut *self.way.write(), way);
        drop(before); // undeclared outside the lock
        Ok(())
    }

    /// It is gone.
    pub(super) fn close(&self) {
        let gone = self.way.write().take();
        drop(gone); // undeclared outside the lock
    }

    pub(super) fn is_carried(&self) -> bool {
        self.way.read().is_some()
    }

    /// Publishes a message there.
    fn put(&self, sample: Sample<SerializedMessage>, info: &MessageInfo) -> Option<zenoh::Result<usize>> {
        let way = self.way.read();
        let way = way.as_ref()?;
        // One carrier is there at a time, and one thread carries: nothing rides on the order.
        if self.last.fetch_max(info.publication_sequence(), Ordering::Relaxed) >= info.publication_sequence()
        {
            return None;
        }
        let attachment = Attachment {
            sequence: i64::try_from(info.publication_sequence() - self.limited.load(Ordering::Relaxed))
                .unwrap_or(i64::MAX), // its carrier's thread alone changes the count
            time: info.source_time().nanoseconds(),
            gid: self.wire_gid,
            chain: continued(info),
        };
        let attachment = ZBytes::from(attachment.to_bytes());
        let length = sample.image().len();
        let payload = match length <= COPIED {
            true => ZBytes::from(sample.image()),
            false => ZBytes::from(Bytes::from_owner(HeldImage(sample))),
        };
        let sent = match way {
            Way::Volatile(publisher) => publisher.put(payload).attachment(attachment).wait(),
            Way::TransientLocal(publisher) => publisher.put(payload).attachment(attachment).wait(),
        };
        Some(sent.map(|()| length))
    }
}

/// The chain of a message that wasn't its first.
fn continued(info: &MessageInfo) -> Option<Chain> {
    let lineage = info.lineage();
    let began = lineage.wall();
    (began < info.source_time()).then(|| Chain { began: began.nanoseconds(), id: lineage.id() })
}

/// An image that lies where its publisher put it, until the session has sent it.
struct HeldImage(Sample<SerializedMessage>);

impl AsRef<[u8]> for HeldImage {
    fn as_ref(&self) -> &[u8] {
        self.0.image()
    }
}

impl Way {
    fn open(shared: &Shared, key: &str, qos: &QoS) -> zenoh::Result<Self> {
        let is_reliable = qos.reliability == Reliability::Reliable;
        let reliability = match is_reliable {
            true => ZenohReliability::Reliable,
            false => ZenohReliability::BestEffort,
        };
        // rmw_zenoh drops what a slow link can't take, unless all is to be kept. Here the thread
        // that publishes waits: then the carrier's history decides what is lost, and counts it.
        let congestion = match is_reliable {
            true => CongestionControl::Block,
            false => CongestionControl::Drop,
        };
        let publisher = shared
            .session
            .declare_publisher(key.to_owned())
            .reliability(reliability)
            .congestion_control(congestion)
            .allowed_destination(Locality::Remote);
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

pub(super) fn depth_of(qos: &QoS) -> usize {
    match qos.history {
        History::KeepLast(depth) => depth,
        _ => qos.max_samples.unwrap_or(KEPT),
    }
}

/// What the publishers of a carrier have in common: it asks for as much as they offer, so each
/// gets to the network with all that was promised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct QosClass {
    is_reliable: bool,
    is_transient_local: bool,
    keeps_all: bool,
}

impl QosClass {
    pub(super) fn of(qos: &QoS) -> Self {
        Self {
            is_reliable: qos.reliability == Reliability::Reliable,
            is_transient_local: qos.durability == Durability::TransientLocal,
            keeps_all: !matches!(qos.history, History::KeepLast(_)),
        }
    }

    /// What the carrier asks for.
    fn asked(self, depth: usize) -> QoS {
        let qos = if self.keeps_all { QoS::new().keep_all() } else { QoS::new().keep_last(depth) };
        let qos = if self.is_reliable { qos } else { qos.best_effort() };
        if self.is_transient_local { qos.transient_local() } else { qos }
    }
}

/// A subscription by which messages of a topic go to the network.
pub(super) struct Carrier {
    class: QosClass,
    depth: usize,
    subscription: Subscription<SerializedMessage>,
    route: Arc<Route>,
    shared: Arc<Shared>,
    /// Threads that know of messages which aren't taken yet.
    wanted: AtomicUsize,
    /// The sender knows that there are some.
    is_left: AtomicBool,
    /// The sender brings them over.
    is_sending: AtomicBool,
    held: Mutex<Held>,
}

/// A message whose publisher the gateway's thread doesn't know yet holds up those behind it, which
/// wait, too: a publisher that just came is matched before it is told of.
#[derive(Default)]
struct Held {
    /// Such messages, the oldest first: in the carrier's history they would give way to newer ones.
    waiting: VecDeque<(Sample<SerializedMessage>, MessageInfo)>,
    /// Since when the first one waits.
    since: Option<Time>,
    /// Publishers that didn't become known, the newest last: theirs hold up nothing. They went again
    /// before they were seen, or can't be told to the network.
    strangers: VecDeque<Gid>,
}

/// How long a message is held until its publisher is known.
const ACQUAINTANCE: Duration = Duration::from_millis(500);

/// Messages that wait outside of a carrier's history, at most.
const MOST_WAITING: usize = 256;

/// Publishers that a carrier remembers because they didn't become known.
const MOST_STRANGERS: usize = 64;

/// A put that takes longer has waited for the link.
const PATIENCE: Duration = Duration::from_millis(2);

/// Whether the session makes threads wait that put messages into it, and what is left to the sender
/// then: a thread of the gateway's, which waits in their place.
///
/// Until the sender has brought over all that was left, every carrier leaves its messages to it. So
/// a slow link costs a publisher one wait, and each topic its own oldest messages.
pub(super) struct Congestion {
    left: Sender<Weak<Carrier>>,
    /// How many were left that the sender isn't done with.
    count: AtomicUsize,
}

impl Congestion {
    pub(super) fn new() -> (Self, Receiver<Weak<Carrier>>) {
        let (left, taken) = mpsc::channel();
        (Self { left, count: AtomicUsize::new(0) }, taken)
    }

    fn is_there(&self) -> bool {
        self.count.load(Ordering::Acquire) > 0 // pairs with the end of `send`
    }

    fn leave(&self, carrier: &Arc<Carrier>) {
        // AcqRel, here and in `send`: a message that came before is seen by the sender.
        if carrier.is_left.swap(true, Ordering::AcqRel) {
            return;
        }
        self.count.fetch_add(1, Ordering::AcqRel);
        let _ = self.left.send(Arc::downgrade(carrier)); // the sender is gone only with the gateway
    }

    /// The sender's thread, until no gateway is left.
    pub(super) fn send(congestion: &Weak<super::Shared>, taken: &Receiver<Weak<Carrier>>) {
        while let Ok(left) = taken.recv() {
            let Some(shared) = congestion.upgrade() else { return };
            if let Some(carrier) = left.upgrade() {
                carrier.is_sending.store(true, Ordering::Release); // pairs with `is_idle`, as the next one
                carrier.is_left.store(false, Ordering::Release);
                carrier.carry(true);
                carrier.is_sending.store(false, Ordering::Release);
            }
            shared.congestion.count.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

impl Carrier {
    /// `depth`: those of its publishers together.
    pub(super) fn new(
        shared: &Arc<Shared>,
        route: &Arc<Route>,
        (class, depth): (QosClass, usize),
    ) -> Result<Arc<Self>, sinew::error::CreateError> {
        let node = shared.context.node_of(Origin::Carrier, "/", "_sinew_gateway")?;
        let subscription =
            node.generic_subscription(&route.key.name, route.known).qos(class.asked(depth)).create()?;
        let (route, shared) = (route.clone(), shared.clone());
        let wanted = AtomicUsize::new(0);
        let (is_left, is_sending) = (AtomicBool::new(false), AtomicBool::new(false));
        let held = Mutex::default();
        let carrier =
            Arc::new(Self { class, depth, subscription, route, shared, wanted, is_left, is_sending, held });
        let listening: Weak<Self> = Arc::downgrade(&carrier);
        carrier.subscription.set_listener(move |_| {
            if let Some(carrier) = listening.upgrade() {
                carrier.heard();
            }
        });
        Ok(carrier)
    }

    /// Something has come, or a publisher is known.
    pub(super) fn heard(self: &Arc<Self>) {
        match self.shared.congestion.is_there() {
            true => self.shared.congestion.leave(self),
            false => self.carry(false),
        }
    }

    /// Brings what has come to the network: one thread at a time. A thread of the program's leaves
    /// the rest to the sender if the session makes it wait.
    pub(super) fn carry(self: &Arc<Self>, is_sender: bool) {
        // AcqRel: what a thread has seen that leaves it to another one, that one sees.
        if self.wanted.fetch_add(1, Ordering::AcqRel) > 0 {
            return;
        }
        let mut seen = 1;
        loop {
            while let Some((publisher, sample, info)) = self.next() {
                let begin = Time::steady();
                self.put(&publisher, sample, &info);
                let is_slow = Time::steady() - begin > PATIENCE;
                if is_slow && !is_sender {
                    self.wanted.store(0, Ordering::Release); // as above
                    return self.shared.congestion.leave(self);
                }
            }
            let before = self.wanted.fetch_sub(seen, Ordering::AcqRel);
            if before == seen {
                return;
            }
            seen = before - seen;
        }
    }

    /// Whether all that has come so far is in the session. Brings over what no thread does yet.
    pub(super) fn is_idle(self: &Arc<Self>) -> bool {
        self.heard();
        // Acquire, in this order: what was left is seen where it was left, or with the sender, who
        // takes it up before it is no longer left.
        let is_left = self.is_left.load(Ordering::Acquire) || self.is_sending.load(Ordering::Acquire);
        !is_left && self.wanted.load(Ordering::Acquire) == 0 && self.held.lock().waiting.is_empty()
    }

    /// The next message, and its publisher. `None` also if that isn't known yet.
    fn next(self: &Arc<Self>) -> Option<(Arc<LocalPublisher>, Sample<SerializedMessage>, MessageInfo)> {
        let mut held = self.held.lock();
        if held.since.is_some() {
            while held.waiting.len() < MOST_WAITING
                && let Some(next) = self.subscription.take_sample()
            {
                held.waiting.push_back(next);
            }
        }
        loop {
            let (sample, info) = held.waiting.pop_front().or_else(|| self.subscription.take_sample())?;
            let gid = info.publisher();
            if let Some(publisher) = self.route.local_publisher(gid) {
                held.since = None;
                return Some((publisher, sample, info));
            }
            if held.strangers.contains(&gid) {
                self.route.counters.unsent(1);
                continue;
            }
            let now = Time::steady();
            let since = held.since;
            if now - since.unwrap_or(now) < ACQUAINTANCE {
                held.waiting.push_front((sample, info));
                if since.is_none() {
                    held.since = Some(now);
                    self.look_again(now + ACQUAINTANCE);
                }
                return None;
            }
            held.since = None;
            if held.strangers.len() == MOST_STRANGERS {
                held.strangers.pop_front();
            }
            held.strangers.push_back(gid);
            self.route.counters.unsent(1);
        }
    }

    /// Goes on then, if nothing else has it go on before.
    fn look_again(self: &Arc<Self>, at: Time) {
        let carrier = Arc::downgrade(self);
        let again = move || {
            if let Some(carrier) = carrier.upgrade() {
                carrier.heard();
            }
        };
        self.shared.tell(Change::Later(at, Box::new(again)));
    }

    fn put(&self, publisher: &LocalPublisher, sample: Sample<SerializedMessage>, info: &MessageInfo) {
        // A publisher that offers more than this carrier asks for has another one.
        if QosClass::of(&publisher.qos) != self.class {
            return;
        }
        if !self.route.passes() {
            publisher.limited.fetch_add(1, Ordering::Relaxed); // as in `LocalPublisher::put`
            return;
        }
        let counters = &self.route.counters;
        match publisher.put(sample, info) {
            Some(Ok(length)) => counters.sent(length),
            Some(Err(error)) => {
                counters.unsent(1);
                self.shared.says_once("put", || {
                    format!("a message on {} was not sent: {error}", self.route.key.name)
                });
            }
            None => {}
        }
    }

    /// No message is taken any more.
    pub(super) fn close(&self) {
        self.subscription.clear_listener();
        self.subscription.clone().close();
    }

    /// Whether what so many messages keep finds room in it. (Others come one after the other.)
    pub(super) fn has_room(&self, depth: usize) -> bool {
        !self.class.is_transient_local || depth <= self.depth
    }

    /// Messages that gave way to newer ones before the session took them.
    pub(super) fn overwritten(&self) -> u64 {
        self.subscription.statistics().overwritten
    }
}
