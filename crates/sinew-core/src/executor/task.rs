//! Tasks: an executor's units of work.
//!
//! # Roles
//!
//! Every entity with a callback is a [`Task`]: a subscription, a timer, a server, a client, a
//! status handler, the work posted to a group. Its group enters it into an executor, where it is a
//! `Member` (with a reference to the task) and a `TaskHeader` (for threads that announce it).
//! Publishers, callers and other threads *announce* it: it has work since a stamp, its *key*.
//! Workers run it, and so do threads that wait for it (*callers*). Any thread may take it out, and
//! a thread that takes messages by hand may withdraw its announcement.
//!
//! # States
//!
//! Two locks guard them: the scheduler's (S), and the lane's (L), which a thread that holds S may
//! take.
//!
//! | state | place of the task | moved there by | under |
//! |---|---|---|---|
//! | idle | in no heap and no lane | its group (`GroupSlot::enter`); the thread that ran it, if no work is left (`put_back`; `finish_in_lane`); the thread that withdraws (`clear_ready`) | S; S, L; S, L |
//! | | | the worker that ran it out of its lane, undisturbed (`Lane::advance`) | L |
//! | in the lane | the lane, under its key | the lane's worker, in a callback (`Lane::push`) | L |
//! | in the queue | its group's heap, under its key | a thread that announces it (`enqueue`); one that finds a timer due (`fire`); the thread that ran it, if work is left (`put_back`; `finish_in_lane`) | S; S; S; S, L |
//! | | | a thread that settles the lane (`settle`), from the lane | S, L |
//! | running | with the thread that runs it; an exclusive group is marked as running, and in no heap | a worker (`pop`), a wait set (`Candidate::take`) or a caller (`take_as_caller`), from the queue; a caller in a callback of the executor, from idle, too | S |
//! | running, of the lane | as `running` in the lane, with the worker; its group is not marked | the lane's worker, from the lane (`take_from_lane`; `Lane::advance`) | S, L; L |
//! | | the same, with its group marked | another thread that is about to run a task, a caller or a thread that waits for the task's end (`settle`) | S, L |
//! | running and keyed again | as running, and in its group's heap or the lane: it runs again after this run | a thread that announces it meanwhile (`enqueue`, `Lane::push`) | S or L |
//! | left while running | nowhere; the thread that runs it keeps it, or the lane does (M3) | a thread that takes it out (`leave`) | S, L |
//! | gone | nowhere | `leave`, from all states in which it doesn't run; the thread that ran it, if it has left (`put_back`, `finish_in_lane`) | S, L |
//!
//! # Rules
//!
//! - A key is *sticky*: a task in the queue keeps its key when it is announced again. After a run
//!   the next key is the stamp of the work that is left.
//! - An exclusive group runs one task at a time, and only the thread that runs it has the group's
//!   token. In a reentrant group, *running* counts: a task may be idle or in the queue and running
//!   several times at once. Such tasks never enter the lane.
//! - A timer that is not due yet is idle, and waits in the heap of its clock.
//! - A thread announces under the lock of the waiting work (a subscription's history, say), then S
//!   or L. So [`Run::clear_ready`] can withdraw the announcement under that lock, and no thread
//!   announces in between. A thread holds no lock of an executor when it calls [`Run::run`] in a
//!   running state, [`Run::pending`] after a run that panicked, or [`Run::clear_ready`] in any
//!   state.
//! - A member keeps its task. The thread that runs a task of an exclusive group out of the queue
//!   takes the reference out of the member for that time, and the lane's worker has none
//!   ([`lane`](super::crew::lane) proves that the memory lives). A task that is gone is dropped
//!   under no lock: it holds the program's closure.

use super::group_token::GroupToken;
use super::prefetch::{HotSet, NoteIndex, Part};
use crate::sys::clock::Stamp;
use crate::sys::sync::Arc;
use sinew_shm::Callback;
use std::error::Error;

/// A unit of an executor's work: its data, and its callback.
pub(crate) struct Task<W: ?Sized = dyn Run> {
    /// In memory of its own: a run uses none of it, and the first cache lines are for the rest.
    pub(crate) base: Box<TaskBase>,
    /// The place at which the thread that ran it last has noted it.
    pub(crate) note: NoteIndex,
    pub(crate) work: W,
}

/// The callback of a task. Threads call these methods under no lock of its executor.
pub(crate) trait Run: Send + Sync {
    /// Runs the callback for the oldest waiting work, if there still is any.
    fn run(&self, token: &mut GroupToken) -> TaskOutcome;

    /// Returns the stamp of the oldest work left, after the callback panicked.
    fn pending(&self) -> Option<Stamp>;

    /// Withdraws the announcement if no work waits after all. Returns `true` if work waits.
    fn clear_ready(&self) -> bool;
}

/// A task's node.
pub(crate) trait TaskOwner: Send + Sync {
    /// Returns the name, for log lines; all log lines about the node share it.
    fn full_name(&self) -> &Arc<str>;

    /// Whether its context was shut down.
    fn has_ended(&self) -> bool;
}

/// The data of a task, which never changes.
pub(crate) struct TaskBase {
    owner: Arc<dyn TaskOwner>,
    what: Box<str>,
    subject: usize,
    callback: Option<Callback>,
    hot: HotSet,
}

impl TaskBase {
    /// Creates the data of a task; `what` names it in log lines, e.g. "subscription to
    /// /camera/image".
    pub(crate) fn new(owner: Arc<dyn TaskOwner>, what: impl Into<Box<str>>) -> Self {
        Self { owner, what: what.into(), subject: 0, callback: None, hot: HotSet::new() }
    }

    /// Sets the value that the program's handle and the task share, by which a
    /// [`Waitable`](super::wait_set::Waitable) recognises it (default: there is no handle).
    pub(crate) fn subject<T>(mut self, shared: &Arc<T>) -> Self {
        self.subject = Arc::as_ptr(shared).addr();
        self
    }

    /// Sets the callback that tools see while the task runs (default: another callback of its
    /// node).
    pub(crate) fn callback(mut self, callback: Option<Callback>) -> Self {
        self.callback = callback;
        self
    }

    /// Sets the memory and code that each run uses besides the task itself (default: none).
    pub(crate) fn uses(mut self, hot: HotSet) -> Self {
        self.hot = hot;
        self
    }

    /// Returns `true` if the program's handle has this subject.
    pub(crate) fn is(&self, subject: usize) -> bool {
        self.subject == subject
    }

    /// Returns the callback that tools see while the task runs, unless that is another one of its
    /// node.
    pub(crate) fn shown_callback(&self) -> Option<Callback> {
        self.callback
    }

    /// Returns the memory and code that each run uses, the task included.
    pub(crate) fn hot(&self) -> &HotSet {
        &self.hot
    }

    /// Whether its context was shut down.
    pub(crate) fn has_ended(&self) -> bool {
        self.owner.has_ended()
    }

    /// Describes the task for log lines, e.g. "subscription to /camera/image of node /filter".
    /// Allocates.
    pub(crate) fn describe(&self) -> String {
        format!("{} of node {}", self.what, self.owner.full_name())
    }
}

/// Maximum number of a task's cache lines that are fetched; the rest are captures of the callback.
const LINES: usize = 4;

impl<W: Run + 'static> Task<W> {
    pub(crate) fn new(mut base: TaskBase, work: W) -> Arc<Self> {
        Arc::new_cyclic(|this| {
            base.hot.push(Part::weak(this.clone(), LINES));
            Self { base: Box::new(base), note: NoteIndex::new(), work }
        })
    }
}

/// The result of a callback: nothing, or its error, unchanged.
pub(crate) type CallbackResult = Result<(), Box<dyn Error + Send + Sync>>;

/// The outcome of running a task.
pub(crate) struct TaskOutcome {
    /// The callback's result.
    pub(crate) result: CallbackResult,
    /// The stamp of the next work, if there is any.
    pub(crate) next: Option<Stamp>,
    /// Whether there was work, so that the callback ran.
    pub(crate) called: bool,
}

impl TaskOutcome {
    /// There was no work any more.
    pub(crate) const NOTHING: Self = Self { result: Ok(()), next: None, called: false };
}
