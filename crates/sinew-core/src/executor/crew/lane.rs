//! The lane: tasks made ready by a worker's callbacks run next on the same thread, past the queue.
//!
//! # Purpose
//!
//! A message that is published in a callback is the newest one, and often the only one. Its key and
//! its task are known when it is published; finding them again through the queue takes half of the
//! instructions of a hop. So the tasks that a callback makes ready go to the end of the worker's
//! *lane*, a short list in the order of their keys, and the worker runs the head as soon as the
//! callback has returned, without the scheduler's lock.
//!
//! # Order
//!
//! Callbacks begin in the order of their keys, in the lane as in the queue:
//!
//! - L1 [`push`](Lane::push) takes a task only if its key isn't older than that of the last in the
//!   lane: the lane is sorted.
//! - L2 The *gate* is a time, set whenever a thread releases the scheduler's lock
//!   ([`Locked`](super::scheduler::Locked)): to the key of the first task in the queue or the due
//!   time of the first timer, whichever is earlier; or to [`SHUT`] if the lane's tasks must not run
//!   past the queue at all (the spin is to end, priorities differ, clocks are virtual, ..).
//! - L3 [`advance`](Lane::advance) hands out the head only if it is older than the gate. Else the
//!   worker asks [`Worker::next`](super::worker::Worker::next), which knows both: what is
//!   older in the queue, or falls due before, runs first, and the lane stays.
//!
//! In an executor that [runs next](DispatchOrder::RunNext) what a callback made ready, the lane goes
//! before the queue instead:
//!
//! - L4 The lane keeps the order in which its tasks became ready, also of one that ran and has more
//!   work; its gate is open, or [`SHUT`]. After [64](DispatchOrder::IN_A_ROW) tasks in a row, the
//!   worker settles the lane, so the oldest task of all is next; also if the lane is empty, it
//!   counts anew.
//!
//! # Exclusion
//!
//! An executor has one lane, for the only worker that is awake; while several are awake, the gate
//! is [`SHUT`]. The worker keeps its place among the executor's callbacks while it runs tasks of
//! the lane. Any other thread that is about to run a callback *settles* the lane first: it moves
//! the lane's tasks into the queue, and marks the group of the running task as running, as if the
//! task had come from the queue. Such a thread is
//!
//! - X1 another worker, as soon as it is awake,
//! - X2 a caller, which may be the worker itself in a callback, or a thread that waits until a task
//!   has left.
//!
//! These threads hold the scheduler's lock. After that, the worker gets no further task out of its
//! lane without that lock: its running task is marked ([`Advance::Unfinished`]), or it runs a task
//! of the queue, after which it asks.
//!
//! # Waiting
//!
//! The lane's tasks wait for this worker, although another one could be woken for them.
//! [`wake_policy`](super::wake_policy) decides for tasks in the queue whether a wake-up pays off.
//! So in an executor with several threads, a task enters the lane only if a wake-up is out of the
//! question:
//!
//! - W1 its callback, those before it and the rest of the running one are known to be short, all
//!   together ([`SOON`]). Otherwise all of these go into the queue, as they also do when the worker
//!   takes a task of the queue, which may be long;
//! - W2 another worker is the monitor: it wakes every few milliseconds, settles the lane (X1), and
//!   takes tasks that were left waiting.
//!
//! # Memory
//!
//! An entry is a pointer to a [`TaskHeader`], and a task runs without a reference of its own.
//! Header and task live as long as the task's [`Member`](super::state::Member). The thread that
//! removes the member from the executor ([`TaskRef::leave`](super::scheduler::TaskRef::leave))
//! holds the scheduler's lock and then, under the lane's,
//!
//! - M1 marks the task as gone, so that it enters no lane any more,
//! - M2 takes its entry out of the lane,
//! - M3 leaves the member to the worker if that runs the task: the worker drops it when the
//!   callback has returned.

use super::current;
use super::header::TaskHeader;
use super::wake_policy::WAKE_COST_LEAST as SOON;
use crate::executor::dispatch_order::DispatchOrder;
use crate::executor::group_token::GroupToken;
use crate::executor::prefetch;
use crate::executor::queue::ready_queue::MemberId;
use crate::executor::task::Task;
use crate::executor::working_set;
use crate::sys::clock::Stamp;
use crate::sys::sync::{AtomicI64, Guard, Mutex, Ordering};
use std::ptr::NonNull;
use std::sync::Weak;

/// The gate at which no task runs past the queue.
pub(super) const SHUT: i64 = i64::MIN;

/// Maximum number of tasks in a lane; further ones go into the queue.
const LENGTH: usize = 64;

/// See the module's documentation.
#[repr(align(64))]
pub(super) struct Lane {
    gate: AtomicI64,
    /// Whether its executor has several threads.
    is_shared: bool,
    line: Mutex<Line>,
}

/// Keeps a task that has left while it runs.
type Gone = Box<dyn Send>;

/// The data under the lane's lock.
pub(super) struct Line {
    /// The group in which the running task is marked as running, if it is.
    settled: Option<u32>,
    /// Index of the first waiting entry; entries before it have run.
    head: usize,
    entries: Vec<LaneEntry>,
    order: DispatchOrder,
    /// Number of its tasks that have run next, one after the other; 0 if its order is by time.
    in_a_row: u32,
    /// Expected run time of the waiting tasks, in nanoseconds.
    load: i64,
    /// The task that runs.
    running: Option<MemberId>,
    /// M3
    gone: Option<Gone>,
}

struct LaneEntry {
    task: NonNull<TaskHeader>,
    key: Stamp,
    /// Its part of the load.
    run: i64,
}

// SAFETY: the pointer stands for a shared reference to a header, which is `Sync`; the module's
// documentation (Memory) says how long it lives.
unsafe impl Send for LaneEntry {}

/// A task of the lane that runs.
pub(crate) struct InLane {
    task: NonNull<TaskHeader>,
    pub(crate) key: Stamp,
}

/// The next step of a worker after a task of its lane has run.
pub(crate) enum Advance {
    /// It runs this task.
    Next(InLane),
    /// It asks the scheduler.
    Ask,
    /// The task that ran needs more work:
    /// [`finish_in_lane`](super::worker::Worker::finish_in_lane).
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

    /// Returns the entity, while its task runs.
    #[inline]
    pub(super) fn entity(&self) -> &Task {
        // SAFETY: the same member keeps the entity.
        unsafe { &*Weak::as_ptr(&self.task().entity) }
    }

    /// Returns the token for the turn of its group.
    #[inline]
    pub(super) fn token(&self) -> GroupToken {
        // SAFETY: a lane's tasks are of exclusive groups (`push`). When this thread got the task,
        // it was the only awake one of the executor, and between two callbacks: so the turns of all
        // groups were over. A thread that has begun a turn since has settled the lane first (X1,
        // X2), and so marked this group as running until this turn is over. The group's last turn
        // happens before: it was on this thread, or on another one, which parked or gave its place
        // back under the scheduler's lock, under which this thread found the gate open, or which
        // opened the gate (L2, L3).
        unsafe { GroupToken::of(self.task().group) }
    }
}

impl Lane {
    pub(super) fn new(is_shared: bool) -> Self {
        let line = Line {
            settled: None,
            head: 0,
            entries: Vec::with_capacity(LENGTH),
            order: DispatchOrder::ByTime,
            in_a_row: 0,
            load: 0,
            running: None,
            gone: None,
        };
        Self { gate: AtomicI64::new(SHUT), is_shared, line: Mutex::new(line) }
    }

    /// Whether other workers could run its tasks, so that leaving them to this one is a decision.
    #[inline]
    pub(super) fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Returns the time at which the worker's last callback last published a message; 0 for never,
    /// or if no other worker could have run it.
    #[inline]
    pub(super) fn published(&self) -> i64 {
        if self.is_shared { current::published() } else { 0 }
    }

    /// Whether tasks may run past the queue. Exact under the scheduler's lock.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.gate.load(Ordering::Relaxed) != SHUT // written under that lock
    }

    /// L2: sets the gate. The caller holds the scheduler's lock.
    #[inline]
    pub(super) fn set_gate(&self, to: i64) {
        // Relaxed: written under the scheduler's lock only.
        if self.gate.load(Ordering::Relaxed) != to {
            // Release: pairs with L3. A thread that sees a later action of another thread also sees
            // this gate.
            self.gate.store(to, Ordering::Release);
        }
    }

    /// L1: adds a task for the calling worker to run next; called in a callback while its lane is
    /// open. Returns `false` if the task must go into the queue.
    #[inline]
    pub(super) fn push(&self, task: &TaskHeader, key: Stamp) -> bool {
        // A hint: the worker checks the gate again before the task runs. A task that comes in while
        // the gate is being shut waits until this worker asks.
        if task.is_reentrant() || !self.is_open() {
            return false;
        }
        let is_in = self.line.lock().append(task, key, self.is_shared);
        if is_in && self.is_shared {
            current::note_published(key.time);
        }
        is_in
    }

    /// L3: returns the next step after a task that ran and has no more work.
    #[inline]
    pub(super) fn advance(&self, ran: InLane, may_pass: bool) -> Advance {
        let mut line = self.line.lock();
        if line.settled.is_some() || line.gone.is_some() {
            return Advance::Unfinished(ran);
        }
        line.running = None;
        // Acquire: pairs with L2.
        if may_pass
            && line.has_turn()
            && line.first().is_some_and(|key| key.time < self.gate.load(Ordering::Acquire))
        {
            line.take().map_or(Advance::Ask, Advance::Next)
        } else {
            Advance::Ask
        }
    }

    pub(super) fn lock(&self) -> Guard<'_, Line> {
        self.line.lock()
    }
}

/// Records that the running callback has made this task ready.
#[cold]
#[inline(never)]
fn record(header: &TaskHeader, entity: &Task) {
    working_set::add(Some((std::ptr::from_ref(header).addr(), size_of::<TaskHeader>())));
    entity.base.hot().iter().for_each(|part| working_set::add(part.place()));
}

impl Line {
    /// Sets the order of its tasks against those of the queue.
    pub(super) fn set_order(&mut self, order: DispatchOrder) {
        self.order = order;
    }

    /// L1: adds a task, unless it must go into the queue.
    #[inline]
    fn append(&mut self, task: &TaskHeader, key: Stamp, is_shared: bool) -> bool {
        let is_sorted = self.entries.last().is_none_or(|last| last.key <= key);
        let has_place = is_sorted || self.order == DispatchOrder::RunNext;
        if !has_place || self.entries.len() == LENGTH || task.is_gone() {
            return false;
        }
        let mut run = 0;
        if is_shared {
            if !self.is_done_soon(task) {
                return false;
            }
            run = task.expected.run();
        }
        if prefetch::is_beyond_notes() {
            if working_set::is_recording() {
                // SAFETY: the task isn't gone, so its member is in the executor until the lane's
                // lock is released (M1). The member keeps the entity, or the thread that runs the
                // task does, and drops it only once the member has left.
                record(task, unsafe { &*Weak::as_ptr(&task.entity) });
            }
            if self.entries.is_empty() {
                task.working_set.prefetch(); // it runs next
            }
        }
        self.load += run;
        self.entries.push(LaneEntry { task: NonNull::from(task), key, run });
        true
    }

    /// L4: adds the task that ran, which has more work, unless it must go into the queue.
    pub(super) fn goes_on(&mut self, task: &TaskHeader, key: Stamp, is_shared: bool) -> bool {
        self.order == DispatchOrder::RunNext && self.append(task, key, is_shared)
    }

    /// L4: whether its tasks may run before older ones of the queue.
    #[inline]
    fn has_turn(&self) -> bool {
        self.in_a_row < DispatchOrder::IN_A_ROW
    }

    /// Returns the key of the first waiting task, and whether it has its turn. If not, another task
    /// comes first, and the row begins anew.
    #[inline]
    pub(super) fn look(&mut self) -> (Option<Stamp>, bool) {
        let (first, has_turn) = (self.first(), self.has_turn());
        if first.is_none() || !has_turn {
            self.in_a_row = 0;
        }
        (first, has_turn)
    }

    /// W1: whether a task that becomes ready now would run here and end soon.
    fn is_done_soon(&self, task: &TaskHeader) -> bool {
        task.sampling.is_surely_short() && current::tail().saturating_add(self.load) < SOON
    }

    /// Returns the key of the first waiting task.
    #[inline]
    pub(super) fn first(&self) -> Option<Stamp> {
        self.entries.get(self.head).map(|entry| entry.key)
    }

    /// Hands out the first waiting task.
    #[inline]
    pub(super) fn take(&mut self) -> Option<InLane> {
        let &LaneEntry { task, key, run } = self.entries.get(self.head)?;
        self.head += 1;
        self.in_a_row += u32::from(self.order == DispatchOrder::RunNext);
        self.load -= run;
        if let Some(next) = self.entries.get(self.head)
            && prefetch::is_beyond_notes()
        {
            // SAFETY: it waits, so its member is in the executor (M2).
            unsafe { next.task.as_ref() }.working_set.prefetch();
        }
        self.tidy();
        // SAFETY: it waited, so its member is in the executor (M2).
        self.running = Some(unsafe { task.as_ref() }.member);
        Some(InLane { task, key })
    }

    /// Ends the run of a task. Returns the group in which it is marked as running, and a task that
    /// left, to be dropped once no lock is held.
    pub(super) fn end(&mut self) -> (Option<u32>, Option<Gone>) {
        self.running = None;
        (self.settled.take(), self.gone.take())
    }

    /// Removes and returns all waiting tasks.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = (MemberId, Stamp)> + '_ {
        let head = std::mem::take(&mut self.head);
        self.load = 0;
        // SAFETY: they waited, so their members are in the executor (M2).
        self.entries.drain(..).skip(head).map(|entry| (unsafe { entry.task.as_ref() }.member, entry.key))
    }

    /// Whether this task runs.
    pub(super) fn runs(&self, id: MemberId) -> bool {
        self.running.is_some_and(|running| running.serial == id.serial)
    }

    /// Returns the running task, if it isn't marked in its group.
    pub(super) fn unsettled(&self) -> Option<MemberId> {
        self.running.filter(|_| self.settled.is_none())
    }

    /// Whether no task waits, and the one that runs, if any, is marked in its group.
    #[inline]
    pub(super) fn is_settled(&self) -> bool {
        self.entries.is_empty() && (self.running.is_none() || self.settled.is_some())
    }

    /// Records that the running task is marked in this group.
    pub(super) fn settled(&mut self, slot: u32) {
        self.settled = Some(slot);
    }

    /// Removes a waiting task.
    pub(super) fn remove(&mut self, id: MemberId) {
        let (mut at, mut removed) = (0, 0);
        let head = self.head;
        self.entries.retain(|entry| {
            at += 1;
            // SAFETY: those behind `head` wait, so their members are in the executor (M2).
            let stays = at <= head || unsafe { entry.task.as_ref() }.member.serial != id.serial;
            removed += if stays { 0 } else { entry.run };
            stays
        });
        self.load -= removed;
        self.tidy();
    }

    /// If no task waits, the next entries reuse the memory that is in the cache.
    #[inline]
    fn tidy(&mut self) {
        if self.head == self.entries.len() {
            self.entries.clear();
            self.head = 0;
        }
    }

    /// M3: leaves it to the worker, which drops it when the callback has returned.
    pub(super) fn leave_behind(&mut self, gone: Gone) {
        self.gone = Some(gone);
    }
}
