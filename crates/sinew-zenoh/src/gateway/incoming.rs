//! From the network to this host: what publishers there publish, while a subscription here matches.
//!
//! The session's thread that received a message copies it where this host's subscriptions read it,
//! and publishes it under the name of its publisher there.

use super::Shared;
use super::history::{self, HeldSamples};
use super::observer::Change;
use super::route::Route;
use super::sessions::RemoteSession;
use crate::wire::attachment::Attachment;
use crate::wire::buffer;
use sinew::__private::locks::{Condvar, Mutex, MutexGuard, RwLock};
use sinew::QoS;
use sinew::msg::{Lineage, Publisher, SerializedMessage, SourceInfo};
use sinew::qos::{Durability, Reliability};
use sinew::time::Time;
use std::collections::VecDeque;
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;
use zenoh::Wait;
use zenoh::pubsub::Subscriber;
use zenoh::sample::{Locality, Sample, SampleKind};
use zenoh_ext::{AdvancedSubscriber, AdvancedSubscriberBuilderExt, RecoveryConfig};

/// Messages of publishers whose token hasn't come yet, for one topic: so many at least, and more as
/// long as they have few bytes.
const EARLY: usize = 16;
const MOST_EARLY: usize = 10_000;
const MOST_EARLY_BYTES: usize = 4 << 20;

/// How long such a message waits at most, if others need its room.
const EARLIEST: Duration = Duration::from_secs(10);

/// How long a token may be on its way when messages of its publisher have come.
pub(super) const UNTOLD: Duration = Duration::from_millis(500);

/// How long the session's thread waits for room with a reliable keep_all subscription that is full.
/// All that comes by its link waits behind it meanwhile, so a sender is slowed down as by any slow
/// link. That is what a publisher of this host waits by default.
const MAX_BLOCKING: Duration = Duration::from_millis(100);

/// A publisher of the network, as this host sees it.
pub(super) struct RemotePublisher {
    pub(super) qos: QoS,
    /// By its token.
    pub(super) gid: [u8; 16],
    /// Its session, and its number there.
    pub(super) entity: (String, u64),
    publisher: Publisher<SerializedMessage>,
    /// The session that it is of.
    session: Option<Arc<RemoteSession>>,
    /// What it calls itself in its messages, if that isn't what its token says. Changes under the lock of
    /// `state`.
    says: RwLock<Option<[u8; 16]>>,
    state: Mutex<Received>,
    /// One that waited has been taken to be published.
    has_room: Condvar,
}

/// What has come of a publisher.
///
/// One thread at a time publishes, and holds no lock meanwhile: subscriptions of this program are
/// told on it. What comes to other threads waits for that one, in the order of its numbers.
#[derive(Default)]
struct Received {
    /// The number of its last message.
    last: Option<i64>,
    /// That of its last one before it was gone for a while, as when a link was cut.
    last_before: Option<i64>,
    /// Nothing was received for a while since then.
    has_paused: bool,
    /// Messages that found no room here since then: subscriptions are told with the next one.
    untold: u64,
    /// The last one waited for room in vain: the next one doesn't wait.
    has_stalled: bool,
    /// What it keeps for late joiners was asked for.
    is_asked: bool,
    /// A message that wasn't kept has come since the answer.
    is_settled: bool,
    /// It was asked for, and the answer isn't there: all that comes waits for that.
    is_waiting: bool,
    /// The question that it waits for an answer to: one to an older one comes too late.
    question: u64,
    /// Messages that were refused before they were published: no others lack where they do.
    unadmitted: u64,
    /// A thread publishes.
    is_publishing: bool,
    /// What waits for the answer, or for the thread that publishes.
    held: HeldSamples,
}

/// A message, and what was said of it.
pub(super) struct Arrival {
    pub(super) sample: Sample,
    pub(super) attachment: Attachment,
    /// Its publisher had kept it before subscriptions here asked: volatile ones don't get it.
    pub(super) is_kept: bool,
}

impl Received {
    /// Whether messages lack between what was kept and this one, the first one behind it: published
    /// when the answer was given, and the way for them was not open yet. (Later ones that lack are
    /// noticed by zenoh's subscriber.)
    fn lacks_before(&mut self, arrival: &Arrival, qos: &QoS) -> bool {
        if !self.is_asked || self.is_waiting || std::mem::replace(&mut self.is_settled, true) {
            return false;
        }
        let is_next = |last: i64| arrival.attachment.sequence <= last.saturating_add(1);
        let last = self.held.newest().max(self.last);
        qos.reliability == Reliability::Reliable && last.is_some_and(|last| !is_next(last))
    }

    fn hold(&mut self, arrival: Arrival, route: &Route) {
        let sequence = arrival.attachment.sequence;
        if self.held.has_room() {
            self.held.keep(arrival);
        } else if self.last.is_none_or(|last| sequence > last) && !self.held.has(sequence) {
            self.unadmitted += 1;
            route.counters.refused();
        }
    }

    /// Whether it waits for the answer to that question.
    fn awaits(&self, question: u64) -> bool {
        self.is_waiting && self.question == question
    }

    /// How many lack before the message with that number, which is the last one from now on; and how
    /// many of them didn't come. `None`: it was published before.
    fn admit(&mut self, sequence: i64) -> Option<(u64, u64)> {
        // While one subscription takes the place of another, both hear it; and what is kept for late
        // joiners comes again with each. rmw_zenoh counts from 1, hiroz from 0.
        if self.last.is_some_and(|last| sequence <= last) {
            return None;
        }
        // What was here before it was gone comes again if it is kept: that is no gap, and not left out.
        let before = self.last.or(self.last_before).filter(|_| !self.has_paused);
        let gap = before.map_or(0, |last| sequence.saturating_sub(last).saturating_sub(1));
        (self.has_paused, self.last) = (false, Some(sequence));
        let lost = u64::try_from(gap).unwrap_or(0);
        Some((lost, lost.saturating_sub(std::mem::take(&mut self.unadmitted))))
    }
}

impl RemotePublisher {
    /// `gid` and `entity`: by its token. `last_before`: what [`last`](Self::last) was when it was here before.
    pub(super) fn new(
        publisher: Publisher<SerializedMessage>,
        (qos, gid, entity): (QoS, [u8; 16], (String, u64)),
        session: Option<Arc<RemoteSession>>,
        last_before: Option<i64>,
    ) -> Arc<Self> {
        let state = Mutex::new(Received { last_before, ..Received::default() });
        let (says, has_room) = (RwLock::default(), Condvar::new());
        Arc::new(Self { qos, gid, entity, publisher, session, says, state, has_room })
    }

    /// Whether so many subscriptions of that participant get what it publishes.
    pub(super) fn has_subscriptions_of(&self, participant: u64, count: usize) -> bool {
        self.publisher.has_subscriptions_of(participant, count)
    }

    /// The number of the last message, if what comes next has to have the next one.
    pub(super) fn last(&self) -> Option<i64> {
        let state = self.state.lock();
        state.last.or(state.last_before).filter(|_| !state.has_paused)
    }

    /// Whether it is the one that a message comes from. One that makes its gid otherwise than
    /// rmw_zenoh is known by the first message that is no other's.
    pub(super) fn is(&self, gid: &[u8; 16]) -> bool {
        self.gid == *gid || self.says.read().as_ref() == Some(gid)
    }

    /// What subscriptions here know it by, whichever gateway brings its messages.
    fn identity(&self) -> u64 {
        let (half, _) = self.gid.split_first_chunk().unwrap_or((&[0; 8], &[]));
        u64::from_le_bytes(*half)
    }

    /// Takes it for the one with that gid. False: it is known to have another one.
    pub(super) fn takes(&self, gid: [u8; 16]) -> bool {
        let state = self.state.lock();
        let mut says = self.says.write();
        let takes = state.last.is_none() && says.is_none();
        if takes {
            *says = Some(gid);
        }
        takes
    }

    /// If it was taken for another one, whose token was late, it is no longer: the number of that one's
    /// last message.
    pub(super) fn gives_back(&self, gid: &[u8; 16]) -> Option<Option<i64>> {
        let mut state = self.state.lock();
        let mut says = self.says.write();
        says.take_if(|says| says == gid && self.gid != *gid)?;
        // What another thread is about to publish is that one's, too.
        let held = state.held.newest();
        Some(state.last.take().max(held))
    }

    /// Nothing is received any more, until it is again: what comes then is no gap. What it has kept
    /// for late joiners is kept here, too, and isn't published again.
    pub(super) fn pause(&self) {
        let mut state = self.state.lock();
        (state.has_paused, state.is_asked, state.is_waiting) = (true, false, false);
        state.question += 1;
        state.held = HeldSamples::default();
    }

    /// Whether its history is to be asked for: then all that comes waits for that, until
    /// [`complete_history`](Self::complete_history).
    pub(super) fn begin_history(&self) -> bool {
        let mut state = self.state.lock();
        if state.is_asked || !has_history(&self.qos) {
            return false;
        }
        (state.is_asked, state.is_settled, state.is_waiting) = (true, false, true);
        state.question += 1;
        true
    }

    /// What an answer is to be to, if it is asked for now.
    pub(super) fn question(&self) -> u64 {
        self.state.lock().question
    }

    /// A message that it has kept. `is_again`: it was asked before, so what has come since then was
    /// published while subscriptions here listened.
    pub(super) fn keep(&self, arrival: Arrival, question: u64, is_again: bool) {
        let mut state = self.state.lock();
        // So was what it has published since it was lost sight of, or since its last message.
        let known = state.last.or(state.last_before).filter(|_| !state.has_paused);
        let sequence = arrival.attachment.sequence;
        let is_kept = !is_again && known.is_none_or(|last| sequence <= last);
        if state.awaits(question) && state.held.has_room() && !state.held.has(sequence) {
            state.held.keep(Arrival { is_kept, ..arrival });
        }
    }

    /// Whether one lacks between the messages that wait, though none may get lost.
    pub(super) fn has_gap(&self, question: u64) -> bool {
        let state = self.state.lock();
        self.qos.reliability == Reliability::Reliable && state.awaits(question) && state.held.has_gap()
    }

    /// When the oldest message was published that waits for the answer.
    pub(super) fn oldest_held(&self, question: u64) -> Option<i64> {
        let state = self.state.lock();
        if state.awaits(question) { state.held.oldest() } else { None }
    }

    /// Publishes that one. Those that come wait behind the rest.
    pub(super) fn publish_oldest(&self, question: u64, shared: &Shared, route: &Route) {
        let mut state = self.state.lock();
        if !state.awaits(question) {
            return;
        }
        if state.is_publishing {
            // The thread that publishes goes on with all of them.
            state.is_waiting = false;
        } else if let Some(arrival) = state.held.take_oldest() {
            drop(self.publish_now(state, &arrival, shared, route));
        }
    }

    /// All that it has kept is here.
    pub(super) fn complete_history(&self, question: u64, shared: &Shared, route: &Route) {
        let mut state = self.state.lock();
        if state.question == question {
            state.is_waiting = false;
        }
        drop(self.publish_all(state, shared, route));
    }

    /// A message that came before its publisher was known: [`publish_held`](Self::publish_held)
    /// publishes it, and what comes from now on waits behind it.
    fn hold(self: &Arc<Self>, arrival: Arrival, shared: &Arc<Shared>, route: &Arc<Route>) {
        let mut state = self.state.lock();
        if state.lacks_before(&arrival, &self.qos) {
            self.ask_again(&mut state, shared, route);
        }
        state.hold(arrival, route);
    }

    /// Another one was taken for it, and has published its messages up to that one.
    pub(super) fn goes_on_behind(&self, last: i64) {
        self.state.lock().last = Some(last);
    }

    /// Publishes a message of it here, or keeps it until those before it are. Gives back one that is
    /// another's by now.
    fn publish(
        self: &Arc<Self>,
        arrival: Arrival,
        shared: &Arc<Shared>,
        route: &Arc<Route>,
    ) -> Option<Arrival> {
        let mut state = self.state.lock();
        if !self.is(&arrival.attachment.gid) {
            return Some(arrival);
        }
        if state.lacks_before(&arrival, &self.qos) {
            self.ask_again(&mut state, shared, route);
        }
        if !state.is_waiting && !state.is_publishing && state.held.is_empty() {
            state = self.publish_now(state, &arrival, shared, route);
        } else {
            if !state.held.has_room() {
                // The answer takes too long for as much as comes. What another thread publishes has
                // an end, unless a listener of the program's takes its time.
                state.is_waiting = false;
                if state.is_publishing && !state.has_stalled {
                    state.has_stalled = self.has_room.wait_for(&mut state, MAX_BLOCKING).timed_out();
                }
                state = self.publish_all(state, shared, route);
            }
            state.hold(arrival, route);
        }
        drop(self.publish_all(state, shared, route));
        None
    }

    /// Publishes what is held, unless it waits for an answer, or another thread publishes.
    pub(super) fn publish_held(&self, shared: &Shared, route: &Route) {
        drop(self.publish_all(self.state.lock(), shared, route));
    }

    fn publish_all<'a>(
        &'a self,
        mut state: MutexGuard<'a, Received>,
        shared: &Shared,
        route: &Route,
    ) -> MutexGuard<'a, Received> {
        while !state.is_waiting
            && !state.is_publishing
            && let Some(arrival) = state.held.take_oldest()
        {
            self.has_room.notify_one();
            state = self.publish_now(state, &arrival, shared, route);
        }
        state
    }

    /// Has all wait for what lacks.
    fn ask_again(self: &Arc<Self>, state: &mut Received, shared: &Arc<Shared>, route: &Arc<Route>) {
        state.is_waiting = true;
        state.question += 1;
        let (publisher, route, for_later) = (self.clone(), route.clone(), shared.clone());
        // By the gateway's thread: this one is zenoh's.
        let ask = move || history::ask(&for_later, &route, vec![publisher]);
        shared.tell(Change::Later(Time::steady(), Box::new(ask)));
    }

    /// Publishes it, with nothing locked meanwhile.
    fn publish_now<'a>(
        &'a self,
        mut state: MutexGuard<'a, Received>,
        arrival: &Arrival,
        shared: &Shared,
        route: &Route,
    ) -> MutexGuard<'a, Received> {
        let Some((lost, missed)) = state.admit(arrival.attachment.sequence) else { return state };
        let lost = lost + std::mem::take(&mut state.untold);
        state.is_publishing = true;
        // A subscription that takes nothing any more holds up what others get no more than once.
        let max_blocking = if state.has_stalled { Duration::ZERO } else { MAX_BLOCKING };
        drop(state);
        let mut turn = Turn { publisher: self, outcome: Outcome::default() };
        route.counters.missed(missed);
        turn.outcome = self.publish_image(arrival, (lost, max_blocking), shared, route);
        drop(turn);
        self.state.lock()
    }

    fn publish_image(
        &self,
        Arrival { sample, attachment, is_kept }: &Arrival,
        (lost, max_blocking): (u64, Duration),
        shared: &Shared,
        route: &Route,
    ) -> Outcome {
        let (payload, counters, name) = (sample.payload(), &route.counters, &route.key.name);
        if let Some(session) = &self.session {
            session.heard(shared.wall(), attachment.time, !has_history(&self.qos));
        }
        let Some(mut draft) = self.publisher.image_draft(payload.len()) else {
            counters.refused();
            shared.says_once("memory", || {
                format!("no memory for a message of {} bytes on {name}", payload.len())
            });
            return Outcome { untold: lost + 1, has_stalled: false };
        };
        if payload.reader().read_exact(&mut draft).is_err() {
            counters.refused();
            return Outcome { untold: lost + 1, has_stalled: false };
        }
        let continued = attachment.chain.map(|chain| {
            let began = Time::from_nanoseconds(chain.began);
            Lineage::from_wall(began, chain.id)
        });
        let source = SourceInfo {
            time: Time::from_nanoseconds(attachment.time),
            sequence: u64::try_from(attachment.sequence).ok(),
            lost,
            lineage: continued,
            is_kept: *is_kept,
            identity: self.identity(),
        };
        match self.publisher.publish_foreign(draft, source, max_blocking) {
            Ok(()) => {
                counters.received(payload.len());
                Outcome::default()
            }
            Err(error) => {
                counters.refused();
                shared
                    .says_once("publish", || format!("a message on {name} was not published here: {error}"));
                // Those before it were told all the same.
                Outcome { untold: 1, has_stalled: true }
            }
        }
    }
}

/// What became of a message.
#[derive(Default)]
struct Outcome {
    /// Messages that subscriptions weren't told of.
    untold: u64,
    /// It waited for room in vain.
    has_stalled: bool,
}

/// A thread publishes while this lives, also if code of the program panics.
struct Turn<'a> {
    publisher: &'a RemotePublisher,
    outcome: Outcome,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = self.publisher.state.lock();
        state.is_publishing = false;
        state.untold += self.outcome.untold;
        state.has_stalled = self.outcome.has_stalled;
    }
}

/// A subscription on the network.
pub(super) enum Subscribed {
    /// The topic's key; and that of messages with buffers, if its type has such.
    Volatile {
        _subscriber: Subscriber<()>,
        _buffers: Option<Subscriber<()>>,
    },
    TransientLocal {
        _subscriber: AdvancedSubscriber<()>,
    },
}

impl Subscribed {
    /// `kept`: what publishers may keep for late joiners, and how reliable that is; what they keep is
    /// asked for by itself ([`history`](super::history)).
    pub(super) fn open(
        shared: &Arc<Shared>,
        route: &Arc<Route>,
        kept: Option<Reliability>,
    ) -> zenoh::Result<Self> {
        let session = &shared.session;
        let subscriber = |key: String| {
            let (shared, route) = (shared.clone(), route.clone());
            let heard = move |sample: Sample| receive(&shared, &route, sample);
            session.declare_subscriber(key).allowed_origin(Locality::Remote).callback(heard)
        };
        let Some(reliability) = kept else {
            let _buffers = match route.has_buffers {
                true => Some(subscriber(buffer::cpu_key(&route.wire_key)).wait()?),
                false => None,
            };
            return Ok(Self::Volatile { _subscriber: subscriber(route.wire_key.clone()).wait()?, _buffers });
        };
        let subscriber = subscriber(route.wire_key.clone());
        let subscriber =
            subscriber.advanced().subscriber_detection().query_timeout(Duration::from_secs(3600));
        // What gets lost on the way is asked for again.
        let subscriber = match reliability {
            Reliability::Reliable => subscriber.recovery(RecoveryConfig::default().heartbeat()).wait()?,
            _ => subscriber.wait()?,
        };
        Ok(Self::TransientLocal { _subscriber: subscriber })
    }

    pub(super) fn is_transient_local(&self) -> bool {
        matches!(self, Self::TransientLocal { .. })
    }
}

fn receive(shared: &Arc<Shared>, route: &Arc<Route>, sample: Sample) {
    let mut next = understood(shared, route, sample);
    while let Some(arrival) = next {
        let gid = arrival.attachment.gid;
        let publisher = {
            let mut early = route.early.lock();
            match route.remote_publisher(&gid) {
                Some(publisher) if !early.has(&gid) => publisher,
                _ => return route.keep_early(&mut early, arrival, shared),
            }
        };
        next = publisher.publish(arrival, shared, route);
    }
}

/// A message as ROS 2 has it; of any other it is told once.
pub(super) fn understood(shared: &Shared, route: &Route, sample: Sample) -> Option<Arrival> {
    if sample.kind() != SampleKind::Put {
        return None;
    }
    let name = &route.key.name;
    let Some(attachment) = sample.attachment() else {
        route.counters.refused();
        shared.says_once("attachment", || {
            format!("a message on {name} has no attachment, as ROS 2 puts it there, and is left out")
        });
        return None;
    };
    match Attachment::parse(&attachment.to_bytes()) {
        Ok(attachment) => Some(Arrival { sample, attachment, is_kept: false }),
        Err(error) => {
            route.counters.misunderstood(&error);
            shared.says_once("attachment", || format!("a message on {name} is left out: {error}"));
            None
        }
    }
}

/// Messages that came before their publisher's token, the oldest first.
#[derive(Default)]
pub(super) struct EarlySamples {
    samples: VecDeque<EarlySample>,
    bytes: usize,
    /// They are looked at again after a while.
    is_timed: bool,
}

struct EarlySample {
    arrival: Arrival,
    came: Time,
}

impl EarlySamples {
    /// Whether a message of that publisher waits: a newer one waits behind it.
    fn has(&self, gid: &[u8; 16]) -> bool {
        self.samples.iter().any(|early| early.arrival.attachment.gid == *gid)
    }

    /// Keeps it if there is room. What has waited for too long makes room. How many are left out.
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

    /// Gives the publisher what is its. Whether there is anything.
    fn hand_over(
        &mut self,
        publisher: &Arc<RemotePublisher>,
        shared: &Arc<Shared>,
        route: &Arc<Route>,
    ) -> bool {
        let is_its = |early: &EarlySample| publisher.is(&early.arrival.attachment.gid);
        if !self.samples.iter().any(is_its) {
            return false;
        }
        let (its, others) = std::mem::take(&mut self.samples).into_iter().partition(is_its);
        self.samples = others;
        let mut its: VecDeque<EarlySample> = its;
        // What was kept may have come after what was published meanwhile.
        its.make_contiguous().sort_by_key(|early| early.arrival.attachment.sequence);
        for EarlySample { arrival, .. } in its {
            self.bytes -= arrival.sample.payload().len();
            // The gateway's thread is here, which alone changes whose they are.
            publisher.hold(arrival, shared, route);
        }
        true
    }

    /// Gives what has waited long enough to publishers whose tokens say nothing of their gids.
    fn assign(&self, now: Time, publishers: &[Arc<RemotePublisher>]) {
        for early in self.samples.iter().take_while(|early| now - early.came >= UNTOLD) {
            let gid = early.arrival.attachment.gid;
            if !publishers.iter().any(|publisher| publisher.is(&gid)) {
                let _ = publishers.iter().any(|publisher| publisher.takes(gid)); // the first that does
            }
        }
    }
}

impl Route {
    /// Keeps a message whose publisher isn't known yet; if there are too many, it is left out.
    fn keep_early(self: &Arc<Self>, early: &mut EarlySamples, arrival: Arrival, shared: &Arc<Shared>) {
        let now = Time::steady();
        (0..early.keep(arrival, now)).for_each(|_| self.counters.refused());
        if !std::mem::replace(&mut early.is_timed, true) {
            let (route, for_later) = (self.clone(), shared.clone());
            shared.later(now + UNTOLD, move || route.assign_early(&for_later));
        }
    }

    /// Keeps what a publisher has kept that isn't known yet by its messages.
    pub(super) fn keep_strange(self: &Arc<Self>, arrival: Arrival, shared: &Arc<Shared>) {
        self.keep_early(&mut self.early.lock(), arrival, shared);
    }

    /// A publisher that makes its gid otherwise than rmw_zenoh is the one that is no other's, once
    /// tokens have had their time to come. (One whose token is later still takes its own back then.)
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
            let (route, for_later) = (self.clone(), shared.clone());
            shared.later(now + UNTOLD, move || route.assign_early(&for_later));
        }
    }

    /// Publishes what came before its publisher was known: beside the gateway's thread, as
    /// subscriptions of this program are told.
    pub(super) fn publish_early(self: &Arc<Self>, shared: &Arc<Shared>) {
        let mut publishers = self.remote.read().clone();
        {
            // Under the lock: what comes meanwhile waits behind what came before.
            let mut early = self.early.lock();
            publishers.retain(|publisher| early.hand_over(publisher, shared, self));
        }
        if !publishers.is_empty() {
            let (route, for_aside) = (self.clone(), shared.clone());
            shared.callers.make(move || {
                publishers.iter().for_each(|publisher| publisher.publish_held(&for_aside, &route));
            });
        }
    }
}

/// Whether a publisher keeps messages for late joiners.
pub(super) fn has_history(qos: &QoS) -> bool {
    qos.durability == Durability::TransientLocal
}
