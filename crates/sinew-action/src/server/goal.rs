//! Handles of a server's goals; their types say which operations are possible.

use super::cancel_signal::{CancelReason, CancelRequested, CancelSignal};
use super::kind::ServerKind;
use crate::goal_id::GoalId;
use crate::status::{GoalEvent, GoalStatus};
use crate::wire::FeedbackMessage;
use sinew::error::{PublishFailure, UnsentMessage};
use sinew::msg::Action;
use sinew::{Message, Shared, Unique};
use std::fmt;
use std::sync::{Arc, Weak};

/// How a goal ends if its handle is dropped before the program has ended it. (On a panic it is
/// aborted in any case. A deferred goal that hasn't begun is canceled, as ROS 2's table has no
/// other end for it.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnDrop {
    /// The goal is canceled, with a default result. This is rclcpp's behavior and the default.
    #[default]
    Cancel,
    /// The goal is aborted, with a default result.
    Abort,
}

/// The server of goals, as their handles use it.
pub(super) trait GoalOwner<A: ServerKind>: Send + Sync {
    /// The action's full name.
    fn name(&self) -> &str;

    fn types(&self) -> &A::Types;

    fn on_drop(&self) -> OnDrop;

    fn status(&self, id: GoalId) -> GoalStatus;

    /// Begins a deferred goal.
    fn execute(self: Arc<Self>, id: GoalId);

    /// Ends a goal. The result comes back if the server is gone.
    fn end(
        self: Arc<Self>,
        id: GoalId,
        event: GoalEvent,
        result: A::SharedResult,
    ) -> Result<(), A::SharedResult>;

    /// Ends a goal with an empty result.
    fn end_empty(self: Arc<Self>, id: GoalId, event: GoalEvent);

    /// The publisher of feedback, while the server is open.
    fn feedback(&self) -> Option<A::FeedbackPublisher>;
}

/// A goal that is about to begin. It doesn't keep its server alive.
#[doc(hidden)]
pub struct BeginningGoal<A: ServerKind> {
    owner: Weak<dyn GoalOwner<A>>,
    id: GoalId,
    goal: A::Goal,
    signal: Arc<CancelSignal>,
}

impl<A: ServerKind> BeginningGoal<A> {
    pub(super) fn new(
        owner: Weak<dyn GoalOwner<A>>,
        id: GoalId,
        goal: A::Goal,
        signal: Arc<CancelSignal>,
    ) -> Self {
        Self { owner, id, goal, signal }
    }

    pub(super) fn id(&self) -> GoalId {
        self.id
    }

    /// `None`: the server is gone.
    pub(super) fn begin(self) -> Option<ExecutingGoal<A>> {
        let hold = GoalHold::new(self.owner.upgrade()?, self.id, self.signal, true);
        Some(ExecutingGoal::new(hold, self.goal))
    }
}

/// Keeps a goal; dropping it ends the goal.
pub(super) struct GoalHold<A: ServerKind> {
    owner: Arc<dyn GoalOwner<A>>,
    id: GoalId,
    signal: Arc<CancelSignal>,
    has_begun: bool,
    has_ended: bool,
}

impl<A: ServerKind> GoalHold<A> {
    pub(super) fn new(
        owner: Arc<dyn GoalOwner<A>>,
        id: GoalId,
        signal: Arc<CancelSignal>,
        has_begun: bool,
    ) -> Self {
        Self { owner, id, signal, has_begun, has_ended: false }
    }

    /// The result comes back if the server is gone.
    fn end(mut self, event: GoalEvent, result: A::SharedResult) -> Result<(), A::SharedResult> {
        self.has_ended = true;
        self.owner.clone().end(self.id, event, result)
    }
}

impl<A: ServerKind> Drop for GoalHold<A> {
    fn drop(&mut self) {
        if self.has_ended {
            return;
        }
        let event = match self.owner.on_drop() {
            _ if !self.has_begun => GoalEvent::Canceled,
            _ if std::thread::panicking() => GoalEvent::Abort,
            OnDrop::Cancel => GoalEvent::Canceled,
            OnDrop::Abort => GoalEvent::Abort,
        };
        self.owner.clone().end_empty(self.id, event);
    }
}

/// Methods of every handle.
macro_rules! handle {
    ($handle:ident) => {
        impl<A: ServerKind> $handle<A> {
            pub(super) fn new(hold: GoalHold<A>, goal: A::Goal) -> Self {
                Self { hold, goal }
            }

            /// Returns the goal's id, which its client chose.
            pub fn id(&self) -> GoalId {
                self.hold.id
            }

            /// Returns the goal that the client sent.
            pub fn goal(&self) -> &A::Goal {
                &self.goal
            }

            /// Returns the goal mutably, for instance to move parts out of it.
            pub fn goal_mut(&mut self) -> &mut A::Goal {
                &mut self.goal
            }

            /// Returns the goal's current state.
            pub fn status(&self) -> GoalStatus {
                self.hold.owner.status(self.hold.id)
            }

            /// Returns `true` if the goal must end early: a client requested it, a newer goal
            /// arrived, the server is gone, or its context is shut down. Never blocks.
            pub fn is_cancel_requested(&self) -> bool {
                self.cancel_reason().is_some()
            }

            /// Returns the reason why the goal must end early; `None` if it needn't.
            pub fn cancel_reason(&self) -> Option<CancelReason> {
                self.hold.signal.reason()
            }

            /// Returns a future that is ready once the goal must end early. Any runtime may poll
            /// it, and it outlives this handle.
            pub fn cancel_requested(&self) -> CancelRequested {
                CancelRequested::new(&self.hold.signal)
            }

            /// Sets a callback that is called once, as soon as the goal must end early, on the
            /// thread that causes this; or on the calling thread, if the goal must end already. It
            /// should be quick. It replaces the previous callback.
            pub fn on_cancel_requested(&self, callback: impl FnOnce(CancelReason) + Send + 'static) {
                self.hold.signal.tell(callback);
            }

            /// Ends the goal. The result comes back if the server is gone.
            pub(crate) fn end(
                self,
                event: GoalEvent,
                result: A::SharedResult,
            ) -> Result<(), A::SharedResult> {
                self.hold.end(event, result)
            }

            /// Returns the types of the action that are values of the run time.
            pub(crate) fn kind_types(&self) -> &A::Types {
                self.hold.owner.types()
            }
        }

        impl<A: Action> $handle<A> {
            /// Ends the goal early, at the request of its client or of a newer goal, or of the
            /// server's own accord.
            ///
            /// # Errors
            /// The server is gone: the result comes back.
            pub fn canceled(self, result: impl Into<Unique<A::Result>>) -> Result<(), EndError<A::Result>> {
                self.end_typed(GoalEvent::Canceled, result.into())
            }

            fn end_typed(
                self,
                event: GoalEvent,
                result: Unique<A::Result>,
            ) -> Result<(), EndError<A::Result>> {
                let (goal, owner) = (self.id(), self.hold.owner.clone());
                let ended = self.end(event, result.into_shared());
                ended.map_err(|result| EndError { goal, action: owner.name().to_owned(), result })
            }
        }

        impl<A: ServerKind> fmt::Debug for $handle<A> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($handle))
                    .field("action", &self.hold.owner.name())
                    .field("id", &self.hold.id)
                    .finish_non_exhaustive()
            }
        }
    };
}

/// A goal that was accepted and deferred ([`Decision::Defer`](super::Decision::Defer)): it begins
/// when the program calls [`execute`](Self::execute). Dropping it cancels the goal.
///
/// It may be moved to any thread. It counts towards the server's
/// [`max_goals`](super::ActionServerBuilder::max_goals), but no policy applies to it.
#[must_use = "dropped, the goal is canceled"]
pub struct AcceptedGoal<A: ServerKind> {
    hold: GoalHold<A>,
    goal: A::Goal,
}

handle!(AcceptedGoal);

impl<A: ServerKind> AcceptedGoal<A> {
    /// Begins the goal. (If it must end early already, its status stays canceling.) The caller gets
    /// its handle: the server's callback isn't called for it.
    pub fn execute(self) -> ExecutingGoal<A> {
        let Self { mut hold, goal } = self;
        hold.owner.clone().execute(hold.id);
        hold.has_begun = true;
        ExecutingGoal { hold, goal }
    }
}

/// A goal that is being executed. The types ensure that it ends once, in one of three ways:
/// [`succeed`](Self::succeed), [`abort`](Self::abort), [`canceled`](Self::canceled). If it is
/// dropped, it ends according to [`OnDrop`].
///
/// It may be moved to any thread or task, and ended in any callback. Ending it publishes the new
/// status and answers the clients that wait for the result. This never blocks, except for short
/// locks; the result is moved, not copied.
#[must_use = "dropped, the goal is canceled or aborted"]
pub struct ExecutingGoal<A: ServerKind> {
    hold: GoalHold<A>,
    goal: A::Goal,
}

handle!(ExecutingGoal);

impl<A: ServerKind> ExecutingGoal<A> {
    /// Returns the publisher of feedback, while the server is open.
    pub(crate) fn feedback_publisher(&self) -> Option<A::FeedbackPublisher> {
        self.hold.owner.feedback()
    }
}

impl<A: Action> ExecutingGoal<A> {
    /// Ends the goal as succeeded.
    ///
    /// # Errors
    /// The server is gone: the result comes back.
    pub fn succeed(self, result: impl Into<Unique<A::Result>>) -> Result<(), EndError<A::Result>> {
        self.end_typed(GoalEvent::Succeed, result.into())
    }

    /// Ends the goal as aborted: the server gives it up.
    ///
    /// # Errors
    /// The server is gone: the result comes back.
    pub fn abort(self, result: impl Into<Unique<A::Result>>) -> Result<(), EndError<A::Result>> {
        self.end_typed(GoalEvent::Abort, result.into())
    }

    /// Publishes feedback to the clients. The feedback is moved, not copied. Clients in the same
    /// process take it in on this thread, which waits for nothing. Once warm it allocates only for
    /// the callbacks of such clients.
    ///
    /// # Errors
    /// [`FeedbackError`]: the server is gone, the context is shut down, or shared memory is full;
    /// the feedback comes back.
    pub fn publish_feedback(&self, feedback: A::Feedback) -> Result<(), FeedbackError<A::Feedback>> {
        let error = |failure, feedback| FeedbackError::new(self.id(), failure, feedback);
        let Some(publisher) = self.feedback_publisher() else {
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
}

/// A goal could not be ended because its server is gone. Its clients were notified when the server
/// closed.
pub struct EndError<R: Message> {
    goal: GoalId,
    action: String,
    result: Shared<R>,
}

impl<R: Message> EndError<R> {
    /// Returns the goal's id.
    pub fn goal_id(&self) -> GoalId {
        self.goal
    }

    /// Returns the result, which no client gets.
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
    pub(crate) fn new(goal: GoalId, failure: Option<PublishFailure>, feedback: Option<F>) -> Self {
        Self { goal, failure, feedback }
    }

    /// Returns the reason; `None`: the server is gone.
    pub fn failure(&self) -> Option<PublishFailure> {
        self.failure
    }

    /// Returns the feedback.
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
