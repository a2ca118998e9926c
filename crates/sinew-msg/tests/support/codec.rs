//! Encoding and decoding one message.
#![allow(dead_code, reason = "each test binary uses its own part")]

use sinew_msg::{DecodeError, Encoding, Message};

/// Returns the encoding of a derived or generated type.
pub(crate) fn encoding<T: Message>() -> &'static Encoding<T> {
    T::ENCODING.expect("derived and generated types have one")
}

/// Returns the encoded form.
pub(crate) fn encode<T: Message>(value: &T) -> Vec<u8> {
    let mut encoded = vec![0xee; (encoding::<T>().size)(value)]; // padding must be written as well
    (encoding::<T>().encode)(value, &mut encoded);
    encoded
}

/// Decodes into a new value.
pub(crate) fn decode<T: Message>(encoded: &[u8]) -> Result<T, DecodeError> {
    (encoding::<T>().decode)(encoded)
}

/// Decodes into an existing value.
pub(crate) fn decode_into<T: Message>(encoded: &[u8], value: &mut T) -> Result<(), DecodeError> {
    (encoding::<T>().decode_into)(encoded, value)
}
