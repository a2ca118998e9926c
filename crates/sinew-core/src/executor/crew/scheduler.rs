//! An executor's threads and their work: which callback runs next, and on which thread.
//!
//! # Purpose
//!
//! An executor's threads ask for work ([`Worker::next`](super::worker::Worker::next)); publishers
//! and all others that make an entity ready call [`Scheduler::notify`]. Nothing is scanned: an idle
//! entity costs nothing, and a wake-up costs the same with ten idle entities or ten thousand.
//!
//! # Order
//!
//! The [queue](super::super::queue) says which task is first: of the groups that are free and have
//! the highest priority, the task with the oldest key.
//!
//! A timer becomes ready under its due time, and a message that was published before that runs
//! first. So while messages are ready, their stamps show which timers are due. The clock is read
//! only if nothing is ready, or if priorities differ, as a due timer may then overtake older
//! messages.
//!
//! # Locks
//!
//! One mutex ([`SchedulerState`]), under which no user code runs, only this crate's bookkeeping. It
//! is the last lock in the order graph -> publisher -> class -> history/status/timer -> scheduler.
//! Tasks that are removed are dropped after it is released.
//!
//! # Sleep
//!
//! Each worker (a thread that spins) sleeps on a [`Parker`] of its own, so that the scheduler
//! chooses which one wakes.
//!
//! - P1 park: under the mutex, the worker enters `Workers::parked`; then it releases the mutex and
//!   parks. A call in between is kept.
//! - P2 notify: under the mutex, the notifying thread puts the task into the heap. If a worker has
//!   to wake for it, the thread takes that worker out of `parked` and sets its bit in `Bells::due`.
//!   It signals (P3) after it has released all its locks.
//! - P3 signal: the thread empties `due`, and unparks the workers that were in it, including those
//!   that other threads have added. Every thread that sets a bit signals afterwards, so no bit is
//!   left.
//!
//! So a parked worker gets one signal however much arrives, and none is lost: it either saw the
//! task in the heap before P1, or it is called. `wake_policy` decides whether a worker is called at
//! all; in doubt it is.

use super::bells::{Bells, CALLERS, DESCRIPTOR, MOST_THREADS, TIMERS};
use super::current;
use super::faults::Faults;
use super::header::TaskHeader;
use super::lane::Lane;
use super::remote_events::RemoteEvents;
use super::state::{Member, SchedulerState};
pub(crate) use super::state::{RunBy, RunningTask};
use super::wake_policy::Workers;
pub(crate) use crate::executor::queue::heap::index;
use crate::executor::queue::ready_queue::MemberId;
use crate::sys::clock::{Stamp, Time, Wake};
use crate::sys::parker::Parker;
use crate::sys::sync::{Arc, AtomicU64, Condvar, Guard, Mutex, Ordering, next_serial, no_lock_is_held};
use std::mem;
use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;

/// A task, and the executor that runs it: where an entity announces that it has something to do.
#[derive(Clone)]
pub(crate) struct TaskRef {
    pub(crate) scheduler: Arc<Scheduler>,
    pub(super) header: Arc<TaskHeader>,
}

impl TaskRef {
    /// Announces that the task has had work since `key`.
    #[inline]
    pub(crate) fn notify(&self, key: Stamp) -> ToSignal {
        self.signals(self.scheduler.notify(&self.header, key))
    }

    /// Returns a signal for its executor, if that has called threads.
    #[inline]
    pub(super) fn signals(&self, has_called: bool) -> ToSignal {
        ToSignal(has_called.then(|| self.scheduler.clone()))
    }

    #[cfg(all(test, loom))]
    pub(crate) fn serial(&self) -> u64 {
        self.header.serial()
    }

    /// For tests: as if it had been measured often enough.
    #[cfg(test)]
    pub(crate) fn is_known_to_be_short(&self) {
        self.header.sampling.set(true);
    }

    /// Returns the number of its group; 0 for a reentrant one.
    pub(crate) fn group(&self) -> u64 {
        self.header.group
    }
}

/// An executor's ready queue and workers. See the module's documentation.
pub(crate) struct Scheduler {
    pub(crate) id: u64,
    state: Mutex<SchedulerState>,
    pub(super) lane: Box<Lane>,
    pub(super) bells: Bells,
    /// Signalled when a callback has finished and a thread waits for that.
    pub(super) finished: Condvar,
    /// Notices of other processes.
    pub(crate) remote_events: RemoteEvents,
    pub(crate) faults: Faults,
}

/// The scheduler's state, locked. Releasing it sets the lane's gate ([L2](super::lane)).
pub(super) struct Locked<'a> {
    guard: Guard<'a, SchedulerState>,
    scheduler: &'a Scheduler,
}

impl<'a> Locked<'a> {
    pub(super) fn scheduler(&self) -> &'a Scheduler {
        self.scheduler
    }

    #[inline]
    fn set_gate(&self) {
        if self.has_open_lane() {
            set_gate(&self.scheduler.lane, self);
        }
    }

    /// The lane's tasks go into the queue, and the one that runs is marked as running.
    #[inline]
    pub(super) fn settle(&mut self) {
        if self.has_open_lane() {
            let lane = &self.scheduler.lane;
            lane.set_gate(self.gate()); // before: what enters afterwards may run past the queue
            let mut line = lane.lock();
            if !line.is_settled() {
                self.take_in(&mut line);
            }
        }
    }

    /// Sleeps on a condition variable, without the lock meanwhile.
    pub(super) fn sleep(&mut self, on: &Condvar) {
        self.set_gate();
        on.wait_at_most(&mut self.guard, None);
    }
}

/// Out of the way: there are many that let go of the lock.
#[inline(never)]
fn set_gate(lane: &Lane, state: &SchedulerState) {
    lane.set_gate(state.gate());
}

impl Deref for Locked<'_> {
    type Target = SchedulerState;

    #[inline]
    fn deref(&self) -> &SchedulerState {
        &self.guard
    }
}

impl DerefMut for Locked<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut SchedulerState {
        &mut self.guard
    }
}

impl Drop for Locked<'_> {
    #[inline]
    fn drop(&mut self) {
        self.set_gate();
    }
}

/// For learning what a wake-up costs.
#[cold]
fn note_call(workers: &mut Workers) {
    workers.note_call(Time::steady().nanoseconds());
}

/// The code that every callback goes through.
pub(super) fn code(name: &mut dyn FnMut(usize, usize)) {
    name(SchedulerState::put_back as *const () as usize, 5);
    name(SchedulerState::hand_out as *const () as usize, 5);
    name(Scheduler::notify as *const () as usize, 8);
    name(Member::learn as *const () as usize, 12);
}

/// An executor that has called threads, if any: the caller [signals](Self::signal) it once it holds
/// no lock. That is a system call, and the threads that it wakes want the caller's locks.
#[must_use = "the threads that were called sleep until the executor is signalled"]
#[derive(Default)]
pub(crate) struct ToSignal(Option<Arc<Scheduler>>);

impl ToSignal {
    /// No executor has called a thread.
    pub(crate) const NONE: Self = Self(None);

    #[inline]
    pub(crate) fn is_none(&self) -> bool {
        self.0.is_none()
    }

    /// Signals the executor, if there is one. The caller holds no lock.
    #[inline]
    pub(crate) fn signal(self) {
        if let Some(scheduler) = self.0 {
            no_lock_is_held();
            scheduler.signal();
        }
    }

    /// This, or the other one if this is none: of announcements to one executor.
    pub(crate) fn or(self, other: Self) -> Self {
        if self.is_none() { other } else { self }
    }

    /// Whether both are the same executor: one signal is enough for everything that was announced
    /// to it.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.0.as_ref().map(Arc::as_ptr) == other.0.as_ref().map(Arc::as_ptr)
    }
}

impl Scheduler {
    /// For an executor with one thread.
    #[cfg(all(test, loom))]
    pub(crate) fn new() -> Arc<Self> {
        Self::with(1)
    }

    pub(crate) fn with(threads: usize) -> Arc<Self> {
        let threads = threads.clamp(1, MOST_THREADS);
        Arc::new(Self {
            id: next_serial(),
            state: Mutex::new(SchedulerState::new(threads)),
            lane: Box::new(Lane::new(threads > 1)),
            bells: Bells {
                of_workers: (0..threads).map(|_| Parker::new()).collect(),
                of_timers: Parker::new(),
                descriptor: OnceLock::new(),
                due: AtomicU64::new(0),
            },
            finished: Condvar::new(),
            remote_events: RemoteEvents::default(),
            faults: Faults::default(),
        })
    }

    /// Returns the maximum number of threads that spin it.
    pub(crate) fn threads(&self) -> usize {
        self.bells.of_workers.len()
    }

    #[inline]
    pub(super) fn lock(&self) -> Locked<'_> {
        Locked { guard: self.state.lock(), scheduler: self }
    }

    /// Whether one worker is awake, and another one looks after it.
    #[cfg(all(test, loom))]
    pub(crate) fn leaves_one_awake(&self) -> bool {
        let state = self.lock();
        state.workers.leave_one_awake(state.spins.present)
    }

    /// For tests in which virtual time never jumps: tasks may run past the queue all the same.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn trust_virtual_time(&self) {
        self.lock().queue.is_virtual = false;
    }

    #[inline]
    pub(super) fn notify(&self, task: &TaskHeader, key: Stamp) -> bool {
        if current::fills_lane_of(self.id) && self.lane.push(task, key) {
            return false; // this thread comes to it
        }
        self.enqueue(task.member, key)
    }

    #[inline(never)]
    fn enqueue(&self, id: MemberId, key: Stamp) -> bool {
        let here = current::worker_of(self.id);
        if here.is_some() {
            current::note_published(key.time);
        }
        let mut state = self.lock();
        if self.lane.is_shared() && self.lane.is_open() && current::fills_lane_of(self.id) {
            state.settle(); // W1: its tasks are a part of the load
        }
        let state = &mut *state;
        let load = state.queue.groups().load();
        if !state.queue.make_ready(id, key) {
            // A thread that waits for this entity may run it before those that are ready already.
            return !state.waiting_callers.is_empty() && state.call_waiting_caller(&self.bells);
        }
        let called = state.workers.for_new(state.queue.groups().len(), load, here, key.time); // P2
        if let Some(worker) = called {
            self.bells.call(worker);
            if self.threads() > 1 {
                note_call(&mut state.workers);
            }
            return true;
        }
        if mem::take(&mut state.descriptor_waits) {
            self.bells.call_descriptor();
            return true;
        }
        !state.waiting_callers.is_empty() && state.call_waiting_caller(&self.bells)
    }

    /// Signals the threads that are due.
    pub(super) fn signal(&self) {
        // P3. Relaxed: what the woken threads need to see they see under the mutex.
        let mut due = self.bells.due.swap(0, Ordering::Relaxed);
        if due & CALLERS != 0 {
            due &= !CALLERS;
            loop {
                let Some(caller) = self.lock().rung.pop() else { break };
                caller.parker.unpark(); // the lock is released
            }
        }
        if due & TIMERS != 0 {
            due &= !TIMERS;
            self.bells.of_timers.unpark();
        }
        if due & DESCRIPTOR != 0 {
            due &= !DESCRIPTOR;
            self.bells.make_descriptor_readable();
        }
        while due != 0 {
            self.bells.of_workers[due.trailing_zeros() as usize].unpark();
            due &= due - 1;
        }
    }

    /// Does something to the state, and then signals the threads that it says to call.
    pub(super) fn calling(&self, act: impl FnOnce(&mut SchedulerState) -> Option<u32>) {
        let mut state = self.lock();
        let called = act(&mut state);
        if let Some(worker) = called {
            self.bells.call(worker);
        }
        drop(state);
        if called.is_some() {
            self.signal();
        }
    }
}

impl Wake for Scheduler {
    fn wake(&self) {
        self.bells.of_timers.unpark();
        self.bells.make_descriptor_readable();
        self.calling(|state| state.workers.call());
    }
}
