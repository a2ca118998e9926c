//! What the unit tests of callbacks share.

use crate::context::{SINEW_NO, sinew_context, sinew_context_new, sinew_context_options};
use crate::handle;
use crate::node::{sinew_node, sinew_node_new};
use crate::status::{sinew_error_message, sinew_status};
use sinew::{Context, Executor};
use std::ffi::CStr;
use std::mem::{MaybeUninit, zeroed};
use std::ptr;

/// Runs a function that returns a pointer by its last parameter.
pub(crate) fn made<T>(function: impl FnOnce(Option<&mut T>) -> sinew_status) -> T {
    let mut place = MaybeUninit::<T>::zeroed();
    // SAFETY: a pointer, null so far.
    let status = function(Some(unsafe { place.assume_init_mut() }));
    // SAFETY: this thread's sentence.
    assert_eq!(status, 0, "{:?}", unsafe { CStr::from_ptr(sinew_error_message()) });
    // SAFETY: as above.
    unsafe { place.assume_init() }
}

/// Makes a context of this process and a node in it; an executor of Rust runs their callbacks. The
/// caller frees both.
pub(crate) fn served_node(executor: &Executor) -> (*mut sinew_context, *mut sinew_node) {
    // SAFETY: zeros are its defaults.
    let mut options: sinew_context_options = unsafe { zeroed() };
    options.size = size_of_val(&options);
    options.shared_memory = SINEW_NO;
    // SAFETY: valid pointers; so are all below.
    let context = made(|place| unsafe { sinew_context_new(&raw const options, place) });
    // SAFETY: as above.
    let node = made(|place| unsafe { sinew_node_new(context, c"room".as_ptr(), ptr::null(), place) });
    // SAFETY: as above.
    let of_rust: &Context = unsafe { handle::get(context, "context") }.expect("it lives");
    executor.add(of_rust).expect("it can be added");
    (context, node)
}
