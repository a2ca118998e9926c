//! Callbacks of servers and clients in groups, run by an executor of Rust.

use super::*;
use crate::client::{
    sinew_client, sinew_client_call, sinew_client_call_then, sinew_client_free, sinew_client_new,
    sinew_client_options,
};
use crate::context::{sinew_context, sinew_context_free};
use crate::group::GroupHandle;
use crate::message::{sinew_message_encoded, sinew_message_free, sinew_message_from_bytes};
use crate::message_type::sinew_message_type;
use crate::node::sinew_node_free;
use crate::service_type::{
    sinew_service_type_known, sinew_service_type_request, sinew_service_type_response,
};
use crate::test_support::{made, served_node};
use sinew::Executor;
use sinew::error::{ErrorCode, SpinError};
use sinew::executor::FaultPolicy;
use std::mem::zeroed;
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering::SeqCst};
use std::time::Duration;

/// The last byte of a message.
fn value_of(message: *mut sinew_message) -> u8 {
    let (mut bytes, mut length) = (ptr::null(), 0);
    // SAFETY: the caller's message.
    assert_eq!(unsafe { sinew_message_encoded(message, Some(&mut bytes), Some(&mut length)) }, 0);
    // SAFETY: the bytes of the message.
    let value = unsafe { std::slice::from_raw_parts(bytes, length) }[length - 1];
    // SAFETY: the caller's message, given up here.
    unsafe { sinew_message_free(message) };
    value
}

fn message(of: *const sinew_message_type, value: u8) -> *mut sinew_message {
    let bytes = [0, 1, 0, 0, value];
    // SAFETY: valid pointers.
    made(|place| unsafe { sinew_message_from_bytes(of, bytes.as_ptr(), bytes.len(), place) })
}

/// The context of callbacks.
struct Seen {
    response_type: *const sinew_message_type,
    request: AtomicI32,
    response: AtomicI32,
    result: sinew_status,
}

unsafe extern "C" fn double(
    context: *mut c_void,
    request: *mut sinew_message,
    info: *const sinew_request_info,
    responder: *mut sinew_responder,
) -> sinew_status {
    // SAFETY: the context is a `Seen`.
    let seen = unsafe { &*context.cast::<Seen>() };
    // SAFETY: valid during the call.
    assert_eq!(unsafe { &*info }.size, size_of::<sinew_request_info>());
    let value = value_of(request);
    seen.request.store(value.into(), SeqCst);
    // SAFETY: the callback's responder and message.
    assert_eq!(unsafe { sinew_responder_respond(responder, message(seen.response_type, 2 * value)) }, 0);
    seen.result
}

unsafe extern "C" fn take(
    context: *mut c_void,
    status: sinew_status,
    response: *mut sinew_message,
) -> sinew_status {
    // SAFETY: the context is a `Seen`.
    let seen = unsafe { &*context.cast::<Seen>() };
    assert_eq!(status, 0);
    seen.response.store(value_of(response).into(), SeqCst);
    seen.result
}

struct Room {
    context: *mut sinew_context,
    node: *mut sinew_node,
    types: *const sinew_service_type,
    executor: Executor,
}

impl Room {
    fn new(executor: Executor) -> Self {
        let (context, node) = served_node(&executor);
        let hash = c"RIHS01_0808080808080808080808080808080808080808080808080808080808080808";
        let name = c"some_msgs/srv/Double";
        // SAFETY: valid pointers; so are all below.
        let types = made(|place| unsafe { sinew_service_type_known(name.as_ptr(), hash.as_ptr(), place) });
        Self { context, node, types, executor }
    }

    fn seen(&self, result: sinew_status) -> Seen {
        // SAFETY: a valid pointer.
        let response_type = unsafe { sinew_service_type_response(self.types) };
        Seen { response_type, request: AtomicI32::new(0), response: AtomicI32::new(0), result }
    }

    fn server(&self, group: *const sinew_group, seen: &Seen) -> *mut sinew_server {
        // SAFETY: zeros are its defaults.
        let mut options: sinew_server_options = unsafe { zeroed() };
        (options.size, options.group) = (size_of_val(&options), group);
        let (options, context) = (&raw const options, ptr::from_ref(seen).cast_mut().cast());
        // SAFETY: valid pointers; the context outlives the room.
        made(|place| unsafe {
            sinew_server_new(
                self.node,
                c"double".as_ptr(),
                self.types,
                options,
                Some(double),
                context,
                None,
                place,
            )
        })
    }

    fn client(&self, group: *const sinew_group) -> *mut sinew_client {
        // SAFETY: zeros are its defaults.
        let mut options: sinew_client_options = unsafe { zeroed() };
        (options.size, options.group) = (size_of_val(&options), group);
        let (node, types) = (self.node, self.types);
        // SAFETY: valid pointers.
        made(|place| unsafe { sinew_client_new(node, c"double".as_ptr(), types, &raw const options, place) })
    }

    fn request(&self, value: u8) -> *mut sinew_message {
        // SAFETY: a valid pointer.
        message(unsafe { sinew_service_type_request(self.types) }, value)
    }

    fn call_then(&self, client: *const sinew_client, value: u8, seen: &Seen) {
        let context = ptr::from_ref(seen).cast_mut().cast();
        // SAFETY: valid pointers; the context outlives the room.
        let status =
            unsafe { sinew_client_call_then(client, self.request(value), Some(take), context, None, None) };
        assert_eq!(status, 0);
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // SAFETY: handles that nothing else uses; so is that below.
        unsafe { sinew_node_free(self.node) };
        // SAFETY: as above.
        unsafe { sinew_context_free(self.context) };
    }
}

#[test]
fn an_executor_runs_both_callbacks_in_their_groups() {
    let room = Room::new(Executor::single());
    // SAFETY: a handle.
    let node = &unsafe { handle::get(room.node, "node") }.expect("it lives").node;
    let reentrant = handle::new::<sinew_group>(GroupHandle::Reentrant(node.reentrant_group()));
    let exclusive = handle::new::<sinew_group>(GroupHandle::MutuallyExclusive(node.group(())));
    for group in [ptr::null_mut(), reentrant, exclusive] {
        let seen = room.seen(0);
        let (server, client) = (room.server(group, &seen), room.client(group));
        room.call_then(client, 21, &seen);
        assert_eq!(room.executor.spin_all(Duration::from_secs(10)).expect("no failure"), 2);
        assert_eq!((seen.request.load(SeqCst), seen.response.load(SeqCst)), (21, 42));
        // SAFETY: handles that nothing else uses; so are those below.
        unsafe { sinew_client_free(client) };
        // SAFETY: as above.
        unsafe { sinew_server_free(server) };
        // SAFETY: as above.
        unsafe { handle::free(group, "group") };
    }
}

#[test]
fn a_blocking_call_is_answered_by_a_thread_that_spins() {
    let room = Room::new(Executor::single());
    let seen = room.seen(0);
    let (server, client) = (room.server(ptr::null(), &seen), room.client(ptr::null()));
    let stop = room.executor.stop_handle();
    std::thread::scope(|scope| {
        scope.spawn(|| room.executor.spin());
        // SAFETY: valid pointers.
        let response = made(|place| unsafe { sinew_client_call(client, room.request(4), -1, place) });
        assert_eq!(value_of(response), 8);
        stop.stop();
    });
    // SAFETY: handles that nothing else uses; so is that below.
    unsafe { sinew_client_free(client) };
    // SAFETY: as above.
    unsafe { sinew_server_free(server) };
}

#[test]
fn callbacks_that_fail_are_reported_by_the_spin() {
    let executor = Executor::builder().on_error(FaultPolicy::Stop);
    let room = Room::new(executor.build().expect("an executor"));
    let failing = room.seen(sinew_status::from(ErrorCode::NoSpace.number()));
    let (server, client) = (room.server(ptr::null(), &failing), room.client(ptr::null()));
    room.call_then(client, 3, &failing);
    for _ in ["the server's", "the client's"] {
        let Err(SpinError::Failed { error, .. }) = room.executor.spin_some() else { panic!("it failed") };
        assert!(error.to_string().contains("it returned 301"), "{error}");
    }
    assert_eq!((failing.request.load(SeqCst), failing.response.load(SeqCst)), (3, 6));
    // SAFETY: handles that nothing else uses; so is that below.
    unsafe { sinew_client_free(client) };
    // SAFETY: as above.
    unsafe { sinew_server_free(server) };
}
