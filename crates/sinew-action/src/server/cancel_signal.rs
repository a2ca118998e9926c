//! Notifies a goal that it must end early: by a flag, a future and a callback.

use crate::waiting::{Place, Waited, Wakers};
use sinew::__private::locks::{Mutex, no_lock_is_held};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, Waker};

/// The reason why a goal must end early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[repr(u8)]
pub enum CancelReason {
    /// A client requested it.
    Client = 1,
    /// A newer goal arrived ([`Policy::NewestWins`](super::Policy::NewestWins)).
    Preempted = 2,
    /// The server is gone, or its context is shut down: no client gets anything from the goal any
    /// more.
    ServerGone = 3,
}

impl CancelReason {
    fn of(number: u8) -> Option<Self> {
        [Self::Client, Self::Preempted, Self::ServerGone].into_iter().find(|reason| *reason as u8 == number)
    }
}

/// The signal of one goal. The first reason counts, but `ServerGone` replaces it.
#[derive(Default)]
pub(super) struct CancelSignal {
    reason: AtomicU8,
    told: Mutex<Told>,
}

#[derive(Default)]
struct Told {
    wakers: Wakers,
    callback: Option<Box<dyn FnOnce(CancelReason) + Send>>,
}

impl Waited for Told {
    fn wakers(&mut self) -> &mut Wakers {
        &mut self.wakers
    }
}

impl CancelSignal {
    pub(super) fn reason(&self) -> Option<CancelReason> {
        // Acquire: pairs with the Release in `raise`, so that a program that sees the flag also
        // sees everything that the client did before its request.
        CancelReason::of(self.reason.load(Ordering::Acquire))
    }

    /// Records the reason. Called by the thread that changes the goal's status, before any other
    /// thread sees that change. [`raise`](Self::raise) then notifies the waiting tasks and the
    /// callback.
    pub(super) fn mark(&self, reason: CancelReason) {
        self.mark_under(&self.told.lock(), reason);
    }

    fn mark_under(&self, _told: &Told, reason: CancelReason) {
        if self.reason().is_none() || reason == CancelReason::ServerGone {
            // Release: pairs with the Acquire in `reason`.
            self.reason.store(reason as u8, Ordering::Release);
        }
    }

    /// Notifies the waiting tasks and the callback. Runs the program's code: the caller holds no
    /// lock.
    pub(super) fn raise(&self, reason: CancelReason) {
        let (wakers, callback) = {
            let mut told = self.told.lock();
            self.mark_under(&told, reason);
            (told.wakers.take(), told.callback.take())
        };
        no_lock_is_held();
        wakers.into_iter().for_each(Waker::wake);
        if let Some(callback) = callback {
            callback(reason);
        }
    }

    /// Sets a callback that is called once; it is called at once if there is already a reason.
    pub(super) fn tell(&self, callback: impl FnOnce(CancelReason) + Send + 'static) {
        let replaced = {
            let mut told = self.told.lock();
            match self.reason() {
                None => told.callback.replace(Box::new(callback)),
                Some(reason) => {
                    drop(told);
                    no_lock_is_held();
                    return callback(reason);
                }
            }
        };
        drop(replaced); // dropping it runs the program's code: outside the lock
    }
}

/// Ready once a goal must end early; returned by
/// [`ExecutingGoal::cancel_requested`](super::ExecutingGoal::cancel_requested).
#[must_use = "a future does nothing until it is awaited"]
pub struct CancelRequested {
    signal: Arc<CancelSignal>,
    place: Place,
}

impl CancelRequested {
    pub(super) fn new(signal: &Arc<CancelSignal>) -> Self {
        Self { signal: signal.clone(), place: Place::default() }
    }

    /// Sets the goal's callback, as
    /// [`ExecutingGoal::on_cancel_requested`](super::ExecutingGoal::on_cancel_requested).
    pub fn on_cancel_requested(&self, callback: impl FnOnce(CancelReason) + Send + 'static) {
        self.signal.tell(callback);
    }
}

impl Future for CancelRequested {
    type Output = CancelReason;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<CancelReason> {
        let Self { signal, place } = self.get_mut();
        place.poll(&signal.told, context.waker(), |_| signal.reason())
    }
}

impl Drop for CancelRequested {
    fn drop(&mut self) {
        self.place.leave(&self.signal.told);
    }
}

impl fmt::Debug for CancelRequested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CancelRequested").field(&self.signal.reason()).finish()
    }
}
