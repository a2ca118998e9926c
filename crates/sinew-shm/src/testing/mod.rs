//! Tests of the inside: loom models, property tests, and the layout's document against the code.

#[cfg(not(loom))]
mod layout;
#[cfg(loom)]
mod models;
#[cfg(not(loom))]
mod properties;
#[cfg(not(loom))]
pub(crate) mod recording_observer;
