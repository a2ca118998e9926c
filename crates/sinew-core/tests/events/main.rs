//! What handlers are told: deadlines, liveliness, listeners.

mod deadline;
mod listeners;
mod liveliness;
#[path = "../support/mod.rs"]
mod support;
