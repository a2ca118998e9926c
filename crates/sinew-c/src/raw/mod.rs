//! The raw layer: topics, queues and variables of bytes by name, for programs without nodes.
//!
//! | file | contents |
//! |---|---|
//! | `value` | bytes from C, and places of C into which bytes are read |
//! | `space` | a presence among the names of a domain |
//! | `topic`, `queue`, `variable` | the explicit form: a handle for each name |
//! | `names` | the short form: one call with a name; the process's table of opened names |
//!
//! Both forms stand on `sinew_shm::raw`, with values of type `[u8]`: a `Topic<[u8]>` of Rust meets
//! them.

pub mod names;
pub mod queue;
pub mod space;
pub mod topic;
pub mod value;
pub mod variable;
