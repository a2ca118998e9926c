//! Services: requests from clients to a server, and its answers. (The design's section 9.)
//!
//! | file | what |
//! |---|---|
//! | `server` | servers, and their entities in an executor |
//! | `client` | clients, and the delivery of results to callbacks |
//! | `call` | waiting for an answer: as a thread, as a task |
//! | `responder` | from a request to its answer, now or later |
//! | `tasks` | the futures of an asynchronous server |
//! | `callback` | the forms callbacks may have |
//! | `info` | what is known about a request |
//! | `error` | what goes wrong |
//!
//! The type-erased way between them is in `delivery`: `services` (who is there), `requests` (a
//! server's queue), `calls` (a client's calls).

pub(crate) mod call;
mod callback;
pub(crate) mod client;
mod error;
mod info;
mod responder;
pub(crate) mod server;
mod tasks;

pub use call::PendingCall;
pub use callback::{AsyncServiceCallback, CallResult, Given, Reply, ResponseCallback, ServiceCallback};
pub use client::{Client, ClientBuilder, ClientStatistics};
pub use error::{CallError, CallFailure, RespondError};
pub use info::RequestInfo;
pub use responder::Responder;
pub use server::{Server, ServerStatistics, ServiceBuilder};
