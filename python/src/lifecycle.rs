//! Managed nodes.

use crate::callback::{Callback, Place};
use crate::error::raise;
use crate::node::Node;
use crate::wait;
use parking_lot::Mutex;
use pyo3::exceptions::PyValueError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use sinew_lifecycle::{
    CallbackError, Failed, Held, LifecycleNode, ManagedNode, PublishGate, Recovery, State, Transition,
};
use std::sync::Arc;

/// The states of a node, with its services.
#[pyclass(frozen, weakref, module = "sinew._sinew")]
pub(crate) struct Lifecycle {
    node: Mutex<Option<Arc<LifecycleNode<Callbacks>>>>,
    managed: ManagedNode,
    callback: Callback,
}

/// The callbacks of a node's transitions: one function, which gets the transition's label and the
/// id of the state in which it began, and returns the number of a `TransitionCallbackReturn`.
struct Callbacks {
    callback: Callback,
    /// The state in which the current transition began.
    from: State,
}

/// What a callback answered.
enum Answer {
    Success,
    Failure,
    Error,
}

impl Callbacks {
    fn call(&self, label: &str) -> Answer {
        let answer = wait::attached(|py| {
            let returned = self.callback.returned(py, (label, self.from.id()));
            let answer =
                returned.and_then(|returned| returned.map_or(Ok(99), |number| number.extract::<u8>()));
            answer.unwrap_or_else(|error| {
                error.write_unraisable(py, None); // an interrupt: the function logs exceptions
                99
            })
        });
        match answer {
            Some(97) => Answer::Success,
            Some(98) => Answer::Failure,
            _ => Answer::Error,
        }
    }

    fn transition(&mut self, transition: Transition, from: State) -> Result<(), Failed<()>> {
        self.from = from;
        match self.call(transition.label()) {
            Answer::Success => Ok(()),
            Answer::Failure => Err(Failed::stay((), format!("on_{transition} returned FAILURE"))),
            Answer::Error => Err(Failed::error(format!("on_{transition} returned ERROR"))),
        }
    }
}

impl sinew_lifecycle::Lifecycle for Callbacks {
    type Inactive = ();
    type Active = ();

    fn configure(&mut self, _: &ManagedNode) -> Result<(), Failed<()>> {
        self.transition(Transition::Configure, State::Unconfigured)
    }

    fn activate(&mut self, _: &ManagedNode, (): ()) -> Result<(), Failed<()>> {
        self.transition(Transition::Activate, State::Inactive)
    }

    fn deactivate(&mut self, (): ()) -> Result<(), Failed<()>> {
        self.transition(Transition::Deactivate, State::Active)
    }

    fn cleanup(&mut self, (): ()) -> Result<(), Failed<()>> {
        self.transition(Transition::Cleanup, State::Inactive)
    }

    fn shutdown(&mut self, held: Held<(), ()>) -> Result<(), Failed<()>> {
        let from = match held {
            Held::Nothing => State::Unconfigured,
            Held::Inactive(()) => State::Inactive,
            Held::Active(()) => State::Active,
        };
        self.transition(Transition::Shutdown, from)
    }

    fn on_error(&mut self, _: &CallbackError) -> Recovery {
        match self.call("error") {
            Answer::Success => Recovery::Unconfigured,
            Answer::Failure | Answer::Error => Recovery::Finalized,
        }
    }
}

#[pymethods]
impl Lifecycle {
    #[new]
    fn new(py: Python<'_>, node: &Node, callback: Py<PyAny>) -> PyResult<Self> {
        let callback = Callback::new(callback, Place::new(node, None));
        let callbacks = Callbacks { callback: callback.clone(), from: State::Unconfigured };
        let made = wait::detached(py, || LifecycleNode::new(&node.node, callbacks)).map_err(raise)?;
        let managed = made.node().clone();
        Ok(Self { node: Mutex::new(Some(Arc::new(made))), managed, callback })
    }

    /// Performs a transition on this thread. Returns whether it succeeded; raises an error if it
    /// can't begin.
    fn change(&self, py: Python<'_>, label: &str) -> PyResult<bool> {
        let transition = Transition::from_label(label)
            .ok_or_else(|| PyValueError::new_err(format!("there is no transition {label:?}")))?;
        let change = self.node.lock().clone();
        let change = change.ok_or_else(|| crate::publisher::destroyed("node", self.managed.full_name()))?;
        match wait::detached(py, || change.change(transition)) {
            Ok(_) => Ok(true),
            Err(sinew_lifecycle::TransitionError::Failed { .. }) => Ok(false),
            Err(error) => Err(raise(error)),
        }
    }

    /// The id and label of the current state.
    #[getter]
    fn state(&self) -> (u8, &'static str) {
        let state = self.managed.state();
        (state.id(), state.label())
    }

    fn destroy(&self, py: Python<'_>) {
        let node = self.node.lock().take();
        wait::detached(py, || {
            if let Some(node) = node {
                node.close();
            }
        });
        self.callback.clear();
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.callback.traverse(&visit)
    }

    fn __clear__(&self) {
        self.callback.clear();
    }
}

impl Lifecycle {
    /// Returns the gate of a publisher that rests while the node isn't active.
    pub(crate) fn gate(&self) -> PublishGate {
        self.managed.publish_gate()
    }
}
