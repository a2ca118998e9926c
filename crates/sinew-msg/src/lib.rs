//! What a Sinew message is.
//!
//! [`Message`] is the one trait a type needs to be published. A type that only travels inside a
//! process says nothing more; a type that also leaves it carries an [`Encoding`]: its ROS 2 name,
//! its type hash and the functions between the value and its *image* (its bytes in shared memory,
//! on the wire and in a recording). The derive macro writes it.
//!
//! [`view`] reads a message where its image lies, [`loan`] makes an image where it is published,
//! and [`Adapter`] lets a program use types of its own. In a build script, `sinew-build` generates
//! all of this from definitions.
//!
//! Types that others know from `.msg`, `.srv` and `.action` files are in [`definition`]; what a
//! program tells others of its types, and the hash of that, in [`description`].
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
#![deny(unsafe_code)] // but for `plain`, which has a trait that is unsafe to implement, and the check of strings

#[cfg(not(any(target_pointer_width = "64", miri)))]
compile_error!(
    "Sinew needs a 64-bit target, such as aarch64-unknown-linux-gnu: lengths of images are 64-bit numbers"
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

/// What generated code names, and nothing else should: it changes as the generator does.
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
