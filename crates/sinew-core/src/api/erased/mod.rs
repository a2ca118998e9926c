//! Endpoints for messages of any type. Typed endpoints are shells over these.
//!
//! | file | what |
//! |---|---|
//! | `publisher`, `subscription` | the endpoints of topics |
//! | `client`, `server` | the endpoints of services |
//! | `pulled` | servers with requests that are taken by hand |
//! | `pulled_client` | responses that are taken by hand |
//! | `service` | what those two share |

pub(crate) mod client;
pub(crate) mod publisher;
pub(crate) mod pulled;
mod pulled_client;
pub(crate) mod server;
pub(crate) mod service;
pub(crate) mod subscription;

/// Stands for a type that is known at run time only, in the builders that typed and erased
/// endpoints share.
pub enum Erased {}
