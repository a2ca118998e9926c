//! Errors of the raw layer, split by who can fix them.

use crate::error::{CapacityError, DomainError, JoinError, SegmentError};
use std::time::Duration;

/// A topic, queue or variable can't be opened.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The name is empty or too long.
    #[error("`{name}` can't be a name: it has {length} bytes, but a name has 1 to 255")]
    Name {
        /// The name.
        name: String,
        /// Its length in bytes.
        length: usize,
    },
    /// The name is in use as another kind, or with another type or size.
    #[error(
        "`{name}` can't be {ours}: for process {pid} ({program}) it is {theirs}. Use another name, or build both programs \
         with the same type"
    )]
    InUse {
        /// The name.
        name: String,
        /// Kind and type with which this process opened it.
        ours: String,
        /// Kind and type with which the other process opened it.
        theirs: String,
        /// A process that uses it.
        pid: u64,
        /// The name of that process's program.
        program: String,
    },
    /// The variable already has a master.
    #[error(
        "the variable `{name}` already has a master: process {pid} ({program}). Open it for reading, or end that process"
    )]
    Master {
        /// The variable.
        name: String,
        /// The master's process.
        pid: u64,
        /// The name of its program.
        program: String,
    },
    /// Another process is opening the name as well, and doesn't finish.
    #[error(
        "process {pid} ({program}) is still opening `{name}` as {theirs} after {waited:?}: it may be stopped. \
         Continue or end it"
    )]
    Undecided {
        /// The name.
        name: String,
        /// Kind and type with which the other process opens it.
        theirs: String,
        /// The other process.
        pid: u64,
        /// The name of its program.
        program: String,
        /// Time that this process waited for the other one.
        waited: Duration,
    },
    /// The environment variable for the domain's number doesn't hold a number.
    #[error("{variable} is `{value}`, but must be a number of at least 0: correct or unset it")]
    DomainNumber {
        /// The environment variable.
        variable: &'static str,
        /// The value of the variable.
        value: String,
    },
    /// The directory can't be used.
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// The process can't join the domain.
    #[error(transparent)]
    Join(#[from] JoinError),
    /// There is no room.
    #[error(transparent)]
    Capacity(#[from] CapacityError),
}

/// A value can't be written.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// A reader of the queue had no room, and made none in time. No reader got the message.
    #[error(
        "the queue `{name}` is full: process {pid} ({program}) has {capacity} messages to read, and read none for {waited:?}. \
         End it, give the queue a greater capacity, or have such readers cut off"
    )]
    Full {
        /// The queue.
        name: String,
        /// Number of messages that the queue holds for each reader.
        capacity: usize,
        /// The process that has no room.
        pid: u64,
        /// The name of its program.
        program: String,
        /// Time that the writer waited.
        waited: Duration,
    },
    /// There is no room, or this process has left.
    #[error(transparent)]
    Capacity(#[from] CapacityError),
}

/// A value can't be read.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// A writer stopped waiting for this reader ([`QueueOptions::patience`](super::QueueOptions)).
    /// Messages of that writer are lost; the next read joins the queue again.
    #[error(
        "process {pid} ({program}) has cut this reader of the queue `{name}` off: it had been full for too long. Read more often, or \
         give the queue a greater capacity"
    )]
    CutOff {
        /// The queue.
        name: String,
        /// The writer's process.
        pid: u64,
        /// The name of its program.
        program: String,
    },
    /// Messages are missing because their writer is broken. The next read continues after them.
    #[error("{missed} messages of the queue `{name}` were lost: process {pid} ({program}) overwrote them")]
    Missed {
        /// The queue.
        name: String,
        /// Number of missing messages.
        missed: u64,
        /// The writer's process.
        pid: u64,
        /// The name of its program.
        program: String,
    },
    /// A value has a size that is invalid for its type, because its writer is broken. The value is
    /// skipped.
    #[error("a value of `{name}` has {found} bytes, but a value of its type has {expected}")]
    Size {
        /// The name of the topic, queue or variable.
        name: String,
        /// The value's size in bytes.
        found: usize,
        /// The valid size in bytes, of a value or of an element.
        expected: usize,
    },
    /// A writer's memory is invalid. Its message is skipped.
    #[error(transparent)]
    Segment(#[from] SegmentError),
    /// There is no room, or this process has left.
    #[error(transparent)]
    Capacity(#[from] CapacityError),
}
