//! The lane: what a worker's callbacks make ready runs next on the same thread, past the queue.
//!
//! # Purpose
//!
//! A message that is published in a callback is the newest there is, and mostly the only one. To
//! find out in the queue what was known when it was published, under which key and for which task,
//! takes half of the instructions of a hop. So the tasks that a callback makes ready go to the end
//! of the worker's *lane*, a short list in the order of their keys, and the worker runs its head as
//! soon as the callback has returned, without the scheduler's lock.
//!
//! # Order
//!
//! Callbacks begin in the order of their keys, in the lane as in the queue:
//!
//! - L1 [`push`](Lane::push) takes a task only if its key isn't older than that of the last in the
//!   lane: the lane is sorted.
//! - L2 The *gate* is a time. It is set whenever the scheduler's lock is let go
//!   ([`Locked`](super::scheduler::Locked)): to the key of what is first in the queue or the time
//!   at which the first timer is due, whichever is earlier; or to [`SHUT`] if the lane's tasks must
//!   not run past the queue at all (the spin is to end, priorities differ, clocks are virtual, ..).
//! - L3 [`advance`](Lane::advance) hands out the head only if it is older than the gate. Else the
//!   worker asks [`Scheduler::next`](super::scheduler::Scheduler::next), which knows both: what is
//!   older in the queue, or falls due before, runs first, and the lane stays.
//!
//! # Exclusion
//!
//! Only executors with one thread have a lane, and only the thread that spins pushes and advances.
//! While its lane isn't empty it keeps its place among the executor's callbacks, so that no thread
//! from outside runs one; and what would run a callback in the middle of another one, or wait for
//! it, *settles* the lane first: the tasks in it go into the queue, and the group of the task that
//! runs is marked as running, as if it had come from there.
//!
//! # Memory
//!
//! An entry is a pointer to a [`TaskHeader`], and a task runs without a reference of its own. Both
//! stay as long as the task's [`Member`](super::state::Member) does. The thread that takes that out
//! of the executor ([`Scheduler::leave`](super::scheduler::Scheduler::leave)) does it under the
//! scheduler's lock and then, under the lane's,
//!
//! - M1 marks the task as gone, so that it enters no lane any more,
//! - M2 takes its entry out of the lane,
//! - M3 leaves the member to the worker if it runs the task: it is dropped when the callback has
//!   returned.

use super::group_token::GroupToken;
use super::header::{MemberId, TaskHeader};
use super::task::Task;
use crate::sys::clock::Stamp;
use crate::sys::sync::{AtomicI64, Guard, Mutex, Ordering};
use std::ptr::NonNull;
use std::sync::Weak;

/// Nothing runs past the queue.
pub(super) const SHUT: i64 = i64::MIN;

/// So many tasks wait in a lane at most; further ones go into the queue.
const LENGTH: usize = 64;

/// See the module's documentation.
#[repr(align(64))]
pub(super) struct Lane {
    gate: AtomicI64,
    line: Mutex<Line>,
}

/// What keeps a task that has left while it runs.
type Gone = Box<dyn Send>;

/// What the lane's lock guards.
pub(super) struct Line {
    /// The task that runs is marked as running in its group, this one.
    settled: Option<u32>,
    /// Where the first entry is that waits; those before it have run.
    head: usize,
    entries: Vec<LaneEntry>,
    /// The task that runs.
    running: Option<MemberId>,
    /// M3
    gone: Option<Gone>,
}

struct LaneEntry {
    task: NonNull<TaskHeader>,
    key: Stamp,
}

// SAFETY: the pointer stands for a shared reference to a header, which is `Sync`; how long it lives
// is told above.
unsafe impl Send for LaneEntry {}

/// A task of the lane that runs.
pub(crate) struct InLane {
    task: NonNull<TaskHeader>,
    pub(crate) key: Stamp,
}

/// What a worker does when a task of its lane has run.
pub(crate) enum Advance {
    /// It runs this one.
    Next(InLane),
    /// It asks the scheduler.
    Ask,
    /// There is more to be done about the one that ran:
    /// [`finish_in_lane`](super::scheduler::Scheduler::finish_in_lane).
    Unfinished(InLane),
}

impl InLane {
    /// The task.
    #[inline]
    pub(crate) fn task(&self) -> &TaskHeader {
        // SAFETY: it is `running`, so the member that keeps it is in the executor, or left to this
        // thread until the task has run (M3): an `InLane` is gone by then (`Lane::advance`,
        // `Lane::end`).
        unsafe { self.task.as_ref() }
    }

    /// The entity, while its task runs.
    #[inline]
    pub(super) fn entity(&self) -> &dyn Task {
        // SAFETY: the same member keeps the entity.
        unsafe { &*Weak::as_ptr(&self.task().entity) }
    }

    /// The turn of its group.
    #[inline]
    pub(super) fn token(&self) -> GroupToken {
        // SAFETY: a lane's tasks are of exclusive groups (`push`), and run on the only thread of
        // their executor, which runs nothing else at the time (see "Exclusion"): so the turns of
        // their groups are over, and this one is over before the next begins. What was done in the
        // last one happens before: on this thread, or on a caller, which gave its place back
        // under the scheduler's lock, under which this thread took it.
        unsafe { GroupToken::of(self.task().group) }
    }
}

impl Lane {
    pub(super) fn new() -> Self {
        let line =
            Line { settled: None, head: 0, entries: Vec::with_capacity(LENGTH), running: None, gone: None };
        Self { gate: AtomicI64::new(SHUT), line: Mutex::new(line) }
    }

    /// L2. The caller holds the scheduler's lock.
    #[inline]
    pub(super) fn set_gate(&self, to: i64) {
        // Relaxed: written under the scheduler's lock only.
        if self.gate.load(Ordering::Relaxed) != to {
            // Release: pairs with L3. A thread that sees what another thread did after it, sees it.
            self.gate.store(to, Ordering::Release);
        }
    }

    /// L1: has the worker that calls it, in a callback while its lane is open, run a task next.
    /// False if the queue is to have it.
    #[inline]
    pub(super) fn push(&self, task: &TaskHeader, key: Stamp) -> bool {
        // Relaxed: a hint; it is looked at again before the task runs.
        if task.is_reentrant() || self.gate.load(Ordering::Relaxed) == SHUT {
            return false;
        }
        let mut line = self.line.lock();
        let is_sorted = line.entries.last().is_none_or(|last| last.key <= key);
        if !is_sorted || line.entries.len() == LENGTH || task.is_gone() {
            return false;
        }
        line.entries.push(LaneEntry { task: NonNull::from(task), key });
        true
    }

    /// L3: what comes after a task that ran and has nothing more to do.
    #[inline]
    pub(super) fn advance(&self, ran: InLane, may_pass: bool) -> Advance {
        let mut line = self.line.lock();
        if line.settled.is_some() || line.gone.is_some() {
            return Advance::Unfinished(ran);
        }
        line.running = None;
        // Acquire: pairs with L2.
        if may_pass && line.first().is_some_and(|key| key.time < self.gate.load(Ordering::Acquire)) {
            line.take().map_or(Advance::Ask, Advance::Next)
        } else {
            Advance::Ask
        }
    }

    pub(super) fn lock(&self) -> Guard<'_, Line> {
        self.line.lock()
    }
}

impl Line {
    /// The key of the first task that waits.
    #[inline]
    pub(super) fn first(&self) -> Option<Stamp> {
        self.entries.get(self.head).map(|entry| entry.key)
    }

    /// Hands out the first task that waits.
    #[inline]
    pub(super) fn take(&mut self) -> Option<InLane> {
        let &LaneEntry { task, key } = self.entries.get(self.head)?;
        self.head += 1;
        if self.head == self.entries.len() {
            self.entries.clear(); // the next ones lie where the cache has them
            self.head = 0;
        }
        // SAFETY: it waited, so its member is in the executor (M2).
        self.running = Some(unsafe { task.as_ref() }.member);
        Some(InLane { task, key })
    }

    /// The task that ran is done with. Returns the group in which it is marked as running, and what
    /// is to be dropped once no lock is held.
    pub(super) fn end(&mut self) -> (Option<u32>, Option<Gone>) {
        self.running = None;
        (self.settled.take(), self.gone.take())
    }

    /// All tasks that wait, which are in the lane no more.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = (MemberId, Stamp)> + '_ {
        let head = std::mem::take(&mut self.head);
        // SAFETY: they waited, so their members are in the executor (M2).
        self.entries.drain(..).skip(head).map(|entry| (unsafe { entry.task.as_ref() }.member, entry.key))
    }

    /// Whether this task runs.
    pub(super) fn runs(&self, id: MemberId) -> bool {
        self.running.is_some_and(|running| running.serial == id.serial)
    }

    /// The task that runs, if it isn't marked in its group.
    pub(super) fn unsettled(&self) -> Option<MemberId> {
        self.running.filter(|_| self.settled.is_none())
    }

    /// The task that runs is marked in this group.
    pub(super) fn settled(&mut self, slot: u32) {
        self.settled = Some(slot);
    }

    /// A task doesn't wait any more.
    pub(super) fn remove(&mut self, id: MemberId) {
        let mut at = 0;
        let head = self.head;
        self.entries.retain(|entry| {
            at += 1;
            // SAFETY: those behind `head` wait, so their members are in the executor (M2).
            at <= head || unsafe { entry.task.as_ref() }.member.serial != id.serial
        });
        if self.head == self.entries.len() {
            self.entries.clear();
            self.head = 0;
        }
    }

    /// M3: the worker drops it when the callback has returned.
    pub(super) fn leave_behind(&mut self, gone: Gone) {
        self.gone = Some(gone);
    }
}
