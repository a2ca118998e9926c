//! What waits to be taken.
//!
//! | file | what |
//! |---|---|
//! | `history` | what one subscription keeps: plain data |
//! | `waiters` | tasks that wait for a message, and listeners |
//! | `deferred` | what a delivery leaves to do once no lock is held |

pub(crate) mod deferred;
pub(crate) mod history;
pub(crate) mod waiters;
