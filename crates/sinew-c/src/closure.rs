//! Callbacks of C: a function, a context, and a function that drops it.

use crate::status::{Failure, OK, Result, sentence, sinew_status};
use std::ffi::c_void;
use std::fmt;

/// Frees the context of a callback, when the library calls it no more. It may run on any thread.
pub type sinew_drop = Option<unsafe extern "C" fn(context: *mut c_void)>;

/// Is called with the number of new things: messages, requests, changes of a status. It runs on the
/// thread that brought them about, under no lock of the library, and several threads may call it at
/// once.
pub type sinew_listener = Option<unsafe extern "C" fn(context: *mut c_void, count: u64)>;

/// A function of C with its context, which is dropped with it.
pub(crate) struct Closure<F> {
    function: F,
    context: *mut c_void,
    drop: sinew_drop,
}

// SAFETY: the header asks for contexts that any thread may use and drop.
unsafe impl<F: Send> Send for Closure<F> {}
// SAFETY: as above; where the library calls a function from several threads at once, the header
// says so.
unsafe impl<F: Sync> Sync for Closure<F> {}

impl<F: Copy> Closure<F> {
    /// Takes over the context, which is dropped also if the function is null.
    pub(crate) fn new(function: Option<F>, context: *mut c_void, drop: sinew_drop) -> Result<Self> {
        let context = Context { context, drop };
        let function = function.ok_or_else(|| Failure::null("callback"))?;
        let context = std::mem::ManuallyDrop::new(context);
        Ok(Self { function, context: context.context, drop: context.drop })
    }

    /// Takes over the context of a function that may be left out. Without it, the context is
    /// dropped.
    pub(crate) fn optional(function: Option<F>, context: *mut c_void, drop: sinew_drop) -> Option<Self> {
        Self::new(function, context, drop).ok()
    }

    /// Returns the function and its first argument.
    pub(crate) fn parts(&self) -> (F, *mut c_void) {
        (self.function, self.context)
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

impl<F> Drop for Closure<F> {
    fn drop(&mut self) {
        drop(Context { context: self.context, drop: self.drop });
    }
}

/// A callback returned a failure.
#[derive(Debug)]
pub(crate) struct CallbackFailed {
    status: sinew_status,
    sentence: String,
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
    if status == OK { Ok(()) } else { Err(CallbackFailed { status, sentence: sentence(status) }) }
}

struct Context {
    context: *mut c_void,
    drop: sinew_drop,
}

impl Drop for Context {
    fn drop(&mut self) {
        if let Some(drop) = self.drop {
            // SAFETY: it is the function for this context, called once.
            unsafe { drop(self.context) };
        }
    }
}
