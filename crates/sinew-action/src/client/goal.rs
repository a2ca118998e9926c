//! The program's side of a client's goals: handles, futures and a stream.

use super::cancel::{Cancel, PendingCancel};
use super::core::{ClientCore, ClientGoal, stamp_of};
use super::kind::ClientKind;
use super::progress::Progress;
use super::result::GoalResult;
use crate::error::{ResultError, SendGoalError, SendGoalFailure};
use crate::goal_id::GoalId;
use crate::kind::Kind;
use crate::status::GoalStatus;
use crate::waiting::Place;
use futures_core::Stream;
use sinew::Duration;
use sinew::msg::Action;
use sinew::time::Time;
use std::fmt;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker, ready};

/// The outcome of sending a goal.
pub(super) type Accepted<A> = Result<GoalHandle<A>, SendGoalError<<A as Kind>::Goal>>;

/// Returns the outcome of sending the goal, once it is known.
fn accepted<A: ClientKind>(core: &Arc<ClientCore<A>>, goal: &Arc<ClientGoal<A>>) -> Option<Accepted<A>> {
    Some(goal.accepted(&core.name)?.map(|()| GoalHandle::new(core, goal)))
}

/// Counts the handles and futures that keep a goal.
struct Hold<A: ClientKind> {
    core: Arc<ClientCore<A>>,
    goal: Arc<ClientGoal<A>>,
    /// Of a future, among those that wait for the goal.
    place: Place,
}

impl<A: ClientKind> Hold<A> {
    fn new(core: &Arc<ClientCore<A>>, goal: &Arc<ClientGoal<A>>) -> Self {
        // Relaxed: a hold is only cloned from another one, or made by the goal's callback, which
        // keeps it.
        goal.handles.fetch_add(1, Ordering::Relaxed);
        Self { core: core.clone(), goal: goal.clone(), place: Place::default() }
    }

    /// Returns what `look` finds, or registers the task to be woken by the next change.
    fn poll<T>(
        &mut self,
        task: &Waker,
        mut look: impl FnMut(&mut Progress<A::SharedFeedback, A::SharedResult>) -> Option<T>,
    ) -> Poll<T> {
        self.place.poll(&self.goal.state, task, |state| look(&mut state.progress))
    }
}

impl<A: ClientKind> Clone for Hold<A> {
    fn clone(&self) -> Self {
        Self::new(&self.core, &self.goal)
    }
}

impl<A: ClientKind> Drop for Hold<A> {
    fn drop(&mut self) {
        self.place.leave(&self.goal.state);
        if self.goal.handles.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.core.release(&self.goal);
        }
    }
}

/// Implements `Debug` with the action and the goal.
macro_rules! debug_with_goal {
    ($($name:ident),*) => {$(
        impl<A: ClientKind> fmt::Debug for $name<A> {
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

/// A goal on its way to the server; from
/// [`ActionClient::send_goal`](super::ActionClient::send_goal).
///
/// A future of its [`GoalHandle`], for any runtime. Dropping it doesn't stop the goal; afterwards
/// only the goal's callbacks report on it.
#[must_use = "a future does nothing until it is awaited (the goal is sent in any case)"]
pub struct PendingGoal<A: ClientKind>(Hold<A>);

impl<A: ClientKind> PendingGoal<A> {
    pub(super) fn new(core: &Arc<ClientCore<A>>, goal: &Arc<ClientGoal<A>>) -> Self {
        Self(Hold::new(core, goal))
    }

    /// Returns the goal's id, which exists before the server knows the goal.
    pub fn id(&self) -> GoalId {
        self.0.goal.id
    }

    /// Waits for the server's answer, for at most `timeout` (of real time). A server in the same
    /// process decides while the goal is sent, so there is nothing to wait for.
    ///
    /// # Errors
    /// [`SendGoalError`], also if no answer came in time or none could ever come: then the goal is
    /// given up, and its callback gets the same reason. The goal comes back if no server took it; a
    /// goal that a server accepts later is canceled.
    pub fn wait(mut self, timeout: Duration) -> Result<GoalHandle<A>, SendGoalError<A::Goal>> {
        let (core, goal) = (self.0.core.clone(), self.0.goal.clone());
        let why = match self.__wait_slice(timeout) {
            Ok(Some(accepted)) => return accepted,
            Ok(None) => None,
            Err(why) => Some(why),
        };
        let outcome = core.give_up(&goal, |came_back| match why {
            Some(why) => SendGoalFailure::WouldDeadlock { why },
            None if came_back => SendGoalFailure::NoServer { waited: timeout },
            None => SendGoalFailure::Timeout { waited: timeout },
        });
        outcome.map(|()| GoalHandle::new(&core, &goal))
    }

    /// For bindings, which look at signals while they wait: [`wait`](Self::wait) without its end.
    /// `None`: there is no answer yet.
    ///
    /// # Errors
    /// The reason why there could never be one.
    #[doc(hidden)]
    pub fn __wait_slice(&mut self, timeout: Duration) -> Result<Option<Accepted<A>>, &'static str> {
        let (core, id) = (self.0.core.clone(), self.id());
        core.send().__wait_beside(&id.0, self, timeout)
    }
}

impl<A: ClientKind> Future for PendingGoal<A> {
    type Output = Accepted<A>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let hold = &mut self.get_mut().0;
        ready!(hold.poll(context.waker(), |progress| progress.response.is_some().then_some(())));
        accepted(&hold.core, &hold.goal).map_or(Poll::Pending, Poll::Ready)
    }
}

/// A goal that its server has accepted.
///
/// Clones refer to the same goal. A handle keeps its client alive. Dropping it doesn't stop the
/// goal.
pub struct GoalHandle<A: ClientKind>(Hold<A>);

impl<A: ClientKind> Clone for GoalHandle<A> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<A: ClientKind> GoalHandle<A> {
    pub(super) fn new(core: &Arc<ClientCore<A>>, goal: &Arc<ClientGoal<A>>) -> Self {
        Self(Hold::new(core, goal))
    }

    /// Returns the goal's id.
    pub fn id(&self) -> GoalId {
        self.0.goal.id
    }

    /// Returns the time at which the server accepted the goal, by the server's clock. (A server of
    /// rclcpp leaves it 0.)
    pub fn stamp(&self) -> Time {
        stamp_of(&self.0.goal)
    }

    /// Returns the last state that the client has received. Never blocks, except for short locks.
    pub fn status(&self) -> GoalStatus {
        self.0.core.take_status();
        self.0.goal.state.lock().progress.status()
    }

    /// Returns the goal's result, as a future for any runtime. Every such future yields the same
    /// result, even if the goal has ended long before.
    pub fn result(&self) -> PendingResult<A> {
        PendingResult(self.0.clone())
    }

    /// Returns the goal's feedback, as a stream for any runtime that ends with the goal. Each
    /// message goes to one stream, or to the feedback callback if there is one. Earlier messages
    /// are included, also those from before the server's answer, as far as the
    /// [depth](super::GoalBuilder::feedback_depth) allows.
    pub fn feedback(&self) -> Feedback<A> {
        Feedback(self.0.clone())
    }

    /// Returns the number of feedback messages that the program missed: messages of this goal that
    /// were not read in time and were displaced by newer ones, and messages on the action's topic
    /// that were overwritten between sending the goal and its end, before the client took them. The
    /// latter don't name their goals: if goals overlap, some may belong to other goals. A larger
    /// [depth](super::ActionClientBuilder::feedback_depth) loses fewer.
    pub fn feedback_lost(&self) -> u64 {
        self.0.core.missed_feedback(&self.0.goal)
    }

    /// Asks the server to end the goal early. The request is sent now, not when the future is
    /// polled.
    pub fn cancel(&self) -> PendingCancel {
        self.0.core.cancel(Cancel::Goal(self.id()))
    }
}

/// The result of a goal, ready as soon as it has ended; from [`GoalHandle::result`].
#[must_use = "a future does nothing until it is awaited"]
pub struct PendingResult<A: ClientKind>(Hold<A>);

impl<A: ClientKind> PendingResult<A> {
    /// Waits for the result, for at most `timeout` (of real time). In a callback, and while an
    /// executor is spun, the thread runs other work as in [`Client::call`](sinew::Client::call): if
    /// the server's group is free and its executor lets this thread in, the server's callback
    /// executes the goal here, inside this wait.
    ///
    /// # Errors
    /// [`ResultError`]. If the goal could never begin while this thread waits (because its server's
    /// callback needs this thread, or the group of the waiting callback), the error comes at once:
    /// [`ResultError::WouldDeadlock`].
    pub fn wait(mut self, timeout: Duration) -> Result<GoalResult<A>, ResultError> {
        let (core, goal) = (self.0.core.clone(), self.0.goal.clone());
        match core.result().__wait_beside(&goal.id.0, &mut self, timeout) {
            Ok(Some(result)) => result,
            Ok(None) => Err(ResultError::Timeout { goal: goal.id }),
            Err(why) => Err(ResultError::WouldDeadlock { goal: goal.id, why }),
        }
    }
}

impl<A: ClientKind> Future for PendingResult<A> {
    type Output = Result<GoalResult<A>, ResultError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let hold = &mut self.get_mut().0;
        ready!(hold.poll(context.waker(), |progress| progress.result.is_some().then_some(())));
        hold.goal.result().map_or(Poll::Pending, Poll::Ready)
    }
}

/// The feedback of a goal, message by message; from [`GoalHandle::feedback`].
#[must_use = "a stream does nothing until it is polled"]
pub struct Feedback<A: ClientKind>(Hold<A>);

impl<A: ClientKind> Feedback<A> {
    /// Waits for the next message. Returns `None` once the goal has ended and no feedback is left.
    pub async fn next(&mut self) -> Option<FeedbackItem<A>> {
        std::future::poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }

    /// Returns the number of messages that the program missed, as [`GoalHandle::feedback_lost`]
    /// does.
    pub fn lost(&self) -> u64 {
        self.0.core.missed_feedback(&self.0.goal)
    }

    /// Returns the next message if it has arrived.
    pub fn take(&mut self) -> Option<FeedbackItem<A>> {
        self.0.goal.state.lock().progress.take_feedback().map(FeedbackItem)
    }
}

impl<A: ClientKind> Stream for Feedback<A> {
    type Item = FeedbackItem<A>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().0.poll(context.waker(), |progress| match progress.take_feedback() {
            Some(message) => Some(Some(FeedbackItem(message))),
            None => progress.is_over().then_some(None),
        })
    }
}

/// A feedback message; if the server is in the same process, its own message and not a copy.
pub struct FeedbackItem<A: Kind>(A::SharedFeedback);

impl<A: Kind> FeedbackItem<A> {
    /// Returns the message as it arrived, to be kept or passed on.
    pub fn into_message(self) -> A::SharedFeedback {
        self.0
    }
}

impl<A: Action> Deref for FeedbackItem<A> {
    type Target = A::Feedback;

    fn deref(&self) -> &A::Feedback {
        &self.0.feedback
    }
}

impl<A: Action<Feedback: fmt::Debug>> fmt::Debug for FeedbackItem<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.feedback.fmt(f)
    }
}
