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

/// What becomes of a new message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admitted {
    /// It waits, or is in a set.
    Taken,
    /// A set with its stamp has come already.
    Surplus,
    /// Its stamp is before what has come.
    Late,
}

pub(crate) trait Policy: Send {
    /// Handles a new message and adds the resulting steps, in order.
    fn add(&mut self, topic: usize, stamp: i64, steps: &mut Vec<Step>) -> Admitted;

    /// Forgets all messages.
    fn clear(&mut self);
}
