//! Closures and futures that run in a callback group.
//!
//! A queue is one task of its group. Work waits in it in the order in which it was posted or woken,
//! each piece under the stamp of that moment, so the executor runs work in order with messages and
//! timers. Only threads that run the group poll a future: its waker only puts it into the queue
//! again.
//!
//! Closures, polls, wakers and all drops, including those of outputs, are code of the program: they
//! run under no lock, and after a panic in one of them no handle keeps waiting.

// | file | contents |
// |---|---|
// | `queue` | a queue of closures and woken futures |
// | `future_cell` | a future of a queue: its owner, and the times at which it is polled |
// | `join` | spawning a future, and its output for the handle |

pub(crate) mod future_cell;
pub(crate) mod join;
pub(crate) mod queue;
