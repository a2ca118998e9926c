//! Endpoints for messages of any type, for bindings to other languages, bags and gateways.
//!
//! Programs of Rust use [`Publisher<T>`](crate::Publisher) and its like, which are shells over
//! these. Here the type is a value of the run time, a [`MessageType`]:
//!
//! | made by | messages |
//! |---|---|
//! | [`MessageType::register`] | values of another language, described by a [`TypeTable`] |
//! | [`MessageType::of`], [`of_clone`](MessageType::of_clone) | values of a type of Rust |
//! | [`MessageType::known`] | encoded bytes of a type that is known by name and hash only |
//!
//! Inside a process endpoints of one type exchange pointers: what C++ publishes by a `unique_ptr`
//! reaches a subscription that owns its messages at the same address, and is copied only if another
//! subscription gets it as well. Between processes, and between types of one name and hash (a C++
//! class and the type of Rust), messages pass in their encoded form. Each
//! [message](Message) is a counted reference, which becomes a raw pointer and comes back from one.
//!
//! Builders are those of typed endpoints, with [`Erased`] in the type's place:
//! [`erased_publisher`](crate::Node::erased_publisher),
//! [`erased_subscription`](crate::Node::erased_subscription),
//! [`erased_client`](crate::Node::erased_client), [`erased_server`](crate::Node::erased_server), of
//! a node or a group. They end with `create_erased`, `callback_erased` or
//! `immediate_callback_erased`. A callback has one form: it gets the group's state and the message
//! ([`Taken`]) or [`Request`], with their ownership.
//!
//! Failures have numeric codes: [`ErrorCode`](crate::error::ErrorCode).
//!
//! ```
//! use sinew::erased::{MessageType, TypeTable};
//! use sinew::prelude::{Context, QoS};
//! use std::alloc::Layout;
//! use std::ptr::NonNull;
//!
//! // A class as another language would describe it: here a number in a box.
//! unsafe fn free(_: *const (), memory: *mut u8) {
//!     // SAFETY: the memory of a box without its value.
//!     drop(unsafe { Box::from_raw(memory.cast::<std::mem::MaybeUninit<u64>>()) });
//! }
//! let mut table = TypeTable::new("Counter", Layout::new::<u64>());
//! table.free = Some(free);
//! // SAFETY: the function does what it should, on any thread, until the process ends.
//! let counter = unsafe { MessageType::register(None, table) }?;
//!
//! let context = Context::new()?;
//! let node = context.node("binding")?;
//! let publisher = node.erased_publisher("counters", counter).qos(QoS::new()).create_erased()?;
//! let subscription = node.erased_subscription("counters", counter).create_erased()?;
//! let value = NonNull::from(Box::leak(Box::new(7_u64))).cast::<u8>();
//! // SAFETY: a value in a box, given up here.
//! let message = unsafe { publisher.adopt(value) }.expect("it can be freed");
//! publisher.publish(message)?;
//!
//! let (message, _info) = subscription.take().expect("it was published");
//! assert_eq!(message.value(), Some(value)); // where it was
//! let value = message.into_adopted().expect("nobody else has it");
//! // SAFETY: it is the box's again.
//! assert_eq!(*unsafe { Box::from_raw(value.cast::<u64>().as_ptr()) }, 7);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use crate::api::erased::Erased;
pub use crate::api::erased::client::{Client, PendingCall};
pub use crate::api::erased::publisher::{PublishError, Publisher};
pub use crate::api::erased::pulled::PulledServer;
pub use crate::api::erased::server::Server;
pub use crate::api::erased::service::{
    CallError, CallResult, Request, RespondError, Responder, ServiceTypes,
};
pub use crate::api::erased::subscription::Subscription;
pub use crate::api::receive::RecvTaken;
pub use crate::executor::prefetch::Hint;
pub use crate::message::erased::{Message, MessageRef, Taken, UninitMessage};
pub use crate::message::registered::{EncodingTable, MessageType, TypeError, TypeTable};
