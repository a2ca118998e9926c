//! Sinew on the network, in the form of ROS 2's rmw_zenoh.
//!
//! A [`Gateway`] brings the ends of a domain to the network, and those of the network to the domain:
//! programs of ROS 2 (Jazzy and later, with `RMW_IMPLEMENTATION=rmw_zenoh_cpp`) and Sinew's on other
//! hosts. It is a participant of the domain like any other, so it needs to be told nothing by the
//! programs there. One is enough for a host: `sinew gateway`, or embedded in a program.
//!
//! A [`Router`] is what ROS 2's sessions find each other by, `rmw_zenohd`: `sinew router`.
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
//! What is there: [`gateway`] the gateway, [`config`] how sessions are configured, [`router`]
//! routers, [`rules`] what may pass, [`wire`] what rmw_zenoh writes, [`look`] who a router knows.
//! The engine is zenoh's; nothing of it is rebuilt here.

#[cfg(test)]
extern crate self as sinew_zenoh; // as the tests' helpers call it

pub mod config;
pub mod gateway;
pub mod look;
pub mod router;
pub mod rules;
pub mod wire;

pub use gateway::{Gateway, GatewayBuilder, GatewayError};
pub use router::{Router, RouterError};
