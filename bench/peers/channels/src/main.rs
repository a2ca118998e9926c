//! Peer `channels`: crossbeam's, flume's and tokio's channels, with a thread or a task per relay.
//! They carry messages from one thread to another and have neither topics nor QoS.

mod tasks;
mod topology;

use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use harness::chain::{Sink, Timing};
use harness::throughput::{self, Drained};
use harness::{Case, Figures, Path, Peer, Program, Result, System, Work};
use sinew_bench::payload::{flood_depth, whole};
use sinew_bench::rounds::Meter;
use tokio::runtime::{Builder, Runtime};

fn main() -> ExitCode {
    harness::main::<Channels>()
}

struct Channels;

/// Capacity of a channel in a chain: only one message is in transit.
const ROOM: usize = 1024;

/// The systems, by name.
const CROSSBEAM: &str = "crossbeam";
const FLUME: &str = "flume";
const TOKIO: &str = "tokio mpsc";
const TOKIO_ONE_THREAD: &str = "tokio mpsc, one thread";
const TOKIO_TASKS: &str = "tokio tasks";

impl Program for Channels {
    fn systems() -> Peer {
        const FLOOD: &str = "the channel has one sender and one receiver, and no QoS; each message \
                             above 64 B is allocated anew and freed by the receiver";
        const THREADS: &str = "a channel has no topics, no QoS and one receiver; each relay is a \
                               thread, which the one before it wakes";
        const TASKS: &str = "a channel has no topics, no QoS and one receiver; each relay is a \
                             task; the source's timer is tokio's, which is exact to 1 ms";
        let threads = |name, link| {
            let how = "bounded channels, a thread per relay that blocks in recv";
            System::new(name, how, link).scenario("chain", Some(THREADS)).scenario("throughput", Some(FLOOD))
        };
        let mpsc = "https://docs.rs/tokio/latest/tokio/sync/mpsc";
        let on_two_threads = "bounded channels; the source, each relay and the sink are tasks of \
                              the multi-threaded runtime with two workers, which tokio has by \
                              default";
        let on_one_thread = "the same on the runtime of one thread (current_thread), where no \
                             other thread is ever woken: what an executor of one thread compares \
                             with";
        let tasks = "a task with an interval per publisher, a broadcast channel per topic, a task \
                     per subscription, on the multi-threaded runtime with two workers";
        Peer {
            peer: "channels".to_owned(),
            version: "crossbeam 0.5, flume 0.12, tokio 1".to_owned(),
            systems: vec![
                threads(CROSSBEAM, "https://docs.rs/crossbeam-channel"),
                threads(FLUME, "https://docs.rs/flume"),
                System::new(TOKIO, on_two_threads, mpsc)
                    .scenario("chain", Some(TASKS))
                    .scenario("throughput", Some(FLOOD)),
                System::new(
                    TOKIO_ONE_THREAD,
                    on_one_thread,
                    "https://docs.rs/tokio/latest/tokio/runtime/#current-thread-scheduler",
                )
                .scenario("chain", Some(TASKS)),
                System::new(TOKIO_TASKS, tasks, "https://docs.rs/tokio/latest/tokio/sync/broadcast")
                    .scenario(
                        "topology",
                        Some("a topic has no QoS but a depth; its receivers share the message"),
                    ),
            ],
        }
    }

    fn run(case: &Case) -> Result<Figures> {
        match (case.system.as_str(), &case.work) {
            (CROSSBEAM, Work::Chain { relays, rate }) => chain(
                crossbeam_channel::bounded,
                |to, value| to.send(value).is_ok(),
                |from| from.recv().ok(),
                *relays,
                *rate,
                case,
            ),
            (FLUME, Work::Chain { relays, rate }) => chain(
                flume::bounded,
                |to, value| to.send(value).is_ok(),
                |from| from.recv().ok(),
                *relays,
                *rate,
                case,
            ),
            (TOKIO, Work::Chain { relays, rate }) => {
                tasks::chain(&two_threads()?, *relays, *rate, case.time())
            }
            (TOKIO_ONE_THREAD, Work::Chain { relays, rate }) => {
                let one_thread = Builder::new_current_thread().enable_time().build()?;
                tasks::chain(&one_thread, *relays, *rate, case.time())
            }
            (CROSSBEAM, Work::Throughput { size, path: Path::Intra }) => sized(*size, case.time(), Crossbeam),
            (FLUME, Work::Throughput { size, path: Path::Intra }) => sized(*size, case.time(), Flume),
            (TOKIO, Work::Throughput { size, path: Path::Intra }) => sized(*size, case.time(), Tokio),
            (TOKIO_TASKS, Work::Topology { name }) => topology::run(case, name),
            _ => harness::no_part(case),
        }
    }
}

/// Measures a chain of threads, each with a channel before it.
fn chain<S: Send + 'static, R: Send + 'static>(
    channel: fn(usize) -> (S, R),
    send: fn(&S, Timing) -> bool,
    receive: fn(&R) -> Option<Timing>,
    relays: u32,
    rate: f64,
    case: &Case,
) -> Result<Figures> {
    let sink = Sink::new(rate, case.time());
    let (source, mut input) = channel(ROOM);
    let mut threads = Vec::new();
    for _ in 0..relays {
        let (to, next) = channel(ROOM);
        let from = std::mem::replace(&mut input, next);
        threads.push(thread::spawn(move || {
            while let Some(timing) = receive(&from) {
                send(&to, timing);
            }
        }));
    }
    let seen = sink.clone();
    threads.push(thread::spawn(move || {
        while let Some(timing) = receive(&input) {
            seen.arrive(timing);
        }
    }));
    let figures = harness::chain::measure(rate, case.time(), relays + 1, &sink, |timing| {
        anyhow::ensure!(send(&source, timing), "the first relay is gone");
        Ok(())
    });
    // Each thread ends when the one before it has ended, which drops its sender.
    drop(source);
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
    figures
}

/// Returns tokio's default runtime, with a worker for each of two cores.
fn two_threads() -> Result<Runtime> {
    Ok(Builder::new_multi_thread().worker_threads(2).enable_time().build()?)
}

/// A flood from one thread to another, with messages that are moved through a channel of capacity
/// `room`.
trait Flood {
    fn run<T: AsRef<[u64]> + Send + 'static>(
        self,
        time: Duration,
        room: usize,
        message: impl Fn(u64) -> T + Send,
    ) -> Result<(throughput::Sent, Drained)>;
}

/// Runs a flood. Small messages are moved directly, larger ones in a box of their own: both are the
/// usual way for each channel.
fn sized(size: usize, time: Duration, flood: impl Flood) -> Result<Figures> {
    let room = flood_depth(size);
    let meter = Meter::start();
    let (sent, seen) = match size {
        64 => flood.run(time, room, |number| [number; 8])?,
        _ => flood.run(time, room, |number| vec![number; size / 8])?,
    };
    Ok(seen.figures(sent, size, meter.usage()))
}

/// Measures a flood through a channel between threads. Its sender is dropped with `send`, which
/// ends the reader.
fn between_threads<T: AsRef<[u64]>>(
    time: Duration,
    from: impl IntoIterator<Item = T> + Send + 'static,
    send: impl Fn(u64) -> bool,
) -> Result<(throughput::Sent, Drained)> {
    let reader = thread::spawn(move || {
        let mut seen = Drained::default();
        from.into_iter().for_each(|message| seen.note(whole(message.as_ref())));
        seen
    });
    let sent = throughput::send_for(time, |number| {
        anyhow::ensure!(send(number), "the receiver is gone");
        Ok(())
    });
    drop(send);
    Ok((sent?, reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))))
}

struct Crossbeam;
struct Flume;
struct Tokio;

impl Flood for Crossbeam {
    fn run<T: AsRef<[u64]> + Send + 'static>(
        self,
        time: Duration,
        room: usize,
        message: impl Fn(u64) -> T + Send,
    ) -> Result<(throughput::Sent, Drained)> {
        let (to, from) = crossbeam_channel::bounded(room);
        between_threads(time, from, move |number| to.send(message(number)).is_ok())
    }
}

impl Flood for Flume {
    fn run<T: AsRef<[u64]> + Send + 'static>(
        self,
        time: Duration,
        room: usize,
        message: impl Fn(u64) -> T + Send,
    ) -> Result<(throughput::Sent, Drained)> {
        let (to, from) = flume::bounded(room);
        between_threads(time, from, move |number| to.send(message(number)).is_ok())
    }
}

impl Flood for Tokio {
    fn run<T: AsRef<[u64]> + Send + 'static>(
        self,
        time: Duration,
        room: usize,
        message: impl Fn(u64) -> T + Send,
    ) -> Result<(throughput::Sent, Drained)> {
        let runtime = two_threads()?;
        let (to, mut from) = tokio::sync::mpsc::channel(room);
        let reader = runtime.spawn(async move {
            let mut seen = Drained::default();
            while let Some(message) = from.recv().await {
                let message: T = message;
                seen.note(whole(message.as_ref()));
            }
            seen
        });
        // A sender that blocks a thread would be woken for each free place; a task yields to the
        // receiver instead.
        let sent = runtime.block_on(async {
            let mut sending = throughput::Sending::begin(time);
            for number in sending.by_ref() {
                to.send(message(number)).await.map_err(|_| anyhow::anyhow!("the receiver is gone"))?;
            }
            anyhow::Ok(sending.sent)
        });
        drop(to);
        Ok((sent?, runtime.block_on(reader)?))
    }
}
