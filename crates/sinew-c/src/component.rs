//! Components: kinds of nodes that a container makes, in its program or in a shared library.

use crate::closure::Closure;
use crate::handle;
use crate::node::sinew_node;
use crate::node_request::sinew_node_request;
use crate::owned::{Owned, sinew_drop};
use crate::status::{Failure, OK, Result, last, sinew_status};
use crate::structure::{Structure, structure};
use crate::text::text;
use ::sinew_component::{Component, NodeRequest};
use sinew::Node;
use sinew::error::ErrorCode;
use std::ffi::{c_char, c_void};

/// Makes a component and its node, with the node's option `request`. `*component` belongs to the
/// container, which passes it to `destroy` of the `sinew_component` when the node is unloaded;
/// `*node` is a handle that lives as long as the component.
///
/// `request` is valid during the call. It returns `SINEW_OK`, or a failure, which the container
/// reports with the sentence of the thread's last failure (`sinew_error_set`).
pub type sinew_component_create = Option<
    unsafe extern "C" fn(
        context: *mut c_void,
        request: *const sinew_node_request,
        component: *mut *mut c_void,
        node: *mut *const sinew_node,
    ) -> sinew_status,
>;

/// A kind of node that a container can make. One of a shared library lives as long as the library,
/// which is never unloaded.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_component {
    /// `sizeof(struct sinew_component)`.
    pub size: usize,
    /// Its name in requests, mostly `package::Type`.
    pub type_name: *const c_char,
    /// Makes a component and its node. Never called twice at the same time.
    pub create: sinew_component_create,
    /// Destroys a component, with its node. Null: nothing is to be done.
    pub destroy: sinew_drop,
    /// The first argument of `create`.
    pub context: *mut c_void,
    /// The next component of the list; null: this is the last one.
    pub next: *const sinew_component,
}

// SAFETY: C's layout, beginning with the size; zeros are null.
unsafe impl Structure for sinew_component {
    const NAME: &str = "sinew_component";
}

/// The form of `sinew_component_library`, of which a container knows this one only.
pub const SINEW_COMPONENT_ABI: u32 = 1;

/// The components of a shared library. It exports a function without parameters with the name
/// `sinew_components` (C linkage) that returns a pointer to this structure.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_component_library {
    /// `sizeof(struct sinew_component_library)`.
    pub size: usize,
    /// `SINEW_COMPONENT_ABI` of the header with which the library was compiled.
    pub abi: u32,
    /// `sinew_version`, by which the container notices a library that is linked with a copy of
    /// Sinew of its own.
    pub version: Option<extern "C" fn() -> *const c_char>,
    /// The first of its components; null: it has none.
    pub components: *const sinew_component,
}

// SAFETY: C's layout, beginning with the size; zeros are null, a number.
unsafe impl Structure for sinew_component_library {
    const NAME: &str = "sinew_component_library";
}

/// Why a component was not made.
#[derive(Debug)]
struct Refusal(String);

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}

/// Returns the components of a list of C.
///
/// # Safety
/// The list is null or valid, and what its components name lives as long as they are used.
pub(crate) unsafe fn components(mut list: *const sinew_component) -> Result<Vec<Component>> {
    let mut all = Vec::new();
    while !list.is_null() {
        // SAFETY: as the caller says.
        let sinew_component { type_name, create, destroy, context, next, .. } = unsafe { structure(list) }?;
        // SAFETY: as the caller says.
        let type_name = unsafe { text(type_name, "type_name") }?;
        if type_name.is_empty() || type_name.contains([' ', '=']) {
            let sentence = format_args!(
                "the component `{type_name}` needs a name without spaces and `=`: package::Type"
            );
            return Err(Failure::new(ErrorCode::InvalidName, sentence));
        }
        // The container calls one at a time, and the context is the component's for ever.
        let create = create.ok_or_else(|| Failure::null("create"))?;
        let create = Closure::new(Some(create), context, None)?;
        let make = move |request: &NodeRequest| made(&create, destroy, request);
        all.push(Component::from_request(type_name, make));
        list = next;
    }
    Ok(all)
}

type Create = unsafe extern "C" fn(
    *mut c_void,
    *const sinew_node_request,
    *mut *mut c_void,
    *mut *const sinew_node,
) -> sinew_status;

/// Has C make a component.
fn made(
    create: &Closure<Create>,
    destroy: sinew_drop,
    request: &NodeRequest,
) -> std::result::Result<(Node, Owned), Refusal> {
    let (function, context) = create.parts();
    let (mut component, mut node) = (std::ptr::null_mut(), std::ptr::null());
    let request = handle::new::<sinew_node_request>(request.clone());
    // SAFETY: the caller's function, with its context and places that outlive the call.
    let status = unsafe { function(context, request, &raw mut component, &raw mut node) };
    // SAFETY: made above; valid during the call only.
    unsafe { handle::free(request, "request") };
    if status != OK {
        return Err(Refusal(last(status).0));
    }
    let component = Owned::new(component, destroy);
    // SAFETY: the caller's handle.
    match unsafe { handle::get(node, "node") } {
        Ok(handle) => Ok((handle.node.clone(), component)),
        Err(failure) => Err(Refusal(last(failure.keep()).0)),
    }
}
