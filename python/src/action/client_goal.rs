//! The goals of an action's client.

use super::types::Action;
use crate::error::{SinewError, raise, with_code};
use crate::wait;
use parking_lot::Mutex;
use pyo3::exceptions::PyTimeoutError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sinew::error::ErrorCode;
use sinew_action::erased::ErasedAction;
use sinew_action::{GoalHandle, GoalId, GoalResult, PendingGoal, ResultError, SendGoalFailure};
use std::sync::Arc;
use std::time::Duration;

/// A goal on its way to the server.
#[pyclass(frozen, module = "sinew._sinew")]
pub(crate) struct SentGoal {
    id: GoalId,
    pending: Mutex<Option<PendingGoal<ErasedAction>>>,
    action: Arc<Action>,
    context: sinew::Context,
}

impl SentGoal {
    pub(super) fn new(
        pending: PendingGoal<ErasedAction>,
        action: Arc<Action>,
        context: sinew::Context,
    ) -> Self {
        Self { id: pending.id(), pending: Mutex::new(Some(pending)), action, context }
    }
}

#[pymethods]
impl SentGoal {
    #[getter]
    fn id<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.id.0)
    }

    /// Waits for the server's answer: a goal, or `None` if it was rejected. Meanwhile this thread
    /// runs the server if it can. After `timeout` seconds the goal is given up, and
    /// canceled if it is accepted later.
    #[pyo3(signature = (timeout=None, gives_up=false))]
    fn wait(&self, py: Python<'_>, timeout: Option<f64>, gives_up: bool) -> PyResult<Option<ClientGoal>> {
        let taken = self.pending.lock().take();
        let Some(mut pending) = taken else {
            let sentence = format!("another thread waits for the answer to goal {}", self.id);
            return Err(SinewError::new_err(sentence));
        };
        let mut answer = Ok(None);
        wait::sliced(py, &self.context, wait::end(timeout)?, |slice| {
            answer = pending.__wait_slice(slice);
            !matches!(answer, Ok(None))
        })?;
        match answer {
            Ok(Some(answer)) => self.answered(answer),
            Ok(None) if !gives_up => {
                *self.pending.lock() = Some(pending);
                Err(self.late(timeout, "it goes on"))
            }
            Ok(None) => match wait::detached(py, || pending.wait(Duration::ZERO)) {
                Ok(goal) => self.answered(Ok(goal)), // it came at the last moment
                Err(_) => {
                    let sentence = "it is given up, and canceled if it is accepted later";
                    Err(self.late(timeout, sentence))
                }
            },
            Err(why) => {
                drop(wait::detached(py, || pending.wait(Duration::ZERO))); // gives it up
                let sentence = format!("the wait for the answer to goal {} would never end: {why}", self.id);
                Err(with_code(ErrorCode::WouldDeadlock, sentence))
            }
        }
    }
}

impl SentGoal {
    fn late(&self, timeout: Option<f64>, what_now: &str) -> PyErr {
        let (id, seconds) = (self.id, timeout.unwrap_or_default());
        PyTimeoutError::new_err(format!("there was no answer to goal {id} within {seconds} s; {what_now}"))
    }

    fn answered(
        &self,
        answer: Result<GoalHandle<ErasedAction>, sinew_action::SendGoalError<sinew::erased::Message>>,
    ) -> PyResult<Option<ClientGoal>> {
        match answer {
            Ok(goal) => Ok(Some(ClientGoal::new(goal, Arc::clone(&self.action), self.context.clone()))),
            Err(error) => match error.failure() {
                SendGoalFailure::Rejected => Ok(None),
                SendGoalFailure::NoServer { .. } => Err(PyTimeoutError::new_err(error.to_string())),
                _ => Err(raise(error)),
            },
        }
    }
}

/// A goal that its server has accepted.
#[pyclass(frozen, module = "sinew._sinew")]
pub(crate) struct ClientGoal {
    goal: GoalHandle<ErasedAction>,
    action: Arc<Action>,
    context: sinew::Context,
}

impl ClientGoal {
    pub(super) fn new(goal: GoalHandle<ErasedAction>, action: Arc<Action>, context: sinew::Context) -> Self {
        Self { goal, action, context }
    }
}

#[pymethods]
impl ClientGoal {
    /// When the server accepted it, in nanoseconds of the server's clock.
    #[getter]
    fn stamp(&self) -> i64 {
        self.goal.stamp().nanoseconds()
    }

    /// The last state that the client has received.
    #[getter]
    fn status(&self) -> i8 {
        self.goal.status() as i8
    }

    /// Number of feedback messages that were lost, since newer ones displaced them.
    #[getter]
    fn feedback_lost(&self) -> u64 {
        self.goal.feedback_lost()
    }

    /// Waits for the result, a message of `GetResult_Response`. In a callback, this thread runs the
    /// server if it has to. Raises `TimeoutError` after `timeout` seconds; the goal goes on.
    #[pyo3(signature = (timeout=None))]
    fn wait(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<Py<PyAny>> {
        let end = wait::end(timeout)?;
        let mut found = None;
        let is_over = wait::sliced(py, &self.context, end, |slice| {
            let result = self.goal.result().wait(slice);
            let is_over = !matches!(result, Err(ResultError::Timeout { .. }));
            found = Some(result);
            is_over
        })?;
        match found {
            Some(Ok(result)) => result_object(py, &self.action, result),
            Some(Err(error)) if is_over => Err(raise(error)),
            _ => Err(PyTimeoutError::new_err(format!(
                "goal {} has not ended within {} s; it goes on",
                self.goal.id(),
                timeout.unwrap_or_default()
            ))),
        }
    }
}

/// Makes the object of a goal's result, with its status.
pub(super) fn result_object(
    py: Python<'_>,
    action: &Arc<Action>,
    result: GoalResult<ErasedAction>,
) -> PyResult<Py<PyAny>> {
    Ok(action.response.received(py, result.into_result())?.unbind())
}
