//! From a publisher to the subscriptions of its process, and to the transports that reach others.
//! (The design's section 5.)
//!
//! | file | what |
//! |---|---|
//! | `copy_plan` | which subscription gets which copy: one pure function |
//! | `subscription_core` | a history under its lock; places for publishers that wait; announcing to the executor; publishers elsewhere, and the trait behind which they stand (`RemoteSource`) |
//! | `publisher_core` | a publisher: finding its subscriptions, publishing, what it retains for late joiners, its way out of the process |
//! | `statistics_collector` | how old a subscription's messages are, and how far apart they come |
//! | `subscribers` | the subscriptions that publishers of one kind have |
//! | `strategy` | what publishing takes, in bits: which steps a message can skip |
//! | `recipients` | bringing a message to the subscriptions of a list: as it is, or with filters, places and copies |
//! | `typed_reader` | how an image becomes what a subscription takes |
//! | `warn_once` | telling once of what comes again and again |
//! | `graph` | which ends are there, and which match |
//! | `remote_endpoint` | what an end elsewhere says of itself |
//! | `remote_sink` | subscriptions elsewhere, and the traits behind which a publisher's messages go there (`PublisherEndpoint`, `RemoteSink`) |
//! | `session` | what the nodes, topics and executors of one context have in common |
//!
//! Nothing here knows how messages travel between processes. What does, a transport, brings the
//! ends that are elsewhere here as objects behind the traits named above, and is called through
//! them. At present that is [`remote::shm`](crate::remote::shm) alone. Memory of [`sinew_shm`] that
//! a message may lie in, and its counters, are used here as plain data.

pub(crate) mod copy_plan;
pub(crate) mod graph;
pub(crate) mod publisher_core;
pub(crate) mod recipients;
pub(crate) mod remote_endpoint;
pub(crate) mod remote_sink;
pub(crate) mod session;
pub(crate) mod statistics_collector;
pub(crate) mod strategy;
pub(crate) mod subscribers;
pub(crate) mod subscription_core;
pub(crate) mod typed_reader;
pub(crate) mod warn_once;
