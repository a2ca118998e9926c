//! A node's parameters. The rules are in [`parameters`](crate::parameters); this module has the
//! handles for programs, and the services for other nodes.
//!
//! | file | what |
//! |---|---|
//! | `node` | a node's methods for its parameters |
//! | `declare` | declaring one: its builder and its handle |
//! | `structs` | declaring a struct of them, and its handle |
//! | `callbacks` | handles of callbacks |
//! | `services` | access for other nodes: the six services, the events |
//! | `convert` | values and descriptors as messages, and back |

pub(crate) mod callbacks;
pub(super) mod convert;
pub(crate) mod declare;
pub(crate) mod node;
pub(super) mod services;
pub(crate) mod structs;
