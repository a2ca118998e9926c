//! Messages that wait to be taken, and the threads and tasks that wait for them.
//!
//! | file | contents |
//! |---|---|
//! | `history` | the messages of one subscription: plain data |
//! | `waiters` | threads, tasks and listeners that are woken |
//! | `deferred` | work that a delivery defers until no lock is held |

pub(crate) mod deferred;
pub(crate) mod history;
pub(crate) mod waiters;
