//! A late subscription that has publishers elsewhere: what they retained comes from each by itself,
//! and is handed out in the order of its publication.
//!
//! Each transient-local publisher that is known when the subscription is made hands over what it
//! retained, be it nothing. Until all have done so the history is [held](crate::mailbox::history::HistoryCache::hold): it
//! takes in what comes, old and new, and hands out nothing. A publisher that goes first is waited
//! for no longer; nor is one that gives no answer for [`PATIENCE`], as its process is stopped, or
//! finds no room for the connection. What comes after that is sorted in among what still waits.

use super::remote_sources::RemoteSource;
use super::{SubscriptionCore, SubscriptionState};
use crate::mailbox::deferred::Deferred;
use crate::sys::clock::Time;
use crate::sys::sync::{Arc, Ordering};
use std::time::Duration;

/// How long a publisher may take to hand over what it retained. A thread that takes by hand looks
/// whether it is over, and the helper thread, which comes every 2 s.
const PATIENCE: Duration = Duration::from_secs(2);

/// What a subscription waits for.
pub(super) struct Joining {
    /// Publishers that haven't handed over what they retained.
    awaited: Vec<Arc<dyn RemoteSource>>,
    /// When it is waited no longer, in steady time of the machine.
    until: Time,
}

impl SubscriptionCore {
    /// These publishers hand over what they retained: until they have, nothing is handed out.
    /// Called before they know of this subscription, and before it has a callback.
    pub(crate) fn await_retained(&self, awaited: Vec<Arc<dyn RemoteSource>>) {
        if awaited.is_empty() {
            return;
        }
        let mut joining = self.sources.joining.lock();
        self.sources.is_joining.store(true, Ordering::Relaxed); // a hint
        self.whole().history.hold();
        *joining = Some(Joining { awaited, until: Time::steady() + PATIENCE });
    }

    /// This publisher has handed over what it retained.
    pub(crate) fn has_all_of(&self, source: &dyn RemoteSource, deferred: &mut Deferred) {
        self.await_only(|other| !std::ptr::addr_eq(Arc::as_ptr(other), source), deferred);
    }

    /// Publishers that are over are waited for no longer.
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

    /// Whether what was retained is still coming in, and nothing is handed out. A hint.
    #[inline]
    pub(super) fn is_joining(&self) -> bool {
        self.sources.is_joining.load(Ordering::Relaxed)
    }

    /// Waits no longer, if it has waited for [`PATIENCE`]. Whether it has.
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
        if given_up.is_some() {
            Deferred::with(|deferred| self.open(deferred));
        }
        given_up.is_some()
    }

    /// Hands out what came, and tells of each message.
    fn open(&self, deferred: &mut Deferred) {
        self.sources.is_joining.store(false, Ordering::Relaxed); // a hint
        let mut state = self.whole();
        state.history.open();
        let waiting = state.history.len();
        state.announce(waiting, deferred);
    }

    /// The subscription goes.
    pub(super) fn stop_joining(&self) {
        let joining = self.sources.joining.lock().take();
        self.sources.is_joining.store(false, Ordering::Relaxed); // a hint
        drop(joining);
    }
}

impl SubscriptionState {
    /// Announces so many messages that were brought in without being announced, if they are handed
    /// out.
    pub(super) fn announce(&mut self, count: usize, deferred: &mut Deferred) {
        let Some(oldest) = self.history.oldest() else { return };
        deferred.signal(self.notifier.notify(oldest));
        for _ in 0..count {
            if self.listened {
                deferred.tell(self.heard());
            }
        }
    }
}
