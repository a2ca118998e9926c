//! Callbacks, run by an executor of Rust.

use super::*;
use crate::context::{sinew_context, sinew_context_free};
use crate::message::{sinew_message_encoded_length, sinew_message_free};
use crate::message_type::sinew_message_type_known;
use crate::node::sinew_node_free;
use crate::publisher::{
    sinew_publisher, sinew_publisher_free, sinew_publisher_new, sinew_publisher_publish_bytes,
};
use crate::test_support::{made, served_node};
use sinew::Executor;
use sinew::error::SpinError;
use sinew::executor::{FaultPolicy, StopHandle};
use std::mem::zeroed;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Barrier};

const BYTES: [u8; 8] = [0, 1, 0, 0, 1, 2, 3, 4];

struct Room {
    context: *mut sinew_context,
    node: *mut sinew_node,
    message_type: *const sinew_message_type,
    publisher: *mut sinew_publisher,
    executor: Executor,
}

impl Room {
    fn new(executor: Executor) -> Self {
        let (context, node) = served_node(&executor);
        let hash = c"RIHS01_0707070707070707070707070707070707070707070707070707070707070707";
        let name = c"some_msgs/msg/Bytes";
        // SAFETY: valid pointers; so are all below.
        let message_type =
            made(|place| unsafe { sinew_message_type_known(name.as_ptr(), hash.as_ptr(), place) });
        // SAFETY: as above.
        let publisher = made(|place| unsafe {
            sinew_publisher_new(node, c"topic".as_ptr(), message_type, ptr::null(), place)
        });
        Self { context, node, message_type, publisher, executor }
    }

    fn subscribe(
        &self,
        options: &sinew_subscription_options,
        callback: Callback,
        seen: &Seen,
    ) -> *mut sinew_subscription {
        let context = ptr::from_ref(seen).cast_mut().cast();
        let Self { node, message_type, .. } = *self;
        // SAFETY: valid pointers; the context outlives the room.
        made(|place| unsafe {
            sinew_subscription_new_with_callback(
                node,
                c"topic".as_ptr(),
                message_type,
                options,
                Some(callback),
                context,
                Some(dropped),
                place,
            )
        })
    }

    fn publish(&self) {
        // SAFETY: valid pointers.
        let status = unsafe { sinew_publisher_publish_bytes(self.publisher, BYTES.as_ptr(), BYTES.len()) };
        assert_eq!(status, 0);
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // SAFETY: handles that nothing else uses; so are those below.
        unsafe { sinew_publisher_free(self.publisher) };
        // SAFETY: as above.
        unsafe { sinew_node_free(self.node) };
        // SAFETY: as above.
        unsafe { sinew_context_free(self.context) };
    }
}

/// The context of callbacks.
struct Seen {
    messages: AtomicU64,
    infos: AtomicU64,
    dropped: AtomicU64,
    result: sinew_status,
    subscription: std::sync::atomic::AtomicPtr<sinew_subscription>,
    meeting: Barrier,
    /// Ends the spin when as many calls were made.
    stop: Option<(StopHandle, Arc<AtomicU64>)>,
}

impl Seen {
    fn new(result: sinew_status) -> Self {
        Self {
            messages: AtomicU64::new(0),
            infos: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            result,
            subscription: std::sync::atomic::AtomicPtr::new(ptr::null_mut()),
            meeting: Barrier::new(2),
            stop: None,
        }
    }

    fn counts(&self) -> [u64; 3] {
        [&self.messages, &self.infos, &self.dropped].map(|count| count.load(SeqCst))
    }
}

unsafe extern "C" fn dropped(context: *mut c_void) {
    // SAFETY: the context is a `Seen`.
    let seen = unsafe { &*context.cast::<Seen>() };
    seen.dropped.fetch_add(1, SeqCst);
}

unsafe extern "C" fn see(
    context: *mut c_void,
    message: *mut sinew_message,
    info: *const sinew_message_info,
) -> sinew_status {
    // SAFETY: the context is a `Seen`.
    let seen = unsafe { &*context.cast::<Seen>() };
    // SAFETY: a reference of the callback's.
    assert_eq!(unsafe { sinew_message_encoded_length(message) }, BYTES.len());
    // SAFETY: as above.
    unsafe { sinew_message_free(message) };
    seen.messages.fetch_add(1, SeqCst);
    // SAFETY: null, or valid during the call.
    if let Some(info) = unsafe { info.as_ref() } {
        assert_eq!((info.size, info.reception_sequence), (size_of_val(info), info.publication_sequence));
        seen.infos.fetch_add(1, SeqCst);
    }
    // SAFETY: a handle, or null.
    unsafe { sinew_subscription_free(seen.subscription.swap(ptr::null_mut(), SeqCst)) };
    if let Some((stop, left)) = &seen.stop
        && left.fetch_sub(1, SeqCst) == 1
    {
        stop.stop();
    }
    seen.result
}

/// Returns once two of them run at the same time.
unsafe extern "C" fn meet(
    context: *mut c_void,
    message: *mut sinew_message,
    info: *const sinew_message_info,
) -> sinew_status {
    // SAFETY: the context is a `Seen`.
    let seen = unsafe { &*context.cast::<Seen>() };
    seen.meeting.wait();
    // SAFETY: passed on.
    unsafe { see(context, message, info) }
}

fn options() -> sinew_subscription_options {
    // SAFETY: zeros are its defaults.
    let mut options: sinew_subscription_options = unsafe { zeroed() };
    options.size = size_of_val(&options);
    options
}

#[test]
fn a_callback_owns_its_message_and_gets_its_info() {
    let (seen, bare) = (Seen::new(0), Seen::new(0));
    let room = Room::new(Executor::single());
    let subscription = room.subscribe(&options(), see, &seen);
    let without = sinew_subscription_options { message_info: crate::context::SINEW_NO, ..options() };
    let other = room.subscribe(&without, see, &bare);
    room.publish();
    room.publish();
    assert_eq!(room.executor.spin_some().expect("no failure"), 4);
    assert_eq!((seen.counts(), bare.counts()), ([2, 2, 0], [2, 0, 0]));
    for subscription in [subscription, other] {
        // SAFETY: a handle that nothing else uses.
        unsafe { sinew_subscription_free(subscription) };
    }
    assert_eq!((seen.counts(), bare.counts()), ([2, 2, 1], [2, 0, 1]));
}

#[test]
fn a_callback_frees_its_own_subscription() {
    let seen = Seen::new(0);
    let room = Room::new(Executor::single());
    let subscription = room.subscribe(&options(), see, &seen);
    seen.subscription.store(subscription, SeqCst);
    room.publish();
    room.publish();
    assert_eq!(room.executor.spin_some().expect("no failure"), 1);
    assert_eq!(seen.counts(), [1, 1, 1], "the context is dropped after the call");
}

#[test]
fn a_callback_that_fails_is_reported_by_the_spin() {
    let seen = Seen::new(sinew_status::from(ErrorCode::NoSpace.number()));
    let executor = Executor::builder().on_error(FaultPolicy::Stop);
    let room = Room::new(executor.build().expect("an executor"));
    let subscription = room.subscribe(&options(), see, &seen);
    room.publish();
    let Err(SpinError::Failed { error, .. }) = room.executor.spin_some() else { panic!("it failed") };
    let sentence = format!("{error:#?} {error}");
    assert!(sentence.contains("it returned 301: The shared memory has no room."), "{sentence}");
    // SAFETY: a handle that nothing else uses.
    unsafe { sinew_subscription_free(subscription) };
}

#[test]
fn groups_say_whether_callbacks_run_at_once() {
    let (mut met, mut seen) = (Seen::new(0), Seen::new(0));
    let executor = Executor::multi(2);
    let stop = Some((executor.stop_handle(), Arc::new(AtomicU64::new(8))));
    (met.stop, seen.stop) = (stop.clone(), stop);
    let room = Room::new(executor);
    // SAFETY: a handle.
    let node = &unsafe { handle::get(room.node, "node") }.expect("it lives").node;
    let together = handle::new::<sinew_group>(GroupHandle::Reentrant(node.reentrant_group()));
    let apart = handle::new::<sinew_group>(GroupHandle::MutuallyExclusive(node.group(())));
    let mut subscriptions = Vec::new();
    for (group, callback, context) in [(together, meet as Callback, &met), (apart, see, &seen)] {
        let options = sinew_subscription_options { group, ..options() };
        subscriptions.push(room.subscribe(&options, callback, context));
    }
    (0..4).for_each(|_| room.publish());
    room.executor.spin().expect("no failure");
    assert_eq!([met.counts()[0], seen.counts()[0]], [4, 4]);
    for subscription in subscriptions {
        // SAFETY: a handle that nothing else uses.
        unsafe { sinew_subscription_free(subscription) };
    }
    for group in [together, apart] {
        // SAFETY: as above.
        unsafe { handle::free(group, "group") };
    }
}
