//! Scenario `throughput`: the highest rate of messages without losing one, to another process or to
//! another thread of this one. Each is written whole and read whole.

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sinew::executor::FaultPolicy;
use sinew::{Context, Executor, Publisher, QoS};

use super::case::{Case, Ground, one};
use super::flood::{self, Drained, Sent};
use super::floors::Floor;
use super::payload::{Payload, flood_depth, for_size};
use super::process::{Measuring, PATIENCE, Process, Work, await_all};
use super::report::Figures;
use super::rounds::{Meter, Usage};
use super::run::{Collected, matched, shared_context};
use crate::error::Error;
use crate::options::{PathKind, ThroughputCase};

/// Returns a lossless QoS: the publisher waits for the reader.
fn lossless(size: usize) -> QoS {
    QoS::default().reliable().keep_all().max_samples(flood_depth(size)).max_blocking_time(PATIENCE)
}

/// How the messages of a row are read.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
struct Reading {
    size: usize,
    /// In a loop, not by a callback.
    take: bool,
}

/// The work of the other process.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Drain {
    directory: PathBuf,
    reading: Reading,
}

/// Measured beside copying the same number of bytes.
impl Case for ThroughputCase {
    fn floors(&self) -> Result<Vec<Floor>, Error> {
        Ok(vec![Floor::copy(one(&self.size))])
    }

    fn round(&self, ground: &Ground, time: Duration) -> Result<Figures, Error> {
        let reading = Reading { size: one(&self.size), take: self.take };
        match self.path {
            PathKind::Intra => for_size!(reading.size, within(reading, time)),
            PathKind::Shm => ground.round(|path| {
                let drain = Drain { directory: path.to_owned(), reading };
                for_size!(reading.size, between(&drain, time))
            }),
        }
    }
}

/// Runs the side that sends.
fn send<P: Payload>(publisher: &Publisher<P>, time: Duration) -> Result<Sent, Error> {
    matched(publisher, 1)?;
    flood::send_for(time, |number| {
        let mut message = publisher.loan();
        message.words_mut().fill(number);
        Ok(publisher.publish(message).map_err(sinew::Error::from)?)
    })
}

/// Ends the reading from a thread that knows the number of messages.
struct ReadingEnd {
    received: Box<dyn Fn() -> u64 + Send>,
    stop: Box<dyn FnOnce() + Send>,
}

/// Runs the side that reads all messages, until `begin` ends it.
fn read<P: Payload>(
    context: &Context,
    reading: Reading,
    begin: impl FnOnce(ReadingEnd) -> Result<(), Error>,
) -> Result<Drained, Error> {
    let Reading { size, take } = reading;
    let arrivals = Collected::new(Drained::default());
    let (seen, received) = (arrivals.clone(), arrivals.clone());
    let received = Box::new(move || received.with(|seen| seen.received()));
    let flood = context.node("drain")?.subscription::<P>("flood").qos(lossless(size));
    let usage = if take {
        let flood = flood.create()?;
        let over = context.clone();
        begin(ReadingEnd { received, stop: Box::new(move || over.shutdown()) })?;
        let meter = Meter::start();
        loop {
            match flood.take() {
                Some((message, _)) => seen.with(|seen| seen.note(message.whole())),
                None if context.is_shutdown() => break meter.usage(),
                None => std::hint::spin_loop(),
            }
        }
    } else {
        let executor = Executor::builder().on_error(FaultPolicy::Stop).build()?;
        let _flood = flood.callback(move |message: &P| seen.with(|seen| seen.note(message.whole())))?;
        executor.add(context)?;
        let over = executor.stop_handle();
        begin(ReadingEnd { received, stop: Box::new(move || over.stop()) })?;
        let meter = Meter::start();
        executor.spin()?;
        meter.usage()
    };
    let mut drained = arrivals.with(std::mem::take);
    drained.usage = usage;
    Ok(drained)
}

/// Measures one round between two processes.
fn between<P: Payload>(drain: &Drain, time: Duration) -> Result<Figures, Error> {
    let size = drain.reading.size;
    let mut other = Process::start(drain)?;
    let context = shared_context(&drain.directory)?;
    let publisher = context.node("source")?.publisher::<P>("flood").qos(lossless(size)).create()?;
    other.hear::<()>()?;
    let meter = Meter::start();
    let sent = send(&publisher, time)?;
    let usage = meter.usage();
    Ok(other.finish_after::<Drained>(sent.count)?.figures(sent, size, usage))
}

impl Work for Drain {
    /// In the other process: reads all messages.
    fn play(&self, measuring: Measuring) -> Result<(), Error> {
        for_size!(self.reading.size, receive(self, measuring))
    }
}

fn receive<P: Payload>(drain: &Drain, measuring: Measuring) -> Result<(), Error> {
    let context = shared_context(&drain.directory)?;
    let seen = read::<P>(&context, drain.reading, |ReadingEnd { received, stop }| {
        measuring.tell(&())?;
        measuring.at_the_end(received, stop);
        Ok(())
    })?;
    measuring.tell(&seen)
}

/// Measures one round between two threads.
fn within<P: Payload>(reading: Reading, time: Duration) -> Result<Figures, Error> {
    let context = Context::builder().shared_memory(false).build()?;
    let qos = lossless(reading.size);
    let publisher = context.node("source")?.publisher::<P>("flood").qos(qos).create()?;
    thread::scope(|scope| {
        let mut sender = None;
        let seen = read::<P>(&context, reading, |ReadingEnd { received, stop }| {
            sender = Some(scope.spawn(move || {
                let sent = send(&publisher, time);
                if let Ok(Sent { count, .. }) = sent {
                    await_all(count, received);
                }
                stop();
                sent
            }));
            Ok(())
        })?;
        let Some(sender) = sender else { unreachable!("reading begins with the sender's start") };
        let sent = sender.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        // The reader's usage is that of both threads.
        Ok(seen.figures(sent, reading.size, Usage::default()))
    })
}
