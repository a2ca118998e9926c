//! tf2: the present and past poses of a robot's frames.
//!
//! Each sensor, wheel and map has a coordinate frame. Nodes publish the poses of their frames in
//! other frames on `/tf` and `/tf_static`; a [`Buffer`] combines them, and gives the pose of any
//! frame in any other at any time of the last ten seconds.
//!
//! | task | with |
//! |---|---|
//! | publish the pose of a frame | [`TransformBroadcaster`], [`StaticTransformBroadcaster`] |
//! | collect published poses | [`TransformListener`] and [`Buffer`] |
//! | list refused transforms | [`TransformListener::refusals`] |
//! | look up | [`Buffer::lookup`], [`Buffer::lookup_over_time`], [`Buffer::can_transform`] |
//! | wait for a transform, with a future or blocking | [`Buffer::wait_for`] |
//! | hold messages until their transforms arrive | [`MessageFilter`] |
//! | transform a message to another frame | [`Buffer::transform`], [`Transformable`] |
//! | compute with transforms | [`Transform`] |
//!
//! Topics, types and QoS are those of ROS 2, so either end may be a ROS 2 node.
//!
//! ```
//! use sinew::prelude::*;
//! use sinew_tf::{At, Buffer, StampedTransform, Transform, TransformBroadcaster, TransformListener};
//!
//! let context = Context::new()?;
//! let planner = context.node("planner")?;
//! let buffer = Buffer::new();
//! let _listener = TransformListener::new(&planner, &buffer)?;
//!
//! let odometry = context.node("odometry")?;
//! let broadcaster = TransformBroadcaster::new(&odometry)?;
//! let transform = Transform::from_translation([1.0, 2.0, 0.0]);
//! let placed = StampedTransform { stamp: odometry.now(), transform };
//! broadcaster.send([placed.to_msg("odom", "base_link")]).unwrap();
//!
//! let robot = buffer.lookup("odom", "base_link", At::Latest).unwrap();
//! assert_eq!(robot.transform.translation, [1.0, 2.0, 0.0]);
//! # Ok::<(), sinew::Error>(())
//! ```
#![forbid(unsafe_code)]

mod broadcaster;
mod buffer;
mod buffer_core;
mod code;
mod history;
mod insertion;
mod listener;
mod lookup;
mod message_filter;
mod pending_transform;
mod refusal;
mod suggestions;
mod transform;
mod transformable;
mod tree;
mod waiters;

pub use broadcaster::{StaticTransformBroadcaster, TransformBroadcaster};
pub use buffer::{Buffer, BufferBuilder};
pub use insertion::{InsertError, Inserted};
pub use listener::TransformListener;
pub use lookup::{At, FrameStatus, LinkRange, LookupError};
pub use message_filter::{MessageFilter, MessageFilterBuilder};
pub use pending_transform::PendingTransform;
pub use refusal::Refusal;
pub use transform::{StampedTransform, Transform};
pub use transformable::{Transformable, TransformableStamped};
