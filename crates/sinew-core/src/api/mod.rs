//! The types that programs hold and name: typed, thin.
//!
//! | file | what |
//! |---|---|
//! | `context` | a process's presence in a domain |
//! | `node` | names, and the entities made under them |
//! | `node_builder` | making nodes |
//! | `own_publishers` | those that a node makes by itself |
//! | `makers` | the methods that nodes and groups share: builders of entities, posted work |
//! | `background`, `kept_entities` | entities that live as long as their node |
//! | `publisher`, `subscription` | the endpoints of topics |
//! | `receive` | awaiting messages |
//! | `client`, `client_core`, `call` | clients; their shared state; waiting for answers |
//! | `server` | servers, and their tasks in an executor |
//! | `pulled_client`, `pulled_server` | responses and requests that are taken by hand |
//! | `callback`, `service_callback` | the forms of callbacks |
//! | `erased` | endpoints for messages of any type |
//! | `generic` | for gateways: nodes that stand for other hosts, messages from there |
//! | `handlers`, `statuses` | the `on_..` handlers that builders collect; statuses taken by hand |
//! | `hints` | hints that a context logs after a while |
//! | `timer`, `guard` | timers, guard conditions |
//! | `work_queue` | closures and futures posted to a group |
//! | `parameters`, `parameter_client` | a node's parameters, and those of others |
//! | `qos_overrides` | a QoS that parameters change |
//! | `introspection` | topics about endpoints: statistics, service events |
//! | `type_descriptions` | descriptions of the types a node uses, for others |
//! | `graph_view`, `graph_watch` | which nodes, topics and endpoints there are, and their changes |
//! | `graph_snapshot`, `graph_reader` | the same at one moment; the same seen from outside |
//! | `descriptor` | file descriptors of the program's own |
//! | `error` | the one error that all others convert to |

pub(crate) mod background;
pub(crate) mod call;
pub(crate) mod callback;
pub(crate) mod client;
pub(crate) mod client_core;
pub(crate) mod context;
pub(crate) mod descriptor;
pub(crate) mod erased;
pub(crate) mod error;
pub(crate) mod generic;
pub(crate) mod graph_reader;
pub(crate) mod graph_snapshot;
pub(crate) mod graph_view;
pub(crate) mod graph_watch;
pub(crate) mod guard;
pub(crate) mod handlers;
mod hints;
pub(crate) mod introspection;
mod kept_entities;
pub(crate) mod makers;
pub(crate) mod node;
pub(crate) mod node_builder;
pub(crate) mod own_publishers;
pub(crate) mod parameter_client;
pub(crate) mod parameters;
pub(crate) mod publisher;
mod pulled_client;
pub(crate) mod pulled_server;
pub(crate) mod qos_overrides;
pub(crate) mod receive;
pub(crate) mod server;
pub(crate) mod service_callback;
pub(crate) mod statuses;
pub(crate) mod subscription;
pub(crate) mod timer;
pub(crate) mod type_descriptions;
pub(crate) mod work_queue;
