//! Components: nodes that a process loads while it runs.
//!
//! A program registers the kinds of nodes that it can make, and a [`Container`] makes them on
//! request through services: `~/_container/load_node`, `unload_node` and `list_nodes` of ROS 2's
//! `composition_interfaces`, so `ros2 component` and `sinew component` work with it. The nodes
//! share the container's context: messages between them move by ownership, as between any nodes of
//! a process.
//!
//! Nodes to load at the start are named on the program's command line, by hand or by a launch file:
//! `--component demo::Ticker`, or `--component demo::Ticker=/robot/clock` with a name.
//!
//! A container of Rust makes components that were compiled into its program. [`component!`]
//! registers a kind of node, next to its definition, with all containers of the program;
//! [`ContainerBuilder::component`] registers one with a single container, from a closure if
//! necessary. Nodes of C and C++ come from shared libraries: the program `sinew-container` loads
//! them, through [`ContainerBuilder::loader`].
//!
//! ```
//! use sinew::prelude::*;
//! use sinew_component::{Container, component};
//!
//! struct Ticker { _timer: sinew::Timer }
//!
//! impl Ticker {
//!     fn new(node: Node) -> sinew::Result<Self> {
//!         let _timer = node.timer(Duration::from_secs(1)).callback(|| println!("tick"))?;
//!         Ok(Self { _timer }) // what it keeps lives until it is unloaded
//!     }
//! }
//!
//! component!("demo::Ticker", "ticker", Ticker::new);
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let context = Context::builder().shared_memory(false).build()?; // a program: Context::from_args()
//!     let container = Container::builder(&context, "container").build()?;
//!     assert!(container.types().contains(&"demo::Ticker".to_owned()));
//!     // A program spins now: sinew::spin(&context)?
//!     Ok(())
//! }
//! ```

mod component;
mod container;
mod error;
mod request;

pub use component::Component;
pub use container::{Container, ContainerBuilder};
pub use error::{ContainerError, LoadError, UnloadError};
pub use request::NodeRequest;

/// Registers a kind of node with all containers of the program: `component!(TYPE, NODE, MAKE)`.
/// `TYPE` is the name for requests (`plugin_name`, mostly `package::Type`), `NODE` the default name
/// of the node, and `MAKE` a function from a [`Node`](sinew::Node) to a `Result` with a value that
/// is kept while the node is loaded. [`ContainerBuilder::component`] does the same for one
/// container.
///
/// Use it at module level, beside functions. In a library, it takes effect only if the program uses
/// some item of that library, or says `use that_library as _;`: unreferenced code isn't linked.
/// (ROS 2: `RCLCPP_COMPONENTS_REGISTER_NODE`.)
///
/// ```
/// use sinew::prelude::*;
///
/// fn ticker(node: Node) -> sinew::Result<sinew::Timer> {
///     Ok(node.timer(Duration::from_secs(1)).callback(|| println!("tick"))?)
/// }
///
/// sinew_component::component!("demo::Metronome", "metronome", ticker);
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! component {
    ($type_name:expr, $node:expr, $make:expr $(,)?) => {
        $crate::private::submit! {
            $crate::private::Registered::new($type_name, $node, |node| $crate::private::made($make(node)))
        }
    };
}

/// Items for [`component!`] only.
#[doc(hidden)]
pub mod private {
    use crate::component::{Made, boxed};
    pub use inventory::submit;
    use sinew::Node;
    use std::error::Error;

    /// A kind of node registered by the macro.
    pub struct Registered {
        pub(crate) type_name: &'static str,
        pub(crate) node: &'static str,
        pub(crate) make: fn(Node) -> Made,
    }

    inventory::collect!(Registered);

    impl Registered {
        pub const fn new(type_name: &'static str, node: &'static str, make: fn(Node) -> Made) -> Self {
            Self { type_name, node, make }
        }
    }

    pub fn made<T: Send + 'static, E: Into<Box<dyn Error + Send + Sync>>>(made: Result<T, E>) -> Made {
        boxed(made)
    }
}
