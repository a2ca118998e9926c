//! Source => relays => sink: the source's pace, what the sink sees, and the figures. What is between them is the peer's.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sinew_bench::pacing::{Ticks, ticks, warm_up};
use sinew_bench::process::await_all;
use sinew_bench::rounds::{CpuUse, Round};
use sinew_bench::samples::Samples;
use sinew_bench::sequence::Sequence;

use crate::{Figures, Result, now_ns};

/// The message: when the source published it, and its number, from 1.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[repr(C)]
pub struct Timing {
    /// `CLOCK_MONOTONIC`, in nanoseconds.
    pub stamp: i64,
    /// Counts the source's messages.
    pub number: u64,
}

impl Timing {
    /// Its bytes, little-endian.
    pub fn to_bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.stamp.to_le_bytes());
        bytes[8..].copy_from_slice(&self.number.to_le_bytes());
        bytes
    }

    /// Of its bytes; `None` unless there are 16.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (stamp, number) = bytes.split_at_checked(8)?;
        let stamp = i64::from_le_bytes(stamp.try_into().ok()?);
        Some(Self { stamp, number: u64::from_le_bytes(number.try_into().ok()?) })
    }
}

/// What the sink sees; handles share it.
#[derive(Clone)]
pub struct Sink(Arc<Mutex<Seen>>);

struct Seen {
    samples: Samples,
    sequence: Sequence,
    counts_from: u64,
}

impl Sink {
    /// For so many messages a second, for so long. The first tenth warms up.
    pub fn new(rate: f64, time: Duration) -> Self {
        let ticks = ticks(rate, time);
        let samples = Samples::with_room_for(ticks as usize + 1);
        Self(Arc::new(Mutex::new(Seen {
            samples,
            sequence: Sequence::default(),
            counts_from: warm_up(ticks).into(),
        })))
    }

    /// A message came: call it first thing.
    pub fn arrive(&self, timing: Timing) {
        self.arrive_at(now_ns(), timing);
    }

    /// A message came at `now`: from the clock of [`now_ns`].
    pub fn arrive_at(&self, now: i64, timing: Timing) {
        let mut seen = self.seen();
        seen.sequence.note(timing.number);
        if timing.number > seen.counts_from {
            seen.samples.record(now - timing.stamp);
        }
    }

    /// How many messages came.
    pub fn received(&self) -> u64 {
        self.seen().sequence.received
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Publishes by `publish`, `rate` times a second for `time`, from the calling thread; waits until all of it has arrived at
/// the sink or nothing more comes for 2 s; gives the figures, each time divided by `hops`.
///
/// # Errors
///
/// What `publish` fails with.
pub fn measure(
    rate: f64,
    time: Duration,
    hops: u32,
    sink: &Sink,
    mut publish: impl FnMut(Timing) -> Result<()>,
) -> Result<Figures> {
    let count = u64::from(ticks(rate, time));
    let cpu = CpuUse::start();
    let mut pace = Ticks::start(rate)?;
    for number in 1..=count {
        pace.wait();
        publish(Timing { stamp: now_ns(), number })?;
    }
    let cpu_percent = cpu.percent();
    await_all(
        count,
        || sink.received(),
        || {
            std::thread::sleep(Duration::from_millis(1));
            Ok(())
        },
    )?;
    let mut seen = sink.seen();
    let round = Round {
        lost: seen.sequence.lost(count),
        reordered: seen.sequence.reordered,
        cpu_percent: Some(cpu_percent),
        ..Round::of(std::mem::take(&mut seen.samples))
    };
    let rss_bytes = sinew_bench::machine::resident_bytes();
    Ok(Figures { rss_bytes, ..Figures::over(&[round], hops) })
}
