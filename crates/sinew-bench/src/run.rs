//! Runs nodes for a while, and returns the measurements of their callbacks.
#![expect(
    clippy::disallowed_types,
    reason = "no lock-free protocol here for a model to check: one lock, held for a few stores"
)]

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sinew::executor::{DispatchOrder, ExecutorBuilder, FaultPolicy};
use sinew::{Client, Context, Executor, Message, Node, Publisher, Service, Timer};

use crate::messages::Timing;
use crate::options::{ExecutorKind, ExecutorOptions, Order, Wait};
use crate::process::{PATIENCE, pause_until_all};
use crate::{Error, Measuring, Meter, Process, Usage, nanoseconds, now_ns, sleep_until};

/// Returns the executor that the options select.
pub fn executor(options: ExecutorOptions) -> ExecutorBuilder {
    let threads = match options.kind {
        ExecutorKind::Single => 1,
        ExecutorKind::Multi => options.threads() as usize,
    };
    Executor::builder().threads(threads).dispatch_order(match options.order {
        Order::ByTime => DispatchOrder::ByTime,
        Order::RunNext => DispatchOrder::RunNext,
    })
}

/// Returns an executor that waits in that way.
pub fn waiting(wait: Wait) -> ExecutorBuilder {
    // Longer than any round.
    const ALWAYS: Duration = Duration::from_secs(100_000);
    Executor::builder().spin_before_park(match wait {
        Wait::Spin => ALWAYS,
        Wait::Sleep => Duration::ZERO,
    })
}

/// A context of its own and an executor for all its nodes.
pub struct Run {
    /// The context of its nodes.
    pub context: Context,
    /// The executor of its nodes.
    pub executor: Executor,
}

impl Run {
    /// Makes a run with a single-threaded executor.
    pub fn new() -> sinew::Result<Self> {
        Self::by(ExecutorOptions::default())
    }

    /// Makes a run with the executor that the options select.
    pub fn by(options: ExecutorOptions) -> sinew::Result<Self> {
        Self::of(Context::builder().shared_memory(false).build()?, executor(options))
    }

    /// Makes a run with all nodes of a context.
    pub fn of(context: Context, executor: ExecutorBuilder) -> sinew::Result<Self> {
        let run = Self { context, executor: executor.on_error(FaultPolicy::Stop).build()? };
        run.executor.add(&run.context)?;
        Ok(run)
    }

    /// Runs the nodes for `time`. Returns the resources that this process used meanwhile.
    pub fn spin_for(&self, time: Duration) -> sinew::Result<Usage> {
        let stop = self.executor.stop_handle();
        let _end = self.context.node("stopwatch")?.timer(time).callback(move || stop.stop())?;
        let meter = Meter::start();
        self.executor.spin()?;
        Ok(meter.usage())
    }

    /// Runs the remaining callbacks; call it once nothing publishes by itself any more.
    pub fn drain(&self) -> sinew::Result<()> {
        self.executor.spin_all(Duration::from_secs(1))?;
        Ok(())
    }

    /// Runs the nodes until another process sends something.
    pub fn spin_until_told(&self, other: &Process) -> Result<(), Error> {
        let until = now_ns() + nanoseconds(PATIENCE);
        // If it sends nothing, the next read reports that.
        while !other.has_told()? && now_ns() < until {
            self.spin_for(Duration::from_millis(2))?;
        }
        Ok(())
    }

    /// Runs the nodes until `received` has reached `sent` messages, or no more come.
    pub fn spin_until(&self, sent: u64, received: impl Fn() -> u64) -> sinew::Result<()> {
        pause_until_all(sent, received, || self.spin_for(Duration::from_millis(2)).map(drop))
    }

    /// In another process: runs the nodes until the measuring process ends the round and, if it
    /// says how many messages it sent, `received` has reached that number. Returns the resources
    /// that this process used meanwhile.
    pub fn serve(
        &self,
        measuring: Measuring,
        received: impl Fn() -> u64 + Send + 'static,
    ) -> sinew::Result<Usage> {
        let stop = self.executor.stop_handle();
        measuring.at_the_end(received, move || stop.stop());
        let meter = Meter::start();
        self.executor.spin()?;
        Ok(meter.usage())
    }
}

/// Creates a context that other processes reach through `directory`.
pub fn shared_context(directory: &Path) -> sinew::Result<Context> {
    Ok(Context::builder().directory(directory).build()?)
}

/// Waits until a publisher has this many subscriptions.
pub fn matched<T: Message>(publisher: &Publisher<T>, subscriptions: u32) -> Result<(), Error> {
    if publisher.wait_for_subscribers(subscriptions as usize, PATIENCE) {
        return Ok(());
    }
    Err(Error::Unmatched {
        name: publisher.topic().to_owned(),
        found: publisher.subscription_count(),
        wanted: subscriptions as usize,
        waited: PATIENCE,
    })
}

/// Waits until a publisher has at most this many subscriptions.
pub(crate) fn unmatched<T: Message>(publisher: &Publisher<T>, subscriptions: usize) -> Result<(), Error> {
    let until = now_ns() + nanoseconds(PATIENCE);
    while publisher.subscription_count() > subscriptions {
        if now_ns() > until {
            let (name, found) = (publisher.topic().to_owned(), publisher.subscription_count());
            return Err(Error::Unmatched { name, found, wanted: subscriptions, waited: PATIENCE });
        }
        sleep_until(now_ns() + 200_000);
    }
    Ok(())
}

/// Waits until a client has found its server.
pub(crate) fn found<S: Service>(client: &Client<S>) -> Result<(), Error> {
    let missing =
        || Error::Unmatched { name: client.name().to_owned(), found: 0, wanted: 1, waited: PATIENCE };
    client.wait_for_server(PATIENCE).then_some(()).ok_or_else(missing)
}

/// Starts a timer that publishes messages at a rate, numbered from 1.
pub(crate) fn source(node: &Node, publisher: &Publisher<Timing>, rate: f64) -> sinew::Result<Timer> {
    let publisher = publisher.clone();
    let mut number = 0;
    let timer = node.timer(Duration::from_secs_f64(1.0 / rate)).callback(move || {
        number += 1;
        publisher.publish(Timing { stamp: now_ns(), number })
    })?;
    Ok(timer)
}

/// Measurements of callbacks, shared with the code that started them. The lock is acquired after
/// the clock was read.
pub struct Collected<T>(Arc<Mutex<T>>);

impl<T> Collected<T> {
    /// Starts with `start`.
    pub fn new(start: T) -> Self {
        Self(Arc::new(Mutex::new(start)))
    }

    /// Reads or changes it.
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        // A callback that panicked has already ended the run: its results are not used.
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<T> Clone for Collected<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}
