//! Sinew's gateway and hiroz, each way of connecting them.

#![allow(clippy::unwrap_used, reason = "a test that fails says where")]
#![allow(clippy::duplicate_mod, reason = "values are written once, for the types of both")]

mod graph;
mod network;
mod ours;
mod protocols;
mod qos;
mod services;
mod theirs;
mod topics;
