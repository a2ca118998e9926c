//! The callbacks of managed nodes.

use crate::lifecycle_state::{
    SINEW_STATE_ACTIVE, SINEW_STATE_INACTIVE, SINEW_STATE_UNCONFIGURED, sinew_lifecycle_state,
};
use crate::owned::Owned;
use crate::status::{OK, last, sinew_status};
use crate::structure::Structure;
use sinew_lifecycle::{CallbackError, Failed, Held, Lifecycle, ManagedNode, Recovery};
use std::ffi::c_void;

/// The transition is done. As `SINEW_OK`.
pub const SINEW_CALLBACK_SUCCESS: sinew_status = 97;
/// The transition is not possible now: the node returns to its state.
pub const SINEW_CALLBACK_FAILURE: sinew_status = 98;
/// The transition failed: `on_error` is called. As any other status, with the sentence of which the
/// failure is reported.
pub const SINEW_CALLBACK_ERROR: sinew_status = 99;

/// A callback of a transition; `previous` is the state in which it began. It returns
/// `SINEW_CALLBACK_SUCCESS`, `_FAILURE` or `_ERROR`, the numbers of
/// `lifecycle_msgs/msg/Transition`, or a status.
///
/// It runs on the thread that makes the transition, under no lock, one of a node at a time.
pub type sinew_lifecycle_callback =
    Option<unsafe extern "C" fn(context: *mut c_void, previous: sinew_lifecycle_state) -> sinew_status>;

/// The callbacks of a managed node. Those that are null succeed, except `on_error`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_lifecycle_callbacks {
    /// `sizeof(struct sinew_lifecycle_callbacks)`.
    pub size: usize,
    /// Makes the node's resources.
    pub on_configure: sinew_lifecycle_callback,
    /// Releases them.
    pub on_cleanup: sinew_lifecycle_callback,
    /// Starts work. The gates of publishers are open; managed groups run once this has returned.
    pub on_activate: sinew_lifecycle_callback,
    /// Stops work. Managed groups don't run any more; gates close once this has returned.
    pub on_deactivate: sinew_lifecycle_callback,
    /// Ends the node. After `SINEW_CALLBACK_FAILURE` the node is finalized nevertheless.
    pub on_shutdown: sinew_lifecycle_callback,
    /// Follows an error of another callback. After `SINEW_CALLBACK_SUCCESS` the node is
    /// unconfigured, else finalized. Null: finalized.
    pub on_error: sinew_lifecycle_callback,
}

// SAFETY: C's layout, beginning with the size; zeros are null.
unsafe impl Structure for sinew_lifecycle_callbacks {
    const NAME: &str = "sinew_lifecycle_callbacks";
}

/// C's callbacks with their context. C keeps the node's resources.
pub(crate) struct Callbacks {
    functions: sinew_lifecycle_callbacks,
    context: Owned,
    /// The state in which the last transition began.
    previous: sinew_lifecycle_state,
}

type Changed = Result<(), Failed<()>>;

impl Callbacks {
    pub(crate) fn new(functions: sinew_lifecycle_callbacks, context: Owned) -> Self {
        Self { functions, context, previous: SINEW_STATE_UNCONFIGURED }
    }

    fn call(&mut self, callback: sinew_lifecycle_callback, previous: sinew_lifecycle_state) -> Changed {
        self.previous = previous;
        let Some(callback) = callback else { return Ok(()) };
        // SAFETY: the caller's function, with its context.
        match unsafe { callback(self.context.pointer(), previous) } {
            OK | SINEW_CALLBACK_SUCCESS => Ok(()),
            SINEW_CALLBACK_FAILURE => Err(Failed::stay((), "its callback says that it is not possible now")),
            SINEW_CALLBACK_ERROR => Err(Failed::error("its callback returned an error")),
            status => Err(Failed::error(last(status).0)),
        }
    }
}

impl Lifecycle for Callbacks {
    type Inactive = ();
    type Active = ();

    fn configure(&mut self, _: &ManagedNode) -> Changed {
        self.call(self.functions.on_configure, SINEW_STATE_UNCONFIGURED)
    }

    fn activate(&mut self, _: &ManagedNode, (): ()) -> Changed {
        self.call(self.functions.on_activate, SINEW_STATE_INACTIVE)
    }

    fn deactivate(&mut self, (): ()) -> Changed {
        self.call(self.functions.on_deactivate, SINEW_STATE_ACTIVE)
    }

    fn cleanup(&mut self, (): ()) -> Changed {
        self.call(self.functions.on_cleanup, SINEW_STATE_INACTIVE)
    }

    fn shutdown(&mut self, held: Held<(), ()>) -> Changed {
        let previous = match held {
            Held::Nothing => SINEW_STATE_UNCONFIGURED,
            Held::Inactive(()) => SINEW_STATE_INACTIVE,
            Held::Active(()) => SINEW_STATE_ACTIVE,
        };
        self.call(self.functions.on_shutdown, previous)
    }

    fn on_error(&mut self, _: &CallbackError) -> Recovery {
        let on_error = self.functions.on_error;
        match on_error.map(|_| self.call(on_error, self.previous)) {
            Some(Ok(())) => Recovery::Unconfigured,
            Some(Err(_)) | None => Recovery::Finalized,
        }
    }
}
