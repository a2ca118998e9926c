//! Messages of types that only the run time knows: like a C++ class, with an allocator of its own.
#![expect(unsafe_code, reason = "a type of another language is registered by its functions")]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod class;
mod failing;
mod messages;
mod processes;
mod services;
mod shared_memory;
#[path = "../support/mod.rs"]
mod support;
mod topics;
