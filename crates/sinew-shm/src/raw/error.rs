//! What can go wrong in the raw layer, by who can mend it.

use crate::error::{CapacityError, DomainError, JoinError, SegmentError};
use std::time::Duration;

/// A topic, queue or variable can't be opened.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The name is empty or too long.
    #[error("`{name}` can't be a name: it has {length} bytes, where 1 to 255 are allowed")]
    Name {
        /// The name.
        name: String,
        /// Its length in bytes.
        length: usize,
    },
    /// The name is another kind's, or has another type or size.
    #[error(
        "`{name}` can't be {ours}: for process {pid} ({program}) it is {theirs}. Use another name, or build both programs \
         with the same type"
    )]
    InUse {
        /// The name.
        name: String,
        /// What it was opened as.
        ours: String,
        /// What it is.
        theirs: String,
        /// A process that uses it.
        pid: u64,
        /// The name of that process's program.
        program: String,
    },
    /// The variable has a master.
    #[error("the variable `{name}` has a master: process {pid} ({program}). Read it, or end that one")]
    Master {
        /// The variable.
        name: String,
        /// The master's process.
        pid: u64,
        /// The name of its program.
        program: String,
    },
    /// Another process is opening the name, too, and doesn't come to an end.
    #[error(
        "process {pid} ({program}) has been opening `{name}` as {theirs} for {waited:?} without an end: it may be stopped. \
         Continue or end it"
    )]
    Undecided {
        /// The name.
        name: String,
        /// What the other process opens it as.
        theirs: String,
        /// The other process.
        pid: u64,
        /// The name of its program.
        program: String,
        /// How long it was waited for.
        waited: Duration,
    },
    /// The number of the domain is no number.
    #[error("{variable} is `{value}`, where a number from 0 on is needed: correct or unset it")]
    DomainNumber {
        /// The environment variable.
        variable: &'static str,
        /// What it holds.
        value: String,
    },
    /// The directory can't be used.
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// The process can't take part.
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
    /// A reader of the queue has no room, and made none in time. No reader got the message.
    #[error(
        "the queue `{name}` is full: process {pid} ({program}) has {capacity} messages to read, and read none for {waited:?}. \
         End it, give the queue a greater capacity, or have such readers cut off"
    )]
    Full {
        /// The queue.
        name: String,
        /// Messages that it holds for each reader.
        capacity: usize,
        /// The process that has no room.
        pid: u64,
        /// The name of its program.
        program: String,
        /// How long it was waited for.
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
    /// A writer didn't wait for this reader any longer
    /// ([`QueueOptions::patience`](super::QueueOptions)). Messages of that one are lost; the next
    /// read joins anew.
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
    /// Messages are missing: their writer is broken. The next read goes on behind them.
    #[error("{missed} messages of the queue `{name}` are lost: process {pid} ({program}) overwrote them")]
    Missed {
        /// The queue.
        name: String,
        /// How many.
        missed: u64,
        /// The writer's process.
        pid: u64,
        /// The name of its program.
        program: String,
    },
    /// A value has a size that its type can't have: its writer is broken. It is passed over.
    #[error("a value of `{name}` has {found} bytes, where {expected} are one of its type")]
    Size {
        /// The name that it is a value of.
        name: String,
        /// Bytes that it has.
        found: usize,
        /// Bytes that it, or an element, should have.
        expected: usize,
    },
    /// A writer's memory is not what it should be. What it wrote is passed over.
    #[error(transparent)]
    Segment(#[from] SegmentError),
    /// There is no room, or this process has left.
    #[error(transparent)]
    Capacity(#[from] CapacityError),
}
