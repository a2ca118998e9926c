//! What tools of ROS 2 ask of a running node.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod service_events;
#[path = "../support/mod.rs"]
mod support;
mod topic_statistics;
mod type_descriptions;
