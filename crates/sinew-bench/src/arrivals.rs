//! The end of a path: which messages arrived, in which order, and how long each took.

use serde::{Deserialize, Serialize};

use crate::rounds::{Round, Usage};
use crate::samples::Samples;
use crate::sequence::Sequence;

/// The messages that arrived from one publisher, which numbers them from 1. The default has room
/// for no sample.
#[derive(Debug, Default, Deserialize, Serialize)]
pub struct Arrivals {
    samples: Samples,
    sequence: Sequence,
    /// Messages up to this number warm up.
    warm_up: u64,
}

impl Arrivals {
    /// Makes room for `room` samples, with every page touched. Messages up to number `warm_up` are
    /// counted, and have no sample.
    pub fn after(warm_up: u64, room: usize) -> Self {
        Self { samples: Samples::with_room_for(room), sequence: Sequence::default(), warm_up }
    }

    /// Records message `number`, which took `latency_ns`.
    pub fn note(&mut self, number: u64, latency_ns: i64) {
        self.sequence.note(number);
        if number > self.warm_up {
            self.samples.record(latency_ns);
        }
    }

    /// Returns the number of messages that arrived.
    pub fn received(&self) -> u64 {
        self.sequence.received
    }

    /// Returns the round of `sent` messages. `usage` covers all of its processes.
    pub fn round(self, sent: u64, usage: Usage) -> Round {
        Round {
            lost: self.sequence.lost(sent),
            reordered: self.sequence.reordered,
            usage: Some(usage),
            ..Round::of(self.samples)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_warms_up_counts_and_has_no_sample() {
        let mut arrivals = Arrivals::after(1, 4);
        for number in [1, 2, 4, 3] {
            arrivals.note(number, 100);
        }
        assert_eq!(arrivals.received(), 4);
        let round = arrivals.round(6, Usage::default());
        assert_eq!((round.messages, round.lost, round.reordered), (3, 3, 1));
    }
}
