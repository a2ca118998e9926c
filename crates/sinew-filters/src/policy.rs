//! What policies have in common: they see stamps only, and say what becomes of the messages.

/// What becomes of messages that were added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// It is in no set. Of several of a topic with one stamp, the oldest.
    Drop { topic: usize, stamp: i64 },
    /// These belong together: a stamp for each topic. Of several with one stamp, the oldest.
    Emit(Vec<i64>),
}

pub(crate) trait Policy: Send {
    /// A message came: adds what is to be done now, in this order. False: it is too late to be in
    /// any set.
    fn add(&mut self, topic: usize, stamp: i64, steps: &mut Vec<Step>) -> bool;

    /// Forgets all.
    fn clear(&mut self);
}
