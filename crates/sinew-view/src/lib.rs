//! A live view of a domain: a server to which [Foxglove](https://foxglove.dev), Lichtblick and
//! other viewers of their protocol connect.
//!
//! [`ViewServer`] offers the topics of a context's domain, with the definitions of their types, to
//! any number of viewers, and subscribes to those that they look at. Where it is allowed, viewers
//! publish, call services, set parameters and control a bag that is played, too. It speaks
//! `foxglove.sdk.v1` and its forerunner `foxglove.websocket.v1`.

mod assets;
mod catalogue;
mod error;
mod hub;
mod images;
mod job;
mod parameters;
mod playback;
mod pump;
mod requests;
mod server;
mod session;
mod settings;
mod socket;
mod wire;

pub use error::ViewError;
pub use hub::ViewStatistics;
pub use server::{ViewServer, ViewServerBuilder};
pub use settings::TypeDefinition;
