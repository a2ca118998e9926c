//! The generated types: their encoding is ROS 2's, in both byte orders, and broken messages are
//! refused.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod adapters;
mod allocations;
mod arbitrary;
mod check;
#[path = "../../../sinew-msg/tests/support/codec.rs"]
mod codec;
#[path = "../../../sinew-msg/tests/support/counting.rs"]
mod counting;
mod definitions;
mod every;
mod names;
mod random;
mod stamped;
mod time;
mod tree;
mod vectors;
mod views;

use codec::{decode, decode_into, encode, encoding};
