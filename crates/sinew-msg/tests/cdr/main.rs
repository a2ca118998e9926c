//! Derived messages and their encoding, compared with ROS 2's and with hand-made bytes; broken
//! messages.

mod allocations;
mod arbitrary;
mod bounded;
mod broken;
#[path = "../support/codec.rs"]
mod codec;
#[path = "../support/counting.rs"]
mod counting;
mod hashes;
mod plain;
mod reference;
mod types;
mod varying;

use codec::{decode, decode_into, encode, encoding};
