//! Functions that run once in a callback group.

use crate::closure::{Closure, Outcome, outcome};
use crate::group::{GroupHandle, sinew_group};
use crate::handle;
use crate::node::sinew_node;
use crate::owned::sinew_drop;
use crate::status::{Result, sinew_status, status};
use std::ffi::c_void;

/// A function that is posted to a group. It returns `SINEW_OK`, or a failure, of which `on_error`
/// of the executor says what happens.
pub type sinew_work = Option<unsafe extern "C" fn(context: *mut c_void) -> sinew_status>;

type Work = unsafe extern "C" fn(context: *mut c_void) -> sinew_status;

/// Returns the function as a closure that is posted.
fn posted(
    work: sinew_work,
    context: *mut c_void,
    drop_context: sinew_drop,
) -> Result<impl FnOnce() -> Outcome + Send + 'static> {
    let closure: Closure<Work> = Closure::new(work, context, drop_context)?;
    Ok(move || {
        let (work, context) = closure.parts();
        // SAFETY: the caller's function, with its context.
        outcome(unsafe { work(context) })
    })
}

/// Posts a function to the node's default group: an executor that serves the node runs it once, in
/// order with the group's messages and timers. Any thread may post, also a callback. Never blocks.
///
/// `drop_context` may be null; otherwise it is called once, with `work_context`: after the function
/// has run, when it is dropped because the context ended, or at once if this function fails.
///
/// Fails with `SINEW_ERROR_CLOSED` if the context is shut down.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_node_post(
    node: *const sinew_node,
    work: sinew_work,
    work_context: *mut c_void,
    drop_context: sinew_drop,
) -> sinew_status {
    status(|| {
        let work = posted(work, work_context, drop_context)?;
        // SAFETY: the caller's handle.
        Ok(unsafe { handle::get(node, "node") }?.node.post(work)?)
    })
}

/// Posts a function to a group, as `sinew_node_post`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_group_post(
    group: *const sinew_group,
    work: sinew_work,
    work_context: *mut c_void,
    drop_context: sinew_drop,
) -> sinew_status {
    status(|| {
        let work = posted(work, work_context, drop_context)?;
        // SAFETY: the caller's handle.
        Ok(match unsafe { handle::get(group, "group") }? {
            GroupHandle::MutuallyExclusive(group) => group.post(work),
            GroupHandle::Reentrant(group) => group.post(work),
        }?)
    })
}
