//! Scenario `topology`: a robot's whole graph in one process, as iRobot's `ros2-performance` runs
//! it. Every publisher has a timer of its own; no message causes another.

mod debug;
mod measure;
mod robot;
pub mod seen;
pub mod tracker;

pub(crate) use debug::DebugNode;
pub(crate) use measure::measure;
#[cfg(feature = "gateway")]
pub(crate) use robot::run_graph;
