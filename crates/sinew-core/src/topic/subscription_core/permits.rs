//! Places in a history that are reserved for publishers about to deliver, and publishers that wait
//! for one.

use super::SubscriptionCore;
use crate::executor::crew::blocked::Blocked;
use crate::executor::crew::wait_graph::{Deadlock, WaitGraph};
use crate::sys::clock::Time;
use crate::sys::sync::{AtomicBool, Ordering};
use std::time::Duration;

/// Nanoseconds for which a publisher that found no place waits for more than one.
const FAIR: i64 = 500_000;

/// The reason why a publisher got no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoPermit {
    /// The subscription is gone: there is nothing to deliver, and no error.
    Gone,
    /// The history stayed full.
    Full,
    /// Only the waiting publisher could empty it.
    WouldDeadlock,
    /// The context was shut down.
    Shutdown,
}

impl SubscriptionCore {
    /// Reserves a place if there is one now. Returns `None` if the subscription is gone and needs
    /// none.
    pub(crate) fn try_reserve(&self) -> Option<bool> {
        let mut state = self.state.lock();
        if state.closed {
            return None;
        }
        let (granted, freed) = state.history.reserve(self.clock.steady());
        drop(state);
        drop(freed); // runs code of the program
        Some(granted)
    }

    /// Reserves a free place, if there is one; returns `true` as well if the subscription is gone
    /// and needs none.
    #[inline]
    pub(crate) fn reserve_free(&self) -> bool {
        let mut state = self.state.lock();
        state.closed || state.history.reserve_free()
    }

    /// Reserves a place for the calling publisher; waits for one until `deadline` (steady machine
    /// time).
    pub(crate) fn reserve(
        &self,
        deadline: i64,
        wait_graph: &WaitGraph,
        ended: &AtomicBool,
    ) -> Result<(), NoPermit> {
        let mut state = self.state.lock();
        let (mut waiting_for, mut _blocked) = (None, None);
        let mut fair: Option<i64> = None;
        loop {
            if state.closed {
                return Err(NoPermit::Gone);
            }
            // Acquire: pairs with the Release of the shutdown, which then wakes this thread under
            // this lock.
            if ended.load(Ordering::Acquire) {
                return Err(NoPermit::Shutdown);
            }
            let now = Time::steady();
            let left = Time::from_nanoseconds(deadline) - now;
            // A publisher that has begun to wait wants more than one place, for a moment.
            let is_fair = fair.is_some_and(|until| now.nanoseconds() < until)
                && !left.is_zero()
                && !state.history.has_mortals();
            let enough = if is_fair { state.history.half() } else { 1 };
            if state.history.free() >= enough || !is_fair {
                let (granted, freed) = state.history.reserve(self.clock.steady());
                if let Some(freed) = freed {
                    drop(state);
                    drop(freed); // runs code of the program
                    state = self.state.lock();
                    if granted {
                        return Ok(());
                    }
                    continue;
                }
                if granted {
                    return Ok(());
                }
            }
            if left.is_zero() {
                return Err(NoPermit::Full);
            }
            if waiting_for.is_none()
                && let Some(task_ref) = state.task_ref()
            {
                // No thread spins the executor, and this thread was the last to do so: it would be
                // the one to empty the history.
                if task_ref.scheduler.depends_on_this_thread() {
                    return Err(NoPermit::WouldDeadlock);
                }
                waiting_for =
                    Some(wait_graph.enter(task_ref, false).map_err(|Deadlock| NoPermit::WouldDeadlock)?);
                drop(state);
                _blocked = Blocked::begin();
                state = self.state.lock();
                continue;
            }
            // A message that expires meanwhile gives way too, without any thread signalling it.
            let expiry = state
                .history
                .first_expiry()
                .map(|expiry| Time::from_nanoseconds(expiry) - Time::from_nanoseconds(self.clock.steady()));
            if fair.is_none() {
                fair = Some(now.nanoseconds() + FAIR);
                continue; // with the larger `enough` from now on
            }
            let fair =
                is_fair.then(|| Time::from_nanoseconds(now.nanoseconds().max(fair.unwrap_or(0))) - now);
            let pause = expiry.into_iter().chain(fair).fold(left, Duration::min);
            state.enough = if state.waiting == 0 { enough } else { state.enough.min(enough) };
            state.waiting += 1;
            state.wait_at_most(&self.space, Some(pause));
            state.waiting -= 1;
        }
    }

    /// Returns a reserved place.
    pub(crate) fn unreserve(&self) {
        let mut state = self.state.lock();
        state.history.unreserve();
        self.release(state);
    }
}
