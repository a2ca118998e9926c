//! Servers of types that are known at run time.

use super::ErasedAction;
use super::types::{ActionTypes, AnyGoalResponse, Unfit, own};
use crate::goal_id::GoalId;
use crate::posting::CallbackResult;
use crate::server::kind::ServerKind;
use crate::server::{AcceptedGoal, ExecutingGoal};
use crate::status::{GoalEvent, GoalStatus};
use sinew::Unique;
use sinew::erased::{Message, Publisher, Request, Responder, Server};
use sinew::error::{CreateError, ErrorCode, HasCode, PublishFailure};
use sinew::executor::Maker;
use sinew::time::Time;
use std::fmt;

impl ServerKind for ErasedAction {
    type FeedbackPublisher = Publisher;
    type GoalServer = Server;
    type GoalResponder = Responder;
    type ResultServer = Server;
    type ResultResponder = Responder;

    fn feedback_publisher<M: Maker>(
        types: &ActionTypes,
        maker: &M,
        name: &str,
    ) -> Result<Publisher, CreateError> {
        maker.erased_publisher(name, types.feedback()).create_erased()
    }

    fn goal_server<M: Maker>(
        types: &ActionTypes,
        maker: &M,
        (name, most): (&str, usize),
        requested: impl Fn(GoalId, Message, Responder) -> CallbackResult + Send + Sync + 'static,
    ) -> Result<Server, CreateError> {
        let of = types.clone();
        let callback = move |request: Request<'_>| {
            let (message, responder) = request.defer();
            match own(message, of.request()) {
                Ok(goal) => requested(of.fields().request_goal_id(&goal), goal, responder),
                Err((_, why)) => {
                    responder.fail(why);
                    Ok(())
                }
            }
        };
        let builder = maker.erased_server(name, types.send_goal()).max_requests(most);
        builder.immediate_callback_erased(callback)
    }

    fn result_server<M: Maker>(
        types: &ActionTypes,
        maker: &M,
        (name, most): (&str, usize),
        requested: impl Fn(GoalId, Responder) + Send + Sync + 'static,
    ) -> Result<Server, CreateError> {
        let callback = move |request: Request<'_>| {
            let (message, responder) = request.defer();
            if let Some(request) = message.value_of::<super::types::AnyResultRequest>() {
                requested(GoalId(request.goal_id), responder);
            }
        };
        let builder = maker.erased_server(name, types.get_result()).max_requests(most);
        builder.immediate_callback_erased(callback)
    }

    fn erased_goal_server(server: &Server) -> &Server {
        server
    }

    fn erased_result_server(server: &Server) -> &Server {
        server
    }

    fn answer_goal(responder: Responder, accepted: Option<Time>) {
        let stamp = accepted.unwrap_or_default().to_msg();
        let answer = AnyGoalResponse { accepted: accepted.is_some(), stamp };
        drop(responder.respond(Unique::new(answer)));
    }

    /// The result, which has its status, is shared with the server's cache: each client gets a
    /// copy.
    fn answer_result(responder: Responder, _: GoalStatus, result: Message) {
        if result.message_type().can_clone() {
            drop(responder.respond(result));
            return;
        }
        let mut bytes = vec![0; result.encoded_length().unwrap_or(0)];
        let length = result.encode_into(&mut bytes);
        let copy = length.and_then(|_| Message::encoded_from(result.message_type(), &bytes));
        match copy {
            Some(copy) => drop(responder.respond(copy)),
            None => responder.fail("there is no memory for a copy of the result"),
        }
    }
}

/// Methods of both handles.
macro_rules! handle {
    ($handle:ident) => {
        impl $handle<ErasedAction> {
            /// Returns the types of its action.
            pub fn types(&self) -> &ActionTypes {
                self.kind_types()
            }

            /// Ends the goal early with a result, a message of [`ActionTypes::response`].
            ///
            /// # Errors
            /// [`Unended`], with the goal if the message can't be its result.
            pub fn canceled(self, result: Message) -> Result<(), Unended<Self>> {
                self.end_erased(GoalEvent::Canceled, result)
            }

            fn end_erased(self, event: GoalEvent, result: Message) -> Result<(), Unended<Self>> {
                let goal = self.id();
                let types = self.kind_types().clone();
                let mut result = match own(result, types.response()) {
                    Ok(result) => result,
                    Err((message, why)) => {
                        let why = GoalMessageFailure::Unfit(why);
                        let error = GoalMessageError { goal, why, message };
                        return Err(Unended { goal: Some(Box::new(self)), error });
                    }
                };
                types.fields().set_status(&mut result, event.end().to_wire());
                let why = GoalMessageFailure::ServerGone;
                self.end(event, result)
                    .map_err(|message| Unended { goal: None, error: GoalMessageError { goal, why, message } })
            }
        }
    };
}
handle!(AcceptedGoal);
handle!(ExecutingGoal);

impl ExecutingGoal<ErasedAction> {
    /// Ends the goal as succeeded, otherwise as `canceled`.
    ///
    /// # Errors
    /// As `canceled`.
    pub fn succeed(self, result: Message) -> Result<(), Unended<Self>> {
        self.end_erased(GoalEvent::Succeed, result)
    }

    /// Ends the goal as aborted, otherwise as `canceled`.
    ///
    /// # Errors
    /// As `canceled`.
    pub fn abort(self, result: Message) -> Result<(), Unended<Self>> {
        self.end_erased(GoalEvent::Abort, result)
    }

    /// Publishes feedback to the clients: a message of [`ActionTypes::feedback`], in which this sets
    /// the goal's id.
    ///
    /// # Errors
    /// [`GoalMessageError`] with the message.
    pub fn publish_feedback(&self, message: Message) -> Result<(), GoalMessageError> {
        self.feedback().publish(message)
    }

    /// Returns the means to publish feedback without the goal's handle, for instance where a lock
    /// protects the handle.
    pub fn feedback(&self) -> GoalFeedback {
        let publisher = self.feedback_publisher();
        GoalFeedback { goal: self.id(), types: self.kind_types().clone(), publisher }
    }
}

/// Publishes feedback of a goal; from `ExecutingGoal::feedback`.
#[derive(Debug)]
pub struct GoalFeedback {
    goal: GoalId,
    types: ActionTypes,
    /// `None`: the server is gone.
    publisher: Option<Publisher>,
}

impl GoalFeedback {
    /// As `ExecutingGoal::publish_feedback`.
    ///
    /// # Errors
    /// [`GoalMessageError`] with the message.
    pub fn publish(self, message: Message) -> Result<(), GoalMessageError> {
        let Self { goal, types, publisher } = self;
        let error = |why, message| GoalMessageError { goal, why, message };
        let mut message = own(message, types.feedback())
            .map_err(|(message, why)| error(GoalMessageFailure::Unfit(why), message))?;
        types.fields().set_feedback_goal_id(&mut message, goal);
        let Some(publisher) = publisher else {
            return Err(error(GoalMessageFailure::ServerGone, message));
        };
        publisher.publish(message).map_err(|unsent| {
            let failure = unsent.failure();
            error(GoalMessageFailure::Publish(failure), unsent.into_message())
        })
    }
}

/// A goal that could not be ended.
#[derive(Debug)]
pub struct Unended<G> {
    /// The goal, which goes on; `None` if its server is gone.
    pub goal: Option<Box<G>>,
    /// The reason, with the result.
    pub error: GoalMessageError,
}

/// A result or feedback that a goal did not take, with the reason.
pub struct GoalMessageError {
    goal: GoalId,
    why: GoalMessageFailure,
    message: Message,
}

/// The reason why a goal did not take a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GoalMessageFailure {
    /// The message has another type, or can't be owned.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// The goal's server is gone, and has notified the clients.
    #[error("the goal's server is gone: keep the server as long as its goals")]
    ServerGone,
    /// Feedback could not be published.
    #[error(transparent)]
    Publish(#[from] PublishFailure),
}

impl GoalMessageError {
    /// Returns the reason.
    pub fn failure(&self) -> &GoalMessageFailure {
        &self.why
    }

    /// Returns the message.
    pub fn into_message(self) -> Message {
        self.message
    }
}

impl fmt::Display for GoalMessageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "goal {} did not take a message of {}: {}",
            self.goal,
            self.message.message_type().name(),
            self.why
        )
    }
}

impl fmt::Debug for GoalMessageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl std::error::Error for GoalMessageError {}

impl HasCode for GoalMessageError {
    fn code(&self) -> ErrorCode {
        match &self.why {
            GoalMessageFailure::Unfit(why) => why.code(),
            GoalMessageFailure::ServerGone => ErrorCode::ServerGone,
            GoalMessageFailure::Publish(failure) => failure.code(),
        }
    }
}
