//! Nodes, topics, services, executors: the parts of a robot program, and the messages between them.
//!
//! The words and rules are those of ROS 2. Nodes of one process hand each other messages by moving ownership, and a
//! message is copied only if somebody wants it for himself while others read or keep it.
//!
//! This release connects the nodes of one [`Context`] in one process. There is no shared memory, no
//! network and no generator for `.msg` and `.srv` files yet.
//!
//! # The shortest program
//!
//! ```
//! use sinew::prelude::*;
//!
//! struct Greeting(&'static str);
//! impl Message for Greeting {} // travels inside the process, whatever it contains
//!
//! fn main() -> sinew::Result<()> {
//!     let context = Context::from_args()?;
//!     let node = context.node("greeter")?;
//!     let greetings = node.publisher::<Greeting>("greetings").create()?;
//!     let _timer = node.timer(Duration::from_millis(10)).callback(move || greetings.publish(Greeting("hello")))?;
//!     let done = context.clone();
//!     let _subscription = node.subscription::<Greeting>("greetings").callback(move |greeting: &Greeting| {
//!         println!("{}", greeting.0);
//!         done.shutdown(); // left out, it runs until Ctrl-C
//!     })?;
//!     sinew::spin(&context)
//! }
//! ```
//!
//! A [`Node`] makes [publishers](Publisher), [subscriptions](Subscription), [timers](Timer), [guard
//! conditions](GuardCondition), [descriptor sources](DescriptorSource) and [groups](Group). Each exists until it is dropped: keep it in a variable, `_` alone
//! drops it at once.
//!
//! # Who gets a copy
//!
//! A subscription's buffer *owns* its messages (`u`: the callback takes [`Unique<T>`], `Box<T>` or `T`), *shares* them
//! (`s`: the callback takes `&T` or [`Shared<T>`], or there is none), or holds them *by value* (`v`); see [`BufferType`].
//! `@1` is the message that was published, where it lies; `@2` and so on are copies. Publishing [`Unique<T>`], `Box<T>`
//! (adopted where it lies) or `T` (moved into the publisher's pool) follows the column `Unique`. Publishing `&T` makes one
//! copy in the pool and does the same with that.
//!
//! | buffers | `Unique` published | `Shared` published |
//! |---|---|---|
//! | u | @1 | @2 |
//! | u u | @1 @2 | @2 @3 |
//! | s | @1 | @1 |
//! | s s | @1 @1 | @1 @1 |
//! | u s | @1 @2 | @2 @1 |
//! | u s s | @1 @2 @2 | @2 @1 @1 |
//! | u u s s | @1 @2 @3 @3 | @2 @3 @1 @1 |
//! | v | moved | @2 |
//! | v v | moved, @2 | @2 @3 |
//! | s v | @1 @2 | @1 @2 |
//! | u v | @1 @2 | @2 @3 |
//! | u s v | @1 @2 @3 | @2 @1 @3 |
//!
//! A transient-local publisher keeps what it sent, so whatever it publishes follows the column `Shared`. An owning
//! callback on a buffer of type [`BufferType::Shared`] counts as `s` here; it copies when it takes its message, and only
//! if somebody else still holds it. [`PublisherStatistics::copies`] and [`SubscriptionStatistics::copies`] count.
//!
//! # Forms of callbacks
//!
//! | of a | takes |
//! |---|---|
//! | subscription | `&T`, `Shared<T>`, `Unique<T>`, `Box<T>` or `T`; the last three need `T: Clone` |
//! | timer | nothing or [`&TimerInfo`](TimerInfo) |
//! | guard condition | nothing or [`&Triggered`](Triggered) |
//! | [descriptor source](DescriptorSource) | nothing or [`&Readiness`](Readiness) |
//! | status handler (`on_matched` and the like) | nothing or the event, e.g. [`&Matched`](Matched) |
//! | server | `&Request`, `Unique<Request>`, `Box<Request>` or `Request`; to answer later, a [`Responder`] last |
//! | call ([`Client::call_then`]) | the [`CallResult`] |
//!
//! The state of the group, `&mut S`, may come before it, and after it for a subscription [`&MessageInfo`](MessageInfo), for a
//! server [`&RequestInfo`](RequestInfo). A server returns its response or a `Result` of it; every other callback nothing or a
//! `Result`. A closure must name the types of its parameters.
//!
//! # Threads and blocking
//!
//! All handles may be used from any thread. Callbacks run on the thread that spins their [`Executor`], one at a time, in
//! the order in which their messages were published and their timers were due, those of groups with a higher
//! [priority](Group::priority) first. Executors on several threads may serve different nodes or groups. The library
//! starts no threads of its own but one that waits for Ctrl-C, in programs that ask for that ([`Context::from_args`] does),
//! and one that waits for file descriptors, in programs with a [`DescriptorSource`].
//!
//! Publishing blocks only if the publisher and a subscription are both reliable and keep all, and that subscription is
//! full: then up to [`QoS::max_blocking_time`]. A wait that could never end fails at once. [`Subscription::take`] doesn't
//! block. [`Client::call`] waits for the answer; in a callback, or while the server's executor has a thread at rest, the
//! server may run on the waiting thread. The locks inside are held briefly, and never while the program's code runs
//! (callbacks, filters, `Clone`, `Drop`, wakers). Once warm, publishing, taking, calling and answering allocate nothing but what
//! the message's own `Clone` does and what the callbacks of single calls capture.
//!
//! # Errors
//!
//! Each kind of operation has its own: [`ContextError`], [`CreateError`], [`PublishError`], [`CallError`], [`AddError`],
//! [`SpinError`]. [`Error`] gathers them for `?`. A message that could not be published comes back in the [`PublishError`], a
//! request that no server took in the [`CallError`]. What a server's callback returns as an error its caller gets. An error
//! that a callback returns is reported with the entity's name, and the rest goes on; a panic ends the spin, which returns
//! it as an error. Both can be [changed](Executor::on_panic). A QoS that can't be honoured is a [`CreateError`], never
//! ignored.
//!
//! # Where to go on
//!
//! [`Publisher::publish`] and [`Publisher::loan`]; [`SubscriptionBuilder`]; [`QoS`]; [`Server`] and [`Client`]; [`Executor`] and its ways to spin;
//! [`VirtualClock`] for tests that wait for nothing; [`Arguments`] for what a command line may change. The repository's
//! `docs/architecture.md` shows how the parts work together.

// The message's way from publisher to callback is what this crate is for; see docs/architecture.md for the map.

#[macro_use]
mod sync; // first: its `thread_local!` is the crate's in a model

mod arguments;
mod callback;
mod clock;
mod context;
mod delivery;
mod descriptor;
mod error;
mod event;
mod executor;
mod guard;
mod handlers;
mod interrupt;
mod message;
mod name;
mod node;
mod publisher;
mod qos;
mod receive;
mod service;
mod subscription;
mod timer;

#[cfg(test)]
mod idle;
#[cfg(all(test, loom))]
mod models;
#[cfg(all(test, not(loom)))]
mod properties;

pub use arguments::{ArgumentError, Arguments, LogLevel};
pub use callback::{EventCallback, Outcome, SubscriptionCallback};
pub use clock::{ClockKind, Time, VirtualClock};
pub use context::{Context, ContextBuilder};
pub use descriptor::{DescriptorSource, DescriptorSourceBuilder, Readiness};
pub use error::{ContextError, CreateError, Error, PublishFailure, Result};
pub use event::{
    IncompatibleQos, IncompatibleType, LivelinessChanged, LivelinessLost, Matched, MessageLost,
    OfferedDeadlineMissed, RequestedDeadlineMissed, Triggered,
};
pub use executor::group::{CallbackGroup, Group, ReentrantGroup};
pub use executor::histogram::Histogram;
pub use executor::threads::{Placement, ThreadError};
pub use executor::wait_set::{Ready, WaitSet, Waitable};
pub use executor::{
    AddError, Executor, OnFault, Order, RunTimes, Servable, SpinError, StopHandle, TimerThread, spin,
};
pub use guard::{GuardCondition, GuardConditionBuilder};
pub use message::{Chain, Gid, Lineage, Memory, MessageInfo, Path, Shared, Unique};
pub use name::{NameError, NameKind};
pub use node::Node;
pub use publisher::{
    PublishError, Publishable, Publisher, PublisherBuilder, PublisherStatistics, Unpublishable,
};
pub use qos::{Durability, History, Liveliness, Policy, QoS, QosError, Reliability};
pub use receive::{Messages, Recv, RecvUnique};
pub use service::{
    AsyncServiceCallback, CallError, CallFailure, CallResult, Client, ClientBuilder, ClientStatistics, Given,
    PendingCall, Reply, RequestInfo, RespondError, Responder, ResponseCallback, Server, ServerStatistics,
    ServiceBuilder, ServiceCallback,
};
pub use sinew_msg::{DecodeError, Encoding, Message, Service, ServiceType, TypeHash};
pub use std::time::Duration;
pub use subscription::{BufferType, Subscription, SubscriptionBuilder, SubscriptionStatistics};
pub use timer::{Timer, TimerBuilder, TimerInfo};

/// Compiles the programs in the README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// What most programs use.
pub mod prelude {
    pub use crate::{
        Client, Context, Duration, Executor, Group, Message, MessageInfo, Node, Publisher, QoS, Server,
        Service, Shared, Subscription, Timer, Unique,
    };
}
