//! The C++ back end: headers with the structs of ROS 2's `rosidl_generator_cpp`.
//!
//! A definition becomes a header. Each message type in it has a struct (`structure`), a builder
//! (`builder`) and traits, of which one passes the fields to a visitor (`traits`): the headers in
//! `sinew-c/include/sinew` encode, decode and print all messages through that.

mod builder;
mod comments;
mod generator;
mod header;
mod names;
mod structure;
mod traits;
mod values;

pub use generator::CppGenerator;
