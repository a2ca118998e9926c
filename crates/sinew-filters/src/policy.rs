//! The interface of policies: they see only stamps, and decide on the messages.

/// A decision about messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// The message is in no set. Among several of a topic with one stamp, the oldest is meant.
    Drop { topic: usize, stamp: i64 },
    /// These messages form a set: one stamp per topic. Among several with one stamp, the oldest is
    /// meant.
    Emit(Vec<i64>),
}

pub(crate) trait Policy: Send {
    /// Handles a new message and adds the resulting steps, in order. Returns `false` if the message
    /// is too late for any set.
    fn add(&mut self, topic: usize, stamp: i64, steps: &mut Vec<Step>) -> bool;

    /// Forgets all messages.
    fn clear(&mut self);
}
