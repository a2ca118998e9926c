//! Executors as programs hold them.

use super::served::{Served, ServedList};
use super::stay::Stay;
use crate::executor::crew::control::Place;
use crate::executor::crew::run::{Poked, Spin};
use crate::executor::crew::scheduler::{self, Scheduler};
use crate::executor::crew::timers::TimerThread;
use crate::executor::crew::worker::{Blocking, Worker};
use crate::executor::error::{AddError, SpinError};
use crate::executor::group::{Group, ReentrantGroup};
use crate::executor::group_core::{GroupCore, NotAdded};
use crate::executor::histogram::RunTimes;
use crate::executor::membership::GroupRegistry;
use crate::executor::owner::Host;
use crate::executor::threads::{ThreadOptions, ThreadSetup};
use crate::sys::clock::{Clock, Time, nanoseconds};
use crate::sys::sync::Arc;
use std::fmt;
use std::io;
use std::os::fd::BorrowedFd;
use std::pin::pin;
use std::task::{Context as TaskContext, Poll, Wake, Waker};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Duration;

/// Runs callbacks across all entities in the order in which their messages arrived and their timers
/// were due, groups of higher priority first.
///
/// With [`single`](Self::single), all `spin` functions run callbacks on the calling thread, one at
/// a time. With [`multi`](Self::multi), [`spin`](Self::spin) and [`spin_until`](Self::spin_until)
/// run callbacks of different groups (and of [reentrant](crate::ReentrantGroup) ones) on several
/// threads, including the calling one; the other functions use the calling thread alone. Callbacks
/// begin in order; with several threads one may then overtake another. One spin of an executor runs
/// at a time; different executors may serve different nodes or groups on different threads. While
/// no callback is ready the threads sleep; an idle entity costs nothing. Dropping an executor
/// releases its groups, and their messages keep waiting. It isn't `Clone`, so that its owner
/// decides when it is dropped; threads share an executor by reference or in an [`Arc`], and its
/// [`StopHandle`] is `Clone`.
///
/// `docs/book/executors.md` helps to choose one.
///
/// ```
/// use sinew::prelude::*;
/// # #[derive(Clone)] struct Number(u64); impl Message for Number {}
/// let context = Context::new()?;
/// let node = context.node("doubler")?;
/// let doubled = node.publisher::<Number>("doubled").create()?;
/// let _numbers = node.subscription::<Number>("numbers")
///     .callback(move |number: &Number| doubled.publish(Number(2 * number.0)))?;
/// let results = node.subscription::<Number>("doubled").create()?;
///
/// let executor = Executor::single();
/// executor.add(&context)?;
/// node.publisher::<Number>("numbers").create()?.publish(Number(21))?;
/// assert_eq!(executor.spin_some()?, 1);
/// assert_eq!(results.take().unwrap().0.0, 42);
/// # Ok::<(), sinew::Error>(())
/// ```
pub struct Executor {
    pub(crate) scheduler: Arc<Scheduler>,
    served: ServedList,
    timer_thread: bool,
    options: ThreadOptions,
}

/// Time for which an executor that serves nothing waits for another thread to add a context, node
/// or group.
const FIRST_ADDED_WITHIN: Duration = Duration::from_secs(2);

/// A type that can be added to an executor or a wait set: a [`Context`](crate::Context), a
/// [`Node`](crate::Node), a [`Group`] or a [`ReentrantGroup`].
pub trait Executable: sealed::Sealed {
    #[doc(hidden)]
    fn add_to(&self, executor: &Executor) -> Result<(), AddError>;

    #[doc(hidden)]
    fn remove_from(&self, executor: &Executor) -> bool;
}

pub(crate) mod sealed {
    pub trait Sealed {}
    impl<S> Sealed for super::Group<S> {}
    impl Sealed for super::ReentrantGroup {}
}

impl<S: Send + 'static> Executable for Group<S> {
    fn add_to(&self, executor: &Executor) -> Result<(), AddError> {
        executor.serve_group(&self.core, || format!("the group of node {}", self.core.node.full_name()))
    }

    fn remove_from(&self, executor: &Executor) -> bool {
        release_group(executor, &self.core)
    }
}

impl Executable for ReentrantGroup {
    fn add_to(&self, executor: &Executor) -> Result<(), AddError> {
        executor.serve_group(&self.core, || format!("the group of node {}", self.core.node.full_name()))
    }

    fn remove_from(&self, executor: &Executor) -> bool {
        release_group(executor, &self.core)
    }
}

impl Executor {
    /// Returns an executor that serves nothing yet.
    pub(super) fn of(scheduler: Arc<Scheduler>, timer_thread: bool, options: ThreadOptions) -> Self {
        Self { scheduler, served: ServedList::default(), timer_thread, options }
    }

    /// Returns the number of threads on which [`spin`](Self::spin) runs callbacks.
    pub fn threads(&self) -> usize {
        self.scheduler.threads()
    }

    /// Returns the run times of each entity's callbacks so far, in no particular order, without
    /// entities that have not run.
    ///
    /// The executor measures every run of a callback until it knows that the callback is short
    /// (under 10 µs); then it measures one run in eight, which counts as eight. Allocates.
    pub fn run_times(&self) -> Vec<RunTimes> {
        self.scheduler.run_times()
    }

    /// Serves a context, a node or a group from now on: for a context or a node, all present and
    /// future groups that no other executor serves. So first add groups or nodes with an executor
    /// of their own to that one. May be called while another thread spins.
    ///
    /// # Errors
    /// [`AddError`]: another executor serves it, or its context is shut down or uses another clock.
    pub fn add(&self, what: &impl Executable) -> Result<(), AddError> {
        what.add_to(self)
    }

    /// Serves a context, a node or a group no more. For a context or a node, these are all groups of
    /// it that the executor serves. Their messages keep waiting, and another executor may serve
    /// them from now on. Returns `false` if it served none of them.
    ///
    /// May be called while another thread spins. Waits for their callbacks that are running on
    /// other threads; in a callback of such a group it doesn't wait for that one, and until that
    /// one has ended the group can't be added anywhere.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// let context = Context::new()?;
    /// let node = context.node("worker")?;
    /// node.post(|| println!("done"))?;
    /// let (first, second) = (Executor::single(), Executor::single());
    /// first.add(&node)?;
    /// assert!(first.remove(&node));
    /// assert_eq!(first.spin_some()?, 0);
    /// second.add(&node)?;
    /// assert_eq!(second.spin_some()?, 1);
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn remove(&self, what: &impl Executable) -> bool {
        what.remove_from(self)
    }

    /// Serves the groups of a context or of one of its nodes no more.
    pub(crate) fn release(&self, context: &dyn Host, groups: &Arc<GroupRegistry>) -> bool {
        let forgotten = self.served.forget(&Served::Groups(groups.clone()));
        let left = groups.leave(&self.scheduler, true);
        context.release_executor(&self.scheduler);
        left || forgotten
    }

    /// Serves the groups of a context or of one of its nodes.
    pub(crate) fn serve(
        &self,
        context: &dyn Host,
        groups: &Arc<GroupRegistry>,
        what: impl FnOnce() -> String,
    ) -> Result<(), AddError> {
        self.meet(context)?;
        if !groups.serve(&self.scheduler) {
            return Err(AddError::Taken { what: what() });
        }
        self.served.remember(Served::Groups(groups.clone()));
        follow(context, &self.scheduler)
    }

    /// Serves one group.
    pub(crate) fn serve_group(
        &self,
        group: &Arc<GroupCore>,
        what: impl FnOnce() -> String,
    ) -> Result<(), AddError> {
        self.meet(group.node.host())?;
        match group.add_to(&self.scheduler) {
            Ok(()) => self.served.remember(Served::Group(Arc::downgrade(group))),
            Err(NotAdded::Here) => {}
            Err(NotAdded::Elsewhere | NotAdded::Runs) => return Err(AddError::Taken { what: what() }),
        }
        follow(group.node.host(), &self.scheduler)
    }

    /// Checks whether the executor can serve groups of the context.
    fn meet(&self, context: &dyn Host) -> Result<(), AddError> {
        if context.has_ended() {
            return Err(AddError::Shutdown);
        }
        if self.scheduler.accept_clock(context.clock()) { Ok(()) } else { Err(AddError::OtherClock) }
    }

    /// Runs callbacks until [`stop`](StopHandle::stop) or the context's shutdown (Ctrl-C, if it was
    /// made by [`Context::from_args`](crate::Context::from_args)).
    ///
    /// Add contexts, nodes or groups before. If there are none (none was added, or all are gone),
    /// other threads have two seconds to add one. The log names each node that has nothing left to
    /// run, once.
    ///
    /// # Errors
    /// [`SpinError`]: a callback panicked, or failed and
    /// [`on_error`](crate::executor::ExecutorBuilder::on_error) says to stop; a thread spins this
    /// executor already; or there is nothing to serve ([`SpinError::Nothing`]).
    pub fn spin(&self) -> Result<(), SpinError> {
        let result = self.with_helpers(|spin| {
            self.wait_for_something(spin)?;
            self.served.warn_of_idle_nodes(&self.scheduler);
            spin.run(Blocking::Forever).map(drop)
        });
        self.end_detached();
        result
    }

    /// Runs ready work until there is something to serve; fails if that takes too long.
    fn wait_for_something(&self, spin: &Spin<'_>) -> Result<(), SpinError> {
        if !self.serves_nothing() {
            return Ok(());
        }
        let end = Time::steady().nanoseconds().saturating_add(nanoseconds(FIRST_ADDED_WITHIN));
        spin.run(Blocking::Deadline(end))?;
        if self.serves_nothing() { Err(SpinError::Nothing) } else { Ok(()) }
    }

    /// Whether the executor serves nothing, and has no reason to return.
    pub(super) fn serves_nothing(&self) -> bool {
        cfg!(not(loom)) // too many steps for models
            && self.served.groups().next().is_none() && !self.scheduler.is_stopped()
    }

    /// Spins on this thread and, if the executor has several, on all the others.
    fn with_helpers<R>(
        &self,
        work: impl FnOnce(&mut Spin<'_>) -> Result<R, SpinError>,
    ) -> Result<R, SpinError> {
        let mut spin = self.begin(true)?;
        let is_virtual = self.scheduler.read_clock(Clock::is_virtual).unwrap_or(false);
        let timer_thread = self.timer_thread && !is_virtual;
        let plan = self.options.prepare(self.threads())?;
        if self.threads() == 1 && !timer_thread {
            let _restore = plan.apply(0)?;
            return work(&mut spin);
        }
        let result = std::thread::scope(|scope| {
            let mut helpers = Vec::new();
            let output = {
                let _dismissal = Dismissal(&self.scheduler); // also if this thread panics
                start_helpers((self, scope), &plan, timer_thread, &mut helpers).and_then(|()| {
                    let _restore = plan.apply(0)?; // last: threads that this one starts would inherit its core
                    work(&mut spin)
                })
            };
            // The scope waits for their functions only; what callbacks left in thread-locals is
            // dropped after these.
            for helper in helpers {
                helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            }
            output
        });
        // A fault that came when this thread had stopped for another reason.
        let fault = self.scheduler.faults.take();
        result.and_then(|output| fault.map_or(Ok(output), Err))
    }

    /// Ends the detached entities of contexts that are shut down: on this thread, and not on the
    /// one that waits for signals.
    pub(super) fn end_detached(&self) {
        if cfg!(loom) {
            return; // too many steps for models
        }
        let nodes: Vec<_> = self.served.groups().flatten().map(|group| group.node.clone()).collect();
        let ended = nodes.iter().map(|node| node.host()).filter(|context| context.has_ended());
        ended.for_each(Host::end_detached);
    }

    /// Runs the callbacks that are ready now, and none that becomes ready meanwhile. Returns the
    /// number of callbacks that ran. Doesn't wait.
    ///
    /// # Errors
    /// As [`spin`](Self::spin).
    pub fn spin_some(&self) -> Result<u64, SpinError> {
        self.spin_briefly(|spin| spin.run_ready())
    }

    /// As [`spin_some`](Self::spin_some), until `max` has passed (checked after each callback, so
    /// zero runs one at most).
    ///
    /// # Errors
    /// As [`spin`](Self::spin).
    pub fn spin_some_for(&self, max: Duration) -> Result<u64, SpinError> {
        self.spin_briefly(|spin| {
            spin.end = Some(Time::steady() + max);
            spin.run_ready()
        })
    }

    /// Begins a spin that doesn't wait; it may be the first one after the end of a context.
    #[inline]
    fn spin_briefly(
        &self,
        run: impl FnOnce(&mut Spin<'_>) -> Result<u64, SpinError>,
    ) -> Result<u64, SpinError> {
        let result = run(&mut self.begin(false)?);
        if !matches!(result, Ok(1..)) && self.scheduler.is_stopped() {
            self.end_detached();
        }
        result
    }

    /// Runs the callbacks that are ready, including those that become ready meanwhile, until none
    /// is left or `max` has passed (checked after each callback, so zero runs one at most). Returns
    /// the number of callbacks that ran. Doesn't wait.
    ///
    /// # Errors
    /// As [`spin`](Self::spin).
    pub fn spin_all(&self, max: Duration) -> Result<u64, SpinError> {
        self.spin_briefly(|spin| {
            spin.end = Some(Time::steady() + max);
            spin.run(Blocking::None)
        })
    }

    /// Runs one callback, and waits for one for at most `timeout` (of real time, also in virtual
    /// time). Returns `true` if one ran.
    ///
    /// # Errors
    /// As [`spin`](Self::spin).
    pub fn spin_once(&self, timeout: Duration) -> Result<bool, SpinError> {
        let ran = self.spin_briefly(|spin| {
            spin.most = 1;
            let now = Time::steady().nanoseconds();
            spin.run(if timeout.is_zero() {
                Blocking::None
            } else {
                Blocking::Deadline(now.saturating_add(nanoseconds(timeout)))
            })
        });
        ran.map(|ran| ran > 0)
    }

    /// Runs callbacks until the future is ready, and returns its output. This thread polls the
    /// future between callbacks. An executor that serves nothing only polls the future; Sinew's
    /// futures end with their contexts.
    ///
    /// # Errors
    /// As [`spin`](Self::spin); and [`SpinError::Stopped`] if the executor was stopped before.
    pub fn spin_until<F: Future>(&self, future: F) -> Result<F::Output, SpinError> {
        self.spin_until_end(future, None)?.ok_or(SpinError::Stopped)
    }

    /// As [`spin_until`](Self::spin_until), for at most `max` of real time, also in virtual time
    /// (checked after each callback, and the future is polled at least once). Returns `None` if the
    /// future was not ready by then; pass `&mut future` to go on with it.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// let executor = Executor::single();
    /// let none = executor.spin_until_for(std::future::pending::<()>(), Duration::ZERO)?;
    /// assert_eq!(none, None);
    /// assert_eq!(executor.spin_until_for(std::future::ready(42), Duration::ZERO)?, Some(42));
    /// # Ok::<(), sinew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`spin_until`](Self::spin_until).
    pub fn spin_until_for<F: Future>(
        &self,
        future: F,
        max: Duration,
    ) -> Result<Option<F::Output>, SpinError> {
        self.spin_until_end(future, Some(Time::steady() + max))
    }

    fn spin_until_end<F: Future>(
        &self,
        future: F,
        end: Option<Time>,
    ) -> Result<Option<F::Output>, SpinError> {
        let waker = Waker::from(Arc::new(Poke(self.scheduler.clone())));
        let mut future = pin!(future);
        let mut output = None;
        let is_done = &mut || {
            if let Poll::Ready(ready) = future.as_mut().poll(&mut TaskContext::from_waker(&waker)) {
                output = Some(ready);
            }
            output.is_some()
        };
        spin_until_done(self, end, is_done)?;
        Ok(output)
    }

    /// Waits until a callback is ready, or [woken](StopHandle::wake), for at most `timeout` (of real
    /// time, also in virtual time; [`Duration::MAX`] is no limit), and runs none. Returns whether
    /// one is ready.
    ///
    /// For a thread that waits otherwise than it runs callbacks, for example without a lock that
    /// all of them need: it runs them with [`spin_some`](Self::spin_some). Unlike a wait for the
    /// [`descriptor`](Self::descriptor), it needs no other thread to receive from other processes.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// # struct Number(u64); impl Message for Number {}
    /// let context = Context::new()?;
    /// let node = context.node("patient")?;
    /// let _numbers = node.subscription::<Number>("numbers").callback(|number: &Number| println!("{}", number.0))?;
    /// let executor = Executor::single();
    /// executor.add(&context)?;
    ///
    /// assert!(!executor.wait_for_work(Duration::ZERO)?);
    /// node.publisher::<Number>("numbers").create()?.publish(Number(7))?;
    /// assert!(executor.wait_for_work(Duration::MAX)?);
    /// assert_eq!(executor.spin_some()?, 1);
    /// # Ok::<(), sinew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`spin`](Self::spin); and [`SpinError::Stopped`] if the executor was stopped, or its
    /// context was shut down.
    pub fn wait_for_work(&self, timeout: Duration) -> Result<bool, SpinError> {
        let now = Time::steady().nanoseconds();
        let deadline = (timeout < Duration::MAX).then(|| now.saturating_add(nanoseconds(timeout)));
        let _stay = Stay::begin(&self.scheduler, false)?; // callers wait for the thread to run callbacks
        Worker::new(&self.scheduler, 0).wait_for_work(deadline)
    }

    /// Advances virtual time from one timer to the next, and at each time runs ready callbacks
    /// until none is ready. Returns the number of callbacks that ran. The same program does the
    /// same in the same order every time.
    ///
    /// # Errors
    /// As [`spin`](Self::spin); and [`SpinError::NotVirtual`] if the context lives in real time.
    pub fn advance(&self, duration: Duration) -> Result<u64, SpinError> {
        let clock = self.scheduler.read_clock(Clock::clone);
        let clock = clock.as_ref().and_then(|clock| clock.virtual_clock()).ok_or(SpinError::NotVirtual)?;
        let end = clock.now() + duration;
        self.spin_briefly(|spin| {
            let mut ran = 0;
            loop {
                ran += spin.run(Blocking::None)?;
                match self.scheduler.next_due() {
                    _ if self.scheduler.is_stopped() => return Ok(ran),
                    Some(due) if due <= end.nanoseconds() => {
                        clock.set(Time::from_nanoseconds(due).max(clock.now()));
                    }
                    _ if clock.now() < end => clock.set(end),
                    _ => return Ok(ran),
                }
            }
        })
    }

    /// Returns a file descriptor for the event loop of another library (epoll, tokio, a user
    /// interface): it is readable while no thread spins this executor and a callback is ready or a
    /// timer is due. The thread that waits for it then calls [`spin_some`](Self::spin_some) or
    /// [`spin_all`](Self::spin_all). The first call creates the descriptor with some system calls;
    /// from then on, making the executor's first entity ready costs one system call, and each spin
    /// two or three.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// use rustix::event::{PollFd, PollFlags, poll};
    /// # struct Number(u64); impl Message for Number {}
    /// let context = Context::new()?;
    /// let node = context.node("guest")?;
    /// let _numbers = node.subscription::<Number>("numbers").callback(|number: &Number| println!("{}", number.0))?;
    /// let executor = Executor::single();
    /// executor.add(&context)?;
    ///
    /// let descriptor = executor.descriptor().unwrap();
    /// node.publisher::<Number>("numbers").create()?.publish(Number(7))?;
    /// poll(&mut [PollFd::new(&descriptor, PollFlags::IN)], None).unwrap(); // as an event loop does
    /// assert_eq!(executor.spin_some()?, 1);
    /// # Ok::<(), sinew::Error>(())
    /// ```
    ///
    /// # Errors
    /// The error of the operating system, if it gives no more descriptors.
    pub fn descriptor(&self) -> io::Result<BorrowedFd<'_>> {
        self.scheduler.descriptor()
    }

    /// Returns a handle that stops this executor from anywhere.
    pub fn stop_handle(&self) -> StopHandle {
        StopHandle(self.scheduler.clone())
    }

    /// `sleeps`: the spin lasts for longer than one callback, so taking notes for prefetching pays
    /// off.
    fn begin(&self, sleeps: bool) -> Result<Spin<'_>, SpinError> {
        let Some(place) = Place::first(&self.scheduler, sleeps) else { return Err(SpinError::Busy) };
        Ok(Spin::begin(place, sleeps))
    }
}

/// Has an executor serve a group no more.
fn release_group(executor: &Executor, group: &Arc<GroupCore>) -> bool {
    executor.served.forget(&Served::Group(Arc::downgrade(group)));
    let left = group.remove_from(&executor.scheduler, true);
    group.node.host().release_executor(&executor.scheduler);
    left
}

/// Registers an executor for the context's shutdown and jumps of its clocks.
fn follow(context: &dyn Host, scheduler: &Arc<Scheduler>) -> Result<(), AddError> {
    if context.register_executor(scheduler) { Ok(()) } else { Err(AddError::Shutdown) }
}

/// Starts the other threads of an executor.
fn start_helpers<'scope>(
    (executor, scope): (&'scope Executor, &'scope Scope<'scope, '_>),
    plan: &'scope ThreadSetup,
    timer_thread: bool,
    helpers: &mut Vec<ScopedJoinHandle<'scope, ()>>,
) -> Result<(), SpinError> {
    let started = |helper: io::Result<ScopedJoinHandle<'scope, ()>>, threads: usize| {
        helper.map_err(|error| SpinError::Thread { threads, reason: error.to_string() })
    };
    for worker in 1..executor.threads() {
        let helper = std::thread::Builder::new().name(format!("sinew-worker-{worker}"));
        let place = Place::helper(&executor.scheduler, scheduler::index(worker));
        let helper = helper.spawn_scoped(scope, move || help(place, plan));
        helpers.push(started(helper, executor.threads())?);
    }
    if timer_thread {
        let timers = TimerThread::begin(&executor.scheduler);
        let helper = std::thread::Builder::new().name("sinew-timers".to_owned());
        helpers.push(started(helper.spawn_scoped(scope, || timers.run()), executor.threads() + 1)?);
    }
    Ok(())
}

/// One of the other threads.
fn help(place: Place<'_>, plan: &ThreadSetup) {
    let (scheduler, spin) = (place.scheduler(), Spin::begin(place, true));
    let restore = plan.apply(spin.worker as usize);
    let result = restore.map_err(SpinError::from).and_then(|_restore| spin.run(Blocking::Forever));
    if let Err(fault) = result {
        scheduler.dismiss(Some(fault));
    }
}

/// Runs callbacks until `is_done`, which this thread asks at first and whenever the executor is
/// poked, or until the end.
fn spin_until_done(
    executor: &Executor,
    end: Option<Time>,
    is_done: &mut dyn FnMut() -> bool,
) -> Result<(), SpinError> {
    let result = executor.with_helpers(|spin| {
        spin.end = end;
        let mut worker = Worker::new(spin.scheduler, spin.worker);
        loop {
            if is_done() {
                return Ok(());
            }
            match spin.run_until_poked(&mut worker)? {
                Poked::Yes => {}
                Poked::Late => {
                    is_done(); // it may have become so in the last callback
                    return Ok(());
                }
                Poked::Stopped => return Err(SpinError::Stopped),
            }
        }
    });
    executor.end_detached();
    result
}

impl Drop for Executor {
    fn drop(&mut self) {
        self.scheduler.close(); // new groups find another executor, or none
        self.served.release_all(&self.scheduler);
    }
}

impl fmt::Debug for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executor").field("threads", &self.threads()).finish_non_exhaustive()
    }
}

/// Ends the spin of an executor's other threads.
struct Dismissal<'a>(&'a Scheduler);

impl Drop for Dismissal<'_> {
    fn drop(&mut self) {
        self.0.dismiss(None);
    }
}

/// Stops or wakes an [`Executor`]; from [`Executor::stop_handle`].
#[derive(Clone)]
pub struct StopHandle(Arc<Scheduler>);

impl StopHandle {
    /// Makes the current spin return after its running callback, or the next spin, if none runs.
    /// (So a stop that comes just before the spin isn't lost.)
    pub fn stop(&self) {
        self.0.stop();
    }

    /// Makes the current [`wait_for_work`](Executor::wait_for_work) of the executor, or wait of the
    /// wait set, return early, or the next one, if no thread waits or spins. A spin goes on.
    pub fn wake(&self) {
        self.0.poke();
    }
}

impl fmt::Debug for StopHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StopHandle")
    }
}

/// Wakes the executor for a future.
struct Poke(Arc<Scheduler>);

impl Wake for Poke {
    fn wake(self: Arc<Self>) {
        self.0.poke();
    }
}
