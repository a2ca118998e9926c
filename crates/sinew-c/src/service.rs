//! Servers with a callback.

use crate::closure::{Closure, Outcome, listener, outcome, sinew_listener};
use crate::group::{in_group, sinew_group};
use crate::handle::{self, handle};
use crate::message::{from_c, into_c, sinew_message, sinew_uninit_message};
use crate::message_info::sinew_gid;
use crate::node::sinew_node;
use crate::owned::sinew_drop;
use crate::qos::sinew_qos;
use crate::service_qos::ServiceQos;
use crate::service_type::{self, sinew_service_type};
use crate::status::{Failure, Result, answer, sinew_status, status};
use crate::structure::{Place, Structure, structure};
use crate::text::{c_text, text};
use crate::time::{nanoseconds, sinew_duration, sinew_time};
use sinew::erased::{Erased, Request, Responder, Server};
use sinew::error::CreateError;
use sinew::executor::CallbackGroup;
use sinew::msg::Gid;
use sinew::service::{RequestInfo, RequestKey, ServerBuilder, ServerStatistics};
use sinew::{Group, ReentrantGroup};
use std::ffi::{CString, c_char, c_void};

/// Identifies a request at its server: the client, and the request's number at this client.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_request_key {
    /// The client.
    pub client: sinew_gid,
    /// The request's number among those of its client, from 1.
    pub sequence: u64,
}

impl From<RequestKey> for sinew_request_key {
    fn from(key: RequestKey) -> Self {
        Self { client: key.client.into(), sequence: key.sequence }
    }
}

impl From<sinew_request_key> for RequestKey {
    fn from(key: sinew_request_key) -> Self {
        Self { client: Gid(key.client.bytes), sequence: key.sequence }
    }
}

/// What is known about a request.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_request_info {
    /// `sizeof(struct sinew_request_info)`.
    pub size: usize,
    /// Identifies the request.
    pub key: sinew_request_key,
    /// The wall time of the call.
    pub source_time: sinew_time,
    /// The wall time at which the server took the request.
    pub reception_time: sinew_time,
    /// The time from the call to its reception; for a request from another host, from its arrival
    /// at this one.
    pub latency: sinew_duration,
    /// The time from the publication of the first message of the chain that led to this request.
    /// What is published or called in a server's callback continues the chain of its request.
    pub chain_latency: sinew_duration,
    /// The number of the chain's first message, unique among those of one participant.
    pub chain: u64,
}

// SAFETY: C's layout, beginning with the size; all fields are numbers.
unsafe impl Structure for sinew_request_info {
    const NAME: &str = "sinew_request_info";
}

impl From<&RequestInfo> for sinew_request_info {
    fn from(info: &RequestInfo) -> Self {
        Self {
            size: size_of::<Self>(),
            key: info.key().into(),
            source_time: info.source_time().nanoseconds(),
            reception_time: info.reception_time().nanoseconds(),
            latency: nanoseconds(info.latency()),
            chain_latency: nanoseconds(info.chain_latency()),
            chain: info.lineage().id(),
        }
    }
}

/// A service that answers its requests by a callback.
pub struct sinew_server {
    _opaque: (),
}
handle!(sinew_server: ServerHandle);

/// A server with its name as C reads it.
pub(crate) struct ServerHandle {
    pub(crate) server: Server,
    name: CString,
    qos: ServiceQos,
}

/// The way to answer one request: now or later, from any thread.
pub struct sinew_responder {
    _opaque: (),
}
handle!(sinew_responder: Responder);

/// The callback of a server. It owns `request` and `responder`: it answers with
/// [`sinew_responder_respond`] or [`sinew_responder_fail`], at once or later and on any thread, and
/// frees the request with `sinew_message_free`. `info` lives until it returns.
///
/// It returns `SINEW_OK`. Anything else is logged as a failure of the callback; it answers no
/// request.
pub type sinew_request_callback = Option<
    unsafe extern "C" fn(
        context: *mut c_void,
        request: *mut sinew_message,
        info: *const sinew_request_info,
        responder: *mut sinew_responder,
    ) -> sinew_status,
>;

/// The options of [`sinew_server_new`] and `sinew_pulled_server_new`. Zero is the default of every
/// field.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_server_options {
    /// `sizeof(struct sinew_server_options)`.
    pub size: usize,
    /// The group in which the callback runs; the server belongs to the group's node. Null: the
    /// node's default group.
    pub group: *const sinew_group,
    /// The number of requests that may wait or be in hand; callers beyond it fail with
    /// `SINEW_ERROR_TOO_MANY_REQUESTS`. 0: 1000, or the depth of the QoS if that is more.
    pub max_requests: usize,
    /// Whether the callback runs on the thread that calls, or that receives from other processes,
    /// instead of in an executor. Then several threads may run it at once, and it should be short.
    pub is_immediate: bool,
    /// The QoS. Null: that of services. Services are reliable and volatile, and keep every request
    /// until it is answered, so only the history counts, and best effort is served as reliable.
    /// What can't be honoured fails with `SINEW_ERROR_INVALID_QOS`: transient local, a deadline, a
    /// lifespan, a lease, liveliness that is manual by topic.
    pub qos: *const sinew_qos,
}

// SAFETY: C's layout, beginning with the size; zeros are null, `false`, numbers.
unsafe impl Structure for sinew_server_options {
    const NAME: &str = "sinew_server_options";
}

impl sinew_server_options {
    /// Returns the QoS.
    ///
    /// # Safety
    /// The options' pointers are those of the caller.
    pub(crate) unsafe fn qos(&self) -> Result<ServiceQos> {
        // SAFETY: as the caller says.
        unsafe { ServiceQos::new(self.qos) }
    }

    /// Applies what all servers have.
    pub(crate) fn apply<G: CallbackGroup>(
        &self,
        builder: ServerBuilder<Erased, G>,
        qos: ServiceQos,
    ) -> ServerBuilder<Erased, G> {
        builder.max_requests(qos.limit(self.max_requests))
    }
}

/// Builders of servers with a callback that an executor runs: both kinds of groups, one form of
/// callback.
trait CallbackBuilder {
    fn with_callback(self, callback: RequestCallback) -> std::result::Result<Server, CreateError>;
}

impl CallbackBuilder for ServerBuilder<Erased, Group> {
    fn with_callback(self, callback: RequestCallback) -> std::result::Result<Server, CreateError> {
        self.callback_erased(move |(): &mut (), request: Request<'_>| callback.run(request))
    }
}

impl CallbackBuilder for ServerBuilder<Erased, ReentrantGroup> {
    fn with_callback(self, callback: RequestCallback) -> std::result::Result<Server, CreateError> {
        self.callback_erased(move |request: Request<'_>| callback.run(request))
    }
}

type RequestFunction = unsafe extern "C" fn(
    *mut c_void,
    *mut sinew_message,
    *const sinew_request_info,
    *mut sinew_responder,
) -> sinew_status;

struct RequestCallback(Closure<RequestFunction>);

impl RequestCallback {
    fn run(&self, request: Request<'_>) -> Outcome {
        let (function, context) = self.0.parts();
        let info = sinew_request_info::from(&request.info());
        let (message, responder) = request.defer();
        let (message, responder) = (into_c(message), handle::new(responder));
        // SAFETY: the caller's function, with its context; the callback owns message and responder.
        outcome(unsafe { function(context, message, &raw const info, responder) })
    }
}

/// Makes a server that answers its requests by a callback.
///
/// An executor runs the callback, unless the options say that it is immediate. `options` may be
/// null. The caller frees `*server`, which ends the service. The library drops the context of the
/// callback with `drop_context` when the server has ended and no thread runs the callback any more,
/// and also if this function fails.
///
/// Fails with `SINEW_ERROR_SERVICE_TAKEN` if the service has a server in this context, or with
/// `SINEW_ERROR_INVALID_NAME`, `SINEW_ERROR_SHUTDOWN` and so on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_server_new(
    node: *const sinew_node,
    name: *const c_char,
    service_type: *const sinew_service_type,
    options: *const sinew_server_options,
    callback: sinew_request_callback,
    context: *mut c_void,
    drop_context: sinew_drop,
    server: Option<&mut *mut sinew_server>,
) -> sinew_status {
    status(|| {
        let callback = RequestCallback(Closure::new(callback, context, drop_context)?);
        // SAFETY: the caller's handle.
        let node = unsafe { handle::get(node, "node") }?;
        // SAFETY: the caller's text.
        let name = unsafe { text(name, "name") }?;
        // SAFETY: the caller's handle.
        let types = unsafe { service_type::get(service_type, "service_type") }?;
        // SAFETY: the caller's structure.
        let options: sinew_server_options = unsafe { structure(options) }?;
        // SAFETY: the caller's structures.
        let qos = unsafe { options.qos() }?;
        // SAFETY: the caller's handle.
        let group = unsafe { handle::get_optional(options.group, "group") }?;
        let place = server.ok_or_else(|| Failure::null("server"))?;
        let server = in_group!(node, group, |maker| {
            let builder = options.apply(maker.erased_server(name, types), qos);
            if options.is_immediate {
                builder.immediate_callback_erased(move |request| callback.run(request))
            } else {
                builder.with_callback(callback)
            }
        })?;
        let name = c_text(server.name().to_owned());
        *place = handle::new(ServerHandle { server, name, qos });
        Ok(())
    })
}

/// Frees a server, which ends the service: callers that wait fail with `SINEW_ERROR_SERVER_GONE`,
/// and so do those of responders that were not used. Doesn't wait for a callback that runs. Null is
/// allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_server_free(server: *mut sinew_server) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(server, "server") };
}

/// Frees the handle of a server that lives on until its context ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_server_detach(server: *mut sinew_server) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle, which is given up.
        unsafe { handle::take(server, "server") }?.server.detach();
        Ok(())
    })
}

/// Ends the service, as [`sinew_server_free`] does, and waits until no other thread runs its
/// callback. The handle still has to be freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_server_close(server: *const sinew_server) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        unsafe { handle::get(server, "server") }?.server.clone().close();
        Ok(())
    })
}

/// Returns whether the server was closed, or its context was shut down.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_server_is_closed(server: *const sinew_server) -> bool {
    // SAFETY: the caller's handle.
    answer(false, || Ok(unsafe { handle::get(server, "server") }?.server.is_closed()))
}

/// Returns the service's full name, after remapping. The text lives as long as the handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_server_name(server: *const sinew_server) -> *const c_char {
    // SAFETY: the caller's handle.
    answer(std::ptr::null(), || Ok(unsafe { handle::get(server, "server") }?.name.as_ptr()))
}

/// Gets the QoS with which the server receives requests and sends responses: that of services, with
/// the history of its options. The caller sets the `size`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_server_qos(server: *const sinew_server, qos: *mut sinew_qos) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let server = unsafe { handle::get(server, "server") }?;
        // SAFETY: the caller's structure.
        unsafe { server.qos.write(qos) }
    })
}

/// Sets the listener for requests that wait for the callback, instead of the former one: it is
/// called with 1 for each that arrives, on the thread that calls or receives, and at once with the
/// number of those that wait. It counts, or wakes others; the callback gets the requests as before.
/// An immediate callback takes each request at once, so its listener is never called.
///
/// The library drops the context as for `sinew_client_set_listener`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_server_set_listener(
    server: *const sinew_server,
    callback: sinew_listener,
    context: *mut c_void,
    drop_context: sinew_drop,
) -> sinew_status {
    status(|| {
        let closure = Closure::new(callback, context, drop_context)?;
        // SAFETY: the caller's handle.
        unsafe { handle::get(server, "server") }?.server.set_listener(listener(closure));
        Ok(())
    })
}

/// Removes the listener.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_server_clear_listener(server: *const sinew_server) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        unsafe { handle::get(server, "server") }?.server.clear_listener();
        Ok(())
    })
}

/// Counts of a server's requests so far.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_server_statistics {
    /// `sizeof(struct sinew_server_statistics)`.
    pub size: usize,
    /// Requests that entered its queue.
    pub received: u64,
    /// Requests that wait in it now.
    pub waiting: u64,
    /// Requests that are with a responder, or were taken by hand, and have no answer yet.
    pub in_hand: u64,
    /// Responses that reached their callers.
    pub answered: u64,
    /// Errors that reached their callers.
    pub failed: u64,
    /// Requests that were dropped without an answer.
    pub dropped: u64,
    /// Answers that no caller waited for any more.
    pub unclaimed: u64,
    /// Requests that their callers took back from the queue.
    pub withdrawn: u64,
    /// Requests that found the queue full.
    pub refused: u64,
}

// SAFETY: C's layout, beginning with the size; all fields are numbers.
unsafe impl Structure for sinew_server_statistics {
    const NAME: &str = "sinew_server_statistics";
}

impl From<ServerStatistics> for sinew_server_statistics {
    fn from(of: ServerStatistics) -> Self {
        Self {
            size: size_of::<Self>(),
            received: of.received,
            waiting: of.waiting,
            in_hand: of.in_hand,
            answered: of.answered,
            failed: of.failed,
            dropped: of.dropped,
            unclaimed: of.unclaimed,
            withdrawn: of.withdrawn,
            refused: of.refused,
        }
    }
}

/// Gets a server's counters. The caller sets the `size`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_server_read_statistics(
    server: *const sinew_server,
    statistics: *mut sinew_server_statistics,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let server = unsafe { handle::get(server, "server") }?;
        // SAFETY: the caller's structure.
        unsafe { Place::new(statistics, "statistics") }?.fill(server.server.statistics().into());
        Ok(())
    })
}

/// Gets a place for the response in the server's pool, for a placement `new`. Once the pool is
/// warm, allocates nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_responder_uninit_response(
    responder: *const sinew_responder,
    uninit: Option<&mut *mut sinew_uninit_message>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let responder = unsafe { handle::get(responder, "responder") }?;
        handle::put(uninit, "uninit", responder.uninit_response())
    })
}

/// Answers a request, on any thread. Takes over the responder and the response, also if it fails;
/// but if `response` is null, the responder can still be used.
///
/// A response with other references is copied, if its type can; one in encoded form is decoded.
/// Fails with `SINEW_ERROR_RESPONSE_UNCLAIMED` if no caller waits any more. If the response has
/// another type, can't be decoded or copied (`SINEW_ERROR_OTHER_TYPE`, `SINEW_ERROR_UNDECODABLE`,
/// `SINEW_ERROR_NOT_SOLE`), the caller fails with `SINEW_ERROR_REQUEST_DROPPED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_responder_respond(
    responder: *mut sinew_responder,
    response: *mut sinew_message,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's message, which is given up.
        let response = unsafe { from_c(response, "response") }?;
        // SAFETY: the caller's handle, which is given up.
        unsafe { handle::take(responder, "responder") }?.respond(response)?;
        Ok(())
    })
}

/// Answers a request with an error: the caller fails with `SINEW_ERROR_CALLBACK_FAILED` and a
/// sentence that contains `text`, in which what is not UTF-8 is replaced. Takes over the responder,
/// unless `text` is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_responder_fail(
    responder: *mut sinew_responder,
    text: *const c_char,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's text.
        let text = unsafe { crate::text::sentence(text, "text") }?;
        // SAFETY: the caller's handle, which is given up.
        unsafe { handle::take(responder, "responder") }?.fail(text);
        Ok(())
    })
}

/// Returns whether the caller still waits for the answer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_responder_is_awaited(responder: *const sinew_responder) -> bool {
    // SAFETY: the caller's handle.
    answer(false, || Ok(unsafe { handle::get(responder, "responder") }?.is_awaited()))
}

/// Frees a responder without an answer: the caller fails with `SINEW_ERROR_REQUEST_DROPPED`. Null
/// is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_responder_free(responder: *mut sinew_responder) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(responder, "responder") };
}

#[cfg(test)]
#[path = "service_tests.rs"]
mod tests;
