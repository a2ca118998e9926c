//! ROS 2's managed nodes: the state of a node decides which resources it has and what it does.
//!
//! A node is *unconfigured* at first, *inactive* once it has its resources, and *active* while it
//! works. A program declares the resources of each state, and its callbacks pass them on by
//! ownership ([`Lifecycle`], or [`from_fn`] for a node of one closure). The operator of the system
//! triggers transitions through ROS 2's services: with `ros2 lifecycle`, `sinew lifecycle`, a
//! [`LifecycleClient`], or a [`Supervisor`] that brings several nodes up in order.
//!
//! | entity | while the node isn't active |
//! |---|---|
//! | [managed](ManagedNode::manage) publishers | their messages are dropped, with one warning |
//! | [managed groups](ManagedNode::managed_group) | subscriptions, timers and servers don't run |
//!
//! ```
//! use sinew::prelude::*;
//! use sinew_interfaces::std_msgs::msg::String as Text;
//! use sinew_lifecycle::{LifecycleNode, State, from_fn};
//!
//! let context = Context::new()?;
//! let talker = LifecycleNode::new(&context.node("talker")?, from_fn(|node| {
//!     let chatter = node.manage(node.publisher("chatter").create()?);
//!     let group = node.managed_group(());
//!     Ok(group.timer(Duration::from_secs(1)).callback(move || chatter.publish(Text { data: "hello".into() }))?)
//! }))?;
//! assert_eq!(talker.configure()?, State::Inactive); // or by `ros2 lifecycle set /talker configure`
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod callbacks;
mod client;
mod closures;
mod code;
mod machine;
mod managed;
mod node;
mod supervisor;
mod wire;

pub use callbacks::{CallbackError, Failed, Held, Lifecycle, Recovery};
pub use client::{LifecycleClient, LifecycleClientError};
pub use closures::{FromFn, from_fn};
pub use machine::{GRAPH, State, Step, Transition};
pub use managed::{ManagedNode, ManagedPublisher, PublishGate};
pub use node::{LifecycleNode, TransitionError};
pub use supervisor::{OnLoss, StopHandle, Supervisor, SupervisorBuilder, SupervisorError};
