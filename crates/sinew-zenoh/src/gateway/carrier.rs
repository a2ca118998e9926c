//! From this host to the network: messages of local publishers, while a remote subscription
//! matches.
//!
//! # Threads
//!
//! A [`Carrier`] is a subscription with a listener that runs on the publishing thread (in its own
//! process) or on the receiving thread (for other processes). That thread puts the message into the
//! session. If the session makes it wait, that thread and all others leave later messages to a
//! thread of the gateway (see [`Congestion`](super::congestion::Congestion)); they wait in the
//! carriers' histories, with their depth as the bound. The single wait lasts as long as the link
//! needs for the data in hand; zenoh gives up a dead link after
//! `transport/link/tx/queue/congestion_control/block/wait_before_close`. Large messages are left to
//! the gateway's thread at once.

use super::change::Change;
use super::congestion::{Carried, Flow};
use super::heavy::{Allowance, Slowness};
use super::local_publisher::{LocalPublisher, LocalPublishers};
use super::qos_class::{QosClass, depth_of};
use super::route::Route;
use super::shared::Shared;
use super::turns::OVERHEAD;
use sinew::__private::locks::Mutex;
use sinew::gateway::Origin;
use sinew::msg::{Gid, Sample, SerializedMessage};
use sinew::time::Time;
use sinew::{MessageInfo, Subscription};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// Time for which a message is held until its publisher is known. Then the gateway's thread looks
/// once more, even if it was held up for longer: a publisher is announced before it publishes.
pub(super) const ACQUAINTANCE: Duration = Duration::from_millis(500);

/// Most messages that wait outside a carrier's history.
const MOST_WAITING: usize = 256;

/// Most unknown publishers that a carrier remembers.
const MOST_STRANGERS: usize = 64;

/// A put that takes longer has waited for the link.
const PATIENCE: Duration = Duration::from_millis(2);

/// A message that has waited for the link for longer than this counts as late.
const LATE: Duration = Duration::from_secs(1);

/// A message that has waited for longer than this is dropped if there is a newer one, even if its
/// history has room. (With keep_all or transient local, it is sent at any age.)
const STALE: Duration = Duration::from_secs(10);

/// A subscription that takes messages of a topic to the network.
pub(super) struct Carrier {
    class: QosClass,
    depth: usize,
    subscription: Subscription<SerializedMessage>,
    route: Arc<Route>,
    publishers: Arc<LocalPublishers>,
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
    /// them. Also all messages that publishers retain, each up to its own depth, independently of
    /// the others.
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

impl Carrier {
    /// `depth`: the sum of its publishers' depths.
    pub(super) fn new(
        shared: &Arc<Shared>,
        route: &Arc<Route>,
        publishers: &Arc<LocalPublishers>,
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
            publishers: publishers.clone(),
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
            return self.shared.congestion.leave(self.clone());
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
                let length = next.sample.bytes().len();
                if credit.is_none() && (length > Allowance::LONGEST || self.has_to_wait()) {
                    self.held.lock().give_back(next.sample, next.info);
                    self.wanted.store(0, Ordering::Release); // as above
                    self.shared.congestion.leave(self.clone());
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
                        self.shared.congestion.leave(self.clone());
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
            let publisher = self.publishers.with(gid);
            let mut held = self.held.lock();
            if let Some(publisher) = publisher {
                (held.since, held.is_overdue) = (None, false);
                if !self.route.is_heavy() && !held.allowance.takes(sample.bytes().len(), Time::steady()) {
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

    /// Takes in all messages that have come: one thread at a time, the first one that is notified,
    /// also while another thread waits for the link.
    fn take_in(&self) {
        // AcqRel, as in `carry`.
        if !self.takes_all_in() || self.coming.fetch_add(1, Ordering::AcqRel) > 0 {
            return;
        }
        let _at_it = AtIt(&self.coming);
        let mut seen = 1;
        loop {
            while let Some((sample, info)) = self.subscription.take_sample() {
                let publisher = self.publishers.with(info.publisher());
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

    /// Continues without the publisher of the message that has waited since `since`, if that
    /// publisher stays unknown.
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
        // Delivered again by a carrier that replaced another one: it doesn't count for the limit.
        if publisher.has_put(&info) {
            return false;
        }
        if has_waited && self.is_late(&info) {
            self.route.counters.unsent(1);
            return false;
        }
        if !self.route.passes() {
            publisher.limit(info.publication_sequence());
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
                "the link is slower than the publishers: messages of {name} wait, or are displaced by newer ones \
                 (late and unsent in `sinew topic info -v` count them; this is logged once)"
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

    /// Returns the depth with which it was made.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// Returns the number of messages that newer ones displaced before the session took them, here
    /// or in their publishers' histories.
    pub(super) fn overwritten(&self) -> u64 {
        let counts = self.subscription.statistics();
        counts.overwritten + counts.missed + self.held.lock().overwritten
    }
}

impl Flow for Carrier {
    fn is_left(&self) -> &AtomicBool {
        &self.is_left
    }

    fn carry_some(self: Arc<Self>, credit: usize) -> Carried {
        self.carry(Some(credit))
    }

    fn is_no_longer_left(self: Arc<Self>) {
        self.is_sending.store(true, Ordering::Release); // pairs with `is_idle`, as the next ones
        self.is_left.store(false, Ordering::Release);
        // Messages that came meanwhile were not left again.
        if let Carried::Some(_) = self.carry(Some(1)) {
            self.shared.congestion.leave(self.clone());
        }
        self.is_sending.store(false, Ordering::Release);
    }
}
