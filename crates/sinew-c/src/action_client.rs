//! Clients of actions.

use crate::action_type::{self, ActionTypeHandle, sinew_action_type};
use crate::client_goal::{ClientGoal, GoalProgram, sinew_client_goal, sinew_goal_callbacks};
use crate::closure::{Closure, outcome};
use crate::goal::{info, sinew_goal_id, sinew_goal_info};
use crate::group::{in_group, sinew_group};
use crate::handle::{self, handle};
use crate::message::{from_c, sinew_message};
use crate::node::sinew_node;
use crate::owned::{Owned, sinew_drop};
use crate::status::{Failure, OK, Result, answer, sinew_status, status};
use crate::structure::{Structure, structure};
use crate::text::{c_text, text};
use crate::time::{sinew_duration, sinew_time};
use sinew::error::CreateError;
use sinew::executor::Maker;
use sinew::time::Time;
use sinew_action::erased::{ErasedAction, ErasedActions};
use sinew_action::{
    ActionClient, ActionClientBuilder, Cancel, CancelError, CancelOutcome, Canceled, GoalStatus,
};
use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::Arc;

/// The way to send goals to the server of an action.
pub struct sinew_action_client {
    _opaque: (),
}
handle!(sinew_action_client: ActionClientHandle);

/// A client with its name as C reads it.
pub(crate) struct ActionClientHandle {
    client: ActionClient<ErasedAction>,
    of: &'static ActionTypeHandle,
    name: CString,
}

/// The options of [`sinew_action_client_new`]. Zero is the default of every field.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_action_client_options {
    /// `sizeof(struct sinew_action_client_options)`.
    pub size: usize,
    /// The group in which callbacks run; the client belongs to the group's node. Null: the node's
    /// default group.
    pub group: *const sinew_group,
    /// The number of feedback messages that wait: those of all goals on their way to the client,
    /// and those of each goal for its callback. Beyond it the oldest is lost. 0: 10.
    pub feedback_depth: usize,
}

// SAFETY: C's layout, beginning with the size; zeros are null and numbers.
unsafe impl Structure for sinew_action_client_options {
    const NAME: &str = "sinew_action_client_options";
}

fn create<M: Maker>(
    builder: ActionClientBuilder<ErasedAction, M>,
    options: &sinew_action_client_options,
) -> std::result::Result<ActionClient<ErasedAction>, CreateError> {
    match options.feedback_depth {
        0 => builder.create(),
        depth => builder.feedback_depth(depth).create(),
    }
}

/// Makes a client of an action. There needn't be a server yet.
///
/// `options` may be null. The caller frees `*client`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_action_client_new(
    node: *const sinew_node,
    name: *const c_char,
    action_type: *const sinew_action_type,
    options: *const sinew_action_client_options,
    client: Option<&mut *mut sinew_action_client>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let node = unsafe { handle::get(node, "node") }?;
        // SAFETY: the caller's text.
        let name = unsafe { text(name, "name") }?;
        // SAFETY: the caller's handle.
        let of: &'static _ = unsafe { action_type::get(action_type, "action_type") }?;
        // SAFETY: the caller's structure.
        let options = unsafe { structure(options) }?;
        // SAFETY: the caller's handle.
        let group = unsafe { handle::get_optional(options.group, "group") }?;
        let made =
            in_group!(node, group, |maker| create(maker.erased_action_client(name, &of.types), &options))?;
        let name = c_text(made.name().to_owned());
        handle::put(client, "client", ActionClientHandle { client: made, of, name })
    })
}

/// Frees a client. It ends once the handles of its goals are freed as well: until then their
/// callbacks run. Null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_action_client_free(client: *mut sinew_action_client) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(client, "client") };
}

/// Ends the callbacks of the client's goals and cancel requests: none begins any more. Waits for
/// one that runs on another thread; not in a callback of the client. Goals go on. The handle is
/// still to be freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_action_client_close(client: *const sinew_action_client) -> sinew_status {
    status(|| {
        borrow(&client)?.client.clone().close();
        Ok(())
    })
}

/// Returns the client of a handle of the caller's, for as long as the caller's pointer is there.
fn borrow(client: &*const sinew_action_client) -> Result<&ActionClientHandle> {
    // SAFETY: the caller's handle, which no thread frees during the call.
    unsafe { handle::get(*client, "client") }
}

/// Returns the action's full name, after remapping. The text lives as long as the handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_action_client_name(client: *const sinew_action_client) -> *const c_char {
    answer(std::ptr::null(), || Ok(borrow(&client)?.name.as_ptr()))
}

/// Returns whether there is a server: its three services, and publishers of both topics.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_action_client_is_server_ready(client: *const sinew_action_client) -> bool {
    answer(false, || Ok(borrow(&client)?.client.is_server_ready()))
}

/// Blocks until there is a server. Returns false if none came within `timeout` (negative: for
/// ever), or if the context was shut down. Not for callbacks: the thread does nothing else
/// meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_action_client_wait_for_server(
    client: *const sinew_action_client,
    timeout: sinew_duration,
) -> bool {
    answer(false, || Ok(borrow(&client)?.client.wait_for_server(crate::time::timeout(timeout))))
}

/// Sends a goal: a message of `.._SendGoal_Request`, in which this sets a new id. Takes over the
/// message, also if it fails. One with other references is copied, if its type can. Never blocks.
/// If there is no server, the goal waits for one.
///
/// `callbacks` may be null, and so may `goal`; the caller frees `*goal`. What goes wrong with the
/// goal afterwards, also that it could not be sent, is for the response callback and
/// `sinew_client_goal_wait`. The library drops the context with `drop_context` when no callback
/// will run any more, and also if this function fails.
///
/// The client asks for the result by itself, and keeps it as long as there is a handle to the goal.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_action_client_send_goal(
    client: *const sinew_action_client,
    request: *mut sinew_message,
    callbacks: *const sinew_goal_callbacks,
    context: *mut c_void,
    drop_context: sinew_drop,
    goal: Option<&mut *mut sinew_client_goal>,
) -> sinew_status {
    status(|| {
        let context = Owned::new(context, drop_context);
        // SAFETY: the caller's message, which is given up.
        let request = unsafe { from_c(request, "request") }?;
        let client = borrow(&client)?;
        // SAFETY: the caller's structure.
        let callbacks = unsafe { structure(callbacks) }?;
        let program = Arc::new(GoalProgram::new(callbacks, context, client.of));
        let pending = program.set(client.client.goal(request)).send();
        if let Some(goal) = goal {
            *goal = handle::new(ClientGoal::pending(pending, client.of));
        }
        Ok(())
    })
}

/// The outcome of a request to end goals early, with ROS 2's numbers.
pub type sinew_cancel_outcome = c_int;

/// The goals are canceling, or there was nothing to cancel.
pub const SINEW_CANCEL_DONE: sinew_cancel_outcome = 0;
/// The server refused.
pub const SINEW_CANCEL_REJECTED: sinew_cancel_outcome = 1;
/// The server doesn't know the goal.
pub const SINEW_CANCEL_UNKNOWN_GOAL: sinew_cancel_outcome = 2;
/// The goal has ended, or is already canceling.
pub const SINEW_CANCEL_GOAL_TERMINATED: sinew_cancel_outcome = 3;

/// The callback of a request to end goals early, run by the executor of the client's group. If
/// `status` is `SINEW_OK`, `goals` are the `count` goals that will end early. Otherwise
/// `sinew_error_message()` says in this thread why the outcome is unknown. The array lives until
/// the callback returns.
///
/// It returns `SINEW_OK`. Anything else is a failure of the callback, which its executor reports.
pub type sinew_canceled_callback = Option<
    unsafe extern "C" fn(
        context: *mut c_void,
        status: sinew_status,
        outcome: sinew_cancel_outcome,
        goals: *const sinew_goal_info,
        count: usize,
    ) -> sinew_status,
>;

type CanceledFunction = unsafe extern "C" fn(
    *mut c_void,
    sinew_status,
    sinew_cancel_outcome,
    *const sinew_goal_info,
    usize,
) -> sinew_status;

fn outcome_number(outcome: CancelOutcome) -> sinew_cancel_outcome {
    match outcome {
        CancelOutcome::Done => SINEW_CANCEL_DONE,
        CancelOutcome::Rejected => SINEW_CANCEL_REJECTED,
        CancelOutcome::UnknownGoal => SINEW_CANCEL_UNKNOWN_GOAL,
        CancelOutcome::GoalTerminated => SINEW_CANCEL_GOAL_TERMINATED,
        CancelOutcome::Other(code) => code.into(),
        _ => -1,
    }
}

/// Sends a request to end goals early. Without a callback the answer is not looked at.
fn cancel(client: &ActionClientHandle, which: Cancel, callback: Option<Closure<CanceledFunction>>) {
    client.client.cancel_then(which, move |result: std::result::Result<Canceled, CancelError>| {
        let Some(callback) = callback else { return Ok(()) };
        let (function, context) = callback.parts();
        match result {
            Ok(Canceled { outcome: how, goals }) => {
                let canceling = |(id, stamp)| info(id, stamp, GoalStatus::Canceling);
                let goals: Vec<_> = goals.into_iter().map(canceling).collect();
                // SAFETY: the caller's function, with its context; the list lives during the call.
                outcome(unsafe { function(context, OK, outcome_number(how), goals.as_ptr(), goals.len()) })
            }
            Err(error) => {
                let status = Failure::from(error).keep();
                // SAFETY: the caller's function, with its context.
                outcome(unsafe { function(context, status, 0, std::ptr::null(), 0) })
            }
        }
    });
}

/// Asks the server to end a goal early. Never blocks. The callback may be null; the library drops
/// its context when it has run or never will, because the client was freed or this function fails.
/// For the id of zeros the callback gets `SINEW_ERROR_UNKNOWN_GOAL`, as ROS 2 takes it for all goals.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_action_client_cancel_goal(
    client: *const sinew_action_client,
    id: Option<&sinew_goal_id>,
    callback: sinew_canceled_callback,
    context: *mut c_void,
    drop_context: sinew_drop,
) -> sinew_status {
    status(|| {
        let callback = Closure::optional(callback, context, drop_context);
        let id = id.ok_or_else(|| Failure::null("id"))?;
        cancel(borrow(&client)?, Cancel::Goal((*id).into()), callback);
        Ok(())
    })
}

/// Asks the server to end all goals early, also those of other clients. Otherwise as
/// [`sinew_action_client_cancel_goal`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_action_client_cancel_all(
    client: *const sinew_action_client,
    callback: sinew_canceled_callback,
    context: *mut c_void,
    drop_context: sinew_drop,
) -> sinew_status {
    status(|| {
        let callback = Closure::optional(callback, context, drop_context);
        cancel(borrow(&client)?, Cancel::All, callback);
        Ok(())
    })
}

/// Asks the server to end the goals early that it accepted at this time of its clock or before,
/// also those of other clients. For time 0 the callback gets `SINEW_ERROR_NO_CANCEL_TIME`, as ROS 2
/// takes it for all goals. Otherwise as [`sinew_action_client_cancel_goal`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_action_client_cancel_before(
    client: *const sinew_action_client,
    stamp: sinew_time,
    callback: sinew_canceled_callback,
    context: *mut c_void,
    drop_context: sinew_drop,
) -> sinew_status {
    status(|| {
        let callback = Closure::optional(callback, context, drop_context);
        cancel(borrow(&client)?, Cancel::Before(Time::from_nanoseconds(stamp)), callback);
        Ok(())
    })
}
