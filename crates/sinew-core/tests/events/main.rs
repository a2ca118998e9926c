//! Events: deadlines, liveliness, listeners.

mod deadline;
mod listeners;
mod liveliness;
mod statuses;
#[path = "../support/mod.rs"]
mod support;
