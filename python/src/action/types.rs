//! The types of an action.

use super::encoded_value::{EncodedValue, encoded_value_type};
use crate::error::{raise, with_code};
use crate::message::{Class, class_of, service_of};
use crate::node::Node;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use sinew::erased::Message;
use sinew::error::{CreateError, HasCode};
use sinew_action::GoalId;
use sinew_action::erased::{ActionFields, ActionParts, ActionTypes, ServicePart};
use std::ops::Range;
use std::sync::Arc;

/// The bytes of a goal's id, the first field of requests and of feedback, after the header.
const ID: Range<usize> = 4..20;
/// The byte of a goal's status, the first field of results.
const STATUS: usize = 4;

/// An action: the classes of its messages, and its types in the library.
pub(crate) struct Action {
    pub(super) types: ActionTypes,
    pub(super) request: Arc<Class>,
    pub(super) response: Arc<Class>,
    pub(super) feedback: Arc<Class>,
}

impl Action {
    /// Returns the types of an action's class.
    ///
    /// # Errors
    /// It is no action class; there are too many types in this process.
    pub(super) fn of(class: &Bound<'_, PyAny>) -> PyResult<Arc<Self>> {
        let py = class.py();
        let (Some(name), Some(parts)) = (class.getattr_opt("_action")?, class.getattr_opt("Impl")?) else {
            let found = class.repr()?;
            let example = "sinew.interfaces.example_interfaces.action.Fibonacci";
            return Err(PyTypeError::new_err(format!("{found} is no action class, such as {example}")));
        };
        let send_goal = service_of(&parts.getattr("SendGoalService")?)?;
        let get_result = service_of(&parts.getattr("GetResultService")?)?;
        let feedback = class_of(&parts.getattr("FeedbackMessage")?)?;
        let part = |hash, class: &Arc<Class>, least| {
            PyResult::Ok(ServicePart { hash, message: encoded_value_type(py, class, least)? })
        };
        let types = ActionParts {
            name: &name.extract::<String>()?,
            send_goal: part(send_goal.hash(), &send_goal.request, ID.end)?,
            get_result: part(get_result.hash(), &get_result.response, STATUS + 1)?,
            feedback: encoded_value_type(py, &feedback, ID.end)?,
        };
        let types = ActionTypes::new(types, Fields).map_err(raise)?;
        Ok(Arc::new(Self { types, request: send_goal.request, response: get_result.response, feedback }))
    }
}

/// Checks the name of an action.
///
/// # Errors
/// ROS 2 doesn't allow it; the node is destroyed.
pub(super) fn check_name(node: &Node, name: &str) -> PyResult<()> {
    let resolved = node.get()?.resolve_service_name(name);
    let of_action = |error: CreateError| {
        with_code(error.code(), error.to_string().replace("service name", "action name"))
    };
    resolved.map(drop).map_err(of_action)
}

/// The places of fields in encoded messages.
struct Fields;

/// Returns the bytes of a message; none for one of another kind, which the library doesn't ask
/// about.
fn bytes(message: &Message) -> &[u8] {
    match message.value() {
        // SAFETY: the library asks about messages of the action's types; these are their values,
        // and nothing changes them while the message is borrowed.
        Some(value) => &unsafe { value.cast::<EncodedValue>().as_ref() }.0,
        None => message.encoded().unwrap_or_default(),
    }
}

/// Returns the bytes of a message with one reference for writing.
fn bytes_mut(message: &mut Message) -> &mut [u8] {
    match message.value_mut() {
        // SAFETY: as above; this is the only reference.
        Some(value) => &mut unsafe { value.cast::<EncodedValue>().as_mut() }.0,
        None => &mut [],
    }
}

fn id(message: &Message) -> GoalId {
    let id = bytes(message).get(ID).and_then(|id| id.try_into().ok());
    GoalId(id.unwrap_or_default())
}

fn set_id(message: &mut Message, id: GoalId) {
    if let Some(place) = bytes_mut(message).get_mut(ID) {
        place.copy_from_slice(&id.0);
    }
}

impl ActionFields for Fields {
    fn request_goal_id(&self, request: &Message) -> GoalId {
        id(request)
    }

    fn set_request_goal_id(&self, request: &mut Message, id: GoalId) {
        set_id(request, id);
    }

    fn feedback_goal_id(&self, feedback: &Message) -> GoalId {
        id(feedback)
    }

    fn set_feedback_goal_id(&self, feedback: &mut Message, id: GoalId) {
        set_id(feedback, id);
    }

    fn status(&self, response: &Message) -> i8 {
        bytes(response).get(STATUS).map_or(0, |status| i8::from_ne_bytes([*status]))
    }

    fn set_status(&self, response: &mut Message, status: i8) {
        if let Some(place) = bytes_mut(response).get_mut(STATUS) {
            *place = status.to_ne_bytes()[0];
        }
    }
}
