//! Changes of an endpoint's counters over a window of time.

use std::collections::VecDeque;

use sinew_shm::{Counter, Counts};

/// Most samples that are kept of a window.
const MOMENTS: i64 = 100;

/// The recent counters of an endpoint.
pub(crate) struct Track {
    window_ns: i64,
    past: VecDeque<Moment>,
    now: Moment,
}

#[derive(Clone, Copy)]
struct Moment {
    /// Steady nanoseconds.
    at_ns: i64,
    counts: Counts,
}

/// The difference between two looks at an endpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Change {
    /// Time between the two looks, in nanoseconds.
    pub(crate) span_ns: i64,
    /// Messages published or received.
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
    /// Messages of a publisher that moved by reference inside its process only: all or none. None
    /// of them was encoded, so their size isn't known.
    pub(crate) by_reference: u64,
    pub(crate) taken: u64,
    /// Copies, encodings and decodings.
    pub(crate) work: [u64; 3],
    pub(crate) dropped: u64,
    /// Messages per second.
    pub(crate) rate: f64,
    pub(crate) latencies: Latencies,
}

/// Latencies of one or several endpoints.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Latencies {
    /// Number of messages by latency: bucket i from 2^i nanoseconds on.
    buckets: [u64; 32],
    /// Sum in nanoseconds.
    sum: u64,
}

impl Track {
    /// Starts with a first look.
    pub(crate) fn new(window_ns: i64, at_ns: i64, counts: Counts) -> Self {
        let now = Moment { at_ns, counts };
        Self { window_ns, past: VecDeque::from([now]), now }
    }

    /// Adds a look.
    pub(crate) fn look(&mut self, at_ns: i64, counts: Counts) {
        self.now = Moment { at_ns, counts };
        let kept = self.past.back().map_or(i64::MIN, |last| last.at_ns);
        if at_ns.saturating_sub(kept) >= self.window_ns / MOMENTS {
            self.past.push_back(self.now);
        }
        // The first sample is as old as the window, or the next older one.
        while self.past.get(1).is_some_and(|second| at_ns - second.at_ns >= self.window_ns) {
            self.past.pop_front();
        }
    }

    /// Returns the change over the window, or over its elapsed part.
    pub(crate) fn change(&self) -> Change {
        let first = self.past.front().unwrap_or(&self.now);
        let now = &self.now;
        let more = |counter| now.counts.get(counter).wrapping_sub(first.counts.get(counter));
        let messages = more(Counter::Messages);
        let mut latencies = Latencies { sum: more(Counter::Latencies), ..Latencies::default() };
        for (index, bucket) in latencies.buckets.iter_mut().enumerate() {
            *bucket = now.counts.latencies[index].wrapping_sub(first.counts.latencies[index]);
        }
        Change {
            span_ns: now.at_ns - first.at_ns,
            messages,
            bytes: more(Counter::Bytes),
            by_reference: if is_by_reference(messages, more(Counter::Bytes), &now.counts) {
                messages
            } else {
                0
            },
            taken: more(Counter::Taken),
            work: [Counter::Copies, Counter::Encodings, Counter::Decodings].map(more),
            dropped: dropped(&now.counts).wrapping_sub(dropped(&first.counts)),
            rate: rate(messages, first, now),
            latencies,
        }
    }
}

/// Returns `true` if a publisher's messages went to matching endpoints without any byte leaving its
/// process.
pub(crate) fn is_by_reference(messages: u64, bytes: u64, counts: &Counts) -> bool {
    messages > 0 && bytes == 0 && counts.get(Counter::Matched) > 0
}

/// Returns the number of messages that were lost for any reason.
pub(crate) fn dropped(counts: &Counts) -> u64 {
    [Counter::Overwritten, Counter::Refused, Counter::Expired, Counter::Missed]
        .into_iter()
        .fold(0, |sum, cause| sum.wrapping_add(counts.get(cause)))
}

/// Returns messages per second. The time of the last message, which is stored beside the count,
/// makes this exact at any rate, although the looks fall between two messages.
fn rate(messages: u64, first: &Moment, now: &Moment) -> f64 {
    if messages == 0 {
        return 0.0;
    }
    let last = |moment: &Moment| moment.counts.get(Counter::Last).cast_signed();
    let messages = messages as f64;
    let published_ns = last(now).saturating_sub(last(first));
    let silent_ns = now.at_ns.saturating_sub(last(now));
    let is_steady = last(first) > 0 && published_ns > 0 && (0..2 * published_ns).contains(&silent_ns);
    // An endpoint that has been silent for longer than two of its periods has stopped: then the
    // time of the looks counts.
    let period_ns = published_ns as f64 / messages;
    if is_steady && silent_ns as f64 <= 2.0 * period_ns {
        return 1e9 / period_ns;
    }
    let span_ns = now.at_ns - first.at_ns;
    if span_ns > 0 { messages * 1e9 / span_ns as f64 } else { 0.0 }
}

impl Latencies {
    /// Adds the latencies of another endpoint.
    pub(crate) fn add(&mut self, other: &Self) {
        for (bucket, more) in self.buckets.iter_mut().zip(other.buckets) {
            *bucket = bucket.wrapping_add(more);
        }
        self.sum = self.sum.wrapping_add(other.sum);
    }

    /// Returns the number of messages.
    pub(crate) fn count(&self) -> u64 {
        self.buckets.iter().fold(0, |sum, bucket| sum.wrapping_add(*bucket))
    }

    /// Returns the mean in nanoseconds; `None` without messages.
    pub(crate) fn mean(&self) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| self.sum as f64 / count as f64)
    }

    /// Returns a time below which `percent` of the latencies lie, in nanoseconds. It is the end of
    /// a bucket, so up to twice the percentile. Returns `None` without messages.
    pub(crate) fn below(&self, percent: u64) -> Option<u64> {
        let wanted = u128::from(self.count()) * u128::from(percent);
        let mut seen = 0_u128;
        let bucket = self.buckets.iter().position(|bucket| {
            seen += u128::from(*bucket) * 100;
            seen >= wanted && seen > 0
        })?;
        Some(1 << (bucket + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    /// Only a participant can fill an endpoint's record: this one belongs to a participant of the
    /// test.
    struct Counted {
        _directory: tempfile::TempDir,
        entity: sinew_shm::transport::OwnEndpoint,
    }

    struct Nobody;

    impl sinew_shm::transport::Observer for Nobody {
        fn appeared(
            &self,
            _: &std::sync::Arc<sinew_shm::Peer>,
            _: sinew_shm::EndpointKey,
            _: &sinew_shm::Endpoint,
        ) {
        }
        fn vanished(&self, _: &std::sync::Arc<sinew_shm::Peer>, _: sinew_shm::EndpointKey) {}
        fn connected(
            &self,
            _: sinew_shm::transport::Incoming,
            _: Option<sinew_shm::EndpointKey>,
        ) -> Option<std::sync::Arc<dyn sinew_shm::transport::Sink>> {
            None
        }
        fn left(&self, _: &std::sync::Arc<sinew_shm::Peer>) {}
    }

    impl Counted {
        fn new() -> Self {
            let directory = tempfile::tempdir_in("/dev/shm").unwrap();
            let domain = sinew_shm::Domain::open(Some(directory.path()), 0).unwrap();
            let participant =
                sinew_shm::transport::Participant::join(&domain, std::sync::Arc::new(Nobody)).unwrap();
            let entity = sinew_shm::Endpoint {
                kind: sinew_shm::EndpointKind::Publisher,
                number: 1,
                node: "/n".into(),
                name: "/t".into(),
                type_name: "T".into(),
                hash: [0; 32],
                qos: [0; 64],
            };
            let entity = participant.advertise(&entity, None).unwrap();
            Self { _directory: directory, entity }
        }

        fn publish(&self, count: u64, last_ns: i64) -> Counts {
            self.entity.counters().add(Counter::Messages, count);
            self.entity.counters().add(Counter::Bytes, count * 40);
            self.entity.counters().set(Counter::Last, last_ns.cast_unsigned());
            self.entity.counts()
        }
    }

    #[test]
    fn rates_are_exact_though_looks_are_not() {
        let counted = Counted::new();
        let mut track = Track::new(10 * SECOND, SECOND, counted.publish(5, SECOND - 90_000_000));
        track.look(2 * SECOND, counted.publish(10, 2 * SECOND - 90_000_000));
        assert_eq!((track.change().rate, track.change().messages, track.change().bytes), (10.0, 10, 400));
        // A look just before the eleventh message.
        track.look(2 * SECOND + 9_000_000, counted.publish(0, 2 * SECOND - 90_000_000));
        assert_eq!(track.change().rate, 10.0);
    }

    #[test]
    fn who_falls_silent_slows_down_and_stops() {
        let counted = Counted::new();
        let mut track = Track::new(4 * SECOND, SECOND, counted.publish(1, SECOND));
        track.look(2 * SECOND, counted.publish(10, 2 * SECOND));
        track.look(3 * SECOND, counted.publish(0, 2 * SECOND));
        assert_eq!(track.change().rate, 5.0);
        for second in 4..=6 {
            track.look(second * SECOND, counted.publish(0, 2 * SECOND));
        }
        assert_eq!((track.change().rate, track.change().span_ns), (0.0, 4 * SECOND));
    }

    #[test]
    fn without_times_our_own_serve() {
        let counted = Counted::new();
        let mut track = Track::new(10 * SECOND, SECOND, counted.publish(1, 0));
        track.look(3 * SECOND, counted.publish(8, 0));
        assert_eq!(track.change().rate, 4.0);
    }

    #[test]
    fn a_long_window_keeps_few_moments() {
        let counted = Counted::new();
        let mut track = Track::new(3600 * SECOND, 0, counted.publish(1, 0));
        for second in 1..20_000 {
            track.look(second * SECOND, counted.entity.counts());
        }
        assert!(track.past.len() <= 102, "{}", track.past.len());
        assert!((3600..3700).contains(&(track.change().span_ns / SECOND)), "{}", track.change().span_ns);
    }

    #[test]
    fn what_is_got_without_bytes_moves_by_reference() {
        let counted = Counted::new();
        let mut track = Track::new(SECOND, 0, counted.entity.counts());
        counted.entity.counters().add(Counter::Messages, 5);
        track.look(SECOND, counted.entity.counts());
        assert_eq!(track.change().by_reference, 0, "nobody gets them");
        counted.entity.counters().set(Counter::Matched, 1);
        track.look(SECOND, counted.entity.counts());
        assert_eq!((track.change().by_reference, track.change().bytes), (5, 0));
        track.look(SECOND, counted.publish(1, 0));
        assert_eq!((track.change().by_reference, track.change().bytes), (0, 40), "bytes tell more");
    }

    #[test]
    fn latencies_of_all() {
        let counted = Counted::new();
        let mut track = Track::new(SECOND, 0, counted.publish(0, 0));
        [1000, 1000, 1000, 9000]
            .iter()
            .for_each(|&latency| counted.entity.counters().record_latency(latency));
        track.look(SECOND, counted.entity.counts());
        let mut latencies = track.change().latencies;
        assert_eq!((latencies.count(), latencies.mean()), (4, Some(3000.0)));
        assert_eq!(
            (latencies.below(50), latencies.below(75), latencies.below(99)),
            (Some(1024), Some(1024), Some(16_384))
        );
        latencies.add(&latencies.clone());
        assert_eq!((latencies.count(), latencies.mean()), (8, Some(3000.0)));
        assert_eq!((Latencies::default().mean(), Latencies::default().below(50)), (None, None));
    }
}
