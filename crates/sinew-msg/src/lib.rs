//! Sinew messages: the traits, their encoding and their definitions.
//!
//! [`Message`] is the only trait that a type needs to be published. A type that stays inside a
//! process needs nothing more; a type that also leaves it has an [`Encoding`]: its ROS 2 name, its
//! type hash, and the functions between the value and its *encoded form*, the bytes in shared
//! memory, on the wire and in a recording (`encoded` in the names of this crate). The derive macro
//! writes the encoding.
//!
//! [`view`] reads a message in its encoded form without decoding it, [`loan`] builds the encoded
//! form directly in the memory that is published, and [`Adapter`] lets a program use its own types.
//! In a build script, `sinew-build` generates all of this from definitions.
//!
//! [`definition`] reads the types in `.msg`, `.srv` and `.action` files. [`description`] holds the
//! descriptions of types that programs announce, and their hashes.
//!
//! ```
//! use sinew_msg::Message;
//!
//! struct Frame {
//!     pixels: Vec<u8>,
//! }
//! impl Message for Frame {} // travels in-process, by ownership, whatever it contains
//!
//! #[derive(Message)]
//! struct Scan {
//!     angles: Vec<f32>,
//!     sensor: String,
//! } // travels anywhere
//! ```
#![deny(unsafe_code)] // except in `plain`, which has a trait that is unsafe to implement, and in the check of strings

#[cfg(not(any(target_pointer_width = "64", miri)))]
compile_error!(
    "Sinew needs a 64-bit target, such as aarch64-unknown-linux-gnu: lengths of messages are 64-bit numbers"
);

mod action;
mod adapter;
pub mod cdr;
pub mod definition;
pub mod description;
pub mod dynamic;
mod error;
mod hash;
pub mod loan;
mod macros;
pub mod message;
mod plain;
mod service;
mod time;
#[cfg(feature = "text")]
mod tree;
mod unseen;
pub mod view;
#[cfg(feature = "text")]
pub mod yaml;

pub use action::Action;
pub use adapter::{Adapted, Adapter};
pub use error::DecodeError;
pub use hash::{ParseTypeHashError, TypeHash};
pub use message::{Encoding, Message};
pub use plain::{Plain, PlainProof};
pub use service::{Service, ServiceType};
pub use sinew_derive::Message;
pub use time::{Stamped, TimeMessage};
pub use unseen::is_unseen;

/// Items for generated code only: they change with the generator.
#[doc(hidden)]
pub mod __private {
    pub use crate::cdr;
    pub use crate::loan;
    pub use crate::plain_slices;
    pub use crate::view;
    pub use crate::{
        Action, Adapted, Adapter, DecodeError, Encoding, Message, Plain, PlainProof, Service, ServiceType,
        Stamped, TimeMessage, TypeHash,
    };
    pub use bytemuck;
}
