//! A small mobile robot: simulated wheels and lidar, odometry, a controller at 1 kHz, and a planner
//! that is asked by an action. `README.md` beside this has the drawing and the commands.
//!
//! Each node is a file and a function that makes what it is of a [`Node`]. Which of them a process
//! runs, its command line says: see [`container`].

pub mod controller;
pub mod lidar;
pub mod map;
pub mod odometry;
pub mod planner;
pub mod supervisor;
pub mod wheels;

use sinew::component::{Container, ContainerError};
use sinew::{Context, Node};

sinew::include_interfaces!();

/// A node that makes the robot's nodes: those of `--component`, and those that `load_node` asks for.
///
/// # Errors
/// [`ContainerError`]: one can't be made.
pub fn container(context: &Context, name: &str) -> Result<Container, ContainerError> {
    Container::builder(context, name)
        .component("robot::Wheels", "wheels", |node: Node| wheels::wheels(&node))
        .component("robot::Lidar", "lidar", |node: Node| lidar::lidar(&node))
        .component("robot::Odometry", "odometry", |node: Node| odometry::odometry(&node))
        .component("robot::Controller", "controller", |node: Node| controller::controller(&node))
        .component("robot::Planner", "planner", |node: Node| planner::planner(&node))
        .component("robot::Supervisor", "supervisor", |node: Node| supervisor::supervisor(&node))
        .build()
}
