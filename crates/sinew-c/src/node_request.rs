//! The settings of nodes that containers make.

use crate::context::sinew_context;
use crate::handle::{self, handle};
use crate::status::{sinew_status, status};
use sinew_component::NodeRequest;

/// The settings with which a container has a component make its node: names, remap rules,
/// parameters, log level. The component passes it on in the options of its node.
pub struct sinew_node_request {
    _opaque: (),
}
handle!(sinew_node_request: NodeRequest);

/// Copies a request, for a component that keeps it after `create`. The caller frees `*copy` with
/// `sinew_node_request_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_node_request_copy(
    request: *const sinew_node_request,
    copy: Option<&mut *mut sinew_node_request>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let request = unsafe { handle::get(request, "request") }?;
        handle::put(copy, "copy", request.clone())
    })
}

/// Frees a copy of a request; null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_node_request_free(request: *mut sinew_node_request) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(request, "request") };
}

/// Gets a handle to the context of the container, in which the node is made. The caller frees
/// `*context`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_node_request_context(
    request: *const sinew_node_request,
    context: Option<&mut *mut sinew_context>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let request = unsafe { handle::get(request, "request") }?;
        handle::put(context, "context", request.context().clone())
    })
}
