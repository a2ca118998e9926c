//! Callbacks of a node for its parameters.

use crate::closure::{Closure, outcome};
use crate::handle::{self, handle};
use crate::node::sinew_node;
use crate::owned::sinew_drop;
use crate::parameter::node_of;
use crate::parameter_list::{list_of, sinew_parameter_list, values_of};
use crate::status::{Failure, OK, sinew_status, status};
use parking_lot::Mutex;
use sinew::parameters::{NamedValue, ParameterCallback};
use std::ffi::{CStr, c_char, c_void};

/// The number of bytes that a callback of [`sinew_node_on_set_parameters`] has for its reason, with
/// the NUL at its end.
pub const SINEW_PARAMETER_REASON_SIZE: usize = 512;

/// A callback of a node for its parameters. Freeing it removes the callback.
pub struct sinew_parameter_callback {
    _opaque: (),
}
handle!(sinew_parameter_callback: Mutex<Option<ParameterCallback>>);

/// The callback of [`sinew_node_on_pre_set_parameters`]. It may change the list, which lives until
/// it returns.
pub type sinew_pre_set_parameters_callback =
    Option<unsafe extern "C" fn(context: *mut c_void, list: *mut sinew_parameter_list)>;

/// The callback of [`sinew_node_on_set_parameters`]. It returns `SINEW_OK` to accept the values.
/// Anything else refuses them: then it may write a sentence to `reason`, at most `reason_size`
/// bytes with the NUL at its end, for the caller that sets the parameters. The list lives until it
/// returns.
pub type sinew_on_set_parameters_callback = Option<
    unsafe extern "C" fn(
        context: *mut c_void,
        list: *const sinew_parameter_list,
        reason: *mut c_char,
        reason_size: usize,
    ) -> sinew_status,
>;

/// The callback of [`sinew_node_on_post_set_parameters`]. The list lives until it returns.
pub type sinew_post_set_parameters_callback =
    Option<unsafe extern "C" fn(context: *mut c_void, list: *const sinew_parameter_list)>;

/// A list that is lent to a callback.
struct Lent(*mut sinew_parameter_list);

impl Lent {
    fn new(values: &[NamedValue]) -> Self {
        Self(handle::new(list_of(values.iter().cloned())))
    }

    /// Returns what the callback made of it.
    fn values(&self) -> Result<Vec<NamedValue>, Failure> {
        // SAFETY: it is freed with this value.
        unsafe { values_of(self.0, "list") }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        // SAFETY: a handle of this value's own. (A callback that freed it is noticed.)
        unsafe { handle::free(self.0, "list") };
    }
}

/// Adds a callback that gets a list of values before they are set, and may change, add and remove
/// values. An empty list is refused. Of several callbacks the one that was added last runs first.
///
/// It runs on the thread that sets the parameters, under no lock; for requests of other processes,
/// on the thread that receives them. It may read parameters; declaring or setting any fails with
/// `SINEW_ERROR_IN_PARAMETER_CALLBACK`. Several threads may run it at once.
///
/// The caller frees `*handle`, which removes the callback. The library drops the context with
/// `drop_context` afterwards, and also if this function fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_node_on_pre_set_parameters(
    node: *const sinew_node,
    callback: sinew_pre_set_parameters_callback,
    context: *mut c_void,
    drop_context: sinew_drop,
    handle: Option<&mut *mut sinew_parameter_callback>,
) -> sinew_status {
    status(|| {
        let callback = Closure::new(callback, context, drop_context)?;
        let node = node_of(&node)?;
        let added = node.on_pre_set_parameters(move |values: &mut Vec<NamedValue>| {
            let lent = Lent::new(values);
            let (function, context) = callback.parts();
            // SAFETY: the caller's function, with its context.
            unsafe { function(context, lent.0) };
            if let Ok(changed) = lent.values() {
                *values = changed;
            }
        })?;
        handle::put(handle, "handle", Mutex::new(Some(added)))
    })
}

/// Adds a callback that accepts or refuses values, after their types and ranges were checked. It
/// also runs for the values of parameters that are being declared. If it refuses, nothing is set,
/// and the caller gets its sentence. Otherwise as [`sinew_node_on_pre_set_parameters`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_node_on_set_parameters(
    node: *const sinew_node,
    callback: sinew_on_set_parameters_callback,
    context: *mut c_void,
    drop_context: sinew_drop,
    handle: Option<&mut *mut sinew_parameter_callback>,
) -> sinew_status {
    status(|| {
        let callback = Closure::new(callback, context, drop_context)?;
        let node = node_of(&node)?;
        let added = node.on_set_parameters(move |values: &[NamedValue]| {
            let lent = Lent::new(values);
            let (function, context) = callback.parts();
            let mut reason = [0_u8; SINEW_PARAMETER_REASON_SIZE];
            // SAFETY: the caller's function, with its context; it writes no more than it is
            // allowed.
            let status = unsafe { function(context, lent.0, reason.as_mut_ptr().cast(), reason.len()) };
            if status == OK {
                return Ok(());
            }
            let reason = CStr::from_bytes_until_nul(&reason).map(CStr::to_bytes).unwrap_or(&reason);
            match reason.is_empty() {
                true => outcome(status).map_err(|failed| failed.to_string()),
                false => Err(String::from_utf8_lossy(reason).into_owned()),
            }
        })?;
        handle::put(handle, "handle", Mutex::new(Some(added)))
    })
}

/// Adds a callback that gets values after they were set, and before the caller that set them gets
/// its answer. Otherwise as [`sinew_node_on_pre_set_parameters`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_node_on_post_set_parameters(
    node: *const sinew_node,
    callback: sinew_post_set_parameters_callback,
    context: *mut c_void,
    drop_context: sinew_drop,
    handle: Option<&mut *mut sinew_parameter_callback>,
) -> sinew_status {
    status(|| {
        let callback = Closure::new(callback, context, drop_context)?;
        let node = node_of(&node)?;
        let added = node.on_post_set_parameters(move |values: &[NamedValue]| {
            let lent = Lent::new(values);
            let (function, context) = callback.parts();
            // SAFETY: the caller's function, with its context.
            unsafe { function(context, lent.0) };
        })?;
        handle::put(handle, "handle", Mutex::new(Some(added)))
    })
}

/// Removes a callback; null is allowed. One that runs on another thread finishes; see
/// `sinew_parameter_callback_close`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_parameter_callback_free(handle: *mut sinew_parameter_callback) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(handle, "handle") };
}

/// Removes a callback, and waits until it has returned if another thread is setting parameters; not
/// in a callback for parameters of the node. The handle is still to be freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_parameter_callback_close(
    handle: *const sinew_parameter_callback,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let callback = unsafe { handle::get(handle, "handle") }?.lock().take();
        callback.into_iter().for_each(ParameterCallback::close); // under no lock: it waits
        Ok(())
    })
}

/// Frees the handle of a callback that stays until the context ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_parameter_callback_detach(
    handle: *mut sinew_parameter_callback,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle, which is given up.
        let callback = unsafe { handle::take(handle, "handle") }?.into_inner();
        callback.into_iter().for_each(ParameterCallback::detach);
        Ok(())
    })
}
