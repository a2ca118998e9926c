//! ROS 2 on the network, in rmw_zenoh's formats: keys, and the data beside messages.
//!
//! | file | content |
//! |---|---|
//! | `name` | names of types, in DDS's form, and of topics |
//! | `key` | keys of topics and services |
//! | `token` | liveliness tokens, which announce nodes and endpoints |
//! | `qos` | their QoS |
//! | `gid` | the identity of an endpoint |
//! | `buffer` | the additional endpoints of Lyrical, for types with large byte fields |
//! | `attachment` | the data beside a message |
//! | `session_id` | the ids of gateways' sessions |
//!
//! The source of all constants is rmw_zenoh's design document (`docs/design.md` of
//! `ros2/rmw_zenoh`) and the output of its releases for Jazzy, Kilted and Lyrical. Data from there
//! is never trusted: each parser accepts any text, and reports the problem with it.

pub mod attachment;
pub mod buffer;
pub mod gid;
pub mod key;
pub mod name;
pub mod qos;
pub mod session_id;
pub mod token;
