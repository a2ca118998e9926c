//! Connections between a writer and a reader in another process: both ends, and how a writer waits
//! for readers that must get every message.
//!
//! | file | contents |
//! |---|---|
//! | `outgoing` | the sending end, as the writer and the helper thread share it |
//! | `incoming` | the receiving end |
//! | `flow_control` | how a writer waits for room |

pub(crate) mod flow_control;
pub(crate) mod incoming;
pub(crate) mod outgoing;
