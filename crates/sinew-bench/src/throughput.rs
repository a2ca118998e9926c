//! Scenario `throughput`: the highest rate of messages without losing one, to another process or to
//! another thread of this one. Each is written whole and read whole.

use std::thread;
use std::time::Duration;

use sinew::executor::FaultPolicy;
use sinew::{Context, Executor, Publisher, QoS};

use super::flood::{self, Drained, Sent};
use super::payload::{Payload, flood_depth, for_size};
use crate::options::{PathKind, ThroughputCase};
use crate::process::{PATIENCE, await_all};
use crate::{
    Case, Collected, Error, Figures, Floor, Ground, Measuring, Meter, MultiProcess, Part, Usage, matched, one,
};

/// Returns a lossless QoS: the publisher waits for the reader.
fn lossless(size: usize) -> QoS {
    QoS::default().reliable().keep_all().max_samples(flood_depth(size)).max_blocking_time(PATIENCE)
}

/// Measured beside copying the same number of bytes.
impl Case for ThroughputCase {
    fn floors(&self) -> Result<Vec<Floor>, Error> {
        Ok(vec![Floor::copy(one(&self.size))])
    }

    fn round(&self, ground: &Ground, time: Duration) -> Result<Figures, Error> {
        match self.path {
            PathKind::Intra => for_size!(one(&self.size), within(self, time)),
            PathKind::Shm => ground.measure(self, time),
        }
    }
}

impl MultiProcess for ThroughputCase {
    const SCENARIO: &'static str = "throughput";

    fn measure(part: &Part<Self>) -> Result<Figures, Error> {
        for_size!(one(&part.case.size), between(part))
    }

    /// Reads all messages.
    fn play(part: &Part<Self>, measuring: Measuring) -> Result<(), Error> {
        for_size!(one(&part.case.size), receive(part, measuring))
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
    case: &ThroughputCase,
    begin: impl FnOnce(ReadingEnd) -> Result<(), Error>,
) -> Result<Drained, Error> {
    let arrivals = Collected::new(Drained::default());
    let (seen, received) = (arrivals.clone(), arrivals.clone());
    let received = Box::new(move || received.with(|seen| seen.received()));
    let flood = context.node("drain")?.subscription::<P>("flood").qos(lossless(one(&case.size)));
    let usage = if case.take {
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
fn between<P: Payload>(part: &Part<ThroughputCase>) -> Result<Figures, Error> {
    let size = one(&part.case.size);
    let mut other = part.start(1)?;
    let context = part.context()?;
    let publisher = context.node("source")?.publisher::<P>("flood").qos(lossless(size)).create()?;
    other.hear::<()>()?;
    let meter = Meter::start();
    let sent = send(&publisher, part.time)?;
    let usage = meter.usage();
    Ok(other.finish_after::<Drained>(sent.count)?.figures(sent, size, usage))
}

fn receive<P: Payload>(part: &Part<ThroughputCase>, measuring: Measuring) -> Result<(), Error> {
    let seen = read::<P>(&part.context()?, &part.case, |ReadingEnd { received, stop }| {
        measuring.tell(&())?;
        measuring.at_the_end(received, stop);
        Ok(())
    })?;
    measuring.tell(&seen)
}

/// Measures one round between two threads.
fn within<P: Payload>(case: &ThroughputCase, time: Duration) -> Result<Figures, Error> {
    let context = Context::builder().shared_memory(false).build()?;
    let size = one(&case.size);
    let publisher = context.node("source")?.publisher::<P>("flood").qos(lossless(size)).create()?;
    thread::scope(|scope| {
        let mut sender = None;
        let seen = read::<P>(&context, case, |ReadingEnd { received, stop }| {
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
        Ok(seen.figures(sent, size, Usage::default()))
    })
}
