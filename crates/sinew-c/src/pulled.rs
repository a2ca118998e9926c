//! Servers with requests that the program takes by hand. (Their counterpart is
//! `sinew_client_send`.)

use crate::closure::{Closure, listener, sinew_listener};
use crate::group::in_group;
use crate::handle::{self, handle};
use crate::message::{from_c, into_c, sinew_message, sinew_uninit_message};
use crate::node::sinew_node;
use crate::owned::sinew_drop;
use crate::qos::sinew_qos;
use crate::service::{sinew_request_info, sinew_request_key, sinew_server_options, sinew_server_statistics};
use crate::service_qos::ServiceQos;
use crate::service_type::{self, sinew_service_type};
use crate::status::{Failure, Result, answer, sinew_status, status};
use crate::structure::{Place, structure};
use crate::text::{c_text, text};
use sinew::erased::PulledServer;
use sinew::error::ErrorCode;
use std::ffi::{CString, c_char, c_void};

/// A server with requests that the program takes by hand: for event loops of other libraries. No
/// executor and no callback runs.
pub struct sinew_pulled_server {
    _opaque: (),
}
handle!(sinew_pulled_server: PulledHandle);

/// A server with its name as C reads it.
pub(crate) struct PulledHandle {
    server: PulledServer,
    name: CString,
    qos: ServiceQos,
}

/// Makes a server with requests that the program takes by [`sinew_pulled_server_take_request`].
///
/// `options` may be null; `is_immediate` must be unset. The caller frees `*server`, which ends the
/// service. Fails as `sinew_server_new` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_pulled_server_new(
    node: *const sinew_node,
    name: *const c_char,
    service_type: *const sinew_service_type,
    options: *const sinew_server_options,
    server: Option<&mut *mut sinew_pulled_server>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let node = unsafe { handle::get(node, "node") }?;
        // SAFETY: the caller's text.
        let name = unsafe { text(name, "name") }?;
        // SAFETY: the caller's handle.
        let types = unsafe { service_type::get(service_type, "service_type") }?;
        // SAFETY: the caller's structure.
        let options: sinew_server_options = unsafe { structure(options) }?;
        if options.is_immediate {
            let sentence = "`is_immediate` is set, but a pulled server has no callback";
            return Err(Failure::new(ErrorCode::InvalidStructure, sentence));
        }
        // SAFETY: the caller's structures.
        let qos = unsafe { options.qos() }?;
        // SAFETY: the caller's handle.
        let group = unsafe { handle::get_optional(options.group, "group") }?;
        let made = in_group!(node, group, |maker| {
            options.apply(maker.erased_server(name, types), qos).create_erased()
        })?;
        let name = c_text(made.name().to_owned());
        handle::put(server, "server", PulledHandle { server: made, name, qos })
    })
}

/// Returns the server of a handle of the caller's, for as long as the caller's pointer is there.
pub(crate) fn borrow(server: &*const sinew_pulled_server) -> Result<&PulledServer> {
    // SAFETY: the caller's handle, which no thread frees during the call.
    Ok(&unsafe { handle::get(*server, "server") }?.server)
}

/// Frees a server, which ends the service: callers of requests that were not answered fail with
/// `SINEW_ERROR_SERVER_GONE`. Null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_pulled_server_free(server: *mut sinew_pulled_server) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(server, "server") };
}

/// Ends the service, as [`sinew_pulled_server_free`] does. The handle still has to be freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_pulled_server_close(server: *const sinew_pulled_server) -> sinew_status {
    status(|| {
        borrow(&server)?.clone().close();
        Ok(())
    })
}

/// Returns whether the server was closed, or its context was shut down.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_pulled_server_is_closed(server: *const sinew_pulled_server) -> bool {
    answer(false, || Ok(borrow(&server)?.is_closed()))
}

/// Returns the service's full name, after remapping. The text lives as long as the handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_pulled_server_name(server: *const sinew_pulled_server) -> *const c_char {
    // SAFETY: the caller's handle.
    answer(std::ptr::null(), || Ok(unsafe { handle::get(server, "server") }?.name.as_ptr()))
}

/// Gets the server's QoS, as `sinew_server_qos`. The caller sets the `size`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_pulled_server_qos(
    server: *const sinew_pulled_server,
    qos: *mut sinew_qos,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let server = unsafe { handle::get(server, "server") }?;
        // SAFETY: the caller's structure.
        unsafe { server.qos.write(qos) }
    })
}

/// Takes the oldest request that was not taken yet. The caller owns `*request`, which is null if
/// none waits. `info->key` is for the answer; the caller sets `info->size`. Never blocks; any
/// thread may take.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_pulled_server_take_request(
    server: *const sinew_pulled_server,
    request: Option<&mut *mut sinew_message>,
    info: *mut sinew_request_info,
) -> sinew_status {
    status(|| {
        let server = borrow(&server)?;
        let place = request.ok_or_else(|| Failure::null("request"))?;
        // SAFETY: the caller's structure.
        let info = unsafe { Place::new(info, "info") }?;
        *place = std::ptr::null_mut();
        if let Some((request, about)) = server.take_request() {
            *place = into_c(request);
            info.fill((&about).into());
        }
        Ok(())
    })
}

/// Gets a place for a response in the server's pool, for a placement `new`. Once the pool is warm,
/// allocates nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_pulled_server_uninit_response(
    server: *const sinew_pulled_server,
    uninit: Option<&mut *mut sinew_uninit_message>,
) -> sinew_status {
    status(|| handle::put(uninit, "uninit", borrow(&server)?.uninit_response()))
}

/// Answers a request that was taken, on any thread and in any order. Takes over the response, also
/// if it fails.
///
/// Fails with `SINEW_ERROR_REQUEST_NOT_IN_HAND` (it was never taken, or is answered already), with
/// `SINEW_ERROR_RESPONSE_UNCLAIMED` (no caller waits any more), or, if the response has another
/// type or can't be decoded or copied, with `SINEW_ERROR_OTHER_TYPE`, `SINEW_ERROR_UNDECODABLE`,
/// `SINEW_ERROR_NOT_SOLE`: then the request can still be answered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_pulled_server_respond(
    server: *const sinew_pulled_server,
    key: *const sinew_request_key,
    response: *mut sinew_message,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's message, which is given up.
        let response = unsafe { from_c(response, "response") }?;
        // SAFETY: the caller's structure.
        let key = unsafe { key.as_ref() }.ok_or_else(|| Failure::null("key"))?;
        borrow(&server)?.respond(&(*key).into(), response)?;
        Ok(())
    })
}

/// Answers a request that was taken with an error: the caller fails with
/// `SINEW_ERROR_CALLBACK_FAILED` and a sentence that contains `text`, in which what is not UTF-8 is
/// replaced. Otherwise as [`sinew_pulled_server_respond`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_pulled_server_fail(
    server: *const sinew_pulled_server,
    key: *const sinew_request_key,
    text: *const c_char,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's structure.
        let key = unsafe { key.as_ref() }.ok_or_else(|| Failure::null("key"))?;
        // SAFETY: the caller's text.
        let text = unsafe { crate::text::sentence(text, "text") }?;
        borrow(&server)?.fail(&(*key).into(), text)?;
        Ok(())
    })
}

/// Returns whether a request is in hand and its caller still waits for the answer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_pulled_server_is_awaited(
    server: *const sinew_pulled_server,
    key: *const sinew_request_key,
) -> bool {
    answer(false, || {
        // SAFETY: the caller's structure.
        let key = unsafe { key.as_ref() }.ok_or_else(|| Failure::null("key"))?;
        Ok(borrow(&server)?.is_awaited(&(*key).into()))
    })
}

/// Sets the listener for requests that can be taken, instead of the former one. If some wait
/// already, it is called at once. It may use the server; for what comes while it runs, it is called
/// when it has returned.
///
/// The library drops the context as for `sinew_client_set_listener`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_pulled_server_set_listener(
    server: *const sinew_pulled_server,
    callback: sinew_listener,
    context: *mut c_void,
    drop_context: sinew_drop,
) -> sinew_status {
    status(|| {
        let closure = Closure::new(callback, context, drop_context)?;
        borrow(&server)?.set_listener(listener(closure));
        Ok(())
    })
}

/// Removes the listener.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_pulled_server_clear_listener(
    server: *const sinew_pulled_server,
) -> sinew_status {
    status(|| {
        borrow(&server)?.clear_listener();
        Ok(())
    })
}

/// Gets a server's counters. The caller sets the `size`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_pulled_server_read_statistics(
    server: *const sinew_pulled_server,
    statistics: *mut sinew_server_statistics,
) -> sinew_status {
    status(|| {
        let server = borrow(&server)?;
        // SAFETY: the caller's structure.
        unsafe { Place::new(statistics, "statistics") }?.fill(server.statistics().into());
        Ok(())
    })
}
