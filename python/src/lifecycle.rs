//! Managed nodes.

use crate::callback::{Callback, Raised};
use crate::error::raise;
use crate::group::{Place, in_group};
use crate::node::Node;
use crate::wait;
use parking_lot::Mutex;
use pyo3::exceptions::PyValueError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use sinew_lifecycle::{
    CallbackError, Failed, Held, LifecycleNode, ManagedNode, PublishGate, Recovery, State, Transition,
    TransitionError,
};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The states of a node, with its services.
#[pyclass(frozen, weakref, module = "sinew._sinew")]
pub(crate) struct Lifecycle {
    node: Mutex<Option<Arc<LifecycleNode<Callbacks>>>>,
    name: Arc<str>,
    callback: Callback,
    outcome: Arc<Outcome>,
}

/// What the last transition left for the thread that asked for it.
#[derive(Default)]
struct Outcome {
    /// The callback returned `ERROR`, or raised an exception.
    is_error: AtomicBool,
    /// An exception that is no error of the callback, such as `KeyboardInterrupt`.
    interrupt: Mutex<Option<PyErr>>,
}

thread_local! {
    /// Whether this thread performs a transition for Python, and so raises an interrupt itself.
    static CHANGES: Cell<bool> = const { Cell::new(false) };
}

/// The callbacks of a node's transitions: one function, which gets the transition's label and the
/// id of the state in which it began, and returns the number of a `TransitionCallbackReturn`.
struct Callbacks {
    callback: Callback,
    outcome: Arc<Outcome>,
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
            // An interrupt, as the function logs exceptions. The node stays as it is.
            answer.unwrap_or_else(|interrupt| {
                self.interrupted(py, interrupt);
                98
            })
        });
        match answer {
            Some(97) => Answer::Success,
            Some(98) => Answer::Failure,
            _ => Answer::Error,
        }
    }

    /// Raises an interrupt in `change`, or in the spin that performs the transition.
    fn interrupted(&self, py: Python<'_>, interrupt: PyErr) {
        if CHANGES.get() {
            *self.outcome.interrupt.lock() = Some(interrupt);
            return;
        }
        let raised = interrupt.clone_ref(py);
        let raise = move || -> Result<(), Raised> { Err(Raised(raised)) };
        let posted = self
            .callback
            .place()
            .owner()
            .map(|owner| wait::detached(py, || in_group!(owner, |maker| maker.post(raise))));
        if !matches!(posted, Ok(Ok(()))) {
            interrupt.write_unraisable(py, None); // the context is shut down, so nothing spins
        }
    }

    fn transition(&mut self, transition: Transition, from: State) -> Result<(), Failed<()>> {
        self.from = from;
        let answer = self.call(transition.label());
        // Relaxed: the thread that performs the transition reads it.
        self.outcome.is_error.store(matches!(answer, Answer::Error), Ordering::Relaxed);
        match answer {
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
        let (of, outcome) = (node.get()?, Arc::<Outcome>::default());
        let callback = Callback::new(callback, Place::of(node, None));
        let callbacks = Callbacks {
            callback: callback.clone(),
            outcome: Arc::clone(&outcome),
            from: State::Unconfigured,
        };
        let made = wait::detached(py, || LifecycleNode::new(&of, callbacks)).map_err(raise)?;
        Ok(Self { node: Mutex::new(Some(Arc::new(made))), name: of.full_name().into(), callback, outcome })
    }

    /// Performs a transition on this thread. Returns the number of a `TransitionCallbackReturn`;
    /// raises an error if it can't begin.
    fn change(&self, py: Python<'_>, label: &str) -> PyResult<u8> {
        let transition = Transition::from_label(label)
            .ok_or_else(|| PyValueError::new_err(format!("there is no transition {label:?}")))?;
        let node = self.get()?;
        let former = CHANGES.replace(true);
        let changed = wait::detached(py, || node.change(transition));
        CHANGES.set(former);
        if let Some(interrupt) = self.outcome.interrupt.lock().take() {
            return Err(interrupt);
        }
        match changed {
            Ok(_) => Ok(97),
            Err(TransitionError::Failed { .. }) if self.outcome.is_error.load(Ordering::Relaxed) => Ok(99),
            Err(TransitionError::Failed { .. }) => Ok(98),
            Err(error) => Err(raise(error)),
        }
    }

    /// The id and label of the current state.
    #[getter]
    fn state(&self) -> PyResult<(u8, &'static str)> {
        let state = self.get()?.state();
        Ok((state.id(), state.label()))
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
    pub(crate) fn gate(&self) -> PyResult<PublishGate> {
        Ok(self.get()?.node().publish_gate())
    }

    fn get(&self) -> PyResult<Arc<LifecycleNode<Callbacks>>> {
        let node = self.node.lock().clone();
        node.ok_or_else(|| crate::publisher::destroyed("managed node", &self.name))
    }
}
