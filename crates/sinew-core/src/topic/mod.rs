//! Delivery from a publisher to the subscriptions of its process, and to the transports that reach
//! other processes.
//!
//! | file | contents |
//! |---|---|
//! | `copy_plan` | the copy that each subscription gets: one pure function |
//! | `subscription_core` | a history and its lock, waiting publishers, publishers elsewhere |
//! | `publisher_core` | a publisher: finding subscriptions, publishing, retaining, leaving |
//! | `statistics_collector` | the age of a subscription's messages, and the time between them |
//! | `subscribers` | the subscriptions that match one class of publishers |
//! | `strategy` | bits for the steps of a publish that a message can't skip |
//! | `recipients` | delivering a message to the subscriptions of a list |
//! | `typed_reader` | decoding bytes into the type that a subscription takes |
//! | `warn_once` | logging a recurring condition once |
//! | `graph` | the existing endpoints and their matches |
//! | `graph_changes` | notices of changes of the graph, for programs that watch it |
//! | `endpoint_info` | nodes, names and endpoints as programs see them |
//! | `nodes` | the nodes of a context |
//! | `remote_endpoint` | the description that an endpoint elsewhere publishes of itself |
//! | `remote_reads` | results of reading a publisher elsewhere |
//! | `remote_sink` | subscriptions elsewhere; traits that carry a publisher's messages there |
//! | `session` | the state shared by the nodes, topics and executors of one context |
//! | `shutdown` | the program's callbacks for the end of a context |
//!
//! Nothing in this folder knows how messages travel between processes; a transport does. It adds
//! the endpoints of other processes as objects that implement the traits named above, and this
//! folder calls the transport through those traits. At present the only transport is
//! [`remote::shm`](crate::remote::shm). This folder uses memory of [`sinew_shm`] in which a message
//! may lie, and its counters, as plain data.

pub(crate) mod copy_plan;
pub(crate) mod endpoint_info;
pub(crate) mod graph;
pub(crate) mod graph_changes;
pub(crate) mod nodes;
pub(crate) mod publisher_core;
pub(crate) mod recipients;
pub(crate) mod remote_endpoint;
pub(crate) mod remote_reads;
pub(crate) mod remote_sink;
pub(crate) mod session;
pub(crate) mod shutdown;
pub(crate) mod statistics_collector;
pub(crate) mod strategy;
pub(crate) mod subscribers;
pub(crate) mod subscription_core;
pub(crate) mod typed_reader;
pub(crate) mod warn_once;
