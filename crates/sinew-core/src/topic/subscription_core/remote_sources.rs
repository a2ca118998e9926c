//! A subscription's publishers elsewhere, and what a transport does for each of them.

use super::joining::Joining;
use super::{SubscriptionConfig, SubscriptionCore, SubscriptionState};
use crate::executor::scheduler::Scheduler;
use crate::mailbox::deferred::{Deferred, Drainable};
use crate::mailbox::history::{Entry, HistoryCache};
use crate::mailbox::waiters::{ToTell, by_hand};
use crate::message::block::RawMessage;
use crate::message::info::Publication;
use crate::message::work::CopyWork;
use crate::ros::origin::Origin;
use crate::sys::clock::Time;
use crate::sys::logging::{About, Level, tell};
use crate::sys::sync::{Arc, AtomicBool, Mutex, Ordering, no_lock_is_held};
use crate::topic::copy_plan::Role;
use crate::topic::remote_endpoint::RemoteEndpoint;
use sinew_msg::DecodeError;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::time::Duration;

/// A publisher elsewhere, as its subscriptions here see it.
///
/// Its messages come into their histories when it is [drained](Drainable::drain): by the executor
/// that its transport tells of them, or by a thread that asks for a message. One thread at a time
/// reads; a thread that finds another one reading has that one read once more, and doesn't wait.
pub(crate) trait RemoteSource: Drainable {
    /// What it says of itself.
    fn offered(&self) -> &RemoteEndpoint;

    /// From now on these get its messages. The caller then drains.
    fn serve(&self, subscriptions: &[Arc<SubscriptionCore>]);

    /// This subscription goes: nothing of the source keeps it any longer. Drains.
    fn disconnect(&self, subscription: &SubscriptionCore);

    /// Other executors serve its subscriptions now, or none: others are told of its messages.
    /// Drains.
    fn retune(&self) {
        self.drain();
    }

    /// Drains if there may be anything to read: for a thread that asks again and again.
    fn look(&self) {
        self.drain();
    }

    /// Whether a thread reads it just now.
    fn is_being_read(&self) -> bool;

    /// Has a thread that receives tell listeners; none does once the context is gone.
    fn tell_elsewhere(&self, to_tell: ToTell);

    /// Whether the publisher is gone, and everything that it published was read.
    fn is_over(&self) -> bool;

    /// How far it has come, if it stands for a publisher on the network.
    fn progress(&self) -> Option<Progress> {
        None
    }

    /// The next message for the only subscription that there is, past its history; of more than
    /// `depth` messages only the newest. Also whether the caller then drains. Called under that
    /// subscription's lock, so it waits for nothing.
    fn take_for(&self, _subscription: &SubscriptionCore, _depth: u64) -> (DirectTake, bool) {
        (DirectTake::NotSo, false)
    }

    /// The only subscription that there is has taken a message, and `oldest` is the first that it
    /// still has: what came before that is done with. False if that isn't all, and the caller then
    /// looks. Called under that subscription's lock.
    fn advance_for(&self, _subscription: &SubscriptionCore, _oldest: &Publication) -> bool {
        false
    }
}

/// What [`RemoteSource::take_for`] found.
pub(crate) enum DirectTake {
    /// It is not so simple.
    NotSo,
    Nothing,
    /// A message, what was lost before it, and what making it took.
    Message(RawMessage, Publication, Gap, CopyWork),
    /// One that makes no sense.
    Bad(UnreadableMessage),
}

/// How many messages are lost before one.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Gap {
    /// They were overwritten before they were read.
    pub(crate) overwritten: u64,
    /// They were lost before they came to this host, or left out where they were published.
    pub(crate) missed: u64,
}

impl Gap {
    fn is_none(self) -> bool {
        self.overwritten == 0 && self.missed == 0
    }
}

/// How far the messages of a publisher on the network have come, by its own numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Progress {
    /// Which publisher that is, whoever brings them.
    pub(crate) identity: u64,
    pub(crate) first: u64,
    /// The first one that its publisher had not kept for late joiners.
    pub(crate) first_new: Option<u64>,
    pub(crate) last: u64,
}

impl Progress {
    /// With one more message.
    pub(crate) fn and(self, message: &Publication) -> Self {
        let is_new = !message.is_kept();
        let first_new = self.first_new.or(is_new.then_some(message.sequence));
        Self { first_new, last: message.sequence, ..self }
    }
}

/// Publishers on the network that a subscription remembers when their gateway is gone.
const MOST_LEFT: usize = 64;

/// A message that can't be read or decoded.
pub(crate) struct UnreadableMessage {
    /// So many were lost, with those before it.
    pub(crate) lost: u64,
    pub(crate) problem: Option<DecodeError>,
    /// For the log.
    pub(crate) level: Level,
    pub(crate) text: String,
}

/// Publishers elsewhere.
#[derive(Default)]
pub(super) struct RemoteSources {
    pub(super) any: AtomicBool,
    all: Mutex<Arc<Vec<Arc<dyn RemoteSource>>>>,
    /// Whether the subscription waits for what publishers retained. A hint.
    pub(super) is_joining: AtomicBool,
    /// What it waits for. Locked before the history.
    pub(super) joining: Mutex<Option<Joining>>,
    /// Publishers on the network whose gateway is gone, and that no other one brings yet.
    left: Mutex<VecDeque<Progress>>,
    /// Whether there are any.
    any_left: AtomicBool,
}

/// Runs `read`, which brings in what these have; a thread of theirs tells listeners of it.
#[inline]
fn read_by_hand(sources: &[Arc<dyn RemoteSource>], read: impl FnOnce()) {
    by_hand(read, |to_tell| {
        if let Some(source) = sources.first() {
            source.tell_elsewhere(to_tell);
        }
    });
}

impl SubscriptionCore {
    /// Takes the next message of the only publisher there is, if that is in another process, past
    /// the history: if nothing waits there and no task or listener is told of what comes.
    /// `Continue`: it is not so simple.
    #[inline]
    pub(super) fn take_direct(&self) -> ControlFlow<Option<Entry>> {
        let mut guard = self.state.lock();
        let state = &mut *guard;
        let Some(source) = state.only.as_ref().filter(|_| state.direct) else {
            return ControlFlow::Continue(());
        };
        if state.closed
            || state.listened
            || state.notifier.task_ref().is_some()
            || state.history.oldest().is_some()
            || state.history.is_held()
        {
            return ControlFlow::Continue(());
        }
        let qos = &self.wanted.qos;
        let depth = if qos.is_keep_all() { u64::MAX } else { qos.capacity() as u64 };
        let (direct, again) = source.take_for(self, depth);
        let (message, publication, lost) = match direct {
            DirectTake::Message(message, publication, lost, work) => {
                state.work.count(work, &state.counters);
                (message, publication, lost)
            }
            DirectTake::Nothing if !again => return ControlFlow::Break(None),
            _ => {
                let source = Arc::clone(source);
                drop(guard);
                if let DirectTake::Bad(UnreadableMessage { lost, problem, level, text }) = direct {
                    tell!(level; About { node: "", subject: &self.wanted.topic }, "{text}");
                    Deferred::with(|deferred| self.count_lost_for(lost, problem.as_ref(), deferred));
                }
                if again {
                    read_by_hand(std::slice::from_ref(&source), || source.drain());
                }
                return ControlFlow::Continue(());
            }
        };
        let left = (!lost.is_none() || again).then(|| Arc::clone(source));
        let reception = state.history.pass();
        state.count(Some(publication.stamp.time));
        state.note_latency(publication.stamp.time, || self.wanted.clock.steady());
        drop(guard);
        if let Some(source) = left {
            Deferred::with(|deferred| self.count_gap(lost, deferred));
            read_by_hand(std::slice::from_ref(&source), || source.drain());
        }
        ControlFlow::Break(Some(Entry { message, publication, reception }))
    }

    /// Reads what publishers of other processes have, if there are any.
    #[inline]
    pub(super) fn read_remote(&self) {
        // Relaxed: a publisher that matches meanwhile is drained for that.
        if self.sources.any.load(Ordering::Relaxed) {
            self.read_sources();
        }
    }

    /// Has all brought in that publishers of other processes have published so far, if that takes no
    /// longer.
    pub(crate) fn bring_in(&self, timeout: Duration) -> bool {
        no_lock_is_held(); // as `take`
        let is_being_read = || self.sources.all.lock().iter().any(|source| source.is_being_read());
        let begin = Time::steady();
        // A look finds nothing if another thread reads. That one may have begun before the last message
        // came; one that begins after it has ended reads all of it.
        for _ in 0..2 {
            self.read_remote();
            while is_being_read() {
                if Time::steady() - begin >= timeout {
                    return false;
                }
                std::thread::yield_now();
            }
        }
        true
    }

    /// Listeners of what comes are told on another thread.
    #[inline(never)]
    pub(super) fn read_sources(&self) {
        let sources = self.sources.all.lock().clone();
        read_by_hand(&sources, || sources.iter().for_each(|source| source.look()));
    }

    /// Sources that have gone, and of which all was read, keep nothing here, and nothing is kept of
    /// them.
    pub(crate) fn forget_sources_that_are_over(&self) {
        let sources = self.sources.all.lock().clone();
        if sources.iter().any(|source| source.is_over()) {
            let mut gone = Vec::new();
            self.change_sources(|all| gone.extend(all.extract_if(.., |source| source.is_over())));
            for source in gone {
                if let Some(progress) = source.progress() {
                    self.remember(progress);
                }
                source.disconnect(self);
            }
            self.await_living();
        }
    }

    /// The gateway of a publisher on the network is gone.
    fn remember(&self, gone: Progress) {
        let mut left = self.sources.left.lock();
        left.retain(|known| known.identity != gone.identity);
        if left.len() == MOST_LEFT {
            left.pop_front();
        }
        left.push_back(gone);
        self.sources.any_left.store(true, Ordering::Release); // pairs with `has_left`
        drop(left);
        // Another one may have been faster than the news of the first one's end.
        let others = self.sources.all.lock().clone();
        let follows = |other: &Progress| other.identity == gone.identity;
        if let Some(other) = others.iter().filter_map(|other| other.progress()).find(follows) {
            Deferred::with(|deferred| self.goes_on(&other, deferred));
        }
    }

    /// Whether it remembers publishers whose gateway is gone.
    #[inline]
    pub(crate) fn has_left(&self) -> bool {
        self.sources.any_left.load(Ordering::Acquire)
    }

    /// The publisher on the network is there again by another gateway, which has come so far: what
    /// was published meanwhile is lost.
    pub(crate) fn goes_on(&self, now: &Progress, deferred: &mut Deferred) {
        // What is kept for others alone says nothing of what this one has lost.
        let first = if self.wanted.qos.is_transient_local() { Some(now.first) } else { now.first_new };
        let Some(first) = first else { return };
        let mut left = self.sources.left.lock();
        let Some(at) = left.iter().position(|known| known.identity == now.identity) else { return };
        let next = |known: Progress| known.last.saturating_add(1);
        let missed = left.remove(at).map_or(0, |known| first.saturating_sub(next(known)));
        if left.is_empty() {
            self.sources.any_left.store(false, Ordering::Release); // as above
        }
        drop(left);
        self.count_missed(missed, deferred);
    }

    /// There is no subscription to read for any more.
    pub(super) fn leave_sources(&self) {
        let sources = self.sources.all.lock().clone();
        self.change_sources(Vec::clear);
        let leave = || sources.iter().for_each(|source| source.disconnect(self)); // they know this one, too
        read_by_hand(&sources, leave);
    }

    /// Whether this publisher's messages may go past the history when they are taken by hand, as
    /// far as that is fixed. Where all are kept, its ring must keep them.
    fn takes_directly(&self, from: &dyn RemoteSource) -> bool {
        let SubscriptionConfig { qos, filter: None, role: Role::Sharer, .. } = &self.wanted else {
            return false;
        };
        let is_kept = !qos.is_keep_all() || qos.is_blocking() && from.offered().qos.is_blocking();
        // What a gateway brings may be for others alone, and what lacks in it is looked at.
        let is_local = from.offered().origin == Origin::Local;
        self.deadline.is_none() && self.lifespan == i64::MAX && is_kept && is_local
    }

    fn change_sources(&self, change: impl FnOnce(&mut Vec<Arc<dyn RemoteSource>>)) {
        let mut sources = self.sources.all.lock();
        let mut all = sources.to_vec();
        change(&mut all);
        self.sources.any.store(!all.is_empty(), Ordering::Relaxed); // see `read_remote`
        let only = if let [only] = &all[..] { Some(only.clone()) } else { None };
        let direct = only.as_ref().is_some_and(|only| self.takes_directly(&**only));
        let only = {
            // Whole: a thread that takes what was moved tells no publisher of another process of
            // its place.
            let mut state = self.whole();
            state.direct = direct;
            std::mem::replace(&mut state.only, only)
        };
        let before = std::mem::replace(&mut *sources, Arc::new(all));
        drop(sources);
        drop((before, only));
    }

    /// A publisher of another process matches.
    pub(crate) fn add_source(&self, source: &Arc<dyn RemoteSource>) {
        self.change_sources(|all| all.push(source.clone()));
    }

    /// Another thread reads for this subscription now.
    pub(crate) fn retune(&self) {
        if self.sources.any.load(Ordering::Relaxed) {
            let sources = self.sources.all.lock().clone();
            read_by_hand(&sources, || sources.iter().for_each(|source| source.retune()));
        }
    }

    /// Whose executor runs its callback.
    pub(crate) fn scheduler(&self) -> Option<Arc<Scheduler>> {
        self.state.lock().notifier.task_ref().map(|task_ref| task_ref.scheduler.clone())
    }

    /// Whether a task or a listener waits for its messages without an executor.
    pub(crate) fn needs_receiver(&self) -> bool {
        if self.deadline.is_some() {
            return true; // that a message came is to be known when it does
        }
        let state = self.state.lock();
        state.listened || state.notifier.task_ref().is_some()
    }

    /// Messages for it were overwritten before it got them, or made no sense.
    pub(crate) fn count_lost(&self, count: u64, deferred: &mut Deferred) {
        self.count_lost_for(count, None, deferred);
    }

    /// Both.
    pub(crate) fn count_gap(&self, gap: Gap, deferred: &mut Deferred) {
        self.count_lost(gap.overwritten, deferred);
        self.count_missed(gap.missed, deferred);
    }

    /// Messages for it were lost before they came to this host.
    pub(crate) fn count_missed(&self, count: u64, deferred: &mut Deferred) {
        self.count_gone(count, None, HistoryCache::count_missed, deferred);
    }

    /// As [`count_lost`](Self::count_lost), if one of them has this problem.
    pub(crate) fn count_lost_for(&self, count: u64, problem: Option<&DecodeError>, deferred: &mut Deferred) {
        self.count_gone(count, problem, HistoryCache::count_lost, deferred);
    }

    /// Messages for it are gone: `counting` says as what, and the event as all of them.
    fn count_gone(
        &self,
        count: u64,
        problem: Option<&DecodeError>,
        counting: impl FnOnce(&mut HistoryCache, u64),
        deferred: &mut Deferred,
    ) {
        if count == 0 {
            return;
        }
        let mut state = self.state.lock();
        self.ahead.settle(&mut state);
        counting(&mut state.history, count);
        state.count(None);
        drop(state);
        let Some(lost) = &self.lost else { return };
        deferred.signal(lost.update(|event| {
            event.total += count;
            event.total_change += count;
            if let Some(problem) = problem {
                event.undecodable += 1;
                event.last_problem = Some(problem.clone());
            }
        }));
    }

    /// After a message was taken: the publisher of another process that waits for places knows of
    /// this one, and there is nothing to be read from it before more are taken.
    #[inline]
    pub(super) fn advances(&self, state: &SubscriptionState) -> bool {
        let (Some(source), Some(oldest)) = (&state.only, state.history.first()) else { return false };
        source.advance_for(self, oldest)
    }

    /// Whether a publisher of another process may wait for the place of a message that was taken:
    /// its sources are to be read then, which tells it.
    #[inline]
    pub(super) fn frees_elsewhere(&self) -> bool {
        self.is_blocking && self.sources.any.load(Ordering::Relaxed) // as in `read_remote`
    }
}
