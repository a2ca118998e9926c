//! Clients of actions.

use super::client_goal::{ClientGoal, SentGoal, result_object};
use super::types::{Action, check_name};
use crate::callback::{Callback, Outcome};
use crate::done;
use crate::error::raise;
use crate::group::{Group, Place, in_group};
use crate::node::Node;
use crate::publisher::destroyed;
use crate::wait;
use parking_lot::Mutex;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sinew::time::Time;
use sinew_action::erased::{ErasedAction, ErasedActions};
use sinew_action::{Cancel, CancelError, CancelOutcome, Canceled, GoalId, SendGoalFailure};
use std::sync::Arc;

/// A client of an action.
#[pyclass(frozen, subclass, weakref, module = "sinew._sinew")]
pub(crate) struct ActionClient {
    client: Mutex<Option<sinew_action::ActionClient<ErasedAction>>>,
    name: String,
    action: Arc<Action>,
    place: Place,
    context: sinew::Context,
}

#[pymethods]
impl ActionClient {
    #[new]
    #[pyo3(signature = (node, class, name, *, group=None, feedback_depth=10))]
    #[expect(clippy::too_many_arguments, reason = "options, by their names")]
    fn new(
        py: Python<'_>,
        node: &Node,
        class: &Bound<'_, PyAny>,
        name: &str,
        group: Option<&Group>,
        feedback_depth: usize,
    ) -> PyResult<Self> {
        let action = Action::of(class)?;
        check_name(node, name)?;
        let place = Place::of(node, group);
        let owner = place.owner()?;
        let client = wait::detached(py, || {
            in_group!(owner, |maker| maker
                .erased_action_client(name, &action.types)
                .feedback_depth(feedback_depth)
                .create())
        });
        let client = client.map_err(raise)?;
        let name = client.name().to_owned();
        let context = node.context.clone();
        Ok(Self { client: Mutex::new(Some(client)), name, action, place, context })
    }

    #[getter]
    fn action_name(&self) -> &str {
        &self.name
    }

    /// Whether there is a server.
    fn server_is_ready(&self) -> PyResult<bool> {
        Ok(self.get()?.is_server_ready())
    }

    #[pyo3(signature = (timeout=None))]
    fn wait_for_server(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<bool> {
        let client = self.get()?;
        wait::sliced(py, &self.context, wait::end(timeout)?, |slice| client.wait_for_server(slice))
    }

    /// Sends a goal, a message of the action's `SendGoal_Request`. The callbacks run in the
    /// client's group: `answered` with a goal and `None`, with `None` twice if it was rejected, or
    /// with `None` and an exception; `feedback` with messages of `FeedbackMessage`; `ended` as
    /// `answered`, with a `GetResult_Response`.
    fn send_goal(
        &self,
        request: &Bound<'_, PyAny>,
        answered: Py<PyAny>,
        feedback: Option<Py<PyAny>>,
        ended: Py<PyAny>,
    ) -> PyResult<SentGoal> {
        let (py, client) = (request.py(), self.get()?);
        let goal = self.action.request.outgoing_as(request, self.action.types.request())?;
        let callback = |callable| Callback::new(callable, self.place.clone());
        let (answered, ended) = (callback(answered), callback(ended));
        let (of, of_result) = (Arc::clone(&self.action), Arc::clone(&self.action));
        let context = self.context.clone();
        let mut goal = client
            .goal(goal)
            .on_response(move |accepted| -> Outcome {
                answered.run(|py| match accepted {
                    Ok(goal) => {
                        let goal = Bound::new(py, ClientGoal::new(goal, of, context))?.into_any().unbind();
                        Ok((goal, py.None()))
                    }
                    Err(error) if *error.failure() == SendGoalFailure::Rejected => Ok((py.None(), py.None())),
                    Err(error) => Ok((py.None(), raise(error).into_value(py).into_any())),
                })
            })
            .on_result(move |result| -> Outcome {
                ended.run(|py| match result {
                    Ok(result) => Ok((result_object(py, &of_result, result)?, py.None())),
                    Err(error) => Ok((py.None(), raise(error).into_value(py).into_any())),
                })
            });
        if let Some(feedback) = feedback {
            let (feedback, of) = (callback(feedback), Arc::clone(&self.action.feedback));
            goal = goal.on_feedback_message(move |message| -> Outcome {
                let message = message.clone();
                feedback.run(|py| Ok((of.received(py, message)?.unbind(),)))
            });
        }
        let pending = wait::detached(py, || goal.send());
        Ok(SentGoal::new(pending, Arc::clone(&self.action), self.context.clone()))
    }

    /// Asks the server to end goals early: the one with this id, all, or those that were accepted
    /// until `stamp`, in nanoseconds. `answered` is called once, on the thread that answers: with
    /// the code and the list of the goals' ids and stamps, and `None`; or with `None` and an
    /// exception.
    fn cancel(
        &self,
        py: Python<'_>,
        id: Option<&Bound<'_, PyBytes>>,
        stamp: Option<i64>,
        answered: Py<PyAny>,
    ) -> PyResult<()> {
        let client = self.get()?;
        let id = id.map(|id| id.as_bytes().try_into().map(GoalId)).transpose();
        let id = id.map_err(|_| PyValueError::new_err("the id of a goal has 16 bytes"))?;
        let which = match (id, stamp.map(Time::from_nanoseconds)) {
            (None, None) => Cancel::All,
            (None, Some(stamp)) => Cancel::Before(stamp),
            (Some(id), None) => Cancel::Goal(id),
            (Some(id), Some(stamp)) => Cancel::GoalAndBefore(id, stamp),
        };
        wait::detached(py, || {
            client.cancel_then_immediately(which, move |result| give(result, &answered));
        });
        Ok(())
    }

    /// Waits until the future of a cancel request is done, for at most `timeout` seconds. Meanwhile
    /// this thread runs the server if it can.
    #[pyo3(signature = (future, timeout=None))]
    fn run_canceling(&self, future: &Bound<'_, PyAny>, timeout: Option<f64>) -> PyResult<bool> {
        let client = self.get()?;
        done::until_done_beside(
            future,
            &|| self.context.is_shutdown(),
            wait::end(timeout)?,
            &mut |done, slice| Ok(client.__wait_beside_cancel(done, slice)?.is_some()),
        )
    }

    fn destroy(&self, py: Python<'_>) {
        let client = self.client.lock().take();
        wait::detached(py, || client.map(sinew_action::ActionClient::close));
    }
}

impl ActionClient {
    fn get(&self) -> PyResult<sinew_action::ActionClient<ErasedAction>> {
        let client = self.client.lock().clone();
        client.ok_or_else(|| destroyed("action client", &self.name))
    }
}

/// Gives the answer to a cancel request to Python.
fn give(result: Result<Canceled, CancelError>, answered: &Py<PyAny>) {
    wait::attached(|py| {
        let given = match result {
            Ok(Canceled { outcome, goals, .. }) => {
                let goals: Vec<_> =
                    goals.iter().map(|(id, stamp)| (PyBytes::new(py, &id.0), stamp.nanoseconds())).collect();
                answered.call1(py, ((code(outcome), goals), py.None()))
            }
            Err(error) => answered.call1(py, (py.None(), raise(error))),
        };
        if let Err(error) = given {
            error.write_unraisable(py, Some(answered.bind(py)));
        }
    });
}

/// Returns ROS 2's `return_code`.
fn code(outcome: CancelOutcome) -> i8 {
    match outcome {
        CancelOutcome::Done => 0,
        CancelOutcome::UnknownGoal => 2,
        CancelOutcome::GoalTerminated => 3,
        CancelOutcome::Other(code) => code,
        _ => 1,
    }
}
