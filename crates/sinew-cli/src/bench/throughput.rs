//! Scenario `throughput`: as many messages as can be sent to another process without losing one. Each is written whole and
//! read whole.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sinew::{Executor, QoS};

use super::floors::copy;
use super::payload::{ForPayload, Payload, SIZES, of_size};
use super::process::{Directory, Measuring, PATIENCE, Process, Role};
use super::progress::Progress;
use super::report::{Figures, Row, hundredth, tenth};
use super::rounds::{Round, alternate, ratio};
use super::run::{Collected, Run, matched, shared_context};
use super::samples::Samples;
use super::sequence::Sequence;
use crate::cli::ThroughputOptions;
use crate::clock::{nanoseconds, now_ns};
use crate::error::Error;

/// A round is one sample, the mean time of so many messages.
const PARTS: u32 = 1000;

/// Lossless: whoever publishes waits for whoever reads. Few large messages wait, or many small ones.
fn lossless(size: usize) -> QoS {
    const WAITING_BYTES: usize = 16 << 20;
    let messages = (WAITING_BYTES / size).clamp(8, 1024);
    QoS::default().reliable().keep_all().max_samples(messages).max_blocking_time(PATIENCE)
}

/// What the other process is to do.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Drain {
    directory: PathBuf,
    size: usize,
}

/// What it saw.
#[derive(Debug, Default, Deserialize, Serialize)]
struct Seen {
    sequence: Sequence,
    /// Messages of which not every word was right.
    torn: u64,
    /// When the last one had been read.
    last_ns: i64,
    cpu_percent: f64,
}

/// One row per size, beside copying so many bytes.
pub(super) fn measure(options: &ThroughputOptions, progress: &mut Progress) -> Result<Vec<Row>, Error> {
    let directory = Directory::create()?;
    let mut rows = Vec::new();
    for &size in &options.sizes {
        let mut warm = copy::Warm::new(size);
        let mut floor = |time: Duration| Ok(warm.round(time / 10));
        let mut ours = |time| directory.round(|path| round(path, size, time));
        let sides = [&mut floor as _, &mut ours as _];
        let what = format!("throughput of {size} B");
        let [floor, ours] = alternate(progress, &what, options.output.time_or(5), sides)?;
        let copies = copy::Warm::operations(size);
        let rows_of = |figures: Figures| {
            let per_second = figures.p50_ns.filter(|&ns| ns > 0.0).map(|ns| 1e9 / ns);
            let bytes_per_second = per_second.map(|count| (count * size as f64).round());
            Figures { messages_per_second: per_second.map(tenth), bytes_per_second, ..figures }
        };
        let floor_ratio = ratio(&ours, PARTS, &floor, copies).map(hundredth);
        let floor = rows_of(Figures::over(&floor, copies));
        // Of one sample a round, further percentiles say nothing.
        let ours = Figures { p90_ns: None, p99_ns: None, max_ns: None, ..Figures::over(&ours, PARTS) };
        let ours = Figures { floor_ratio, ..rows_of(ours) };
        rows.push(Row::floor("throughput", "copy", floor).with("size", size).with("cache", "warm"));
        rows.push(Row::sinew("throughput", ours).with("size", size));
    }
    Ok(rows)
}

/// One round, from before the first message is written until the last one has been read.
fn round(directory: &Path, size: usize, time: Duration) -> Result<Round, Error> {
    let round = of_size(size, Send { directory, size, time });
    round.unwrap_or_else(|| unreachable!("sizes are checked on the command line: {SIZES:?}"))
}

/// The side that sends.
struct Send<'a> {
    directory: &'a Path,
    size: usize,
    time: Duration,
}

impl ForPayload for Send<'_> {
    type Output = Result<Round, Error>;

    fn with<P: Payload>(self) -> Self::Output {
        let Self { directory, size, time } = self;
        let mut other = Process::start(&Role::Drain(Drain { directory: directory.to_owned(), size }))?;
        let context = shared_context(directory)?;
        let publisher = context.node("source")?.publisher::<P>("flood").qos(lossless(size)).create()?;
        other.hear::<()>()?;
        matched(&publisher, 1)?;

        let start = now_ns();
        let until = start + nanoseconds(time);
        let mut sent: u64 = 0;
        while sent == 0 || now_ns() < until {
            sent += 1;
            let mut message = publisher.loan();
            message.words_mut().fill(sent);
            publisher.publish(message).map_err(sinew::Error::from)?;
        }
        let seen: Seen = other.finish_after(sent)?;
        let mut samples = Samples::with_room_for(1);
        let passed = u64::try_from(seen.last_ns - start).unwrap_or(0);
        let mean = u128::from(passed) * u128::from(PARTS) / u128::from(seen.sequence.received.max(1));
        samples.record(i64::try_from(mean).unwrap_or(i64::MAX));
        Ok(Round {
            messages: seen.sequence.received,
            lost: seen.sequence.lost(sent) + seen.torn,
            reordered: seen.sequence.reordered,
            cpu_percent: Some(seen.cpu_percent),
            ..Round::of(samples)
        })
    }
}

/// In the other process: reads whatever comes.
pub(crate) fn serve(drain: &Drain, measuring: Measuring) -> Result<(), Error> {
    of_size(drain.size, Receive { drain, measuring }).unwrap_or(Err(Error::NotOurPeer))
}

/// The side that receives.
struct Receive<'a> {
    drain: &'a Drain,
    measuring: Measuring,
}

impl ForPayload for Receive<'_> {
    type Output = Result<(), Error>;

    fn with<P: Payload>(self) -> Self::Output {
        let Self { drain, measuring } = self;
        let run = Run::shared(&drain.directory, Executor::single())?;
        let arrivals = Collected::new(Seen::default());
        let seen = arrivals.clone();
        let flood = run.context.node("drain")?.subscription::<P>("flood").qos(lossless(drain.size));
        let _flood = flood.callback(move |message: &P| {
            let is_whole = message.is_whole();
            let now = now_ns();
            seen.with(|seen| {
                seen.sequence.note(message.number());
                seen.torn += u64::from(!is_whole);
                seen.last_ns = now;
            });
        })?;
        measuring.tell(&())?;

        let received = arrivals.clone();
        let cpu_percent = run.serve(measuring, move || received.with(|seen| seen.sequence.received))?;
        measuring.tell(&arrivals.with(|seen| Seen { cpu_percent, ..std::mem::take(seen) }))
    }
}
