//! The types that programs hold and name: typed, thin.
//!
//! | file | what |
//! |---|---|
//! | `context` | a process's presence in a domain |
//! | `node` | names, and what is made under them |
//! | `node_builder` | making nodes |
//! | `makers` | the same under a group |
//! | `publisher`, `subscription` | the ends of topics |
//! | `receive` | awaiting messages |
//! | `client`, `client_core`, `call` | clients; what all handles of one have in common; waiting for an answer: as a thread, as a task |
//! | `server` | servers, and their tasks in an executor |
//! | `callback`, `service_callback` | the forms callbacks may have |
//! | `generic` | ends of types that are known at run time only; nodes that stand for ends of other hosts |
//! | `handlers` | the `on_..` handlers that builders collect |
//! | `hints` | what a context says of itself after a while |
//! | `timer`, `guard` | timers, guard conditions |
//! | `work_queue` | closures and futures posted to a group |
//! | `parameters`, `parameter_client` | a node's parameters, and those of others |
//! | `qos_overrides` | a QoS that parameters change |
//! | `introspection` | what ends publish of themselves: statistics, service events |
//! | `type_descriptions` | the types a node uses, for others to ask |
//! | `descriptor` | file descriptors of the program's own |
//! | `error` | the one error that all others turn into |

pub(crate) mod call;
pub(crate) mod callback;
pub(crate) mod client;
pub(crate) mod client_core;
pub(crate) mod context;
pub(crate) mod descriptor;
pub(crate) mod error;
pub(crate) mod generic;
pub(crate) mod guard;
pub(crate) mod handlers;
mod hints;
pub(crate) mod introspection;
mod makers;
pub(crate) mod node;
pub(crate) mod node_builder;
pub(crate) mod parameter_client;
pub(crate) mod parameters;
pub(crate) mod publisher;
pub(crate) mod qos_overrides;
pub(crate) mod receive;
pub(crate) mod server;
pub(crate) mod service_callback;
pub(crate) mod subscription;
pub(crate) mod timer;
pub(crate) mod type_descriptions;
pub(crate) mod work_queue;
