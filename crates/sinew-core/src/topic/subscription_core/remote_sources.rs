//! A subscription's publishers elsewhere: reading their messages, and which ones there are.

use super::{RemoteSource, SubscriptionConfig, SubscriptionCore, SubscriptionState};
use crate::event::status::MessageLost;
use crate::executor::crew::scheduler::Scheduler;
use crate::mailbox::deferred::Deferred;
use crate::mailbox::history::{Entry, HistoryCache};
use crate::mailbox::waiters::by_hand;
use crate::ros::origin::Origin;
use crate::sys::clock::Time;
use crate::sys::logging::{About, log_line};
use crate::sys::sync::{Arc, Ordering, no_lock_is_held};
use crate::topic::copy_plan::Role;
use crate::topic::remote_reads::{DirectTake, Gap, Progress, UnreadableMessage};
use sinew_msg::DecodeError;
use std::ops::ControlFlow;
use std::time::Duration;

/// Maximum number of publishers on the network that a subscription remembers after their gateway is
/// gone.
const MOST_LEFT: usize = 64;

/// Runs `read`, which adds the messages of these sources; a thread of a source notifies listeners.
#[inline]
pub(super) fn read_by_hand(sources: &[Arc<dyn RemoteSource>], read: impl FnOnce()) {
    by_hand(read, |notifications| {
        if let Some(source) = sources.first() {
            source.notify_elsewhere(notifications);
        }
    });
}

impl SubscriptionCore {
    /// Takes the next message of the only publisher past the history, if that publisher is in
    /// another process, no message waits in the history, and no task or listener is notified of
    /// messages. Otherwise returns `Continue`.
    #[inline]
    pub(super) fn take_direct(&self) -> ControlFlow<Option<Entry>> {
        let mut guard = self.state.lock();
        let is_task = guard.task_ref().is_some();
        let state = &mut *guard;
        let Some(source) = state.only.as_ref().filter(|_| state.direct) else {
            return ControlFlow::Continue(());
        };
        if state.closed
            || state.listened
            || is_task
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
                    log_line!(level; About { node: "", subject: &self.wanted.topic }, "{text}");
                    read_by_hand(std::slice::from_ref(&source), || {
                        Deferred::with(|deferred| self.count_lost_for(lost, problem.as_ref(), deferred));
                    });
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
        state.note_latency(publication.stamp.time, || self.clock.steady());
        drop(guard);
        if let Some(source) = left {
            read_by_hand(std::slice::from_ref(&source), || {
                Deferred::with(|deferred| self.count_gap(lost, deferred));
                source.drain();
            });
        }
        ControlFlow::Break(Some(Entry { message, publication, reception }))
    }

    /// Reads the messages of publishers of other processes, if there are any.
    #[inline]
    pub(super) fn read_remote(&self) {
        // Relaxed: the thread that matches a publisher meanwhile drains it.
        if self.sources.any.load(Ordering::Relaxed) {
            self.read_sources();
        }
    }

    /// Reads everything that publishers of other processes have published so far. Returns `false`
    /// if that takes longer than `timeout`.
    pub(crate) fn bring_in(&self, timeout: Duration) -> bool {
        no_lock_is_held(); // as `take`
        let is_being_read = || self.sources.all.lock().iter().any(|source| source.is_being_read());
        let begin = Time::steady();
        // A look finds nothing while another thread reads. That thread may have begun before the
        // last message arrived; a look that begins after it has ended reads everything.
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

    /// Reads all sources; listeners are notified on another thread.
    #[inline(never)]
    pub(super) fn read_sources(&self) {
        let sources = self.sources.all.lock().clone();
        read_by_hand(&sources, || sources.iter().for_each(|source| source.look()));
    }

    /// Releases everything of sources that are gone and fully read. Each such source releases this
    /// subscription itself, together with all others.
    pub(crate) fn forget_sources_that_are_over(&self) {
        let sources = self.sources.all.lock().clone();
        if sources.iter().any(|source| source.is_over()) {
            let mut gone = Vec::new();
            self.change_sources(|all| gone.extend(all.extract_if(.., |source| source.is_over())));
            gone.iter().filter_map(|source| source.progress()).for_each(|progress| self.remember(progress));
            self.await_living();
        }
    }

    /// Remembers the progress of a publisher on the network that lost its gateway.
    fn remember(&self, gone: Progress) {
        let mut left = self.sources.left.lock();
        left.retain(|known| known.identity != gone.identity);
        if left.len() == MOST_LEFT {
            left.pop_front();
        }
        left.push_back(gone);
        self.sources.any_left.store(true, Ordering::Release); // pairs with `has_left`
        drop(left);
        // Another gateway may have come before this process learned of the first one's end.
        let others = self.sources.all.lock().clone();
        let follows = |other: &Progress| other.identity == gone.identity;
        if let Some(other) = others.iter().filter_map(|other| other.progress()).find(follows) {
            Deferred::with(|deferred| self.goes_on(&other, deferred));
        }
    }

    /// Whether the subscription remembers publishers with a gateway that is gone.
    #[inline]
    pub(crate) fn has_left(&self) -> bool {
        self.sources.any_left.load(Ordering::Acquire)
    }

    /// Resumes a publisher on the network that another gateway brings, at this progress: messages
    /// published meanwhile are lost.
    pub(crate) fn goes_on(&self, now: &Progress, deferred: &mut Deferred) {
        // Messages retained only for other subscriptions don't show what this one has lost.
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

    /// Disconnects from all sources, because the subscription is being closed.
    pub(super) fn leave_sources(&self) {
        let sources = self.sources.all.lock().clone();
        self.change_sources(Vec::clear);
        let leave = || sources.iter().for_each(|source| source.disconnect(self)); // which refer to this subscription
        read_by_hand(&sources, leave);
    }

    /// Whether this publisher's messages may bypass the history when they are taken by hand, as far
    /// as the configuration decides that. If the subscription keeps all messages, the publisher's
    /// ring must keep them too.
    fn takes_directly(&self, from: &dyn RemoteSource) -> bool {
        let SubscriptionConfig { qos, filter: None, role: Role::Sharer, .. } = &self.wanted else {
            return false;
        };
        let is_kept = !qos.is_keep_all() || qos.is_blocking() && from.offered().qos.is_blocking();
        // A gateway's messages may be for other subscriptions only, and its gaps are checked.
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
            let mut state = self.state.lock();
            state.direct = direct;
            std::mem::replace(&mut state.only, only)
        };
        let before = std::mem::replace(&mut *sources, Arc::new(all));
        drop(sources);
        drop((before, only));
    }

    /// Adds a matching publisher of another process.
    pub(crate) fn add_source(&self, source: &Arc<dyn RemoteSource>) {
        self.change_sources(|all| all.push(source.clone()));
    }

    /// Updates the sources after another thread reads for this subscription.
    pub(crate) fn retune(&self) {
        if self.sources.any.load(Ordering::Relaxed) {
            let sources = self.sources.all.lock().clone();
            read_by_hand(&sources, || sources.iter().for_each(|source| source.retune()));
        }
    }

    /// Returns the executor that runs its callback.
    pub(crate) fn scheduler(&self) -> Option<Arc<Scheduler>> {
        self.state.lock().task_ref().map(|task_ref| task_ref.scheduler.clone())
    }

    /// Whether a task or a listener waits for its messages without an executor.
    pub(crate) fn needs_receiver(&self) -> bool {
        if self.deadline.is_some() {
            return true; // an arriving message must be known at once
        }
        let state = self.state.lock();
        state.listened || state.task_ref().is_some()
    }

    /// Counts messages that were overwritten before this subscription got them, or couldn't be
    /// read.
    pub(crate) fn count_lost(&self, count: u64, deferred: &mut Deferred) {
        self.count_lost_for(count, None, deferred);
    }

    /// Counts both kinds of lost messages.
    pub(crate) fn count_gap(&self, gap: Gap, deferred: &mut Deferred) {
        self.count_lost(gap.overwritten, deferred);
        self.count_missed(gap.missed, deferred);
    }

    /// Counts messages that were lost before they reached this host.
    pub(crate) fn count_missed(&self, count: u64, deferred: &mut Deferred) {
        self.count_gone(count, None, HistoryCache::count_missed, deferred);
    }

    /// Like [`count_lost`](Self::count_lost), if one of the messages has this problem.
    pub(crate) fn count_lost_for(&self, count: u64, problem: Option<&DecodeError>, deferred: &mut Deferred) {
        self.count_gone(count, problem, HistoryCache::count_lost, deferred);
    }

    /// Counts lost messages: `counting` counts them by cause; the event counts them all.
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
        counting(&mut state.history, count);
        state.count(None);
        drop(state);
        let Some(lost) = &self.lost else { return };
        let more = |event: &mut MessageLost| {
            event.total += count;
            event.total_change += count;
            if let Some(problem) = problem {
                event.undecodable += 1;
                event.last_problem = Some(problem.clone());
            }
        };
        lost.update(more, deferred);
    }

    /// Reports to the publisher of another process that taking a message freed a place. Returns
    /// `true` if nothing more can be read from the publisher before more messages are taken.
    #[inline]
    pub(super) fn advances(&self, state: &SubscriptionState) -> bool {
        let (Some(source), Some(oldest)) = (&state.only, state.history.first()) else { return false };
        source.advance_for(self, oldest)
    }

    /// Whether a publisher of another process may wait for the place of a message that was taken:
    /// reading its sources then notifies it.
    #[inline]
    pub(super) fn frees_elsewhere(&self) -> bool {
        self.is_blocking && self.sources.any.load(Ordering::Relaxed) // as in `read_remote`
    }
}
