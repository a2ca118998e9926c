//! The generated types: their encoding is ROS 2's, in both byte orders, and broken messages are
//! refused.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod adapters;
mod allocations;
mod arbitrary;
mod check;
#[path = "../../../sinew-msg/tests/support/counting.rs"]
mod counting;
mod definitions;
mod every;
mod names;
mod random;
mod stamped;
mod tree;
mod vectors;
mod views;

use sinew_msg::{DecodeError, Encoding, Message};

fn encoding<T: Message>() -> &'static Encoding<T> {
    T::ENCODING.expect("generated types have one")
}

fn encode<T: Message>(value: &T) -> Vec<u8> {
    let mut encoded = vec![0xee; (encoding::<T>().size)(value)]; // padding must be written as well
    (encoding::<T>().encode)(value, &mut encoded);
    encoded
}

fn decode<T: Message>(encoded: &[u8]) -> Result<T, DecodeError> {
    (encoding::<T>().decode)(encoded)
}

fn decode_into<T: Message>(encoded: &[u8], value: &mut T) -> Result<(), DecodeError> {
    (encoding::<T>().decode_into)(encoded, value)
}
