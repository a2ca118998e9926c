//! Derived messages and their encoding, compared with ROS 2's and with hand-made bytes; broken
//! messages.

mod allocations;
mod arbitrary;
mod bounded;
mod broken;
#[path = "../support/counting.rs"]
mod counting;
mod hashes;
mod plain;
mod reference;
mod types;
mod varying;

use sinew_msg::{DecodeError, Encoding, Message};

fn encoding<T: Message>() -> &'static Encoding<T> {
    T::ENCODING.expect("the derive gives one")
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
