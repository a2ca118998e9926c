//! Times, the clocks they are read from, timers and rates; simulated time and its publisher.
//!
//! | file | contents |
//! |---|---|
//! | `sim_time` | `use_sim_time`: ROS time follows `/clock` |
//! | `jump_handler` | handlers of jumps of ROS time |
//! | `clock_publisher` | publishes `/clock` |
//! | `sleep` | sleeping until a clock shows a time |
//! | `rate` | loops that run periodically |
//!
//! The clocks themselves are in `sys::clock`, timers in `api::timer`.

mod clock_publisher;
mod jump_handler;
mod rate;
mod sim_time;
mod sleep;

pub use crate::api::timer::{TimerBuilder, TimerInfo};
pub use crate::ros::failure::SleepError;
pub use crate::sys::clock::{ClockKind, Time, VirtualClock};
pub use crate::sys::jump::{ClockChange, JumpThreshold, TimeJump};
pub use clock_publisher::{ClockPublisher, ClockPublisherBuilder};
pub use jump_handler::JumpHandler;
pub use rate::Rate;
