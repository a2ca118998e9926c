//! Clients of services.

use crate::closure::{Closure, listener, outcome, sinew_listener};
use crate::group::{in_group, sinew_group};
use crate::handle::{self, handle};
use crate::message::{from_c, into_c, sinew_message, sinew_uninit_message};
use crate::message_info::sinew_gid;
use crate::node::sinew_node;
use crate::owned::sinew_drop;
use crate::qos::sinew_qos;
use crate::service_qos::ServiceQos;
use crate::service_type::{self, sinew_service_type};
use crate::status::{Failure, OK, Result, answer, put, sinew_status, status};
use crate::structure::{Place, Structure, structure};
use crate::text::{c_text, text};
use crate::time::{nanoseconds, sinew_duration, sinew_time, timeout};
use sinew::erased::{CallResult, Client, Erased};
use sinew::error::CreateError;
use sinew::executor::CallbackGroup;
use sinew::service::{ClientBuilder, ClientStatistics, RequestId, ResponseInfo};
use std::ffi::{CString, c_char, c_void};

/// The way to call a service.
pub struct sinew_client {
    _opaque: (),
}
handle!(sinew_client: ClientHandle);

/// A client with its name as C reads it.
pub(crate) struct ClientHandle {
    pub(crate) client: Client,
    name: CString,
    qos: ServiceQos,
}

/// The options of [`sinew_client_new`]. Zero is the default of every field.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_client_options {
    /// `sizeof(struct sinew_client_options)`.
    pub size: usize,
    /// The group in which callbacks for responses run; the client belongs to the group's node.
    /// Null: the node's default group.
    pub group: *const sinew_group,
    /// The number of requests sent by [`sinew_client_send`] that have no response yet, or one that
    /// was not taken; further ones fail with `SINEW_ERROR_TOO_MANY_RESPONSES`. 0: 1000, or the
    /// depth of the QoS if that is more.
    pub max_responses: usize,
    /// The time for which a thread that waits for another process polls before it sleeps. 0: it
    /// sleeps at once.
    pub spin_before_park: sinew_duration,
    /// The QoS, as in `sinew_server_options`. Null: that of services.
    pub qos: *const sinew_qos,
}

// SAFETY: C's layout, beginning with the size; zeros are null and numbers.
unsafe impl Structure for sinew_client_options {
    const NAME: &str = "sinew_client_options";
}

/// Makes a client of a service. There needn't be a server yet.
///
/// `options` may be null. The caller frees `*client`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_client_new(
    node: *const sinew_node,
    name: *const c_char,
    service_type: *const sinew_service_type,
    options: *const sinew_client_options,
    client: Option<&mut *mut sinew_client>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let node = unsafe { handle::get(node, "node") }?;
        // SAFETY: the caller's text.
        let name = unsafe { text(name, "name") }?;
        // SAFETY: the caller's handle.
        let types = unsafe { service_type::get(service_type, "service_type") }?;
        // SAFETY: the caller's structure.
        let options = unsafe { structure(options) }?;
        // SAFETY: the caller's structure.
        let qos = unsafe { ServiceQos::new(options.qos) }?;
        // SAFETY: the caller's handle.
        let group = unsafe { handle::get_optional(options.group, "group") }?;
        let made = in_group!(node, group, |maker| create(maker.erased_client(name, types), &options, qos))?;
        let name = c_text(made.name().to_owned());
        handle::put(client, "client", ClientHandle { client: made, name, qos })
    })
}

fn create<G: CallbackGroup<State = ()>>(
    mut builder: ClientBuilder<Erased, G>,
    options: &sinew_client_options,
    qos: ServiceQos,
) -> std::result::Result<Client, CreateError> {
    builder = builder.max_responses(qos.limit(options.max_responses));
    if options.spin_before_park != 0 {
        builder = builder.spin_before_park(timeout(options.spin_before_park));
    }
    builder.create_erased()
}

/// Frees a client. Callbacks that did not run are dropped, and so are responses that were not
/// taken; a call that can be polled keeps the client. Null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_client_free(client: *mut sinew_client) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(client, "client") };
}

/// Ends the client, and waits until its callback for a response, if that is running on another
/// thread, has returned; not for those of `sinew_client_call_then_immediately`, nor in its own
/// callback. Callbacks that wait for a response are dropped; threads that wait for one, and later
/// calls, fail with `SINEW_ERROR_CLOSED`. The handle is still to be freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_client_close(client: *const sinew_client) -> sinew_status {
    status(|| {
        borrow(&client)?.clone().close();
        Ok(())
    })
}

/// Returns the service's full name, after remapping. The text lives as long as the handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_client_name(client: *const sinew_client) -> *const c_char {
    // SAFETY: the caller's handle.
    answer(std::ptr::null(), || Ok(unsafe { handle::get(client, "client") }?.name.as_ptr()))
}

/// Gets the QoS with which the client sends requests and receives responses: that of services, with
/// the history of its options. The caller sets the `size`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_client_qos(client: *const sinew_client, qos: *mut sinew_qos) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let client = unsafe { handle::get(client, "client") }?;
        // SAFETY: the caller's structure.
        unsafe { client.qos.write(qos) }
    })
}

/// Gets the client's gid, as servers see it in `sinew_request_key`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_client_gid(
    client: *const sinew_client,
    gid: Option<&mut sinew_gid>,
) -> sinew_status {
    status(|| put(gid, "gid", borrow(&client)?.gid().into()))
}

/// Gets a place for a request in the client's pool, for a placement `new`. Once the pool is warm,
/// allocates nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_client_uninit(
    client: *const sinew_client,
    uninit: Option<&mut *mut sinew_uninit_message>,
) -> sinew_status {
    status(|| handle::put(uninit, "uninit", borrow(&client)?.uninit()))
}

/// Returns whether there is a server with the client's types.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_client_is_server_ready(client: *const sinew_client) -> bool {
    answer(false, || Ok(borrow(&client)?.is_server_ready()))
}

/// Blocks until there is a server with the client's types. Returns false if none came within
/// `timeout` (negative: for ever), or if the context was shut down. Not for callbacks: the thread
/// does nothing else meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_client_wait_for_server(
    client: *const sinew_client,
    timeout: sinew_duration,
) -> bool {
    answer(false, || Ok(borrow(&client)?.wait_for_server(crate::time::timeout(timeout))))
}

/// Returns the client of a handle of the caller's, for as long as the caller's pointer is there.
pub(crate) fn borrow(client: &*const sinew_client) -> Result<&Client> {
    // SAFETY: the caller's handle, which no thread frees during the call.
    Ok(&unsafe { handle::get(*client, "client") }?.client)
}

/// Calls the service and waits for the response, for at most `timeout` (negative: for ever). Takes
/// over the request, also if it fails. The caller owns `*response`.
///
/// In a callback, the waiting thread runs the server itself if it can, so one thread is enough for
/// a chain of calls; calls can be nested 64 deep. Fails with `SINEW_ERROR_NO_SERVER`,
/// `SINEW_ERROR_TIMEOUT`, `SINEW_ERROR_SERVER_GONE`, `SINEW_ERROR_CALLBACK_FAILED` (the server
/// answered with an error), `SINEW_ERROR_WOULD_DEADLOCK` and so on.
///
/// A request with other references is copied, if its type can (else `SINEW_ERROR_NOT_SOLE`); one in
/// encoded form is decoded. Keep a reference of your own to send it again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_client_call(
    client: *const sinew_client,
    request: *mut sinew_message,
    timeout: sinew_duration,
    response: Option<&mut *mut sinew_message>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's message, which is given up.
        let request = unsafe { from_c(request, "request") }?;
        let place = response.ok_or_else(|| Failure::null("response"))?;
        let answer = borrow(&client)?.call(request, crate::time::timeout(timeout))?;
        *place = into_c(answer);
        Ok(())
    })
}

/// The callback of one call, run by the executor of the client's group. If `status` is `SINEW_OK`,
/// it owns `response`. Otherwise `response` is null, and `sinew_error_message()` says in this
/// thread why there is none.
///
/// It returns `SINEW_OK`. Anything else is a failure of the callback, which its executor reports.
pub type sinew_response_callback = Option<
    unsafe extern "C" fn(
        context: *mut c_void,
        status: sinew_status,
        response: *mut sinew_message,
    ) -> sinew_status,
>;

/// The callback of one call, run on the thread that answers. Otherwise as
/// [`sinew_response_callback`].
pub type sinew_immediate_response_callback =
    Option<unsafe extern "C" fn(context: *mut c_void, status: sinew_status, response: *mut sinew_message)>;

/// The result of a call for C. The sentence of a failure is this thread's last one.
fn result_of(result: CallResult) -> (sinew_status, *mut sinew_message) {
    match result {
        Ok(response) => (OK, into_c(response)),
        Err(error) => (Failure::from(error).keep(), std::ptr::null_mut()),
    }
}

/// Calls the service. The executor of the client's group runs the callback with the result, once.
/// Never blocks. Takes over the request, also if it fails.
///
/// `id` may be null; `*id` is for [`sinew_client_give_up`]. The library drops the context with
/// `drop_context` when the callback has run or never will, because the client was freed, the
/// request was given up or this function fails. Fails if the request was not accepted: with
/// `SINEW_ERROR_TOO_MANY_REQUESTS` and so on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_client_call_then(
    client: *const sinew_client,
    request: *mut sinew_message,
    callback: sinew_response_callback,
    context: *mut c_void,
    drop_context: sinew_drop,
    id: Option<&mut sinew_request_id>,
) -> sinew_status {
    status(|| {
        let callback = Closure::new(callback, context, drop_context);
        // SAFETY: the caller's message, which is given up.
        let request = unsafe { from_c(request, "request") }?;
        let callback = callback?;
        let given = borrow(&client)?.call_then(request, move |result: CallResult| {
            let (status, response) = result_of(result);
            let (function, context) = callback.parts();
            // SAFETY: the caller's function, with its context; the callback owns the response.
            outcome(unsafe { function(context, status, response) })
        })?;
        if let Some(id) = id {
            *id = given.into();
        }
        Ok(())
    })
}

/// Calls the service. The callback runs with the result, once, on the thread that answers (for a
/// server of another process: on the thread that receives), perhaps before this function returns.
/// It should be short, and may publish and call. Never blocks. Takes over the request, also if it
/// fails.
///
/// `id` may be null; `*id` is for [`sinew_client_withdraw`]. The library drops the context as for
/// [`sinew_client_call_then`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_client_call_then_immediately(
    client: *const sinew_client,
    request: *mut sinew_message,
    callback: sinew_immediate_response_callback,
    context: *mut c_void,
    drop_context: sinew_drop,
    id: Option<&mut sinew_request_id>,
) -> sinew_status {
    status(|| {
        let callback = Closure::new(callback, context, drop_context);
        // SAFETY: the caller's message, which is given up.
        let request = unsafe { from_c(request, "request") }?;
        let callback = callback?;
        let given = borrow(&client)?.call_then_immediately(request, move |result| {
            let (status, response) = result_of(result);
            let (function, context) = callback.parts();
            // SAFETY: the caller's function, with its context; the callback owns the response.
            unsafe { function(context, status, response) };
        })?;
        if let Some(id) = id {
            *id = given.into();
        }
        Ok(())
    })
}

/// Identifies a request among those of its client.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct sinew_request_id {
    /// The request's number among those of its client, from 1. With the client's gid it is the
    /// `sinew_request_key` by which the server knows the request.
    pub sequence: u64,
    /// For the client.
    pub place: u32,
}

impl From<RequestId> for sinew_request_id {
    fn from(id: RequestId) -> Self {
        Self { sequence: id.sequence(), place: id.place() }
    }
}

impl From<sinew_request_id> for RequestId {
    fn from(id: sinew_request_id) -> Self {
        Self::from_parts(id.sequence, id.place)
    }
}

/// What a client knows about a response, or about the failure that stands for it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_response_info {
    /// `sizeof(struct sinew_response_info)`.
    pub size: usize,
    /// The id that [`sinew_client_send`] returned.
    pub id: sinew_request_id,
    /// `SINEW_OK`, or the reason why the call failed.
    pub status: sinew_status,
    /// The wall time at which the server answered, or the call failed. For a server of another
    /// host, the time at which its answer reached this one.
    pub source_time: sinew_time,
    /// The wall time at which the program took the response.
    pub reception_time: sinew_time,
    /// The time from the answer to its reception.
    pub latency: sinew_duration,
}

// SAFETY: C's layout, beginning with the size; all fields are numbers.
unsafe impl Structure for sinew_response_info {
    const NAME: &str = "sinew_response_info";
}

impl sinew_response_info {
    fn new(info: &ResponseInfo, status: sinew_status) -> Self {
        Self {
            size: size_of::<Self>(),
            id: info.id().into(),
            status,
            source_time: info.source_time().nanoseconds(),
            reception_time: info.reception_time().nanoseconds(),
            latency: nanoseconds(info.latency()),
        }
    }
}

/// Calls the service; the program takes the response by [`sinew_client_take_response`], and
/// recognises it by `*id`. For event loops of other libraries: no executor and no callback runs.
/// Never blocks. Takes over the request, also if it fails.
///
/// Each accepted request brings one response to take. Until it is taken, or the request is
/// withdrawn or given up, the call counts against `max_responses` of the client's options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_client_send(
    client: *const sinew_client,
    request: *mut sinew_message,
    id: Option<&mut sinew_request_id>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's message, which is given up.
        let request = unsafe { from_c(request, "request") }?;
        let place = id.ok_or_else(|| Failure::null("id"))?;
        *place = borrow(&client)?.send(request)?.into();
        Ok(())
    })
}

/// Takes the response that came first of those that were not taken yet. `*taken` says whether there
/// was one. If the call succeeded, the caller owns `*response`. If it failed, `*response` is null,
/// `info->status` is the reason, and `sinew_error_message()` is its sentence. `info` may be null;
/// otherwise the caller sets its `size`. Never blocks; any thread may take.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_client_take_response(
    client: *const sinew_client,
    taken: Option<&mut bool>,
    response: Option<&mut *mut sinew_message>,
    info: *mut sinew_response_info,
) -> sinew_status {
    status(|| {
        let client = borrow(&client)?;
        let taken = taken.ok_or_else(|| Failure::null("taken"))?;
        let place = response.ok_or_else(|| Failure::null("response"))?;
        // SAFETY: the caller's structure.
        let info = (!info.is_null()).then(|| unsafe { Place::new(info, "info") }).transpose()?;
        (*taken, *place) = (false, std::ptr::null_mut());
        let Some((result, about)) = client.take_response() else { return Ok(()) };
        *taken = true;
        let (status, response) = result_of(result);
        *place = response;
        if let Some(info) = info {
            info.fill(sinew_response_info::new(&about, status));
        }
        Ok(())
    })
}

/// Gives up a request that was sent, also one with a callback, which is dropped: its response will
/// not come, or is dropped if it waits to be taken. A request that no server has taken is dropped
/// as well. For calls with a time limit. Returns false if the response was taken already, and for
/// an id that this client never returned. Never blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_client_give_up(client: *const sinew_client, id: sinew_request_id) -> bool {
    answer(false, || Ok(borrow(&client)?.give_up(id.into())))
}

/// Takes back a request that was sent, or one with an immediate callback, if no server has taken
/// it: then no server will, the caller owns `*request`, there is no response, and the callback is
/// dropped. Otherwise `*request` is null. Never blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_client_withdraw(
    client: *const sinew_client,
    id: sinew_request_id,
    request: Option<&mut *mut sinew_message>,
) -> sinew_status {
    status(|| {
        let place = request.ok_or_else(|| Failure::null("request"))?;
        *place = borrow(&client)?.withdraw(id.into()).map_or(std::ptr::null_mut(), into_c);
        Ok(())
    })
}

/// Sets the listener for responses that can be taken, or wait for a callback of
/// [`sinew_client_call_then`], instead of the former one. If some wait already, it is called at
/// once. It may use the client; for what comes while it runs, it is called when it has returned.
///
/// The library drops the context when the listener is replaced or cleared, or the client ends, and
/// also if this function fails. A thread that gives a response just then may call the listener once
/// more, before the context is dropped.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_client_set_listener(
    client: *const sinew_client,
    callback: sinew_listener,
    context: *mut c_void,
    drop_context: sinew_drop,
) -> sinew_status {
    status(|| {
        let closure = Closure::new(callback, context, drop_context)?;
        borrow(&client)?.set_listener(listener(closure));
        Ok(())
    })
}

/// Removes the listener.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_client_clear_listener(client: *const sinew_client) -> sinew_status {
    status(|| {
        borrow(&client)?.clear_listener();
        Ok(())
    })
}

/// Counts of a client's calls so far.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_client_statistics {
    /// `sizeof(struct sinew_client_statistics)`.
    pub size: usize,
    /// Calls, including those that were not accepted.
    pub calls: u64,
    /// Calls that were answered with a response.
    pub answered: u64,
    /// Calls that ended with an error other than a timeout.
    pub failed: u64,
    /// Calls that were given up, and timeouts.
    pub abandoned: u64,
    /// Calls that wait for their answer now.
    pub waiting: u64,
}

// SAFETY: C's layout, beginning with the size; all fields are numbers.
unsafe impl Structure for sinew_client_statistics {
    const NAME: &str = "sinew_client_statistics";
}

impl From<ClientStatistics> for sinew_client_statistics {
    fn from(of: ClientStatistics) -> Self {
        Self {
            size: size_of::<Self>(),
            calls: of.calls,
            answered: of.answered,
            failed: of.failed,
            abandoned: of.abandoned,
            waiting: of.waiting,
        }
    }
}

/// Gets a client's counters. The caller sets the `size`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_client_read_statistics(
    client: *const sinew_client,
    statistics: *mut sinew_client_statistics,
) -> sinew_status {
    status(|| {
        let client = borrow(&client)?;
        // SAFETY: the caller's structure.
        unsafe { Place::new(statistics, "statistics") }?.fill(client.statistics().into());
        Ok(())
    })
}
