//! Sinew on the network, in the form of ROS 2's rmw_zenoh.
//!
//! A [`Gateway`] brings the endpoints of a domain to the network, and those of the network to the
//! domain: programs of ROS 2 (Jazzy and later, with `RMW_IMPLEMENTATION=rmw_zenoh_cpp`) and Sinew
//! programs on other hosts. It is a participant of the domain like any other, so the other programs
//! need no configuration. One gateway is enough for a host: `sinew gateway`, or a gateway embedded
//! in a program.
//!
//! A [`Router`] lets ROS 2's sessions find each other, as `rmw_zenohd` does: `sinew router`.
//!
//! ```no_run
//! use sinew::prelude::*;
//! use sinew_zenoh::Gateway;
//!
//! let context = Context::new()?;
//! let gateway = Gateway::builder().connect("tcp/10.0.0.7:7447").start(&context)?;
//! // .. nodes of this context, and of others of its domain, are on the network
//! gateway.close();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Modules: [`gateway`] is the gateway, [`config`] configures sessions, [`router`] runs routers,
//! [`rules`] decides what may pass, [`wire`] holds rmw_zenoh's formats, [`look`] asks a router for
//! its nodes. The engine is zenoh itself; nothing of it is rebuilt here.

#[cfg(test)]
extern crate self as sinew_zenoh; // the tests' helpers use this name

pub mod config;
pub mod gateway;
pub mod look;
pub mod router;
pub mod rules;
pub mod wire;

pub use gateway::{Gateway, GatewayBuilder, GatewayError};
pub use router::{Router, RouterError};
