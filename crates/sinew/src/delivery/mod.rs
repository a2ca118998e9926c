//! From a publisher to the subscriptions of its process, and from a client to a server and back.
//! (The design's sections 5 and 9.)
//!
//! | file | what |
//! |---|---|
//! | `plan` | who gets which copy: one pure function |
//! | `history` | what one subscription keeps: plain data |
//! | `inbox` | a history under its lock; places for publishers that wait; announcing to the executor; publishers elsewhere, and the trait behind which they stand (`RemoteSource`) |
//! | `outbox` | what a delivery leaves to do once no lock is held |
//! | `listening` | tasks that wait for a message, and listeners |
//! | `routes` | the inboxes that publishers of one kind have |
//! | `outlet` | a publisher: finding its inboxes, publishing, what it retains for late joiners, its way out of the process |
//! | `given` | who gets what of one message, where that takes filters, places or copies |
//! | `complaints` | telling once of what comes again and again |
//! | `graph` | who is there and who matches |
//! | `described` | what an end elsewhere says of itself |
//! | `remote_sink` | subscriptions elsewhere, and the traits behind which a publisher's messages go there (`PublisherEndpoint`, `RemoteSink`) |
//! | `observers` | telling both ends |
//! | `alarm` | looking at something when its time is up |
//! | `deadline` | whether messages come often enough |
//! | `liveliness` | whether publishers give signs of life |
//! | `services` | which services there are, with their servers and clients |
//! | `requests` | the queue of a service, from its clients to its server; servers elsewhere (`RemoteServer`, `RemoteLine`) |
//! | `calls` | a client's calls, and the way back to them; clients elsewhere (`RemoteClient`) |
//!
//! Nothing here knows how messages travel between processes. What does, a transport, brings the ends
//! that are elsewhere here as objects behind the traits named above, and is called through them. At
//! present that is [`outside`](crate::outside) alone. Memory of [`sinew_shm`] that a message may lie
//! in, and its counters, are used here as plain data.

pub(crate) mod alarm;
pub(crate) mod calls;
pub(crate) mod complaints;
pub(crate) mod deadline;
pub(crate) mod described;
pub(crate) mod given;
pub(crate) mod graph;
pub(crate) mod history;
pub(crate) mod inbox;
pub(crate) mod listening;
pub(crate) mod liveliness;
pub(crate) mod observers;
pub(crate) mod outbox;
pub(crate) mod outlet;
pub(crate) mod plan;
pub(crate) mod reader;
pub(crate) mod remote_sink;
pub(crate) mod requests;
pub(crate) mod routes;
pub(crate) mod services;
