//! The parameters of other nodes.

use crate::array::{Texts, texts};
use crate::group::{in_group, sinew_group};
use crate::handle::{self, handle};
use crate::node::sinew_node;
use crate::parameter_descriptor::{self, sinew_parameter_descriptors};
use crate::parameter_list::{list_of, sinew_parameter_list, sinew_parameter_type, values_of};
use crate::status::{Failure, Result, answer, sinew_status, status};
use crate::strings::sinew_strings;
use crate::structure::{Structure, structure};
use crate::text::{c_text, text};
use crate::time::sinew_duration;
use sinew::parameters::{NamedValue, ParameterClient};
use sinew::{Group, ReentrantGroup};
use std::ffi::{CString, c_char};

/// The way to the parameters of another node, in this process or another.
pub struct sinew_parameter_client {
    _opaque: (),
}
handle!(sinew_parameter_client: ParameterClientHandle);

/// A client with the other node's name as C reads it.
pub(crate) struct ParameterClientHandle {
    client: Clients,
    node_name: CString,
}

/// Clients of both kinds of groups.
enum Clients {
    MutuallyExclusive(ParameterClient<Group>),
    Reentrant(ParameterClient<ReentrantGroup>),
}

impl From<ParameterClient<Group>> for Clients {
    fn from(client: ParameterClient<Group>) -> Self {
        Self::MutuallyExclusive(client)
    }
}

impl From<ParameterClient<ReentrantGroup>> for Clients {
    fn from(client: ParameterClient<ReentrantGroup>) -> Self {
        Self::Reentrant(client)
    }
}

/// Evaluates an expression for a client of either kind.
macro_rules! with_client {
    ($handle:expr, |$client:ident| $asked:expr) => {
        match &$handle.client {
            Clients::MutuallyExclusive($client) => $asked,
            Clients::Reentrant($client) => $asked,
        }
    };
}

/// The options of [`sinew_parameter_client_new`]. Zero is the default of every field.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_parameter_client_options {
    /// `sizeof(struct sinew_parameter_client_options)`.
    pub size: usize,
    /// The group of its clients. Null: the node's default group.
    pub group: *const sinew_group,
}

// SAFETY: C's layout, beginning with the size; zeros are null.
unsafe impl Structure for sinew_parameter_client_options {
    const NAME: &str = "sinew_parameter_client_options";
}

/// Makes a client for the parameters of the node `of`: a full name, or one in the namespace of
/// `node`. That node needn't be there yet.
///
/// `options` may be null. The caller frees `*client`. Each function that asks blocks for at most
/// its timeout (negative: for ever); no executor has to run for it, here or there. It fails with
/// `SINEW_ERROR_NO_SUCH_NODE`, `SINEW_ERROR_TIMEOUT`, `SINEW_ERROR_PARAMETER_NOT_DECLARED`,
/// `SINEW_ERROR_REFUSED`, or as a call of a service does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_parameter_client_new(
    node: *const sinew_node,
    of: *const c_char,
    options: *const sinew_parameter_client_options,
    client: Option<&mut *mut sinew_parameter_client>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let node = unsafe { handle::get(node, "node") }?;
        // SAFETY: the caller's text.
        let of = unsafe { text(of, "of") }?;
        // SAFETY: the caller's structure.
        let options = unsafe { structure(options) }?;
        // SAFETY: the caller's handle.
        let group = unsafe { handle::get_optional(options.group, "group") }?;
        let asking: Clients = in_group!(node, group, |maker| maker.parameter_client(of).into());
        let mut made = ParameterClientHandle { client: asking, node_name: CString::default() };
        made.node_name = c_text(with_client!(made, |client| client.node_name()).to_owned());
        handle::put(client, "client", made)
    })
}

/// Frees a client; null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_parameter_client_free(client: *mut sinew_parameter_client) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(client, "client") };
}

/// Returns the full name of the node that has the parameters. The text lives as long as the handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_parameter_client_node_name(
    client: *const sinew_parameter_client,
) -> *const c_char {
    // SAFETY: the caller's handle.
    answer(std::ptr::null(), || Ok(unsafe { handle::get(client, "client") }?.node_name.as_ptr()))
}

/// Returns the value of a handle of the caller's, for as long as the caller's pointer is there.
fn borrow(client: &*const sinew_parameter_client) -> Result<&ParameterClientHandle> {
    // SAFETY: the caller's handle, which no thread frees during the call.
    unsafe { handle::get(*client, "client") }
}

/// Gets the values of parameters, in the order of the names: of all of them, or of none if one
/// isn't declared. The caller frees `*list`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_parameter_client_get(
    client: *const sinew_parameter_client,
    names: *const *const c_char,
    count: usize,
    timeout: sinew_duration,
    list: Option<&mut *mut sinew_parameter_list>,
) -> sinew_status {
    status(|| {
        let client = borrow(&client)?;
        // SAFETY: the caller's array.
        let names = unsafe { texts(names, count, "names") }?;
        let call = with_client!(client, |client| client.get(names.iter().copied()));
        let values = call.wait(crate::time::timeout(timeout))?;
        handle::put(
            list,
            "list",
            list_of(names.into_iter().zip(values).map(|(name, value)| NamedValue::new(name, value))),
        )
    })
}

/// Gets the types of parameters, in the order of the names; otherwise as
/// [`sinew_parameter_client_get`]. The caller has room for `count` types in `kinds`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_parameter_client_get_types(
    client: *const sinew_parameter_client,
    names: *const *const c_char,
    count: usize,
    timeout: sinew_duration,
    kinds: *mut sinew_parameter_type,
) -> sinew_status {
    status(|| {
        let client = borrow(&client)?;
        // SAFETY: the caller's array.
        let names = unsafe { texts(names, count, "names") }?;
        if kinds.is_null() && count > 0 {
            return Err(Failure::null("kinds"));
        }
        let call = with_client!(client, |client| client.types(names));
        for (at, kind) in call.wait(crate::time::timeout(timeout))?.into_iter().take(count).enumerate() {
            // SAFETY: one of the caller's `count`.
            let place = unsafe { kinds.add(at) };
            // SAFETY: as above.
            unsafe { place.write(sinew_parameter_type::from(kind as u8)) };
        }
        Ok(())
    })
}

/// Gets the descriptions of parameters, in the order of the names; otherwise as
/// [`sinew_parameter_client_get`]. The caller frees `*descriptors`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_parameter_client_describe(
    client: *const sinew_parameter_client,
    names: *const *const c_char,
    count: usize,
    timeout: sinew_duration,
    descriptors: Option<&mut *mut sinew_parameter_descriptors>,
) -> sinew_status {
    status(|| {
        let client = borrow(&client)?;
        // SAFETY: the caller's array.
        let names = unsafe { texts(names, count, "names") }?;
        let call = with_client!(client, |client| client.describe(names));
        handle::put(
            descriptors,
            "descriptors",
            parameter_descriptor::list_of(call.wait(crate::time::timeout(timeout))?),
        )
    })
}

/// Sets parameters one after the other. For each, `*reasons` has null if it is set, otherwise the
/// reason why it is not. The caller frees `*reasons`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_parameter_client_set(
    client: *const sinew_parameter_client,
    list: *const sinew_parameter_list,
    timeout: sinew_duration,
    reasons: Option<&mut *mut sinew_strings>,
) -> sinew_status {
    status(|| {
        let client = borrow(&client)?;
        // SAFETY: the caller's handle.
        let values = unsafe { values_of(list, "list") }?;
        let call = with_client!(client, |client| client.set(values));
        let results = call.wait(crate::time::timeout(timeout))?;
        handle::put(reasons, "reasons", Texts::with_gaps(results.into_iter().map(std::result::Result::err)))
    })
}

/// Sets all of the parameters, or none, with one event. Fails with `SINEW_ERROR_REFUSED` and the
/// node's reason.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_parameter_client_set_atomically(
    client: *const sinew_parameter_client,
    list: *const sinew_parameter_list,
    timeout: sinew_duration,
) -> sinew_status {
    status(|| {
        let client = borrow(&client)?;
        // SAFETY: the caller's handle.
        let values = unsafe { values_of(list, "list") }?;
        let call = with_client!(client, |client| client.set_atomically(values));
        Ok(call.wait(crate::time::timeout(timeout))?)
    })
}

/// Lists the names of parameters, as `sinew_node_list_parameters` does. `*prefixes_found` gets the
/// parts before the last point of names that have one, each once; it may be null. The caller frees
/// both.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_parameter_client_list(
    client: *const sinew_parameter_client,
    prefixes: *const *const c_char,
    count: usize,
    depth: u64,
    timeout: sinew_duration,
    names: Option<&mut *mut sinew_strings>,
    prefixes_found: Option<&mut *mut sinew_strings>,
) -> sinew_status {
    status(|| {
        let client = borrow(&client)?;
        // SAFETY: the caller's array.
        let prefixes = unsafe { texts(prefixes, count, "prefixes") }?;
        let place = names.ok_or_else(|| Failure::null("names"))?;
        let call = with_client!(client, |client| client.list(prefixes, depth));
        let listed = call.wait(crate::time::timeout(timeout))?;
        *place = handle::new(Texts::new(listed.names));
        if let Some(place) = prefixes_found {
            *place = handle::new(Texts::new(listed.prefixes));
        }
        Ok(())
    })
}
