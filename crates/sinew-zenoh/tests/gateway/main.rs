//! Gateways between domains, and with sessions that behave as a ROS 2 node does.
#![expect(clippy::disallowed_methods, reason = "other threads are waited for in real time")]

mod clocks;
mod cuts;
mod descriptions;
mod faults;
mod graph;
mod leading;
mod link;
mod network;
mod protocols;
mod qos;
mod reports;
mod secure;
mod services;
mod topics;
