//! Discovery: finding other participants, following their logs, and noticing their end.
//!
//! A participant's helper thread watches the directory for new control segments, and each peer's
//! control segment for two things: its owner touches it when something in it has changed, and the
//! kernel reports it closed when the last writable mapping of it is gone, which is the owner's end.
//! (All by inotify, so it works across users, PID namespaces and containers that share the
//! directory.) If no inotify instance is available, the helper thread looks by itself every few
//! milliseconds.
//!
//! Findings are compared with the known state, so it doesn't matter how often or how late a
//! participant looks. [`death`] describes a peer's end.
//!
//! | file | contents |
//! |---|---|
//! | `observer` | the news that a participant gets of the others |
//! | `known_peers` | its knowledge of them, and the times at which it looks again |
//! | `follower` | follows their changes |
//! | `death` | their end |
//! | `helper` | the thread that looks |

mod death;
pub(crate) mod follower;
pub(crate) mod helper;
pub(crate) mod known_peers;
pub(crate) mod observer;

#[cfg(all(test, not(loom)))]
mod tests;
