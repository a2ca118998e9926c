//! The encoding of a struct, made from its fields.

use super::decoder::Decoder;
use super::encoder::Encoder;
use super::field::Structure;
use super::header::HEADER_SIZE;
use crate::error::DecodeError;
use crate::message::Encoding;
use crate::plain::{Plain, PlainProof};

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
pub(crate) fn encode<T: Structure>(value: &T, encoded: &mut [u8]) {
    let length = encoded.len();
    let mut encoder = Encoder::new(encoded);
    value.encode(&mut encoder);
    let written = HEADER_SIZE + encoder.position();
    assert_eq!(written, length, "the encoded form of this {} has another length than its buffer", T::NAME);
}

pub(crate) fn decode<T: Structure>(encoded: &[u8]) -> Result<T, DecodeError> {
    let mut decoder = Decoder::new(encoded, T::NAME)?;
    T::decode(&mut decoder).map_err(|fault| fault.into_error(T::NAME))
}

fn decode_into<T: Structure>(encoded: &[u8], value: &mut T) -> Result<(), DecodeError> {
    let mut decoder = Decoder::new(encoded, T::NAME)?;
    value.decode_into(&mut decoder).map_err(|fault| fault.into_error(T::NAME))
}
