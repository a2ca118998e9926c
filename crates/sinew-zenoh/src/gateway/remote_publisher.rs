//! A remote publisher: the order of its messages, which its local stand-in publishes.
//!
//! The session's thread that received a message copies it to where this host's subscriptions read
//! it, and publishes it as the local stand-in of its publisher.

use super::arrival::Arrival;
use super::held::HeldSamples;
use super::qos_class::has_history;
use super::route::Route;
use super::sessions::RemoteSession;
use super::shared::Shared;
use sinew::__private::locks::{Condvar, Mutex, MutexGuard, RwLock};
use sinew::msg::{Lineage, SerializedMessage, SourceInfo};
use sinew::qos::Reliability;
use sinew::time::Time;
use sinew::{Publisher, QoS};
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

/// Longest wait of the session's thread for room in a full, reliable keep_all subscription.
/// Everything that arrives by its link waits behind it meanwhile, so the sender is slowed down as
/// by any slow link. This is also the default wait of a local publisher.
const MAX_BLOCKING: Duration = Duration::from_millis(100);

/// A remote publisher, as this host sees it.
pub(super) struct RemotePublisher {
    pub(super) qos: QoS,
    /// The gid by its token.
    pub(super) gid: [u8; 16],
    /// Its session, and its number in that session.
    pub(super) entity: (String, u64),
    publisher: Publisher<SerializedMessage>,
    /// Its session.
    session: Option<Arc<RemoteSession>>,
    /// The gid in its messages, if it differs from that of its token. Changes under the lock of
    /// `state`.
    says: RwLock<Option<[u8; 16]>>,
    state: Mutex<Received>,
    /// Notified when a waiting message has been taken to be published.
    has_room: Condvar,
}

/// Reception state of a publisher.
///
/// One thread at a time publishes, and holds no lock meanwhile, as it runs listeners of this
/// program's subscriptions. Messages that reach other threads wait for that thread, in the order of
/// their numbers.
#[derive(Default)]
struct Received {
    /// Number of the last published message.
    last: Option<i64>,
    /// Number of the last message before the publisher was gone for a while, for instance because a
    /// link was cut.
    last_before: Option<i64>,
    /// There was a pause in reception since then.
    has_paused: bool,
    /// Number of messages that found no room here since then: the next message reports them to
    /// subscriptions.
    untold: u64,
    /// The last message waited for room and got none: the next one doesn't wait.
    has_stalled: bool,
    /// Its retained messages were requested.
    is_asked: bool,
    /// A published (not retained) message has come since the answer.
    is_settled: bool,
    /// They were requested, and the answer has not arrived: all messages wait for it.
    is_waiting: bool,
    /// Number of the question that it waits for; an answer to an earlier question comes too late.
    question: u64,
    /// Number of messages that were refused before publication; they are not missing for any other
    /// reason.
    unadmitted: u64,
    /// A thread is publishing.
    is_publishing: bool,
    /// Messages that wait for the answer, or for the thread that publishes.
    held: HeldSamples,
}

impl Received {
    /// Returns `true` if messages are missing between the retained ones and this one, which is the
    /// first one behind them: they were published when the answer was given, before their path was
    /// open. (zenoh's subscriber notices later gaps.)
    fn lacks_before(&mut self, arrival: &Arrival, qos: &QoS) -> bool {
        if !self.is_asked || self.is_waiting || std::mem::replace(&mut self.is_settled, true) {
            return false;
        }
        let is_next = |last: i64| arrival.attachment.sequence <= last.saturating_add(1);
        let last = self.held.newest().max(self.last);
        qos.reliability == Reliability::Reliable && last.is_some_and(|last| !is_next(last))
    }

    /// Lets all messages wait for the missing ones.
    fn waits_again(&mut self) {
        self.is_waiting = true;
        self.question += 1;
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

    /// Returns `true` if it waits for the answer to that question.
    fn awaits(&self, question: u64) -> bool {
        self.is_waiting && self.question == question
    }

    /// Records `sequence` as the last number. Returns how many messages are missing before it, and
    /// how many of those never arrived; `None` if the message was published before.
    fn admit(&mut self, sequence: i64) -> Option<(u64, u64)> {
        // While one subscription replaces another, both receive a message, and each of them brings
        // the retained ones again. rmw_zenoh counts from 1, hiroz from 0.
        if self.last.is_some_and(|last| sequence <= last) {
            return None;
        }
        // Messages from before the pause come again if they are retained: they leave no gap, and
        // are not skipped.
        let before = self.last.or(self.last_before).filter(|_| !self.has_paused);
        let gap = before.map_or(0, |last| sequence.saturating_sub(last).saturating_sub(1));
        (self.has_paused, self.last) = (false, Some(sequence));
        let lost = u64::try_from(gap).unwrap_or(0);
        Some((lost, lost.saturating_sub(std::mem::take(&mut self.unadmitted))))
    }
}

impl RemotePublisher {
    /// `gid` and `entity` are those of the token. `last_before`: the value of [`last`](Self::last)
    /// when the publisher was here before.
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

    /// Returns `true` if `count` subscriptions of that participant receive its messages.
    pub(super) fn has_subscriptions_of(&self, participant: u64, count: usize) -> bool {
        self.publisher.has_subscriptions_of(participant, count)
    }

    /// Returns the number of the last message, if the next one has to follow it without a gap.
    pub(super) fn last(&self) -> Option<i64> {
        let state = self.state.lock();
        state.last.or(state.last_before).filter(|_| !state.has_paused)
    }

    /// Returns `true` if a message with that gid is from this publisher. A publisher that forms its
    /// gid differently from rmw_zenoh is identified by the first message that belongs to no other.
    pub(super) fn is(&self, gid: &[u8; 16]) -> bool {
        self.gid == *gid || self.says.read().as_ref() == Some(gid)
    }

    /// Returns the publisher's id for local subscriptions, which is the same for each gateway that
    /// brings its messages.
    fn identity(&self) -> u64 {
        let (half, _) = self.gid.split_first_chunk().unwrap_or((&[0; 8], &[]));
        u64::from_le_bytes(*half)
    }

    /// Assigns that gid to this publisher. Returns `false` if it already has another one.
    pub(super) fn takes(&self, gid: [u8; 16]) -> bool {
        let state = self.state.lock();
        let mut says = self.says.write();
        let takes = state.last.is_none() && says.is_none();
        if takes {
            *says = Some(gid);
        }
        takes
    }

    /// Undoes [`takes`](Self::takes) when the late token of that gid's real publisher has come.
    /// Returns the number of the last message that was published in this publisher's name.
    pub(super) fn gives_back(&self, gid: &[u8; 16]) -> Option<Option<i64>> {
        let mut state = self.state.lock();
        let mut says = self.says.write();
        says.take_if(|says| says == gid && self.gid != *gid)?;
        // Messages that another thread is about to publish belong to the real publisher as well.
        let held = state.held.newest();
        Some(state.last.take().max(held))
    }

    /// Stops reception for now; the messages that follow the pause leave no gap. Its retained
    /// messages stay retained here, and are not published again.
    pub(super) fn pause(&self) {
        let mut state = self.state.lock();
        (state.has_paused, state.is_asked, state.is_waiting) = (true, false, false);
        state.question += 1;
        state.held = HeldSamples::default();
    }

    /// Returns `true` if its history has to be requested. Then all its messages wait for that,
    /// until [`complete_history`](Self::complete_history).
    pub(super) fn begin_history(&self) -> bool {
        let mut state = self.state.lock();
        if state.is_asked || !has_history(&self.qos) {
            return false;
        }
        (state.is_asked, state.is_settled, state.is_waiting) = (true, false, true);
        state.question += 1;
        true
    }

    /// Returns the number of the current question.
    pub(super) fn question(&self) -> u64 {
        self.state.lock().question
    }

    /// Stores a retained message. `is_again`: this is not the first question, so messages that are
    /// new since then were published while local subscriptions listened.
    pub(super) fn keep(&self, arrival: Arrival, question: u64, is_again: bool) {
        let mut state = self.state.lock();
        // The same holds for messages that it has published since it was lost from sight, or since
        // its last message.
        let known = state.last.or(state.last_before).filter(|_| !state.has_paused);
        let sequence = arrival.attachment.sequence;
        let is_kept = !is_again && known.is_none_or(|last| sequence <= last);
        if state.awaits(question) && state.held.has_room() && !state.held.has(sequence) {
            state.held.keep(Arrival { is_kept, ..arrival });
        }
    }

    /// Returns `true` if a number is missing between the waiting messages of a reliable publisher.
    pub(super) fn has_gap(&self, question: u64) -> bool {
        let state = self.state.lock();
        self.qos.reliability == Reliability::Reliable && state.awaits(question) && state.held.has_gap()
    }

    /// Returns the publication time of the oldest message that waits for the answer.
    pub(super) fn oldest_held(&self, question: u64) -> Option<i64> {
        let state = self.state.lock();
        if state.awaits(question) { state.held.oldest() } else { None }
    }

    /// Publishes the oldest waiting message. Later arrivals wait behind the others.
    pub(super) fn publish_oldest(&self, question: u64, shared: &Shared, route: &Route) {
        let mut state = self.state.lock();
        if !state.awaits(question) {
            return;
        }
        if state.is_publishing {
            // The thread that is publishing goes on with all of them.
            state.is_waiting = false;
        } else if let Some(arrival) = state.held.take_oldest() {
            drop(self.publish_now(state, &arrival, shared, route));
        }
    }

    /// Publishes the retained messages, which have all arrived.
    pub(super) fn complete_history(&self, question: u64, shared: &Shared, route: &Route) {
        let mut state = self.state.lock();
        if state.question == question {
            state.is_waiting = false;
        }
        drop(self.publish_all(state, shared, route));
    }

    /// Stores a message that came before its publisher was known.
    /// [`publish_held`](Self::publish_held) publishes it; messages that come from now on wait
    /// behind it.
    /// `ask_again` posts a question for missing messages, for which all others then wait.
    pub(super) fn hold(&self, arrival: Arrival, route: &Route, ask_again: impl FnOnce()) {
        let mut state = self.state.lock();
        if state.lacks_before(&arrival, &self.qos) {
            state.waits_again();
            ask_again();
        }
        state.hold(arrival, route);
    }

    /// Records that another publisher was taken for this one, and has published its messages up to
    /// `last`.
    pub(super) fn goes_on_behind(&self, last: i64) {
        self.state.lock().last = Some(last);
    }

    /// Publishes a message here, or stores it until its predecessors are published. Gives it back
    /// if it turns out to belong to another publisher. `ask_again`: as in [`hold`](Self::hold).
    pub(super) fn publish(
        &self,
        arrival: Arrival,
        shared: &Shared,
        route: &Route,
        ask_again: impl FnOnce(),
    ) -> Option<Arrival> {
        let mut state = self.state.lock();
        if !self.is(&arrival.attachment.gid) {
            return Some(arrival);
        }
        if state.lacks_before(&arrival, &self.qos) {
            state.waits_again();
            ask_again();
        }
        if !state.is_waiting && !state.is_publishing && state.held.is_empty() {
            state = self.publish_now(state, &arrival, shared, route);
        } else {
            if !state.held.has_room() {
                // The answer takes too long for the rate of messages. The wait for another
                // publishing thread ends soon, unless a listener of the program is slow.
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

    /// Publishes the stored messages, unless they wait for an answer or another thread publishes.
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

    /// Publishes a message, with nothing locked meanwhile.
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
        // A subscription that has stopped taking messages holds up the others only once.
        let max_blocking = if state.has_stalled { Duration::ZERO } else { MAX_BLOCKING };
        drop(state);
        let mut turn = Turn { publisher: self, outcome: Outcome::default() };
        route.counters.missed(missed);
        turn.outcome = self.publish_encoded(arrival, (lost, max_blocking), shared, route);
        drop(turn);
        self.state.lock()
    }

    fn publish_encoded(
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
        let Some(mut draft) = self.publisher.encoded_draft(payload.len()) else {
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
                // The subscriptions before it got the message all the same.
                Outcome { untold: 1, has_stalled: true }
            }
        }
    }
}

/// The outcome of publishing a message.
#[derive(Default)]
struct Outcome {
    /// Number of messages that subscriptions were not notified of.
    untold: u64,
    /// The message waited for room and got none.
    has_stalled: bool,
}

/// Marks a thread as publishing while this lives, even if the program's code panics.
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
