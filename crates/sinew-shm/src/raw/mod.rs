//! The raw layer: named values and queues between processes, for programs without nodes.
//!
//! | | writers | readers | a reader gets | blocks |
//! |---|---|---|---|---|
//! | [`Topic`] | many | many | the newest value, once | never |
//! | [`Queue`] | many | many | every message since it joined | writer if full, reader if empty |
//! | [`Variable`] | one master | many | the current value, at any time | never |
//!
//! ```
//! use sinew_shm::raw::Topic;
//! # let base = tempfile::tempdir_in("/dev/shm")?;
//! # let space = sinew_shm::raw::Space::join(&sinew_shm::Domain::open(Some(base.path()), 0)?)?;
//! // In one process: `Topic::open("speed")` meets the others of `$SINEW_DIR`.
//! let speed = Topic::<f64>::open_in(&space, "speed")?;
//! speed.write(&1.5)?;
//! // In another:
//! let mut speed = Topic::<f64>::open_in(&space, "speed")?;
//! assert_eq!(speed.read()?.map(|found| found.value), Some(1.5));
//! assert_eq!(speed.read()?, None);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Values are plain types (`bytemuck`'s `NoUninit` and `AnyBitPattern`: numbers, arrays, and
//! structs of them without padding) and slices of plain types, and so also any bytes; see
//! [`Value`]. Only the size of the file system limits the size of a message.
//!
//! # Names
//!
//! A name is 1 to 255 bytes long, and unique in its domain across all three kinds. A process that
//! opens it as another kind, type or size gets an error that names its kind and type, and a process
//! that uses it. Types are compared by their names without modules, and by size.
//!
//! # How it works
//!
//! Each writing process has its own ring, so no process writes another's memory, and a process that
//! dies leaves nothing half written. Each reading handle has its own connection to each writing
//! process. Within a process, values reach the handles without shared memory. A value lives as long
//! as a process that wrote it or got it.
//!
//! Opening a handle, and its first write or read, connect it with the other processes, which takes
//! up to a few milliseconds. After that, a write or a read makes no system call except to sleep or
//! to wake a sleeper.

mod channel;
mod claim;
mod declared;
mod error;
mod latest;
mod member;
mod queue;
mod registry;
mod retained;
mod space;
mod topic;
mod value;
mod variable;
mod waiter;

pub use error::{OpenError, ReadError, WriteError};
pub use queue::{Queue, QueueOptions};
pub use space::Space;
pub use topic::Topic;
pub use value::{Origin, Sample, Value};
pub use variable::{Master, Variable};
