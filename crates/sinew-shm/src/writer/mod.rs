//! The sending end of an entity: its ring, its chunks and its connections.
//!
//! | file | contents |
//! |---|---|
//! | `connection` | one of its connections, as the writer keeps it |
//! | `message_writer` | the writer: connecting readers, publishing |
//! | `chunks` | lending memory for messages, and taking it back from older ones |
//! | `waiting` | waiting for readers that must get every message |

pub(crate) mod chunks;
pub(crate) mod connection;
pub(crate) mod message_writer;
pub(crate) mod waiting;

#[cfg(all(test, not(loom)))]
#[expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]
mod tests;
