//! Services: requests from clients to a server, and its answers. (The design's section 9.)
//!
//! | file | what |
//! |---|---|
//! | `server` | servers, and their entities in an executor |
//! | `client` | clients, and the delivery of results to callbacks |
//! | `client_core` | what all handles of a client have in common |
//! | `call` | waiting for an answer: as a thread, as a task |
//! | `responder` | from a request to its answer, now or later |
//! | `tasks` | the futures of an asynchronous server |
//! | `callback` | the forms callbacks may have |
//! | `given` | requests and responses as they may be given |
//! | `info` | what is known about a request |
//! | `error` | what goes wrong |
//!
//! The type-erased way between them is in `delivery`: `services` (who is there), `requests` (a
//! server's queue), `calls` (a client's calls).

pub(crate) mod call;
mod callback;
pub(crate) mod client;
mod client_core;
mod error;
mod given;
mod info;
mod responder;
pub(crate) mod server;
mod tasks;

pub use crate::failure::CallFailure;
pub use call::PendingCall;
pub use callback::{AsyncServiceCallback, CallResult, Reply, ResponseCallback, ServiceCallback};
pub use client::{Client, ClientBuilder, ClientStatistics};
pub use error::{CallError, RespondError};
pub use given::Given;
pub use info::RequestInfo;
pub use responder::Responder;
pub use server::{Server, ServerStatistics, ServiceBuilder};
