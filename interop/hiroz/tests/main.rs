//! Sinew's gateway and hiroz, each way of connecting them.

#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

mod graph;
mod network;
mod ours;
mod qos;
mod services;
mod theirs;
mod topics;
