//! Executors: running callbacks in the order in which their messages arrived. (The design's section 7.)
//!
//! | file | what |
//! |---|---|
//! | `scheduler` | the ready queue: which callback runs next; timers; sleeping |
//! | `ready`, `heap` | the queues it is made of |
//! | `group` | callback groups, their members and their place in an executor |
//! | `membership` | which executor serves the groups of a node or a context |
//! | `turn` | who may touch a group's callbacks and state now |
//! | `trail` | fetching what a burst of work touches, when the thread wakes for it |
//! | `current` | what this thread is in the middle of |

pub(crate) mod current;
pub(crate) mod group;
mod heap;
pub(crate) mod membership;
mod ready;
pub(crate) mod scheduler;
pub(crate) mod trail;
pub(crate) mod turn;

use crate::clock::{Time, nanoseconds};
use crate::context::{Context, Shared};
use crate::node::Node;
use crate::sync::{Arc, Mutex};
use current::{Running, Spinning};
use group::{Group, GroupCore, NotAdded};
use membership::Groups;
use scheduler::{Next, Patience, Ran, Scheduler, Slack, Work};
use std::any::Any;
use std::fmt;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Weak;
use std::task::{self, Poll, Waker};
use std::time::Duration;
use trail::Noting;

/// Runs callbacks: in the order in which their messages arrived and their timers were due, across all entities, those of
/// groups with a higher priority first.
///
/// All `spin` functions run callbacks on the calling thread, one at a time. One thread spins an executor at a time;
/// different executors may serve different nodes or groups on different threads. While nothing is ready the thread sleeps;
/// an idle entity costs nothing. Dropped, an executor gives its groups free, and what waits in them keeps waiting.
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
    scheduler: Arc<Scheduler>,
    served: Mutex<Vec<Served>>,
    on_panic: OnFault,
    on_error: OnFault,
}

/// What an executor does when a callback panics or returns an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OnFault {
    /// Spinning stops and returns it. The default for panics: nobody knows what state they left.
    Stop,
    /// It is reported with the entity's name, in the log (or on standard error, if the program has no logger), and the
    /// rest goes on. The default for errors.
    Report,
}

/// What an executor serves.
enum Served {
    Groups(Arc<Groups>),
    Group(Weak<GroupCore>),
}

/// What can be added to an executor: a [`Context`], a [`Node`] or a [`Group`].
pub trait Servable: sealed::Sealed {
    #[doc(hidden)]
    fn add_to(&self, executor: &Executor) -> Result<(), AddError>;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Context {}
    impl Sealed for super::Node {}
    impl<S> Sealed for super::Group<S> {}
}

impl Servable for Context {
    fn add_to(&self, executor: &Executor) -> Result<(), AddError> {
        executor.serve(self.shared(), &self.shared().groups, || "the context".to_owned())
    }
}

impl Servable for Node {
    fn add_to(&self, executor: &Executor) -> Result<(), AddError> {
        let what = || format!("node {}", self.full_name());
        if self.default_group().core.is_served_by_another(&executor.scheduler) {
            return Err(AddError::Taken { what: what() });
        }
        executor.serve(self.context_shared(), self.groups(), what)
    }
}

impl<S: Send + 'static> Servable for Group<S> {
    fn add_to(&self, executor: &Executor) -> Result<(), AddError> {
        let context = &self.core.context;
        executor.meet(context)?;
        match self.core.add_to(&executor.scheduler) {
            Ok(()) => executor.remember(Served::Group(Arc::downgrade(&self.core))),
            Err(NotAdded::Here) => {}
            Err(NotAdded::Elsewhere) => {
                return Err(AddError::Taken { what: format!("the group of node {}", self.core.node) });
            }
        }
        executor.follow(context)
    }
}

impl Executor {
    /// An executor that runs everything on the thread that spins it.
    pub fn single() -> Self {
        Self {
            scheduler: Scheduler::new(),
            served: Mutex::new(Vec::new()),
            on_panic: OnFault::Stop,
            on_error: OnFault::Report,
        }
    }

    /// What to do when a callback panics; [`OnFault::Stop`] by default.
    #[must_use]
    pub fn on_panic(mut self, reaction: OnFault) -> Self {
        self.on_panic = reaction;
        self
    }

    /// What to do when a callback returns an error; [`OnFault::Report`] by default.
    #[must_use]
    pub fn on_error(mut self, reaction: OnFault) -> Self {
        self.on_error = reaction;
        self
    }

    /// Serves a context, a node or a group from now on: of a context or a node all groups that no other executor serves,
    /// also those that are still to come. So groups or nodes that want an executor of their own are added to that first. May be called while another thread spins.
    ///
    /// # Errors
    /// [`AddError`]: another executor serves it, or its context is shut down or lives in another time.
    pub fn add(&self, what: &impl Servable) -> Result<(), AddError> {
        what.add_to(self)
    }

    /// Serves the groups of a context or of a node of it.
    fn serve(
        &self,
        context: &Shared,
        groups: &Arc<Groups>,
        what: impl FnOnce() -> String,
    ) -> Result<(), AddError> {
        self.meet(context)?;
        if !groups.serve(&self.scheduler) {
            return Err(AddError::Taken { what: what() });
        }
        self.remember(Served::Groups(groups.clone()));
        self.follow(context)
    }

    /// Notes what to give free at the end, and forgets what is gone by itself.
    fn remember(&self, new: Served) {
        let mut served = self.served.lock();
        if served.len() == served.capacity() {
            served.retain(|known| match known {
                Served::Groups(groups) => Arc::strong_count(groups) > 1,
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
    fn meet(&self, context: &Shared) -> Result<(), AddError> {
        if context.has_ended() {
            return Err(AddError::Shutdown);
        }
        self.accept_clock(&context.clock)
    }

    /// Hears from now on of the context's shutdown and jumps of its clocks.
    fn follow(&self, context: &Shared) -> Result<(), AddError> {
        if context.register_executor(&self.scheduler) { Ok(()) } else { Err(AddError::Shutdown) }
    }

    fn accept_clock(&self, clock: &crate::clock::Clock) -> Result<(), AddError> {
        if self.scheduler.accept_clock(clock) { Ok(()) } else { Err(AddError::OtherClock) }
    }

    /// Runs callbacks until [`stop`](StopHandle::stop) or the context's shutdown (Ctrl-C, if it was made by
    /// [`Context::from_args`]).
    ///
    /// # Errors
    /// [`SpinError`]: a callback panicked, or failed and [`on_error`](Self::on_error) says to stop; or somebody spins
    /// this executor already.
    pub fn spin(&self) -> Result<(), SpinError> {
        let spin = self.begin(true)?;
        spin.run(Patience::Forever).map(drop)
    }

    /// Runs what is ready now, and nothing that becomes ready meanwhile. Returns how many callbacks ran. Doesn't wait.
    ///
    /// # Errors
    /// As [`spin`](Self::spin).
    pub fn spin_some(&self) -> Result<u64, SpinError> {
        let spin = self.begin(false)?;
        let Some(clock) = self.scheduler.clock() else { return Ok(0) };
        spin.run(Patience::Until(clock.stamp()))
    }

    /// Runs what is ready, also what becomes ready meanwhile, until nothing is or `max` has passed (checked between
    /// callbacks). Returns how many callbacks ran. Doesn't wait.
    ///
    /// # Errors
    /// As [`spin`](Self::spin).
    pub fn spin_all(&self, max: Duration) -> Result<u64, SpinError> {
        let mut spin = self.begin(false)?;
        spin.end = Some(Time::steady() + max);
        spin.run(Patience::None)
    }

    /// Runs one callback, for which it waits at most `timeout` (of real time, also in virtual time). Returns whether one ran.
    ///
    /// # Errors
    /// As [`spin`](Self::spin).
    pub fn spin_once(&self, timeout: Duration) -> Result<bool, SpinError> {
        let mut spin = self.begin(false)?;
        spin.most = 1;
        let now = Time::steady().nanoseconds();
        let patience = if timeout.is_zero() {
            Patience::None
        } else {
            Patience::Deadline(now.saturating_add(nanoseconds(timeout)))
        };
        spin.run(patience).map(|ran| ran > 0)
    }

    /// Runs callbacks until the future is ready, and returns what it is ready with. The future is polled on this thread,
    /// between callbacks.
    ///
    /// # Errors
    /// As [`spin`](Self::spin); and [`SpinError::Stopped`] if the executor was stopped before.
    pub fn spin_until<F: Future>(&self, future: F) -> Result<F::Output, SpinError> {
        let spin = self.begin(true)?;
        let waker = Waker::from(Arc::new(Poke(self.scheduler.clone())));
        let mut future = pin!(future);
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut task::Context::from_waker(&waker)) {
                return Ok(output);
            }
            if !spin.run_until_poked()? {
                return Err(SpinError::Stopped);
            }
        }
    }

    /// Moves virtual time forward, from one timer to the next, and runs at each time what is ready until nothing is.
    /// Returns how many callbacks ran. The same program does the same in the same order every time.
    ///
    /// # Errors
    /// As [`spin`](Self::spin); and [`SpinError::NotVirtual`] if the context lives in real time.
    pub fn advance(&self, duration: Duration) -> Result<u64, SpinError> {
        let clock = self.scheduler.clock();
        let clock = clock.as_ref().and_then(|clock| clock.virtual_clock()).ok_or(SpinError::NotVirtual)?;
        let end = clock.now() + duration;
        let spin = self.begin(false)?;
        let mut ran = 0;
        loop {
            ran += spin.run(Patience::None)?;
            match self.scheduler.next_due() {
                _ if self.scheduler.is_stopped() => return Ok(ran),
                Some(due) if due <= end.nanoseconds() => {
                    clock.set(Time::from_nanoseconds(due).max(clock.now()))
                }
                _ if clock.now() < end => clock.set(end),
                _ => return Ok(ran),
            }
        }
    }

    /// A handle that stops this executor from anywhere.
    pub fn stop_handle(&self) -> StopHandle {
        StopHandle(self.scheduler.clone())
    }

    /// `sleeps`: for longer than one callback, so that it is worth noting what to fetch on waking.
    fn begin(&self, sleeps: bool) -> Result<Spin<'_>, SpinError> {
        if !self.scheduler.begin() {
            return Err(SpinError::Busy);
        }
        let spinning = Spinning::enter(self.scheduler.id);
        Ok(Spin {
            executor: self,
            most: u64::MAX,
            end: None,
            _spinning: spinning,
            _noting: sleeps.then(Noting::begin),
        })
    }
}

impl Drop for Executor {
    fn drop(&mut self) {
        self.scheduler.close(); // groups that are just being made find another executor, or none
        for served in self.served.lock().drain(..) {
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
        f.debug_struct("Executor").field("on_panic", &self.on_panic).finish_non_exhaustive()
    }
}

/// Stops an [`Executor`]; from [`Executor::stop_handle`].
#[derive(Clone)]
pub struct StopHandle(Arc<Scheduler>);

impl StopHandle {
    /// Makes the spin that runs return, once its running callback has; if none runs, the next one. (So a stop that comes
    /// just before the spin isn't lost.)
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

impl task::Wake for Poke {
    fn wake(self: Arc<Self>) {
        self.0.poke();
    }
}

/// One spin, from beginning to end.
struct Spin<'a> {
    executor: &'a Executor,
    /// Callbacks to run at most.
    most: u64,
    /// When to stop even if there is more to do.
    end: Option<Time>,
    _spinning: Spinning,
    _noting: Option<Noting>,
}

impl Spin<'_> {
    /// Runs callbacks as long as `patience` and the other limits say; returns how many.
    fn run(&self, patience: Patience) -> Result<u64, SpinError> {
        let mut slack = Slack::new();
        let mut ran = 0;
        let mut hand = self.in_hand();
        loop {
            match self.executor.scheduler.next(&mut hand.work, patience, &mut slack) {
                Next::Run => {
                    ran += u64::from(self.execute(&mut hand)?);
                    if ran >= self.most || self.end.is_some_and(|end| Time::steady() >= end) {
                        return Ok(ran);
                    }
                }
                Next::Poked => {}
                Next::Idle | Next::Stopped => return Ok(ran),
            }
        }
    }

    /// Runs callbacks until somebody pokes; false if the executor was stopped.
    fn run_until_poked(&self) -> Result<bool, SpinError> {
        let mut slack = Slack::new();
        let mut hand = self.in_hand();
        loop {
            match self.executor.scheduler.next(&mut hand.work, Patience::Forever, &mut slack) {
                Next::Run => drop(self.execute(&mut hand)?),
                Next::Poked => return Ok(true),
                Next::Idle | Next::Stopped => return Ok(false),
            }
        }
    }

    /// Runs one callback; whether it was called.
    #[inline]
    fn execute(&self, work: &mut InHand<'_>) -> Result<bool, SpinError> {
        let Some(work) = &mut work.work else { return Ok(false) };
        self.executor.execute(work)
    }

    fn in_hand(&self) -> InHand<'_> {
        InHand { scheduler: &self.executor.scheduler, work: None }
    }
}

/// What this thread runs. It goes back however the spin ends, also if a logger panics over the report of a panic.
struct InHand<'a> {
    scheduler: &'a Scheduler,
    work: Option<Work>,
}

impl Drop for InHand<'_> {
    fn drop(&mut self) {
        if self.work.is_some() {
            self.scheduler.finish(&mut self.work);
        }
    }
}

impl Drop for Spin<'_> {
    fn drop(&mut self) {
        self.executor.scheduler.end_spin();
    }
}

impl Executor {
    /// Runs one callback; false if there was nothing left to call it for.
    #[inline]
    fn execute(&self, work: &mut Work) -> Result<bool, SpinError> {
        let _running = Running::enter(work.serial);
        let Work { entity, turn, .. } = work;
        trail::ran(entity);
        match catch_unwind(AssertUnwindSafe(|| entity.run(turn))) {
            Ok(Ran { result: Ok(()), next, called }) => {
                work.next = next;
                Ok(called)
            }
            Ok(Ran { result: Err(message), next, .. }) => {
                work.next = next;
                self.on_error
                    .handle(SpinError::Failed { entity: work.entity.describe(), message })
                    .map(|()| true)
            }
            Err(panic) => {
                work.next = work.entity.left();
                let message = panic_message(&*panic);
                dispose_of(panic);
                self.on_panic
                    .handle(SpinError::Panicked { entity: work.entity.describe(), message })
                    .map(|()| true)
            }
        }
    }
}

impl OnFault {
    #[cold]
    fn handle(self, error: SpinError) -> Result<(), SpinError> {
        match self {
            OnFault::Stop => Err(error),
            OnFault::Report => {
                if log::log_enabled!(log::Level::Error) {
                    log::error!("{error}");
                } else {
                    // Standard error may be closed: then there is nobody to tell.
                    let _ = writeln!(std::io::stderr(), "sinew: {error}");
                }
                Ok(())
            }
        }
    }
}

/// Drops a panic's payload, whose `Drop` may panic in turn: one report is enough.
fn dispose_of(panic: Box<dyn Any + Send>) {
    let mut payload = panic;
    for _ in 0..8 {
        match catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            Ok(()) => return,
            Err(another) => payload = another,
        }
    }
    std::mem::forget(payload); // it would go on for ever
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "not a text".to_owned())
}

/// Serves a whole context on this thread: [`Executor::single`], [`Executor::add`] and [`Executor::spin`] in one.
///
/// # Errors
/// As those.
pub fn spin(context: &Context) -> crate::Result<()> {
    let executor = Executor::single();
    executor.add(context)?;
    Ok(executor.spin()?)
}

/// Why something could not be added to an executor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddError {
    /// Another executor serves it.
    #[error(
        "{what} is served by another executor: a callback group runs in one executor at a time; drop the other one first"
    )]
    Taken {
        /// What was to be added.
        what: String,
    },
    /// The context is shut down.
    #[error("the context is shut down")]
    Shutdown,
    /// What the executor serves already follows other clocks.
    #[error(
        "the executor serves a context with another clock: contexts in virtual time need executors of their own"
    )]
    OtherClock,
}

/// Why spinning stopped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpinError {
    /// A thread is spinning this executor: another one, or this one, if it was called in a callback.
    #[error(
        "the executor is being spun already: one thread spins it at a time, and none of its own callbacks can"
    )]
    Busy,
    /// A callback panicked.
    #[error("the callback of {entity} panicked: {message}")]
    Panicked {
        /// Whose callback.
        entity: String,
        /// The panic's message.
        message: String,
    },
    /// A callback returned an error.
    #[error("the callback of {entity} failed: {message}")]
    Failed {
        /// Whose callback.
        entity: String,
        /// The error's message.
        message: String,
    },
    /// The executor was stopped before the future was ready.
    #[error("the executor was stopped before the future was ready")]
    Stopped,
    /// Only virtual time can be moved.
    #[error(
        "only an executor that serves a context in virtual time (ContextBuilder::virtual_time) can move time"
    )]
    NotVirtual,
}
