//! Callbacks of C: a function, a context, and a function that drops it.

use crate::owned::{Owned, sinew_drop};
use crate::status::{Failure, OK, Result, last, sinew_status};
use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;

/// Is called with the number of new things: messages, requests, changes of a status. It runs on the
/// thread that brought them about, under no lock of the library, and several threads may call it at
/// once.
pub type sinew_listener = Option<unsafe extern "C" fn(context: *mut c_void, count: u64)>;

/// A function of C with its context, which is dropped with it.
pub(crate) struct Closure<F> {
    function: F,
    context: Owned,
}

impl<F: Copy> Closure<F> {
    /// Takes over the context, which is dropped also if the function is null.
    pub(crate) fn new(function: Option<F>, context: *mut c_void, drop: sinew_drop) -> Result<Self> {
        let context = Owned::new(context, drop);
        let function = function.ok_or_else(|| Failure::null("callback"))?;
        Ok(Self { function, context })
    }

    /// Takes over the context of a function that may be left out. Without it, the context is
    /// dropped.
    pub(crate) fn optional(function: Option<F>, context: *mut c_void, drop: sinew_drop) -> Option<Self> {
        Self::new(function, context, drop).ok()
    }

    /// Returns the function and its first argument.
    pub(crate) fn parts(&self) -> (F, *mut c_void) {
        (self.function, self.context.pointer())
    }
}

/// A listener of C, as [`sinew_listener`].
pub(crate) type ListenerClosure = Closure<unsafe extern "C" fn(*mut c_void, u64)>;

/// Returns a listener of the library that calls C's.
pub(crate) fn listener(closure: ListenerClosure) -> impl Fn(u64) + Send + Sync + 'static {
    move |count| {
        let (function, context) = closure.parts();
        // SAFETY: the caller's function, for this context, from any thread.
        unsafe { function(context, count) };
    }
}

/// A callback returned a failure.
#[derive(Debug)]
pub(crate) struct CallbackFailed {
    status: sinew_status,
    sentence: String,
    payload: Option<Arc<Owned>>,
}

impl CallbackFailed {
    /// Returns what the callback gave with its failure.
    pub(crate) fn payload(&self) -> Option<Arc<Owned>> {
        self.payload.clone()
    }
}

impl fmt::Display for CallbackFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it returned {}: {}", self.status, self.sentence)
    }
}

impl std::error::Error for CallbackFailed {}

/// The outcome of a callback of Rust that calls one of C.
pub(crate) type Outcome = std::result::Result<(), CallbackFailed>;

/// Turns the status that a callback returned into the outcome of a callback of Rust.
pub(crate) fn outcome(status: sinew_status) -> Outcome {
    if status == OK {
        return Ok(());
    }
    let (sentence, payload) = last(status);
    Err(CallbackFailed { status, sentence, payload })
}
