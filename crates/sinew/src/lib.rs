//! Sinew: communication for robots at memory speed.

// The message's way from publisher to callback is what this crate is for; see docs/architecture.md for the map.

#[macro_use]
mod sync; // first: its `thread_local!` is the crate's in a model

mod arguments;
mod callback;
pub mod clock;
mod context;
mod delivery;
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
pub use error::{ContextError, CreateError, Error, PublishFailure, Result};
pub use event::{IncompatibleQos, IncompatibleType, Matched, MessageLost, Triggered};
pub use executor::group::Group;
pub use executor::{AddError, Executor, OnFault, Servable, SpinError, StopHandle, spin};
pub use guard::{GuardCondition, GuardConditionBuilder};
pub use message::{Chain, Gid, Lineage, Memory, MessageInfo, Path, Shared, Unique};
pub use name::{NameError, NameKind};
pub use node::Node;
pub use publisher::{
    PublishError, Publishable, Publisher, PublisherBuilder, PublisherStatistics, Unpublishable,
};
pub use qos::{Durability, History, Liveliness, Policy, QoS, QosError, Reliability};
pub use sinew_msg::{DecodeError, Encoding, Message, TypeHash};
pub use std::time::Duration;
pub use subscription::{BufferType, Subscription, SubscriptionBuilder, SubscriptionStatistics};
pub use timer::{Timer, TimerBuilder, TimerInfo};

/// What most programs use.
pub mod prelude {
    pub use crate::{
        Context, Duration, Executor, Group, Message, MessageInfo, Node, Publisher, QoS, Shared, Subscription,
        Timer, Unique,
    };
}
