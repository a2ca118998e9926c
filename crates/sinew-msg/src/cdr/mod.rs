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
//! let mut image = vec![0; (encoding.size)(&reading)];
//! (encoding.encode)(&reading, &mut image);
//! assert_eq!(image, [0, 1, 0, 0, /* valid */ 1, 0, 0, 0, /* volts */ 0, 0, 0x80, 0x3f]);
//! assert_eq!((encoding.decode)(&image), Ok(reading));
//! ```

mod bounded;
pub mod bulk;
mod containers;
mod decoder;
mod defaults;
mod encoder;
mod field;
mod named;
mod numbers;
mod run;
mod wide;

#[doc(hidden)]
pub use crate::description; // named by the derive macro's code
use crate::error::DecodeError;
use crate::message::Encoding;
use crate::plain::{Plain, PlainProof};
pub use bounded::{BoundedString, BoundedVec, BoundedWString, TooMany};
pub(crate) use bounded::{text_beyond, wide_text_beyond};
pub(crate) use containers::text_bytes;
pub use decoder::{Decoder, Fault};
#[doc(hidden)]
pub use defaults::{bounded_sequence, bounded_text}; // named by generated code
pub use encoder::Encoder;
pub use field::{Field, Structure};
#[doc(hidden)]
pub use named::decode_field; // likewise
pub use run::{DecoderRun, EncoderRun};
pub use wide::WString;

/// Length of the header in bytes. Alignment counts from its end.
pub const HEADER_SIZE: usize = 4;

/// The header of every message written here: little-endian CDR, no options.
pub const HEADER: [u8; HEADER_SIZE] = [0, 1, 0, 0];

/// Returns the encoding of a struct, made from its fields.
#[must_use]
pub const fn encoding<T: Structure>() -> Encoding<T> {
    let description = Some(T::DESCRIPTION);
    let stamp = T::STAMP;
    Encoding {
        name: T::NAME,
        hash: T::HASH,
        description,
        size,
        encode,
        decode,
        decode_into,
        plain: None,
        stamp,
    }
}

/// Returns the encoding of a struct with values that can be written and read in place.
#[must_use]
pub const fn plain_encoding<T: Structure + Plain>() -> Encoding<T> {
    Encoding { plain: PlainProof::new(), ..encoding() }
}

fn size<T: Structure>(value: &T) -> usize {
    HEADER_SIZE + value.end(0)
}

/// Panics if the length of the buffer is not the one that `size` returns.
pub(crate) fn encode<T: Structure>(value: &T, image: &mut [u8]) {
    let length = image.len();
    let mut encoder = Encoder::new(image);
    value.encode(&mut encoder);
    let written = HEADER_SIZE + encoder.position();
    assert_eq!(written, length, "the image of this {} has another length than its buffer", T::NAME);
}

pub(crate) fn decode<T: Structure>(image: &[u8]) -> Result<T, DecodeError> {
    let mut decoder = Decoder::new(image, T::NAME)?;
    T::decode(&mut decoder).map_err(|fault| fault.into_error(T::NAME))
}

fn decode_into<T: Structure>(image: &[u8], value: &mut T) -> Result<(), DecodeError> {
    let mut decoder = Decoder::new(image, T::NAME)?;
    value.decode_into(&mut decoder).map_err(|fault| fault.into_error(T::NAME))
}

/// Returns the first multiple of `alignment`, a power of two, from `at` on.
#[must_use]
#[inline]
pub const fn aligned(at: usize, alignment: usize) -> usize {
    debug_assert!(alignment.is_power_of_two());
    (at + alignment - 1) & !(alignment - 1)
}
