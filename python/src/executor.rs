//! Executors: threads that run callbacks.

use crate::callback::{self, Raised};
use crate::context::Context;
use crate::done;
use crate::error::{ExternalShutdownException, raise, with_code};
use crate::group::{Group, Place, in_group};
use crate::node::Node;
use crate::signals::Signals;
use crate::wait;
use parking_lot::{Condvar, Mutex};
use pyo3::prelude::*;
use sinew::error::{ErrorCode, SpinError};
use sinew::event::ShutdownHandler;
use sinew::executor::{FaultPolicy, StopHandle};
use sinew::time::Time;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// An executor. With one thread it waits without the GIL, and then runs all ready callbacks with
/// one acquisition of it. With several threads each callback takes the GIL.
#[pyclass(frozen, module = "sinew._sinew")]
pub(crate) struct Executor {
    executor: Arc<sinew::Executor>,
    wake: Wake,
    served: Mutex<Vec<Served>>,
    asked: Arc<Mutex<Asked>>,
    /// Whether a thread spins it.
    spins: Mutex<bool>,
    idle: Condvar,
}

/// A node of an executor, or a context that ends it.
struct Served {
    place: Option<Place>,
    context: sinew::Context,
    _handler: ShutdownHandler,
}

/// What other threads want of the one that spins.
#[derive(Default)]
struct Asked {
    stop: bool,
}

/// The end of a spin.
#[derive(Clone, Copy, PartialEq)]
enum End {
    /// The future is done, or one callback ran.
    Done,
    /// The time is over.
    Late,
    /// It was stopped.
    Stopped,
}

/// What a spin waits for.
#[derive(Clone, Copy)]
struct Until<'a, 'py> {
    future: Option<&'a Bound<'py, PyAny>>,
    /// Only one callback.
    once: bool,
    end: Option<Time>,
}

impl Until<'_, '_> {
    /// Returns the time that is left; `None`: no limit.
    fn left(self) -> Option<Duration> {
        self.end.map(|end| end - Time::steady())
    }

    fn is_late(self) -> bool {
        self.end.is_some_and(|end| Time::steady() >= end)
    }

    fn is_done(&self) -> PyResult<bool> {
        self.future.map_or(Ok(false), |future| future.call_method0("done")?.is_truthy())
    }
}

#[pymethods]
impl Executor {
    /// `threads`: 0 is one for each core.
    #[new]
    #[pyo3(signature = (threads=1, *, stop_on_error=true, spin_before_park=None))]
    fn new(threads: usize, stop_on_error: bool, spin_before_park: Option<f64>) -> PyResult<Self> {
        let policy = if stop_on_error { FaultPolicy::Stop } else { FaultPolicy::Report };
        let mut builder = sinew::Executor::builder().threads(threads).on_error(policy);
        if let Some(spin) = wait::duration(spin_before_park)? {
            builder = builder.spin_before_park(spin);
        }
        let executor = Arc::new(builder.build().map_err(raise)?);
        let (served, asked) = (Mutex::default(), Arc::default());
        let (spins, idle) = (Mutex::default(), Condvar::new());
        let wake = Wake { executor: executor.stop_handle(), beside: Arc::default() };
        Ok(Self { executor, wake, served, asked, spins, idle })
    }

    #[getter]
    fn threads(&self) -> usize {
        self.executor.threads()
    }

    fn add_node(&self, py: Python<'_>, node: &Node) -> PyResult<()> {
        let of = node.get()?;
        wait::detached(py, || self.executor.add(&of)).map_err(raise)?;
        self.ends_with(Some(node.place.clone()), &node.context);
        self.wake.wake();
        Ok(())
    }

    fn remove_node(&self, py: Python<'_>, node: &Node) -> bool {
        let gone: Vec<Served> = {
            let mut served = self.served.lock();
            let is_it = |one: &Served| one.place.as_ref().is_some_and(|place| place.is(&node.place));
            served.extract_if(.., |one| is_it(one)).collect()
        };
        let Ok(of) = node.get() else { return false };
        wait::detached(py, || {
            drop(gone);
            self.executor.remove(&of)
        })
    }

    /// Serves one callback group of a node.
    fn add_group(&self, py: Python<'_>, group: &Group, node: &Node) -> PyResult<()> {
        let owner = group.place().owner()?;
        wait::detached(py, || in_group!(owner, |of| self.executor.add(&of))).map_err(raise)?;
        self.ends_with(Some(group.place().clone()), &node.context);
        self.wake.wake();
        Ok(())
    }

    /// Runs callbacks until it is stopped, or a callback shuts a context down. Raises
    /// `ExternalShutdownException` at another shutdown.
    fn spin(&self, py: Python<'_>) -> PyResult<()> {
        self.run(py, Until { future: None, once: false, end: None }).map(drop)
    }

    /// Runs callbacks until a future is done, or only one if `once`. Returns whether the future is
    /// done.
    #[pyo3(signature = (future, timeout=None, once=false))]
    fn spin_until_done(&self, future: &Bound<'_, PyAny>, timeout: Option<f64>, once: bool) -> PyResult<bool> {
        let until = Until { future: Some(future), once, end: wait::end(timeout)? };
        if until.is_done()? {
            return Ok(true);
        }
        future.call_method1("add_done_callback", (Waking(self.wake.clone()),))?;
        self.run(future.py(), until)?;
        until.is_done()
    }

    /// Runs one callback, and waits for one for at most `timeout` seconds. Returns whether one ran.
    #[pyo3(signature = (timeout=None))]
    fn spin_once(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<bool> {
        let until = Until { future: None, once: true, end: wait::end(timeout)? };
        Ok(self.run(py, until)? == End::Done)
    }

    /// Runs the callbacks that are ready. Returns their number.
    fn spin_some(&self, py: Python<'_>) -> PyResult<u64> {
        let ran = self.executor.spin_some().map_err(spin_error)?;
        py.check_signals()?;
        Ok(ran)
    }

    /// Moves virtual time by a number of nanoseconds, from timer to timer, and runs what is ready
    /// at each time. Returns the number of callbacks.
    fn advance(&self, py: Python<'_>, by: u64) -> PyResult<u64> {
        let ran = self.executor.advance(Duration::from_nanos(by)).map_err(spin_error)?;
        py.check_signals()?;
        Ok(ran)
    }

    /// Returns the descriptor for another event loop.
    fn fileno(&self) -> PyResult<i32> {
        Ok(self.executor.descriptor()?.as_raw_fd())
    }

    /// Ends the current spin, or the next one.
    fn stop(&self) {
        self.asked.lock().stop = true;
        self.executor.stop_handle().stop();
        self.wake.wake();
    }

    /// Returns whether it was stopped, for another event loop: then that ends no later spin.
    fn take_stop(&self, py: Python<'_>) -> bool {
        let stopped = std::mem::take(&mut self.asked.lock().stop);
        if stopped {
            // The library remembers it as well, until a wait.
            let _ = wait::detached(py, || self.executor.wait_for_work(Duration::ZERO));
        }
        stopped
    }

    /// Has a spin end with a context, also without nodes.
    fn watch(&self, context: &Context) {
        self.ends_with(None, &context.context);
    }

    fn is_spinning(&self) -> bool {
        *self.spins.lock()
    }

    /// Waits until no thread spins it, for at most `timeout` seconds; not in a callback, which may
    /// be its own. Returns whether none does.
    #[pyo3(signature = (timeout=None))]
    fn wait_until_idle(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<bool> {
        if callback::is_running() {
            return Ok(true);
        }
        wait::sliced_unless(py, &|| false, wait::end(timeout)?, |slice| {
            let mut spins = self.spins.lock();
            let _ = self.idle.wait_while_for(&mut spins, |spins| *spins, slice);
            !*spins
        })
    }

    /// Returns whether a context of a node of it was shut down.
    fn is_shut_down(&self) -> bool {
        self.served.lock().iter().any(|served| served.context.is_shutdown())
    }
}

impl Executor {
    /// Ends spins when a context is shut down.
    fn ends_with(&self, place: Option<Place>, context: &sinew::Context) {
        let (context, wake, asked) = (context.clone(), self.wake.clone(), Arc::clone(&self.asked));
        let handler = context.on_shutdown(move || {
            // As in rclpy: a program that shuts down in a callback knows it, so its spin just ends.
            asked.lock().stop |= callback::is_running();
            wake.wake();
        });
        self.served.lock().push(Served { place, context, _handler: handler });
    }

    fn run(&self, py: Python<'_>, until: Until<'_, '_>) -> PyResult<End> {
        let _blocking = wait::Blocking::begin();
        let Some(_spinning) = Spinning::begin(self) else { return self.beside_a_spin(until) };
        let wake = self.wake.clone();
        let signals = Signals::new(move || wake.wake());
        let result = if self.executor.threads() == 1 || until.once {
            self.run_here(py, until, &signals)
        } else {
            self.run_there(py, until, &signals)
        };
        match result {
            Err(SpinEnd::Spin(SpinError::Busy)) => self.beside_a_spin(until), // one of `spin_some`
            result => result.map_err(SpinEnd::into),
        }
    }

    /// Waits for the future while another thread, or this one further up, spins the executor; there
    /// is nothing else to wait for.
    fn beside_a_spin(&self, until: Until<'_, '_>) -> PyResult<End> {
        match until.future {
            Some(future) => self.wait_for(future, until.end),
            None => Err(spin_error(SpinError::Busy)),
        }
    }

    fn run_here(&self, py: Python<'_>, until: Until<'_, '_>, signals: &Signals) -> Result<End, SpinEnd> {
        let mut was_stopped = false;
        loop {
            let ran = if until.once {
                u64::from(self.executor.spin_once(Duration::ZERO)?)
            } else {
                self.executor.spin_some()?
            };
            py.check_signals()?;
            if until.is_done()? || (until.once && ran > 0) {
                return Ok(End::Done);
            }
            if let Some(end) = self.ended()? {
                return Ok(end);
            }
            if until.is_late() {
                return Ok(End::Late);
            }
            if ran > 0 {
                continue;
            }
            if was_stopped {
                return Ok(End::Stopped); // by a context that it serves no more
            }
            signals.watch(py)?;
            let left = until.left().unwrap_or(Duration::MAX);
            match wait::detached(py, || self.executor.wait_for_work(left)) {
                Ok(_) => {}
                Err(SpinError::Stopped) => was_stopped = true,
                Err(error) => return Err(error.into()),
            }
            py.check_signals()?;
        }
    }

    /// Spins on threads of its own, while this one waits for the end.
    fn run_there(&self, py: Python<'_>, until: Until<'_, '_>, signals: &Signals) -> Result<End, SpinEnd> {
        let (executor, wake) = (Arc::clone(&self.executor), self.wake.clone());
        let over = Arc::new(AtomicBool::new(false)); // the thread itself ends only after it has woken this one
        let is_over = Arc::clone(&over);
        let spinning = std::thread::Builder::new().name("sinew-python".to_owned()).spawn(move || {
            let result = executor.spin();
            is_over.store(true, Ordering::Release); // pairs with the Acquire below
            wake.wake();
            result
        });
        let spinning = spinning.map_err(PyErr::from)?;
        let end = loop {
            let looked = signals.watch(py).and_then(|()| {
                wait::detached(py, || self.wake.wait_beside(until.end));
                py.check_signals()?;
                until.is_done()
            });
            match looked {
                Err(error) => break Err(error),
                Ok(true) => break Ok(End::Done),
                Ok(false) if over.load(Ordering::Acquire) => break Ok(End::Stopped),
                Ok(false) if until.is_late() => break Ok(End::Late),
                Ok(false) => {}
            }
        };
        if !over.load(Ordering::Acquire) {
            self.executor.stop_handle().stop();
        }
        while !over.load(Ordering::Acquire) {
            // A callback may wait for ever: one more Ctrl-C gives up its thread, which keeps the
            // executor.
            wait::detached(py, || self.wake.wait_beside(Some(Time::steady() + wait::SLICE)));
            py.check_signals()?;
        }
        let result = wait::detached(py, || spinning.join());
        let end = end?;
        match result {
            Ok(result) => result?,
            Err(_) => {
                let sentence = "the thread that spun the executor panicked".to_owned();
                return Err(with_code(ErrorCode::Panicked, sentence).into());
            }
        }
        if until.is_done()? {
            return Ok(End::Done);
        }
        Ok(self.ended()?.unwrap_or(end))
    }

    /// Waits for a future while another thread, or this one further up, spins the executor.
    fn wait_for(&self, future: &Bound<'_, PyAny>, end: Option<Time>) -> PyResult<End> {
        if callback::is_running() && future.hasattr("_run_nested")? {
            let left = end.map(|end| (end - Time::steady()).as_secs_f64());
            future.call_method1("_run_nested", (left,))?;
        }
        let is_done = done::until_done(future, &|| self.is_shut_down(), end)?;
        Ok(if is_done { End::Done } else { End::Late })
    }

    /// Returns why the spin ends, if it does.
    fn ended(&self) -> PyResult<Option<End>> {
        if std::mem::take(&mut self.asked.lock().stop) {
            return Ok(Some(End::Stopped));
        }
        if self.is_shut_down() { Err(shut_down()) } else { Ok(None) }
    }
}

/// The thread that spins an executor.
struct Spinning<'a>(&'a Executor);

impl<'a> Spinning<'a> {
    /// Returns `None` if another thread spins it, or this one further up.
    fn begin(executor: &'a Executor) -> Option<Self> {
        let spun = std::mem::replace(&mut *executor.spins.lock(), true);
        (!spun).then(|| Self(executor)) // not `then_some`: that would drop one
    }
}

impl Drop for Spinning<'_> {
    fn drop(&mut self) {
        *self.0.spins.lock() = false;
        self.0.idle.notify_all();
    }
}

/// What ended a spin too early.
enum SpinEnd {
    Spin(SpinError),
    Raised(PyErr),
}

impl From<SpinError> for SpinEnd {
    fn from(error: SpinError) -> Self {
        Self::Spin(error)
    }
}

impl From<PyErr> for SpinEnd {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

impl From<SpinEnd> for PyErr {
    fn from(end: SpinEnd) -> Self {
        match end {
            SpinEnd::Spin(error) => spin_error(error),
            SpinEnd::Raised(error) => error,
        }
    }
}

fn shut_down() -> PyErr {
    ExternalShutdownException::new_err("the context was shut down, so the executor runs no more callbacks")
}

/// Makes the exception for a spin that ended: that of the callback, if one raised it.
fn spin_error(error: SpinError) -> PyErr {
    if let SpinError::Failed { error, .. } = &error
        && let Some(Raised(raised)) = error.downcast_ref::<Raised>()
    {
        return Python::attach(|py| raised.clone_ref(py));
    }
    raise(error)
}

/// Wakes the thread that spins an executor.
#[derive(Clone)]
struct Wake {
    executor: StopHandle,
    /// Whether it was woken, for a thread that waits beside those that spin.
    beside: Arc<(Mutex<bool>, Condvar)>,
}

impl Wake {
    /// Ends the current wait, or the next one. Never blocks.
    fn wake(&self) {
        self.executor.wake();
        *self.beside.0.lock() = true;
        self.beside.1.notify_all();
    }

    /// Waits until it is woken, until `end` at most, while other threads spin.
    fn wait_beside(&self, end: Option<Time>) {
        let (woken, notified) = &*self.beside;
        let mut woken = woken.lock();
        let is_late = || end.is_some_and(|end| Time::steady() >= end);
        while !std::mem::take(&mut *woken) && !is_late() {
            match end {
                Some(end) => _ = notified.wait_for(&mut woken, end - Time::steady()),
                None => notified.wait(&mut woken),
            }
        }
    }
}

/// A callable that wakes the thread that spins: a callback of a future.
#[pyclass(frozen, module = "sinew._sinew")]
pub(crate) struct Waking(Wake);

#[pymethods]
impl Waking {
    fn __call__(&self, _future: &Bound<'_, PyAny>) {
        self.0.wake();
    }
}
