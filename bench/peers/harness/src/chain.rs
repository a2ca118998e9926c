//! Source => relays => sink: the source's pace, what the sink sees, and the figures. What is between them is the peer's.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sinew_bench::machine::resident_bytes;
use sinew_bench::pacing::{Ticks, ticks, warm_up};
use sinew_bench::process::await_all;
use sinew_bench::rounds::{CpuUse, Round};
use sinew_bench::samples::Samples;
use sinew_bench::sequence::Sequence;

use crate::{Figures, Measuring, Process, Result, now_ns};

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

    /// Waits until so many messages have come, or no more come for 2 s.
    fn await_all(&self, count: u64) -> Result<()> {
        let pause = || {
            std::thread::sleep(Duration::from_millis(1));
            Ok(())
        };
        await_all(count, || self.received(), pause)?;
        Ok(())
    }

    fn told(&self, cpu_percent: f64) -> Told {
        let mut seen = self.seen();
        let samples = std::mem::take(&mut seen.samples);
        Told { samples, sequence: seen.sequence, cpu_percent, rss_bytes: resident_bytes() }
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
    publish: impl FnMut(Timing) -> Result<()>,
) -> Result<Figures> {
    let (count, cpu_percent) = publish_all(rate, time, publish)?;
    sink.await_all(count)?;
    Ok(sink.told(cpu_percent).figures(count, hops))
}

/// As [`measure`], with every second node in `other`, which is in [`serve_until_the_end`], and has the sink unless it is here.
/// CPU time and memory are those of both processes.
///
/// # Errors
///
/// What `publish` fails with, and if `other` ends early.
pub fn measure_between(
    rate: f64,
    time: Duration,
    hops: u32,
    sink: Option<&Sink>,
    mut other: Process,
    publish: impl FnMut(Timing) -> Result<()>,
) -> Result<Figures> {
    other.order(&())?;
    let (count, cpu_percent) = publish_all(rate, time, publish)?;
    sink.map_or(Ok(()), |sink| sink.await_all(count))?;
    let of_other: Told = other.finish_after(count)?;
    let cpu_percent = cpu_percent + of_other.cpu_percent;
    let rss_bytes = of_other.rss_bytes.zip(resident_bytes()).map(|(other, ours)| other + ours);
    let told = sink.map_or(of_other, |sink| sink.told(0.0));
    Ok(Told { cpu_percent, rss_bytes, ..told }.figures(count, hops))
}

/// In the other process, while threads of the peer pass on what they receive: tells that it is ready, and at the end what it
/// saw, when `sink`, if it is here, has everything.
///
/// # Errors
///
/// If the measuring process is gone.
pub fn serve_until_the_end(measuring: Measuring, sink: Option<&Sink>) -> Result<()> {
    measuring.tell(&())?;
    if measuring.order::<()>()?.is_some() {
        let cpu = CpuUse::start();
        let count = measuring.order::<u64>()?.unwrap_or(0);
        let cpu_percent = cpu.percent();
        sink.map_or(Ok(()), |sink| sink.await_all(count))?;
        measuring
            .tell(&sink.map_or_else(|| Told::without_sink(cpu_percent), |sink| sink.told(cpu_percent)))?;
    }
    Ok(())
}

/// How many messages were published, and the CPU time that this process took for it.
fn publish_all(
    rate: f64,
    time: Duration,
    mut publish: impl FnMut(Timing) -> Result<()>,
) -> Result<(u64, f64)> {
    let count = u64::from(ticks(rate, time));
    let cpu = CpuUse::start();
    let mut pace = Ticks::start(rate)?;
    for number in 1..=count {
        pace.wait();
        publish(Timing { stamp: now_ns(), number })?;
    }
    Ok((count, cpu.percent()))
}

/// What a process has to tell of its part of a chain.
#[derive(Debug, Deserialize, Serialize)]
struct Told {
    samples: Samples,
    sequence: Sequence,
    cpu_percent: f64,
    rss_bytes: Option<u64>,
}

impl Told {
    fn without_sink(cpu_percent: f64) -> Self {
        let (samples, sequence) = (Samples::default(), Sequence::default());
        Self { samples, sequence, cpu_percent, rss_bytes: resident_bytes() }
    }

    fn figures(self, count: u64, hops: u32) -> Figures {
        let round = Round {
            lost: self.sequence.lost(count),
            reordered: self.sequence.reordered,
            cpu_percent: Some(self.cpu_percent),
            ..Round::of(self.samples)
        };
        Figures { rss_bytes: self.rss_bytes, ..Figures::over(&[round], hops) }
    }
}
