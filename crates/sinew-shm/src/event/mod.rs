//! Events: how a writer notifies a thread of another process that a connection has messages for it.
//!
//! | file | contents |
//! |---|---|
//! | `protocol` | event rings, and how a sleeping thread is woken |
//! | `sender` | an event ring towards a port of another participant |
//! | `receiver` | ports, on which executors and threads wait |

pub(crate) mod protocol;
pub(crate) mod receiver;
pub(crate) mod sender;
