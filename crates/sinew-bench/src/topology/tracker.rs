//! Classifies one subscription's messages as late, too late or lost, as `ros2-performance` defines
//! them.

/// Follows the messages of one subscription.
#[derive(Debug, Default)]
pub struct Tracker {
    /// The last number seen of each of the topic's publishers.
    last: Vec<Option<u32>>,
    /// Messages that came.
    pub received: u64,
    /// Messages that came late.
    pub late: u64,
    /// Messages that came too late to be useful.
    pub too_late: u64,
    /// Messages that never came.
    pub lost: u64,
    /// Messages that came after a later one.
    pub reordered: u64,
}

/// An arrived message, as far as its timing matters.
pub struct Arrival {
    /// Index of the publisher among those of its topic.
    pub publisher: usize,
    /// Number among its publisher's messages.
    pub number: u32,
    /// The publisher's period, in nanoseconds.
    pub period_ns: i64,
    /// From the publish to the callback, in nanoseconds.
    pub latency_ns: i64,
}

impl Tracker {
    /// Makes a tracker for a topic with this many publishers.
    pub fn new(publishers: usize) -> Self {
        Self { last: vec![None; publishers], ..Self::default() }
    }

    /// Makes a tracker for a topic with publishers that start with these numbers: earlier messages
    /// are ignored.
    pub fn from(first: impl IntoIterator<Item = u32>) -> Self {
        let last = first.into_iter().map(|number| number.checked_sub(1)).collect();
        Self { last, ..Self::default() }
    }

    /// Counts a message. Returns `true` if it came early enough to count towards the mean latency,
    /// so it isn't too late.
    ///
    /// Late means more than 20 % of the period or 5 ms, whichever is less; too late, and no longer
    /// late, means more than the period or 50 ms. The numbers missing between two messages are
    /// lost.
    pub fn scan(&mut self, arrival: &Arrival) -> bool {
        self.received += 1;
        if let Some(last) = self.last.get_mut(arrival.publisher) {
            let expected = last.map_or(arrival.number, |last| last.wrapping_add(1));
            // A step of more than half of all numbers goes backwards.
            match arrival.number.wrapping_sub(expected) {
                gap if gap <= u32::MAX / 2 => {
                    self.lost += u64::from(gap);
                    *last = Some(arrival.number);
                }
                _ => self.reordered += 1,
            }
        }
        let too_late = arrival.latency_ns > arrival.period_ns.min(50_000_000);
        let late = arrival.latency_ns > (arrival.period_ns / 5).min(5_000_000);
        self.too_late += u64::from(too_late);
        self.late += u64::from(late && !too_late);
        !too_late
    }
}

impl Tracker {
    /// Counts the messages that a publisher sent after the last one that came: its messages are
    /// numbered from 0.
    pub fn finish(&mut self, publisher: usize, published: u64) {
        let came = self.last.get(publisher).copied().flatten().map_or(0, |last| u64::from(last) + 1);
        self.lost += published.saturating_sub(came);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrival(number: u32, latency_us: i64, period_ms: i64) -> Arrival {
        Arrival { publisher: 0, number, period_ns: period_ms * 1_000_000, latency_ns: latency_us * 1000 }
    }

    #[test]
    fn late_and_too_late() {
        // period in ms, latency in µs, late, too late
        let cases = [
            (10, 2000, 0, 0),
            (10, 2001, 1, 0),
            (10, 10_000, 1, 0),
            (10, 10_001, 0, 1),
            (500, 5000, 0, 0),
            (500, 5001, 1, 0),
            (500, 50_000, 1, 0),
            (500, 50_001, 0, 1),
        ];
        for (period, latency, late, too_late) in cases {
            let mut tracker = Tracker::new(1);
            let counts = tracker.scan(&arrival(0, latency, period));
            assert_eq!((tracker.late, tracker.too_late), (late, too_late), "{latency} µs of {period} ms");
            assert_eq!(counts, too_late == 0);
        }
    }

    #[test]
    fn gaps_are_lost_messages_and_steps_back_are_none() {
        let mut tracker = Tracker::new(1);
        for number in [5, 6, 9, 8, 10] {
            tracker.scan(&arrival(number, 1, 10));
        }
        assert_eq!((tracker.received, tracker.lost, tracker.reordered), (5, 2, 1));
    }

    #[test]
    fn publishers_of_one_topic_count_for_themselves() {
        let mut tracker = Tracker::new(2);
        for (publisher, number) in [(0, 0), (1, 40), (0, 1), (1, 41)] {
            tracker.scan(&Arrival { publisher, ..arrival(number, 1, 10) });
        }
        assert_eq!((tracker.lost, tracker.reordered), (0, 0));
    }
}
