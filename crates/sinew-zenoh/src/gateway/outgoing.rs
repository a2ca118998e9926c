//! From this host to the network: what publishers here publish, while a subscription there matches.
//!
//! # Threads
//!
//! A [`Carrier`] is a subscription whose listener runs on the thread that publishes (in its own
//! process) or on that which receives (from others). That thread puts the message into the session.
//! If the session makes it wait, that thread and all others leave what follows in the carriers'
//! histories, whose depth is the bound, to a thread of the gateway's: see [`Congestion`]. The one
//! wait lasts as long as the link takes for what it has in hand; a link that is dead is given up
//! by zenoh after `transport/link/tx/queue/congestion_control/block/wait_before_close`. Large
//! messages are left to that thread at once.
//!
//! # A slow link
//!
//! A session has a queue for each of zenoh's priorities, and a put waits until its message is in the
//! queue: 120 KB take a link of 200 kB/s more than half a second, for which all other puts of that
//! priority wait, too. So topics of few bytes ([`Allowance`]) have a priority of their own, above the
//! others: they go between two pieces of a large message, and no thread waits for them. A topic
//! that sends more is *heavy* from then on, as is one whose puts wait one after the other. (A single
//! slow put says little: the machine may be busy.) Heavy topics share what the link takes by
//! [turns](super::turns), if it doesn't take everything.
//!
//! All publishers of a topic have one priority, and it changes once, downwards: what was published
//! before goes before. It never changes back: a message of the higher priority would overtake those
//! before it, which may wait in the session's queues, or a router's, for as long as the link likes;
//! nothing tells when the last one has gone. Subscriptions would drop those as old.

use super::Shared;
use super::observer::Change;
use super::route::Route;
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
    /// Of a topic of few bytes.
    Light(zenoh::pubsub::Publisher<'static>),
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

    /// It is gone.
    pub(super) fn close(&self) {
        let gone = self.way.write().take();
        drop(gone); // undeclared outside the lock
    }

    pub(super) fn is_carried(&self) -> bool {
        self.way.read().is_some()
    }

    /// Its topic has become heavy, before this message of it.
    fn grow_heavy(&self, shared: &Shared, route: &Route) -> zenoh::Result<()> {
        if !matches!(&*self.way.read(), Some(Way::Light(_))) {
            return Ok(());
        }
        let heavy = Way::open(shared, route, &self.qos)?;
        let mut way = self.way.write();
        // It may have been closed meanwhile.
        let light = way.take_if(|way| matches!(way, Way::Light(_)));
        if light.is_some() {
            *way = Some(heavy);
        }
        drop(way);
        drop(light); // undeclared outside the lock
        Ok(())
    }

    /// Whether a message went over, or has given way to one that did.
    fn has_put(&self, info: &MessageInfo) -> bool {
        // Relaxed: one that goes meanwhile is left out when it would go again.
        self.last.load(Ordering::Relaxed) >= info.publication_sequence()
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
            Way::Light(publisher) | Way::Volatile(publisher) => {
                publisher.put(payload).attachment(attachment).wait()
            }
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
    fn open(shared: &Shared, route: &Route, qos: &QoS) -> zenoh::Result<Self> {
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
    pub(super) fn asked(self, depth: usize) -> QoS {
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
    slowness: Slowness,
    /// Threads that know of messages which haven't come [in](Self::take_in) yet.
    coming: AtomicUsize,
    /// Threads that know of messages which aren't carried yet.
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
    /// Such messages, the oldest first: in the carrier's history they would give way to newer ones. And
    /// all that publishers retain, each as many as it keeps, whatever others publish meanwhile.
    waiting: VecDeque<(Sample<SerializedMessage>, MessageInfo)>,
    /// How many of them there are of each publisher.
    counts: HashMap<Gid, usize>,
    /// How many have given way to newer ones here.
    overwritten: u64,
    /// Since when the first one waits.
    since: Option<Time>,
    /// It has waited for long enough, and its publisher still isn't known.
    is_overdue: bool,
    /// Publishers that didn't become known, the newest last: theirs hold up nothing. They went again
    /// before they were seen, or can't be told to the network.
    strangers: VecDeque<Gid>,
    allowance: Allowance,
}

impl Held {
    /// It waits behind the others. Returns the oldest one of its publisher if that has more than
    /// `depth`: to be dropped outside the lock, as it may be a value of the program's.
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

    /// It is the next one again.
    fn give_back(&mut self, sample: Sample<SerializedMessage>, info: MessageInfo) {
        *self.counts.entry(info.publisher()).or_default() += 1;
        self.waiting.push_front((sample, info));
    }
}

/// A message on its way out.
struct Outbound {
    publisher: Arc<LocalPublisher>,
    sample: Sample<SerializedMessage>,
    info: MessageInfo,
}

/// How long a message is held until its publisher is known. Then the gateway's thread looks once more,
/// however long it was held up: a publisher is told of before it publishes.
pub(super) const ACQUAINTANCE: Duration = Duration::from_millis(500);

/// Messages that wait outside of a carrier's history, at most.
const MOST_WAITING: usize = 256;

/// Publishers that a carrier remembers because they didn't become known.
const MOST_STRANGERS: usize = 64;

/// A put that takes longer has waited for the link.
const PATIENCE: Duration = Duration::from_millis(2);

/// The priority of topics of few bytes. Calls of services have the next one, all else has zenoh's
/// default, which is below.
const LIGHT: Priority = Priority::InteractiveLow;

/// That of calls of services.
pub(super) const CALLS: Priority = Priority::DataHigh;

/// A message that has waited for the link for longer counts as late.
const LATE: Duration = Duration::from_secs(1);

/// One that has waited for longer gives way if there is a newer one, even if its history has room.
/// (Where all is to be kept, or is kept for late joiners, it goes however old it is.)
const STALE: Duration = Duration::from_secs(10);

/// What a topic may send and be one of few bytes.
#[derive(Default)]
struct Allowance {
    /// When what it has used was counted last.
    at: Option<Time>,
    /// Bytes that it has used.
    used: u64,
}

impl Allowance {
    /// The longest message.
    const LONGEST: usize = 8 << 10;

    /// How many bytes it gets back in a second, and how many it may use at once.
    const RATE: u64 = 64 << 10;

    /// Whether a message of so many bytes is within it.
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

/// Whether puts of a topic of few bytes wait for the link: as soon as one has, the sender makes those
/// behind it, so that no publisher waits again; and if they wait, too, the topic is heavy.
#[derive(Default)]
pub(super) struct Slowness(AtomicUsize);

impl Slowness {
    /// Slow puts in a row that aren't a busy machine's any more.
    const MOST: usize = 3;

    /// A put was slow, or not. Whether too many were.
    fn note(&self, is_slow: bool) -> bool {
        // Relaxed: it counts for itself.
        if is_slow {
            return self.0.fetch_add(1, Ordering::Relaxed) + 1 >= Self::MOST;
        }
        if self.is_suspected() {
            self.0.store(0, Ordering::Relaxed);
        }
        false
    }

    /// Whether the last put was slow.
    fn is_suspected(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }
}

/// The thread that does what a counter's threads want: after a panic there, as of a value of the
/// program's that is dropped, none is at it.
struct AtIt<'a>(&'a AtomicUsize);

impl Drop for AtIt<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(0, Ordering::Release); // as at its other ends
        }
    }
}

/// Whether the session makes threads wait that put messages into it, and what is left to the sender
/// then: a thread of the gateway's, which waits in their place.
///
/// Until the sender has brought over all that was left, every carrier of a heavy topic leaves its
/// messages to it. So a slow link costs a publisher one wait, and each topic its own oldest messages.
pub(super) struct Congestion {
    left: Sender<Weak<Carrier>>,
    /// How many were left that the sender isn't done with.
    count: AtomicUsize,
    /// The sender is to end.
    has_ended: AtomicBool,
}

impl Congestion {
    pub(super) fn new() -> (Self, Receiver<Weak<Carrier>>) {
        let (left, taken) = mpsc::channel();
        (Self { left, count: AtomicUsize::new(0), has_ended: AtomicBool::new(false) }, taken)
    }

    /// The sender ends after the message that it has in hand.
    pub(super) fn end(&self) {
        self.has_ended.store(true, Ordering::Release); // pairs with the look before each turn
        let _ = self.left.send(Weak::new()); // has it look, or it is gone already
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

/// What a thread has brought over, in bytes.
enum Carried {
    /// All that there was, or another thread does.
    All(usize),
    /// Some of it.
    Some(usize),
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

    /// Something has come, or a publisher is known.
    pub(super) fn heard(self: &Arc<Self>) {
        self.take_in();
        if self.has_to_wait() {
            return self.shared.congestion.leave(self);
        }
        self.carry(None);
    }

    /// Whether it is one of those that share what the link takes, and it doesn't take everything; or
    /// may become one.
    fn has_to_wait(&self) -> bool {
        match self.route.is_heavy() {
            true => self.shared.congestion.is_there(),
            false => self.slowness.is_suspected(),
        }
    }

    /// The sender has brought over all of it: from now on it is told anew.
    fn is_no_longer_left(self: &Arc<Self>) {
        self.is_sending.store(true, Ordering::Release); // pairs with `is_idle`, as the next ones
        self.is_left.store(false, Ordering::Release);
        // What came meanwhile was not left again.
        if let Carried::Some(_) = self.carry(Some(1)) {
            self.shared.congestion.leave(self);
        }
        self.is_sending.store(false, Ordering::Release);
    }

    /// Brings what has come to the network: one thread at a time. A thread of the program's leaves
    /// the rest to the sender if the session makes it wait. `credit`: the sender's, which goes on
    /// with others when it is used up.
    fn carry(self: &Arc<Self>, credit: Option<usize>) -> Carried {
        let mut bytes = 0;
        // AcqRel: what a thread has seen that leaves it to another one, that one sees.
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

    /// Whether all that has come so far is in the session. Brings over what no thread does yet.
    pub(super) fn is_idle(self: &Arc<Self>) -> bool {
        self.heard();
        // Acquire, in this order: what was left is seen where it was left, or with the sender, who
        // takes it up before it is no longer left.
        let is_left = self.is_left.load(Ordering::Acquire) || self.is_sending.load(Ordering::Acquire);
        // While none waits and no thread is at it: messages come and go only with a thread at it.
        let held = self.held.lock();
        let is_at_it = [&self.coming, &self.wanted].iter().any(|count| count.load(Ordering::Acquire) > 0);
        !is_left && !is_at_it && held.waiting.is_empty()
    }

    /// The next message, and its publisher. `None` also if that isn't known yet.
    fn next(self: &Arc<Self>) -> Option<Outbound> {
        self.take_in();
        self.hold_more();
        loop {
            let first = self.held.lock().take();
            // With nothing locked: it brings messages in for other subscriptions, too, which are told.
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

    /// Whether all that has come waits [here](Held): what publishers retain. Of others a slow link gets
    /// what the carrier's history has.
    fn takes_all_in(&self) -> bool {
        self.class.is_transient_local && !self.class.keeps_all
    }

    /// Takes in all that has come: one thread at a time, and whichever knows first, also while another
    /// one waits for the link.
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
                    // Another carrier's.
                    Some(publisher) if QosClass::of(&publisher.qos) != self.class => continue,
                    // One that took the place of another carrier gets again what has gone already.
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

    /// While a message waits for its publisher, those behind it wait here: none gives way to newer
    /// ones.
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

    /// Goes on without the publisher of a message that waits since then, if it doesn't become known.
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

    /// `has_waited`: it was left to the sender. Whether it is one that the session may have wait.
    fn put(&self, Outbound { publisher, sample, info }: Outbound, has_waited: bool) -> bool {
        // A publisher that offers more than this carrier asks for has another one.
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

    /// A message has waited for the link. Counts it if that was long, tells once if the link takes
    /// too little. Whether it is too old to go.
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

    /// No message is taken any more.
    pub(super) fn close(&self) {
        self.subscription.clear_listener();
        self.subscription.clone().close();
    }

    /// Whether what so many messages keep finds room in it. (Others come one after the other.)
    pub(super) fn has_room(&self, depth: usize) -> bool {
        !self.class.is_transient_local || depth <= self.depth
    }

    /// Messages that gave way to newer ones before the session took them, here or where their
    /// publishers are.
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
