//! Notifies a goal that it must end early: by a flag, a future and a callback.

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
    /// The server is gone: no client gets anything from the goal any more.
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
    tasks: Vec<Waker>,
    callback: Option<Box<dyn FnOnce(CancelReason) + Send>>,
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
        let told = {
            let mut told = self.told.lock();
            self.mark_under(&told, reason);
            std::mem::take(&mut *told)
        };
        no_lock_is_held();
        told.tasks.into_iter().for_each(Waker::wake);
        if let Some(callback) = told.callback {
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
pub struct CancelRequested(pub(super) Arc<CancelSignal>);

impl CancelRequested {
    /// Sets the goal's callback, as
    /// [`ExecutingGoal::on_cancel_requested`](super::ExecutingGoal::on_cancel_requested).
    pub fn on_cancel_requested(&self, callback: impl FnOnce(CancelReason) + Send + 'static) {
        self.0.tell(callback);
    }
}

impl Future for CancelRequested {
    type Output = CancelReason;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<CancelReason> {
        let mut ours = None;
        loop {
            let mut told = self.0.told.lock();
            if let Some(reason) = self.0.reason() {
                drop(told);
                drop(ours); // dropping a waker runs the program's code: outside the lock
                return Poll::Ready(reason);
            }
            if told.tasks.iter().any(|waker| waker.will_wake(context.waker())) {
                return Poll::Pending;
            }
            if let Some(ours) = ours.take() {
                told.tasks.push(ours);
                return Poll::Pending;
            }
            drop(told);
            ours = Some(context.waker().clone()); // runs the program's code; then look again
        }
    }
}

impl fmt::Debug for CancelRequested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CancelRequested").field(&self.0.reason()).finish()
    }
}
