//! The C interface of Sinew: what `include/sinew/sinew.h` declares.
//!
//! C programs and bindings of other languages call these functions; programs of Rust use the crate
//! `sinew`, on which this one stands: there is no second delivery, QoS or executor here. The header
//! is written by a test from the sources (`SINEW_UPDATE=1 cargo test -p sinew-c --test header`),
//! so the documentation of each function is for a reader of C.
//!
//! # Rules
//!
//! - **Handles** are pointers to opaque structures. Each has one `.._free`, which accepts null.
//!   A handle of another kind, or one that was freed, is an error with a sentence, not a crash, as
//!   long as its place was not given to a new handle; see [`handle`].
//! - **Failures** are a [`sinew_status`]; the sentence of a thread's last failure is
//!   [`sinew_error_message`](status::sinew_error_message). A function that only asks returns its answer, and 0 or null
//!   after a failure. No panic crosses the border.
//! - **Texts** are UTF-8 and end with a NUL. Those that are returned belong to their handle.
//! - **Structures** begin with their size. Of options, what a caller's structure lacks, or what is
//!   zero in it, is the default; of results, as much is filled as the caller's structure has.
//! - **Messages** are counted references without a slot, as they are the hot path: mistakes with
//!   them are noticed only with `SINEW_DEBUG_HANDLES=1` in the environment.
//! - **Threads**: every function may be called from any thread, except that nothing may use a
//!   handle while another thread frees it.
//!
//! # Safety of all functions
//!
//! Pointers are null or valid for what the documentation of the function does with them: a text
//! ends with a NUL, an array has the number of elements that is passed beside it, a place for a
//! result can be written. Handles come from this library.
#![allow(non_camel_case_types, reason = "the types have the names that they have in C")]
#![allow(clippy::missing_safety_doc, reason = "what callers of C promise is the same for all: see above")]

pub mod action_client;
pub mod action_server;
pub mod action_type;
pub mod client;
pub mod client_goal;
pub mod clock;
pub mod clock_publisher;
pub mod closure;
pub mod component;
pub mod container;
pub mod container_program;
pub mod context;
pub mod descriptor;
pub mod draft;
pub mod event;
pub mod executor;
pub mod goal;
pub mod graph;
pub mod graph_snapshot;
pub mod group;
pub mod guard_condition;
pub mod handle;
pub mod invalid_name;
pub mod lifecycle;
pub mod lifecycle_callbacks;
pub mod lifecycle_state;
pub mod logging;
pub mod message;
pub mod message_info;
pub mod message_type;
pub mod named_type;
pub mod node;
pub mod node_request;
pub mod owned;
pub mod parameter;
pub mod parameter_callback;
pub mod parameter_client;
pub mod parameter_descriptor;
pub mod parameter_handle;
pub mod parameter_list;
pub mod pending_call;
pub mod publisher;
pub mod pulled;
pub mod qos;
pub mod rate;
pub mod raw;
pub mod server_goal;
pub mod service;
pub mod service_introspection;
pub mod service_type;
pub mod signals;
pub mod status;
pub mod strings;
pub mod subscription;
pub mod tf;
pub mod time;
pub mod timer;
pub mod type_table;
pub mod version;
pub mod virtual_clock;
pub mod wait_set;
pub mod work;

mod array;
mod c_string;
mod component_library;
mod service_qos;
mod structure;
mod test_camera;
#[cfg(test)]
mod test_support;
mod text;

pub use status::sinew_status;
