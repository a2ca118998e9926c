//! Actions: servers and clients, and the goals of both.
//!
//! | file | |
//! |---|---|
//! | `types`, `encoded_value` | the types of an action |
//! | `server`, `server_goal` | a server, and a goal that it was given |
//! | `client`, `client_goal` | a client, and a goal that it sent |

mod client;
mod client_goal;
mod encoded_value;
mod server;
mod server_goal;
mod types;

pub(crate) use client::ActionClient;
pub(crate) use client_goal::{ClientGoal, SentGoal};
pub(crate) use server::ActionServer;
pub(crate) use server_goal::ServerGoal;
