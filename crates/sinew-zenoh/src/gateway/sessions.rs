//! The sessions of the network: those that the gateway's session is linked with, the reachability
//! of sessions with nodes, and the difference between their hosts' clocks and this one's. For
//! reports only: no message depends on it.
//!
//! A router doesn't forward messages between two of its peers: these talk directly, but tokens of
//! their nodes arrive even where messages can't. So a session with nodes and without a link is sent
//! a query that every session answers. If no query gets through, no message does.

use super::change::Change;
use super::reports::{Reports, Words};
use super::shared::Shared;
use crate::wire::token::{ADMIN_SPACE, Token};
use sinew::__private::locks::Mutex;
use sinew::gateway::{GatewayWord, LinkWord, Report, SessionWord};
use sinew::time::Time;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use zenoh::Wait;
use zenoh::config::WhatAmI;
use zenoh::pubsub::Subscriber;
use zenoh::query::ConsolidationMode;
use zenoh::sample::SampleKind;
use zenoh::session::LinkEventsListener;

/// Time within which a session should get a link, or answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// Longest pause before a session without an answer is asked again; each pause is twice as long as
/// the one before.
const LONGEST_PAUSE: Duration = Duration::from_secs(32);

/// Most sessions that are asked at a time: every session that a peer announces is work here.
const ASKED: usize = 32;

/// Time for which message clocks are compared before the next comparison begins, in nanoseconds.
const WINDOW: i64 = 10_000_000_000;

/// A session with nodes, and the counters of its messages.
pub(super) struct RemoteSession {
    words: Words,
    clock: Mutex<ClockWindow>,
}

impl RemoteSession {
    /// Records that a message of the session has arrived. `source`: the session's wall time of the
    /// publication. `is_fresh`: the message was sent when it was published, not retained for late
    /// joiners.
    pub(super) fn heard(&self, wall: i64, source: i64, is_fresh: bool) {
        self.words.count(SessionWord::Heard as usize, 1);
        let late = wall.saturating_sub(source);
        // A retained message is late for that reason, but never early.
        if !is_fresh && late >= 0 {
            return;
        }
        // The messages of any thread serve the purpose.
        let Some(mut clock) = self.clock.try_lock() else { return };
        let least = clock.compare(wall, late);
        self.words.set(SessionWord::Behind as usize, least.cast_unsigned());
        self.words.count(SessionWord::Compared as usize, 1);
    }
}

/// The smallest delay of messages in the last ten seconds or so. (After a clock change, the old
/// difference goes with its window.)
#[derive(Default)]
struct ClockWindow {
    /// Wall time, in nanoseconds.
    begin: i64,
    least: Option<i64>,
    /// The value of the window before.
    before: Option<i64>,
}

impl ClockWindow {
    fn compare(&mut self, wall: i64, late: i64) -> i64 {
        // Also if this host's clock was set back.
        if !(0..WINDOW).contains(&wall.saturating_sub(self.begin)) {
            self.begin = wall;
            self.before = self.least.take();
        }
        let least = self.least.map_or(late, |least| least.min(late));
        self.least = Some(least);
        self.before.map_or(least, |before| before.min(least))
    }
}

/// The gateway's record of a session with nodes.
struct Known {
    told: Arc<RemoteSession>,
    nodes: u64,
    /// Time of the next query; `None` once it has answered, or during a query.
    due: Option<Time>,
    /// The previous pause.
    pause: Duration,
}

impl Known {
    fn set_reached(&mut self, is_reached: bool) {
        self.told.words.set(SessionWord::Reached as usize, if is_reached { 1 } else { 2 });
        if is_reached {
            self.pause = PATIENCE;
            self.due = None;
        } else {
            self.pause = (self.pause * 2).min(LONGEST_PAUSE);
            self.due = Some(Time::steady() + self.pause);
        }
    }
}

/// All known sessions.
pub(super) struct Sessions {
    shared: Arc<Shared>,
    reports: Reports,
    known: HashMap<String, Known>,
    /// By their ids and addresses.
    links: HashMap<(String, String), Words>,
    /// The links have changed, and the gateway's thread has been notified.
    has_changed: Arc<AtomicBool>,
    _listener: LinkEventsListener<()>,
}

impl Sessions {
    pub(super) fn open(shared: &Arc<Shared>, reports: &Reports) -> zenoh::Result<Self> {
        let has_changed = Arc::<AtomicBool>::default();
        let (noted, telling) = (has_changed.clone(), shared.clone());
        let info = shared.session.info();
        let listener = info.link_events_listener().history(true).callback(move |_| {
            // AcqRel: the thread that looks sees the changes from before.
            if !noted.swap(true, Ordering::AcqRel) {
                telling.tell(Change::Links);
            }
        });
        Ok(Self {
            shared: shared.clone(),
            reports: reports.clone(),
            known: HashMap::new(),
            links: HashMap::new(),
            has_changed,
            _listener: listener.wait()?,
        })
    }

    /// Returns the time at which [`look`](Self::look) is due.
    pub(super) fn next(&self) -> Option<Time> {
        self.known.values().filter_map(|known| known.due).min()
    }

    /// Records that a node of the session has come.
    pub(super) fn node_came(&mut self, session: &str, node: &str) {
        let known = self.known.entry(session.to_owned()).or_insert_with(|| {
            let mut report = Report::Session.about(session, "");
            node.clone_into(&mut report.node);
            let told = RemoteSession { words: self.reports.words(report), clock: Mutex::default() };
            let due = Some(Time::steady() + PATIENCE);
            let mut known = Known { told: Arc::new(told), nodes: 0, due, pause: PATIENCE };
            if self.links.keys().any(|(linked, _)| linked == session) {
                known.set_reached(true);
            }
            known
        });
        known.nodes += 1;
        known.told.words.set(SessionWord::Nodes as usize, known.nodes);
    }

    /// Returns the counters for its messages.
    pub(super) fn of(&self, session: &str) -> Option<Arc<RemoteSession>> {
        self.known.get(session).map(|known| known.told.clone())
    }

    /// Records that a node of the session is gone.
    pub(super) fn node_went(&mut self, session: &str) {
        let Some(known) = self.known.get_mut(session) else { return };
        known.nodes -= 1;
        known.told.words.set(SessionWord::Nodes as usize, known.nodes);
        if known.nodes == 0 {
            self.known.remove(session);
        }
    }

    /// Links have come or gone.
    pub(super) fn links_changed(&mut self) {
        self.has_changed.store(false, Ordering::Release); // as above: later changes notify anew
        let info = self.shared.session.info();
        let roles: HashMap<_, _> =
            info.transports().wait().map(|transport| (*transport.zid(), transport.whatami())).collect();
        let mut before = std::mem::take(&mut self.links);
        for link in info.links().wait() {
            let id = (link.zid().to_string(), link.dst().to_string());
            let words = before.remove(&id).unwrap_or_else(|| {
                let words = self.reports.words(Report::Link.about(&id.0, &id.1));
                let role = match roles.get(link.zid()) {
                    Some(WhatAmI::Router) => 1,
                    Some(WhatAmI::Peer) => 2,
                    _ => 3,
                };
                words.set(LinkWord::Role as usize, role);
                words
            });
            self.links.insert(id, words);
        }
        for (session, _) in self.links.keys() {
            if let Some(known) = self.known.get_mut(session) {
                known.set_reached(true);
            }
        }
        for (session, _) in before.into_keys() {
            let is_linked = self.links.keys().any(|(linked, _)| *linked == session);
            if let Some(known) = self.known.get_mut(&session).filter(|_| !is_linked) {
                known.told.words.set(SessionWord::Reached as usize, 0);
                known.due = Some(Time::steady() + PATIENCE);
            }
        }
    }

    /// Queries the sessions that are due.
    pub(super) fn look(&mut self, now: Time) {
        let is_due = |known: &&mut Known| known.due.is_some_and(|at| at <= now);
        let due = self.known.iter_mut().filter_map(|(id, known)| Some((id, Some(known).filter(is_due)?)));
        for (session, known) in due.take(ASKED) {
            known.due = None;
            ask(&self.shared, session);
        }
    }

    /// Records that a session has answered, or hasn't.
    pub(super) fn answered(&mut self, session: &str, is_reached: bool) {
        let is_linked = self.links.keys().any(|(linked, _)| linked == session);
        if let Some(known) = self.known.get_mut(session) {
            known.set_reached(is_reached || is_linked);
        }
    }
}

/// Reports, when no more replies come, whether there was an answer.
struct Asked {
    shared: Arc<Shared>,
    session: String,
    is_answered: AtomicBool,
}

impl Drop for Asked {
    fn drop(&mut self) {
        let session = std::mem::take(&mut self.session);
        self.shared.tell(Change::Answered(session, *self.is_answered.get_mut()));
    }
}

/// Queries a session's own description: each session answers that below `@/ID`.
fn ask(shared: &Arc<Shared>, session: &str) {
    let asked =
        Asked { shared: shared.clone(), session: session.to_owned(), is_answered: AtomicBool::new(false) };
    let query = shared
        .session
        .get(format!("@/{session}/*"))
        .consolidation(ConsolidationMode::None)
        .timeout(PATIENCE)
        .callback(move |reply| {
            if reply.result().is_ok() {
                asked.is_answered.store(true, Ordering::Relaxed); // it is dropped after all replies
            }
        })
        .wait();
    drop(query); // its callback's drop reports that there was no answer
}

/// Nodes of other domains on the network, while none of this domain is there: the domain number may
/// be wrong on one side.
pub(super) struct Elsewhere {
    _nodes: Subscriber<()>,
}

impl Elsewhere {
    pub(super) fn open(shared: &Arc<Shared>, words: &Arc<Words>) -> zenoh::Result<Self> {
        let (own, words) = (shared.context.domain(), words.clone());
        let counts = Mutex::new(BTreeMap::<u32, u64>::new());
        let heard = move |kind, domain| {
            let mut counts = counts.lock();
            let count = counts.entry(domain).or_default();
            *count = if kind == SampleKind::Put { count.saturating_add(1) } else { count.saturating_sub(1) };
            let most = counts.iter().max_by_key(|(_, count)| **count).filter(|(_, count)| **count > 0);
            let (domain, count) = most.map_or((0, 0), |(domain, count)| (u64::from(*domain) + 1, *count));
            words.set(GatewayWord::OtherDomain as usize, domain);
            words.set(GatewayWord::OtherNodes as usize, count);
        };
        let nodes = shared
            .session
            .liveliness()
            .declare_subscriber(format!("{ADMIN_SPACE}/*/*/*/*/NN/**"))
            .history(true)
            .callback(move |sample| {
                let token = Token::parse(sample.key_expr().as_str());
                // ROS 2 has no greater domains.
                if let Some(token) = token
                    .ok()
                    .filter(|token| token.domain <= super::error::LAST_DOMAIN && token.domain != own)
                {
                    heard(sample.kind(), token.domain);
                }
            })
            .wait()?;
        Ok(Self { _nodes: nodes })
    }

    /// Ends the report: a node of this domain has come.
    pub(super) fn close(self, words: &Words) {
        drop(self);
        words.set(GatewayWord::OtherDomain as usize, 0);
        words.set(GatewayWord::OtherNodes as usize, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_set_right_is_right_after_a_window() {
        let mut clock = ClockWindow::default();
        let second = 1_000_000_000;
        assert_eq!(clock.compare(100 * second, 7 * second), 7 * second);
        assert_eq!(clock.compare(101 * second, 5 * second), 5 * second);
        assert_eq!(clock.compare(102 * second, 6 * second), 5 * second, "the least counts");
        // The peer's clock was set forward.
        for later in 103..120 {
            clock.compare(later * second, 1000);
        }
        assert_eq!(clock.compare(121 * second, 2000), 1000);
        // Now it is ahead; then right again.
        assert_eq!(clock.compare(122 * second, -second), -second);
        for later in 123..150 {
            clock.compare(later * second, 3000);
        }
        assert_eq!(clock.compare(151 * second, 3000), 3000);
        // This host's clock is set back.
        assert_eq!(clock.compare(second, 5000), 3000);
        assert_eq!(clock.compare(30 * second, 5000), 5000);
    }
}
