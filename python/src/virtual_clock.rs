//! Clocks that only the program moves, for tests.

use crate::wait;
use pyo3::prelude::*;
use sinew::time::Time;
use std::time::Duration;

/// A clock that only the program moves: the time of a context that was made with it, on all of its
/// clocks. Times are in nanoseconds.
#[pyclass(frozen, subclass, module = "sinew._sinew")]
pub(crate) struct VirtualClock(pub(crate) sinew::time::VirtualClock);

#[pymethods]
impl VirtualClock {
    #[new]
    fn new() -> Self {
        Self(sinew::time::VirtualClock::new())
    }

    fn _now(&self) -> i64 {
        self.0.now().nanoseconds()
    }

    fn _advance(&self, py: Python<'_>, by: u64) {
        wait::detached(py, || self.0.advance(Duration::from_nanos(by)));
    }

    fn _set(&self, py: Python<'_>, time: i64) {
        wait::detached(py, || self.0.set(Time::from_nanoseconds(time)));
    }
}
