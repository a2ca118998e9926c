//! Services: what servers answer, what clients call, and what both know of a call.

// From a client to a server and back. (The design's section 9.)
//
// | file | what |
// |---|---|
// | `registry` | which services there are, with their servers and clients |
// | `request_queue` | the queue of a service, from its clients to its server; servers elsewhere (`RemoteServer`, `RemoteServerConnection`) |
// | `pending_calls` | a client's calls, and the way back to them; clients elsewhere (`RemoteClient`) |
// | `responder` | from a request to its answer, now or later |
// | `async_tasks` | the futures of an asynchronous server |
// | `reply` | what a server's callback may return |
// | `types` | what both ends of a service have to agree on |
// | `info` | what is known about a request |
// | `failure`, `error` | what goes wrong; and with the message that comes back |

pub(crate) mod async_tasks;
pub(crate) mod error;
pub(crate) mod failure;
pub(crate) mod info;
pub(crate) mod pending_calls;
pub(crate) mod registry;
pub(crate) mod reply;
pub(crate) mod request_queue;
pub(crate) mod responder;
pub(crate) mod types;

service_face!();
pub use crate::message::into_message::IntoUnique;
pub use info::RequestInfo;
pub use reply::{CallResult, Reply};
pub use responder::Responder;
