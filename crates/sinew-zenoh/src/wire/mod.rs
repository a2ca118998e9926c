//! ROS 2 on the network, as rmw_zenoh has it: what is written into keys and beside messages.
//!
//! | file | what |
//! |---|---|
//! | `name` | names of types, as DDS has them, and of topics |
//! | `key` | keys of topics and services |
//! | `token` | liveliness tokens: which nodes and ends there are |
//! | `qos` | their QoS |
//! | `gid` | the identity of an end |
//! | `buffer` | the additional endpoints of Lyrical, for types with large byte fields |
//! | `attachment` | what goes beside a message |
//! | `session_id` | the ids of gateways' sessions |
//!
//! The source of all constants is rmw_zenoh's design document (`docs/design.md` of
//! `ros2/rmw_zenoh`) and what its releases for Jazzy, Kilted and Lyrical send. Nothing that comes
//! from there is trusted: each parser takes any text, and says what is wrong with it.

pub mod attachment;
pub mod buffer;
pub mod gid;
pub mod key;
pub mod name;
pub mod qos;
pub mod session_id;
pub mod token;
