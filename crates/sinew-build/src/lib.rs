//! Generates Rust from interface definitions, in a build script; C++ headers ([`CppGenerator`]); and
//! stubs for Python ([`python_stubs`]).
//!
//! `Cargo.toml` of the package (`docs/book/messages.md` in Sinew's repository goes through a whole
//! program):
//!
//! ```toml
//! [dependencies]
//! sinew = { version = "0.1", features = ["std_msgs", "service_msgs"] }
//!
//! [build-dependencies]
//! sinew-build = "0.1"
//! ```
//!
//! (Before the first release, `path = ".."` replaces the version.) `build.rs`:
//!
//! ```no_run
//! fn main() -> Result<(), sinew_build::GenerateError> {
//!     sinew_build::generate(["interfaces/arm_msgs"])
//! }
//! ```
//!
//! And the library:
//!
//! ```text
//! sinew::include_interfaces!(); // pub mod arm_msgs { pub mod msg { pub struct Joint { .. } } }
//! ```
//!
//! A folder has the name of its package and contains `msg/*.msg`, `srv/*.srv` and
//! `action/*.action`. ROS 2 packages that the definitions need come from the crate `sinew`, with a
//! feature for each; services need `service_msgs`, actions `action_msgs`. A crate that contains
//! only interfaces may depend on `sinew-msg` and `sinew-interfaces` instead, and call
//! `sinew_msg::include_interfaces!()`. These crates must be direct dependencies: Cargo tells build
//! scripts nothing about indirect ones.
//!
//! A module with types that are [`Plain`] contains `unsafe impl`s and allows `unsafe_code` for
//! itself, so it doesn't compile in a crate with `#![forbid(unsafe_code)]`. Put the interfaces into
//! a separate crate.
//!
//! | definition | Rust |
//! |---|---|
//! | a message | a struct with public fields, in the package's module `msg`; its constants |
//! | | its default values as `Default` |
//! | | [`Message`], and [`Plain`] if it is encoded as it is in memory |
//! | | [`Stamped`], if it has a `header` |
//! | | [`Viewed`], with a struct `JointView` that borrows from an encoded message |
//! | | [`Built`], with `JointLengths` and `JointParts`, if it contains sequences of numbers |
//! | a service `Move` | [`Service`] for an empty type `Move` |
//! | | `MoveRequest`, `MoveResponse` and `MoveEvent` |
//! | an action `Reach` | [`Action`] for an empty type `Reach` |
//! | | `ReachGoal`, `ReachResult`, `ReachFeedback` and the types that ROS 2 derives from these |
//!
//! Names are those of the definitions in camel case. If that would be the name of another
//! definition, the name contains an underscore (`Move_Request`). Fields named like a keyword are
//! raw identifiers (`r#type`).
//!
//! [`Message`]: sinew_msg::Message
//! [`Plain`]: sinew_msg::Plain
//! [`Stamped`]: sinew_msg::Stamped
//! [`Viewed`]: sinew_msg::view::Viewed
//! [`Built`]: sinew_msg::loan::Built
//! [`Service`]: sinew_msg::Service
//! [`Action`]: sinew_msg::Action

mod code;
mod comment;
mod cpp;
mod encoded;
mod error;
mod expression;
mod files;
mod generator;
mod known;
mod layout;
mod loan;
mod message;
mod names;
mod package;
mod python;
mod ros;
mod services;
mod template;
mod view;

pub use cpp::CppGenerator;
pub use error::GenerateError;
pub use generator::{Generator, generate};
pub use python::{python_class, python_stubs};
