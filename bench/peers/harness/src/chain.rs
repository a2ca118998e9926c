//! Source => relays => sink: the source's pace, the sink's observations, and the figures. The peer
//! provides everything between them.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use sinew_bench::arrivals::Arrivals;
use sinew_bench::pacing::{Ticks, ticks, warm_up};
use sinew_bench::process::await_all;
use sinew_bench::rounds::{Meter, Usage};
use sinew_bench::samples::Samples;

use crate::{Figures, Measuring, Process, Result, now_ns};

/// The message: the time at which the source published it, and its number, from 1.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[repr(C)]
pub struct Timing {
    /// `CLOCK_MONOTONIC`, in nanoseconds.
    pub stamp: i64,
    /// Number among the source's messages.
    pub number: u64,
}

impl Timing {
    /// Returns its bytes, little-endian.
    pub fn to_bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.stamp.to_le_bytes());
        bytes[8..].copy_from_slice(&self.number.to_le_bytes());
        bytes
    }

    /// Parses its bytes; `None` unless there are 16.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (stamp, number) = bytes.split_at_checked(8)?;
        let stamp = i64::from_le_bytes(stamp.try_into().ok()?);
        Some(Self { stamp, number: u64::from_le_bytes(number.try_into().ok()?) })
    }
}

/// Collects the sink's observations; clones share them.
#[derive(Clone)]
pub struct Sink(Arc<Mutex<Seen>>);

/// A sink's observations.
#[derive(Debug, Default, Deserialize, Serialize)]
struct Seen {
    arrivals: Arrivals,
    /// Time of each message's arrival; 0 for never.
    arrived_ns: Vec<i64>,
}

/// Returns the index for a message's times: messages are numbered from 1.
fn place(number: u64) -> Option<usize> {
    usize::try_from(number).ok()?.checked_sub(1)
}

impl Sink {
    /// Makes a sink for a rate and a duration. The first tenth warms up.
    pub fn new(rate: f64, time: Duration) -> Self {
        let ticks = ticks(rate, time);
        let room = ticks as usize + 1;
        let mut arrived_ns = vec![1; room]; // allocates its memory now
        arrived_ns.fill(0);
        let arrivals = Arrivals::after(warm_up(ticks).into(), room);
        Self(Arc::new(Mutex::new(Seen { arrivals, arrived_ns })))
    }

    /// Records a message: call it first.
    pub fn arrive(&self, timing: Timing) {
        let now = now_ns();
        let mut seen = self.seen();
        seen.arrivals.note(timing.number, now - timing.stamp);
        if let Some(arrived) = place(timing.number).and_then(|place| seen.arrived_ns.get_mut(place)) {
            *arrived = now;
        }
    }

    /// Returns the number of messages that came.
    pub fn received(&self) -> u64 {
        self.seen().arrivals.received()
    }

    /// Waits until this many messages have come, or no more have come for 2 s.
    fn await_all(&self, count: u64) {
        await_all(count, || self.received());
    }

    /// Takes the observations out.
    fn told(&self) -> Seen {
        std::mem::take(&mut *self.seen())
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The messages of a source, one for each of its ticks.
#[derive(Debug)]
pub struct Messages {
    count: u64,
    /// Messages up to this number warm up.
    warm_up: u32,
    /// Due times of their ticks.
    due_ns: Vec<i64>,
}

impl Messages {
    fn of(rate: f64, time: Duration) -> Self {
        let count = ticks(rate, time);
        Self { count: count.into(), warm_up: warm_up(count), due_ns: Vec::with_capacity(count as usize) }
    }

    /// Returns `true` if some are left to be published.
    pub fn are_left(&self) -> bool {
        (self.due_ns.len() as u64) < self.count
    }

    /// Returns the next message, stamped, for a tick that was due at `due_ns`, by the clock of
    /// [`now_ns`].
    pub fn next(&mut self, due_ns: i64) -> Timing {
        self.due_ns.push(due_ns);
        Timing { stamp: now_ns(), number: self.due_ns.len() as u64 }
    }

    /// Returns the times from a tick's due time until the sink had its message.
    fn until_seen(&self, seen: &Seen) -> Samples {
        let mut samples = Samples::with_room_for(self.due_ns.len());
        let both = self.due_ns.iter().zip(&seen.arrived_ns).skip(self.warm_up as usize);
        for (due, arrived) in both.filter(|&(_, &arrived)| arrived > 0) {
            samples.record(arrived - due);
        }
        samples
    }
}

/// Publishes by calling `publish`, `rate` times a second for `time`, on the calling thread; waits
/// until everything has arrived at the sink or nothing more has come for 2 s. Returns the figures,
/// with each time divided by `hops`, except for those since the due time.
///
/// # Errors
///
/// The errors of `publish`.
pub fn measure(
    rate: f64,
    time: Duration,
    hops: u32,
    sink: &Sink,
    publish: impl FnMut(Timing) -> Result<()>,
) -> Result<Figures> {
    measure_source(rate, time, hops, sink, |messages| publish_all(rate, messages, publish))
}

/// As [`measure`], for a source with a timer of its own, such as a task: `source` publishes all
/// messages, and returns them.
///
/// # Errors
///
/// The errors of `source`.
pub fn measure_source(
    rate: f64,
    time: Duration,
    hops: u32,
    sink: &Sink,
    source: impl FnOnce(Messages) -> Result<Messages>,
) -> Result<Figures> {
    let meter = Meter::start();
    let messages = source(Messages::of(rate, time))?;
    let usage = meter.usage();
    sink.await_all(messages.count);
    Ok(figures(&messages, sink.told(), usage, hops))
}

/// As [`measure`], with every second node in `other`, which runs [`serve_until_the_end`], and has
/// the sink unless `sink` is given here.
///
/// # Errors
///
/// The errors of `publish`, and if `other` ends early.
pub fn measure_between(
    rate: f64,
    time: Duration,
    hops: u32,
    sink: Option<&Sink>,
    mut other: Process,
    publish: impl FnMut(Timing) -> Result<()>,
) -> Result<Figures> {
    other.order(&())?;
    let meter = Meter::start();
    let messages = publish_all(rate, Messages::of(rate, time), publish)?;
    let usage = meter.usage();
    if let Some(sink) = sink {
        sink.await_all(messages.count);
    }
    let (seen, others): (Option<Seen>, Usage) = other.finish_after(messages.count)?;
    let seen = sink.map(Sink::told).or(seen).context("neither process has the sink")?;
    Ok(figures(&messages, seen, usage + others, hops))
}

/// In the other process, while threads of the peer forward messages: reports that it is ready, and
/// at the end sends its observations; if it has the sink, once that has everything.
///
/// # Errors
///
/// If the measuring process is gone.
pub fn serve_until_the_end(measuring: Measuring, sink: Option<&Sink>) -> Result<()> {
    measuring.tell(&())?;
    if measuring.order::<()>()?.is_some() {
        let meter = Meter::start();
        let count = measuring.order::<u64>()?.unwrap_or(0);
        let usage = meter.usage();
        if let Some(sink) = sink {
            sink.await_all(count);
        }
        measuring.tell(&(sink.map(Sink::told), usage))?;
    }
    Ok(())
}

/// Publishes all messages on the calling thread.
fn publish_all(
    rate: f64,
    mut messages: Messages,
    mut publish: impl FnMut(Timing) -> Result<()>,
) -> Result<Messages> {
    let mut pace = Ticks::start(rate)?;
    while messages.are_left() {
        let due_ns = pace.wait();
        publish(messages.next(due_ns))?;
    }
    Ok(messages)
}

fn figures(messages: &Messages, seen: Seen, usage: Usage, hops: u32) -> Figures {
    let due = messages.until_seen(&seen);
    seen.arrivals.figures(hops, messages.count, usage).since_due(&due)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_has_a_due_time_and_an_arrival() {
        let time = Duration::from_millis(40);
        let sink = Sink::new(500.0, time);
        let figures = measure(500.0, time, 2, &sink, |timing| {
            sink.arrive(timing);
            Ok(())
        });
        let figures = figures.unwrap();
        assert_eq!((figures.messages, figures.lost), (Some(18), Some(0)));
        assert!(figures.due_p50_ns.is_some());
    }

    #[test]
    fn a_message_that_never_came_is_lost_and_has_no_time() {
        let sink = Sink::new(1000.0, Duration::from_millis(4));
        let figures = measure_source(1000.0, Duration::from_millis(4), 1, &sink, |mut messages| {
            while messages.are_left() {
                let timing = messages.next(now_ns());
                if timing.number != 3 {
                    sink.arrive(timing);
                }
            }
            Ok(messages)
        });
        let figures = figures.unwrap();
        assert_eq!((figures.messages, figures.lost), (Some(2), Some(1)));
    }
}
