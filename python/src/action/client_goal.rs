//! The goals of an action's client.

use super::types::Action;
use crate::callback;
use crate::error::{SinewError, raise};
use crate::wait;
use parking_lot::Mutex;
use pyo3::exceptions::PyTimeoutError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
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
}

impl SentGoal {
    pub(super) fn new(pending: PendingGoal<ErasedAction>, action: Arc<Action>) -> Self {
        Self { id: pending.id(), pending: Mutex::new(Some(pending)), action }
    }
}

#[pymethods]
impl SentGoal {
    #[getter]
    fn id<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.id.0)
    }

    /// Waits for the server's answer: a goal, or `None` if it was rejected. In a callback, this
    /// thread runs the server if it has to. After `timeout` seconds the goal is given up, and
    /// canceled if it is accepted later.
    #[pyo3(signature = (timeout=None))]
    fn wait(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<Option<ClientGoal>> {
        let taken = self.pending.lock().take();
        let Some(mut pending) = taken else {
            let sentence = format!("another thread waits for the answer to goal {}", self.id);
            return Err(SinewError::new_err(sentence));
        };
        let mut left = wait::duration(timeout)?.unwrap_or(Duration::MAX);
        if !callback::is_running() {
            // The server doesn't need this thread, which looks at signals meanwhile.
            let (waiting, answer) = (Mutex::new(&mut pending), Mutex::new(None));
            wait::sliced(py, wait::end(timeout)?, |slice| {
                let over = sinew::executor::wait_for(&mut **waiting.lock(), slice);
                let there = over.is_some();
                *answer.lock() = over;
                there
            })?;
            if let Some(answer) = answer.into_inner() {
                return self.answered(answer);
            }
            left = Duration::ZERO;
        }
        self.answered(wait::detached(py, || pending.wait(left)))
    }
}

impl SentGoal {
    fn answered(
        &self,
        answer: Result<GoalHandle<ErasedAction>, sinew_action::SendGoalError<sinew::erased::Message>>,
    ) -> PyResult<Option<ClientGoal>> {
        match answer {
            Ok(goal) => Ok(Some(ClientGoal::new(goal, Arc::clone(&self.action)))),
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
}

impl ClientGoal {
    pub(super) fn new(goal: GoalHandle<ErasedAction>, action: Arc<Action>) -> Self {
        Self { goal, action }
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
        let found = Mutex::new(None);
        let is_over = wait::sliced(py, end, |slice| {
            let result = self.goal.result().wait(slice);
            let is_over = !matches!(result, Err(ResultError::Timeout { .. }));
            *found.lock() = Some(result);
            is_over
        })?;
        match found.into_inner() {
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
