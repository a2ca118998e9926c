//! The goals of an action's client.

use crate::action_type::{ActionTypeHandle, field};
use crate::closure::{Outcome, outcome};
use crate::goal::{sinew_goal_id, sinew_goal_status, status_number};
use crate::handle::{self, handle};
use crate::message::{LentMessage, into_c, sinew_message};
use crate::owned::Owned;
use crate::status::{Failure, OK, Result, answer, put, sinew_status, status};
use crate::structure::Structure;
use crate::time::{sinew_duration, sinew_time, timeout};
use parking_lot::Mutex;
use sinew::erased::Message;
use sinew::error::{ErrorCode, HasCode};
use sinew_action::erased::ErasedAction;
use sinew_action::{
    GoalBuilder, GoalHandle, GoalId, GoalResult, GoalStatus, PendingGoal, ResultError, SendGoalError,
};
use std::ffi::c_void;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// A goal that a client has sent. Several handles may refer to one goal. Freeing them doesn't stop
/// the goal.
pub struct sinew_client_goal {
    _opaque: (),
}
handle!(sinew_client_goal: ClientGoal);

/// A goal, and how far its answer has come.
pub(crate) struct ClientGoal {
    id: GoalId,
    state: Mutex<Answer>,
    of: &'static ActionTypeHandle,
}

enum Answer {
    Pending(PendingGoal<ErasedAction>),
    /// A thread waits for the answer.
    Awaited,
    Accepted(GoalHandle<ErasedAction>),
    /// It was not accepted, or a thread stopped waiting for the answer: the reason and its
    /// sentence.
    Refused(ErrorCode, String),
}

impl ClientGoal {
    pub(crate) fn pending(goal: PendingGoal<ErasedAction>, of: &'static ActionTypeHandle) -> Self {
        Self { id: goal.id(), state: Mutex::new(Answer::Pending(goal)), of }
    }

    fn accepted(goal: GoalHandle<ErasedAction>, of: &'static ActionTypeHandle) -> Self {
        Self { id: goal.id(), state: Mutex::new(Answer::Accepted(goal)), of }
    }

    /// Returns the goal if it was accepted.
    fn goal(&self) -> Result<GoalHandle<ErasedAction>> {
        let mut error = None; // with a message of the program: dropped once the lock is released
        let mut state = self.state.lock();
        if let Answer::Pending(pending) = &mut *state
            && let Poll::Ready(answer) = Pin::new(pending).poll(&mut Context::from_waker(Waker::noop()))
        {
            *state = answered(answer, &mut error);
        }
        let why = match &*state {
            Answer::Accepted(goal) => return Ok(goal.clone()),
            Answer::Refused(code, sentence) => return Err(Failure::new(*code, sentence)),
            Answer::Pending(_) => "its server's answer has not come: see sinew_client_goal_wait",
            Answer::Awaited => "another thread waits for its server's answer",
        };
        Err(Failure::new(ErrorCode::GoalState, format_args!("goal {} can't be used yet: {why}", self.id)))
    }
}

/// The outcome of sending a goal.
type Sent = std::result::Result<GoalHandle<ErasedAction>, SendGoalError<Message>>;

/// Returns the state after the answer, and the error, which holds the goal that was not sent.
fn answered(answer: Sent, unsent: &mut Option<SendGoalError<Message>>) -> Answer {
    match answer {
        Ok(goal) => Answer::Accepted(goal),
        Err(error) => {
            let refused = Answer::Refused(error.code(), error.to_string());
            *unsent = Some(error);
            refused
        }
    }
}

/// The callback with the server's answer to a goal, called once, first. If `status` is `SINEW_OK`,
/// the goal was accepted, and the callback owns `goal`. Otherwise `goal` is null, and
/// `sinew_error_message()` says in this thread why: with `SINEW_ERROR_GOAL_REJECTED` the server
/// rejected it.
pub type sinew_goal_response_callback = Option<
    unsafe extern "C" fn(
        context: *mut c_void,
        status: sinew_status,
        goal: *mut sinew_client_goal,
    ) -> sinew_status,
>;

/// The callback for feedback, called for each message. `message`, of `.._FeedbackMessage`, is lent
/// for the call; `sinew_message_clone` keeps it. `feedback` is the place of the feedback in it.
pub type sinew_feedback_callback = Option<
    unsafe extern "C" fn(
        context: *mut c_void,
        message: *const sinew_message,
        feedback: *const c_void,
    ) -> sinew_status,
>;

/// The callback with the result, called once, last. If `status` is `SINEW_OK`, `goal_status` says
/// how the goal ended, the callback owns `message`, of `.._GetResult_Response`, and `result` is the
/// place of the result in it; the message is shared with others, to be read only. Otherwise both
/// are null, and `sinew_error_message()` says in this thread why there is no result.
pub type sinew_result_callback = Option<
    unsafe extern "C" fn(
        context: *mut c_void,
        status: sinew_status,
        goal_status: sinew_goal_status,
        message: *mut sinew_message,
        result: *const c_void,
    ) -> sinew_status,
>;

/// The callbacks of a goal, which share a context. Each may be null. The executor of the client's
/// group runs them, those of one goal never at the same time. They return `SINEW_OK`; anything else
/// is a failure of the callback, which the executor reports.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_goal_callbacks {
    /// `sizeof(struct sinew_goal_callbacks)`.
    pub size: usize,
    /// Gets the server's answer.
    pub response: sinew_goal_response_callback,
    /// Gets feedback.
    pub feedback: sinew_feedback_callback,
    /// Gets the result.
    pub result: sinew_result_callback,
}

// SAFETY: C's layout, beginning with the size; zeros are null.
unsafe impl Structure for sinew_goal_callbacks {
    const NAME: &str = "sinew_goal_callbacks";
}

/// The caller's functions with their context, shared by the closures of a goal.
pub(crate) struct GoalProgram {
    callbacks: sinew_goal_callbacks,
    context: Owned,
    of: &'static ActionTypeHandle,
}

impl GoalProgram {
    pub(crate) fn new(
        callbacks: sinew_goal_callbacks,
        context: Owned,
        of: &'static ActionTypeHandle,
    ) -> Self {
        Self { callbacks, context, of }
    }

    /// Sets the callbacks of a goal that is about to be sent.
    pub(crate) fn set(self: &Arc<Self>, mut goal: GoalBuilder<ErasedAction>) -> GoalBuilder<ErasedAction> {
        if let Some(function) = self.callbacks.response {
            let program = self.clone();
            goal = goal.on_response(move |accepted| program.response(function, accepted));
        }
        if let Some(function) = self.callbacks.feedback {
            let program = self.clone();
            goal = goal.on_feedback_message(move |message| program.feedback(function, message));
        }
        if let Some(function) = self.callbacks.result {
            let program = self.clone();
            goal = goal.on_result(move |result| program.result(function, result));
        }
        goal
    }

    fn response(
        &self,
        function: unsafe extern "C" fn(*mut c_void, sinew_status, *mut sinew_client_goal) -> sinew_status,
        accepted: Sent,
    ) -> Outcome {
        let (status, goal) = match accepted {
            Ok(goal) => (OK, handle::new(ClientGoal::accepted(goal, self.of))),
            Err(error) => (Failure::from(error).keep(), std::ptr::null_mut()),
        };
        // SAFETY: the caller's function, with its context; the callback owns the goal.
        outcome(unsafe { function(self.context.pointer(), status, goal) })
    }

    fn feedback(
        &self,
        function: unsafe extern "C" fn(*mut c_void, *const sinew_message, *const c_void) -> sinew_status,
        message: &Message,
    ) -> Outcome {
        let message = LentMessage::new(message.clone());
        let feedback = field(&message, self.of.places().feedback_feedback);
        // SAFETY: the caller's function, with its context; the message lives during the call.
        outcome(unsafe { function(self.context.pointer(), message.pointer(), feedback) })
    }

    fn result(
        &self,
        function: unsafe extern "C" fn(
            *mut c_void,
            sinew_status,
            sinew_goal_status,
            *mut sinew_message,
            *const c_void,
        ) -> sinew_status,
        result: std::result::Result<GoalResult<ErasedAction>, ResultError>,
    ) -> Outcome {
        let (status, how, message, value) = match result {
            Ok(result) => {
                let (how, message) = (status_number(result.status()), result.into_result());
                let value = field(&message, self.of.places().response_result);
                (OK, how, into_c(message), value)
            }
            Err(error) => {
                let status = Failure::from(error).keep();
                (status, status_number(GoalStatus::Unknown), std::ptr::null_mut(), std::ptr::null())
            }
        };
        // SAFETY: the caller's function, with its context; the callback owns the message.
        outcome(unsafe { function(self.context.pointer(), status, how, message, value) })
    }
}

/// Frees a handle to a goal; the goal continues. Null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_client_goal_free(goal: *mut sinew_client_goal) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(goal, "goal") };
}

/// Returns the goal of a handle of the caller's, for as long as the caller's pointer is there.
fn borrow(goal: &*const sinew_client_goal) -> Result<&ClientGoal> {
    // SAFETY: the caller's handle, which no thread frees during the call.
    unsafe { handle::get(*goal, "goal") }
}

/// Gets the goal's id, which exists before the server knows the goal.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_client_goal_id(
    goal: *const sinew_client_goal,
    id: Option<&mut sinew_goal_id>,
) -> sinew_status {
    status(|| put(id, "id", borrow(&goal)?.id.into()))
}

/// Waits for the server's answer, for at most `timeout` (negative: for ever). Succeeds if the goal
/// was accepted, also if it was before. In a callback, the waiting thread runs the server itself if
/// it can.
///
/// Fails with `SINEW_ERROR_GOAL_REJECTED`. With `SINEW_ERROR_NO_SERVER`, `SINEW_ERROR_TIMEOUT` or
/// `SINEW_ERROR_WOULD_DEADLOCK` the goal is given up: a server that accepts it later is asked to
/// cancel it, and later calls fail likewise. With `SINEW_ERROR_GOAL_STATE` another thread waits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_client_goal_wait(
    goal: *const sinew_client_goal,
    timeout: sinew_duration,
) -> sinew_status {
    status(|| {
        let goal = borrow(&goal)?;
        let pending = {
            let mut state = goal.state.lock();
            match std::mem::replace(&mut *state, Answer::Awaited) {
                Answer::Pending(pending) => Some(pending),
                other => {
                    *state = other;
                    None
                }
            }
        };
        let Some(pending) = pending else { return goal.goal().map(drop) };
        let answer = pending.wait(self::timeout(timeout));
        let mut error = None; // as in `ClientGoal::goal`
        *goal.state.lock() = answered(answer, &mut error);
        goal.goal().map(drop)
    })
}

/// Gets the time at which the server accepted the goal, by the server's clock. Fails with
/// `SINEW_ERROR_GOAL_STATE` if it has not accepted it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_client_goal_stamp(
    goal: *const sinew_client_goal,
    stamp: Option<&mut sinew_time>,
) -> sinew_status {
    status(|| put(stamp, "stamp", borrow(&goal)?.goal()?.stamp().nanoseconds()))
}

/// Returns the last state that the client has received; `SINEW_GOAL_UNKNOWN` if the server has not
/// accepted the goal.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_client_goal_status(goal: *const sinew_client_goal) -> sinew_goal_status {
    answer(0, || Ok(status_number(borrow(&goal)?.goal().map_or(GoalStatus::Unknown, |goal| goal.status()))))
}

/// Returns the number of feedback messages that were lost, as far as is known: newer ones displaced
/// them before the callback ran. A larger `feedback_depth` loses fewer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_client_goal_feedback_lost(goal: *const sinew_client_goal) -> u64 {
    answer(0, || Ok(borrow(&goal)?.goal()?.feedback_lost()))
}

/// Waits for the result of a goal that was accepted, for at most `timeout` (negative: for ever),
/// any number of times. `*goal_status` says how the goal ended. The caller owns `*message`, of
/// `.._GetResult_Response`, which is shared with others, to be read only; `*result` is the place of
/// the result in it. All three may be null, but `result` needs the message. In a callback, the
/// waiting thread runs the server itself if it can.
///
/// Fails with `SINEW_ERROR_TIMEOUT` (the goal continues), `SINEW_ERROR_SERVER_GONE`,
/// `SINEW_ERROR_UNKNOWN_GOAL`, `SINEW_ERROR_WOULD_DEADLOCK`, or with `SINEW_ERROR_GOAL_STATE` if
/// the server has not accepted the goal.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_client_goal_wait_for_result(
    goal: *const sinew_client_goal,
    timeout: sinew_duration,
    goal_status: Option<&mut sinew_goal_status>,
    message: Option<&mut *mut sinew_message>,
    result: Option<&mut *const c_void>,
) -> sinew_status {
    status(|| {
        let goal = borrow(&goal)?;
        if result.is_some() && message.is_none() {
            return Err(Failure::null("message"));
        }
        let ended = goal.goal()?.result().wait(self::timeout(timeout))?;
        if let Some(place) = goal_status {
            *place = status_number(ended.status());
        }
        let ended = ended.into_result();
        if let Some(place) = result {
            *place = field(&ended, goal.of.places().response_result);
        }
        if let Some(place) = message {
            *place = into_c(ended);
        }
        Ok(())
    })
}
