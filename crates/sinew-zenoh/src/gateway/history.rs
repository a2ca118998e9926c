//! Retained messages of remote publishers: the gateway asks for them when a local subscription
//! matches, and delivers them before messages that are published meanwhile.
//!
//! `zenoh-ext` can do this as well. But its subscriber (1.10.2) asks twice, and a third time for
//! missed messages; if a publisher publishes while one answer has arrived and another one hasn't,
//! the subscriber delivers that message at once, and drops the retained ones as older. Late joiners
//! of a busy publisher lost them more often than not. So that subscriber brings published messages
//! only, and this module asks for retained ones.

use super::arrival::{Arrival, understood};
use super::change::Change;
use super::qos_class::depth_of;
use super::remote_publisher::RemotePublisher;
use super::route::Route;
use super::shared::Shared;
use sinew::time::Time;
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

/// Takes a retained message of a publisher that isn't known yet: its gid is not the one that its
/// token implies.
type Strange = Arc<dyn Fn(Arrival) + Send + Sync>;

/// Publishers of one session on one topic, which are asked together. When the last answer has come,
/// or the time is over, the waiting messages are delivered.
struct Asked {
    session: String,
    round: u32,
    /// Each with its question number.
    publishers: Vec<(Arc<RemotePublisher>, u64)>,
    route: Arc<Route>,
    shared: Arc<Shared>,
    strange: Strange,
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
            shared.says(&format!("retained messages of {name} can't be requested: {error}"));
        }
    }

    fn answered(&self, reply: Reply) {
        let Ok(sample) = reply.into_result() else { return };
        let Some(arrival) = understood(&self.shared, &self.route, sample) else { return };
        let mut all = self.publishers.iter();
        match all.find(|(publisher, _)| publisher.is(&arrival.attachment.gid)) {
            Some((publisher, question)) => publisher.keep(arrival, *question, self.round > 1),
            None => (self.strange)(Arrival { is_kept: true, ..arrival }),
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
            let strange = self.strange.clone();
            let next = Self { session, round: self.round + 1, publishers, route, shared, strange };
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
pub(super) fn ask(
    shared: &Arc<Shared>,
    route: &Arc<Route>,
    mut publishers: Vec<Arc<RemotePublisher>>,
    strange: &Strange,
) {
    publishers.sort_by(|one, other| one.entity.cmp(&other.entity));
    for of_session in publishers.chunk_by(|one, other| one.entity.0 == other.entity.0) {
        let session = of_session[0].entity.0.clone();
        let publishers = of_session.iter().map(|publisher| (publisher.clone(), publisher.question()));
        let publishers = publishers.collect();
        let (route, shared, strange) = (route.clone(), shared.clone(), strange.clone());
        Asked { session, round: 1, publishers, route, shared, strange }.ask();
    }
}
