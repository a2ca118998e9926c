//! Contexts.

use crate::callback::Slot;
use crate::error::{SinewError, raise};
use crate::virtual_clock::VirtualClock;
use crate::wait;
use parking_lot::{Condvar, Mutex};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use sinew::signal::Signals;
use sinew::time::{ClockChange, ClockKind, JumpThreshold, Time};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// All contexts of the process that may live: the interpreter's end shuts them down.
static CONTEXTS: Mutex<Vec<sinew::Context>> = Mutex::new(Vec::new());

/// A context: what the nodes of a program share. SIGTERM shuts it down if `signals`; SIGINT remains
/// Python's, and raises `KeyboardInterrupt`.
#[pyclass(frozen, module = "sinew._sinew")]
pub(crate) struct Context {
    pub(crate) context: sinew::Context,
}

#[pymethods]
impl Context {
    #[new]
    #[pyo3(signature = (args, *, domain_id=None, shared_memory=None, signals=true, directory=None, virtual_clock=None))]
    #[expect(clippy::too_many_arguments, reason = "options, by their names")]
    fn new(
        py: Python<'_>,
        args: Vec<String>,
        domain_id: Option<u32>,
        shared_memory: Option<bool>,
        signals: bool,
        directory: Option<PathBuf>,
        virtual_clock: Option<&VirtualClock>,
    ) -> PyResult<Self> {
        let mut builder = sinew::Context::builder().arguments(args).interrupts(signals);
        builder = builder.signals(signals.then_some(Signals::Terminate));
        if let Some(domain) = domain_id {
            builder = builder.domain(domain);
        }
        if let Some(wanted) = shared_memory {
            builder = builder.shared_memory(wanted);
        }
        if let Some(directory) = directory {
            builder = builder.directory(directory);
        }
        if let Some(clock) = virtual_clock {
            builder = builder.virtual_time(&clock.0);
        }
        let context = wait::detached(py, || builder.build()).map_err(raise)?;
        let mut all = CONTEXTS.lock();
        all.retain(|context| !context.is_shutdown());
        all.push(context.clone());
        Ok(Self { context })
    }

    fn ok(&self) -> bool {
        !self.context.is_shutdown()
    }

    #[pyo3(signature = (reason=None))]
    fn shutdown(&self, py: Python<'_>, reason: Option<&str>) {
        wait::detached(py, || match reason {
            Some(reason) => self.context.shutdown_because(reason),
            None => self.context.shutdown(),
        });
    }

    #[getter]
    fn shutdown_reason(&self) -> Option<&str> {
        self.context.shutdown_reason()
    }

    #[getter]
    fn domain_id(&self) -> u32 {
        self.context.domain()
    }

    #[getter]
    fn rest(&self) -> Vec<String> {
        self.context.arguments().rest().to_vec()
    }

    /// Calls a function when the context is shut down, on the thread that does that.
    fn on_shutdown(&self, callback: Py<PyAny>) -> Handler {
        let callback = Arc::new(Slot::new(callback));
        let theirs = Arc::clone(&callback);
        let handler = self.context.on_shutdown(move || theirs.notify(|_| Ok(())));
        Handler::new(callback, handler)
    }

    /// Calls a function after each jump of ROS time of at least so many nanoseconds, on the thread
    /// that sets the time: with the number of a `ClockChange` and the nanoseconds by which the time
    /// went on.
    #[pyo3(signature = (on_clock_change, min_forward, min_backward, callback))]
    fn on_time_jump(
        &self,
        on_clock_change: bool,
        min_forward: Option<u64>,
        min_backward: Option<u64>,
        callback: Py<PyAny>,
    ) -> Handler {
        let [min_forward, min_backward] =
            [min_forward, min_backward].map(|least| least.map(Duration::from_nanos));
        let threshold = JumpThreshold { on_clock_change, min_forward, min_backward };
        let callback = Arc::new(Slot::new(callback));
        let theirs = Arc::clone(&callback);
        let handler = self.context.on_time_jump(threshold, move |jump| {
            let change = match jump.change {
                ClockChange::Same => 1,
                ClockChange::Activated => 2,
                ClockChange::Deactivated => 3,
            };
            let by = jump.after.nanoseconds() - jump.before.nanoseconds();
            theirs.notify(|_| Ok((change, by)));
        });
        Handler::new(callback, handler)
    }

    /// Returns the time of a clock in nanoseconds: 1 ROS time, 2 system time, 3 steady time.
    fn now(&self, clock: u8) -> PyResult<i64> {
        Ok(self.context.now_by(clock_kind(clock)?).nanoseconds())
    }

    /// Sleeps on a clock. Returns false if the clock's source changed; raises
    /// `ExternalShutdownException` if the context is shut down.
    fn sleep_until(&self, py: Python<'_>, clock: u8, until: i64) -> PyResult<bool> {
        let (clock, until) = (clock_kind(clock)?, Time::from_nanoseconds(until));
        if clock == ClockKind::Ros && self.context.ros_time_is_active() {
            return self.sleep_simulated(py, until);
        }
        let slice = wait::SLICE;
        loop {
            let now = self.context.now_by(clock);
            if now >= until {
                return Ok(true);
            }
            let next = until.min(now + slice);
            if wait::detached(py, || self.context.sleep_until(clock, next)).is_err() {
                return self.woken();
            }
            py.check_signals()?;
        }
    }

    fn ros_time_is_active(&self) -> bool {
        self.context.ros_time_is_active()
    }

    /// Sets the time of ROS time, in nanoseconds; `None` makes it the system's again.
    #[pyo3(signature = (time))]
    fn set_ros_time(&self, py: Python<'_>, time: Option<i64>) {
        wait::detached(py, || self.context.set_ros_time(time.map(Time::from_nanoseconds)));
    }
}

impl Context {
    /// Sleeps until simulated time shows `until`. That says nothing of real time, so this waits for
    /// its jumps, which can be divided by real time. Returns as `sleep_until`.
    fn sleep_simulated(&self, py: Python<'_>, until: Time) -> PyResult<bool> {
        let changed = Arc::new((Mutex::new(false), Condvar::new()));
        let theirs = Arc::clone(&changed);
        let threshold =
            JumpThreshold { on_clock_change: true, min_forward: Some(Duration::ZERO), min_backward: None };
        let handler = self.context.on_time_jump(threshold, move |jump| {
            *theirs.0.lock() |= jump.change != ClockChange::Same;
            theirs.1.notify_all();
        });
        let (changed, jumped) = &*changed;
        let slept = wait::sliced(py, &self.context, None, |slice| {
            let mut changed = changed.lock();
            let is_over = |changed: &mut bool| {
                *changed |= !self.context.ros_time_is_active(); // before the handler was there
                *changed || self.context.now_by(ClockKind::Ros) >= until
            };
            is_over(&mut changed) || {
                jumped.wait_for(&mut changed, slice);
                is_over(&mut changed)
            }
        });
        wait::detached(py, || drop(handler));
        slept?;
        let changed = *changed.lock();
        Ok(!changed)
    }

    /// Returns why a sleep ended too early.
    fn woken(&self) -> PyResult<bool> {
        if self.context.is_shutdown() { Err(wait::shut_down()) } else { Ok(false) }
    }
}

/// A function that is called at a shutdown, or at jumps of time, while this lives.
#[pyclass(frozen, module = "sinew._sinew")]
pub(crate) struct Handler {
    callback: Arc<Slot>,
    handler: Mutex<Option<Box<dyn Send>>>,
}

impl Handler {
    fn new(callback: Arc<Slot>, handler: impl Send + 'static) -> Self {
        Self { callback, handler: Mutex::new(Some(Box::new(handler))) }
    }
}

#[pymethods]
impl Handler {
    fn cancel(&self, py: Python<'_>) {
        let handler = self.handler.lock().take();
        py.detach(|| drop(handler));
        self.callback.set(None);
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.callback.traverse(&visit)
    }

    fn __clear__(&self) {
        self.callback.set(None);
    }
}

pub(crate) fn clock_kind(number: u8) -> PyResult<ClockKind> {
    match number {
        1 => Ok(ClockKind::Ros),
        2 => Ok(ClockKind::System),
        3 => Ok(ClockKind::Steady),
        other => Err(SinewError::new_err(format!("there is no clock with the number {other}"))),
    }
}

/// Ends everything before the interpreter ends: no thread may ask for the GIL afterwards.
#[pyfunction]
pub(crate) fn end(py: Python<'_>) {
    let contexts = std::mem::take(&mut *CONTEXTS.lock());
    wait::detached(py, || contexts.iter().for_each(sinew::Context::shutdown));
    wait::others_returned(py);
    py.detach(|| {
        sinew::logging::flush(std::time::Duration::from_secs(1));
        drop(contexts);
    });
}
