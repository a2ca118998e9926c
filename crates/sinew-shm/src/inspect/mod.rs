//! Views of a running system for tools: participants, backlogs, and the callbacks that are running.
//!
//! | file | contents |
//! |---|---|
//! | `snapshot` | the participants of a domain, seen from outside |
//! | `unread` | messages that a reader has not read yet |
//! | `workers` | threads and the callbacks that they run |

pub(crate) mod snapshot;
pub(crate) mod unread;
pub(crate) mod workers;
