//! The highest rate of messages without losing one: the receiver's observations, and the figures.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use sinew_bench::clock::nanoseconds;
use sinew_bench::payload::is_whole;
use sinew_bench::rounds::{Meter, Usage};
use sinew_bench::sequence::Sequence;

use crate::{Figures, Process, Result, now_ns};

/// Number of messages between two looks at the clock.
const BETWEEN_LOOKS: u64 = 64;

/// A receiver's observations. Another process sends them unchanged.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub struct Seen {
    sequence: Sequence,
    /// Messages with a wrong word.
    torn: u64,
    /// Time at which the last one had been read.
    last_ns: i64,
    /// The resources of the receiving process, if it is another one.
    pub usage: Usage,
}

impl Seen {
    /// Records a message: reads all of it.
    pub fn note(&mut self, words: &[u64]) {
        self.torn += u64::from(!is_whole(words));
        self.sequence.note(words[0]);
        self.last_ns = now_ns();
    }

    /// Records a message of bytes: reads all of it.
    pub fn note_bytes(&mut self, bytes: &[u8]) {
        let number = crate::bytes::number_of(bytes);
        self.torn += u64::from(number.is_none());
        self.sequence.note(number.unwrap_or(0));
        self.last_ns = now_ns();
    }

    /// Returns the number of messages that came.
    pub fn received(&self) -> u64 {
        self.sequence.received
    }
}

/// The messages that were sent.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    start_ns: i64,
    /// Number of messages.
    pub count: u64,
}

/// Measures a flood to another process, by calling `send` as in [`send_for`]. `other` is sent the
/// number of messages, and returns its [`Seen`].
///
/// # Errors
///
/// The errors of `send`, and if `other` ends early.
pub fn measure(
    time: Duration,
    size: usize,
    other: Process,
    send: impl FnMut(u64) -> Result<()>,
) -> Result<Figures> {
    let meter = Meter::start();
    let sent = send_for(time, send)?;
    let usage = meter.usage();
    Ok(figures(sent, other.finish_after(sent.count)?, size, usage))
}

/// Sends for `time` by calling `send` with the number that every word of the message has to hold.
/// `send` blocks while there is no room.
///
/// # Errors
///
/// The errors of `send`.
pub fn send_for(time: Duration, mut send: impl FnMut(u64) -> Result<()>) -> Result<Sent> {
    let mut sending = Sending::begin(time);
    for number in sending.by_ref() {
        send(number)?;
    }
    Ok(sending.sent)
}

/// The numbers to send for a while, for senders that don't block.
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

/// Returns the figures, from before the first message was written until the last one had been read.
/// `usage` is that of the sending process.
pub fn figures(sent: Sent, seen: Seen, size: usize, usage: Usage) -> Figures {
    let passed = (seen.last_ns - sent.start_ns).max(1) as f64 / 1e9;
    let per_second = seen.received() as f64 / passed;
    let figures = Figures {
        p50_ns: Some(1e9 / per_second.max(1e-9)),
        messages_per_second: Some(per_second.round()),
        bytes_per_second: Some((per_second * size as f64).round()),
        messages: Some(seen.received()),
        lost: Some(seen.sequence.lost(sent.count) + seen.torn),
        reordered: Some(seen.sequence.reordered),
        ..Figures::default()
    };
    figures.using(usage + seen.usage)
}
