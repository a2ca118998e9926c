//! The goals of an action's server.

use super::types::Action;
use crate::error::{SinewError, raise};
use crate::wait;
use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sinew_action::erased::{ErasedAction, Unended};
use sinew_action::{AcceptedGoal, ExecutingGoal, GoalId, GoalStatus};
use std::sync::Arc;

/// A goal that its server has accepted. Any thread may use it. Dropped before it has ended, it is
/// canceled.
#[pyclass(frozen, subclass, weakref, module = "sinew._sinew")]
pub(crate) struct ServerGoal {
    id: GoalId,
    /// The message that brought it.
    request: Py<PyAny>,
    action: Arc<Action>,
    progress: Mutex<Progress>,
}

/// A goal's progress.
enum Progress {
    Accepted(AcceptedGoal<ErasedAction>),
    Executing(ExecutingGoal<ErasedAction>),
    /// It has ended so, or another thread is just changing it.
    Ended(GoalStatus),
}

impl ServerGoal {
    pub(super) fn new(
        py: Python<'_>,
        goal: AcceptedGoal<ErasedAction>,
        action: Arc<Action>,
    ) -> PyResult<Self> {
        let request = action.request.received(py, goal.goal().clone())?.unbind();
        Ok(Self { id: goal.id(), request, action, progress: Mutex::new(Progress::Accepted(goal)) })
    }

    fn now(&self) -> GoalStatus {
        match &*self.progress.lock() {
            Progress::Accepted(goal) => goal.status(),
            Progress::Executing(goal) => goal.status(),
            Progress::Ended(status) => *status,
        }
    }

    #[cold]
    fn not_now(&self, wanted: &str) -> PyErr {
        let status = self.now();
        let hint = if status == GoalStatus::Accepted { ": begin it by `execute`" } else { "" };
        SinewError::new_err(format!("goal {} can't be {wanted}: it is {status}{hint}", self.id))
    }
}

/// Returns the goal that is still there after a failure, and the failure.
fn unended<G>(error: Unended<G>, progress: impl FnOnce(G) -> Progress) -> (Option<Box<Progress>>, PyErr) {
    (error.goal.map(|goal| Box::new(progress(*goal))), raise(error.error))
}

#[pymethods]
impl ServerGoal {
    #[getter]
    fn _id<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.id.0)
    }

    /// The message that brought it, with `goal` and `goal_id`.
    #[getter]
    fn _message(&self, py: Python<'_>) -> Py<PyAny> {
        self.request.clone_ref(py)
    }

    #[getter]
    fn _status(&self) -> i8 {
        self.now() as i8
    }

    /// Whether the goal must end early: a client asked for it, or the server is gone.
    #[getter]
    fn is_cancel_requested(&self) -> bool {
        match &*self.progress.lock() {
            Progress::Accepted(goal) => goal.is_cancel_requested(),
            Progress::Executing(goal) => goal.is_cancel_requested(),
            Progress::Ended(_) => false,
        }
    }

    /// Calls a function once, without arguments, as soon as the goal must end early: on the thread
    /// that causes this, or now if it must already.
    fn on_cancel_requested(&self, py: Python<'_>, callback: Py<PyAny>) -> PyResult<()> {
        let signal = match &*self.progress.lock() {
            Progress::Accepted(goal) => Some(goal.cancel_requested()),
            Progress::Executing(goal) => Some(goal.cancel_requested()),
            Progress::Ended(_) => None,
        };
        let signal = signal.ok_or_else(|| self.not_now("watched"))?;
        wait::detached(py, || {
            signal.on_cancel_requested(move |_| {
                wait::attached(|py| {
                    if let Err(error) = callback.call0(py) {
                        error.write_unraisable(py, Some(callback.bind(py)));
                    }
                });
            });
        });
        Ok(())
    }

    /// Begins the goal.
    fn _begin(&self, py: Python<'_>) -> PyResult<()> {
        let taken = {
            let mut progress = self.progress.lock();
            match &*progress {
                // While the goal begins, other threads find it executing, and can't end it yet.
                Progress::Accepted(_) => {
                    Some(std::mem::replace(&mut *progress, Progress::Ended(GoalStatus::Executing)))
                }
                _ => None,
            }
        };
        let Some(Progress::Accepted(accepted)) = taken else { return Err(self.not_now("begun")) };
        let begun = wait::detached(py, || accepted.execute());
        *self.progress.lock() = Progress::Executing(begun);
        Ok(())
    }

    /// Publishes feedback: a message of the action's `FeedbackMessage`.
    fn _publish_feedback(&self, message: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = message.py();
        let published = self.action.feedback.outgoing_as(message, self.action.types.feedback())?;
        let feedback = match &*self.progress.lock() {
            Progress::Executing(goal) => Some(goal.feedback()),
            _ => None,
        };
        let feedback = feedback.ok_or_else(|| self.not_now("given feedback"))?;
        wait::detached(py, || feedback.publish(published)).map_err(raise)
    }

    /// Ends the goal with this status and a message of the action's `GetResult_Response`.
    fn _end(&self, status: i8, message: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = message.py();
        let message = self.action.response.outgoing_as(message, self.action.types.response())?;
        let (status, wanted) = match status {
            4 => (GoalStatus::Succeeded, "succeeded"),
            5 => (GoalStatus::Canceled, "canceled"),
            _ => (GoalStatus::Aborted, "aborted"),
        };
        let taken = {
            let mut progress = self.progress.lock();
            let may = match &*progress {
                Progress::Accepted(_) => status == GoalStatus::Canceled,
                Progress::Executing(_) => true,
                Progress::Ended(_) => false,
            };
            may.then(|| std::mem::replace(&mut *progress, Progress::Ended(status)))
        };
        let taken = taken.ok_or_else(|| self.not_now(wanted))?;
        let ended = wait::detached(py, || match (taken, status) {
            (Progress::Accepted(goal), _) => {
                goal.canceled(message).map_err(|error| unended(error, Progress::Accepted))
            }
            (Progress::Executing(goal), GoalStatus::Succeeded) => {
                goal.succeed(message).map_err(|error| unended(error, Progress::Executing))
            }
            (Progress::Executing(goal), GoalStatus::Canceled) => {
                goal.canceled(message).map_err(|error| unended(error, Progress::Executing))
            }
            (Progress::Executing(goal), _) => {
                goal.abort(message).map_err(|error| unended(error, Progress::Executing))
            }
            (Progress::Ended(_), _) => Ok(()),
        });
        ended.map_err(|(goal, failure)| {
            if let Some(goal) = goal {
                *self.progress.lock() = *goal;
            }
            failure
        })
    }
}
