//! The crate's access to the machine, and utilities that everything in it uses.
//!
//! | file | contents |
//! |---|---|
//! | `sync` | the only access to locks and atomics: the real ones, or loom's |
//! | `coalescing_lock` | a value for one thread at a time, without waiting |
//! | `last_out` | threads that share a work, of which the last reports the end |
//! | `time` | points in time |
//! | `clock` | the only file that reads a clock or asks the kernel for timing |
//! | `jump` | jumps of ROS time |
//! | `parker` | sleeping until another thread wakes this one |
//! | `interrupt` | Ctrl-C |
//! | `log_level` | levels of log lines |
//! | `logging` | Sinew's own log lines |
//! | `says` | printing errors |

#[macro_use]
pub(crate) mod sync; // first: its `thread_local!` is the crate's in a model

pub(crate) mod clock;
pub(crate) mod coalescing_lock;
pub(crate) mod interrupt;
pub(crate) mod jump;
pub(crate) mod last_out;
pub(crate) mod log_level;
pub(crate) mod logging;
pub(crate) mod panics;
pub(crate) mod parker;
pub(crate) mod says;
pub(crate) mod time;
