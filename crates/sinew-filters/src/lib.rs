//! ROS 2's message filters: sets of messages of several topics with matching stamps, and a cache of
//! one topic's messages by time.
//!
//! | ROS 2 | here |
//! |---|---|
//! | `Synchronizer` with `ExactTime` | [`Synchronizer::exact`] |
//! | `Synchronizer` with `ApproximateTime` | [`Synchronizer::approximate`] |
//! | `Cache` | [`Cache`] |
//! | `TimeSynchronizer` | [`Synchronizer::exact`] |
//!
//! ```
//! use sinew::prelude::*;
//! use sinew_filters::Synchronizer;
//! use sinew_interfaces::sensor_msgs::msg::{CameraInfo, Image, Imu};
//!
//! #[derive(Default)]
//! struct Fusion { frames: u64 }
//!
//! let context = Context::new()?;
//! let node = context.node("fusion")?;
//! let group = node.group(Fusion::default());
//! let _pictures = Synchronizer::exact(10).qos(QoS::sensor_data()).subscribe_in(
//!     &group, ["image", "camera_info"],
//!     |fusion: &mut Fusion, (_image, _info): (Shared<Image>, Shared<CameraInfo>)| fusion.frames += 1,
//! )?;
//! let _poses = Synchronizer::approximate(10).max_interval(Duration::from_millis(20)).build().subscribe(
//!     &node, ["image", "camera_info", "imu"],
//!     |(image, _info, imu): (Shared<Image>, Shared<CameraInfo>, Shared<Imu>)| {
//!         println!("{} {}", image.header.frame_id, imu.header.frame_id);
//!     },
//! )?;
//! # Ok::<(), sinew::Error>(())
//! ```
#![forbid(unsafe_code)]

mod approximate;
mod cache;
mod exact;
mod messages;
mod policy;
mod synchronizer;

pub use cache::Cache;
pub use messages::{MessageSet, Topic};
pub use synchronizer::{ApproximateBuilder, SharedSet, Synchronized, Synchronizer};
