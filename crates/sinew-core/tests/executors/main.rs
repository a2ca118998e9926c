//! What runs callbacks, and waits for them.

mod descriptors;
mod dispatch_order;
mod errors;
mod event_loop;
mod executor;
mod futures;
mod handles;
mod posting;
mod pressure;
mod removing;
#[path = "../support/mod.rs"]
mod support;
mod time;
mod timer_thread;
mod wait_set;
mod worker_records;
