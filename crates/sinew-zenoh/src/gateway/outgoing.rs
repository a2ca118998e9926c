//! From this host to the network: messages of local publishers, while a remote subscription
//! matches.
//!
//! # Threads
//!
//! A [`Carrier`] is a subscription with a listener that runs on the publishing thread (in its own
//! process) or on the receiving thread (for other processes). That thread puts the message into the
//! session. If the session makes it wait, that thread and all others leave later messages to a
//! thread of the gateway (see [`Congestion`]); they wait in the carriers' histories, with their
//! depth as the bound. The single wait lasts as long as the link needs for the data in hand; zenoh
//! gives up a dead link after `transport/link/tx/queue/congestion_control/block/wait_before_close`.
//! Large messages are left to the gateway's thread at once.
//!
//! # A slow link
//!
//! A session has a queue for each of zenoh's priorities, and a put waits until its message is in
//! the queue: 120 KB take a link of 200 kB/s more than half a second, during which all other puts
//! of that priority wait as well. So topics of few bytes ([`Allowance`]) have a priority of their
//! own, above the others: their messages go between two pieces of a large message, and no thread
//! waits for them. A topic that sends more is *heavy* from then on, as is one with several slow
//! puts in a row. (A single slow put says little: the machine may be busy.) If the link doesn't
//! take everything, heavy topics share it by [turns](super::turns).
//!
//! All publishers of a topic have one priority, and it changes at most once, downwards: messages
//! that were published before go first. It never changes back: a message of the higher priority
//! would overtake earlier ones, which may wait in the session's or a router's queues for as long as
//! the link takes, and nothing reports when the last one has gone. Subscriptions would drop the
//! overtaken messages as old.

use super::change::Change;
use super::route::Route;
use super::shared::Shared;
use super::turns::{OVERHEAD, Turns};
use crate::wire::attachment::{Attachment, Chain};
use bytes::Bytes;
use sinew::__private::locks::{Mutex, RwLock};
use sinew::gateway::Origin;
use sinew::msg::{Gid, Sample, SerializedMessage};
use sinew::qos::{Durability, History, Reliability};
use sinew::time::Time;
use sinew::{MessageInfo, QoS, Subscription};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Weak};
use std::time::Duration;
use zenoh::Wait;
use zenoh::bytes::ZBytes;
use zenoh::qos::{CongestionControl, Priority, Reliability as ZenohReliability};
use zenoh::sample::Locality;
use zenoh_ext::{AdvancedPublisherBuilderExt, CacheConfig, MissDetectionConfig};

/// Largest message, in bytes, that is copied for the session, so that only few messages are held in
/// shared memory.
const COPIED: usize = 4096;

/// Period at which a publisher with late joiners announces its last message if it publishes seldom;
/// the value is rmw_zenoh's.
const HEARTBEAT: Duration = Duration::from_millis(500);

/// Number of messages that a carrier of keep_all publishers keeps while the session makes it wait.
const KEPT: usize = 1000;

/// Most messages that a carrier keeps, however many publishers it has.
pub(super) const MOST_KEPT: usize = 1_000_000;

/// A publisher of this host, and its representation on the network.
pub(super) struct LocalPublisher {
    pub(super) qos: QoS,
    /// As in [`MessageInfo::publisher`].
    pub(super) gid: Gid,
    /// Its gid on the network.
    pub(super) wire_gid: [u8; 16],
    way: RwLock<Option<Way>>,
    /// Number of messages that a rate limit dropped: on the network they never existed.
    limited: AtomicU64,
    /// Number of the last message that was sent. A carrier that replaces another one delivers
    /// retained messages again.
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
        let way = wanted.then(|| Way::open(shared, route, &self.qos)).transpose()?;
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
    fn grow_heavy(&self, shared: &Shared, route: &Route) -> zenoh::Result<()> {
        if !matches!(&*self.way.read(), Some(Way::Light(_))) {
            return Ok(());
        }
        let heavy = Way::open(shared, route, &self.qos)?;
        let mut way = self.way.write();
        // Another thread may have closed it meanwhile.
        let light = way.take_if(|way| matches!(way, Way::Light(_)));
        if light.is_some() {
            *way = Some(heavy);
        }
        drop(way);
        drop(light); // undeclared outside the lock
        Ok(())
    }

    /// Returns `true` if a message was sent, or was displaced by one that was.
    fn has_put(&self, info: &MessageInfo) -> bool {
        // Relaxed: a message that is being sent meanwhile is skipped when it would be sent again.
        self.last.load(Ordering::Relaxed) >= info.publication_sequence()
    }

    /// Publishes a message on the network.
    fn put(&self, sample: Sample<SerializedMessage>, info: &MessageInfo) -> Option<zenoh::Result<usize>> {
        let way = self.way.read();
        let way = way.as_ref()?;
        // There is one carrier at a time, and one thread carries: nothing depends on the order.
        if self.last.fetch_max(info.publication_sequence(), Ordering::Relaxed) >= info.publication_sequence()
        {
            return None;
        }
        let attachment = Attachment {
            sequence: i64::try_from(info.publication_sequence() - self.limited.load(Ordering::Relaxed))
                .unwrap_or(i64::MAX), // only its carrier's thread changes the count
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
struct HeldImage(Sample<SerializedMessage>);

impl AsRef<[u8]> for HeldImage {
    fn as_ref(&self) -> &[u8] {
        self.0.image()
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

pub(super) fn depth_of(qos: &QoS) -> usize {
    match qos.history {
        History::KeepLast(depth) => depth,
        _ => qos.max_samples.unwrap_or(KEPT),
    }
}

/// The common QoS of a carrier's publishers. The carrier requests as much as they offer, so each
/// publisher's messages reach the network with all its promises.
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

    /// Returns the QoS that the carrier requests.
    pub(super) fn asked(self, depth: usize) -> QoS {
        let qos = if self.keeps_all { QoS::new().keep_all() } else { QoS::new().keep_last(depth) };
        let qos = if self.is_reliable { qos } else { qos.best_effort() };
        if self.is_transient_local { qos.transient_local() } else { qos }
    }
}

/// A subscription that takes messages of a topic to the network.
pub(super) struct Carrier {
    class: QosClass,
    depth: usize,
    subscription: Subscription<SerializedMessage>,
    route: Arc<Route>,
    shared: Arc<Shared>,
    slowness: Slowness,
    /// Number of notifications for messages that have not been [taken in](Self::take_in).
    coming: AtomicUsize,
    /// Number of notifications for messages that have not been carried.
    wanted: AtomicUsize,
    /// It has been left to the sender.
    is_left: AtomicBool,
    /// The sender is carrying its messages.
    is_sending: AtomicBool,
    held: Mutex<Held>,
}

/// Messages that wait here. A message from a publisher that the gateway's thread doesn't know yet
/// holds up the messages behind it, as a new publisher is matched before it is announced.
#[derive(Default)]
struct Held {
    /// The waiting messages, the oldest first; in the carrier's history, newer ones would displace
    /// them. Also all messages that publishers retain, each up to its own depth, whatever the
    /// others publish meanwhile.
    waiting: VecDeque<(Sample<SerializedMessage>, MessageInfo)>,
    /// Number of waiting messages of each publisher.
    counts: HashMap<Gid, usize>,
    /// Number of messages that newer ones displaced here.
    overwritten: u64,
    /// Time since which the first one waits.
    since: Option<Time>,
    /// The first one has waited long enough, and its publisher is still unknown.
    is_overdue: bool,
    /// Publishers that stayed unknown, the newest last: their messages hold up nothing. They had
    /// gone before they were seen, or can't be announced to the network.
    strangers: VecDeque<Gid>,
    allowance: Allowance,
}

impl Held {
    /// Appends a message. Returns the oldest message of its publisher if that has more than
    /// `depth`. The caller drops it outside the lock, as it may be a value of the program's.
    #[must_use]
    fn hold(
        &mut self,
        sample: Sample<SerializedMessage>,
        info: MessageInfo,
        depth: usize,
    ) -> Option<(Sample<SerializedMessage>, MessageInfo)> {
        let gid = info.publisher();
        let count = self.counts.entry(gid).or_default();
        *count += 1;
        let gives_way = *count > depth;
        self.waiting.push_back((sample, info));
        if !gives_way {
            return None;
        }
        let oldest = self.waiting.iter().position(|(_, info)| info.publisher() == gid)?;
        self.taken(gid);
        self.overwritten += 1;
        self.waiting.remove(oldest)
    }

    fn take(&mut self) -> Option<(Sample<SerializedMessage>, MessageInfo)> {
        let (sample, info) = self.waiting.pop_front()?;
        self.taken(info.publisher());
        Some((sample, info))
    }

    fn taken(&mut self, gid: Gid) {
        if let Entry::Occupied(mut count) = self.counts.entry(gid) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
    }

    /// Puts a message back to the front.
    fn give_back(&mut self, sample: Sample<SerializedMessage>, info: MessageInfo) {
        *self.counts.entry(info.publisher()).or_default() += 1;
        self.waiting.push_front((sample, info));
    }
}

/// A message that is about to be sent.
struct Outbound {
    publisher: Arc<LocalPublisher>,
    sample: Sample<SerializedMessage>,
    info: MessageInfo,
}

/// Time for which a message is held until its publisher is known. Then the gateway's thread looks
/// once more, however long it was held up: a publisher is announced before it publishes.
pub(super) const ACQUAINTANCE: Duration = Duration::from_millis(500);

/// Most messages that wait outside a carrier's history.
const MOST_WAITING: usize = 256;

/// Most unknown publishers that a carrier remembers.
const MOST_STRANGERS: usize = 64;

/// A put that takes longer has waited for the link.
const PATIENCE: Duration = Duration::from_millis(2);

/// The priority of topics of few bytes. Service calls have the next one, everything else has
/// zenoh's default, which is lower.
const LIGHT: Priority = Priority::InteractiveLow;

/// The priority of service calls.
pub(super) const CALLS: Priority = Priority::DataHigh;

/// A message that has waited for the link for longer than this counts as late.
const LATE: Duration = Duration::from_secs(1);

/// A message that has waited for longer than this is dropped if there is a newer one, even if its
/// history has room. (With keep_all or transient local, it is sent however old it is.)
const STALE: Duration = Duration::from_secs(10);

/// The bytes that a topic may send and still count as one of few bytes.
#[derive(Default)]
struct Allowance {
    /// Time of the last update of `used`.
    at: Option<Time>,
    /// Bytes in use.
    used: u64,
}

impl Allowance {
    /// Longest message, in bytes.
    const LONGEST: usize = 8 << 10;

    /// Bytes that become free in a second, and bytes that may be used at once.
    const RATE: u64 = 64 << 10;

    /// Returns `true` if a message of `length` bytes is within the allowance.
    fn takes(&mut self, length: usize, now: Time) -> bool {
        let passed = now - *self.at.get_or_insert(now);
        let back =
            u64::try_from(passed.as_micros()).unwrap_or(u64::MAX).saturating_mul(Self::RATE) / 1_000_000;
        if back > 0 {
            (self.at, self.used) = (Some(now), self.used.saturating_sub(back));
        }
        self.used = self.used.saturating_add((length + OVERHEAD) as u64);
        length <= Self::LONGEST && self.used <= Self::RATE
    }
}

/// Watches whether puts of a topic of few bytes wait for the link. As soon as one has, the sender
/// makes the puts behind it, so that no publisher waits again; if those wait as well, the topic is
/// heavy.
#[derive(Default)]
pub(super) struct Slowness(AtomicUsize);

impl Slowness {
    /// Number of slow puts in a row that a busy machine no longer explains.
    const MOST: usize = 3;

    /// Records a put. Returns `true` if too many in a row were slow.
    fn note(&self, is_slow: bool) -> bool {
        // Relaxed: the count stands alone.
        if is_slow {
            return self.0.fetch_add(1, Ordering::Relaxed) + 1 >= Self::MOST;
        }
        if self.is_suspected() {
            self.0.store(0, Ordering::Relaxed);
        }
        false
    }

    /// Returns `true` if the last put was slow.
    fn is_suspected(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }
}

/// The thread that serves a counter. If it panics, for instance while a value of the program's is
/// dropped, the counter is reset, so that no thread counts as serving it.
struct AtIt<'a>(&'a AtomicUsize);

impl Drop for AtIt<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(0, Ordering::Release); // as where `carry` ends
        }
    }
}

/// Tracks whether the session makes threads wait that put messages into it, and hands work to the
/// sender: a thread of the gateway that waits in their place.
///
/// Until the sender has carried everything that was left to it, every carrier of a heavy topic
/// leaves its messages to it. So a slow link costs a publisher one wait, and each topic only its
/// own oldest messages.
pub(super) struct Congestion {
    left: Sender<Weak<Carrier>>,
    /// Number of carriers that were left to the sender and are not finished.
    count: AtomicUsize,
    /// The sender is to end.
    has_ended: AtomicBool,
}

impl Congestion {
    pub(super) fn new() -> (Self, Receiver<Weak<Carrier>>) {
        let (left, taken) = mpsc::channel();
        (Self { left, count: AtomicUsize::new(0), has_ended: AtomicBool::new(false) }, taken)
    }

    /// Ends the sender after the message that it is sending.
    pub(super) fn end(&self) {
        self.has_ended.store(true, Ordering::Release); // pairs with the look before each turn
        let _ = self.left.send(Weak::new()); // wakes it, unless it has ended
    }

    fn is_there(&self) -> bool {
        self.count.load(Ordering::Acquire) > 0 // pairs with the end of `send`
    }

    fn leave(&self, carrier: &Arc<Carrier>) {
        // AcqRel, here and in `send`: the sender sees every message that came before.
        if carrier.is_left.swap(true, Ordering::AcqRel) {
            return;
        }
        self.count.fetch_add(1, Ordering::AcqRel);
        let _ = self.left.send(Arc::downgrade(carrier)); // the sender exists as long as the gateway
    }

    /// Runs the sender's thread, which runs until no gateway is left.
    pub(super) fn send(congestion: &Weak<Shared>, taken: &Receiver<Weak<Carrier>>) {
        let mut turns = Turns::<Weak<Carrier>>::default();
        loop {
            if turns.is_empty() {
                let Ok(first) = taken.recv() else { return };
                turns.begin(first);
            }
            taken.try_iter().for_each(|left| turns.begin(left));
            let Some(shared) = congestion.upgrade() else { return };
            if shared.congestion.has_ended.load(Ordering::Acquire) {
                return;
            }
            let Some(turn) = turns.next() else { continue };
            let gone = match turn.flow.upgrade() {
                Some(carrier) => match carrier.carry(Some(turn.credit())) {
                    Carried::Some(bytes) => {
                        turns.go_on(turn, bytes);
                        continue;
                    }
                    Carried::All(bytes) => turns.end(turn, bytes),
                },
                None => turns.end(turn, 0),
            };
            if let Some(gone) = gone {
                if let Some(carrier) = gone.upgrade() {
                    carrier.is_no_longer_left();
                }
                shared.congestion.count.fetch_sub(1, Ordering::AcqRel);
            }
        }
    }
}

/// The bytes that a thread has carried.
enum Carried {
    /// Everything was carried, or another thread does it.
    All(usize),
    /// Some messages are left.
    Some(usize),
}

impl Carrier {
    /// `depth`: the sum of its publishers' depths.
    pub(super) fn new(
        shared: &Arc<Shared>,
        route: &Arc<Route>,
        (class, depth): (QosClass, usize),
    ) -> Result<Arc<Self>, sinew::error::CreateError> {
        let node = shared.context.node_of(Origin::Carrier, "/", "_sinew_gateway")?;
        let subscription =
            node.generic_subscription(&route.key.name, route.known).qos(class.asked(depth)).create()?;
        let (route, shared) = (route.clone(), shared.clone());
        let (coming, wanted) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let (is_left, is_sending) = (AtomicBool::new(false), AtomicBool::new(false));
        let held = Mutex::default();
        let carrier = Arc::new(Self {
            class,
            depth,
            subscription,
            route,
            shared,
            slowness: Slowness::default(),
            coming,
            wanted,
            is_left,
            is_sending,
            held,
        });
        let listening: Weak<Self> = Arc::downgrade(&carrier);
        carrier.subscription.set_listener(move |_| {
            if let Some(carrier) = listening.upgrade() {
                carrier.heard();
            }
        });
        Ok(carrier)
    }

    /// Messages have come, or a publisher has become known.
    pub(super) fn heard(self: &Arc<Self>) {
        self.take_in();
        if self.has_to_wait() {
            return self.shared.congestion.leave(self);
        }
        self.carry(None);
    }

    /// Returns `true` if the carrier has to take turns on a link that can't take everything, or if
    /// its topic may become heavy.
    fn has_to_wait(&self) -> bool {
        match self.route.is_heavy() {
            true => self.shared.congestion.is_there(),
            false => self.slowness.is_suspected(),
        }
    }

    /// Records that the sender has carried all its messages: later ones have to be left to the
    /// sender again.
    fn is_no_longer_left(self: &Arc<Self>) {
        self.is_sending.store(true, Ordering::Release); // pairs with `is_idle`, as the next ones
        self.is_left.store(false, Ordering::Release);
        // Messages that came meanwhile were not left again.
        if let Carried::Some(_) = self.carry(Some(1)) {
            self.shared.congestion.leave(self);
        }
        self.is_sending.store(false, Ordering::Release);
    }

    /// Sends the messages that have come: one thread at a time. A thread of the program leaves the
    /// remaining ones to the sender if the session makes it wait. `credit`: bytes after which the
    /// sender goes on with other carriers.
    fn carry(self: &Arc<Self>, credit: Option<usize>) -> Carried {
        let mut bytes = 0;
        // AcqRel: the thread that carries sees everything that the thread leaving it has seen.
        if self.wanted.fetch_add(1, Ordering::AcqRel) > 0 {
            return Carried::All(bytes);
        }
        let _at_it = AtIt(&self.wanted);
        let mut seen = 1;
        loop {
            while let Some(next) = self.next() {
                let length = next.sample.image().len();
                if credit.is_none() && (length > Allowance::LONGEST || self.has_to_wait()) {
                    self.held.lock().give_back(next.sample, next.info);
                    self.wanted.store(0, Ordering::Release); // as above
                    self.shared.congestion.leave(self);
                    return Carried::Some(bytes);
                }
                bytes += length + OVERHEAD;
                let begin = Time::steady();
                let may_wait = self.put(next, credit.is_some());
                let is_slow = Time::steady() - begin > PATIENCE;
                if may_wait && self.slowness.note(is_slow) {
                    self.route.grow_heavy();
                }
                match credit {
                    None if is_slow => {
                        self.wanted.store(0, Ordering::Release); // as above
                        self.shared.congestion.leave(self);
                        return Carried::Some(bytes);
                    }
                    Some(credit) if bytes >= credit => {
                        self.wanted.store(0, Ordering::Release); // as above
                        return Carried::Some(bytes);
                    }
                    _ => {}
                }
            }
            let before = self.wanted.fetch_sub(seen, Ordering::AcqRel);
            if before == seen {
                return Carried::All(bytes);
            }
            seen = before - seen;
        }
    }

    /// Returns `true` if all messages so far are in the session. Carries those that no thread
    /// carries yet.
    pub(super) fn is_idle(self: &Arc<Self>) -> bool {
        self.heard();
        // Acquire, in this order: a left carrier is seen either as left or with the sender, which
        // marks itself as sending before it clears the first mark.
        let is_left = self.is_left.load(Ordering::Acquire) || self.is_sending.load(Ordering::Acquire);
        // Meaningful only if no message waits and no thread is working: only a working thread moves
        // messages.
        let held = self.held.lock();
        let is_at_it = [&self.coming, &self.wanted].iter().any(|count| count.load(Ordering::Acquire) > 0);
        !is_left && !is_at_it && held.waiting.is_empty()
    }

    /// Returns the next message and its publisher; `None` also if that isn't known yet.
    fn next(self: &Arc<Self>) -> Option<Outbound> {
        self.take_in();
        self.hold_more();
        loop {
            let first = self.held.lock().take();
            // With nothing locked: this also takes in messages for other subscriptions, and runs
            // their listeners.
            let next = || if self.takes_all_in() { None } else { self.subscription.take_sample() };
            let (sample, info) = first.or_else(next)?;
            let gid = info.publisher();
            let publisher = self.route.local_publisher(gid);
            let mut held = self.held.lock();
            if let Some(publisher) = publisher {
                (held.since, held.is_overdue) = (None, false);
                if !self.route.is_heavy() && !held.allowance.takes(sample.image().len(), Time::steady()) {
                    self.route.grow_heavy();
                }
                return Some(Outbound { publisher, sample, info });
            }
            if held.strangers.contains(&gid) {
                self.route.counters.unsent(1);
                continue;
            }
            if !held.is_overdue {
                held.give_back(sample, info);
                if held.since.is_none() {
                    let now = Time::steady();
                    held.since = Some(now);
                    self.look_again(now);
                }
                return None;
            }
            (held.since, held.is_overdue) = (None, false);
            if held.strangers.len() == MOST_STRANGERS {
                held.strangers.pop_front();
            }
            held.strangers.push_back(gid);
            self.route.counters.unsent(1);
        }
    }

    /// Returns `true` if all messages wait [here](Held), as those of publishers that retain
    /// messages do. Of other publishers, a slow link gets the messages in the carrier's history.
    fn takes_all_in(&self) -> bool {
        self.class.is_transient_local && !self.class.keeps_all
    }

    /// Takes in all messages that have come: one thread at a time, whichever is notified first,
    /// also while another one waits for the link.
    fn take_in(&self) {
        // AcqRel, as in `carry`.
        if !self.takes_all_in() || self.coming.fetch_add(1, Ordering::AcqRel) > 0 {
            return;
        }
        let _at_it = AtIt(&self.coming);
        let mut seen = 1;
        loop {
            while let Some((sample, info)) = self.subscription.take_sample() {
                let publisher = self.route.local_publisher(info.publisher());
                let depth = match publisher {
                    // Of another carrier.
                    Some(publisher) if QosClass::of(&publisher.qos) != self.class => continue,
                    // A carrier that replaced another one receives messages again that were already
                    // sent.
                    Some(publisher) if publisher.has_put(&info) => continue,
                    Some(publisher) => depth_of(&publisher.qos),
                    None => MOST_WAITING,
                };
                let gone = self.held.lock().hold(sample, info, depth);
                drop(gone);
            }
            let before = self.coming.fetch_sub(seen, Ordering::AcqRel);
            if before == seen {
                return;
            }
            seen = before - seen;
        }
    }

    /// Keeps messages here while the first one waits for its publisher, so that newer ones don't
    /// displace them.
    fn hold_more(&self) {
        let has_room = || {
            let held = self.held.lock();
            held.since.is_some() && held.waiting.len() < MOST_WAITING && !self.takes_all_in()
        };
        while has_room()
            && let Some((sample, info)) = self.subscription.take_sample()
        {
            let gone = self.held.lock().hold(sample, info, MOST_WAITING);
            drop(gone);
        }
    }

    /// Goes on without the publisher of the message that has waited since `since`, if it stays
    /// unknown.
    fn look_again(self: &Arc<Self>, since: Time) {
        let (carrier, shared) = (Arc::downgrade(self), self.shared.clone());
        let go_on = move || {
            let Some(carrier) = carrier.upgrade() else { return };
            let mut held = carrier.held.lock();
            held.is_overdue |= held.since == Some(since);
            drop(held);
            carrier.heard();
        };
        let again = move || shared.tell(Change::OnceKnown(Box::new(go_on)));
        self.shared.tell(Change::Later(since + ACQUAINTANCE, Box::new(again)));
    }

    /// `has_waited`: the message was left to the sender. Returns `true` if the session may have
    /// made this thread wait for the message.
    fn put(&self, Outbound { publisher, sample, info }: Outbound, has_waited: bool) -> bool {
        // A publisher that offers more than this carrier requests has another carrier.
        if QosClass::of(&publisher.qos) != self.class {
            return false;
        }
        if has_waited && self.is_late(&info) {
            self.route.counters.unsent(1);
            return false;
        }
        if !self.route.passes() {
            publisher.limited.fetch_add(1, Ordering::Relaxed); // as in `LocalPublisher::put`
            return false;
        }
        let counters = &self.route.counters;
        if self.route.is_heavy()
            && let Err(error) = publisher.grow_heavy(&self.shared, &self.route)
        {
            self.shared.says_once("heavy", || format!("{} keeps its priority: {error}", self.route.key.name));
        }
        let put = publisher.put(sample, &info);
        let may_wait = put.is_some() && self.class.is_reliable;
        match put {
            Some(Ok(length)) => counters.sent(length),
            Some(Err(error)) => {
                counters.unsent(1);
                self.shared.says_once("put", || {
                    format!("a message on {} was not sent: {error}", self.route.key.name)
                });
            }
            None => {}
        }
        may_wait
    }

    /// Records that a message has waited for the link. Counts a long wait, and reports once that
    /// the link is too slow. Returns `true` if the message is too old to be sent.
    fn is_late(&self, info: &MessageInfo) -> bool {
        let age = Time::from_nanoseconds(self.shared.wall()) - info.source_time();
        let is_late = age > LATE;
        if is_late {
            self.route.counters.late();
        }
        if (is_late || self.overwritten() > 0) && self.route.is_slow_first() {
            let name = &self.route.key.name;
            self.shared.says(&format!(
                "the link takes less than is published: messages of {name} wait, or give way to newer ones \
                 (late and unsent in `sinew topic info -v` count them, and it is not said again)"
            ));
        }
        let gives_way = !self.class.keeps_all && !self.class.is_transient_local;
        gives_way && age > STALE && self.subscription.statistics().waiting > 0
    }

    /// Stops taking messages.
    pub(super) fn close(&self) {
        self.subscription.clear_listener();
        self.subscription.clone().close();
    }

    /// Returns `true` if retained messages of that total depth fit. (Without retained messages any
    /// depth fits: messages come one after the other.)
    pub(super) fn has_room(&self, depth: usize) -> bool {
        !self.class.is_transient_local || depth <= self.depth
    }

    /// Returns the number of messages that newer ones displaced before the session took them, here
    /// or in their publishers' histories.
    pub(super) fn overwritten(&self) -> u64 {
        let counts = self.subscription.statistics();
        counts.overwritten + counts.missed + self.held.lock().overwritten
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_slow_put_makes_no_topic_heavy() {
        let slowness = Slowness::default();
        for _ in 0..100 {
            assert!(!slowness.note(true), "the machine was busy");
            assert!(slowness.is_suspected(), "the sender makes the next one");
            assert!(!slowness.note(false));
            assert!(!slowness.is_suspected());
        }
        assert_eq!([true; 3].map(|is_slow| slowness.note(is_slow)), [false, false, true], "the link is slow");
    }

    #[test]
    fn what_few_bytes_are() {
        let at = |milliseconds: i64| Time::from_nanoseconds(milliseconds * 1_000_000);
        let is_light = |length: usize, period: i64| {
            let mut allowance = Allowance::default();
            (0..10_000).all(|number| allowance.takes(length, at(number * period)))
        };
        assert!(is_light(20, 10), "a state, a hundred times a second");
        assert!(is_light(5000, 100), "a scan, ten times a second");
        assert!(!is_light(1000, 1), "a thousand of them a second are too many");
        assert!(!is_light(9000, 1000), "one is too large");
        let mut allowance = Allowance::default();
        assert!((0..50).all(|_| allowance.takes(1000, at(0))), "some may come at once");
        assert!((0..50).all(|_| allowance.takes(1000, at(2000))), "and again when time has passed");
        assert!(!(0..20).all(|_| allowance.takes(1000, at(2000))));
    }
}
