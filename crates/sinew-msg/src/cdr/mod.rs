//! The encoded form of a message: CDR, as in ROS 2 and DDS.
//!
//! Messages are written as XCDR version 1 in little-endian order; both byte orders are read. (OMG
//! DDS-XTypes 1.3, section 7.4; where it leaves a choice, ROS 2's middlewares are followed.)
//!
//! | part | bytes |
//! |---|---|
//! | header | `00 01` (little endian; `00 00`: big endian), two bytes of ignored options |
//! | a number | its bytes, aligned to its size. Offsets count from the end of the header |
//! | `bool` | one byte, 0 or 1 |
//! | `String` | a `u32`: length in bytes with a NUL at the end; the bytes, the NUL |
//! | [`WString`] | a `u32`: number of UTF-16 units; 4 bytes for each |
//! | `Vec` | a `u32`: number of elements; the elements |
//! | [`BoundedString`], [`BoundedWString`], [`BoundedVec`] | as without the bound |
//! | an array | its elements |
//! | a struct | its fields in order, with padding only for alignment; without fields, a byte 0 |
//!
//! Padding is written as zeros and may be anything when read. Bytes after the last field are
//! accepted, since some writers round the length up.
//!
//! [`Field`] is the trait of field types; [`derive(Message)`](macro@crate::Message) implements it
//! for a struct. This code allocates only for the strings and sequences of decoded values. Before
//! the elements of a sequence are read, it reserves no more bytes for them than remain in the
//! message, whatever length the sequence claims.
//!
//! ```
//! use sinew_msg::Message;
//!
//! #[derive(Message, Debug, PartialEq)]
//! struct Reading {
//!     valid: bool,
//!     volts: f32,
//! }
//!
//! let encoding = Reading::ENCODING.unwrap();
//! let reading = Reading { valid: true, volts: 1.0 };
//! let mut encoded = vec![0; (encoding.size)(&reading)];
//! (encoding.encode)(&reading, &mut encoded);
//! assert_eq!(encoded, [0, 1, 0, 0, /* valid */ 1, 0, 0, 0, /* volts */ 0, 0, 0x80, 0x3f]);
//! assert_eq!((encoding.decode)(&encoded), Ok(reading));
//! ```

mod bounded;
pub mod bulk;
mod containers;
mod decoder;
mod defaults;
mod encoder;
mod encoding;
mod field;
mod header;
mod named;
mod numbers;
mod run;
mod wide;

#[doc(hidden)]
pub use crate::description; // named by the derive macro's code
pub use bounded::{BoundedString, BoundedVec, BoundedWString, TooMany};
pub(crate) use bounded::{text_beyond, wide_text_beyond};
pub(crate) use containers::text_bytes;
pub use decoder::{Decoder, Fault};
#[doc(hidden)]
pub use defaults::{bounded_sequence, bounded_text}; // named by generated code
pub use encoder::Encoder;
pub(crate) use encoding::{decode, encode};
pub use encoding::{encoding, plain_encoding};
pub use field::{Field, Structure};
pub use header::{HEADER, HEADER_SIZE, aligned};
#[doc(hidden)]
pub use named::decode_field; // likewise
pub use run::{DecoderRun, EncoderRun};
pub use wide::WString;
