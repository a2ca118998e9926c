//! Scenario `net`: messages to another host through gateways, beside a bare zenoh session with the
//! same configuration, and the cost of gateways for programs that don't need them. The hosts are
//! directories of this host, and their network is loopback; both ends of a path have the same
//! clock.

mod calls;
mod cases;
mod chain;
mod hosts;
mod idle;
mod messages;
mod one_by_one;
mod others;

pub(crate) use cases::measure;
pub(crate) use hosts::GatewayProcess;
