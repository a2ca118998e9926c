//! The ready queue: which callback runs next.
//!
//! # Purpose
//!
//! An executor's threads ask [`Scheduler::next`] for work; publishers and all others that make an
//! entity ready call [`Scheduler::notify`]. Nothing is scanned: an idle entity costs nothing, and a
//! wake-up costs the same with ten idle entities or ten thousand.
//!
//! # Order
//!
//! - An *entity* (subscription, timer, guard condition, status event) is in its group's heap
//!   exactly while it has something to do, once, under a *sticky* key: the stamp of the oldest
//!   thing it had to do when it became ready, then after each run the stamp of the next. Later
//!   arrivals, and a keep_last history that drops its oldest, don't change it.
//! - A *group* is in the executor's heap while it has ready entities and isn't running, under
//!   (priority, oldest key).
//! - A *timer* waits in the heap of its clock and becomes ready under its due time. A message that
//!   was published before the due time goes first; so while there are messages to run, their stamps
//!   tell which timers are due, and the clock is read only when nothing is ready (or priorities
//!   differ, for then a due timer may overtake older messages).
//!
//! # Locks
//!
//! One mutex ([`SchedulerState`]); nothing but this crate's bookkeeping happens under it, never
//! user code. It is the last lock in the order graph -> publisher -> class -> history/status/timer
//! -> scheduler. What ends up dropped is carried out of it.
//!
//! # Sleep
//!
//! Each worker (a thread that spins) sleeps on a [`Parker`] of its own, so that it can be chosen
//! which one wakes.
//!
//! - P1 park: under the mutex, the worker enters `Workers::parked`, then lets go of the mutex and
//!   parks. A call that comes between is kept.
//! - P2 notify: under the mutex, the entity enters the heap; if a worker is to wake for it, it is
//!   taken out of `parked` and its bit is set in `Bells::due`. The caller signals (P3) after it let
//!   go of all its locks.
//! - P3 signal: `due` is emptied, and the workers in it are unparked. The thread that empties it
//!   also does so for others that have set bits since; every setter signals after having set its
//!   bit, so none is left.
//!
//! A parked worker therefore gets one signal however much arrives, and none is lost: it either saw
//! the heap filled before P1 or is called. Whether a worker is called at all is for
//! `wake_policy` to say; when in doubt, yes.

use super::bells::{Bells, CALLERS, DESCRIPTOR, MOST_THREADS, TIMERS};
use super::current;
use super::descriptor::Descriptor;
use super::error::SpinError;
use super::header::TaskHeader;
use super::histogram::RunTimes;
use super::lane::{Advance, InLane, Lane, SHUT};
use super::options::FaultPolicy;
use super::prefetch;
pub(crate) use super::queue::heap::index;
use super::queue::ready_queue::MemberId;
use super::remote_events::{Presence, RemoteEvents};
use super::state::{Member, SchedulerState, Sleep, WaitingCaller, wait_of};
pub(crate) use super::state::{RunBy, RunningTask};
pub(crate) use super::task::{CallbackResult, Task, TaskOutcome};
use super::wake_policy::WakeReason;
pub(crate) use super::worker::Worker;
use crate::sys::clock::{Clock, ClockKind, Stamp, Time, Wake};
use crate::sys::parker::Parker;
use crate::sys::sync::{Arc, AtomicU64, Condvar, Guard, Mutex, Ordering, next_serial};
use sinew_shm::{EventReceiver, PackedCallback, Participant, Worker as Teller};
use std::io;
use std::mem;
use std::ops::{Deref, DerefMut};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::OnceLock;

/// A task, and the executor that runs it: where an entity announces that it has something to do.
#[derive(Clone)]
pub(crate) struct TaskRef {
    pub(crate) scheduler: Arc<Scheduler>,
    pub(super) header: Arc<TaskHeader>,
}

impl TaskRef {
    /// The task has something to do since `key`. True if the caller must `signal` the scheduler
    /// once it holds no lock.
    #[must_use]
    #[inline]
    pub(crate) fn notify(&self, key: Stamp) -> bool {
        self.scheduler.notify(&self.header, key)
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

    /// The number of its group; 0 if that is reentrant.
    pub(crate) fn group(&self) -> u64 {
        self.header.group
    }

    /// The task has nothing to do any more. The caller holds the lock under which it announces.
    pub(crate) fn clear_ready(&self) {
        self.scheduler.clear_ready(self.header.member);
    }
}

/// An executor's ready queue and workers. See the module's documentation.
pub(crate) struct Scheduler {
    pub(crate) id: u64,
    state: Mutex<SchedulerState>,
    pub(super) lane: Box<Lane>,
    pub(super) bells: Bells,
    /// Signalled when a callback has finished and a thread waits for that.
    finished: Condvar,
    /// For an event loop of another library, if there is one.
    descriptor: OnceLock<Descriptor>,
    /// What is heard from other processes.
    pub(crate) remote_events: RemoteEvents,
}

/// The scheduler's state, locked. When it is let go, the lane's gate is set ([L2](super::lane)).
pub(super) struct Locked<'a> {
    guard: Guard<'a, SchedulerState>,
    lane: &'a Lane,
}

impl Locked<'_> {
    #[inline]
    fn set_gate(&self) {
        if self.has_open_lane() {
            set_gate(self.lane, self);
        }
    }

    /// Sleeps on a condition variable, without the lock meanwhile.
    fn sleep(&mut self, on: &Condvar) {
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

/// What a thread that asks for work gets.
pub(crate) enum Next {
    Run,
    /// A task of its lane: [`Worker::task`].
    Lane,
    /// Nothing is ready (before the limit, or within the time allowed).
    Idle,
    /// The executor was poked.
    Poked,
    /// The executor was stopped, or its context was shut down.
    Stopped,
}

/// How long a thread that asks for work is ready to wait.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Blocking {
    /// Not at all; and only for what was ready at this stamp.
    Until(Stamp),
    /// Not at all.
    None,
    /// Until this time of the machine's steady clock, also in virtual time.
    Deadline(i64),
    Forever,
}

/// The code that every callback goes through.
pub(super) fn code(name: &mut dyn FnMut(usize, usize)) {
    name(Scheduler::next as *const () as usize, 26);
    name(SchedulerState::put_back as *const () as usize, 5);
    name(SchedulerState::hand_out as *const () as usize, 5);
    name(Scheduler::notify as *const () as usize, 8);
    name(Scheduler::take_from_lane as *const () as usize, 7);
    name(Scheduler::finish_in_lane as *const () as usize, 14);
    name(Member::learn as *const () as usize, 12);
}

/// Signals an executor, for a caller that was told to and holds no lock any more.
#[inline]
pub(crate) fn signal(whom: Option<Arc<Scheduler>>) {
    if let Some(scheduler) = whom {
        scheduler.signal();
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
                due: AtomicU64::new(0),
            },
            finished: Condvar::new(),
            descriptor: OnceLock::new(),
            remote_events: RemoteEvents::default(),
        })
    }

    /// How many threads spin it at most.
    pub(crate) fn threads(&self) -> usize {
        self.bells.of_workers.len()
    }

    #[inline]
    pub(super) fn lock(&self) -> Locked<'_> {
        Locked { guard: self.state.lock(), lane: &self.lane }
    }

    /// Whether one worker is awake, and another one looks after it.
    #[cfg(all(test, loom))]
    pub(crate) fn leaves_one_awake(&self) -> bool {
        let state = self.lock();
        state.workers.leave_one_awake(state.present)
    }

    /// For tests in which virtual time never jumps: tasks may run past the queue all the same.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn trust_virtual_time(&self) {
        self.lock().queue.set_virtual(false);
    }

    // ---- membership ----

    /// Takes the clocks that all groups here follow; false if they follow others that don't go with
    /// these.
    pub(crate) fn accept_clock(self: &Arc<Self>, clock: &Clock) -> bool {
        let mut state = self.lock();
        match &state.clock {
            Some(ours) => ours.goes_with(clock),
            None => {
                state.clock = Some(clock.clone());
                state.queue.set_virtual(clock.is_virtual());
                drop(state);
                if let Some(source) = clock.virtual_clock() {
                    let this: Arc<dyn Wake> = self.clone();
                    source.watch(Arc::downgrade(&this));
                }
                true
            }
        }
    }

    /// Makes room for a group; `group` is the number that its token opens. `None` if the executor
    /// is gone.
    pub(crate) fn add_group(&self, group: u64, priority: i32) -> Option<u32> {
        let mut state = self.lock();
        if state.closed {
            return None;
        }
        Some(state.queue.add_group(group, priority, self.threads()))
    }

    /// Forgets a group that all members have left; if its last callback is still running, after
    /// that.
    pub(crate) fn remove_group(&self, slot: u32) {
        self.lock().queue.remove_group(slot);
    }

    /// How many groups have a place here.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn slots(&self) -> usize {
        self.lock().queue.groups()
    }

    /// The executor goes: from now on nothing is taken in.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
    }

    pub(crate) fn set_priority(&self, slot: u32, priority: i32) {
        self.lock().queue.set_priority(slot, priority);
    }

    /// Has the threads tell tools what they run of this participant; false if they do so for
    /// another one, or there is no room.
    pub(super) fn tell(&self, participant: &Arc<Participant>) -> bool {
        let tells = |state: &SchedulerState| {
            state.tellers.first().map(|teller| Arc::ptr_eq(teller.participant(), participant))
        };
        let gone = {
            let mut state = self.lock();
            let has_left = |teller: &Teller| teller.participant().check().is_err();
            if state.tellers.first().is_some_and(has_left) {
                mem::take(&mut state.tellers) // the executor outlives that context: it has its first one anew
            } else if let Some(tells) = tells(&state) {
                return tells;
            } else {
                Arc::default()
            }
        };
        drop(gone); // outside the lock: it may be the last to hold that participant
        // One for each worker. Made without the lock: another thread may have been faster.
        let threads = 0..index(self.threads());
        let made: Result<Arc<[_]>, _> =
            threads.map(|worker| Teller::new(participant, self.id, worker)).collect();
        let Ok(mut made) = made else { return false };
        let mut state = self.lock();
        if state.tellers.is_empty() {
            std::mem::swap(&mut state.tellers, &mut made);
        }
        let tells = tells(&state);
        drop(state);
        drop(made);
        tells == Some(true)
    }

    /// Gives an entity its place; the caller then attaches it. `task`: what tools are told when it
    /// runs.
    pub(crate) fn enter(
        self: &Arc<Self>,
        slot: u32,
        (serial, task): (u64, PackedCallback),
        entity: Arc<dyn Task>,
    ) -> TaskRef {
        let mut state = self.lock();
        let header = state.queue.enter(slot, serial, |id, group| {
            let header = Arc::new(TaskHeader::new(id, group, &entity, task));
            (Member::new(header.clone(), entity), header)
        });
        TaskRef { scheduler: self.clone(), header }
    }

    /// Takes an entity out. When this returns, none of its callbacks starts. With `wait`, none runs
    /// either, unless this very thread is in it.
    pub(crate) fn leave(&self, task: &TaskRef, wait: bool) {
        let id = task.header.member;
        let mut state = self.lock();
        let gone = self.take_member(&mut state, id);
        if wait && !current::runs(id.serial) {
            state.leaving += 1;
            while state.queue.runs(id.serial) {
                state.sleep(&self.finished);
            }
            state.leaving -= 1;
        }
        drop(state);
        drop(gone);
    }

    /// Takes an entity out of the queue and the lane. Returns what is to be dropped once no lock is
    /// held.
    fn take_member(&self, state: &mut SchedulerState, id: MemberId) -> Option<Member> {
        let mut line = self.lane.lock();
        if line.runs(id) {
            state.settle(&mut line);
        }
        let gone = state.queue.leave(id)?;
        gone.task.is_gone.store(true, Ordering::Relaxed); // M1: read under the lane's lock
        line.remove(id); // M2
        if line.runs(id) {
            line.leave_behind(Box::new(gone)); // M3
            return None;
        }
        Some(gone)
    }

    /// An entity has nothing to do any more.
    pub(super) fn clear_ready(&self, id: MemberId) {
        let mut state = self.lock();
        state.queue.unready(id);
        self.lane.lock().remove(id);
    }

    /// The task of a member, if it is there still.
    #[cold]
    pub(super) fn find(&self, id: MemberId) -> Option<Arc<TaskHeader>> {
        let mut state = self.lock();
        state.queue.get_mut(id).map(|member| member.task.clone())
    }

    // ---- becoming ready ----

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
            self.settle(&mut state); // W1: what waits there is a part of the load
        }
        let state = &mut *state;
        let load = state.queue.load();
        if !state.queue.make_ready(id, key) {
            // A thread that waits for this entity may run it before those that are ready already.
            return !state.waiting_callers.is_empty() && state.call_waiting_caller(&self.bells);
        }
        let called = state.workers.for_new(state.queue.len(), load, here, key.time); // P2
        if let Some(worker) = called {
            self.bells.call(worker);
            self.note_call(state);
            return true;
        }
        if mem::take(&mut state.descriptor_waits) {
            self.bells.call_descriptor();
            return true;
        }
        !state.waiting_callers.is_empty() && state.call_waiting_caller(&self.bells)
    }

    /// For learning what a wake-up costs.
    #[cold]
    fn note_call(&self, state: &mut SchedulerState) {
        if self.threads() > 1 {
            state.workers.note_call(Time::steady().nanoseconds());
        }
    }

    /// Signals the threads that the caller was told to.
    pub(crate) fn signal(&self) {
        // P3. Relaxed: what the woken threads need to see they see under the mutex.
        let mut due = self.bells.due.swap(0, Ordering::Relaxed);
        if due & CALLERS != 0 {
            due &= !CALLERS;
            while let Some(caller) = self.next_rung() {
                caller.parker.unpark();
            }
        }
        if due & TIMERS != 0 {
            due &= !TIMERS;
            self.bells.of_timers.unpark();
        }
        if due & DESCRIPTOR != 0 {
            due &= !DESCRIPTOR;
            self.make_descriptor_readable();
        }
        while due != 0 {
            self.bells.of_workers[due.trailing_zeros() as usize].unpark();
            due &= due - 1;
        }
    }

    fn next_rung(&self) -> Option<WaitingCaller> {
        self.lock().rung.pop()
    }

    /// Does something to the state, and then signals the threads that it says to call.
    fn calling(&self, act: impl FnOnce(&mut SchedulerState) -> Option<u32>) {
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

    /// Makes the thread that spins look up, not its helpers.
    pub(crate) fn poke(&self) {
        self.calling(|state| {
            state.poked = true;
            state.workers.call_this(0)
        });
    }

    pub(crate) fn stop(&self) {
        self.halt(|state| state.stopped = true);
    }

    /// The context is shut down: every spin returns, now and later.
    pub(crate) fn end(&self) {
        self.halt(|state| state.ended = true);
    }

    /// The spin that runs has what it wanted, or has failed: its helpers return.
    pub(crate) fn dismiss(&self, mut fault: Option<SpinError>) {
        self.halt(|state| {
            state.dismissed = true;
            if state.fault.is_none() {
                state.fault = fault.take();
            }
        });
        drop(fault); // not under the lock: the error in it is the user's
    }

    fn halt(&self, mark: impl FnOnce(&mut SchedulerState)) {
        let mut state = self.lock();
        mark(&mut state);
        state.workers.call_all();
        drop(state);
        self.bells.of_workers.iter().for_each(Parker::unpark);
        self.bells.of_timers.unpark();
        self.make_descriptor_readable();
    }

    // ---- timers ----

    /// Sets when a timer is due; before that nothing of it is ready any more. True if the caller
    /// must signal.
    #[must_use]
    pub(crate) fn arm(&self, task: &TaskRef, clock: ClockKind, due: Option<i64>) -> bool {
        let mut state = self.lock();
        // Only an earlier end of the sleep is worth a wake-up.
        if !state.queue.set_timer(task.header.member, clock, due) {
            return false;
        }
        if state.timers_have_thread {
            self.bells.call_timers();
            return true;
        }
        let due = due.filter(|_| clock == ClockKind::Steady).unwrap_or(i64::MIN);
        if mem::take(&mut state.descriptor_waits) {
            // The thread that waits there looks, and waits for the right time.
            self.bells.call_descriptor();
            return true;
        }
        let called = state.workers.for_timer(due, current::worker_of(self.id));
        called.inspect(|worker| self.bells.call(*worker)).is_some()
    }

    /// The virtual time of the next expiry that its passing brings.
    pub(crate) fn next_due(&self) -> Option<i64> {
        let state = self.lock();
        let clock = state.clock.as_ref()?;
        let moving = ClockKind::ALL.into_iter().filter(|kind| clock.moves_with_steady(*kind));
        moving.filter_map(|kind| state.queue.timers().due(kind)).min()
    }

    // ---- spinning ----

    /// Makes the calling thread the one that spins; `false` if there is one already, be it this
    /// thread in a callback.
    pub(crate) fn begin(&self) -> bool {
        let mut state = self.lock();
        if state.spinner.is_some() {
            return false;
        }
        let thread = Some(std::thread::current().id());
        state.spinner = thread;
        state.last_spinner = thread;
        state.present = 1;
        state.hosts = true;
        state.descriptor_waits = false;
        drop(state);
        if let Some(descriptor) = self.descriptor.get() {
            descriptor.clear(); // before looking for work
        }
        true
    }

    /// The descriptor that is readable while no thread spins and something is to be done.
    pub(super) fn descriptor(&self) -> io::Result<BorrowedFd<'_>> {
        if self.descriptor.get().is_none() {
            let _ = self.descriptor.set(Descriptor::new()?); // if another thread was faster, its one is as good
            self.remote_events.give_up();
            self.watch_descriptor();
        }
        self.descriptor.get().map(AsFd::as_fd).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    /// No thread spins any more: the thread that waits for the descriptor is told when something is
    /// to be done.
    fn watch_descriptor(&self) {
        let Some(descriptor) = self.descriptor.get() else { return };
        let mut state = self.lock();
        if state.spinner.is_some() {
            return; // it comes here when it ends
        }
        let wait = state.longest_wait(None, true);
        let is_due = !state.queue.is_empty() || matches!(wait, Sleep::Look | Sleep::Over);
        state.descriptor_waits = !is_due;
        drop(state);
        match wait {
            _ if is_due => descriptor.ready(),
            Sleep::AtMost(timeout) => descriptor.arm(timeout.map(|timeout| Time::steady() + timeout)),
            Sleep::Look | Sleep::Over => {}
        }
    }

    fn make_descriptor_readable(&self) {
        if let Some(descriptor) = self.descriptor.get() {
            descriptor.ready();
        }
    }

    /// Another thread helps the one that spins.
    pub(crate) fn join_in(&self) {
        self.lock().present += 1;
    }

    pub(crate) fn drop_out(&self, worker: u32) {
        let mut state = self.lock();
        state.present -= 1;
        state.retire(worker);
    }

    /// The spin is over, once callbacks that run on callers' threads are.
    pub(crate) fn end_spin(&self) {
        let mut state = self.lock();
        state.dismissed = true; // no thread from outside begins anything any more
        while state.workers.any_caller_runs() {
            state.leaving += 1;
            state.sleep(&self.finished);
            state.leaving -= 1;
        }
        state.stopped = false;
        state.dismissed = false;
        state.leave_spin();
        drop(state);
        self.watch_descriptor();
    }

    /// The spin that begins is a short one, which waits for no thread: it has no place for threads
    /// from outside.
    pub(super) fn host_nobody(&self) {
        self.lock().hosts = false;
    }

    /// The calling thread doesn't spin for a while; if it is to stop, it hears of that when it
    /// spins again.
    pub(super) fn interrupt_spin(&self) {
        self.lock().leave_spin();
    }

    /// Why the spin that runs ends, if something went wrong on another thread.
    pub(crate) fn fault(&self) -> Option<SpinError> {
        self.lock().fault.take()
    }

    /// How long callbacks have run.
    pub(crate) fn run_times(&self) -> Vec<RunTimes> {
        let measured: Vec<_> = {
            let state = self.lock();
            let ran = state.queue.iter().filter(|member| member.histogram.count() > 0);
            ran.filter_map(|member| Some((member.task.entity.upgrade()?, member.histogram.clone()))).collect()
        };
        let described =
            measured.into_iter().map(|(entity, histogram)| RunTimes { entity: entity.describe(), histogram });
        described.collect()
    }

    /// What publishers of other processes are to notify for entities that this executor runs.
    /// `None`: the context's receiving thread hears for it.
    pub(crate) fn port(&self, presence: &Arc<dyn Presence>) -> Option<Arc<EventReceiver>> {
        // Only this process can make the descriptor readable.
        if self.descriptor.get().is_some() {
            return None;
        }
        let (port, is_new) = self.remote_events.port(presence)?;
        if is_new {
            // The poller is to hear it, too; and if there is none, a sleeping worker becomes that.
            self.calling(|state| {
                let poller = self.remote_events.poller().and_then(|poller| state.workers.call_this(poller));
                poller.or_else(|| state.workers.call())
            });
        }
        Some(port)
    }

    /// How many threads spin it now.
    pub(crate) fn present(&self) -> usize {
        self.lock().present
    }

    /// Whether only the calling thread could be expected to run this executor's callbacks, as no
    /// thread does now.
    pub(crate) fn depends_on_this_thread(&self) -> bool {
        let state = self.lock();
        state.spinner.is_none() && state.last_spinner == Some(std::thread::current().id())
    }

    pub(crate) fn is_stopped(&self) -> bool {
        let state = self.lock();
        state.stopped || state.ended
    }

    /// The clock of the groups, if there are any yet.
    pub(crate) fn clock(&self) -> Option<Clock> {
        self.lock().clock.clone()
    }

    /// What to do about callbacks that panic, and that fail.
    pub(crate) fn reactions(&self) -> (FaultPolicy, FaultPolicy) {
        let state = self.lock();
        (state.on_panic, state.on_error)
    }

    pub(super) fn set_caller_runs(&self, may_run: bool) {
        self.lock().caller_runs = may_run;
    }

    pub(super) fn set_reactions(&self, on_panic: FaultPolicy, on_error: FaultPolicy) {
        let mut state = self.lock();
        (state.on_panic, state.on_error) = (on_panic, on_error);
    }

    /// Brings in what other processes have sent, but where what runs next was published before the
    /// last look, after a short callback: it runs first anyway. Whether this thread has listened
    /// now.
    #[inline]
    fn hear(&self, work: &mut Option<RunningTask>, ended: i64, worker: &mut Worker) -> (Locked<'_>, bool) {
        if !self.remote_events.has_ports() {
            return (self.lock(), true);
        }
        // `ended` is there for callbacks that are not known to be short, and now and then for those
        // that are.
        if ended == 0
            && let Some(heard) = worker.heard.lasts()
        {
            let state = self.lock();
            if state.goes_on_before(heard, work) {
                return (state, false);
            }
            drop(state);
        }
        worker.heard.begins(ended);
        self.remote_events.listen();
        (self.lock(), true)
    }

    /// Puts back what ran, and gets what to run next.
    #[inline(never)]
    pub(crate) fn next(
        &self,
        work: &mut Option<RunningTask>,
        patience: Blocking,
        worker: &mut Worker,
    ) -> Next {
        let ended = RunningTask::end(work);
        let (mut state, mut has_listened) = self.hear(work, ended, worker);
        state.end_lane(worker.index);
        if work.is_some() {
            let gone = state.put_back(work, ended);
            if state.leaving > 0 {
                self.finished.notify_all();
            }
            if gone.is_some() {
                self.settle(&mut state);
                // Its last reference may be ours: dropped without the lock, as it holds the user's
                // closure.
                drop(state);
                drop(gone);
                state = self.lock();
            }
        }
        let mut woken = WakeReason::Called;
        loop {
            if state.stopped || state.ended || state.dismissed {
                self.leave_rest(state);
                return Next::Stopped;
            }
            if worker.index == 0 && mem::take(&mut state.poked) {
                self.settle(&mut state);
                return Next::Poked;
            }
            if self.remote_events.is_drained_by_another() {
                self.settle(&mut state);
                drop(state);
                let is_over = self.remote_events.wait_for_drain();
                state = self.lock();
                if is_over {
                    continue; // there may be another one, and the executor may have been stopped
                }
            }
            if woken != WakeReason::Look || state.is_something_left_lying(worker.now) {
                let lane = self.look_into_lane(&mut state);
                if !state.timers_have_thread {
                    state.fire_timers(lane);
                }
                if let Some(lane) = lane
                    && self.take_from_lane(&mut state, lane, worker)
                {
                    return Next::Lane;
                }
                let limit = if let Blocking::Until(limit) = patience { Some(limit) } else { None };
                if state.pop(limit, RunBy::Worker(worker.index), ended, work) {
                    state.workers.leave_poller(worker.index);
                    if self.threads() > 1 {
                        self.settle(&mut state); // W1: what waits there waits for this one now
                    }
                    let is_anybody_there = state.workers.has_parked() || !state.waiting_callers.is_empty();
                    let signal = is_anybody_there
                        && state.call_for_rest(work, &self.bells, self.remote_events.have_no_poller());
                    drop(state);
                    if signal {
                        self.signal();
                    }
                    return Next::Run;
                }
            }
            self.settle(&mut state);
            if !mem::replace(&mut has_listened, true) {
                drop(state);
                self.remote_events.listen();
                state = self.lock();
                continue;
            }
            let deadline = match patience {
                Blocking::None | Blocking::Until(_) => return Next::Idle,
                Blocking::Deadline(deadline) => Some(deadline),
                Blocking::Forever => None,
            };
            let slept;
            (state, slept) = self.rest(state, deadline, worker);
            match slept {
                Some(why) => woken = why,
                None => return Next::Idle,
            }
        }
    }

    /// What this thread leaves may be what another one waits for in the middle of its last
    /// callback.
    #[cold]
    fn leave_rest(&self, mut state: Locked<'_>) {
        self.settle(&mut state);
        let signal = !state.waiting_callers.is_empty() && state.call_waiting_caller(&self.bells);
        drop(state);
        if signal {
            self.signal();
        }
    }

    // ---- the lane ----

    /// The key of the first task in the lane, if it may run past the queue.
    #[inline]
    fn look_into_lane(&self, state: &mut SchedulerState) -> Option<Stamp> {
        if !state.has_open_lane() {
            return None;
        }
        let first = self.lane.lock().first()?;
        if state.gate() == SHUT || state.workers.are_full() {
            self.settle(state);
            return None;
        }
        Some(first)
    }

    /// Hands the worker the first task in the lane, which has this key, if nothing in the queue is
    /// older. With it the worker has a place among the executor's callbacks, until it asks again.
    #[inline(never)]
    fn take_from_lane(&self, state: &mut SchedulerState, key: Stamp, worker: &mut Worker) -> bool {
        if state.queue.first_key().is_some_and(|first| first <= key) {
            return false;
        }
        worker.task = self.lane.lock().take();
        worker.tellers = (!state.tellers.is_empty()).then(|| state.tellers.clone());
        state.begin_lane(worker.index);
        true
    }

    /// What a worker does when a task of its lane has run and has nothing more to do.
    #[inline]
    pub(crate) fn advance(&self, ran: InLane) -> Advance {
        // What other processes have sent may be older: that takes a look.
        let may_pass = !self.remote_events.has_ports();
        self.lane.advance(ran, may_pass)
    }

    /// A task of the lane has run, and there is more to do about it: it has more to do itself, its
    /// run was measured, it has left, or the lane was settled meanwhile.
    #[cold]
    #[inline(never)]
    pub(crate) fn finish_in_lane(&self, ran: &InLane, next: Option<Stamp>, measured: Option<(i64, u8)>) {
        let id = ran.task().member;
        let mut state = self.lock();
        let (slot, gone) = self.lane.lock().end();
        if let (Some(measured), Some(member)) = (measured, state.queue.get_mut(id)) {
            member.learn(measured, Time::steady().nanoseconds(), self.lane.published());
            state.workers.count_run();
        }
        if let Some(slot) = slot {
            state.queue.end_turn(slot);
        }
        if let Some(key) = next {
            state.queue.make_ready(id, key);
        }
        if state.leaving > 0 {
            self.finished.notify_all();
        }
        drop(state);
        drop(gone);
    }

    /// The lane's tasks go into the queue, and the one that runs is marked as running.
    #[inline]
    pub(super) fn settle(&self, state: &mut SchedulerState) {
        if state.has_open_lane() {
            self.lane.set_gate(state.gate()); // before: what enters afterwards may run past the queue
            state.settle(&mut self.lane.lock());
        }
    }

    /// The calling thread, which spins, uses the lane from now on, or not any more.
    pub(crate) fn open_lane(&self, worker: u32, is_open: bool) {
        let mut state = self.lock();
        if is_open {
            state.open_lanes += 1;
            return;
        }
        state.open_lanes -= 1;
        self.lane.set_gate(SHUT); // as it stays, if no other worker has it open
        state.settle(&mut self.lane.lock());
        state.end_lane(worker);
    }

    /// Sleeps until this worker is called, or there is something to look for; `None` when the
    /// deadline has passed.
    #[inline]
    pub(super) fn rest<'a>(
        &'a self,
        mut state: Locked<'a>,
        deadline: Option<i64>,
        worker: &mut Worker,
    ) -> (Locked<'a>, Option<WakeReason>) {
        state.tell_rest(worker.index);
        let (minds_timers, watch) = state.workers.park(worker.index, worker.now); // P1
        let minds_timers = minds_timers && !state.timers_have_thread;
        if minds_timers && state.workers.are_full() {
            // What is due can't run: threads from outside have all the places. Each of them calls a
            // worker for what is ready when it goes, so that is where it waits.
            state.fire_by_clock();
        }
        let timeout = match state.longest_wait(deadline, minds_timers) {
            Sleep::AtMost(timeout) => timeout,
            over_or_look => {
                state.workers.unpark(worker.index, worker.now);
                let look = matches!(over_or_look, Sleep::Look).then_some(WakeReason::Timeout);
                return (state, look);
            }
        };
        let watch = watch.map(wait_of);
        let timeout = timeout.into_iter().chain(watch).min();
        let parker = &self.bells.of_workers[worker.index as usize];
        let poller = self.remote_events.become_poller(worker.index);
        drop(state);
        let mut fetches = true;
        match poller {
            Some(poller) => {
                fetches = poller.wait(parker, timeout, || worker.slack.tighten());
                // What comes in touches the same histories and callbacks as what runs then.
                if fetches && poller.is_pending() {
                    fetches = false;
                    prefetch::fetch();
                }
                poller.end();
            }
            None => {
                worker.slack.tighten();
                parker.park(timeout);
            }
        }
        state = self.lock();
        if self.threads() > 1 {
            worker.now = Time::steady().nanoseconds();
        }
        let woken = state.workers.unpark(worker.index, worker.now);
        parker.take_call(); // what it was called for it finds under the mutex: P2 comes before P3
        if self.threads() > 1 {
            self.settle(&mut state); // of the worker that was alone
        }
        // A thread that was awake a moment ago has in its caches what it had.
        if fetches && woken != WakeReason::Look {
            drop(state);
            prefetch::fetch();
            state = self.lock();
        }
        (state, Some(woken))
    }

    /// Puts back what ran last, when no more is wanted.
    #[inline(never)]
    pub(crate) fn finish(&self, work: &mut Option<RunningTask>) {
        let ended = RunningTask::end(work);
        let was_caller =
            work.as_ref().is_some_and(|work| matches!(work.run_by, RunBy::Caller | RunBy::Nested));
        let mut state = self.lock();
        let gone = state.put_back(work, ended);
        if state.leaving > 0 {
            self.finished.notify_all();
        }
        // A caller that takes no more leaves the rest to others.
        let calls = was_caller && self.call_for_ready(&mut state);
        drop(state);
        if calls {
            self.signal();
        }
        drop(gone);
    }
}

impl Wake for Scheduler {
    fn wake(&self) {
        self.bells.of_timers.unpark();
        self.make_descriptor_readable();
        self.calling(|state| state.workers.call());
    }
}
