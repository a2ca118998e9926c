//! What a client's program has of its goals: handles, futures and a stream.

use super::cancel::{Cancel, PendingCancel};
use super::core::{Accepted, ClientCore, ClientGoal, stamp_of};
use crate::error::{ResultError, SendGoalError, SendGoalFailure};
use crate::goal_id::GoalId;
use crate::status::GoalStatus;
use crate::wire::FeedbackMessage;
use futures_core::Stream;
use sinew::msg::Action;
use sinew::time::Time;
use sinew::{Duration, Message, Shared};
use std::fmt;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};

/// Counts those who expect something of a goal.
struct Hold<A: Action> {
    core: Arc<ClientCore<A>>,
    goal: Arc<ClientGoal<A>>,
}

impl<A: Action> Hold<A> {
    fn new(core: &Arc<ClientCore<A>>, goal: &Arc<ClientGoal<A>>) -> Self {
        // Relaxed, as one is only made of another one, or by the goal's callback, which keeps it.
        goal.handles.fetch_add(1, Ordering::Relaxed);
        Self { core: core.clone(), goal: goal.clone() }
    }
}

impl<A: Action> Clone for Hold<A> {
    fn clone(&self) -> Self {
        Self::new(&self.core, &self.goal)
    }
}

impl<A: Action> Drop for Hold<A> {
    fn drop(&mut self) {
        if self.goal.handles.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.core.release(&self.goal);
        }
    }
}

/// `Debug` with the action and the goal.
macro_rules! debug_with_goal {
    ($($name:ident),*) => {$(
        impl<A: Action> fmt::Debug for $name<A> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name))
                    .field("action", &self.0.core.name)
                    .field("id", &self.0.goal.id)
                    .finish_non_exhaustive()
            }
        }
    )*};
}
debug_with_goal!(PendingGoal, GoalHandle, PendingResult, Feedback);

/// A goal on its way to the server; from [`ActionClient::send_goal`](super::ActionClient::send_goal).
///
/// A future of its [`GoalHandle`], for any runtime. Dropped, the goal goes on, and only its
/// callbacks are told of it.
#[must_use = "a future does nothing until it is awaited (the goal is sent in any case)"]
pub struct PendingGoal<A: Action>(Hold<A>);

impl<A: Action> PendingGoal<A> {
    pub(super) fn new(core: &Arc<ClientCore<A>>, goal: &Arc<ClientGoal<A>>) -> Self {
        Self(Hold::new(core, goal))
    }

    /// What the goal is known by, also before the server knows it.
    pub fn id(&self) -> GoalId {
        self.0.goal.id
    }

    /// Waits for the server's answer, at most for `timeout` (of real time). In one process it
    /// doesn't wait at all: the server decides while the goal is sent.
    ///
    /// # Errors
    /// [`SendGoalError`]: also if there was no answer in time, or could never be any. Then the goal comes back if no server
    /// took it; one that a server accepts later is canceled.
    pub fn wait(mut self, timeout: Duration) -> Result<GoalHandle<A>, SendGoalError<A::Goal>> {
        let (core, goal) = (self.0.core.clone(), self.0.goal.clone());
        let why = match core.send.__wait_beside(&goal.id.0, &mut self, timeout) {
            Ok(Some(accepted)) => return accepted,
            Ok(None) => None,
            Err(why) => Some(why),
        };
        let unsent = core.give_up(&goal);
        // It may have been answered at the last moment.
        goal.accepted(&core).unwrap_or_else(|| {
            let failure = match (why, &unsent) {
                (Some(why), _) => SendGoalFailure::WouldDeadlock { why },
                (None, Some(_)) => SendGoalFailure::NoServer { waited: timeout },
                (None, None) => SendGoalFailure::Timeout { waited: timeout },
            };
            Err(SendGoalError { action: core.name.clone(), failure, goal: unsent })
        })
    }
}

impl<A: Action> Future for PendingGoal<A> {
    type Output = Accepted<A>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Hold { core, goal } = &self.0;
        ready!(goal.poll(context.waker(), |progress| progress.response.is_some().then_some(())));
        goal.accepted(core).map_or(Poll::Pending, Poll::Ready)
    }
}

/// A goal that its server has accepted.
///
/// Clones are the same goal. It keeps its client alive. Dropped, the goal goes on.
pub struct GoalHandle<A: Action>(Hold<A>);

impl<A: Action> Clone for GoalHandle<A> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<A: Action> GoalHandle<A> {
    pub(super) fn new(core: &Arc<ClientCore<A>>, goal: &Arc<ClientGoal<A>>) -> Self {
        Self(Hold::new(core, goal))
    }

    /// What the goal is known by.
    pub fn id(&self) -> GoalId {
        self.0.goal.id
    }

    /// When the server accepted it, by the server's clock. (A server of rclcpp leaves it 0.)
    pub fn stamp(&self) -> Time {
        stamp_of(&self.0.goal)
    }

    /// Its state, as far as it has been heard. Never blocks but for short locks.
    pub fn status(&self) -> GoalStatus {
        self.0.core.take_status();
        self.0.goal.state.lock().progress.status()
    }

    /// Its result, as a future for any runtime. All that are asked for get the same one, whatever
    /// has become of the goal by then.
    pub fn result(&self) -> PendingResult<A> {
        PendingResult(self.0.clone())
    }

    /// What it tells of its progress, as a stream for any runtime, which ends with the goal. Each
    /// piece goes to one stream, or to the callback, if there is one. What came before is there,
    /// also from before the server's answer, as far as the
    /// [depth](super::GoalBuilder::feedback_depth) allows.
    pub fn feedback(&self) -> Feedback<A> {
        Feedback(self.0.clone())
    }

    /// Feedback that the program misses: pieces of this goal that were not read in time, and gave way
    /// to newer ones; and pieces on the action's topic that were overwritten before the client had
    /// them, since the goal was sent and until it ended. Of those it isn't known whose they were: if
    /// goals overlap, some may be of others. A bigger
    /// [depth](super::ActionClientBuilder::feedback_depth) loses less.
    pub fn feedback_lost(&self) -> u64 {
        self.0.core.missed_feedback(&self.0.goal)
    }

    /// Asks the server to end it early. It is sent now, not when the future is polled.
    pub fn cancel(&self) -> PendingCancel {
        self.0.core.cancel(Cancel::Goal(self.id()))
    }
}

/// The result of a goal that has ended: shared with the server's cache and other clients of this
/// process, not copied.
pub struct GoalResult<A: Action> {
    id: GoalId,
    status: GoalStatus,
    result: Shared<A::Result>,
}

impl<A: Action> GoalResult<A> {
    pub(super) fn new(id: GoalId, status: GoalStatus, result: Shared<A::Result>) -> Self {
        Self { id, status, result }
    }

    /// Its goal.
    pub fn id(&self) -> GoalId {
        self.id
    }

    /// How the goal ended: succeeded, canceled or aborted.
    pub fn status(&self) -> GoalStatus {
        self.status
    }

    /// The result itself.
    pub fn into_result(self) -> Shared<A::Result> {
        self.result
    }
}

impl<A: Action> Deref for GoalResult<A> {
    type Target = A::Result;

    fn deref(&self) -> &A::Result {
        &self.result
    }
}

impl<A: Action> Clone for GoalResult<A> {
    fn clone(&self) -> Self {
        Self { id: self.id, status: self.status, result: self.result.clone() }
    }
}

impl<A: Action<Result: fmt::Debug>> fmt::Debug for GoalResult<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GoalResult")
            .field("id", &self.id)
            .field("status", &self.status)
            .field("result", &*self.result)
            .finish()
    }
}

/// The result of a goal, as soon as it has ended; from [`GoalHandle::result`].
#[must_use = "a future does nothing until it is awaited"]
pub struct PendingResult<A: Action>(Hold<A>);

impl<A: Action> PendingResult<A> {
    /// Waits for it, at most for `timeout` (of real time). In a callback, and while an executor is
    /// spun, this thread makes itself useful as in [`Client::call`](sinew::Client::call): if the server's
    /// group is free and its executor lets this thread in, the server's callback executes the goal
    /// here, inside this wait.
    ///
    /// # Errors
    /// [`ResultError`]. If the goal could never begin while this thread waits (its server's callback
    /// needs this thread, or the group of the callback that waits), it says so at once:
    /// [`ResultError::WouldDeadlock`].
    pub fn wait(mut self, timeout: Duration) -> Result<GoalResult<A>, ResultError> {
        let (core, goal) = (self.0.core.clone(), self.0.goal.clone());
        match core.result.__wait_beside(&goal.id.0, &mut self, timeout) {
            Ok(Some(result)) => result,
            Ok(None) => Err(ResultError::Timeout { goal: goal.id }),
            Err(why) => Err(ResultError::WouldDeadlock { goal: goal.id, why }),
        }
    }
}

impl<A: Action> Future for PendingResult<A> {
    type Output = Result<GoalResult<A>, ResultError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let goal = &self.0.goal;
        ready!(goal.poll(context.waker(), |progress| progress.result.is_some().then_some(())));
        goal.result().map_or(Poll::Pending, Poll::Ready)
    }
}

/// The feedback of a goal, piece by piece; from [`GoalHandle::feedback`].
#[must_use = "a stream does nothing until it is polled"]
pub struct Feedback<A: Action>(Hold<A>);

impl<A: Action> Feedback<A> {
    /// The next piece; `None`: the goal has ended, and there is no more.
    pub async fn next(&mut self) -> Option<FeedbackItem<A>> {
        std::future::poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }

    /// Pieces that the program misses, as [`GoalHandle::feedback_lost`].
    pub fn lost(&self) -> u64 {
        self.0.core.missed_feedback(&self.0.goal)
    }

    /// The next piece, if it is there.
    pub fn take(&mut self) -> Option<FeedbackItem<A>> {
        self.0.goal.state.lock().progress.take_feedback().map(FeedbackItem)
    }
}

impl<A: Action> Stream for Feedback<A> {
    type Item = FeedbackItem<A>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.goal.poll(context.waker(), |progress| match progress.take_feedback() {
            Some(message) => Some(Some(FeedbackItem(message))),
            None => progress.is_over().then_some(None),
        })
    }
}

/// One piece of feedback: the server's own, not a copy, if it is in the same process.
pub struct FeedbackItem<A: Action>(Shared<FeedbackMessage<A>>);

impl<A: Action> Deref for FeedbackItem<A> {
    type Target = A::Feedback;

    fn deref(&self) -> &A::Feedback {
        &self.0.feedback
    }
}

impl<A: Action> FeedbackItem<A> {
    /// The message as it came, to be kept or passed on.
    pub fn into_message(self) -> Shared<FeedbackMessage<A>>
    where
        FeedbackMessage<A>: Message,
    {
        self.0
    }
}

impl<A: Action<Feedback: fmt::Debug>> fmt::Debug for FeedbackItem<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.feedback.fmt(f)
    }
}
