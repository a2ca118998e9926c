//! What the crate takes from the machine, and what everything in it uses.
//!
//! | file | what |
//! |---|---|
//! | `sync` | the only door to locks and atomics: the real ones, or loom's |
//! | `coalescing_lock` | what one thread at a time works on, and others have looked at again instead of waiting |
//! | `time` | points in time |
//! | `clock` | the only file that reads a clock or asks the kernel for timing |
//! | `jump` | what is told when ROS time jumps |
//! | `parker` | how a thread sleeps until it is called |
//! | `interrupt` | Ctrl-C |
//! | `logging` | what Sinew says |
//! | `says` | how errors print |

#[macro_use]
pub(crate) mod sync; // first: its `thread_local!` is the crate's in a model

pub(crate) mod clock;
pub(crate) mod coalescing_lock;
pub(crate) mod interrupt;
pub(crate) mod jump;
pub(crate) mod logging;
pub(crate) mod parker;
pub(crate) mod says;
pub(crate) mod time;
