//! Services: servers, clients, and the state that both share about a call.

// # A call is two directed messages
//
// A request goes to one server, under the number that its client gave the call. The answer goes
// back to that call and to no other: the request carries a `ReplyTo`, which answering consumes.
// Only this value and the queue know whether client and server are in one process.
//
// | step | thread |
// |---|---|
// | begin | the caller |
// | push | the caller; for a client elsewhere the thread that reads its line |
// | forward | the caller, if the server is elsewhere |
// | take | a worker, or a caller that runs the server |
// | answer | any thread, once: the `ReplyTo` goes with it |
// | take the answer | the caller, or the executor of its callback |
// | give up | the caller |
//
// | step | under a lock | afterwards, under none |
// |---|---|---|
// | begin | pending calls: place and number for the call | |
// | push | request queue: limit, types, place by stamp; announced if nothing was | signals (1) |
// | forward | the line: notes the line in the call, then writes | |
// | take | request queue | the callback |
// | answer | pending calls: outcome; or the line | wakes the caller |
// | take the answer | pending calls: frees the place | |
// | give up | pending calls, then request queue: takes the request back | |
//
// (1) Signals the executor, or the caller runs the server.
//
// A client and a server of one process also meet if their types are the same by name and hash, but
// held in different forms (one generic, for example): the thread that takes the request converts it
// to the server's form, and the one that answers converts the answer to the client's. A waiting
// request stays as it was, since it may be handed back.
//
// How a caller learns that there will be no answer:
//
// - The server is removed. A request that waits in the queue: `close` gives it back. A request that
//   a server took: its `ReplyToken` still answers, or fails when it is dropped. A request that went
//   to another process: the line's end fails the call; a request that wasn't sent is queued again.
// - The context ends. A request that waits in the queue: `end` gives it back. Any other request:
//   `end` fails the call.
// - It can't be sent, read or answered. A request of another form that waits in the queue: a
//   failure, with the request. One that a server took: a failure. A request that went to another
//   process: a failure in its place, later if there is no room; all calls of the line fail if it
//   isn't known which call it belongs to.
//
// | file | contents |
// |---|---|
// | `registry` | the services of a context |
// | `request_queue` | the queue of a service, with its server (`ServerCore`) and clients |
// | `request` | a request and its answer's target (`ReplyTo`); clients elsewhere |
// | `pending_calls` | a client's calls, and servers elsewhere (`RemoteServer`) |
// | `responder` | from a request to its answer, now or later |
// | `async_tasks` | the futures of an asynchronous server |
// | `reply` | the return types of a server's callback |
// | `statistics` | counters of clients and servers |
// | `types` | the types that both sides of a service have to agree on |
// | `info` | metadata of a request |
// | `observed` | watching an endpoint's requests and responses |
// | `failure`, `error` | reasons of failure; and errors that hand back the message |
//
// Imports: registry -> request_queue -> request -> pending_calls -> types, failure.

pub(crate) mod async_tasks;
pub(crate) mod error;
pub(crate) mod failure;
pub(crate) mod info;
pub(crate) mod observed;
pub(crate) mod pending_calls;
pub(crate) mod registry;
pub(crate) mod reply;
pub(crate) mod request;
pub(crate) mod request_queue;
pub(crate) mod responder;
pub(crate) mod statistics;
pub(crate) mod types;

service_face!();
pub use info::{RequestInfo, RequestKey};
pub use reply::{CallResult, Reply};
pub use statistics::{ClientStatistics, ServerStatistics};
