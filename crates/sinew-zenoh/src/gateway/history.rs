//! Retained messages of remote publishers: the gateway asks for them when a local subscription
//! matches, and delivers them before messages that are published meanwhile.
//!
//! `zenoh-ext` can do that as well. But its subscriber (1.10.2) asks twice, and a third time for
//! missed messages; if a publisher publishes while one answer has arrived and another one hasn't,
//! the subscriber delivers that message at once, and drops the retained ones as older. Late joiners
//! of a busy publisher lost them more often than not. So that subscriber brings published messages
//! only, and this module asks for retained ones.

use super::change::Change;
use super::incoming::{Arrival, RemotePublisher, understood};
use super::outgoing::depth_of;
use super::route::Route;
use super::shared::Shared;
use sinew::time::Time;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;
use std::time::Duration;
use zenoh::Wait;
use zenoh::query::{ConsolidationMode, Reply, ReplyKeyExpr};
use zenoh::sample::Locality;

/// Longest wait for an answer; then the messages that have come are delivered without it. If a
/// session can't answer, zenoh knows long before, and a session that is held up publishes nothing
/// meanwhile.
const PATIENCE: Duration = Duration::from_secs(60);

/// Most questions for one history. A message that was published when the answer was given, before
/// its path was open, has been retained by the next answer.
const ROUNDS: u32 = 4;

/// Limits of the messages that wait meanwhile, for each publisher: their number and their bytes.
const MOST: usize = 10_000;
const MOST_BYTES: usize = 64 << 20;

/// Messages of one publisher, by their sequence numbers.
pub(super) struct HeldSamples<M = Arrival> {
    arrivals: BTreeMap<i64, M>,
    bytes: usize,
}

/// A message that can be held.
pub(super) trait Numbered {
    /// Returns the publisher's sequence number of the message.
    fn sequence(&self) -> i64;

    /// Returns the length in bytes.
    fn length(&self) -> usize;

    /// Records that the same message has come once more.
    fn came_again(&mut self, again: &Self);
}

impl Numbered for Arrival {
    fn sequence(&self) -> i64 {
        self.attachment.sequence
    }

    fn length(&self) -> usize {
        self.sample.payload().len()
    }

    /// If the message also comes as a published message, all subscriptions get it.
    fn came_again(&mut self, again: &Self) {
        self.is_kept &= again.is_kept;
    }
}

impl<M> Default for HeldSamples<M> {
    fn default() -> Self {
        Self { arrivals: BTreeMap::new(), bytes: 0 }
    }
}

impl<M: Numbered> HeldSamples<M> {
    pub(super) fn has_room(&self) -> bool {
        self.arrivals.len() < MOST && self.bytes < MOST_BYTES
    }

    /// Returns `true` if a message with that number waits.
    pub(super) fn has(&self, sequence: i64) -> bool {
        self.arrivals.contains_key(&sequence)
    }

    /// Stores a message. The first one with a number counts: later ones with that number add
    /// nothing, so the limits hold.
    pub(super) fn keep(&mut self, arrival: M) {
        match self.arrivals.entry(arrival.sequence()) {
            Entry::Vacant(place) => {
                self.bytes = self.bytes.saturating_add(arrival.length());
                place.insert(arrival);
            }
            Entry::Occupied(mut held) => held.get_mut().came_again(&arrival),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.arrivals.is_empty()
    }

    /// Returns the greatest number.
    pub(super) fn newest(&self) -> Option<i64> {
        self.arrivals.last_key_value().map(|(number, _)| *number)
    }

    /// Returns `true` if a number is missing between the others.
    pub(super) fn has_gap(&self) -> bool {
        let ends = self.arrivals.first_key_value().zip(self.arrivals.last_key_value());
        let span = ends.map_or(0, |((first, _), (last, _))| last.abs_diff(*first).saturating_add(1));
        span != self.arrivals.len() as u64
    }

    pub(super) fn take_oldest(&mut self) -> Option<M> {
        let (_, oldest) = self.arrivals.pop_first()?;
        self.bytes = self.bytes.saturating_sub(oldest.length());
        Some(oldest)
    }
}

impl HeldSamples {
    /// Returns the publication time of the oldest message, by its host's clock.
    pub(super) fn oldest(&self) -> Option<i64> {
        Some(self.arrivals.first_key_value()?.1.attachment.time)
    }
}

/// Publishers of one session on one topic, which are asked together. When the last answer has come,
/// or the time is over, the waiting messages are delivered.
struct Asked {
    session: String,
    round: u32,
    /// Each with its question number.
    publishers: Vec<(Arc<RemotePublisher>, u64)>,
    route: Arc<Route>,
    shared: Arc<Shared>,
}

impl Asked {
    fn ask(self) {
        let (route, shared) = (self.route.clone(), self.shared.clone());
        let depth = self.publishers.iter().map(|(publisher, _)| depth_of(&publisher.qos)).max().unwrap_or(1);
        let selector = format!("{}/@adv/*/{}/**?_max={depth}", route.wire_key, self.session);
        let asked = shared
            .session
            .get(selector)
            .consolidation(ConsolidationMode::None)
            .accept_replies(ReplyKeyExpr::Any)
            .allowed_destination(Locality::Remote)
            .timeout(PATIENCE)
            .callback(move |reply| self.answered(reply))
            .wait();
        if let Err(error) = asked {
            let name = &route.key.name;
            shared.says(&format!("what publishers of {name} keep can't be asked for: {error}"));
        }
    }

    fn answered(&self, reply: Reply) {
        let Ok(sample) = reply.into_result() else { return };
        let Some(arrival) = understood(&self.shared, &self.route, sample) else { return };
        let mut all = self.publishers.iter();
        match all.find(|(publisher, _)| publisher.is(&arrival.attachment.gid)) {
            Some((publisher, question)) => publisher.keep(arrival, *question, self.round > 1),
            // Its publisher isn't known yet: its gid is not the one that its token implies.
            None => self.route.keep_strange(Arrival { is_kept: true, ..arrival }, &self.shared),
        }
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        let has_gap = self.publishers.iter().any(|(publisher, question)| publisher.has_gap(*question));
        if self.round < ROUNDS && has_gap {
            // All publishers wait on: a missing message of one may be older than the messages of
            // the others.
            let publishers = std::mem::take(&mut self.publishers);
            let (session, route, shared) = (self.session.clone(), self.route.clone(), self.shared.clone());
            let next = Self { session, round: self.round + 1, publishers, route, shared };
            // On the gateway's thread: the current one is zenoh's.
            return self.shared.tell(Change::Later(Time::steady(), Box::new(move || next.ask())));
        }
        // In the order of publication, across all publishers.
        let oldest = || {
            let all = self.publishers.iter();
            let all = all.filter_map(|(publisher, question)| {
                Some((publisher.oldest_held(*question)?, publisher, *question))
            });
            all.min_by_key(|(time, ..)| *time)
        };
        while let Some((_, publisher, question)) = oldest() {
            publisher.publish_oldest(question, &self.shared, &self.route);
        }
        for (publisher, question) in &self.publishers {
            publisher.complete_history(*question, &self.shared, &self.route);
        }
    }
}

/// Asks publishers for their retained messages, grouped by session, in the order in which they were
/// created there: that orders messages with equal times. The caller has prepared each publisher
/// with [`RemotePublisher::begin_history`].
pub(super) fn ask(shared: &Arc<Shared>, route: &Arc<Route>, mut publishers: Vec<Arc<RemotePublisher>>) {
    publishers.sort_by(|one, other| one.entity.cmp(&other.entity));
    for of_session in publishers.chunk_by(|one, other| one.entity.0 == other.entity.0) {
        let session = of_session[0].entity.0.clone();
        let publishers = of_session.iter().map(|publisher| (publisher.clone(), publisher.question()));
        let publishers = publishers.collect();
        Asked { session, round: 1, publishers, route: route.clone(), shared: shared.clone() }.ask();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Numbered for (i64, usize) {
        fn sequence(&self) -> i64 {
            self.0
        }

        fn length(&self) -> usize {
            self.1
        }

        fn came_again(&mut self, _: &Self) {}
    }

    #[test]
    fn what_comes_again_takes_no_more_room() {
        let mut held = HeldSamples::default();
        (0..100).for_each(|number| held.keep((number, 0)));
        (0..100).for_each(|number| held.keep((number, MOST_BYTES)));
        assert_eq!(held.bytes, 0, "the first ones stay");
        let kept = (100..200).take_while(|&number| {
            let has_room = held.has_room();
            if has_room {
                held.keep((number, MOST_BYTES / 4));
            }
            has_room
        });
        assert_eq!(kept.count(), 4, "no more bytes than may wait");
        while held.take_oldest().is_some() {}
        assert_eq!(held.bytes, 0);
    }
}
