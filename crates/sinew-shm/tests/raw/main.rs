//! The raw layer: topics, queues and variables between processes.
//!
//! The tests follow what Morn's topics, queues and variates do, and where those break.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests: no virtual time, and a panic is how they fail"
)]

mod names;
mod processes;
mod queues;
mod topics;
mod variables;
