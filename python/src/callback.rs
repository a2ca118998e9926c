//! Callbacks of Python that the library runs.

use crate::error::raise;
use crate::group::{Group, Place, in_group};
use crate::node::Node;
use crate::wait;
use parking_lot::Mutex;
use pyo3::call::PyCallArgs;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::cell::Cell;
use std::fmt;
use std::sync::Arc;

/// What a callback of the library returns.
pub(crate) type Outcome = Result<(), Raised>;

/// A callable of Python that an entity of the library calls.
///
/// The entity holds it, and the Python object of the entity as well, for the garbage collector: a
/// bound method of the node that holds the entity is a cycle.
#[derive(Clone)]
pub(crate) struct Callback(Arc<Held>);

struct Held {
    callable: Slot,
    /// Where the steps of its coroutines run.
    place: Place,
}

/// A callable of Python, until it is cleared. The library's closure shares it with a Python object,
/// which shows it to the garbage collector.
#[derive(Default)]
pub(crate) struct Slot(Mutex<Option<Py<PyAny>>>);

impl Slot {
    pub(crate) fn new(callable: Py<PyAny>) -> Self {
        Self(Mutex::new(Some(callable)))
    }

    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self.0.try_lock() {
            Some(callable) => visit.call(&*callable),
            None => Ok(()),
        }
    }

    /// Puts another callable there; `None`: nothing is called from now on.
    pub(crate) fn set(&self, callable: Option<Py<PyAny>>) {
        let old = std::mem::replace(&mut *self.0.lock(), callable);
        drop(old); // not under the lock: it may run code
    }

    pub(crate) fn get(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.0.lock().as_ref().map(|callable| callable.clone_ref(py))
    }

    /// Takes the GIL, makes the arguments and calls it. Python prints an exception: no caller
    /// gets it.
    pub(crate) fn notify<A>(&self, arguments: impl FnOnce(Python<'_>) -> PyResult<A>)
    where
        A: for<'py> PyCallArgs<'py>,
    {
        wait::attached(|py| {
            let Some(callable) = self.get(py) else { return };
            let called = arguments(py).and_then(|arguments| callable.call1(py, arguments));
            if let Err(error) = called {
                error.write_unraisable(py, Some(callable.bind(py)));
            }
        });
    }
}

/// Runs a callable in a callback group: an executor does, once for each call.
#[pyclass(frozen, module = "sinew._sinew")]
pub(crate) struct Post(Place);

/// Returns what runs callables in a node's default group, or in another group of it.
#[pyfunction]
#[pyo3(signature = (node, group=None))]
pub(crate) fn post_of(node: &Node, group: Option<&Group>) -> Post {
    Post(Place::of(node, group))
}

#[pymethods]
impl Post {
    fn __call__(&self, py: Python<'_>, callable: Py<PyAny>) -> PyResult<()> {
        let run = move || -> Outcome {
            let _running = Running::begin();
            wait::attached(|py| callable.call0(py).map(drop)).unwrap_or(Ok(())).map_err(Raised)
        };
        let owner = self.0.owner()?;
        let posted = wait::detached(py, || in_group!(owner, |maker| maker.post(run)));
        posted.map_err(raise)
    }
}

thread_local! {
    /// Number of callbacks of Python that run on this thread, one inside the other.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Returns whether this thread runs a callback.
pub(crate) fn is_running() -> bool {
    DEPTH.get() > 0
}

/// Returns whether this thread runs a callback.
#[pyfunction]
pub(crate) fn in_callback() -> bool {
    is_running()
}

struct Running;

impl Running {
    fn begin() -> Self {
        DEPTH.set(DEPTH.get() + 1);
        Self
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

impl Callback {
    pub(crate) fn new(callable: Py<PyAny>, place: Place) -> Self {
        Self(Arc::new(Held { callable: Slot::new(callable), place }))
    }

    /// Shows the callable to the garbage collector.
    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.0.callable.traverse(visit)
    }

    /// Drops the callable: the callback does nothing from now on.
    pub(crate) fn clear(&self) {
        self.0.callable.set(None);
    }

    /// Calls it, and returns what it returned; `None` if it was cleared.
    pub(crate) fn returned<'py, A: PyCallArgs<'py>>(
        &self,
        py: Python<'py>,
        arguments: A,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(callable) = self.0.callable.get(py) else { return Ok(None) };
        let _running = Running::begin();
        callable.into_bound(py).call1(arguments).map(Some)
    }

    /// Takes the GIL, makes the arguments and calls it. A coroutine that it returns becomes a task.
    /// Does nothing while the interpreter ends.
    pub(crate) fn run<A>(&self, arguments: impl FnOnce(Python<'_>) -> PyResult<A>) -> Outcome
    where
        A: for<'py> PyCallArgs<'py>,
    {
        wait::attached(|py| {
            let returned = self.returned(py, arguments(py)?)?;
            match returned {
                Some(returned) if !returned.is_none() => self.begin(&returned),
                _ => Ok(()),
            }
        })
        .unwrap_or(Ok(()))
        .map_err(Raised)
    }

    /// Begins a coroutine that the callback returned. Other results are dropped.
    pub(crate) fn begin(&self, returned: &Bound<'_, PyAny>) -> PyResult<()> {
        static BEGIN: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let py = returned.py();
        BEGIN.import(py, "sinew._task", "begin")?.call1((returned, self.post())).map(drop)
    }

    /// Returns what runs callables in the callback's group.
    pub(crate) fn post(&self) -> Post {
        Post(self.0.place.clone())
    }

    /// Returns the callback's group.
    pub(crate) fn place(&self) -> &Place {
        &self.0.place
    }
}

/// An exception of a callback.
#[derive(Debug)]
pub(crate) struct Raised(pub(crate) PyErr);

impl From<PyErr> for Raised {
    fn from(error: PyErr) -> Self {
        Self(error)
    }
}

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = wait::attached(|py| {
            let lines = py.import("traceback")?.call_method1("format_exception", (self.0.value(py),))?;
            let lines: Vec<String> = lines.extract()?;
            PyResult::Ok(lines.concat())
        });
        match text {
            Some(Ok(text)) => write!(f, "it raised an exception\n{}", text.trim_end()),
            _ => write!(f, "it raised an exception: {}", self.0),
        }
    }
}

impl std::error::Error for Raised {}
