//! A late subscription with publishers elsewhere: each publisher's retained messages arrive
//! separately, and are handed out in the order of their publication.
//!
//! Each transient-local publisher that is known when the subscription is created hands over its
//! retained messages, even if there are none. Until all have done so, the history is
//! [held](crate::mailbox::history::HistoryCache::hold): it accepts messages, old and new, and hands
//! out nothing. The wait for a publisher also ends if the publisher goes, or gives no answer for
//! [`PATIENCE`] because its process is stopped or finds no room for the connection. Messages that
//! arrive afterwards are sorted into the messages still waiting.

use super::remote_sources::read_by_hand;
use super::{Joining, Locked, RemoteSource, SubscriptionCore};
use crate::mailbox::deferred::Deferred;
use crate::sys::clock::Time;
use crate::sys::sync::{Arc, Ordering};
use std::time::Duration;

/// Maximum time that a publisher may take to hand over its retained messages. A thread that takes
/// by hand checks it, and so does the helper thread, 2 to 4 s after the subscription was made.
const PATIENCE: Duration = Duration::from_secs(2);

impl SubscriptionCore {
    /// Holds back every message until these publishers have handed over their retained messages.
    /// Called before they know of this subscription, and before it has a callback.
    pub(crate) fn await_retained(&self, awaited: Vec<Arc<dyn RemoteSource>>) {
        if awaited.is_empty() {
            return;
        }
        let mut joining = self.sources.joining.lock();
        self.sources.is_joining.store(true, Ordering::Relaxed); // a hint
        self.state.lock().history.hold();
        *joining = Some(Joining { awaited, until: Time::steady() + PATIENCE });
    }

    /// Records that this publisher has handed over its retained messages.
    pub(crate) fn has_all_of(&self, source: &dyn RemoteSource, deferred: &mut Deferred) {
        self.await_only(|other| !std::ptr::addr_eq(Arc::as_ptr(other), source), deferred);
    }

    /// Ends the wait for publishers that are gone.
    pub(super) fn await_living(&self) {
        Deferred::with(|deferred| self.await_only(|source| !source.is_over(), deferred));
    }

    fn await_only(&self, is_awaited: impl Fn(&Arc<dyn RemoteSource>) -> bool, deferred: &mut Deferred) {
        if !self.is_joining() {
            return;
        }
        let mut joining = self.sources.joining.lock();
        let Some(Joining { awaited, .. }) = &mut *joining else { return };
        let gone: Vec<_> = awaited.extract_if(.., |source| !is_awaited(source)).collect();
        let all = if awaited.is_empty() { joining.take() } else { None };
        if all.is_some() {
            self.open(deferred);
        }
        drop(joining);
        drop((gone, all));
    }

    /// Whether retained messages are still arriving, so that nothing is handed out. A hint.
    #[inline]
    pub(crate) fn is_joining(&self) -> bool {
        self.sources.is_joining.load(Ordering::Relaxed)
    }

    /// Ends the wait if it has lasted for [`PATIENCE`]. Returns whether it has.
    #[cold]
    pub(crate) fn gives_up(&self) -> bool {
        if !self.is_joining() {
            return false;
        }
        let given_up = {
            let mut joining = self.sources.joining.lock();
            let is_over = joining.as_ref().is_some_and(|joining| joining.until <= Time::steady());
            if is_over { joining.take() } else { None }
        };
        let Some(Joining { awaited, .. }) = given_up else { return false };
        let open = || Deferred::with(|deferred| self.open(deferred));
        match awaited.is_empty() {
            true => open(),
            // A thread that takes by hand runs no listeners.
            false => read_by_hand(&awaited, open),
        }
        true
    }

    /// Hands out the messages that arrived, and announces each.
    fn open(&self, deferred: &mut Deferred) {
        self.sources.is_joining.store(false, Ordering::Relaxed); // a hint
        let mut state = self.state.lock();
        state.history.open();
        let waiting = state.history.len();
        Self::announce(state, waiting, deferred);
    }

    /// Ends the wait because the subscription is closed.
    pub(super) fn stop_joining(&self) {
        let joining = self.sources.joining.lock().take();
        self.sources.is_joining.store(false, Ordering::Relaxed); // a hint
        drop(joining);
    }

    /// Announces `count` messages that were added without being announced, if they are handed out.
    pub(super) fn announce(mut state: Locked<'_>, count: usize, deferred: &mut Deferred) {
        if state.history.oldest().is_none() {
            return;
        }
        for _ in 0..count {
            if state.listened {
                state.arrived(deferred);
            }
        }
        deferred.signal(state.announce());
    }
}
