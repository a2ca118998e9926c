//! The end of a path: which messages arrived, in which order, and how long each took.

use serde::{Deserialize, Serialize};

use crate::{Figures, Samples, Sequence, Usage};

/// The messages that arrived from one publisher, which numbers them from 1. The default has room
/// for no sample.
#[derive(Debug, Default, Deserialize, Serialize)]
pub struct Arrivals {
    samples: Samples,
    sequence: Sequence,
    /// Messages up to this number warm up.
    warm_up: u64,
    /// The time that message 1 took, not divided.
    first_ns: Option<i64>,
}

impl Arrivals {
    /// Makes room for `room` samples, with every page touched. Messages up to number `warm_up` are
    /// counted, and have no sample.
    pub fn after(warm_up: u64, room: usize) -> Self {
        Self { samples: Samples::with_room_for(room), sequence: Sequence::default(), warm_up, first_ns: None }
    }

    /// Records message `number`, which took `latency_ns`.
    pub fn note(&mut self, number: u64, latency_ns: i64) {
        self.sequence.note(number);
        if number > self.warm_up {
            self.samples.record(latency_ns);
        } else if number == 1 {
            self.first_ns = Some(latency_ns);
        }
    }

    /// Returns the number of messages that arrived.
    pub fn received(&self) -> u64 {
        self.sequence.received
    }

    /// Returns the figures of `sent` messages; `parts` divides each latency. `usage` covers all
    /// processes of the round.
    pub fn figures(&self, parts: u32, sent: u64, usage: Usage) -> Figures {
        let Self { samples, sequence, first_ns, .. } = self;
        let figures = Figures::of(samples, parts).faulty(sequence.lost(sent), sequence.reordered);
        Figures { first_ns: first_ns.map(|first| first as f64), ..figures.using(usage) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_warms_up_counts_and_has_no_sample() {
        let mut arrivals = Arrivals::after(1, 4);
        for number in [1, 2, 4, 3] {
            arrivals.note(number, 100 * number.cast_signed());
        }
        assert_eq!(arrivals.received(), 4);
        let figures = arrivals.figures(1, 6, Usage::default());
        assert_eq!((figures.messages, figures.lost, figures.reordered), (Some(3), Some(3), Some(1)));
        assert_eq!((figures.first_ns, figures.max_ns), (Some(100.0), Some(400.0)));
    }
}
