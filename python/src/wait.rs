//! Waiting without the GIL, so that Ctrl-C and other signals of Python end every wait.

use crate::error::ExternalShutdownException;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rustix::event::{Timespec, poll};
use sinew::time::Time;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// Maximum time for which a call of the library blocks before signals are looked at.
pub(crate) const SLICE: Duration = Duration::from_millis(100);

/// Number of threads that are in a call without the GIL, or run Python or ask for the GIL in a
/// callback. The end of the interpreter waits for them: it would end a thread that asks for the GIL
/// later, in the middle of this library's code.
static BUSY: AtomicUsize = AtomicUsize::new(0);

/// Whether the interpreter ends.
static ENDS: AtomicBool = AtomicBool::new(false);

struct Busy;

impl Busy {
    fn begin() -> Self {
        BUSY.fetch_add(1, Ordering::SeqCst); // against `ENDS`: see `attached`
        Self
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        BUSY.fetch_sub(1, Ordering::SeqCst);
    }
}

thread_local! {
    /// Number of blocking waits that this thread is in, in which it may run callbacks.
    static BLOCKING: Cell<usize> = const { Cell::new(0) };
}

/// A wait in which this thread may run callbacks, while a loop of asyncio further up can't go on.
pub(crate) struct Blocking;

impl Blocking {
    pub(crate) fn begin() -> Self {
        BLOCKING.set(BLOCKING.get() + 1);
        Self
    }
}

impl Drop for Blocking {
    fn drop(&mut self) {
        BLOCKING.set(BLOCKING.get() - 1);
    }
}

/// Returns whether this thread is in a blocking spin, or another wait in which it runs callbacks.
#[pyfunction]
pub(crate) fn is_blocking() -> bool {
    BLOCKING.get() > 0
}

/// Runs a call that may block, without the GIL.
pub(crate) fn detached<T: Send>(py: Python<'_>, call: impl FnOnce() -> T + Send) -> T {
    let _busy = Busy::begin();
    py.detach(call)
}

/// Runs Python on a thread of the library, with the GIL; not at the end of the interpreter, which
/// never gives it to such a thread again, while the main thread waits for the thread.
pub(crate) fn attached<T>(call: impl FnOnce(Python<'_>) -> T) -> Option<T> {
    let _busy = Busy::begin(); // before the look: either the end waits, or this stops
    if ENDS.load(Ordering::SeqCst) { None } else { Python::try_attach(call) }
}

/// Waits until other threads are out of calls without the GIL and of callbacks, for at most a
/// second. No callback begins any more.
pub(crate) fn others_returned(py: Python<'_>) {
    ENDS.store(true, Ordering::SeqCst);
    py.detach(|| {
        let end = Time::steady() + Duration::from_secs(1);
        while BUSY.load(Ordering::SeqCst) > 0 && Time::steady() < end {
            // Nothing notifies of this: threads are leaving by themselves.
            let _ = poll(&mut [], Some(&span(Duration::from_millis(1))));
        }
    });
}

fn span(of: Duration) -> Timespec {
    Timespec::try_from(of).unwrap_or(Timespec { tv_sec: i64::MAX, tv_nsec: 0 })
}

/// Returns the time at which a wait of some seconds ends; `None` and negative ones have no end.
pub(crate) fn end(seconds: Option<f64>) -> PyResult<Option<Time>> {
    Ok(duration(seconds)?.and_then(|duration| {
        let nanoseconds = i64::try_from(duration.as_nanos()).ok()?;
        Time::steady().nanoseconds().checked_add(nanoseconds).map(Time::from_nanoseconds)
    }))
}

/// Returns a duration in seconds; `None` for none, negative ones and infinity.
pub(crate) fn duration(seconds: Option<f64>) -> PyResult<Option<Duration>> {
    match seconds {
        Some(seconds) if seconds.is_nan() => Err(PyValueError::new_err("a time in seconds can't be NaN")),
        Some(seconds) if seconds >= 0.0 => Ok(Duration::try_from_secs_f64(seconds).ok()),
        _ => Ok(None),
    }
}

/// Calls a function that blocks, with one slice of the time after the other, until it returns true
/// or `end` has passed. Runs Python's handlers of signals between two slices.
///
/// # Errors
/// The exception of a handler; [`ExternalShutdownException`](shut_down) once the context is shut
/// down.
pub(crate) fn sliced(
    py: Python<'_>,
    context: &sinew::Context,
    end: Option<Time>,
    call: impl FnMut(Duration) -> bool + Send,
) -> PyResult<bool> {
    sliced_unless(py, &|| context.is_shutdown(), end, call)
}

/// As [`sliced`], for waits in several contexts, or in none.
pub(crate) fn sliced_unless(
    py: Python<'_>,
    is_shut_down: &dyn Fn() -> bool,
    end: Option<Time>,
    mut call: impl FnMut(Duration) -> bool + Send,
) -> PyResult<bool> {
    loop {
        let left =
            end.map_or(SLICE, |end| if Time::steady() < end { end - Time::steady() } else { Duration::ZERO });
        if detached(py, || call(left.min(SLICE))) {
            return Ok(true);
        }
        py.check_signals()?;
        if is_shut_down() {
            return Err(shut_down());
        }
        if end.is_some_and(|end| Time::steady() >= end) {
            return Ok(false);
        }
    }
}

/// Makes the exception for a wait in a context that is shut down.
pub(crate) fn shut_down() -> PyErr {
    ExternalShutdownException::new_err("the context was shut down during a wait")
}
