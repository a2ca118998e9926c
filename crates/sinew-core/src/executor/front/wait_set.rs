//! Wait sets: an executor's ready queue for programs that themselves choose what to take and run.
//!
//! A wait set asks the same scheduler as an executor, but takes no entity out of its queue: a ready
//! entity stays there, so the next wait finds it again. Only an entity that was emptied by hand
//! meanwhile has to leave. A thread that takes by hand doesn't know of the queue, so the wait asks
//! the entities in the queue, and only those: under the entity's own lock, [`Run::clear_ready`]
//! returns whether work waits, and otherwise takes the entity out of the queue before another
//! thread can announce it again. So the cost of a wait depends on the number of ready entities, not
//! on the size of the set.
//!
//! [`Run::clear_ready`]: crate::executor::task::Run::clear_ready

use super::executor::{Executable, Executor, StopHandle};
use super::stay::Stay;
use crate::executor::crew::candidates::Candidate;
use crate::executor::crew::run::InHand;
use crate::executor::crew::worker::Worker;
use crate::executor::error::{AddError, SpinError};
use crate::sys::clock::{Time, nanoseconds};
use std::fmt;
use std::time::Duration;

/// Waits until an entity is ready, and leaves it to the program to take its messages or to run it.
/// ROS 2: `rclcpp::WaitSet`.
///
/// An [`Executor`] is the better choice for most programs. A wait set is for programs that look at
/// several inputs at once, or run callbacks in an order of their own. It serves contexts, nodes and
/// groups with all their callbacks as an executor does ([`add`](Self::add)), and subscriptions
/// without a callback ([`add_subscription`](Self::add_subscription)), from which the program takes
/// messages. One thread at a time waits (`&mut self`), and callbacks run on this thread alone, when
/// it calls [`Ready::run`]. Dropping a wait set releases its groups, and their messages keep
/// waiting. It isn't `Clone`: it holds the results of a wait, for the thread that waited.
///
/// ```
/// use sinew::prelude::*;
/// use sinew::executor::WaitSet;
/// # #[derive(Clone)] struct Scan(u32); impl Message for Scan {}
/// # #[derive(Clone)] struct Pose(u32); impl Message for Pose {}
/// let context = Context::new()?;
/// let node = context.node("localizer")?;
/// let scans = node.subscription::<Scan>("scan").create()?;
/// let poses = node.subscription::<Pose>("pose").create()?;
/// let seconds = node.timer(Duration::from_secs(1)).callback(|| println!("one more second"))?;
/// # node.publisher::<Scan>("scan").create()?.publish(Scan(1))?;
/// # node.publisher::<Pose>("pose").create()?.publish(Pose(2))?;
///
/// let mut set = WaitSet::new();
/// set.add(&node)?; // the timer
/// set.add_subscription(&scans)?;
/// set.add_subscription(&poses)?;
/// loop {
///     for ready in set.wait(Duration::from_secs(10))? {
///         if !ready.is(&scans) && !ready.is(&poses) {
///             ready.run()?; // `ready.is(&seconds)`
///         }
///     }
///     // Both are needed: a message that isn't taken stays ready. (To sleep until the other one comes, take it out.)
///     if let (Some((scan, _)), Some((pose, _))) = (scans.take(), poses.take()) {
///         println!("scan {} from pose {}", scan.0, pose.0);
///         break;
///     }
/// }
/// # Ok::<(), sinew::Error>(())
/// ```
#[derive(Default)]
pub struct WaitSet {
    pub(crate) executor: Executor,
    /// The results of the last wait, in memory that the next wait reuses.
    ready: Vec<Candidate>,
}

impl WaitSet {
    /// Creates an empty wait set.
    pub fn new() -> Self {
        Self::default()
    }

    pub(super) fn of(executor: Executor) -> Self {
        Self { executor, ready: Vec::new() }
    }

    /// Serves a context, a node or a group from now on, as [`Executor::add`] does: all its entities
    /// with callbacks.
    ///
    /// # Errors
    /// [`AddError`]: an executor or another wait set serves it, or its context is shut down or
    /// lives in another time.
    pub fn add(&self, what: &impl Executable) -> Result<(), AddError> {
        self.executor.add(what)
    }

    /// Serves a context, a node or a group no more, as [`Executor::remove`] does.
    pub fn remove(&self, what: &impl Executable) -> bool {
        self.executor.remove(what)
    }

    /// Sleeps until something is ready, at most for `timeout` (of real time, also in virtual time;
    /// `Duration::MAX`: without a limit), and returns all that is ready now, each once, in the
    /// order in which an executor would run it. Nothing after the timeout.
    ///
    /// Ready entities are subscriptions with messages, timers that are due, guard conditions that
    /// were triggered, and entities with a status event. An entity that is neither emptied nor
    /// [run](Ready::run) is returned by the next wait again, which then doesn't sleep. (To run
    /// callbacks in exactly an executor's order, run the first and wait again: it may have more
    /// work that is older than the second one's.) Once warm, a wait allocates nothing; its cost
    /// depends on the number of ready entities, not on the size of the set.
    ///
    /// # Errors
    /// [`SpinError::Nothing`]: it would wait without a limit, and there is nothing to wait for.
    /// [`SpinError::Stopped`]: the [stop handle](Self::stop_handle) was used since the last wait,
    /// or a context is shut down. And the [`SpinError`] of a callback that a thread waiting for its
    /// answer ran meanwhile.
    pub fn wait(&mut self, timeout: Duration) -> Result<impl ExactSizeIterator<Item = Ready<'_>>, SpinError> {
        let now = Time::steady().nanoseconds();
        let deadline = (timeout < Duration::MAX).then(|| now.saturating_add(nanoseconds(timeout)));
        self.ready.clear();
        if deadline.is_none() && self.executor.serves_nothing() {
            return Err(SpinError::Nothing);
        }
        let stay = Stay::begin(&self.executor.scheduler, true)?;
        let waited = Worker::new(&self.executor.scheduler, 0).wait(deadline, &mut self.ready);
        drop(stay);
        if waited.is_err() {
            self.executor.end_detached(); // the context is shut down, perhaps
        }
        waited?;
        Ok(self.ready())
    }

    /// Returns what the last [wait](Self::wait) returned, again: for a program that keeps the wait
    /// set, and not the iterator.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// use sinew::executor::WaitSet;
    /// let context = Context::new()?;
    /// let node = context.node("arm")?;
    /// let guard = node.guard_condition().callback(|| ())?;
    /// let mut set = WaitSet::new();
    /// set.add(&node)?;
    /// guard.trigger();
    /// let count = set.wait(Duration::MAX)?.len();
    /// assert!(count == 1 && set.ready().nth(0).is_some_and(|ready| ready.is(&guard)));
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn ready(&self) -> impl ExactSizeIterator<Item = Ready<'_>> {
        self.ready.iter().map(move |candidate| Ready { set: self, candidate })
    }

    /// Returns a handle that makes the current or the next [wait](Self::wait) return
    /// [`SpinError::Stopped`], from any thread.
    pub fn stop_handle(&self) -> StopHandle {
        self.executor.stop_handle()
    }
}

impl fmt::Debug for WaitSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitSet").field("ready", &self.ready.len()).finish_non_exhaustive()
    }
}

/// An entity that was ready; from [`WaitSet::wait`].
#[derive(Clone, Copy)]
pub struct Ready<'a> {
    set: &'a WaitSet,
    candidate: &'a Candidate,
}

impl Ready<'_> {
    /// Returns `true` if it is this entity.
    pub fn is(&self, what: &impl Waitable) -> bool {
        self.candidate.entity.upgrade().is_some_and(|entity| entity.base.is(what.subject()))
    }

    /// Describes the entity, e.g. "subscription to /camera/image of node /filter". Allocates.
    pub fn describe(&self) -> String {
        let entity = self.candidate.entity.upgrade();
        entity.map_or_else(|| "an entity that is gone".to_owned(), |entity| entity.base.describe())
    }

    /// Runs the callback for the oldest waiting message or event, on this thread, with the group's
    /// token. Returns `false` if none waits, the entity is gone, its context is shut down, or it
    /// has no callback.
    ///
    /// # Errors
    /// [`SpinError`]: the callback panicked, or failed and
    /// [`on_error`](crate::executor::WaitSetBuilder::on_error) says to stop; or it was called while
    /// another thread, or a callback of this set, runs an entity of the set.
    pub fn run(&self) -> Result<bool, SpinError> {
        let scheduler = &self.set.executor.scheduler;
        let _stay = Stay::begin(scheduler, true)?;
        InHand { scheduler, work: self.candidate.take(scheduler) }.execute().map_err(|fault| *fault)
    }
}

impl fmt::Debug for Ready<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ready").field(&self.describe()).finish()
    }
}

/// An entity that can be recognised when it is [ready](Ready::is): a
/// [`Subscription`](crate::Subscription), a [`Timer`](crate::Timer), a
/// [`GuardCondition`](crate::GuardCondition), a [`Server`](crate::Server), a
/// [`Client`](crate::Client) with results for callbacks, or a
/// [`WorkQueue`](crate::executor::WorkQueue). Work posted to a group itself, and the work of
/// actions, has no handle by which to recognise it: run entities that aren't recognised, or they
/// stay ready.
pub trait Waitable: sealed::Sealed {
    #[doc(hidden)]
    fn subject(&self) -> usize;
}

pub(crate) mod sealed {
    pub trait Sealed {}
}
