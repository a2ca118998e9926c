//! Peer `channels`: crossbeam's, flume's and tokio's channels, with a thread or a task per relay. They carry a message from
//! one thread to another and know neither topics nor QoS.

mod topology;

use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use harness::chain::{Sink, Timing};
use harness::throughput::{self, Seen};
use harness::{Case, Figures, Path, Peer, Program, Result, System, Work};

fn main() -> ExitCode {
    harness::main::<Channels>()
}

struct Channels;

/// Messages that a channel holds: what our side's `keep_all` may keep waiting.
const ROOM: usize = 1024;

impl Program for Channels {
    fn systems() -> Peer {
        let one_to_one = || {
            let how = "the channel has one sender and one receiver, and no QoS";
            ("throughput".to_owned(), how.to_owned())
        };
        let system = |name: &str, how: &str, link: &str, scenarios: &[&str]| System {
            name: name.to_owned(),
            how: how.to_owned(),
            link: link.to_owned(),
            scenarios: scenarios.iter().map(|&name| name.to_owned()).collect(),
            differs: scenarios.contains(&"throughput").then(one_to_one).into_iter().collect(),
            unavailable: None,
        };
        Peer {
            peer: "channels".to_owned(),
            version: "crossbeam 0.5, flume 0.12, tokio 1".to_owned(),
            systems: vec![
                system(
                    "crossbeam",
                    "bounded channels, a thread per relay that blocks in recv",
                    "https://docs.rs/crossbeam-channel",
                    &["chain", "throughput"],
                ),
                system(
                    "flume",
                    "bounded channels, a thread per relay that blocks in recv",
                    "https://docs.rs/flume",
                    &["chain", "throughput"],
                ),
                system(
                    "tokio mpsc",
                    "bounded channels, a task per relay on the multi-threaded runtime with two workers",
                    "https://docs.rs/tokio/latest/tokio/sync/mpsc",
                    &["chain", "throughput"],
                ),
                system(
                    "tokio tasks",
                    "a task with an interval per publisher, a broadcast channel per topic, a task per subscription, on the \
                     multi-threaded runtime with two workers",
                    "https://docs.rs/tokio/latest/tokio/sync/broadcast",
                    &["topology"],
                ),
            ],
        }
    }

    fn run(case: &Case) -> Result<Figures> {
        match (case.system.as_str(), &case.work) {
            ("crossbeam", Work::Chain { relays, rate }) => chain(
                crossbeam_channel::bounded,
                |to, value| to.send(value).is_ok(),
                |from| from.recv().ok(),
                *relays,
                *rate,
                case,
            ),
            ("flume", Work::Chain { relays, rate }) => chain(
                flume::bounded,
                |to, value| to.send(value).is_ok(),
                |from| from.recv().ok(),
                *relays,
                *rate,
                case,
            ),
            ("tokio mpsc", Work::Chain { relays, rate }) => tokio_chain(*relays, *rate, case.time()),
            ("crossbeam", Work::Throughput { size, path: Path::Intra }) => {
                sized(*size, case.time(), Crossbeam)
            }
            ("flume", Work::Throughput { size, path: Path::Intra }) => sized(*size, case.time(), Flume),
            ("tokio mpsc", Work::Throughput { size, path: Path::Intra }) => sized(*size, case.time(), Tokio),
            ("tokio tasks", Work::Topology { name }) => topology::run(case, name),
            (system, work) => anyhow::bail!("{system} has no {} like this", work.scenario()),
        }
    }
}

/// A chain of threads, each with a channel before it.
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
    // Each thread ends when the one before it has, and with it its sender.
    drop(source);
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
    figures
}

fn tokio_chain(relays: u32, rate: f64, time: Duration) -> Result<Figures> {
    let runtime = runtime()?;
    let sink = Sink::new(rate, time);
    let (source, mut input) = tokio::sync::mpsc::channel(ROOM);
    for _ in 0..relays {
        let (to, next) = tokio::sync::mpsc::channel(ROOM);
        let mut from = std::mem::replace(&mut input, next);
        runtime.spawn(async move {
            while let Some(timing) = from.recv().await {
                if to.send(timing).await.is_err() {
                    break;
                }
            }
        });
    }
    let seen = sink.clone();
    runtime.spawn(async move {
        while let Some(timing) = input.recv().await {
            seen.arrive(timing);
        }
    });
    harness::chain::measure(rate, time, relays + 1, &sink, |timing| Ok(source.blocking_send(timing)?))
}

fn runtime() -> Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build()?)
}

/// A flood from one thread to another, of messages of `WORDS` words that are moved through the channel.
trait Flood {
    fn run<T: AsRef<[u64]> + Send + 'static>(
        self,
        time: Duration,
        message: impl Fn(u64) -> T + Send,
    ) -> Result<(throughput::Sent, Seen)>;
}

/// Small messages are moved as they are, larger ones in a box of their own: what each channel's users do.
fn sized(size: usize, time: Duration, flood: impl Flood) -> Result<Figures> {
    let (sent, seen) = match size {
        64 => flood.run(time, |number| [number; 8])?,
        _ => flood.run(time, |number| vec![number; size / 8])?,
    };
    Ok(throughput::figures(sent, seen, size))
}

/// A flood through a channel between threads. Its sender is dropped with `send`, which ends the
/// reader.
fn between_threads<T: AsRef<[u64]>>(
    time: Duration,
    from: impl IntoIterator<Item = T> + Send + 'static,
    send: impl Fn(u64) -> bool,
) -> Result<(throughput::Sent, Seen)> {
    let reader = thread::spawn(move || {
        let mut seen = Seen::default();
        from.into_iter().for_each(|message| seen.note(message.as_ref()));
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
        message: impl Fn(u64) -> T + Send,
    ) -> Result<(throughput::Sent, Seen)> {
        let (to, from) = crossbeam_channel::bounded(ROOM);
        between_threads(time, from, move |number| to.send(message(number)).is_ok())
    }
}

impl Flood for Flume {
    fn run<T: AsRef<[u64]> + Send + 'static>(
        self,
        time: Duration,
        message: impl Fn(u64) -> T + Send,
    ) -> Result<(throughput::Sent, Seen)> {
        let (to, from) = flume::bounded(ROOM);
        between_threads(time, from, move |number| to.send(message(number)).is_ok())
    }
}

impl Flood for Tokio {
    fn run<T: AsRef<[u64]> + Send + 'static>(
        self,
        time: Duration,
        message: impl Fn(u64) -> T + Send,
    ) -> Result<(throughput::Sent, Seen)> {
        let runtime = runtime()?;
        let (to, mut from) = tokio::sync::mpsc::channel(ROOM);
        let reader = runtime.spawn(async move {
            let mut seen = Seen::default();
            while let Some(message) = from.recv().await {
                let message: T = message;
                seen.note(message.as_ref());
            }
            seen
        });
        // A sender that blocks a thread would wake it for each place; a task gives way to the receiver instead.
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
