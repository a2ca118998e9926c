//! Closures and futures that run in a callback group.
//!
//! A queue is one task of its group. Work stands in it in the order in which it was posted or woken,
//! each piece under the stamp of that moment, so the executor runs it in order with messages and
//! timers. A future is polled by threads that run the group, and by no other thread: its waker only
//! puts it into the queue again.
//!
//! Closures, polls, wakers, and drops of all of them and of outputs are the program's code: no lock
//! is held meanwhile, and a panic in one of them leaves no handle waiting.

// | file | contents |
// |---|---|
// | `queue` | a queue of closures and woken futures |
// | `future_cell` | a future of a queue: who has it, and when it is polled |
// | `join` | spawning a future, and its output for the handle |

pub(crate) mod future_cell;
pub(crate) mod join;
pub(crate) mod queue;
