//! News: one publisher, and many readers in one or more other processes. The readers' observations
//! and their evaluation, whatever transports the messages.

use serde::{Deserialize, Serialize};

use crate::{Figures, Samples, Sequence};

/// The observations of the readers in one process.
#[derive(Debug, Default, Deserialize, Serialize)]
pub struct Heard {
    /// For each message, the time from before the publish until the last reader here had it; 0 if
    /// it is missing for one.
    to_last_ns: Vec<i64>,
    /// One per reader.
    sequences: Vec<Sequence>,
}

impl Heard {
    /// Makes room for this many readers and messages. All of its memory is allocated at once.
    pub fn by(readers: u32, room: usize) -> Self {
        let mut to_last_ns = vec![1; room];
        to_last_ns.fill(0);
        Self { to_last_ns, sequences: vec![Sequence::default(); readers as usize] }
    }

    /// Records that a reader got message `number`, `latency_ns` after the publish began.
    pub fn note(&mut self, reader: usize, number: u64, latency_ns: i64) {
        self.sequences[reader].note(number);
        let place = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        if let Some(to_last) = place.and_then(|place| self.to_last_ns.get_mut(place)) {
            *to_last = latency_ns.max(*to_last).max(1);
        }
    }

    /// Returns the number of messages of the reader that got the fewest.
    pub fn received_by_all(&self) -> u64 {
        self.sequences.iter().map(|sequence| sequence.received).min().unwrap_or(0)
    }
}

/// Evaluates the observations of all processes for `sent` messages. The times are those until the
/// last reader had a message; the first `warm_up` messages have none, nor have those that a process
/// never got.
pub fn figures(heard: &[Heard], warm_up: u64, sent: u64) -> Figures {
    let room = heard.iter().map(|heard| heard.to_last_ns.len()).max().unwrap_or(0);
    let mut to_last = Samples::with_room_for(room);
    for message in usize::try_from(warm_up).unwrap_or(usize::MAX)..room {
        let latencies = || heard.iter().map(|heard| heard.to_last_ns.get(message).copied().unwrap_or(0));
        if latencies().all(|latency| latency > 0) {
            latencies().max().into_iter().for_each(|latency| to_last.record(latency));
        }
    }
    let sequences = || heard.iter().flat_map(|heard| &heard.sequences);
    let lost = sequences().map(|sequence| sequence.lost(sent)).sum();
    let reordered = sequences().map(|sequence| sequence.reordered).sum();
    Figures::of(&to_last, 1).faulty(lost, reordered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_readers_the_last_one_counts() {
        let mut heard = Heard::by(2, 2);
        heard.note(0, 1, 300);
        heard.note(1, 1, 500);
        heard.note(0, 2, -1);
        heard.note(0, 3, 9);
        assert_eq!((heard.to_last_ns.as_slice(), heard.received_by_all()), ([500, 1].as_slice(), 1));
        let figures = figures(&[heard], 0, 3);
        assert_eq!((figures.messages, figures.lost, figures.reordered), (Some(2), Some(2), None));
    }

    #[test]
    fn a_message_that_a_process_never_got_has_no_time() {
        let mut both = [Heard::by(1, 3), Heard::by(1, 3)];
        for (heard, latency) in both.iter_mut().zip([100, 200]) {
            heard.note(0, 1, latency);
            heard.note(0, 2, latency);
        }
        both[0].note(0, 3, 100);
        let figures = figures(&both, 1, 3);
        assert_eq!((figures.messages, figures.lost, figures.p50_ns), (Some(1), Some(1), Some(200.0)));
    }
}
