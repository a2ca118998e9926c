//! What a program sees of nodes, their names, callbacks, clocks and faults, and of the graph.
//!
//! One program, as none of these tests needs a process of its own.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod callbacks;
mod faults;
mod graph;
mod limits;
mod makers;
mod names;
mod service_events;
mod simulated_time;
#[path = "../support/mod.rs"]
mod support;
mod topic_statistics;
mod type_descriptions;
