//! Tests of internal parts.

#[cfg(all(test, not(loom)))]
mod departures;
#[cfg(all(test, loom))]
mod models;
#[cfg(all(test, not(loom)))]
mod properties;
#[cfg(all(test, not(loom)))]
mod sinks;

pub(crate) mod idle;
