//! Services: calls, servers, their answers.

mod arrivals;
mod async_services;
mod calls;
mod forms;
mod listeners;
mod pulled;
mod pulled_clients;
mod services;
mod serving;
#[path = "../support/mod.rs"]
mod support;
