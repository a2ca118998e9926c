//! Waiting for a future of Python outside a spin.

use crate::context::Context;
use crate::error::with_code;
use crate::wait;
use parking_lot::Mutex;
use pyo3::prelude::*;
use sinew::error::ErrorCode;
use sinew::executor::wait_for;
use sinew::time::Time;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, Waker};
use std::time::Duration;

/// A future of Rust that is ready once a future of Python is done.
#[derive(Clone, Default)]
pub(crate) struct Done(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    is_done: bool,
    waker: Option<Waker>,
}

impl Future for Done {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut TaskContext<'_>) -> Poll<()> {
        let ours = context.waker().clone(); // runs the library's code: outside the lock
        let mut state = self.0.lock();
        let former = if state.is_done { Some(ours) } else { state.waker.replace(ours) };
        let is_done = state.is_done;
        drop(state);
        drop(former);
        if is_done { Poll::Ready(()) } else { Poll::Pending }
    }
}

/// The callback of the future of Python.
#[pyclass(frozen, module = "sinew._sinew")]
struct Notify(Done);

#[pymethods]
impl Notify {
    fn __call__(&self, _future: &Bound<'_, PyAny>) {
        let waker = {
            let mut state = self.0.0.lock();
            state.is_done = true;
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// What a thread does for at most a time while it waits. Returns whether the future is done.
pub(crate) type Beside<'a> = &'a mut (dyn FnMut(&mut Done, Duration) -> Result<bool, &'static str> + Send);

/// Waits for a future of Python until `end`. Returns whether it is done.
///
/// # Errors
/// `ExternalShutdownException` at a shutdown, `ServiceError` if `beside` finds that the wait would
/// never end, and exceptions of signal handlers.
pub(crate) fn until_done_beside(
    future: &Bound<'_, PyAny>,
    is_shut_down: &dyn Fn() -> bool,
    end: Option<Time>,
    beside: Beside<'_>,
) -> PyResult<bool> {
    let (py, mut done, mut in_vain) = (future.py(), Done::default(), None);
    let notify = Bound::new(py, Notify(done.clone()))?;
    let _blocking = wait::Blocking::begin();
    future.call_method1("add_done_callback", (&notify,))?;
    let over = wait::sliced_unless(py, is_shut_down, end, |slice| match beside(&mut done, slice) {
        Ok(over) => over,
        Err(why) => {
            in_vain = Some(why);
            true
        }
    });
    future.call_method1("remove_done_callback", (notify,))?;
    match in_vain {
        Some(why) => {
            let sentence = format!("the wait for this answer would never end: {why}");
            Err(with_code(ErrorCode::WouldDeadlock, sentence))
        }
        None => over,
    }
}

/// As [`until_done_beside`], on a thread that runs nothing meanwhile.
pub(crate) fn until_done(
    future: &Bound<'_, PyAny>,
    is_shut_down: &dyn Fn() -> bool,
    end: Option<Time>,
) -> PyResult<bool> {
    until_done_beside(future, is_shut_down, end, &mut |done, slice| Ok(wait_for(done, slice).is_some()))
}

/// Waits until another thread completes a future, for at most `timeout` seconds. Returns whether it
/// is done.
#[pyfunction]
#[pyo3(signature = (future, context, timeout=None))]
pub(crate) fn wait_until_done(
    future: &Bound<'_, PyAny>,
    context: &Context,
    timeout: Option<f64>,
) -> PyResult<bool> {
    until_done(future, &|| context.context.is_shutdown(), wait::end(timeout)?)
}
