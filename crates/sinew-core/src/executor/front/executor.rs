//! Executors as programs hold them.

use crate::executor::crew::control::Place;
use crate::executor::crew::run::Spin;
use crate::executor::crew::scheduler::{self, Scheduler};
use crate::executor::crew::timers::TimerThread;
use crate::executor::crew::worker::{Blocking, Worker};
use crate::executor::error::{AddError, SpinError};
use crate::executor::group::{Group, GroupCore, NotAdded, ReentrantGroup};
use crate::executor::histogram::RunTimes;
use crate::executor::membership::GroupRegistry;
use crate::executor::owner::{Host, Owner};
use crate::executor::threads::{ThreadOptions, ThreadSetup};
use crate::sys::clock::{Time, nanoseconds};
use crate::sys::logging::{About, Level, tell};
use crate::sys::sync::{Arc, Mutex, Ordering};
use std::fmt;
use std::io;
use std::os::fd::BorrowedFd;
use std::pin::pin;
use std::sync::Weak;
use std::task::{Context as TaskContext, Poll, Wake, Waker};
use std::time::Duration;

/// Runs callbacks: in the order in which their messages arrived and their timers were due, across
/// all entities, those of groups with a higher priority first.
///
/// With [`single`](Self::single), all `spin` functions run callbacks on the calling thread, one at
/// a time. With [`multi`](Self::multi), [`spin`](Self::spin) and [`spin_until`](Self::spin_until)
/// run callbacks of different groups (and of [reentrant](crate::ReentrantGroup) ones) on several
/// threads, of which the calling one is the first; the other functions use the calling thread
/// alone. Callbacks begin in order; with several threads one may overtake another after that. One
/// spin of an executor runs at a time; different executors may serve different nodes or groups on
/// different threads. While nothing is ready the threads sleep; an idle entity costs nothing.
/// Dropped, an executor gives its groups free, and what waits in them keeps waiting. It isn't
/// `Clone`, so that its owner decides when that is; its [`StopHandle`] is, and threads share an
/// executor by reference or in an [`Arc`].
///
/// Which one to take is told in `docs/book/executors.md`.
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
    served: Mutex<Vec<Served>>,
    timer_thread: bool,
    options: ThreadOptions,
}

/// How long an executor that serves nothing waits for something to be added by another thread.
const FIRST_ADDED_WITHIN: Duration = Duration::from_secs(2);

/// A node that an executor serves.
struct ServedNode {
    node: Arc<dyn Owner>,
    /// How many of its groups were looked at; each keeps the node.
    groups: usize,
    is_inhabited: bool,
    /// There was something in a group once.
    ever: bool,
}

impl ServedNode {
    fn warn_if_idle(&self) {
        let ServedNode { node, groups, is_inhabited, ever } = self;
        // Kept by its handle, by its groups and by this: by nothing that a program uses without an
        // executor, then, such as a publisher. (A hint: a handle that is cloned or dropped
        // meanwhile decides whether it is given now.)
        let has_nothing = || Arc::strong_count(node) <= groups + 2;
        if *is_inhabited || !(*ever || has_nothing()) {
            return;
        }
        // Relaxed: it is said once, by whichever thread.
        if !node.said_idle().swap(true, Ordering::Relaxed) {
            tell!(
                Level::Warn; About { node: node.full_name(), subject: "" },
                "there is nothing to run. Timers, subscriptions and servers end when they are dropped: keep them in \
                 variables with names (`let _timer = ..`, not `let _ = ..`), make them with `.background()`, or \
                 `detach()` them"
            );
        }
    }
}

/// What an executor serves.
enum Served {
    Groups(Arc<GroupRegistry>),
    Group(Weak<GroupCore>),
}

/// What can be added to an executor or a wait set: a [`Context`](crate::Context), a
/// [`Node`](crate::Node), a [`Group`] or a [`ReentrantGroup`].
pub trait Executable: sealed::Sealed {
    #[doc(hidden)]
    fn add_to(&self, executor: &Executor) -> Result<(), AddError>;
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
}

impl Executable for ReentrantGroup {
    fn add_to(&self, executor: &Executor) -> Result<(), AddError> {
        executor.serve_group(&self.core, || format!("the group of node {}", self.core.node.full_name()))
    }
}

impl Executor {
    /// An executor that serves nothing yet.
    pub(super) fn of(scheduler: Arc<Scheduler>, timer_thread: bool, options: ThreadOptions) -> Self {
        Self { scheduler, served: Mutex::new(Vec::new()), timer_thread, options }
    }

    /// On how many threads [`spin`](Self::spin) runs callbacks.
    pub fn threads(&self) -> usize {
        self.scheduler.threads()
    }

    /// How long the callbacks of each entity have run so far, in no particular order; entities that
    /// have not run are left out.
    ///
    /// Every run of a callback is measured until it is known to be short (under 10 µs), then one in
    /// eight, which counts as eight. Allocates.
    pub fn run_times(&self) -> Vec<RunTimes> {
        self.scheduler.run_times()
    }

    /// Serves a context, a node or a group from now on: of a context or a node all groups that no
    /// other executor serves, also those that are still to come. So groups or nodes that want an
    /// executor of their own are added to that first. May be called while another thread spins.
    ///
    /// # Errors
    /// [`AddError`]: another executor serves it, or its context is shut down or lives in another
    /// time.
    pub fn add(&self, what: &impl Executable) -> Result<(), AddError> {
        what.add_to(self)
    }

    /// Serves the groups of a context or of a node of it.
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
        self.remember(Served::Groups(groups.clone()));
        self.follow(context)
    }

    /// Serves one group.
    pub(crate) fn serve_group(
        &self,
        group: &Arc<GroupCore>,
        what: impl FnOnce() -> String,
    ) -> Result<(), AddError> {
        self.meet(group.node.host())?;
        match group.add_to(&self.scheduler) {
            Ok(()) => self.remember(Served::Group(Arc::downgrade(group))),
            Err(NotAdded::Here) => {}
            Err(NotAdded::Elsewhere) => return Err(AddError::Taken { what: what() }),
        }
        self.follow(group.node.host())
    }

    /// Notes what to give free at the end, and forgets what is gone by itself.
    fn remember(&self, new: Served) {
        let mut served = self.served.lock();
        if served.len() == served.capacity() {
            served.retain(|known| match known {
                Served::Groups(groups) => groups.is_alive(),
                Served::Group(group) => group.strong_count() > 0,
            });
        }
        let is_known = |known: &Served| match (known, &new) {
            (Served::Groups(known), Served::Groups(new)) => Arc::ptr_eq(known, new),
            _ => false,
        };
        if !served.iter().any(is_known) {
            served.push(new);
        }
    }

    /// Whether it could serve anything of the context.
    fn meet(&self, context: &dyn Host) -> Result<(), AddError> {
        if context.has_ended() {
            return Err(AddError::Shutdown);
        }
        self.accept_clock(context.clock())
    }

    /// Hears from now on of the context's shutdown and jumps of its clocks.
    fn follow(&self, context: &dyn Host) -> Result<(), AddError> {
        if context.register_executor(&self.scheduler) { Ok(()) } else { Err(AddError::Shutdown) }
    }

    fn accept_clock(&self, clock: &crate::sys::clock::Clock) -> Result<(), AddError> {
        if self.scheduler.accept_clock(clock) { Ok(()) } else { Err(AddError::OtherClock) }
    }

    /// Runs callbacks until [`stop`](StopHandle::stop) or the context's shutdown (Ctrl-C, if it was
    /// made by [`Context::from_args`](crate::Context::from_args)).
    ///
    /// What is added belongs before it. If there is nothing (nothing was added, or it is all gone),
    /// other threads have two seconds to add something. A node of which nothing is left that could
    /// run is named in the log, once.
    ///
    /// # Errors
    /// [`SpinError`]: a callback panicked, or failed and [`on_error`](crate::executor::ExecutorBuilder::on_error)
    /// says to stop; a thread spins this executor already; or there is nothing to serve
    /// ([`SpinError::Nothing`]).
    pub fn spin(&self) -> Result<(), SpinError> {
        let result = self.with_helpers(|spin| {
            self.wait_for_something(spin)?;
            self.warn_of_idle_nodes();
            spin.run(Blocking::Forever).map(drop)
        });
        self.end_detached();
        result
    }

    /// Runs what there is until there is something to serve; fails if there isn't for too long.
    fn wait_for_something(&self, spin: &Spin<'_>) -> Result<(), SpinError> {
        if !self.serves_nothing() {
            return Ok(());
        }
        let end = Time::steady().nanoseconds().saturating_add(nanoseconds(FIRST_ADDED_WITHIN));
        spin.run(Blocking::Deadline(end))?;
        if self.serves_nothing() { Err(SpinError::Nothing) } else { Ok(()) }
    }

    /// Whether it has nothing to serve, and no reason to return.
    pub(super) fn serves_nothing(&self) -> bool {
        cfg!(not(loom)) // models have steps enough
            && self.served().next().is_none() && !self.scheduler.is_stopped()
    }

    /// Says which nodes of what it serves have nothing that could run: most of them by mistake.
    fn warn_of_idle_nodes(&self) {
        if cfg!(loom) {
            return;
        }
        let mut nodes: Vec<ServedNode> = Vec::new();
        for groups in self.served() {
            for group in groups.iter().filter(|group| !group.is_served_by_another(&self.scheduler)) {
                let (is_inhabited, ever) = group.is_inhabited();
                match nodes.iter_mut().find(|known| Arc::ptr_eq(&known.node, &group.node)) {
                    Some(known) => {
                        known.groups += 1;
                        known.is_inhabited |= is_inhabited;
                        known.ever |= ever;
                    }
                    None => {
                        nodes.push(ServedNode { node: group.node.clone(), groups: 1, is_inhabited, ever })
                    }
                }
            }
        }
        nodes.iter().for_each(ServedNode::warn_if_idle);
    }

    /// The groups of each thing that it serves and that isn't gone.
    fn served(&self) -> impl Iterator<Item = Vec<Arc<GroupCore>>> {
        let served = self.served.lock();
        let alive: Vec<_> = served
            .iter()
            .filter_map(|known| match known {
                Served::Groups(groups) => groups.is_alive().then(|| groups.all()),
                Served::Group(group) => group.upgrade().map(|group| vec![group]),
            })
            .collect();
        alive.into_iter()
    }

    /// Spins on this thread and, if the executor has several, on all the others.
    fn with_helpers<R>(&self, work: impl FnOnce(&Spin<'_>) -> Result<R, SpinError>) -> Result<R, SpinError> {
        let spin = self.begin(true)?;
        let is_virtual = self.scheduler.clock().is_some_and(|clock| clock.is_virtual());
        let timer_thread = self.timer_thread && !is_virtual;
        let plan = self.options.prepare(self.threads())?;
        if self.threads() == 1 && !timer_thread {
            let _restore = plan.apply(0)?;
            return work(&spin);
        }
        let plan = &plan;
        let result = std::thread::scope(|scope| {
            let _dismissal = Dismissal(&self.scheduler); // also if this thread panics
            for worker in 1..self.threads() {
                let helper = std::thread::Builder::new().name(format!("sinew-worker-{worker}"));
                let place = Place::helper(&self.scheduler, scheduler::index(worker));
                let helper = helper.spawn_scoped(scope, move || self.help(place, plan));
                if let Err(error) = helper {
                    return Err(SpinError::Thread { threads: self.threads(), reason: error.to_string() });
                }
            }
            if timer_thread {
                let timers = TimerThread::begin(&self.scheduler);
                let helper = std::thread::Builder::new().name("sinew-timers".to_owned());
                let helper = helper.spawn_scoped(scope, || timers.run());
                if let Err(error) = helper {
                    return Err(SpinError::Thread { threads: self.threads() + 1, reason: error.to_string() });
                }
            }
            let _restore = plan.apply(0)?; // last: what this thread starts would be placed where it is
            work(&spin)
        });
        // One that came when this thread had stopped for another reason.
        let fault = self.scheduler.faults.take();
        result.and_then(|output| fault.map_or(Ok(output), Err))
    }

    /// Ends what was detached in contexts that are shut down: here, and not on the thread that
    /// waits for signals.
    pub(super) fn end_detached(&self) {
        if cfg!(loom) {
            return; // models have steps enough
        }
        let nodes: Vec<_> = self.served().flatten().map(|group| group.node.clone()).collect();
        let ended = nodes.iter().map(|node| node.host()).filter(|context| context.has_ended());
        ended.for_each(Host::end_detached);
    }

    /// One of the other threads.
    fn help(&self, place: Place<'_>, plan: &ThreadSetup) {
        let spin = Spin::begin(place, true);
        let restore = plan.apply(spin.worker as usize);
        let result = restore.map_err(SpinError::from).and_then(|_restore| spin.run(Blocking::Forever));
        if let Err(fault) = result {
            self.scheduler.dismiss(Some(fault));
        }
    }

    /// Runs what is ready now, and nothing that becomes ready meanwhile. Returns how many callbacks
    /// ran. Doesn't wait.
    ///
    /// # Errors
    /// As [`spin`](Self::spin).
    pub fn spin_some(&self) -> Result<u64, SpinError> {
        self.spin_briefly(|spin| {
            let Some(clock) = self.scheduler.clock() else { return Ok(0) };
            spin.run(Blocking::Until(clock.stamp()))
        })
    }

    /// A spin that doesn't wait for the end of the context, but is perhaps the first after it.
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

    /// Runs what is ready, also what becomes ready meanwhile, until nothing is or `max` has passed
    /// (checked after each callback, so zero runs one at most). Returns how many callbacks ran.
    /// Doesn't wait.
    ///
    /// # Errors
    /// As [`spin`](Self::spin).
    pub fn spin_all(&self, max: Duration) -> Result<u64, SpinError> {
        self.spin_briefly(|spin| {
            spin.end = Some(Time::steady() + max);
            spin.run(Blocking::None)
        })
    }

    /// Runs one callback, for which it waits at most `timeout` (of real time, also in virtual
    /// time). Returns whether one ran.
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

    /// Runs callbacks until the future is ready, and returns what it is ready with. The future is
    /// polled on this thread, between callbacks. An executor that serves nothing only polls the
    /// future; those of Sinew end with their contexts.
    ///
    /// # Errors
    /// As [`spin`](Self::spin); and [`SpinError::Stopped`] if the executor was stopped before.
    pub fn spin_until<F: Future>(&self, future: F) -> Result<F::Output, SpinError> {
        let waker = Waker::from(Arc::new(Poke(self.scheduler.clone())));
        let mut future = pin!(future);
        let result = self.with_helpers(|spin| {
            let mut worker = Worker::new(spin.scheduler, spin.worker);
            loop {
                if let Poll::Ready(output) = future.as_mut().poll(&mut TaskContext::from_waker(&waker)) {
                    return Ok(output);
                }
                if !spin.run_until_poked(&mut worker)? {
                    return Err(SpinError::Stopped);
                }
            }
        });
        self.end_detached();
        result
    }

    /// Moves virtual time forward, from one timer to the next, and runs at each time what is ready
    /// until nothing is. Returns how many callbacks ran. The same program does the same in the same
    /// order every time.
    ///
    /// # Errors
    /// As [`spin`](Self::spin); and [`SpinError::NotVirtual`] if the context lives in real time.
    pub fn advance(&self, duration: Duration) -> Result<u64, SpinError> {
        let clock = self.scheduler.clock();
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

    /// A file descriptor for an event loop of another library (epoll, tokio, a user interface's):
    /// readable while no thread spins this executor and there is something to do, or a timer is
    /// due. The thread that waits for it then calls [`spin_some`](Self::spin_some) or
    /// [`spin_all`](Self::spin_all). It is made by the first call, which takes some system calls;
    /// after that, making the executor's first entity ready costs one, and each spin two or three.
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
    /// What the operating system says when it gives no more descriptors.
    pub fn descriptor(&self) -> io::Result<BorrowedFd<'_>> {
        self.scheduler.descriptor()
    }

    /// A handle that stops this executor from anywhere.
    pub fn stop_handle(&self) -> StopHandle {
        StopHandle(self.scheduler.clone())
    }

    /// `sleeps`: for longer than one callback, so that it is worth noting what to fetch on waking.
    fn begin(&self, sleeps: bool) -> Result<Spin<'_>, SpinError> {
        let place = Place::first(&self.scheduler, sleeps).ok_or(SpinError::Busy)?;
        Ok(Spin::begin(place, sleeps))
    }
}

impl Drop for Executor {
    fn drop(&mut self) {
        self.scheduler.close(); // groups that are just being made find another executor, or none
        // Not under the lock: who was served may bring in what waits, through filters of the program.
        let served = std::mem::take(&mut *self.served.lock());
        for served in served {
            match served {
                Served::Groups(groups) => groups.leave(&self.scheduler),
                Served::Group(group) => {
                    if let Some(group) = group.upgrade() {
                        group.remove_from(&self.scheduler);
                    }
                }
            }
        }
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

/// Stops an [`Executor`]; from [`Executor::stop_handle`].
#[derive(Clone)]
pub struct StopHandle(Arc<Scheduler>);

impl StopHandle {
    /// Makes the spin that runs return, once its running callback has; if none runs, the next one.
    /// (So a stop that comes just before the spin isn't lost.)
    pub fn stop(&self) {
        self.0.stop();
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
