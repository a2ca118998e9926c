//! Timers and guard conditions.

use crate::callback::Callback;
use crate::context::clock_kind;
use crate::error::{raise, with_code};
use crate::group::{Group, Place, in_group};
use crate::node::Node;
use crate::wait;
use parking_lot::Mutex;
use pyo3::exceptions::PyValueError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use sinew::error::ErrorCode;
use sinew::event::Triggered;
use sinew::time::TimerInfo;
use std::time::Duration;

/// A timer of a node.
#[pyclass(frozen, subclass, weakref, module = "sinew._sinew")]
pub(crate) struct Timer {
    timer: Mutex<Option<sinew::Timer>>,
    callback: Callback,
}

#[pymethods]
impl Timer {
    /// `period`: in nanoseconds. `clock`: `None` is the node's. `with_info`: the callback gets the
    /// due time, the time of the call and the number of skipped periods.
    #[new]
    #[pyo3(signature = (node, period, callback, *, group=None, clock=None, autostart=true, with_info=None))]
    #[expect(clippy::too_many_arguments, reason = "options, by their names")]
    fn new(
        py: Python<'_>,
        node: &Node,
        period: i64,
        callback: Py<PyAny>,
        group: Option<&Group>,
        clock: Option<u8>,
        autostart: bool,
        with_info: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let nanoseconds = u64::try_from(period).ok().filter(|period| *period > 0);
        let period = nanoseconds.map(Duration::from_nanos).ok_or_else(|| {
            PyValueError::new_err(format!("the period of a timer must be positive, but it is {period} ns"))
        })?;
        let clock = clock.map(clock_kind).transpose()?;
        let place = Place::of(node, group);
        let owner = place.owner()?;
        let callback = Callback::new(callback, place);
        let run = callback.clone();
        let run = move |info: &TimerInfo| match &with_info {
            None => run.run(|_| Ok(())),
            Some(make) => {
                let about = (info.due().nanoseconds(), info.actual().nanoseconds(), info.skipped());
                run.run(|py| Ok((make.call1(py, about)?,)))
            }
        };
        let timer = wait::detached(py, || {
            in_group!(owner, |maker| {
                let builder = maker.timer(period).autostart(autostart);
                match clock {
                    Some(clock) => builder.clock(clock),
                    None => builder,
                }
                .callback(run)
            })
        });
        Ok(Self { timer: Mutex::new(Some(timer.map_err(raise)?)), callback })
    }

    fn cancel(&self) -> PyResult<()> {
        self.get()?.cancel();
        Ok(())
    }

    fn reset(&self) -> PyResult<()> {
        self.get()?.reset();
        Ok(())
    }

    fn is_canceled(&self) -> PyResult<bool> {
        Ok(self.get()?.is_cancelled())
    }

    #[getter]
    fn timer_period_ns(&self) -> PyResult<u64> {
        Ok(u64::try_from(self.get()?.period().as_nanos()).unwrap_or(u64::MAX))
    }

    /// Returns the nanoseconds until it is due; `None` if it is cancelled.
    fn time_until_next_call(&self) -> PyResult<Option<u64>> {
        let left = self.get()?.time_until_next();
        Ok(left.map(|left| u64::try_from(left.as_nanos()).unwrap_or(u64::MAX)))
    }

    #[getter]
    fn skipped(&self) -> PyResult<u64> {
        Ok(self.get()?.skipped())
    }

    /// Ends the timer, and waits for its callback if that runs on another thread.
    fn destroy(&self, py: Python<'_>) {
        let timer = self.timer.lock().take();
        wait::detached(py, || timer.map(sinew::Timer::close));
        self.callback.clear();
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.callback.traverse(&visit)
    }

    fn __clear__(&self) {
        self.callback.clear();
    }
}

impl Timer {
    fn get(&self) -> PyResult<sinew::Timer> {
        let timer = self.timer.lock().clone();
        timer.ok_or_else(|| with_code(ErrorCode::Closed, "the timer was destroyed".to_owned()))
    }
}

/// A guard condition of a node: its callback runs in an executor once it was triggered.
#[pyclass(frozen, subclass, weakref, module = "sinew._sinew")]
pub(crate) struct GuardCondition {
    guard: Mutex<Option<sinew::GuardCondition>>,
    callback: Callback,
}

#[pymethods]
impl GuardCondition {
    #[new]
    #[pyo3(signature = (node, callback, *, group=None))]
    fn new(py: Python<'_>, node: &Node, callback: Py<PyAny>, group: Option<&Group>) -> PyResult<Self> {
        let place = Place::of(node, group);
        let owner = place.owner()?;
        let callback = Callback::new(callback, place);
        let run = callback.clone();
        let run = move |_: &Triggered| run.run(|_| Ok(()));
        let guard = wait::detached(py, || in_group!(owner, |maker| maker.guard_condition().callback(run)));
        Ok(Self { guard: Mutex::new(Some(guard.map_err(raise)?)), callback })
    }

    fn trigger(&self) -> PyResult<()> {
        let guard = self.guard.lock().clone();
        let destroyed = || with_code(ErrorCode::Closed, "the guard condition was destroyed".to_owned());
        guard.ok_or_else(destroyed)?.trigger();
        Ok(())
    }

    fn destroy(&self, py: Python<'_>) {
        let guard = self.guard.lock().take();
        wait::detached(py, || guard.map(sinew::GuardCondition::close));
        self.callback.clear();
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.callback.traverse(&visit)
    }

    fn __clear__(&self) {
        self.callback.clear();
    }
}
