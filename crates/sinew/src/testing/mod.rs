//! Tests of the inside.

#[cfg(all(test, loom))]
mod models;
#[cfg(all(test, not(loom)))]
mod properties;

pub(crate) mod idle;
