//! Two processes: the measuring one listens, the other one connects to it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Context as _;
use harness::big::{self, Images};
use harness::chain::Timing;
use harness::fanout;
use harness::pingpong::{self, Answer, Game, Rally};
use harness::requests::Calls;
use harness::throughput::{self, Drained};
use harness::{Case, Figures, Measuring, Mode, Other, Process, Result, bytes, now_ns};
use sinew_bench::latest::{self, LatestSpan, Reads};
use sinew_bench::machine::pin_to;
use sinew_bench::process::{PATIENCE, await_all};
use sinew_bench::rounds::{Meter, Usage};
use zenoh::handlers::{FifoChannelHandler, RingChannel};
use zenoh::pubsub::{Publisher, Subscriber};
use zenoh::qos::CongestionControl;
use zenoh::sample::Sample;
use zenoh::{Session, Wait as _};

use crate::Zenoh;
use crate::line::{answer, call, timing_of};
use crate::payloads::{Payloads, first_word};
use crate::sessions::{
    Memory, Said as _, connected, found, key, listening, locator, matched, publisher, querier,
};

/// Calls `work` with a session that the other process can connect to, with each process on a core
/// of its own if `pinned`.
pub fn with_other(
    case: &Case,
    memory: Memory,
    pinned: bool,
    work: impl FnOnce(&Session, &mut dyn FnMut() -> Result<Process>) -> Result<Figures>,
) -> Result<Figures> {
    let cores = if pinned { Some(harness::two_cores()?) } else { None };
    // Before there is a session: its threads inherit this thread's core.
    cores.map_or(Ok(()), |cores| pin_to(cores.0))?;
    let session = listening(memory, &[])?;
    let mut start = || {
        let mut other = harness::start::<Zenoh>(case, cores.map(|cores| cores.1), locator(&session)?)?;
        other.hear::<()>()?;
        Ok(other)
    };
    let figures = work(&session, &mut start);
    session.close().wait().said("closing a session")?;
    figures
}

/// Opens the other process's session.
pub fn join(other: &Other, memory: Memory) -> Result<Session> {
    connected(memory, std::slice::from_ref(&other.note))
}

fn subscribe(
    session: &Session,
    topic: &str,
    callback: impl Fn(Sample) + Send + Sync + 'static,
) -> Result<Subscriber<()>> {
    session.declare_subscriber(key(topic, 0)?).callback(callback).wait().said("declaring a subscriber")
}

/// A value that several threads use in turn.
#[derive(Default)]
struct Shared<T>(Arc<Mutex<T>>);

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Shared<T> {
    fn of(value: T) -> Self {
        Self(Arc::new(Mutex::new(value)))
    }

    fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// In the other process: reports that it is ready, waits for the number of messages, and then until
/// `received` has reached it or no more come. Returns the resources that this process used
/// meanwhile.
fn until_all_came(measuring: Measuring, received: impl Fn() -> u64) -> Result<Usage> {
    measuring.tell(&())?;
    let meter = Meter::start();
    let count = measuring.order::<u64>()?.unwrap_or(0);
    let usage = meter.usage();
    await_all(count, received);
    Ok(usage)
}

/// The side of a ping-pong that begins.
struct Pings {
    mode: Mode,
    payloads: Payloads,
    pings: Publisher<'static>,
    pongs: Subscriber<FifoChannelHandler<Sample>>,
}

impl Rally<anyhow::Error> for Pings {
    fn send(&mut self, number: u64) -> Result<()> {
        self.pings.put(self.payloads.numbered(self.mode, number)?).wait().said("publishing")
    }

    fn answer(&mut self) -> Result<Answer> {
        let pong =
            self.pongs.recv_timeout(PATIENCE).said("waiting for an answer")?.context("no answer came")?;
        match self.mode {
            Mode::Loan => Ok(Answer { number: first_word(pong.payload()), end_ns: None }),
            Mode::Whole => {
                let Timing { stamp, number } = timing_of(pong.payload()).context("an answer isn't one")?;
                Ok(Answer { number, end_ns: Some(stamp) })
            }
        }
    }
}

pub fn pingpong(case: &Case, memory: Memory) -> Result<Figures> {
    let Game { mode, size } = Game::of(case)?;
    with_other(case, memory, true, |session, start| {
        let pings = publisher(session, key("ping", 0)?, true)?;
        let pongs = session.declare_subscriber(key("pong", 0)?).wait().said("declaring a subscriber")?;
        let other = start()?;
        matched(&pings)?;
        let mut rally = Pings { mode, payloads: Payloads::of(memory, size)?, pings, pongs };
        pingpong::measure_both(case, other, &mut rally)
    })
}

pub fn serve_pingpong(other: &Other, memory: Memory, measuring: Measuring) -> Result<()> {
    let Game { mode, .. } = Game::of(&other.case)?;
    let session = join(other, memory)?;
    let pongs = Arc::new(publisher(&session, key("pong", 0)?, true)?);
    let to = pongs.clone();
    let _pings = subscribe(&session, "ping", move |ping| {
        let pong = match mode {
            Mode::Loan => to.put(ping.payload().clone()),
            Mode::Whole => {
                // No message has the number 0: the measuring side counts it as a wrong answer.
                let number = bytes::number_of(&ping.payload().to_bytes()).unwrap_or(0);
                to.put(Timing { stamp: now_ns(), number }.to_bytes())
            }
        };
        if let Err(error) = pong.wait() {
            eprintln!("an answer failed: {error}");
        }
    })?;
    matched(&pongs)?;
    pingpong::answer_until_the_end(measuring)?;
    session.close().wait().said("closing a session")
}

pub fn requests(case: &Case) -> Result<Figures> {
    with_other(case, Memory::Heap, true, |session, start| {
        let other = start()?;
        let server = querier(session, key("server", 0)?)?;
        found(&server)?;
        let mut calls = Calls::by(|timing| {
            let answer = call(&server, timing.to_bytes())?;
            Ok(timing_of(&answer).context("an answer isn't one")?.number)
        });
        pingpong::measure_both(case, other, &mut calls)
    })
}

pub fn serve_requests(other: &Other, measuring: Measuring) -> Result<()> {
    let session = join(other, Memory::Heap)?;
    let server = session.declare_queryable(key("server", 0)?).complete(true);
    let server = server.callback(|query| answer(&query, |request| Ok(request.clone()))).background();
    server.wait().said("declaring a queryable")?;
    pingpong::answer_until_the_end(measuring)?;
    session.close().wait().said("closing a session")
}

pub fn throughput(case: &Case, memory: Memory, size: usize) -> Result<Figures> {
    with_other(case, memory, false, |session, start| {
        let flood = publisher(session, key("flood", 0)?, false)?;
        let other = start()?;
        matched(&flood)?;
        let payloads = Payloads::of(memory, size)?;
        throughput::measure(case.time(), size, other, |number| {
            flood.put(payloads.numbered(Mode::Whole, number)?).wait().said("publishing")
        })
    })
}

pub fn serve_throughput(other: &Other, memory: Memory, measuring: Measuring) -> Result<()> {
    let session = join(other, memory)?;
    let seen = Shared::of(Drained::default());
    let noted = seen.clone();
    let _flood = subscribe(&session, "flood", move |message| {
        noted.lock().note(bytes::number_of(&message.payload().to_bytes()));
    })?;
    let usage = until_all_came(measuring, || seen.lock().received())?;
    seen.lock().usage = usage;
    measuring.tell(&*seen.lock())?;
    session.close().wait().said("closing a session")
}

pub fn fan_out(case: &Case) -> Result<Figures> {
    with_other(case, Memory::Heap, false, |session, start| {
        let news = publisher(session, key("news", 0)?, true)?;
        let other = start()?;
        matched(&news)?;
        fanout::measure(case.time(), other, |timing| news.put(timing.to_bytes()).wait().said("publishing"))
    })
}

/// Serves all subscribers in one session: in Sinew's side they share a context.
pub fn serve_fanout(other: &Other, subscriptions: u32, measuring: Measuring) -> Result<()> {
    let session = join(other, Memory::Heap)?;
    let heard = Shared::of(fanout::heard_by(subscriptions, other.case.time()));
    let subscriber = |reader| {
        let noted = heard.clone();
        subscribe(&session, "news", move |message| {
            let now = now_ns();
            if let Some(timing) = timing_of(message.payload()) {
                noted.lock().note(reader, timing.number, now - timing.stamp);
            }
        })
    };
    let _subscribers = (0..subscriptions as usize).map(subscriber).collect::<Result<Vec<_>>>()?;
    let usage = until_all_came(measuring, || heard.lock().received_by_all())?;
    measuring.tell(&(&*heard.lock(), usage))?;
    session.close().wait().said("closing a session")
}

/// Publishes the next image; returns the time inside publish, without making the image.
fn publish_image(images: &Publisher<'_>, payloads: &Payloads, number: u64) -> Result<i64> {
    let image = payloads.written(|image| {
        bytes::fill(image, number);
        image[..8].copy_from_slice(&now_ns().to_le_bytes());
    })?;
    let start = now_ns();
    images.put(image).wait().said("publishing")?;
    Ok(now_ns() - start)
}

pub fn images(case: &Case, memory: Memory) -> Result<Figures> {
    with_other(case, memory, false, |session, start| {
        let images = publisher(session, key("images", 0)?, true)?;
        let other = start()?;
        matched(&images)?;
        let payloads = Payloads::of(memory, big::BYTES)?;
        big::measure(case, other, |number| publish_image(&images, &payloads, number))
    })
}

pub fn serve_big(other: &Other, memory: Memory, measuring: Measuring) -> Result<()> {
    let session = join(other, memory)?;
    let images = Shared::of(Images::default());
    let noted = images.clone();
    let _images = subscribe(&session, "images", move |image| {
        let image = image.payload().to_bytes();
        noted.lock().note(|place| image.get(8 * place..).and_then(bytes::first_word));
    })?;
    let usage = until_all_came(measuring, || images.lock().received())?;
    measuring.tell(&(&*images.lock(), usage))?;
    session.close().wait().said("closing a session")
}

/// Measures one process that writes a value, and another one that keeps it.
pub fn latest(case: &Case, size: usize) -> Result<Figures> {
    with_other(case, Memory::Heap, true, |session, start| {
        // A value that can't be sent yet may be dropped: a newer one follows.
        let values = session.declare_publisher(key("value", 0)?).congestion_control(CongestionControl::Drop);
        let values = values.wait().said("declaring a publisher")?;
        let mut other = start()?;
        matched(&values)?;
        let payloads = Payloads::of(Memory::Heap, size)?;
        let span = LatestSpan::soon(case.time());
        other.order(&span)?;
        let writes = latest::write(span, |word| {
            values.put(payloads.numbered(Mode::Whole, word)?).wait().said("publishing")
        })?;
        let reads: Reads = other.finish()?;
        Ok(reads.figures(&writes))
    })
}

/// In the other process: keeps the newest value, and reads it again while there is no newer one.
pub fn serve_latest(other: &Other, size: usize, measuring: Measuring) -> Result<()> {
    let session = join(other, Memory::Heap)?;
    let values = session.declare_subscriber(key("value", 0)?).with(RingChannel::new(1));
    let values = values.wait().said("declaring a subscriber")?;
    measuring.tell(&())?;
    let span = measuring.order::<LatestSpan>()?.context("there was no order")?;
    let mut newest = Vec::new();
    let reads = latest::read(span, |reads| -> Result<()> {
        if let Some(newer) = values.try_recv().said("reading the value")? {
            let bytes = newer.payload().to_bytes();
            anyhow::ensure!(bytes.len() == size, "a value of {} B came, not of {size} B", bytes.len());
            newest.clear();
            newest.extend(bytes.as_chunks().0.iter().copied().map(u64::from_le_bytes));
        }
        if !newest.is_empty() {
            reads.note(&newest);
        }
        Ok(())
    })?;
    measuring.tell(&reads)?;
    session.close().wait().said("closing a session")
}
