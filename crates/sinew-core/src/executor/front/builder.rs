//! Options of executors and wait sets, checked when these are built.

use super::executor::Executor;
use super::wait_set::WaitSet;
use crate::executor::crew::bells::MOST_THREADS;
use crate::executor::crew::scheduler::Scheduler;
use crate::executor::dispatch_order::DispatchOrder;
use crate::executor::error::ExecutorError;
use crate::executor::fault_policy::FaultPolicy;
use crate::executor::threads::{Placement, ThreadOptions};
use crate::sys::logging::{Level, log_line};
use std::num::NonZero;
use std::ops::RangeInclusive;
use std::time::Duration;

/// The priorities of `SCHED_FIFO`; see `sched(7)`.
const PRIORITIES: RangeInclusive<u8> = 1..=99;

/// Builds an [`Executor`]; from [`Executor::builder`].
///
/// Without options it builds the same executor as [`Executor::single`]. [`build`](Self::build)
/// fails if options contradict each other, or no executor can have them. Spinning fails if the
/// machine refuses them (a core that it doesn't have, a priority without permission).
///
/// ```
/// use sinew::prelude::*;
/// let executor = Executor::builder().threads(4).realtime_priority(40).build()?;
/// assert_eq!(executor.threads(), 4);
/// let error = Executor::builder().realtime_priority(100).build().unwrap_err();
/// assert!(error.to_string().contains("1 (lowest) to 99"));
/// # Ok::<(), sinew::Error>(())
/// ```
#[must_use = "there is no executor before `build`"]
#[derive(Debug, Clone)]
pub struct ExecutorBuilder {
    threads: usize,
    caller_runs: bool,
    spin_before_park: Duration,
    order: DispatchOrder,
    timer_thread: bool,
    threads_options: ThreadOptions,
    on_panic: FaultPolicy,
    on_error: FaultPolicy,
}

impl Executor {
    /// Creates an executor that runs all callbacks on the thread that spins it.
    pub fn single() -> Self {
        plain(1)
    }

    /// Makes an executor that runs callbacks on this number of threads, including the one that
    /// spins it; 0 is one for each core that the process may use. An executor has 61 threads at
    /// most: for a larger number it has 61, and a warning says so. [`spin`](Self::spin) starts
    /// them, and they end with it.
    ///
    /// Callbacks of one group never run at the same time, unless the group is
    /// [reentrant](crate::ReentrantGroup). All entities of a node are in its default group, unless
    /// the program makes them in another one. The callback for a message published in a callback
    /// usually runs next on the same thread; the executor wakes another thread only if the message
    /// would wait for longer than a wake-up takes. For this it learns how long callbacks run
    /// ([`run_times`](Self::run_times)).
    ///
    /// ```
    /// use sinew::prelude::*;
    /// # #[derive(Clone)] struct Scan; impl Message for Scan {}
    /// let context = Context::new()?;
    /// let [left, right] = ["left", "right"].map(|name| context.node(name).unwrap());
    /// // Two nodes, so two groups: these may run at the same time.
    /// let _left = left.subscription::<Scan>("scan").callback(|_: &Scan| println!("left"))?;
    /// let done = context.clone();
    /// let _right = right.subscription::<Scan>("scan").callback(move |_: &Scan| done.shutdown())?;
    /// left.publisher::<Scan>("scan").create()?.publish(Scan)?;
    ///
    /// let executor = Executor::multi(2);
    /// executor.add(&context)?;
    /// executor.spin()?;
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn multi(threads: usize) -> Self {
        plain(threads)
    }

    /// Begins an executor with other options than those of [`single`](Self::single) and
    /// [`multi`](Self::multi).
    pub fn builder() -> ExecutorBuilder {
        ExecutorBuilder {
            threads: 1,
            caller_runs: false,
            spin_before_park: Duration::ZERO,
            order: DispatchOrder::ByTime,
            timer_thread: false,
            threads_options: ThreadOptions::default(),
            on_panic: FaultPolicy::Stop,
            on_error: FaultPolicy::Report,
        }
    }
}

impl Default for Executor {
    fn default() -> Self {
        Self::single()
    }
}

impl ExecutorBuilder {
    /// Sets the number of threads that run callbacks, including the one that spins it: 1 by
    /// default, 61 at most, 0 for one per core; as [`Executor::multi`].
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Sets whether a thread outside this executor that waits in
    /// [`Client::call`](crate::Client::call) for one of its servers may run the server's callback
    /// itself, in the place of a thread of the executor that rests: `false` by default. With `true`
    /// such a call wakes no thread, which saves two wake-ups of tens of microseconds, but the
    /// callback runs on the caller's thread. It does so only if the executor would run that
    /// callback next, and it is known to finish within the call's timeout.
    ///
    /// Leave it off for callbacks that must run on the thread that spins, as of a user interface or
    /// an interpreter. It can't be combined with [listed cores](Placement::Cores) or a [realtime
    /// priority](Self::realtime_priority), which callers don't have. A call inside a callback of
    /// this same executor runs the server on its own thread in any case.
    pub fn caller_runs(mut self, may_run: bool) -> Self {
        self.caller_runs = may_run;
        self
    }

    /// Sets whether a separate thread watches the timers while [`spin`](Executor::spin) or
    /// [`spin_until`](Executor::spin_until) runs: it wakes up when they are due and queues them,
    /// before messages that are published later. For executors that are busy with long callbacks on
    /// several threads. Default: no, the threads that run callbacks watch the timers, which costs
    /// no switch between threads. In virtual time there is no such thread.
    pub fn timer_thread(mut self, separate: bool) -> Self {
        self.timer_thread = separate;
        self
    }

    /// Sets the cores on which its threads run while they spin. Default: [`Placement::Spread`], a
    /// core of its own for each. Afterwards the spinning thread may use its former cores again.
    /// (With one thread nothing is changed, unless cores are listed.) Listed cores are for the
    /// executor's own threads only, so they exclude [`caller_runs(true)`](Self::caller_runs).
    pub fn placement(mut self, placement: Placement) -> Self {
        self.threads_options.placement = placement;
        self
    }

    /// Runs its threads under `SCHED_FIFO` with this priority, 1 (lowest) to 99, while they spin:
    /// before everything else on their cores, for as long as they like. Callers don't have it, so
    /// it excludes [`caller_runs(true)`](Self::caller_runs). The process needs the right to it (see
    /// [`ThreadError`](crate::executor::threads::ThreadError)). Default: no.
    pub fn realtime_priority(mut self, priority: u8) -> Self {
        self.threads_options.priority = Some(priority);
        self
    }

    /// Locks all present and future memory of the process into RAM when the executor spins, so that
    /// no callback waits for a page from disk. The memory stays locked. The process needs
    /// permission (see [`ThreadError`](crate::executor::threads::ThreadError)). Default: no.
    pub fn lock_memory(mut self) -> Self {
        self.threads_options.lock_memory = true;
        self
    }

    /// Sets the time for which an idle thread polls for messages of other processes before it
    /// sleeps. Default: not at all. Meanwhile a publisher in another process makes no system call,
    /// and the thread answers within a fraction of a microsecond, instead of the tens of
    /// microseconds that a wake-up takes; but it keeps a core busy. Messages of its own process are
    /// not affected.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// let executor = Executor::builder().spin_before_park(Duration::from_micros(50)).build()?;
    /// # drop(executor);
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn spin_before_park(mut self, patience: Duration) -> Self {
        self.spin_before_park = patience;
        self
    }

    /// Sets the order in which callbacks begin. Default: [`DispatchOrder::ByTime`].
    ///
    /// ```
    /// use sinew::executor::DispatchOrder;
    /// use sinew::prelude::*;
    /// let executor = Executor::builder().dispatch_order(DispatchOrder::RunNext).build()?;
    /// # drop(executor);
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn dispatch_order(mut self, order: DispatchOrder) -> Self {
        self.order = order;
        self
    }

    /// Sets the reaction to a callback that panics. Default: [`FaultPolicy::Stop`].
    pub fn on_panic(mut self, reaction: FaultPolicy) -> Self {
        self.on_panic = reaction;
        self
    }

    /// Sets the reaction to a callback that returns an error. Default: [`FaultPolicy::Report`].
    pub fn on_error(mut self, reaction: FaultPolicy) -> Self {
        self.on_error = reaction;
        self
    }

    /// Builds the executor. It uses the operating system only when it spins.
    ///
    /// # Errors
    /// [`ExecutorError`]: an invalid priority, an empty list of cores, or `caller_runs(true)`
    /// together with options that callers' threads don't get.
    pub fn build(self) -> Result<Executor, ExecutorError> {
        let ThreadOptions { placement, priority, .. } = &self.threads_options;
        if let Some(priority) = *priority
            && !PRIORITIES.contains(&priority)
        {
            return Err(ExecutorError::Priority { priority });
        }
        if matches!(placement, Placement::Cores(cores) if cores.is_empty()) {
            return Err(ExecutorError::NoCores);
        }
        if self.caller_runs {
            let option = match placement {
                Placement::Cores(_) => Some("placement(Placement::Cores(..))"),
                _ => priority.map(|_| "realtime_priority(..)"),
            };
            option.map_or(Ok(()), |option| Err(ExecutorError::CallerRuns { option }))?;
        }
        Ok(self.make())
    }

    /// Builds the executor, with at most the maximum number of threads. The options are valid.
    fn make(self) -> Executor {
        let threads = match self.threads {
            0 => std::thread::available_parallelism().map_or(1, NonZero::get),
            threads => threads,
        };
        if self.threads > MOST_THREADS {
            log_line!(
                Level::Warn,
                "an executor has {MOST_THREADS} threads at most: it gets these, not {threads}; share the nodes out \
                 among several executors to use more"
            );
        }
        let scheduler = Scheduler::with(threads);
        scheduler.faults.set_policies(self.on_panic, self.on_error);
        scheduler.configure(self.order, self.caller_runs);
        scheduler.remote_events.set_patience(self.spin_before_park);
        Executor::of(scheduler, self.timer_thread, self.threads_options)
    }
}

/// Returns an executor without options, with at most the maximum number of threads.
pub(super) fn plain(threads: usize) -> Executor {
    Executor::builder().threads(threads).make()
}

/// Builds a [`WaitSet`]; from [`WaitSet::builder`].
///
/// ```
/// use sinew::prelude::*;
/// use sinew::executor::{FaultPolicy, WaitSet};
/// let set = WaitSet::builder().on_panic(FaultPolicy::Report).build();
/// # drop(set);
/// ```
#[must_use = "there is no wait set before `build`"]
#[derive(Debug, Clone)]
pub struct WaitSetBuilder(ExecutorBuilder);

impl WaitSet {
    /// Begins a wait set with other options than those of [`new`](Self::new).
    pub fn builder() -> WaitSetBuilder {
        WaitSetBuilder(Executor::builder())
    }
}

impl WaitSetBuilder {
    /// Sets the reaction to a callback that panics. Default: [`FaultPolicy::Stop`], with which
    /// [`Ready::run`](super::wait_set::Ready::run) returns the panic.
    pub fn on_panic(mut self, reaction: FaultPolicy) -> Self {
        self.0.on_panic = reaction;
        self
    }

    /// Sets the reaction to a callback that returns an error. Default: [`FaultPolicy::Report`].
    pub fn on_error(mut self, reaction: FaultPolicy) -> Self {
        self.0.on_error = reaction;
        self
    }

    /// Builds the wait set. Every combination of options is valid.
    pub fn build(self) -> WaitSet {
        WaitSet::of(self.0.make())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{ExecutorError, MOST_THREADS, Placement};
    use crate::Executor;

    #[test]
    fn an_executor_has_no_more_threads_than_there_may_be() {
        for (threads, has) in
            [(MOST_THREADS, MOST_THREADS), (MOST_THREADS + 1, MOST_THREADS), (1000, MOST_THREADS)]
        {
            assert_eq!(Executor::builder().threads(threads).build().unwrap().threads(), has);
            assert_eq!(Executor::multi(threads).threads(), has);
        }
        assert!(Executor::builder().threads(0).build().unwrap().threads() >= 1);
    }

    #[test]
    fn what_callers_can_not_have_excludes_them() {
        let cores = || Executor::builder().placement(Placement::Cores(vec![0]));
        let priority = || Executor::builder().realtime_priority(1);
        for (builder, option) in [(cores(), "placement"), (priority(), "realtime_priority")] {
            assert!(builder.clone().build().is_ok());
            let error = builder.caller_runs(true).build().unwrap_err();
            assert!(matches!(error, ExecutorError::CallerRuns { .. }), "{error}");
            assert!(error.to_string().contains(option) && error.to_string().contains("caller_runs(true)"));
        }
    }

    #[test]
    fn a_priority_or_a_list_that_is_none_is_an_error() {
        for priority in [0, 100, u8::MAX] {
            let builder = Executor::builder().realtime_priority(priority);
            assert_eq!(builder.build().unwrap_err(), ExecutorError::Priority { priority });
        }
        let builder = Executor::builder().placement(Placement::Cores(vec![]));
        assert_eq!(builder.build().unwrap_err(), ExecutorError::NoCores);
    }
}
