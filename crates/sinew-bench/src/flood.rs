//! A flood: as many messages as get through, from one sender, without losing one. The sender's
//! numbers, the receiver's observations and the figures, whatever transports the messages.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Figures, Sequence, Usage, nanoseconds, now_ns};

/// Number of messages between two looks at the clock: a look for each would be part of the
/// measurement.
const BETWEEN_LOOKS: u64 = 64;

/// The messages that were sent.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    start_ns: i64,
    /// Number of messages.
    pub count: u64,
}

/// The numbers to send for a while, from 1; every word of a message has to hold its number.
#[derive(Clone, Copy, Debug)]
pub struct Sending {
    until: i64,
    /// The messages sent so far.
    pub sent: Sent,
}

impl Sending {
    /// Starts now.
    pub fn begin(time: Duration) -> Self {
        let start_ns = now_ns();
        Self { until: start_ns + nanoseconds(time), sent: Sent { start_ns, count: 0 } }
    }
}

impl Iterator for Sending {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let count = self.sent.count;
        if count > 0 && count.is_multiple_of(BETWEEN_LOOKS) && now_ns() >= self.until {
            return None;
        }
        self.sent.count += 1;
        Some(self.sent.count)
    }
}

/// Sends for `time` by calling `send` with each message's number. `send` blocks while there is no
/// room.
///
/// # Errors
///
/// The errors of `send`.
pub fn send_for<E>(time: Duration, mut send: impl FnMut(u64) -> Result<(), E>) -> Result<Sent, E> {
    let mut sending = Sending::begin(time);
    for number in sending.by_ref() {
        send(number)?;
    }
    Ok(sending.sent)
}

/// A receiver's observations. Another process sends them unchanged.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub struct Drained {
    sequence: Sequence,
    /// Time at which the last one had been read.
    last_ns: i64,
    /// The resources of the receiving process, if it is another one.
    pub usage: Usage,
}

impl Drained {
    /// Records a message that was read whole: its number, or `None` if its words differ. Such a
    /// message counts as lost and as out of order.
    pub fn note(&mut self, number: Option<u64>) {
        self.sequence.note(number.unwrap_or(0)); // no message has the number 0
        self.last_ns = now_ns();
    }

    /// Returns the number of messages that came.
    pub fn received(&self) -> u64 {
        self.sequence.received
    }

    /// Returns the figures of a flood of messages of `size` bytes, from before the first one was
    /// written until the last one had been read. `usage` is that of the sending process.
    pub fn figures(self, sent: Sent, size: usize, usage: Usage) -> Figures {
        figures(self.last_ns - sent.start_ns, self.received(), size)
            .faulty(self.sequence.lost(sent.count), self.sequence.reordered)
            .using(usage + self.usage)
    }
}

/// Returns the figures of `received` messages of `size` bytes that took `passed_ns` together: P50
/// is the mean time of one, and the other percentiles have no meaning.
pub(crate) fn figures(passed_ns: i64, received: u64, size: usize) -> Figures {
    let p50_ns = Some(passed_ns as f64 / received.max(1) as f64);
    let figures = Figures { p50_ns, p50_min_ns: p50_ns, p50_max_ns: p50_ns, ..Figures::default() };
    with_rates(Figures { rounds: Some(1), messages: Some(received), lost: Some(0), ..figures }, size)
}

/// Adds the messages and the bytes per second.
pub(crate) fn with_rates(figures: Figures, size: usize) -> Figures {
    let messages_per_second = figures.p50_ns.filter(|&ns| ns > 0.0).map(|ns| 1e9 / ns);
    let bytes_per_second = messages_per_second.map(|count| count * size as f64);
    Figures { messages_per_second, bytes_per_second, ..figures }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_is_torn_or_missing_is_lost() {
        let sent = Sent { start_ns: 0, count: 5 };
        let mut drained = Drained::default();
        [Some(1), Some(2), None, Some(4)].into_iter().for_each(|number| drained.note(number));
        let drained = Drained { last_ns: 4_000, ..drained };
        let figures = drained.figures(sent, 64, Usage::default());
        assert_eq!((figures.messages, figures.lost, figures.reordered), (Some(4), Some(2), Some(1)));
        assert_eq!((figures.p50_ns, figures.p90_ns), (Some(1000.0), None));
        assert_eq!((figures.messages_per_second, figures.bytes_per_second), (Some(1e6), Some(64e6)));
    }

    #[test]
    fn numbers_begin_with_one_and_end_with_the_time() {
        let sent = send_for(Duration::ZERO, |_| Ok::<_, ()>(()));
        assert_eq!(sent.map(|sent| sent.count), Ok(BETWEEN_LOOKS));
    }
}
