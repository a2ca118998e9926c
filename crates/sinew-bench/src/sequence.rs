//! Checks that messages came in order and completely.

use serde::{Deserialize, Serialize};

/// Follows messages of one publisher, numbered from 1.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub struct Sequence {
    /// Messages that came.
    pub received: u64,
    /// Messages that came after a later one, or twice.
    pub reordered: u64,
    last: u64,
}

impl Sequence {
    /// Records a message.
    pub fn note(&mut self, number: u64) {
        self.received += 1;
        self.reordered += u64::from(number <= self.last);
        self.last = self.last.max(number);
    }

    /// Returns how many of `sent` messages never came. A message that came twice doesn't make up
    /// for a missing one.
    pub fn lost(&self, sent: u64) -> u64 {
        sent.saturating_sub(self.received.saturating_sub(self.reordered))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(numbers: &[u64]) -> Sequence {
        let mut sequence = Sequence::default();
        numbers.iter().for_each(|&number| sequence.note(number));
        sequence
    }

    #[test]
    fn gaps_are_lost_and_steps_back_are_reordered() {
        let all = after(&[1, 2, 3]);
        assert_eq!((all.received, all.reordered, all.lost(3)), (3, 0, 0));
        let gap = after(&[1, 4]);
        assert_eq!((gap.reordered, gap.lost(4), gap.lost(5)), (0, 2, 3));
        let twice = after(&[1, 2, 2]);
        assert_eq!((twice.reordered, twice.lost(3)), (1, 1));
        assert_eq!(after(&[1, 3, 2]).reordered, 1);
    }
}
