//! Running nodes for a while, and getting back what their callbacks measured.
#![expect(
    clippy::disallowed_types,
    reason = "no lock-free protocol here for a model to check: one lock, held for a few stores"
)]

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sinew::executor::{ExecutorBuilder, FaultPolicy};
use sinew::{Context, Executor, Message, Publisher};

use super::process::{Measuring, PATIENCE, Process, await_all};
use super::rounds::{Meter, Usage};
use crate::clock::{nanoseconds, now_ns};
use crate::error::Error;
use crate::options::{ExecutorKind, ExecutorOptions, Wait};

/// The executor that the options ask for.
pub fn executor(options: ExecutorOptions) -> ExecutorBuilder {
    Executor::builder().threads(match options.kind {
        ExecutorKind::Single => 1,
        ExecutorKind::Multi => options.threads() as usize,
    })
}

/// An executor that waits like that.
pub fn waiting(wait: Wait) -> ExecutorBuilder {
    // As long as any round may take.
    const ALWAYS: Duration = Duration::from_secs(100_000);
    Executor::builder().spin_before_park(match wait {
        Wait::Spin => ALWAYS,
        Wait::Sleep => Duration::ZERO,
    })
}

/// A context of its own and an executor for all its nodes.
pub struct Run {
    /// What its nodes belong to.
    pub context: Context,
    /// What runs them.
    pub executor: Executor,
}

impl Run {
    /// With a single-threaded executor.
    pub fn new() -> sinew::Result<Self> {
        Self::by(ExecutorOptions::default())
    }

    /// With the executor that the options ask for.
    pub fn by(options: ExecutorOptions) -> sinew::Result<Self> {
        Self::of(Context::builder().shared_memory(false).build()?, executor(options))
    }

    /// Nodes that other processes reach through `directory`.
    pub fn shared(directory: &Path, executor: ExecutorBuilder) -> sinew::Result<Self> {
        Self::of(shared_context(directory)?, executor)
    }

    /// All nodes of a context.
    pub fn of(context: Context, executor: ExecutorBuilder) -> sinew::Result<Self> {
        let run = Self { context, executor: executor.on_error(FaultPolicy::Stop).build()? };
        run.executor.add(&run.context)?;
        Ok(run)
    }

    /// Runs the nodes for `time`. Yields what this process took meanwhile.
    pub fn spin_for(&self, time: Duration) -> sinew::Result<Usage> {
        let stop = self.executor.stop_handle();
        let _end = self.context.node("stopwatch")?.timer(time).callback(move || stop.stop())?;
        let meter = Meter::start();
        self.executor.spin()?;
        Ok(meter.usage())
    }

    /// Runs what is still under way; call it once nothing publishes any more by itself.
    pub fn drain(&self) -> sinew::Result<()> {
        self.executor.spin_all(Duration::from_secs(1))?;
        Ok(())
    }

    /// Runs the nodes until another process tells something.
    pub fn spin_until_told(&self, other: &Process) -> Result<(), Error> {
        let until = now_ns() + nanoseconds(PATIENCE);
        // When it says nothing, whoever listens next finds that out.
        while !other.has_told()? && now_ns() < until {
            self.spin_for(Duration::from_millis(2))?;
        }
        Ok(())
    }

    /// Runs the nodes until all of `sent` messages are `received`, or no more come.
    pub fn spin_until(&self, sent: u64, received: impl Fn() -> u64) -> sinew::Result<()> {
        await_all(sent, received, || self.spin_for(Duration::from_millis(2)).map(drop)).map(drop)
    }

    /// In another process: runs the nodes until the measuring process has had enough and, if it
    /// says how many messages it sent, as many have been `received`. Yields what this process took
    /// meanwhile.
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

/// A context that other processes reach through `directory`.
pub fn shared_context(directory: &Path) -> sinew::Result<Context> {
    Ok(Context::builder().directory(directory).build()?)
}

/// Waits until a publisher has so many subscriptions.
pub fn matched<T: Message>(publisher: &Publisher<T>, subscriptions: u32) -> Result<(), Error> {
    if publisher.wait_for_subscribers(subscriptions.into(), PATIENCE) {
        return Ok(());
    }
    Err(Error::Unmatched {
        name: publisher.topic().to_owned(),
        found: publisher.subscription_count(),
        wanted: subscriptions.into(),
        waited: PATIENCE,
    })
}

/// What callbacks measure, shared between them and whoever started them. Its lock is taken after
/// the time was.
pub struct Collected<T>(Arc<Mutex<T>>);

impl<T> Collected<T> {
    /// Begins with `start`.
    pub fn new(start: T) -> Self {
        Self(Arc::new(Mutex::new(start)))
    }

    /// Reads or changes it.
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        // A callback that panicked has ended the run already: nobody looks at what it left.
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<T> Clone for Collected<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}
