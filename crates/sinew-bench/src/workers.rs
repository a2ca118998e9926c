//! Scenarios `two-subscriptions` and `workers`: callbacks that compute, on several threads. Two
//! subscriptions of one message should be finished as soon as two plain threads are, and topics
//! that are always busy should keep every thread as busy as plain threads keep themselves.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use super::messages::Timing;
use crate::machine;
use crate::news;
use crate::options::{ExecutorOptions, TwoSubscriptionsCase, WorkersCase};
use crate::{
    Case, Collected, Error, Figures, Floor, Ground, Heard, Run, Samples, Ticks, nanoseconds, now_ns,
    on_own_thread, one, sleep_until, source, ticks, warm_up,
};

/// Messages per second to the two subscriptions.
const RATE: f64 = 100.0;

/// Computing time of each of the two subscriptions, in microseconds.
const WORK_US: u32 = 1000;

/// The name of the floors: plain threads with the same work.
const PLAIN: &str = "plain threads";

impl Case for TwoSubscriptionsCase {
    fn floors(&self) -> Result<Vec<Floor>, Error> {
        let round = |cores, time| on_own_thread(|| two_threads_round(cores, time));
        Ok(vec![Floor::between(PLAIN, round)])
    }

    fn needs_two_cores(&self) -> bool {
        true
    }

    fn round(&self, _: &Ground, time: Duration) -> Result<Figures, Error> {
        Ok(two_subscriptions_round(ExecutorOptions::multi(2), time)?)
    }
}

impl Case for WorkersCase {
    fn floors(&self) -> Result<Vec<Floor>, Error> {
        let busy = Busy::of(self)?;
        let round = move |time| on_own_thread(|| plain_threads_round(&busy, time));
        Ok(vec![Floor::new(PLAIN, round)])
    }

    fn round(&self, _: &Ground, time: Duration) -> Result<Figures, Error> {
        let busy = Busy::of(self)?;
        on_own_thread(|| busy_topics_round(&busy, time))
    }
}

/// Occupies a core for this time: unlike time on the clock, it can't pass while another thread has
/// the core.
fn occupy_core() {
    let end = machine::thread_cpu_ns() + i64::from(WORK_US) * 1000;
    while machine::thread_cpu_ns() < end {
        std::hint::spin_loop();
    }
}

/// Measures one round: the time from the publish until both subscriptions have done their work.
fn two_subscriptions_round(executor: ExecutorOptions, time: Duration) -> sinew::Result<Figures> {
    let ticks = ticks(RATE, time);
    let run = Run::by(executor)?;

    let node = run.context.node("source")?;
    let sent = node.publisher::<Timing>("news").create()?;
    let timer = source(&node, &sent, RATE)?;

    let done = Collected::new(Heard::by(2, ticks as usize + 1));
    let worker = run.context.node("worker")?;
    let mut working = Vec::new();
    for which in 0..2 {
        let done = done.clone();
        let group = worker.group(());
        let subscription = group.subscription::<Timing>("news");
        working.push(subscription.callback(move |timing: &Timing| {
            occupy_core();
            let latency = now_ns() - timing.stamp;
            done.with(|done| done.note(which, timing.number, latency));
        })?);
    }

    let usage = run.spin_for(time)?;
    drop(timer);
    run.drain()?;
    let done = [done.with(std::mem::take)];
    let figures = news::figures(&done, warm_up(ticks).into(), sent.statistics().published);
    Ok(figures.using(usage))
}

/// Measures the same with two threads, each on a core of its own (the kernel often wakes a thread
/// on the core of the thread that woke it, and leaves it there for a while). The thread that wakes
/// at the tick does its work after it has woken the other one.
fn two_threads_round(cores: (usize, usize), time: Duration) -> Result<Figures, Error> {
    machine::pin_to(cores.0)?;
    let ticks = ticks(RATE, time);
    let mut samples = Samples::with_room_for(ticks as usize);
    let mut pace = Ticks::start(RATE)?;
    let (wake, woken) = mpsc::channel::<()>();
    let (tell, told) = mpsc::channel::<i64>();
    thread::scope(|scope| {
        let other = scope.spawn(move || {
            machine::pin_to(cores.1)?;
            for () in woken {
                occupy_core();
                if tell.send(now_ns()).is_err() {
                    break;
                }
            }
            Ok::<(), Error>(())
        });
        for number in 0..ticks {
            pace.wait();
            let stamp = now_ns();
            let gone = wake.send(()).is_err();
            occupy_core();
            let own = now_ns();
            let Ok(other) = told.recv() else { break };
            if gone || number < warm_up(ticks) {
                continue;
            }
            samples.record(own.max(other) - stamp);
        }
        drop(wake);
        other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })?;
    Ok(Figures::of(&samples, 1))
}

/// A computation of a fixed amount.
#[derive(Clone, Copy)]
struct Computation {
    steps: u64,
}

impl Computation {
    /// Returns an amount that takes about `us` microseconds on this machine, without disturbance.
    fn of(us: u32) -> Self {
        const TRIAL: u64 = 100_000;
        let trial_ns = || {
            let start = machine::thread_cpu_ns();
            Self { steps: TRIAL }.run();
            machine::thread_cpu_ns() - start
        };
        // Once, so that both sides compute the same.
        static FASTEST: OnceLock<u64> = OnceLock::new();
        let fastest = || (0..20).map(|_| trial_ns()).min().unwrap_or(1).max(1).unsigned_abs();
        let fastest = FASTEST.get_or_init(fastest);
        Self { steps: (TRIAL * u64::from(us) * 1000 / fastest).max(1) }
    }

    /// Computes in steps that each depend on the one before.
    fn run(self) {
        let mut state = black_box(1_u64);
        for _ in 0..self.steps {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
        }
        black_box(state);
    }
}

/// Topics that are always busy.
struct Busy {
    topics: u32,
    threads: u32,
    cores: Vec<usize>,
    work: Computation,
}

impl Busy {
    /// Uses two cores, if there are two.
    fn of(case: &WorkersCase) -> Result<Self, Error> {
        let cores = machine::two_cores()?.map(|(first, second)| vec![first, second]);
        let cores = cores.map_or_else(machine::allowed_cores, Ok)?;
        let work = Computation::of(one(&case.work_us));
        Ok(Self { topics: case.topics, threads: case.threads, cores, work })
    }
}

/// Counts callbacks between a tenth of `time` and its end; `run_for` keeps the work going for a
/// while.
fn counted(
    time: Duration,
    count: impl Fn() -> u64,
    mut run_for: impl FnMut(Duration) -> Result<(), Error>,
) -> Result<Figures, Error> {
    run_for(time / 10)?;
    let (before, start) = (count(), now_ns());
    run_for(time - time / 10)?;
    let (after, end) = (count(), now_ns());
    let per_second = (after - before) as f64 * 1e9 / (end - start).max(1) as f64;
    let (messages, callbacks_per_second) = (Some(after - before), Some(per_second));
    Ok(Figures { rounds: Some(1), messages, lost: Some(0), callbacks_per_second, ..Figures::default() })
}

/// Measures one round with the executor.
fn busy_topics_round(busy: &Busy, time: Duration) -> Result<Figures, Error> {
    machine::keep_to(&busy.cores)?;
    let run = Run::by(ExecutorOptions::multi(busy.threads))?;
    let (mut publishers, mut subscriptions) = (Vec::new(), Vec::new());
    for topic in 0..busy.topics {
        let node = run.context.node(&format!("busy_{topic}"))?;
        let name = format!("round_{topic}");
        let publisher = node.publisher::<Timing>(&name).create()?;
        publishers.push(publisher.clone());
        let work = busy.work;
        let subscription = node.subscription::<Timing>(&name).callback(move |timing: &Timing| {
            work.run();
            publisher.publish(Timing { number: timing.number + 1, ..*timing })
        });
        subscriptions.push(subscription?);
    }
    for publisher in &publishers {
        let first = Timing { stamp: now_ns(), number: 1 };
        publisher.publish(first).map_err(sinew::Error::from)?;
    }
    let taken = || subscriptions.iter().map(|subscription| subscription.statistics().taken).sum();
    let figures = counted(time, taken, |time| Ok(run.spin_for(time).map(drop)?))?;
    // One message of each topic is waiting, and so not lost.
    let published: u64 = publishers.iter().map(|publisher| publisher.statistics().published).sum();
    let waiting: u64 = subscriptions.iter().map(|subscription| subscription.statistics().waiting).sum();
    Ok(figures.faulty(published.saturating_sub(taken() + waiting), 0))
}

/// A count that only its own thread writes, on separate cache lines.
#[repr(align(128))]
#[derive(Default)]
struct Count(AtomicU64);

/// Measures one round of plain threads that do the same work.
fn plain_threads_round(busy: &Busy, time: Duration) -> Result<Figures, Error> {
    machine::keep_to(&busy.cores)?;
    let counts: Vec<Count> = (0..busy.threads).map(|_| Count::default()).collect();
    let done = Arc::new(AtomicBool::new(false));
    // Relaxed throughout: nothing else depends on counts and flag.
    thread::scope(|scope| {
        for count in &counts {
            let done = Arc::clone(&done);
            let work = busy.work;
            scope.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    work.run();
                    count.0.store(count.0.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                }
            });
        }
        let sum = || counts.iter().map(|count| count.0.load(Ordering::Relaxed)).sum();
        let result = counted(time, sum, |time| {
            sleep_until(now_ns() + nanoseconds(time));
            Ok(())
        });
        done.store(true, Ordering::Relaxed);
        result
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_subscriptions_get_every_message() {
        for executor in [ExecutorOptions::default(), ExecutorOptions::multi(2)] {
            let figures = two_subscriptions_round(executor, Duration::from_millis(100)).unwrap();
            assert!(figures.messages > Some(0));
            assert_eq!((figures.lost, figures.reordered), (Some(0), None));
        }
    }

    #[test]
    fn two_threads_are_measured_after_the_warm_up() {
        let core = machine::allowed_cores().unwrap()[0];
        let round = on_own_thread(|| two_threads_round((core, core), Duration::from_millis(100)));
        assert_eq!(round.unwrap().messages, Some(9));
    }

    #[test]
    fn busy_topics_go_on_and_lose_nothing() {
        let cores = machine::allowed_cores().unwrap();
        let busy = Busy { topics: 3, threads: 2, cores, work: Computation { steps: 100 } };
        let time = Duration::from_millis(30);
        for round in [busy_topics_round, plain_threads_round] {
            let figures = on_own_thread(|| round(&busy, time)).unwrap();
            assert!(figures.messages > Some(0) && figures.callbacks_per_second > Some(0.0));
            assert_eq!(figures.lost, Some(0));
        }
    }
}
