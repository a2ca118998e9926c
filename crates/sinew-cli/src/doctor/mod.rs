//! `sinew doctor`: checks this machine's settings for shared memory and the gateway to the network,
//! and says how to correct them.

mod finding;
mod graph;
mod idle;
mod knock;
mod limits;
mod network;
mod options;
mod place;
mod ros2;
#[cfg(feature = "gateway")]
mod router;
mod run;
mod stuck;
mod types;

pub(crate) use run::run;
