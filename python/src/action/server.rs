//! Servers of actions.

use super::server_goal::ServerGoal;
use super::types::{Action, check_name};
use crate::callback::{Callback, Raised};
use crate::error::raise;
use crate::group::{Group, Place, in_group};
use crate::node::Node;
use crate::wait;
use parking_lot::Mutex;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sinew::erased::Message;
use sinew::executor::Maker;
use sinew_action::erased::{ErasedAction, ErasedActions};
use sinew_action::{AcceptedGoal, ActionServerBuilder, Decision, ExecutingGoal, GoalId};
use std::sync::Arc;
use std::time::Duration;

/// A server of an action. Every goal that is accepted goes to `accepted`, which begins it.
#[pyclass(frozen, subclass, weakref, module = "sinew._sinew")]
pub(crate) struct ActionServer {
    server: Mutex<Option<sinew_action::ActionServer<ErasedAction>>>,
    name: String,
    callbacks: Callbacks,
}

/// The callbacks of a server.
#[derive(Clone)]
struct Callbacks {
    /// Gets the goal, returns whether it is accepted. `None`: each is.
    decide: Option<Callback>,
    /// Gets the goal's id, returns whether it may be ended early. `None`: none may.
    may_cancel: Option<Callback>,
    /// Gets each accepted goal.
    accepted: Callback,
    action: Arc<Action>,
}

impl Callbacks {
    /// Decides on a goal, and has `accepted` called with it if it is accepted.
    fn decide(&self, goal: &Message) -> Result<Decision<ErasedAction>, Raised> {
        if let Some(decide) = &self.decide {
            let request = goal.clone();
            let accepts = wait::attached(|py| {
                let request = self.action.request.received(py, request)?;
                truth(decide.returned(py, (request.getattr("goal")?,))?)
            });
            if !accepts.unwrap_or(Ok(false))? {
                return Ok(Decision::Reject);
            }
        }
        let (accepted, action) = (self.accepted.clone(), Arc::clone(&self.action));
        Ok(Decision::defer(move |goal: AcceptedGoal<ErasedAction>| {
            accepted.run(|py| Ok((Bound::new(py, ServerGoal::new(py, goal, action)?)?.into_any().unbind(),)))
        }))
    }

    /// `None`: it is asked again.
    fn may_cancel(&self, id: GoalId) -> Result<Option<bool>, Raised> {
        let Some(may_cancel) = &self.may_cancel else { return Ok(Some(false)) };
        let may = wait::attached(|py| match may_cancel.returned(py, (PyBytes::new(py, &id.0),))? {
            Some(returned) if returned.is_none() => Ok(None),
            returned => truth(returned).map(Some),
        });
        Ok(may.unwrap_or(Ok(Some(false)))?)
    }

    fn all(&self) -> impl Iterator<Item = &Callback> {
        [Some(&self.accepted), self.decide.as_ref(), self.may_cancel.as_ref()].into_iter().flatten()
    }
}

fn truth(returned: Option<Bound<'_, PyAny>>) -> PyResult<bool> {
    returned.map_or(Ok(false), |returned| returned.is_truthy())
}

/// The settings of a server.
struct Settings {
    in_group: bool,
    result_timeout: Option<Duration>,
    callbacks: Callbacks,
}

impl Settings {
    fn apply<M: Maker>(
        self,
        builder: ActionServerBuilder<ErasedAction, M>,
    ) -> ActionServerBuilder<ErasedAction, M> {
        let (callbacks, deciding) = (self.callbacks.clone(), self.callbacks);
        let builder = builder
            .result_timeout(self.result_timeout.unwrap_or(Duration::MAX))
            .try_on_goal(move |_, goal| deciding.decide(goal))
            .__try_on_cancel(move |id| callbacks.may_cancel(id));
        if self.in_group { builder.decide_in_group() } else { builder }
    }
}

#[pymethods]
impl ActionServer {
    /// `in_group`: the callbacks run in the group, not on the thread that asks. `result_timeout`:
    /// in seconds.
    #[new]
    #[pyo3(signature = (node, class, name, decide, may_cancel, accepted, *, group=None, in_group=true, result_timeout=None))]
    #[expect(clippy::too_many_arguments, reason = "options, by their names")]
    fn new(
        py: Python<'_>,
        node: &Node,
        class: &Bound<'_, PyAny>,
        name: &str,
        decide: Option<Py<PyAny>>,
        may_cancel: Option<Py<PyAny>>,
        accepted: Py<PyAny>,
        group: Option<&Group>,
        in_group: bool,
        result_timeout: Option<f64>,
    ) -> PyResult<Self> {
        let action = Action::of(class)?;
        check_name(node, name)?;
        let place = Place::of(node, group);
        let owner = place.owner()?;
        let callback = |callable| Callback::new(callable, place.clone());
        let callbacks = Callbacks {
            decide: decide.map(callback),
            may_cancel: may_cancel.map(callback),
            accepted: callback(accepted),
            action: Arc::clone(&action),
        };
        let result_timeout = wait::duration(result_timeout)?;
        let settings = Settings { in_group, result_timeout, callbacks: callbacks.clone() };
        let server = wait::detached(py, || {
            in_group!(owner, |maker| settings
                .apply(maker.erased_action_server(name, &action.types))
                .callback(|_: ExecutingGoal<ErasedAction>| ())) // all goals are deferred
        });
        let server = server.map_err(raise)?;
        let name = server.name().to_owned();
        Ok(Self { server: Mutex::new(Some(server)), name, callbacks })
    }

    #[getter]
    fn action_name(&self) -> &str {
        &self.name
    }

    fn destroy(&self, py: Python<'_>) {
        let server = self.server.lock().take();
        wait::detached(py, || server.map(sinew_action::ActionServer::close));
        self.callbacks.all().for_each(Callback::clear);
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.callbacks.all().try_for_each(|callback| callback.traverse(&visit))
    }

    fn __clear__(&self) {
        self.callbacks.all().for_each(Callback::clear);
    }
}
