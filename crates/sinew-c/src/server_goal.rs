//! The goals of an action's server.

use crate::action_type::{ActionTypeHandle, field};
use crate::closure::Closure;
use crate::goal::{sinew_goal_id, sinew_goal_status, status_number};
use crate::handle::{self, handle};
use crate::message::{LentMessage, from_c, sinew_message};
use crate::owned::sinew_drop;
use crate::status::{Failure, Result, answer, put, sinew_status, status};
use parking_lot::Mutex;
use sinew::erased::Message;
use sinew::error::ErrorCode;
use sinew_action::erased::{ErasedAction, Unended};
use sinew_action::{AcceptedGoal, ExecutingGoal, GoalId, GoalStatus};
use std::ffi::c_void;

/// A goal that its server has accepted. Any thread may use it. Freed before it has ended, it is
/// canceled, or aborted if the server's options say so.
pub struct sinew_server_goal {
    _opaque: (),
}
handle!(sinew_server_goal: ServerGoal);

/// A goal with the message that brought it.
pub(crate) struct ServerGoal {
    id: GoalId,
    request: LentMessage,
    of: &'static ActionTypeHandle,
    state: Mutex<Progress>,
}

/// A goal's progress.
enum Progress {
    Accepted(AcceptedGoal<ErasedAction>),
    Executing(ExecutingGoal<ErasedAction>),
    /// It has ended so, or another thread is just ending it.
    Ended(GoalStatus),
}

impl ServerGoal {
    pub(crate) fn accepted(goal: AcceptedGoal<ErasedAction>, of: &'static ActionTypeHandle) -> Self {
        let (id, request) = (goal.id(), LentMessage::new(goal.goal().clone()));
        Self { id, request, of, state: Mutex::new(Progress::Accepted(goal)) }
    }

    pub(crate) fn executing(goal: ExecutingGoal<ErasedAction>, of: &'static ActionTypeHandle) -> Self {
        let (id, request) = (goal.id(), LentMessage::new(goal.goal().clone()));
        Self { id, request, of, state: Mutex::new(Progress::Executing(goal)) }
    }

    fn status(&self) -> GoalStatus {
        match &*self.state.lock() {
            Progress::Accepted(goal) => goal.status(),
            Progress::Executing(goal) => goal.status(),
            Progress::Ended(status) => *status,
        }
    }

    /// Returns `true` if the goal must end early.
    fn is_canceling(&self) -> bool {
        match &*self.state.lock() {
            Progress::Accepted(goal) => goal.is_cancel_requested(),
            Progress::Executing(goal) => goal.is_cancel_requested(),
            Progress::Ended(_) => false,
        }
    }

    #[cold]
    fn not_now(&self, wanted: &str) -> Failure {
        let status = self.status();
        let hint = match status {
            GoalStatus::Accepted => ": begin it by sinew_server_goal_execute",
            _ => "",
        };
        let sentence = format_args!("goal {} can't be {wanted}: it is {status}{hint}", self.id);
        Failure::new(ErrorCode::GoalState, sentence)
    }

    /// Ends the goal by a closure that takes it. No lock is held meanwhile.
    fn end(
        &self,
        result: Message,
        (wanted, status): (&str, GoalStatus),
        end: impl FnOnce(Progress, Message) -> std::result::Result<(), (Option<Progress>, Failure)>,
    ) -> Result {
        let taken = {
            let mut state = self.state.lock();
            let may = match &*state {
                Progress::Accepted(_) => status == GoalStatus::Canceled,
                Progress::Executing(_) => true,
                Progress::Ended(_) => false,
            };
            may.then(|| std::mem::replace(&mut *state, Progress::Ended(status)))
        };
        let Some(taken) = taken else { return Err(self.not_now(wanted)) };
        end(taken, result).map_err(|(goal, failure)| {
            if let Some(goal) = goal {
                *self.state.lock() = goal;
            }
            failure
        })
    }
}

/// Returns the goal that is still there after a failure, and the failure.
fn unended<G>(error: Unended<G>, progress: impl FnOnce(G) -> Progress) -> (Option<Progress>, Failure) {
    (error.goal.map(|goal| progress(*goal)), Failure::from(error.error))
}

/// Frees a goal. If it has not ended, it ends now: see `sinew_action_server_options`. Null is
/// allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_server_goal_free(goal: *mut sinew_server_goal) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(goal, "goal") };
}

/// Returns the goal of a handle of the caller's, for as long as the caller's pointer is there.
fn borrow(goal: &*const sinew_server_goal) -> Result<&ServerGoal> {
    // SAFETY: the caller's handle, which no thread frees during the call.
    unsafe { handle::get(*goal, "goal") }
}

/// Gets the goal's id.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_server_goal_id(
    goal: *const sinew_server_goal,
    id: Option<&mut sinew_goal_id>,
) -> sinew_status {
    status(|| put(id, "id", borrow(&goal)?.id.into()))
}

/// Returns the message that brought the goal, of `.._SendGoal_Request`. It belongs to the handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_server_goal_request(goal: *const sinew_server_goal) -> *const sinew_message {
    answer(std::ptr::null(), || Ok(borrow(&goal)?.request.pointer()))
}

/// Returns the goal itself, inside the message that brought it. It belongs to the handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_server_goal_value(goal: *const sinew_server_goal) -> *const c_void {
    answer(std::ptr::null(), || {
        let goal = borrow(&goal)?;
        Ok(field(&goal.request, goal.of.places().request_goal))
    })
}

/// Returns the goal's state.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_server_goal_status(goal: *const sinew_server_goal) -> sinew_goal_status {
    answer(0, || Ok(status_number(borrow(&goal)?.status())))
}

/// Returns whether the goal has not ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_server_goal_is_active(goal: *const sinew_server_goal) -> bool {
    answer(false, || Ok(borrow(&goal)?.status().is_active()))
}

/// Returns whether the goal must end early: a client requested it, a newer goal arrived, the server
/// is gone, or its context is shut down. Never blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_server_goal_is_canceling(goal: *const sinew_server_goal) -> bool {
    answer(false, || Ok(borrow(&goal)?.is_canceling()))
}

/// Is called once, as soon as a goal must end early.
pub type sinew_goal_cancel_callback = Option<unsafe extern "C" fn(context: *mut c_void)>;

/// Has a function called once, as soon as the goal must end early, on the thread that causes this;
/// or now, if it must already. It should be short. It replaces the former one.
///
/// The library drops the context when the function has run or never will, and also if this function
/// fails: with `SINEW_ERROR_GOAL_STATE` if the goal has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_server_goal_on_cancel(
    goal: *const sinew_server_goal,
    callback: sinew_goal_cancel_callback,
    context: *mut c_void,
    drop_context: sinew_drop,
) -> sinew_status {
    status(|| {
        let closure = Closure::new(callback, context, drop_context)?;
        let goal = borrow(&goal)?;
        let call = move |_| {
            let (function, context) = closure.parts();
            // SAFETY: the caller's function, with its context.
            unsafe { function(context) };
        };
        // The callback may run now, and use the goal: the signal is asked for without the lock.
        let signal = match &*goal.state.lock() {
            Progress::Accepted(accepted) => Some(accepted.cancel_requested()),
            Progress::Executing(executing) => Some(executing.cancel_requested()),
            Progress::Ended(_) => None,
        };
        let signal = signal.ok_or_else(|| goal.not_now("watched"))?;
        signal.on_cancel_requested(call);
        Ok(())
    })
}

/// Begins a goal that was deferred. (If it must end early already, it stays so.) Fails with
/// `SINEW_ERROR_GOAL_STATE` if it has begun.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_server_goal_execute(goal: *const sinew_server_goal) -> sinew_status {
    status(|| {
        let goal = borrow(&goal)?;
        let taken = {
            let mut state = goal.state.lock();
            match &*state {
                // While the goal begins, other threads find it executing, and can't end it yet.
                Progress::Accepted(_) => {
                    Some(std::mem::replace(&mut *state, Progress::Ended(GoalStatus::Executing)))
                }
                _ => None,
            }
        };
        let Some(Progress::Accepted(accepted)) = taken else { return Err(goal.not_now("begun")) };
        let begun = accepted.execute(); // publishes the state: no lock is held
        *goal.state.lock() = Progress::Executing(begun);
        Ok(())
    })
}

/// Publishes feedback to the clients: a message of `.._FeedbackMessage`, in which this sets the
/// goal's id. Takes over the message, also if it fails. One with other references is copied, if its
/// type can.
///
/// Fails with `SINEW_ERROR_GOAL_STATE` if the goal doesn't execute, with `SINEW_ERROR_SERVER_GONE`,
/// `SINEW_ERROR_OTHER_TYPE`, `SINEW_ERROR_NOT_SOLE` and so on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_server_goal_publish_feedback(
    goal: *const sinew_server_goal,
    feedback: *mut sinew_message,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's message, which is given up.
        let feedback = unsafe { from_c(feedback, "feedback") }?;
        let goal = borrow(&goal)?;
        let publisher = match &*goal.state.lock() {
            Progress::Executing(executing) => Some(executing.feedback()),
            _ => None,
        };
        let publisher = publisher.ok_or_else(|| goal.not_now("given feedback"))?;
        publisher.publish(feedback)?; // may run listeners: no lock is held
        Ok(())
    })
}

/// Ends the goal as succeeded, with a message of `.._GetResult_Response`, in which this sets the
/// status. Takes over the message, also if it fails. One with other references is copied, if its
/// type can. The handle stays, and is to be freed.
///
/// Fails with `SINEW_ERROR_GOAL_STATE` if the goal has not begun or has ended, and with
/// `SINEW_ERROR_OTHER_TYPE`, `SINEW_ERROR_NOT_SOLE` and so on: then it continues. With
/// `SINEW_ERROR_SERVER_GONE`, it has ended: its clients were notified when the server went.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_server_goal_succeed(
    goal: *const sinew_server_goal,
    result: *mut sinew_message,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's message, which is given up.
        let result = unsafe { from_c(result, "result") }?;
        borrow(&goal)?.end(result, ("succeeded", GoalStatus::Succeeded), |goal, result| match goal {
            Progress::Executing(goal) => {
                goal.succeed(result).map_err(|error| unended(error, Progress::Executing))
            }
            _ => Ok(()),
        })
    })
}

/// Ends the goal as aborted: the server gives it up. Otherwise as [`sinew_server_goal_succeed`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_server_goal_abort(
    goal: *const sinew_server_goal,
    result: *mut sinew_message,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's message, which is given up.
        let result = unsafe { from_c(result, "result") }?;
        borrow(&goal)?.end(result, ("aborted", GoalStatus::Aborted), |goal, result| match goal {
            Progress::Executing(goal) => {
                goal.abort(result).map_err(|error| unended(error, Progress::Executing))
            }
            _ => Ok(()),
        })
    })
}

/// Ends the goal early, at the request of its client or of a newer goal, or of the server's own
/// accord; also one that has not begun. Otherwise as [`sinew_server_goal_succeed`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_server_goal_canceled(
    goal: *const sinew_server_goal,
    result: *mut sinew_message,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's message, which is given up.
        let result = unsafe { from_c(result, "result") }?;
        borrow(&goal)?.end(result, ("canceled", GoalStatus::Canceled), |goal, result| match goal {
            Progress::Accepted(goal) => {
                goal.canceled(result).map_err(|error| unended(error, Progress::Accepted))
            }
            Progress::Executing(goal) => {
                goal.canceled(result).map_err(|error| unended(error, Progress::Executing))
            }
            Progress::Ended(_) => Ok(()),
        })
    })
}
