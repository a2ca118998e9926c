//! Logging, as the library does it: to the console, into a file and to `/rosout`.

use crate::error::raise;
use crate::node::Node;
use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::PyString;
use sinew::LogLevel;
use sinew::logging::{self, Place};
use std::collections::HashSet;
use std::time::Duration;

/// A logger.
#[pyclass(frozen, module = "sinew._sinew")]
pub(crate) struct Logger(logging::Logger);

#[pymethods]
impl Logger {
    #[new]
    fn new(name: &Bound<'_, PyString>) -> Self {
        Self(logging::Logger::named(&name.to_string_lossy()))
    }

    #[staticmethod]
    fn of(node: &Node) -> PyResult<Self> {
        Ok(Self(node.get()?.logger()))
    }

    fn child(&self, name: &Bound<'_, PyString>) -> Self {
        Self(self.0.child(&name.to_string_lossy()))
    }

    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// Returns the level that counts, by its number.
    fn level(&self) -> u8 {
        self.0.level().number()
    }

    /// Returns the level of its own, by its number; 0 is none.
    fn own_level(&self) -> u8 {
        self.0.own_level().map_or(0, LogLevel::number)
    }

    /// Sets the level; 0 is none of its own.
    fn set_level(&self, level: u32) {
        self.0.set_level(LogLevel::of_number(level));
    }

    fn is_enabled(&self, level: u32) -> bool {
        LogLevel::of_number(level).is_some_and(|level| self.0.is_enabled(level))
    }

    /// Returns the logger's time in nanoseconds.
    fn now(&self) -> i64 {
        self.0.now().nanoseconds()
    }

    /// Logs a line.
    #[expect(clippy::too_many_arguments, reason = "the parts of a line")]
    fn say(
        &self,
        level: u32,
        text: &Bound<'_, PyString>,
        file: &Bound<'_, PyString>,
        function: &Bound<'_, PyString>,
        line: u32,
    ) {
        if let Some(level) = LogLevel::of_number(level) {
            // Texts that were received, and names of files, may have bytes that are no UTF-8.
            let [text, file, function] = [text, file, function].map(|text| text.to_string_lossy());
            let place = Place { file: kept(&file), line, module: kept(&function) };
            self.0.say(level, place, format_args!("{text}"));
        }
    }
}

/// Returns a text that is kept for ever: those of places in a program are few.
fn kept(text: &str) -> &'static str {
    static KEPT: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
    let mut all = KEPT.lock();
    let all = all.get_or_insert_default();
    if let Some(known) = all.get(text) {
        return known;
    }
    let made: &'static str = Box::leak(text.to_owned().into_boxed_str());
    all.insert(made);
    made
}

/// Sends log lines to the console, a file and `/rosout`. Does nothing if that was done.
#[pyfunction]
pub(crate) fn init_logging() -> PyResult<()> {
    match logging::init() {
        Ok(()) | Err(logging::LoggingError::Taken) => Ok(()),
        Err(error) => Err(raise(error)),
    }
}

#[pyfunction]
pub(crate) fn flush_logging(py: Python<'_>) -> bool {
    py.detach(|| logging::flush(Duration::from_secs(1)))
}
