//! ROS 2's interface packages, as of Jazzy.
//!
//! The definitions lie in this crate's folder `interfaces/`, as they do in ROS 2: `sensor_msgs/msg/Image.msg`.
//! [`sinew_msg::definition`](https://docs.rs/sinew-msg) reads them.
#![forbid(unsafe_code)]
