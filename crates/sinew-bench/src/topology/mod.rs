//! Scenario `topology`: a robot's whole graph in one process, as iRobot's `ros2-performance` runs
//! it. Every publisher has a timer of its own; no message causes another.

mod debug;
mod robot;
pub mod seen;
pub mod tracker;

pub(crate) use debug::measure as measure_with_debug_node;
#[cfg(feature = "gateway")]
pub(crate) use robot::{Load, figures};
