//! The observations of a graph's subscriptions in a run, and their evaluation: the same for
//! everything that transports the messages.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use super::tracker::{Arrival, Tracker};
use crate::graph::Graph;
use crate::histogram::Histogram;
use crate::{Figures, nanoseconds};

/// Warm-up at the start of a run; half of a run that is shorter than twice this.
const WARM_UP: Duration = Duration::from_secs(1);

/// Allowed lateness of the last timers of a run.
const GRACE: Duration = Duration::from_millis(20);

/// A run of a graph.
#[derive(Clone, Copy, Debug)]
pub struct RunSpan {
    time: Duration,
}

impl RunSpan {
    /// Makes a run of this length, including warm-up.
    pub fn of(time: Duration) -> Self {
        Self { time }
    }

    /// Returns the duration of the warm-up, of which nothing counts.
    pub fn warm_up(self) -> Duration {
        WARM_UP.min(self.time / 2)
    }

    /// Returns the duration of the rest, until even late timers have published the messages that
    /// count.
    pub fn rest(self) -> Duration {
        self.time - self.warm_up() + GRACE
    }

    /// Returns the counted messages of a publisher with a timer of that period, numbered from 0:
    /// those that are due after the warm-up and before the end. The first one is due after a
    /// period.
    pub fn counted(self, period: Duration) -> Range<u32> {
        let ticks = |time| u32::try_from(nanoseconds(time) / nanoseconds(period).max(1)).unwrap_or(u32::MAX);
        ticks(self.warm_up())..ticks(self.time)
    }
}

/// A message that arrived. Messages are logged one behind the other, and evaluated afterwards, so
/// that measuring touches as little memory as possible between two callbacks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// Index of the subscription in the graph.
    pub subscription: u16,
    /// Index of the publisher among those of its topic.
    pub publisher: u16,
    /// Number among its publisher's messages, from 0.
    pub number: u32,
    /// From its stamp to its arrival, in nanoseconds.
    pub latency_ns: i64,
}

/// Returns a log that need not grow while it is written, with its memory already allocated.
pub fn room_for(graph: &Graph, scale_rate: f64, span: RunSpan) -> Vec<Seen> {
    let time = span.warm_up() + span.rest();
    let expected = graph.deliveries_per_second() * scale_rate * time.as_secs_f64();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a guess at how much memory to reserve"
    )]
    let mut log = vec![Seen { number: 1, ..Seen::default() }; (expected * 1.1) as usize + 1000];
    log.clear();
    log
}

/// The messages of a publisher.
struct Sent {
    period: Duration,
    /// The numbers that count.
    counted: Range<u32>,
    /// Number of messages that it sent, up to the last one that counts.
    count: u64,
}

/// Evaluates a log: the messages that count, if each publisher has sent the number in `sent`, in
/// the order of the graph.
pub fn figures(graph: &Graph, scale_rate: f64, span: RunSpan, log: &[Seen], sent: &[u64]) -> Figures {
    let mut publishers: BTreeMap<&str, Vec<Sent>> = BTreeMap::new();
    for (plan, &count) in graph.nodes.iter().flat_map(|node| &node.publishers).zip(sent) {
        let period = plan.period().div_f64(scale_rate);
        let counted = span.counted(period);
        let count = count.min(counted.end.into());
        publishers.entry(&plan.topic).or_default().push(Sent { period, counted, count });
    }
    let topics = graph.nodes.iter().flat_map(|node| &node.subscribers);
    let heard: Vec<&[Sent]> = topics
        .map(|subscriber| publishers.get(subscriber.topic.as_str()).map_or(&[][..], Vec::as_slice))
        .collect();
    let first = |sent: &Sent| sent.counted.start;
    let mut trackers: Vec<_> = heard.iter().map(|sent| Tracker::from(sent.iter().map(first))).collect();

    let mut latencies = Histogram::empty();
    let (mut sum_ns, mut in_time) = (0.0, 0_u64);
    for seen in log {
        let (subscription, publisher) = (usize::from(seen.subscription), usize::from(seen.publisher));
        let sent = heard.get(subscription).and_then(|heard| heard.get(publisher));
        let Some(sent) = sent.filter(|sent| sent.counted.contains(&seen.number)) else { continue };
        let &Seen { number, latency_ns, .. } = seen;
        let arrival = Arrival { publisher, number, period_ns: nanoseconds(sent.period), latency_ns };
        latencies.record(latency_ns);
        if trackers[subscription].scan(&arrival) {
            sum_ns += latency_ns as f64;
            in_time += 1;
        }
    }
    for (heard, tracker) in heard.iter().zip(&mut trackers) {
        for (publisher, sent) in heard.iter().enumerate() {
            tracker.finish(publisher, sent.count);
        }
    }
    let count = |of: fn(&Tracker) -> u64| Some(trackers.iter().map(of).sum::<u64>());
    Figures {
        rounds: Some(1),
        mean_ns: (in_time > 0).then(|| sum_ns / in_time as f64),
        messages: count(|tracker| tracker.received),
        lost: count(|tracker| tracker.lost),
        reordered: count(|tracker| tracker.reordered).filter(|&count| count > 0),
        late: count(|tracker| tracker.late),
        too_late: count(|tracker| tracker.too_late),
        ..Figures::default().timed(latencies.summary())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_counts_is_due_after_the_warm_up_and_before_the_end() {
        let counted =
            |time, period| RunSpan::of(Duration::from_millis(time)).counted(Duration::from_millis(period));
        assert_eq!(counted(6000, 10), 100..600, "the first that counts is due at 1.01 s");
        assert_eq!(counted(6000, 400), 2..15);
        assert_eq!(counted(300, 100), 1..3, "half of a short run warms up");
        assert_eq!(counted(10, 100), 0..0);
        let span = RunSpan::of(Duration::from_secs(6));
        assert_eq!(span.warm_up() + span.rest(), Duration::from_secs(6) + GRACE);
    }
}
