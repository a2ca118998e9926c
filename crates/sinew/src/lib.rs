//! Communication for robots at memory speed: nodes, topics, services, actions, executors, with the
//! words and rules of ROS 2.
//!
//! This crate is all that a program names. The core is always there; what stands upon it is a module
//! each, and there if the feature of its name is on:
//!
//! | what | where | feature |
//! |---|---|---|
//! | nodes, topics, services, timers, QoS, executors, parameters, logging, time | here | |
//! | messages: [the trait](Message), forms, encodings, types known at run time | [`msg`] | `text` for YAML and JSON |
//! | ROS 2's interface packages | [`interfaces`] | one for each, as `sensor_msgs`; `all_interfaces` |
//! | goals with feedback, results and cancelling | [`action`] | `action` |
//! | managed nodes and their supervisor | [`lifecycle`] | `lifecycle` |
//! | the frames of a robot | [`tf`] | `tf` |
//! | synchronisers and a cache by time | [`filters`] | `filters` |
//! | several nodes in one process, loaded while it runs | [`component`] | `component` |
//! | launch files, as a library | [`launch`] | `launch` |
//! | other hosts and ROS 2's programs | [`gateway`] | `gateway` (with zenoh: some minutes to build) |
//! | a layer for the `tracing` crate | [`logging`] | `tracing` |
//!
//! `parts` is all modules but the gateway. `Cargo.toml` of a program:
//!
//! ```toml
//! [dependencies]
//! sinew = { version = "0.1", features = ["action", "sensor_msgs"] } # before there is a release: path = "..", not version
//!
//! [build-dependencies] # only for interface definitions of your own
//! sinew-build = "0.1"
//! ```
//!
//! The crate keeps the name `sinew` there: what derive macros and `sinew-build` write says `::sinew`.

#[doc(inline)]
pub use sinew_core::*;

/// Messages: how they are published, taken, kept and encoded; definitions and descriptions of types.
pub mod msg {
    #[doc(inline)]
    pub use sinew_core::msg::*;
    #[doc(inline)]
    pub use sinew_msg::{definition, description, dynamic};
}

/// Gateways to other hosts and to ROS 2: where ends are at home, what tools are told, and with the
/// feature `gateway` the gateway itself.
pub mod gateway {
    #[doc(inline)]
    pub use sinew_core::gateway::*;
    #[cfg(feature = "gateway")]
    #[doc(inline)]
    pub use sinew_zenoh::{
        Gateway, GatewayBuilder, GatewayError, Router, RouterError, config, gateway, look, router, rules,
        wire,
    };
}

#[doc(inline)]
pub use sinew_interfaces as interfaces;

#[cfg(feature = "action")]
#[doc(inline)]
pub use sinew_action as action;
#[cfg(feature = "component")]
#[doc(inline)]
pub use sinew_component as component;
#[cfg(feature = "filters")]
#[doc(inline)]
pub use sinew_filters as filters;
#[cfg(feature = "launch")]
#[doc(inline)]
pub use sinew_launch as launch;
#[cfg(feature = "lifecycle")]
#[doc(inline)]
pub use sinew_lifecycle as lifecycle;
#[cfg(feature = "tf")]
#[doc(inline)]
pub use sinew_tf as tf;

/// Compiles the programs in the README and the book.
#[cfg(doctest)]
mod pages {
    macro_rules! page {
        ($($name:ident: $path:literal,)*) => {
            $(#[doc = include_str!(concat!("../../../", $path))] struct $name;)*
        };
    }
    page! {
        Readme: "README.md",
        Actions: "docs/book/actions.md",
        BetweenProcesses: "docs/book/between-processes.md",
        CopyFree: "docs/book/copy-free.md",
        Executors: "docs/book/executors.md",
        Filters: "docs/book/filters.md",
        Introspection: "docs/book/introspection.md",
        Launch: "docs/book/launch.md",
        Lifecycle: "docs/book/lifecycle.md",
        Logging: "docs/book/logging.md",
        OwnMessages: "docs/book/messages.md",
        Parameters: "docs/book/parameters.md",
        Qos: "docs/book/qos.md",
        RosMessages: "docs/book/ros2-messages.md",
        Tf: "docs/book/tf.md",
        Time: "docs/book/time.md",
        Tour: "docs/book/tour.md",
    }
    #[cfg(feature = "gateway")]
    page! {
        Ros2: "docs/book/ros2.md",
    }
}
