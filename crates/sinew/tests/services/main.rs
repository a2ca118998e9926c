//! Services: calls, servers, their answers.

mod async_services;
mod calls;
mod services;
mod serving;
#[path = "../support/mod.rs"]
mod support;
