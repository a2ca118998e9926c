//! Servers of actions.

use crate::action_type::{self, ActionTypeHandle, sinew_action_type};
use crate::closure::{CallbackFailed, Outcome, outcome};
use crate::goal::{info, sinew_goal_id, sinew_goal_info};
use crate::group::{in_group, sinew_group};
use crate::handle::{self, handle};
use crate::message::{LentMessage, sinew_message};
use crate::node::sinew_node;
use crate::owned::{Owned, sinew_drop};
use crate::server_goal::{ServerGoal, sinew_server_goal};
use crate::status::{Failure, OK, Result, answer, sinew_status, status};
use crate::structure::{Structure, structure};
use crate::text::{c_text, text};
use crate::time::sinew_duration;
use sinew::erased::Message;
use sinew::error::CreateError;
use sinew::executor::Maker;
use sinew::{Group, ReentrantGroup};
use sinew_action::erased::{ErasedAction, ErasedActions};
use sinew_action::{
    AcceptedGoal, ActionServer, ActionServerBuilder, Decision, ExecutingGoal, GoalId, OnDrop, Policy,
};
use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::Arc;
use std::time::Duration;

/// A server that executes the goals of an action.
pub struct sinew_action_server {
    _opaque: (),
}
handle!(sinew_action_server: ActionServerHandle);

/// A server with its name as C reads it.
pub(crate) struct ActionServerHandle {
    server: ActionServer<ErasedAction>,
    name: CString,
}

/// A server's decision on a goal, with rclcpp's numbers.
pub type sinew_goal_response = c_int;

/// The goal is rejected.
pub const SINEW_GOAL_REJECT: sinew_goal_response = 1;
/// The goal is accepted and begins, now or when the server's policy allows: then the accepted
/// callback gets it.
pub const SINEW_GOAL_ACCEPT_AND_EXECUTE: sinew_goal_response = 2;
/// The goal is accepted; the accepted callback gets it at once, and it begins by
/// `sinew_server_goal_execute`. No policy applies to it.
pub const SINEW_GOAL_ACCEPT_AND_DEFER: sinew_goal_response = 3;

/// A server's decision on a request to end a goal early, with rclcpp's numbers.
pub type sinew_cancel_response = c_int;

/// The goal continues.
pub const SINEW_CANCEL_REJECT: sinew_cancel_response = 1;
/// The goal is asked to end.
pub const SINEW_CANCEL_ACCEPT: sinew_cancel_response = 2;
/// The accepted callback has not got the goal yet, which the program needs to decide: the cancel
/// callback is called again after the callbacks that wait in the group, and the accepted one is
/// among them. A goal that waits for its turn under the server's policy ends early at once.
pub const SINEW_CANCEL_LATER: sinew_cancel_response = 3;

/// Decides on a goal: it sets `*response`, which is 0 before. `request` is lent for the call, a
/// message of `.._SendGoal_Request`; `sinew_message_clone` keeps it. It returns `SINEW_OK`;
/// anything else is a failure of the callback, and the goal is rejected.
pub type sinew_goal_callback = Option<
    unsafe extern "C" fn(
        context: *mut c_void,
        id: *const sinew_goal_id,
        request: *const sinew_message,
        response: *mut sinew_goal_response,
    ) -> sinew_status,
>;

/// Decides whether a goal may be ended early: it sets `*response`, which is 0 before. It returns
/// `SINEW_OK`; anything else is a failure of the callback, and the goal continues.
pub type sinew_cancel_callback = Option<
    unsafe extern "C" fn(
        context: *mut c_void,
        id: *const sinew_goal_id,
        response: *mut sinew_cancel_response,
    ) -> sinew_status,
>;

/// Gets a goal that was accepted, and owns it: it is executed here, or later on any thread, and
/// freed with `sinew_server_goal_free`. It returns `SINEW_OK`; anything else is a failure of the
/// callback.
pub type sinew_accepted_callback =
    Option<unsafe extern "C" fn(context: *mut c_void, goal: *mut sinew_server_goal) -> sinew_status>;

/// The callbacks of an action server, which share a context.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_action_server_callbacks {
    /// `sizeof(struct sinew_action_server_callbacks)`.
    pub size: usize,
    /// Decides on each goal. Null: each is accepted and executed.
    pub goal: sinew_goal_callback,
    /// Decides on requests to end goals early. Null: each is accepted.
    pub cancel: sinew_cancel_callback,
    /// Gets each goal that was accepted. Must not be null.
    pub accepted: sinew_accepted_callback,
}

// SAFETY: C's layout, beginning with the size; zeros are null.
unsafe impl Structure for sinew_action_server_callbacks {
    const NAME: &str = "sinew_action_server_callbacks";
}

/// What an action server does with a goal that arrives while another one is executing.
pub type sinew_goal_policy = c_int;

/// Both are executed. The default, as in ROS 2.
pub const SINEW_GOALS_PARALLEL: sinew_goal_policy = 0;
/// The new one is rejected.
pub const SINEW_GOALS_REJECT: sinew_goal_policy = 1;
/// The new one waits until those before it have ended.
pub const SINEW_GOALS_QUEUE: sinew_goal_policy = 2;
/// The executing one is asked to end, and the new one begins then. One that waits meanwhile is
/// canceled.
pub const SINEW_GOALS_NEWEST_WINS: sinew_goal_policy = 3;

/// The options of [`sinew_action_server_new`]. Zero is the default of every field.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_action_server_options {
    /// `sizeof(struct sinew_action_server_options)`.
    pub size: usize,
    /// The group in which the callbacks run; the server belongs to the group's node. Null: the
    /// node's default group.
    pub group: *const sinew_group,
    /// Whether the goal and cancel callbacks, and the accepted callback of a deferred goal, run on
    /// the thread that sends the request, or that receives it from another process, instead of in
    /// an executor. Then goals are accepted and cancelled also while the group is busy; several
    /// threads may run the callbacks at once, and they should be short.
    pub is_immediate: bool,
    /// What becomes of a goal while another one is executing.
    pub policy: sinew_goal_policy,
    /// The number of goals that may wait with `SINEW_GOALS_QUEUE`.
    pub queue: usize,
    /// The number of goals that may be active; further ones are rejected. 0: 1000.
    pub max_goals: usize,
    /// The number of ended goals with a result that is kept. 0: 1000.
    pub max_results: usize,
    /// The bytes of all kept results in encoded form. 0: 64 MiB.
    pub max_result_bytes: usize,
    /// The time for which a result is kept for later requests, from the end of its goal. 0: 10
    /// seconds. Negative: until newer ones reach a limit.
    pub result_timeout: sinew_duration,
    /// Whether a goal is aborted that is freed before it has ended. By default it is canceled.
    pub aborts_on_free: bool,
}

// SAFETY: C's layout, beginning with the size; zeros are null, `false`, numbers.
unsafe impl Structure for sinew_action_server_options {
    const NAME: &str = "sinew_action_server_options";
}

impl sinew_action_server_options {
    fn apply<M: Maker>(
        &self,
        mut builder: ActionServerBuilder<ErasedAction, M>,
    ) -> Result<ActionServerBuilder<ErasedAction, M>> {
        builder = builder.policy(match self.policy {
            SINEW_GOALS_PARALLEL => Policy::Parallel,
            SINEW_GOALS_REJECT => Policy::Reject,
            SINEW_GOALS_QUEUE => Policy::Queue(self.queue),
            SINEW_GOALS_NEWEST_WINS => Policy::NewestWins,
            other => return Err(Failure::enumerator("policy", other)),
        });
        if !self.is_immediate {
            builder = builder.decide_in_group();
        }
        if self.max_goals != 0 {
            builder = builder.max_goals(self.max_goals);
        }
        if self.max_results != 0 {
            builder = builder.max_results(self.max_results);
        }
        if self.max_result_bytes != 0 {
            builder = builder.max_result_bytes(self.max_result_bytes);
        }
        if self.result_timeout != 0 {
            let timeout = u64::try_from(self.result_timeout);
            builder = builder.result_timeout(timeout.map_or(Duration::MAX, Duration::from_nanos));
        }
        Ok(if self.aborts_on_free { builder.on_drop(OnDrop::Abort) } else { builder })
    }
}

type AcceptedFunction = unsafe extern "C" fn(*mut c_void, *mut sinew_server_goal) -> sinew_status;

/// The caller's functions with their context, shared by the closures of a server.
struct Program {
    callbacks: sinew_action_server_callbacks,
    accepted: AcceptedFunction,
    context: Owned,
    of: &'static ActionTypeHandle,
}

impl Program {
    fn decide(
        self: &Arc<Self>,
        id: GoalId,
        request: &Message,
    ) -> std::result::Result<Decision<ErasedAction>, CallbackFailed> {
        let mut response = SINEW_GOAL_ACCEPT_AND_EXECUTE;
        if let Some(function) = self.callbacks.goal {
            response = 0;
            let (id, request) = (sinew_goal_id::from(id), LentMessage::new(request.clone()));
            // SAFETY: the caller's function, with its context; the rest lives during the call.
            outcome(unsafe {
                function(self.context.pointer(), &raw const id, request.pointer(), &raw mut response)
            })?;
        }
        match response {
            SINEW_GOAL_REJECT => Ok(Decision::Reject),
            SINEW_GOAL_ACCEPT_AND_EXECUTE => Ok(Decision::Execute),
            SINEW_GOAL_ACCEPT_AND_DEFER => {
                let program = self.clone();
                Ok(Decision::defer(move |goal: AcceptedGoal<ErasedAction>| {
                    program.accepted(ServerGoal::accepted(goal, program.of))
                }))
            }
            other => Err(wrong("response of the goal callback", other)),
        }
    }

    /// `None`: it is asked again.
    fn may_cancel(&self, id: GoalId) -> std::result::Result<Option<bool>, CallbackFailed> {
        let Some(function) = self.callbacks.cancel else { return Ok(Some(true)) };
        let (mut response, id) = (0, sinew_goal_id::from(id));
        // SAFETY: the caller's function, with its context; the rest lives during the call.
        outcome(unsafe { function(self.context.pointer(), &raw const id, &raw mut response) })?;
        match response {
            SINEW_CANCEL_REJECT => Ok(Some(false)),
            SINEW_CANCEL_ACCEPT => Ok(Some(true)),
            SINEW_CANCEL_LATER => Ok(None),
            other => Err(wrong("response of the cancel callback", other)),
        }
    }

    fn accepted(&self, goal: ServerGoal) -> Outcome {
        let goal = handle::new(goal);
        // SAFETY: the caller's function, with its context; the callback owns the goal.
        outcome(unsafe { (self.accepted)(self.context.pointer(), goal) })
    }
}

/// The failure of a callback that answers with a number which is none of the enumeration's.
#[cold]
fn wrong(what: &str, number: c_int) -> CallbackFailed {
    let status = Failure::enumerator(what, number).keep();
    match outcome(status) {
        Err(failed) => failed,
        Ok(()) => unreachable!("{OK} is no failure"),
    }
}

/// Builders of both kinds of groups: one form of callback.
trait AcceptedBuilder {
    fn with_callback(
        self,
        program: Arc<Program>,
    ) -> std::result::Result<ActionServer<ErasedAction>, CreateError>;
}

macro_rules! accepted_builder {
    ($($maker:ty),*) => {$(
        impl AcceptedBuilder for ActionServerBuilder<ErasedAction, $maker> {
            fn with_callback(
                self,
                program: Arc<Program>,
            ) -> std::result::Result<ActionServer<ErasedAction>, CreateError> {
                self.callback(move |goal: ExecutingGoal<ErasedAction>| {
                    program.accepted(ServerGoal::executing(goal, program.of))
                })
            }
        }
    )*};
}
accepted_builder!(sinew::Node, Group, ReentrantGroup);

/// Makes a server of an action.
///
/// `options` may be null. The caller frees `*server`, which ends it. The library drops the context
/// of the callbacks with `drop_context` when the server and its goals have ended, and no thread
/// runs a callback any more, and also if this function fails.
///
/// An executor runs the callbacks in the server's group, those that decide as well unless the
/// options say that they are immediate. So where one callback of an exclusive group executes a
/// goal, no goal is accepted or cancelled meanwhile: execute it on another thread, or use a
/// reentrant group and an executor with several threads.
///
/// Fails with `SINEW_ERROR_SERVICE_TAKEN` if the action has a server in this context, or with
/// `SINEW_ERROR_INVALID_NAME`, `SINEW_ERROR_SHUTDOWN` and so on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_action_server_new(
    node: *const sinew_node,
    name: *const c_char,
    action_type: *const sinew_action_type,
    options: *const sinew_action_server_options,
    callbacks: *const sinew_action_server_callbacks,
    context: *mut c_void,
    drop_context: sinew_drop,
    server: Option<&mut *mut sinew_action_server>,
) -> sinew_status {
    status(|| {
        let context = Owned::new(context, drop_context);
        // SAFETY: the caller's handle.
        let node = unsafe { handle::get(node, "node") }?;
        // SAFETY: the caller's text.
        let name = unsafe { text(name, "name") }?;
        // SAFETY: the caller's handle.
        let of: &'static _ = unsafe { action_type::get(action_type, "action_type") }?;
        // SAFETY: the caller's structure.
        let options = unsafe { structure(options) }?;
        // SAFETY: the caller's structure.
        let callbacks = unsafe { structure(callbacks) }?;
        // SAFETY: the caller's handle.
        let group = unsafe { handle::get_optional(options.group, "group") }?;
        let accepted = callbacks.accepted.ok_or_else(|| Failure::null("accepted"))?;
        let place = server.ok_or_else(|| Failure::null("server"))?;
        let program = Arc::new(Program { callbacks, accepted, context, of });
        let (decider, canceler) = (program.clone(), program.clone());
        let server = in_group!(node, group, |maker| {
            let builder = options.apply(maker.erased_action_server(name, &of.types))?;
            let builder = builder.try_on_goal(move |id, request| decider.decide(id, request));
            builder.__try_on_cancel(move |id| canceler.may_cancel(id)).with_callback(program)
        })?;
        let name = c_text(server.name().to_owned());
        *place = handle::new(ActionServerHandle { server, name });
        Ok(())
    })
}

/// Frees a server, which ends it: its goals are asked to end, and clients that wait for a result
/// get a failure. Doesn't wait for a callback that runs. Null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_action_server_free(server: *mut sinew_action_server) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(server, "server") };
}

/// Ends the server, and waits until its callback, if that is running on another thread, has
/// returned; not in its own callback. The handle is still to be freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_action_server_close(server: *const sinew_action_server) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        unsafe { handle::get(server, "server") }?.server.clone().close();
        Ok(())
    })
}

/// Returns the action's full name, after remapping. The text lives as long as the handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_action_server_name(server: *const sinew_action_server) -> *const c_char {
    // SAFETY: the caller's handle.
    answer(std::ptr::null(), || Ok(unsafe { handle::get(server, "server") }?.name.as_ptr()))
}

/// Gets the goals that the server knows, in the order in which they were accepted: those that have
/// not ended, and those with a result that is kept. Writes up to `capacity` of them to `goals`, and
/// returns how many there are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_action_server_goals(
    server: *const sinew_action_server,
    goals: *mut sinew_goal_info,
    capacity: usize,
) -> usize {
    answer(0, || {
        // SAFETY: the caller's handle.
        let known = unsafe { handle::get(server, "server") }?.server.goals();
        if goals.is_null() && capacity != 0 {
            return Err(Failure::null("goals"));
        }
        for (place, (id, stamp, status)) in known.iter().take(capacity).enumerate() {
            // SAFETY: within the caller's array.
            let to = unsafe { goals.add(place) };
            // SAFETY: as above.
            unsafe { to.write(info(*id, *stamp, *status)) };
        }
        Ok(known.len())
    })
}
