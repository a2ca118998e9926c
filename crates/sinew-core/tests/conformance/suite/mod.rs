//! The scenarios, the stage on which they play, and what makes tests of them.
//!
//! It names no path: who includes it has some, and says with [`conformance!`] over which of them
//! the scenarios of a list are played, with which runners.
//!
//! A scenario that doesn't hold over every path says where it does:
//!
//! | | holds |
//! |---|---|
//! | `[one_process]` | where it is known who waits for whom |
//! | `[apart]` | where there are two contexts |
//! | `[one_host what]` | where messages go through memory; `what` is what a network can't keep, in a word |
//! | `(rust what)` | for this crate's own interface; `what` is what those of other languages lack, in a word |
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

pub(crate) mod events;
pub(crate) mod faults;
pub(crate) mod groups;
pub(crate) mod hands;
pub(crate) mod histories;
pub(crate) mod lifetime;
#[macro_use]
mod lists;
pub(crate) mod nodes;
pub(crate) mod order;
pub(crate) mod pauses;
pub(crate) mod pressure;
pub(crate) mod rust_only;
pub(crate) mod services;
pub(crate) mod stage;
pub(crate) mod stopping;
#[path = "../../support/mod.rs"]
pub(crate) mod support;
pub(crate) mod time;
