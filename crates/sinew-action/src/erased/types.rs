//! The types of an action that are known at run time.

use crate::goal_id::GoalId;
use crate::status::GoalStatus;
use sinew::erased::{Message, MessageType, ServiceTypes, TypeError};
use sinew::error::{CallFailure, DecodeError, ErrorCode, HasCode};
use sinew::msg::TypeHash;
use sinew_interfaces::builtin_interfaces::msg::Time as TimeMessage;
use std::fmt;
use std::sync::Arc;

/// Reads and writes the fields of an action's messages that the protocol needs. Each message has a
/// value of the type that the method names.
pub trait ActionFields: Send + Sync + 'static {
    /// Returns `goal_id` of a `.._SendGoal_Request`.
    fn request_goal_id(&self, request: &Message) -> GoalId;

    /// Sets `goal_id` of a `.._SendGoal_Request` with one reference.
    fn set_request_goal_id(&self, request: &mut Message, id: GoalId);

    /// Returns `goal_id` of a `.._FeedbackMessage`.
    fn feedback_goal_id(&self, feedback: &Message) -> GoalId;

    /// Sets `goal_id` of a `.._FeedbackMessage` with one reference.
    fn set_feedback_goal_id(&self, feedback: &mut Message, id: GoalId);

    /// Returns `status` of a `.._GetResult_Response`.
    fn status(&self, response: &Message) -> i8;

    /// Sets `status` of a `.._GetResult_Response` with one reference.
    fn set_status(&self, response: &mut Message, status: i8);
}

/// One service of an action: the hash of its type, and the type of the message that differs between
/// actions.
#[derive(Debug, Clone, Copy)]
pub struct ServicePart {
    /// The RIHS01 hash of `.._SendGoal` or `.._GetResult`.
    pub hash: TypeHash,
    /// The type of `.._SendGoal_Request` or `.._GetResult_Response`.
    pub message: MessageType,
}

/// The parts of an action's types.
#[derive(Debug, Clone, Copy)]
pub struct ActionParts<'a> {
    /// The ROS 2 name, e.g. `example_interfaces/action/Fibonacci`.
    pub name: &'a str,
    /// The service that sends goals, with the type of its requests.
    pub send_goal: ServicePart,
    /// The service that returns results, with the type of its responses. The type needs a first
    /// value, and a way to copy values: a clone function or an encoded form.
    pub get_result: ServicePart,
    /// The type of `.._FeedbackMessage`.
    pub feedback: MessageType,
}

/// The types of an action. Copies refer to the same types.
#[derive(Clone)]
pub struct ActionTypes(Arc<Inner>);

struct Inner {
    name: String,
    send_goal: ServiceTypes,
    get_result: ServiceTypes,
    feedback: MessageType,
    fields: Box<dyn ActionFields>,
    /// A result that no goal had; proves that there can be one.
    empty: Message,
}

/// The answer to a goal, which has the same fields for all actions.
#[derive(sinew::Message)]
#[message(name = "sinew_action/msg/SendGoalResponse")]
pub(super) struct AnyGoalResponse {
    pub(super) accepted: bool,
    pub(super) stamp: TimeMessage,
}

/// The request for a result, likewise.
#[derive(sinew::Message)]
#[message(name = "sinew_action/msg/GetResultRequest")]
pub(super) struct AnyResultRequest {
    pub(super) goal_id: [u8; 16],
}

impl ActionTypes {
    /// Makes the types of an action. Two are of the same action if their parts are: then goals,
    /// results and feedback move between its servers and clients in one process.
    ///
    /// # Errors
    /// [`ActionTypeError`].
    pub fn new(parts: ActionParts<'_>, fields: impl ActionFields) -> Result<Self, ActionTypeError> {
        let ActionParts { name, send_goal, get_result, feedback } = parts;
        for (of, suffix) in [
            (send_goal.message, "_SendGoal_Request"),
            (get_result.message, "_GetResult_Response"),
            (feedback, "_FeedbackMessage"),
        ] {
            let wanted = format!("{name}{suffix}");
            if of.name() != wanted {
                return Err(ActionTypeError::OtherPart { wanted, found: of.name().to_owned() });
            }
        }
        let response = get_result.message;
        if !response.can_clone() && !response.has_encoding() {
            return Err(ActionTypeError::NoCopy { name: response.name().to_owned() });
        }
        let lacking = || ActionTypeError::NoFirstValue { name: response.name().to_owned() };
        let empty = Message::create(response).ok_or_else(lacking)?;
        let service = |suffix: &str, hash, request, response| {
            ServiceTypes::new(Some((&format!("{name}{suffix}"), hash)), request, response)
        };
        Ok(Self(Arc::new(Inner {
            name: name.to_owned(),
            send_goal: service(
                "_SendGoal",
                send_goal.hash,
                send_goal.message,
                MessageType::of::<AnyGoalResponse>(),
            )?,
            get_result: service(
                "_GetResult",
                get_result.hash,
                MessageType::of::<AnyResultRequest>(),
                response,
            )?,
            feedback,
            fields: Box::new(fields),
            empty,
        })))
    }

    /// Returns the action's ROS 2 name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the type of messages with a goal.
    pub fn request(&self) -> MessageType {
        self.0.send_goal.request()
    }

    /// Returns the type of messages with a result.
    pub fn response(&self) -> MessageType {
        self.0.get_result.response()
    }

    /// Returns the type of messages with feedback.
    pub fn feedback(&self) -> MessageType {
        self.0.feedback
    }

    pub(super) fn send_goal(&self) -> ServiceTypes {
        self.0.send_goal
    }

    pub(super) fn get_result(&self) -> ServiceTypes {
        self.0.get_result
    }

    pub(super) fn fields(&self) -> &dyn ActionFields {
        &*self.0.fields
    }

    pub(super) fn empty_result(&self, status: GoalStatus) -> Message {
        let Some(mut result) = Message::create(self.response()) else {
            return self.0.empty.clone(); // not reached: it could be created once
        };
        self.fields().set_status(&mut result, status.to_wire());
        result
    }
}

impl fmt::Debug for ActionTypes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ActionTypes({})", self.name())
    }
}

/// Converts a message that the program hands over to a value of the type with one reference.
pub(super) fn own(message: Message, of: MessageType) -> Result<Message, (Message, Unfit)> {
    if message.message_type() != of {
        let (wanted, found) = (of.name(), message.message_type().name());
        return Err((message, Unfit::OtherType { wanted, found }));
    }
    if message.is_encoded() {
        return match message.clone().into_value() {
            Ok(value) => Ok(value),
            Err(error) => Err((message, Unfit::Undecodable(error))),
        };
    }
    if message.is_sole() {
        return Ok(message);
    }
    match message.duplicate() {
        Some(copy) => Ok(copy),
        None => Err((message, Unfit::NotSole { name: of.name() })),
    }
}

/// The reason why a message can't be a goal, a result or feedback.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unfit {
    /// It has another type.
    #[error("it is a {found}, but the action has {wanted}: make it of the action's own type")]
    OtherType {
        /// The type that the action has.
        wanted: &'static str,
        /// The type of the message.
        found: &'static str,
    },
    /// There are other references, and its type has no clone function.
    #[error(
        "there are other references to this {name}, and its type can't be copied: it has no clone function"
    )]
    NotSole {
        /// The type.
        name: &'static str,
    },
    /// Its encoded form is invalid.
    #[error("its encoded form is invalid: {0}")]
    Undecodable(DecodeError),
}

impl Unfit {
    pub(super) fn into_call_failure(self) -> CallFailure {
        let what = "goal";
        match self {
            Self::OtherType { .. } => CallFailure::OtherType { reason: self.to_string() },
            Self::NotSole { .. } => CallFailure::NotSole { what },
            Self::Undecodable(error) => CallFailure::Undecodable { what, reason: error.to_string() },
        }
    }
}

impl HasCode for Unfit {
    fn code(&self) -> ErrorCode {
        match self {
            Self::OtherType { .. } => ErrorCode::OtherType,
            Self::NotSole { .. } => ErrorCode::NotSole,
            Self::Undecodable(_) => ErrorCode::Undecodable,
        }
    }
}

/// The reason why types are not those of an action.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ActionTypeError {
    /// A part has another name than ROS 2 gives it.
    #[error("the action needs {wanted}, but was given {found}")]
    OtherPart {
        /// The name of the part.
        wanted: String,
        /// The name of the type that was given.
        found: String,
    },
    /// The type of results has no first value, with which a goal can end that has no result.
    #[error("{name} has no create function: a goal that ends without a result needs an empty one")]
    NoFirstValue {
        /// The type.
        name: String,
    },
    /// The type of results can't be copied.
    #[error(
        "{name} has neither a clone function nor an encoded form: a server keeps results, and sends copies"
    )]
    NoCopy {
        /// The type.
        name: String,
    },
    /// A service's name or hash can't be used.
    #[error(transparent)]
    Service(#[from] TypeError),
}

impl HasCode for ActionTypeError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::OtherPart { .. } => ErrorCode::OtherType,
            Self::NoFirstValue { .. } => ErrorCode::InvalidTypeTable,
            Self::NoCopy { .. } => ErrorCode::NoClone,
            Self::Service(error) => error.code(),
        }
    }
}
