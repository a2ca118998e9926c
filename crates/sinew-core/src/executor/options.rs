//! Choices between kinds of executors.

/// Whether an executor's timers have a thread of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum TimerThread {
    /// No: the threads that run callbacks mind the timers. The default; it costs no switch between
    /// threads.
    #[default]
    No,
    /// A thread wakes when they are due and queues them, before the messages that were published
    /// after that. For executors that are busy with long callbacks on several threads.
    Queues,
    /// A thread wakes when they are due and runs their callbacks itself, beside those that run
    /// callbacks of other groups; a timer is queued if its group is running.
    Runs,
}

/// What callbacks are ordered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum DispatchOrder {
    /// When their messages arrived, the default: a subscription keeps its place in the queue if its
    /// oldest message gives way to a newer one. So a topic that is published faster than it is read
    /// still has its turn.
    #[default]
    Arrival,
    /// When the messages that wait were published: a message that gives way takes its place in the
    /// queue with it.
    SourceTime,
}

/// What an executor does when a callback panics or returns an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FaultPolicy {
    /// Spinning stops and returns it. The default for panics: no one can know what state they left.
    Stop,
    /// It is reported with the entity's name, in the program's log or on standard error
    /// ([how](crate#what-sinew-says)), and the rest goes on. The default for errors.
    Report,
}
