//! The types of actions.

use crate::handle::{self, handle};
use crate::message_type::{self, sinew_message_type};
use crate::status::{Failure, Result, answer, put, sinew_status, status};
use crate::structure::{Structure, structure};
use crate::text::{c_text, text};
use parking_lot::Mutex;
use sinew::erased::{Message, MessageType};
use sinew::error::ErrorCode;
use sinew_action::GoalId;
use sinew_action::erased::{ActionFields, ActionParts, ActionTypes, ServicePart};
use sinew_msg::TypeHash;
use std::ffi::{CString, c_char, c_void};

/// The types of an action. It lives as long as the process and is never freed; the same types are
/// always the same pointer.
pub struct sinew_action_type {
    _opaque: (),
}
handle!(sinew_action_type: ActionTypeHandle);

/// The types of an action, and the places of fields in its messages.
pub(crate) struct ActionTypeHandle {
    pub(crate) types: ActionTypes,
    name: CString,
    hashes: [TypeHash; 2],
    places: Places,
}

/// The parts of an action's types. Messages are those with which ROS 2 carries goals, results and
/// feedback; the places of their fields are offsets in bytes, as of `offsetof`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_action_parts {
    /// `sizeof(struct sinew_action_parts)`.
    pub size: usize,
    /// The ROS 2 name, `package/action/Name`.
    pub name: *const c_char,
    /// The hash of the service `package/action/Name_SendGoal`, `RIHS01_` and 64 digits.
    pub send_goal_hash: *const c_char,
    /// The hash of the service `package/action/Name_GetResult`.
    pub get_result_hash: *const c_char,
    /// The type of `package/action/Name_SendGoal_Request`.
    pub request: *const sinew_message_type,
    /// The type of `package/action/Name_GetResult_Response`. It needs a `create` function, and one
    /// that copies values or an encoding: the server keeps results, and sends copies.
    pub response: *const sinew_message_type,
    /// The type of `package/action/Name_FeedbackMessage`.
    pub feedback: *const sinew_message_type,
    /// The place of the 16 bytes of `goal_id` in a request.
    pub request_goal_id: usize,
    /// The place of `goal` in a request.
    pub request_goal: usize,
    /// The place of `status`, one byte, in a response.
    pub response_status: usize,
    /// The place of `result` in a response.
    pub response_result: usize,
    /// The place of the 16 bytes of `goal_id` in a message with feedback.
    pub feedback_goal_id: usize,
    /// The place of `feedback` in a message with feedback.
    pub feedback_feedback: usize,
}

// SAFETY: C's layout, beginning with the size; zeros are null and numbers.
unsafe impl Structure for sinew_action_parts {
    const NAME: &str = "sinew_action_parts";
}

/// The offsets of fields, each within the layout of its message's type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Places {
    request_goal_id: usize,
    pub(crate) request_goal: usize,
    response_status: usize,
    pub(crate) response_result: usize,
    feedback_goal_id: usize,
    pub(crate) feedback_feedback: usize,
}

/// The size of a goal's id.
const ID: usize = 16;

impl Places {
    fn new(parts: &sinew_action_parts, of: &ActionParts<'_>) -> Result<Self> {
        let within = |field: &str, place: usize, length: usize, of: MessageType| {
            let size = of.layout().size();
            if place.checked_add(length).is_some_and(|end| end <= size) {
                return Ok(place);
            }
            let sentence = format_args!("`{field}` is {place}: a {} has {size} bytes", of.name());
            Err(Failure::new(ErrorCode::InvalidTypeTable, sentence))
        };
        let (request, response) = (of.send_goal.message, of.get_result.message);
        Ok(Self {
            request_goal_id: within("request_goal_id", parts.request_goal_id, ID, request)?,
            request_goal: within("request_goal", parts.request_goal, 0, request)?,
            response_status: within("response_status", parts.response_status, 1, response)?,
            response_result: within("response_result", parts.response_result, 0, response)?,
            feedback_goal_id: within("feedback_goal_id", parts.feedback_goal_id, ID, of.feedback)?,
            feedback_feedback: within("feedback_feedback", parts.feedback_feedback, 0, of.feedback)?,
        })
    }
}

/// Reads the bytes of a field. Zeros for a message without a value, which has no fields.
fn read<const N: usize>(message: &Message, place: usize) -> [u8; N] {
    let Some(value) = message.value() else { return [0; N] };
    // SAFETY: the place is within values of the message's type (`Places`).
    let field = unsafe { value.as_ptr().add(place) };
    // SAFETY: the value lives while the message is borrowed; the field's bytes are initialised, as
    // C's structure says.
    unsafe { field.cast::<[u8; N]>().read() }
}

/// Writes the bytes of a field, if the message has one reference.
fn write<const N: usize>(message: &mut Message, place: usize, bytes: [u8; N]) {
    let Some(value) = message.value_mut() else { return };
    // SAFETY: the place is within values of the message's type (`Places`).
    let field = unsafe { value.as_ptr().add(place) };
    // SAFETY: the value is alive and this thread's alone; any bytes are a valid field.
    unsafe { field.cast::<[u8; N]>().write(bytes) };
}

impl ActionFields for Places {
    fn request_goal_id(&self, request: &Message) -> GoalId {
        GoalId(read(request, self.request_goal_id))
    }

    fn set_request_goal_id(&self, request: &mut Message, id: GoalId) {
        write(request, self.request_goal_id, id.0);
    }

    fn feedback_goal_id(&self, feedback: &Message) -> GoalId {
        GoalId(read(feedback, self.feedback_goal_id))
    }

    fn set_feedback_goal_id(&self, feedback: &mut Message, id: GoalId) {
        write(feedback, self.feedback_goal_id, id.0);
    }

    fn status(&self, response: &Message) -> i8 {
        i8::from_ne_bytes(read(response, self.response_status))
    }

    fn set_status(&self, response: &mut Message, status: i8) {
        write(response, self.response_status, status.to_ne_bytes());
    }
}

/// Returns the address of a field of a message; null without a value.
pub(crate) fn field(message: &Message, place: usize) -> *const c_void {
    let Some(value) = message.value() else { return std::ptr::null() };
    // SAFETY: the place is within values of the message's type (`Places`).
    unsafe { value.as_ptr().add(place) }.cast_const().cast()
}

/// A handle that is never freed.
#[derive(Clone, Copy)]
struct Known(*const sinew_action_type);

// SAFETY: handles may be used on any thread.
unsafe impl Send for Known {}

/// Returns the types that a pointer stands for.
///
/// # Safety
/// The pointer is null, or came from this library.
pub(crate) unsafe fn get<'a>(of: *const sinew_action_type, argument: &str) -> Result<&'a ActionTypeHandle> {
    // SAFETY: as the caller says; types are never freed.
    unsafe { handle::get(of, argument) }
}

impl ActionTypeHandle {
    pub(crate) fn places(&self) -> Places {
        self.places
    }

    /// Whether these are the types of the parts.
    fn is(&self, parts: &ActionParts<'_>, places: Places) -> bool {
        let types = &self.types;
        types.name() == parts.name
            && types.request() == parts.send_goal.message
            && types.response() == parts.get_result.message
            && types.feedback() == parts.feedback
            && self.hashes == [parts.send_goal.hash, parts.get_result.hash]
            && self.places == places
    }
}

/// Gets the types of an action. Memory for them is needed once, and never freed.
///
/// Fails with `SINEW_ERROR_OTHER_TYPE` if a message has another name than ROS 2 gives it, with
/// `SINEW_ERROR_INVALID_TYPE_TABLE` if a field lies outside its message or there is no first
/// result, with `SINEW_ERROR_NO_CLONE`, `SINEW_ERROR_INVALID_TYPE_HASH` and so on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_action_type_new(
    parts: *const sinew_action_parts,
    action_type: Option<&mut *const sinew_action_type>,
) -> sinew_status {
    status(|| {
        if parts.is_null() {
            return Err(Failure::null("parts"));
        }
        // SAFETY: the caller's structure.
        let parts = unsafe { structure(parts) }?;
        // SAFETY: the caller's text.
        let name = unsafe { text(parts.name, "name") }?;
        // SAFETY: the caller's text.
        let send_goal = unsafe { text(parts.send_goal_hash, "send_goal_hash") }?.parse()?;
        // SAFETY: the caller's text.
        let get_result = unsafe { text(parts.get_result_hash, "get_result_hash") }?.parse()?;
        // SAFETY: the caller's handle.
        let request = unsafe { message_type::get(parts.request, "request") }?;
        // SAFETY: the caller's handle.
        let response = unsafe { message_type::get(parts.response, "response") }?;
        // SAFETY: the caller's handle.
        let feedback = unsafe { message_type::get(parts.feedback, "feedback") }?;
        let of = ActionParts {
            name,
            send_goal: ServicePart { hash: send_goal, message: request },
            get_result: ServicePart { hash: get_result, message: response },
            feedback,
        };
        let places = Places::new(&parts, &of)?;
        put(action_type, "action_type", known(of, places)?)
    })
}

/// Returns the pointer that stands for the types.
fn known(of: ActionParts<'_>, places: Places) -> Result<*const sinew_action_type> {
    static KNOWN: Mutex<Vec<Known>> = Mutex::new(Vec::new());
    let find = |known: &[Known]| {
        known.iter().find_map(|known| {
            // SAFETY: handles of this list, which are never freed.
            let types = unsafe { get(known.0, "action_type") }.ok()?;
            types.is(&of, places).then_some(known.0)
        })
    };
    if let Some(known) = find(&KNOWN.lock()) {
        return Ok(known);
    }
    let types = ActionTypes::new(of, places)?; // calls C's `create`: no lock is held
    let mut all = KNOWN.lock();
    if let Some(known) = find(&all) {
        return Ok(known); // another thread was first
    }
    let name = c_text(types.name().to_owned());
    let hashes = [of.send_goal.hash, of.get_result.hash];
    let new = Known(handle::new(ActionTypeHandle { types, name, hashes, places }));
    all.push(new);
    Ok(new.0)
}

/// Returns the action's ROS 2 name, `package/action/Name`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_action_type_name(action_type: *const sinew_action_type) -> *const c_char {
    // SAFETY: the caller's handle.
    answer(std::ptr::null(), || Ok(unsafe { get(action_type, "action_type") }?.name.as_ptr()))
}
