//! Scenario `throughput`: the highest rate of messages without losing one, to another process or to
//! another thread of this one. Each is written whole and read whole.

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sinew::executor::FaultPolicy;
use sinew::{Context, Executor, Publisher, QoS};

use super::floors::copy;
use super::payload::{ForPayload, Payload, SIZES, flood_depth, of_size};
use super::process::{Directory, Measuring, PATIENCE, Process, Work, await_all};
use super::progress::Progress;
use super::report::{Figures, Row, hundredth, tenth};
use super::rounds::{Meter, Round, Usage, alternate, ratio};
use super::run::{Collected, matched, shared_context};
use super::samples::Samples;
use super::sequence::Sequence;
use crate::clock::{nanoseconds, now_ns, sleep_until};
use crate::error::Error;
use crate::options::{PathKind, ThroughputOptions};

/// A round is one sample, the mean time of this many messages.
const PARTS: u32 = 1000;

/// Returns a lossless QoS: the publisher waits for the reader.
fn lossless(size: usize) -> QoS {
    QoS::default().reliable().keep_all().max_samples(flood_depth(size)).max_blocking_time(PATIENCE)
}

/// Number of messages between two looks at the clock: a look for each would be part of the
/// measurement.
const BETWEEN_LOOKS: u64 = 64;

/// How the messages of one row are read.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
struct ThroughputReading {
    size: usize,
    /// In a loop, not by a callback.
    take: bool,
}

/// The work of the other process.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Drain {
    directory: PathBuf,
    reading: ThroughputReading,
}

/// The other process's observations.
#[derive(Debug, Default, Deserialize, Serialize)]
struct ThroughputSeen {
    sequence: Sequence,
    /// Messages with a wrong word.
    torn: u64,
    /// Time at which the last one had been read.
    last_ns: i64,
    /// The resources of the reading process.
    usage: Usage,
}

/// Measures one row per size, beside copying the same number of bytes.
pub(super) fn measure(options: &ThroughputOptions, progress: &mut Progress) -> Result<Vec<Row>, Error> {
    let directory = Directory::create()?;
    let by = if options.take { "take" } else { "callback" };
    let mut rows = Vec::new();
    for &size in &options.sizes {
        // Its buffers exist only while it is measured: Sinew's memory is measured as well.
        let mut floor = |time: Duration| Ok(copy::Warm::new(size).round(time / 10));
        let reading = ThroughputReading { size, take: options.take };
        let mut ours = |time| match options.path {
            PathKind::Intra => for_size(size, Within { reading, time }),
            PathKind::Shm => directory.round(|path| {
                let drain = Drain { directory: path.to_owned(), reading };
                for_size(size, Between { drain, time })
            }),
        };
        let sides = [&mut floor as _, &mut ours as _];
        let what = format!("throughput of {size} B");
        let [floor, ours] = alternate(progress, &what, options.output.turns_or(5), sides)?;
        let copies = copy::Warm::operations(size);
        let rows_of = |figures: Figures| {
            let per_second = figures.p50_ns.filter(|&ns| ns > 0.0).map(|ns| 1e9 / ns);
            let bytes_per_second = per_second.map(|count| (count * size as f64).round());
            Figures { messages_per_second: per_second.map(tenth), bytes_per_second, ..figures }
        };
        let floor_ratio = ratio(&ours, PARTS, &floor, copies).map(hundredth);
        let floor = rows_of(Figures::over(&floor, copies));
        // With one sample per round, further percentiles have no meaning.
        let ours = Figures { p90_ns: None, p99_ns: None, max_ns: None, ..Figures::over(&ours, PARTS) };
        let ours = Figures { floor_ratio, ..rows_of(ours) };
        rows.push(Row::floor("throughput", "copy", floor).with("size", size).with("cache", "warm"));
        rows.push(
            Row::sinew("throughput", ours)
                .with("size", size)
                .with("path", options.path.name())
                .with("by", by),
        );
    }
    Ok(rows)
}

/// Does the work for messages of that size.
fn for_size<W: ForPayload>(size: usize, work: W) -> W::Output {
    of_size(size, work).unwrap_or_else(|| unreachable!("sizes are checked on the command line: {SIZES:?}"))
}

impl ThroughputSeen {
    fn note(&mut self, message: &impl Payload) {
        self.torn += u64::from(!message.is_whole());
        self.sequence.note(message.number());
        self.last_ns = now_ns();
    }

    /// Returns the round, from before the first message was written until the last one had been
    /// read.
    fn round(self, start: i64, sent: u64, usage: Usage) -> Round {
        let mut samples = Samples::with_room_for(1);
        let passed = u64::try_from(self.last_ns - start).unwrap_or(0);
        let received = self.sequence.received;
        let mean = u128::from(passed) * u128::from(PARTS) / u128::from(received.max(1));
        samples.record(i64::try_from(mean).unwrap_or(i64::MAX));
        Round {
            messages: received,
            lost: self.sequence.lost(sent) + self.torn,
            reordered: self.sequence.reordered,
            usage: Some(usage),
            ..Round::of(samples)
        }
    }
}

/// Runs the side that sends: returns its start time, and the number of messages.
fn send<P: Payload>(publisher: &Publisher<P>, time: Duration) -> Result<(i64, u64), Error> {
    matched(publisher, 1)?;
    let start = now_ns();
    let until = start + nanoseconds(time);
    let mut sent: u64 = 0;
    while !sent.is_multiple_of(BETWEEN_LOOKS) || sent == 0 || now_ns() < until {
        sent += 1;
        let mut message = publisher.loan();
        message.words_mut().fill(sent);
        publisher.publish(message).map_err(sinew::Error::from)?;
    }
    Ok((start, sent))
}

/// Ends the reading from a thread that knows the number of messages.
struct ReadingEnd {
    received: Box<dyn Fn() -> u64 + Send>,
    stop: Box<dyn FnOnce() + Send>,
}

/// Runs the side that reads all messages, until `begin` ends it.
fn read<P: Payload>(
    context: &Context,
    reading: ThroughputReading,
    begin: impl FnOnce(ReadingEnd) -> Result<(), Error>,
) -> Result<ThroughputSeen, Error> {
    let ThroughputReading { size, take } = reading;
    let arrivals = Collected::new(ThroughputSeen::default());
    let (seen, received) = (arrivals.clone(), arrivals.clone());
    let received = Box::new(move || received.with(|seen| seen.sequence.received));
    let flood = context.node("drain")?.subscription::<P>("flood").qos(lossless(size));
    let usage = if take {
        let flood = flood.create()?;
        let over = context.clone();
        begin(ReadingEnd { received, stop: Box::new(move || over.shutdown()) })?;
        let meter = Meter::start();
        loop {
            match flood.take() {
                Some((message, _)) => seen.with(|seen| seen.note(&*message)),
                None if context.is_shutdown() => break meter.usage(),
                None => std::hint::spin_loop(),
            }
        }
    } else {
        let executor = Executor::builder().on_error(FaultPolicy::Stop).build()?;
        let _flood = flood.callback(move |message: &P| seen.with(|seen| seen.note(message)))?;
        executor.add(context)?;
        let over = executor.stop_handle();
        begin(ReadingEnd { received, stop: Box::new(move || over.stop()) })?;
        let meter = Meter::start();
        executor.spin()?;
        meter.usage()
    };
    Ok(arrivals.with(|seen| ThroughputSeen { usage, ..std::mem::take(seen) }))
}

/// A round between two processes.
struct Between {
    drain: Drain,
    time: Duration,
}

impl ForPayload for Between {
    type Output = Result<Round, Error>;

    fn with<P: Payload>(self) -> Self::Output {
        let Self { drain, time } = self;
        let mut other = Process::start(&drain)?;
        let context = shared_context(&drain.directory)?;
        let qos = lossless(drain.reading.size);
        let publisher = context.node("source")?.publisher::<P>("flood").qos(qos).create()?;
        other.hear::<()>()?;
        let meter = Meter::start();
        let (start, sent) = send(&publisher, time)?;
        let usage = meter.usage();
        let seen: ThroughputSeen = other.finish_after(sent)?;
        let both = usage + seen.usage;
        Ok(seen.round(start, sent, both))
    }
}

impl Work for Drain {
    const ROLE: &'static str = "Drain";

    fn scenario(&self) -> &'static str {
        "throughput"
    }

    /// In the other process: reads all messages.
    fn play(&self, measuring: Measuring) -> Result<(), Error> {
        of_size(self.reading.size, Receive { drain: self, measuring }).unwrap_or(Err(Error::NotOurPeer))
    }
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
        let context = shared_context(&drain.directory)?;
        let seen = read::<P>(&context, drain.reading, |ReadingEnd { received, stop }| {
            measuring.tell(&())?;
            measuring.at_the_end(received, stop);
            Ok(())
        })?;
        measuring.tell(&seen)
    }
}

/// A round between two threads.
struct Within {
    reading: ThroughputReading,
    time: Duration,
}

impl ForPayload for Within {
    type Output = Result<Round, Error>;

    fn with<P: Payload>(self) -> Self::Output {
        let Self { reading, time } = self;
        let context = Context::builder().shared_memory(false).build()?;
        let qos = lossless(reading.size);
        let publisher = context.node("source")?.publisher::<P>("flood").qos(qos).create()?;
        thread::scope(|scope| {
            let mut sender = None;
            let seen = read::<P>(&context, reading, |ReadingEnd { received, stop }| {
                sender = Some(scope.spawn(move || {
                    let sent = send(&publisher, time);
                    if let Ok((_, sent)) = sent {
                        let pause = || {
                            sleep_until(now_ns() + 1_000_000);
                            Ok(())
                        };
                        let _ = await_all(sent, received, pause); // fails only if its pause does
                    }
                    stop();
                    sent
                }));
                Ok(())
            })?;
            let sent = sender.map(thread::ScopedJoinHandle::join).unwrap_or(Ok(Ok((0, 0))));
            let (start, sent) = sent.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            let usage = seen.usage; // of both threads
            Ok(seen.round(start, sent, usage))
        })
    }
}
