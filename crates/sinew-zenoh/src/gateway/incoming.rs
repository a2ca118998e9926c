//! From the network to this host: messages of remote publishers, while a local subscription
//! matches. Those of a publisher without a token wait here until it is known.

use super::arrival::{Arrival, understood};
use super::change::Change;
use super::history;
use super::remote_publisher::RemotePublisher;
use super::route::Route;
use super::shared::Shared;
use crate::wire::buffer;
use sinew::__private::locks::{Mutex, RwLock};
use sinew::qos::Reliability;
use sinew::time::Time;
use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;
use std::time::Duration;
use zenoh::Wait;
use zenoh::pubsub::Subscriber;
use zenoh::sample::{Locality, Sample};
use zenoh_ext::{AdvancedSubscriber, AdvancedSubscriberBuilderExt, RecoveryConfig};

/// Number of messages that one topic keeps in any case for publishers without a token so far; more
/// are kept as long as they have few bytes.
const EARLY: usize = 16;
const MOST_EARLY: usize = 10_000;
const MOST_EARLY_BYTES: usize = 4 << 20;

/// Time after which such a message gives up its place if other messages need room.
const EARLIEST: Duration = Duration::from_secs(10);

/// Longest expected delay of a token behind the first messages of its publisher.
pub(super) const UNTOLD: Duration = Duration::from_millis(500);

/// A topic's remote publishers, and messages of unknown ones.
pub(super) struct Incoming {
    route: Arc<Route>,
    remote: RwLock<Vec<Arc<RemotePublisher>>>,
    early: Mutex<EarlySamples>,
}

impl Incoming {
    pub(super) fn new(route: &Arc<Route>) -> Arc<Self> {
        Arc::new(Self { route: route.clone(), remote: RwLock::default(), early: Mutex::default() })
    }

    pub(super) fn set_publishers(&self, all: Vec<Arc<RemotePublisher>>) {
        let before = mem::replace(&mut *self.remote.write(), all);
        drop(before); // one that is gone wakes executors: outside the lock
    }

    /// Drops messages that came before their publisher was known.
    pub(super) fn forget_early(&self) {
        *self.early.lock() = EarlySamples::default();
    }

    /// Asks these publishers for their retained messages, as [`history::ask`].
    pub(super) fn ask(self: &Arc<Self>, shared: &Arc<Shared>, publishers: Vec<Arc<RemotePublisher>>) {
        let (incoming, for_strange) = (self.clone(), shared.clone());
        let strange = move |arrival| incoming.keep_strange(arrival, &for_strange);
        history::ask(shared, &self.route, publishers, &(Arc::new(strange) as _));
    }

    /// Asks a publisher once more, on the gateway's thread: the current one is zenoh's.
    fn ask_again(self: &Arc<Self>, shared: &Arc<Shared>, publisher: &Arc<RemotePublisher>) {
        let (incoming, for_later, publisher) = (self.clone(), shared.clone(), publisher.clone());
        let ask = move || incoming.ask(&for_later, vec![publisher]);
        shared.tell(Change::Later(Time::steady(), Box::new(ask)));
    }

    /// Returns the publisher with that gid.
    fn publisher(&self, gid: &[u8; 16]) -> Option<Arc<RemotePublisher>> {
        let remote = self.remote.read();
        remote.iter().find(|publisher| publisher.is(gid)).cloned()
    }

    /// Stores a message of an unknown publisher; if there are too many, it is dropped.
    fn keep_early(self: &Arc<Self>, early: &mut EarlySamples, arrival: Arrival, shared: &Arc<Shared>) {
        let now = Time::steady();
        (0..early.keep(arrival, now)).for_each(|_| self.route.counters.refused());
        if !mem::replace(&mut early.is_timed, true) {
            let (incoming, for_later) = (self.clone(), shared.clone());
            shared.later(now + UNTOLD, move || incoming.assign_early(&for_later));
        }
    }

    /// Stores a retained message of a publisher that its messages haven't identified yet.
    fn keep_strange(self: &Arc<Self>, arrival: Arrival, shared: &Arc<Shared>) {
        self.keep_early(&mut self.early.lock(), arrival, shared);
    }

    /// Assigns early messages. After the time that tokens may take, messages with an unknown gid
    /// are assigned to a publisher that no other message belongs to: it forms its gid differently
    /// from rmw_zenoh. (If a publisher's token comes even later, that publisher takes its messages
    /// back then.)
    fn assign_early(self: &Arc<Self>, shared: &Arc<Shared>) {
        let now = Time::steady();
        let is_young = |early: &EarlySample| now - early.came < UNTOLD;
        let has_young = {
            let mut early = self.early.lock();
            early.assign(now, &self.remote.read());
            early.is_timed = early.samples.iter().any(is_young);
            early.is_timed
        };
        self.publish_early(shared);
        if has_young {
            let (incoming, for_later) = (self.clone(), shared.clone());
            shared.later(now + UNTOLD, move || incoming.assign_early(&for_later));
        }
    }

    /// Publishes messages that came before their publisher was known. Not on the gateway's thread,
    /// since this runs listeners of this program's subscriptions.
    pub(super) fn publish_early(self: &Arc<Self>, shared: &Arc<Shared>) {
        let mut publishers = self.remote.read().clone();
        {
            // Under the lock: messages that come meanwhile wait behind these.
            let mut early = self.early.lock();
            publishers.retain(|publisher| early.hand_over(publisher, shared, self));
        }
        if !publishers.is_empty() {
            let (route, for_aside) = (self.route.clone(), shared.clone());
            shared.callers.make(move || {
                publishers.iter().for_each(|publisher| publisher.publish_held(&for_aside, &route));
            });
        }
    }
}

/// A subscription on the network: on the topic's key, and on that of messages with buffers if its
/// type may have such fields. (A publisher sends a message on one of them.)
pub(super) struct Subscribed {
    main: MainSubscriber,
    _buffers: Option<Subscriber<()>>,
}

/// The part on the topic's key.
enum MainSubscriber {
    Volatile { _subscriber: Subscriber<()> },
    TransientLocal { _subscriber: AdvancedSubscriber<()> },
}

impl Subscribed {
    /// Opens a subscription. `kept`: the number of messages that publishers may retain for late
    /// joiners, and their reliability; [`history`](super::history) requests the retained messages.
    pub(super) fn open(
        shared: &Arc<Shared>,
        incoming: &Arc<Incoming>,
        kept: Option<Reliability>,
    ) -> zenoh::Result<Self> {
        let (session, route) = (&shared.session, &incoming.route);
        let subscriber = |key: String| {
            let (shared, incoming) = (shared.clone(), incoming.clone());
            let heard = move |sample: Sample| receive(&shared, &incoming, sample);
            session.declare_subscriber(key).allowed_origin(Locality::Remote).callback(heard)
        };
        // Volatile publishers use it, also beside those that retain messages.
        let _buffers = match route.may_have_buffers {
            true => Some(subscriber(buffer::cpu_key(&route.wire_key)).wait()?),
            false => None,
        };
        let subscriber = subscriber(route.wire_key.clone());
        let Some(reliability) = kept else {
            let main = MainSubscriber::Volatile { _subscriber: subscriber.wait()? };
            return Ok(Self { main, _buffers });
        };
        let subscriber =
            subscriber.advanced().subscriber_detection().query_timeout(Duration::from_secs(3600));
        // Lost messages are requested again.
        let subscriber = match reliability {
            Reliability::Reliable => subscriber.recovery(RecoveryConfig::default().heartbeat()).wait()?,
            _ => subscriber.wait()?,
        };
        Ok(Self { main: MainSubscriber::TransientLocal { _subscriber: subscriber }, _buffers })
    }

    pub(super) fn is_transient_local(&self) -> bool {
        matches!(self.main, MainSubscriber::TransientLocal { .. })
    }
}

fn receive(shared: &Arc<Shared>, incoming: &Arc<Incoming>, sample: Sample) {
    let mut next = understood(shared, &incoming.route, sample);
    while let Some(arrival) = next {
        let gid = arrival.attachment.gid;
        let publisher = {
            let mut early = incoming.early.lock();
            match incoming.publisher(&gid) {
                Some(publisher) if !early.has(&gid) => publisher,
                _ => return incoming.keep_early(&mut early, arrival, shared),
            }
        };
        let ask_again = || incoming.ask_again(shared, &publisher);
        next = publisher.publish(arrival, shared, &incoming.route, ask_again);
    }
}

/// Messages that came before their publisher's token, the oldest first.
#[derive(Default)]
struct EarlySamples {
    samples: VecDeque<EarlySample>,
    bytes: usize,
    /// Another look at them is scheduled.
    is_timed: bool,
}

struct EarlySample {
    arrival: Arrival,
    came: Time,
}

impl EarlySamples {
    /// Returns `true` if a message of that publisher waits: newer ones wait behind it.
    fn has(&self, gid: &[u8; 16]) -> bool {
        self.samples.iter().any(|early| early.arrival.attachment.gid == *gid)
    }

    /// Stores a message if there is room; messages that have waited for too long are removed.
    /// Returns the number of messages that are dropped.
    fn keep(&mut self, arrival: Arrival, came: Time) -> u64 {
        let mut left_out = 0;
        while let Some(oldest) = self.samples.pop_front_if(|oldest| came - oldest.came > EARLIEST) {
            self.bytes -= oldest.arrival.sample.payload().len();
            left_out += 1;
        }
        let length = arrival.sample.payload().len();
        let has_room = self.samples.len() < EARLY
            || (self.samples.len() < MOST_EARLY && self.bytes.saturating_add(length) <= MOST_EARLY_BYTES);
        if !has_room {
            return left_out + 1;
        }
        self.bytes += length;
        self.samples.push_back(EarlySample { arrival, came });
        left_out
    }

    /// Hands a publisher its messages. Returns `true` if there were any.
    fn hand_over(
        &mut self,
        publisher: &Arc<RemotePublisher>,
        shared: &Arc<Shared>,
        incoming: &Arc<Incoming>,
    ) -> bool {
        let is_its = |early: &EarlySample| publisher.is(&early.arrival.attachment.gid);
        if !self.samples.iter().any(is_its) {
            return false;
        }
        let (its, others) = std::mem::take(&mut self.samples).into_iter().partition(is_its);
        self.samples = others;
        let mut its: VecDeque<EarlySample> = its;
        // Retained messages may have come after messages that were published meanwhile.
        its.make_contiguous().sort_by_key(|early| early.arrival.attachment.sequence);
        for EarlySample { arrival, .. } in its {
            self.bytes -= arrival.sample.payload().len();
            // Runs on the gateway's thread, the only one that changes the assignment of gids.
            publisher.hold(arrival, &incoming.route, || incoming.ask_again(shared, publisher));
        }
        true
    }

    /// Assigns gids that have waited long enough to publishers with tokens that imply another gid.
    fn assign(&self, now: Time, publishers: &[Arc<RemotePublisher>]) {
        for early in self.samples.iter().take_while(|early| now - early.came >= UNTOLD) {
            let gid = early.arrival.attachment.gid;
            if !publishers.iter().any(|publisher| publisher.is(&gid)) {
                let _ = publishers.iter().any(|publisher| publisher.takes(gid)); // up to the first that does
            }
        }
    }
}
