//! Running nodes for a while, and getting back what their callbacks measured.
#![expect(
    clippy::disallowed_types,
    reason = "no lock-free protocol here for a model to check: one lock, held for a few stores"
)]

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sinew::{Context, Executor, OnFault};

use super::rounds::CpuUse;
use crate::cli::{ExecutorKind, ExecutorOptions};

/// The executor that the options ask for.
pub(crate) fn executor(options: ExecutorOptions) -> Executor {
    match options.kind {
        ExecutorKind::Single => Executor::single(),
        ExecutorKind::Multi => Executor::multi(options.threads() as usize),
    }
}

/// A context of its own and an executor for all its nodes.
pub(crate) struct Run {
    pub(crate) context: Context,
    pub(crate) executor: Executor,
}

impl Run {
    /// With a single-threaded executor.
    pub(crate) fn new() -> sinew::Result<Self> {
        Self::by(ExecutorOptions::default())
    }

    /// With the executor that the options ask for.
    pub(crate) fn by(options: ExecutorOptions) -> sinew::Result<Self> {
        let run = Self { context: Context::new()?, executor: executor(options).on_error(OnFault::Stop) };
        run.executor.add(&run.context)?;
        Ok(run)
    }

    /// Runs the nodes for `time`. Yields the CPU they used meanwhile, in percent of one core.
    pub(crate) fn spin_for(&self, time: Duration) -> sinew::Result<f64> {
        let stop = self.executor.stop_handle();
        let _end = self.context.node("stopwatch")?.timer(time).callback(move || stop.stop())?;
        let cpu = CpuUse::start();
        self.executor.spin()?;
        Ok(cpu.percent())
    }

    /// Runs what is still under way; call it once nothing publishes any more by itself.
    pub(crate) fn drain(&self) -> sinew::Result<()> {
        self.executor.spin_all(Duration::from_secs(1))?;
        Ok(())
    }
}

/// What callbacks measure, shared between them and whoever started them. Its lock is taken after the time was.
pub(crate) struct Collected<T>(Arc<Mutex<T>>);

impl<T> Collected<T> {
    pub(crate) fn new(start: T) -> Self {
        Self(Arc::new(Mutex::new(start)))
    }

    /// Reads or changes it.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        // A callback that panicked has ended the run already: nobody looks at what it left.
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<T> Clone for Collected<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}
