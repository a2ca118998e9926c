//! Publishes encoded messages of 64 bytes and takes each, by the functions of C or by those of Rust on
//! which they stand; for `.ci/instructions`, which counts what the way through C costs.
//!
//!     publish_bytes c|rust MESSAGES
#![expect(unsafe_code, reason = "the functions of C")]

use sinew::erased::MessageType;
use sinew::msg::{GenericType, TypeHash};
use sinew::prelude::*;
use sinew_c::context::{sinew_context, sinew_context_new};
use sinew_c::message::{sinew_message, sinew_message_free};
use sinew_c::message_type::{sinew_message_type, sinew_message_type_known};
use sinew_c::node::{sinew_node, sinew_node_new};
use sinew_c::publisher::{sinew_publisher, sinew_publisher_new, sinew_publisher_publish_bytes};
use sinew_c::subscription::{sinew_subscription, sinew_subscription_new, sinew_subscription_take};
use std::env;
use std::hint::black_box;
use std::ptr::{null, null_mut};

const BYTES: [u8; 64] = {
    let mut bytes = [7; 64];
    (bytes[0], bytes[1], bytes[2], bytes[3]) = (0, 1, 0, 0);
    bytes
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<_> = env::args().collect();
    let [_, how, messages] = &arguments[..] else { panic!("usage: publish_bytes c|rust MESSAGES") };
    let messages: u64 = messages.parse()?;
    match how.as_str() {
        "c" => by_c(messages),
        "rust" => by_rust(messages)?,
        other => panic!("{other} is neither c nor rust"),
    }
    Ok(())
}

/// What the thread does in here is counted for publishing.
#[inline(never)]
fn measured_publish(work: &mut dyn FnMut()) {
    work();
    black_box("published"); // else the compiler makes one function of both
}

/// The same for taking and dropping.
#[inline(never)]
fn measured_take(work: &mut dyn FnMut()) {
    work();
    black_box("taken");
}

fn by_rust(messages: u64) -> sinew::Result<()> {
    let node = Context::builder().shared_memory(false).build()?.node("node")?;
    let known = MessageType::known(GenericType::new("some_msgs/msg/Bytes", TypeHash([7; 32]))?);
    let publisher = node.erased_publisher("bytes", known).create_erased()?;
    let subscription = node.erased_subscription("bytes", known).create_erased()?;
    for _ in 0..messages {
        measured_publish(&mut || {
            let mut draft = publisher.draft(BYTES.len()).expect("there is memory");
            draft.copy_from_slice(black_box(&BYTES));
            publisher.publish(draft).expect("there is room");
        });
        measured_take(&mut || drop(black_box(subscription.take())));
    }
    Ok(())
}

type Take = unsafe extern "C" fn(
    *const sinew_subscription,
    Option<&mut *mut sinew_message>,
    *mut sinew_c::message_info::sinew_message_info,
) -> i32;

fn by_c(messages: u64) {
    let (mut context, mut node): (*mut sinew_context, *mut sinew_node) = (null_mut(), null_mut());
    let (mut publisher, mut subscription): (*mut sinew_publisher, *mut sinew_subscription) =
        (null_mut(), null_mut());
    let mut known: *const sinew_message_type = null();
    let (name, topic) = (c"some_msgs/msg/Bytes".as_ptr(), c"bytes".as_ptr());
    let hash = c"RIHS01_0707070707070707070707070707070707070707070707070707070707070707".as_ptr();
    // SAFETY: zeros are its defaults.
    let mut options: sinew_c::context::sinew_context_options = unsafe { std::mem::zeroed() };
    options.size = size_of_val(&options);
    options.shared_memory = sinew_c::context::SINEW_NO;
    // SAFETY: valid pointers, in this call and all below.
    assert_eq!(unsafe { sinew_context_new(&raw const options, Some(&mut context)) }, 0);
    // SAFETY: as above.
    assert_eq!(unsafe { sinew_node_new(context, c"node".as_ptr(), null(), Some(&mut node)) }, 0);
    // SAFETY: as above.
    assert_eq!(unsafe { sinew_message_type_known(name, hash, Some(&mut known)) }, 0);
    // SAFETY: as above.
    assert_eq!(unsafe { sinew_publisher_new(node, topic, known, null(), Some(&mut publisher)) }, 0);
    // SAFETY: as above.
    assert_eq!(unsafe { sinew_subscription_new(node, topic, known, null(), Some(&mut subscription)) }, 0);
    // As C calls them: through the border of a library, not inlined.
    let publish: unsafe extern "C" fn(*const sinew_publisher, *const u8, usize) -> i32 =
        black_box(sinew_publisher_publish_bytes);
    let take: Take = black_box(sinew_subscription_take);
    let free: unsafe extern "C" fn(*mut sinew_message) = black_box(sinew_message_free);
    for _ in 0..messages {
        measured_publish(&mut || {
            // SAFETY: as above.
            assert_eq!(unsafe { publish(publisher, black_box(BYTES.as_ptr()), BYTES.len()) }, 0);
        });
        measured_take(&mut || {
            let mut message: *mut sinew_message = null_mut();
            // SAFETY: as above.
            assert_eq!(unsafe { take(subscription, Some(&mut message), null_mut()) }, 0);
            // SAFETY: as above.
            unsafe { free(message) };
        });
    }
}
