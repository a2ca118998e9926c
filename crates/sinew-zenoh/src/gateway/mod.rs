//! The gateway.
//!
//! | file | contents |
//! |---|---|
//! | `serve` | the gateway's thread: handles one change after the other |
//! | `worker` | its state: all endpoints, topics and services |
//! | `local_ends`, `remote_ends` | endpoints of this host and of the network come and go |
//! | `introductions` | first calls of clients, which wait until their programs are connected |
//! | `router_search` | looks for a router |
//! | `thread` | opens the session when the gateway leads, and closes it |
//! | `observer` | watches the domain, and reports each change to that thread |
//! | `change` | all changes that are reported to it |
//! | `leader` | selects the leading one of a domain's gateways |
//! | `builder`, `handle` | the program's side: [`GatewayBuilder`] and [`Gateway`] |
//! | `start`, `shared` | the configuration, and the state that all threads share |
//! | `route_ends` | a topic: its endpoints on both sides |
//! | `plan` | decides which of a topic's paths are open |
//! | `route` | a topic: its names and counters, for the threads that carry messages |
//! | `local_publisher`, `carrier` | local publishers' messages, to the network |
//! | `congestion`, `heavy`, `turns`, `priority` | the order of messages on a slow link |
//! | `incoming`, `arrival`, `remote_publisher` | remote publishers' messages, to this host |
//! | `history`, `held` | messages that remote publishers retain |
//! | `qos_class` | the QoS by which publishers share a path |
//! | `descriptions` | descriptions, for tools, of types that only the network has |
//! | `services` | servers and clients of both sides |
//! | `callers` | threads that make calls beside the gateway's thread |
//! | `sessions` | the sessions of the network, their reachability and their clocks |
//! | `reports` | the counters of all this, where tools read them |
//!
//! Messages don't pass through the gateway's thread. The thread that publishes a message, or
//! received it from another process, puts it into the session, or leaves it to the thread that
//! waits for a slow link. The session's threads publish incoming messages.

mod arrival;
mod builder;
mod callers;
mod carrier;
mod change;
mod congestion;
mod descriptions;
mod error;
mod handle;
mod heavy;
mod held;
#[cfg(test)]
mod held_up;
mod history;
mod incoming;
mod introductions;
mod leader;
mod local_ends;
mod local_publisher;
mod observer;
mod plan;
mod priority;
mod qos_class;
mod remote_ends;
mod remote_publisher;
mod reports;
mod route;
mod route_ends;
mod router_search;
mod serve;
mod services;
mod sessions;
mod shared;
mod start;
mod statistics;
mod thread;
mod turns;
mod worker;

pub use builder::GatewayBuilder;
pub use error::GatewayError;
pub use handle::Gateway;
pub use statistics::{GatewayStatistics, RouteStatistics};
