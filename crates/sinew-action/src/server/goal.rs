//! A server's goals, as handles that say what may be done with them.

use super::cancel_signal::{CancelReason, CancelRequested, CancelSignal};
use super::core::ServerCore;
use crate::goal_id::GoalId;
use crate::status::{GoalEvent, GoalStatus};
use crate::wire::FeedbackMessage;
use sinew::error::{PublishFailure, UnsentMessage};
use sinew::msg::Action;
use sinew::{Message, Shared, Unique};
use std::fmt;
use std::sync::Arc;

/// What becomes of a goal whose handle is dropped before it has ended it. (Over a panic it is
/// aborted in any case. One that was deferred and hasn't begun is canceled: ROS 2's table has no
/// other end for it.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnDrop {
    /// It is canceled, with a default result: as rclcpp does it, and the default.
    #[default]
    Cancel,
    /// It is aborted, with a default result.
    Abort,
}

/// A goal is held: dropped, it ends.
pub(super) struct GoalHold<A: Action> {
    core: Arc<ServerCore<A>>,
    id: GoalId,
    signal: Arc<CancelSignal>,
    has_begun: bool,
    has_ended: bool,
}

impl<A: Action> GoalHold<A> {
    pub(super) fn new(
        core: Arc<ServerCore<A>>,
        id: GoalId,
        signal: Arc<CancelSignal>,
        has_begun: bool,
    ) -> Self {
        Self { core, id, signal, has_begun, has_ended: false }
    }

    fn end(mut self, event: GoalEvent, result: Unique<A::Result>) -> Result<(), EndError<A::Result>> {
        self.has_ended = true;
        let ended = self.core.end(self.id, event, result.into_shared());
        ended.map_err(|result| EndError { goal: self.id, action: self.core.name.clone(), result })
    }
}

impl<A: Action> Drop for GoalHold<A> {
    fn drop(&mut self) {
        if self.has_ended {
            return;
        }
        let event = match self.core.options.on_drop {
            _ if !self.has_begun => GoalEvent::Canceled,
            _ if std::thread::panicking() => GoalEvent::Abort,
            OnDrop::Cancel => GoalEvent::Canceled,
            OnDrop::Abort => GoalEvent::Abort,
        };
        // A server that is gone has told the clients.
        drop(self.core.end(self.id, event, Shared::new(A::Result::default())));
    }
}

/// What every handle has.
macro_rules! handle {
    ($handle:ident) => {
        impl<A: Action> $handle<A> {
            pub(super) fn new(hold: GoalHold<A>, goal: A::Goal) -> Self {
                Self { hold, goal }
            }

            /// What its client knows it by.
            pub fn id(&self) -> GoalId {
                self.hold.id
            }

            /// What is to be done.
            pub fn goal(&self) -> &A::Goal {
                &self.goal
            }

            /// What is to be done, for instance to take parts of it out.
            pub fn goal_mut(&mut self) -> &mut A::Goal {
                &mut self.goal
            }

            /// Its state now.
            pub fn status(&self) -> GoalStatus {
                self.hold.core.status(self.hold.id)
            }

            /// Whether it is to end early: a client asked for it, a newer goal came, or the server
            /// is gone. Never blocks.
            pub fn is_cancel_requested(&self) -> bool {
                self.cancel_reason().is_some()
            }

            /// Why it is to end early, if it is.
            pub fn cancel_reason(&self) -> Option<CancelReason> {
                self.hold.signal.reason()
            }

            /// Ready once it is to end early. Any runtime may poll it, also without this handle.
            pub fn cancel_requested(&self) -> CancelRequested {
                CancelRequested(self.hold.signal.clone())
            }

            /// Has `callback` called once, as soon as the goal is to end early: on the thread that
            /// says so, or here, if it is already. It should be quick, and replaces the one that
            /// was set before.
            pub fn on_cancel_requested(&self, callback: impl FnOnce(CancelReason) + Send + 'static) {
                self.hold.signal.tell(callback);
            }

            /// Ends it early, as its client or a newer goal wanted, or of the server's own accord.
            ///
            /// # Errors
            /// The server is gone: the result comes back.
            pub fn canceled(self, result: impl Into<Unique<A::Result>>) -> Result<(), EndError<A::Result>> {
                self.hold.end(GoalEvent::Canceled, result.into())
            }
        }

        impl<A: Action> fmt::Debug for $handle<A> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($handle))
                    .field("action", &self.hold.core.name)
                    .field("id", &self.hold.id)
                    .finish_non_exhaustive()
            }
        }
    };
}

/// A goal that was accepted and deferred ([`Decision::Defer`](super::Decision::Defer)): it begins
/// when the program says so. Dropped, it is canceled.
///
/// It may be moved to any thread. It counts among the server's
/// [`max_goals`](super::ActionServerBuilder::max_goals), but no policy watches it.
#[must_use = "dropped, the goal is canceled"]
pub struct AcceptedGoal<A: Action> {
    hold: GoalHold<A>,
    goal: A::Goal,
}

handle!(AcceptedGoal);

impl<A: Action> AcceptedGoal<A> {
    /// It begins. (If it is to end early already, its status stays canceling.) Its handle is the
    /// caller's: the server's callback isn't called for it.
    pub fn execute(self) -> ExecutingGoal<A> {
        let Self { mut hold, goal } = self;
        hold.core.execute(hold.id);
        hold.has_begun = true;
        ExecutingGoal { hold, goal }
    }
}

/// A goal that is executed. It ends once, in one of three ways; the types see to it:
/// [`succeed`](Self::succeed), [`abort`](Self::abort), [`canceled`](Self::canceled). Dropped, it
/// ends as [`OnDrop`] says.
///
/// It may be moved to any thread or task, and ended in any callback. That publishes the new status,
/// and answers who waits for the result: never blocks but for short locks; the result moves, and is
/// not copied.
#[must_use = "dropped, the goal is canceled or aborted"]
pub struct ExecutingGoal<A: Action> {
    hold: GoalHold<A>,
    goal: A::Goal,
}

handle!(ExecutingGoal);

impl<A: Action> ExecutingGoal<A> {
    /// It was reached.
    ///
    /// # Errors
    /// The server is gone: the result comes back.
    pub fn succeed(self, result: impl Into<Unique<A::Result>>) -> Result<(), EndError<A::Result>> {
        self.hold.end(GoalEvent::Succeed, result.into())
    }

    /// The server gives it up.
    ///
    /// # Errors
    /// The server is gone: the result comes back.
    pub fn abort(self, result: impl Into<Unique<A::Result>>) -> Result<(), EndError<A::Result>> {
        self.hold.end(GoalEvent::Abort, result.into())
    }

    /// Tells the clients how far it is. Moves the feedback, and copies it for none of them. Never
    /// blocks but for short locks; once warm, allocates nothing.
    ///
    /// # Errors
    /// [`FeedbackError`]: the server is gone, the context is shut down, or shared memory is full;
    /// the feedback comes back.
    pub fn publish_feedback(&self, feedback: A::Feedback) -> Result<(), FeedbackError<A::Feedback>> {
        let error = |failure, feedback| FeedbackError { goal: self.id(), failure, feedback };
        let Some(publisher) = self.hold.core.feedback() else {
            return Err(error(None, Some(feedback)));
        };
        let message = FeedbackMessage::<A> { goal_id: self.id(), feedback };
        publisher.publish(message).map_err(|unsent| {
            let failure = unsent.failure();
            let feedback = match unsent.into_message() {
                UnsentMessage::Unique(message) => Some(message.into_inner().feedback),
                _ => None,
            };
            error(Some(failure), feedback)
        })
    }

    pub(super) fn core(&self) -> &Arc<ServerCore<A>> {
        &self.hold.core
    }
}

/// A goal could not be ended: its server is gone. Its clients were told when that went.
pub struct EndError<R: Message> {
    goal: GoalId,
    action: String,
    result: Shared<R>,
}

impl<R: Message> EndError<R> {
    /// The goal.
    pub fn goal_id(&self) -> GoalId {
        self.goal
    }

    /// The result, which no client gets.
    pub fn into_result(self) -> Shared<R> {
        self.result
    }
}

impl<R: Message> fmt::Display for EndError<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { goal, action, .. } = self;
        write!(
            f,
            "the server of action {action} went before goal {goal} ended: keep the server as long as its goals"
        )
    }
}

impl<R: Message> fmt::Debug for EndError<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl<R: Message> std::error::Error for EndError<R> {}

/// Feedback that could not be published.
pub struct FeedbackError<F> {
    goal: GoalId,
    failure: Option<PublishFailure>,
    feedback: Option<F>,
}

impl<F> FeedbackError<F> {
    /// Why; `None`: the server is gone.
    pub fn failure(&self) -> Option<PublishFailure> {
        self.failure
    }

    /// The feedback.
    pub fn into_feedback(self) -> Option<F> {
        self.feedback
    }
}

impl<F> fmt::Display for FeedbackError<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let goal = self.goal;
        match self.failure {
            Some(failure) => write!(f, "feedback of goal {goal} was not published: {failure}"),
            None => write!(f, "feedback of goal {goal} was not published: the goal's server is gone"),
        }
    }
}

impl<F> fmt::Debug for FeedbackError<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl<F> std::error::Error for FeedbackError<F> {}
