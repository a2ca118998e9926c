//! Callers: a thread that waits for a server's answer may run the server itself.
//!
//! [`TaskRef::run_as_caller`] hands out the one entity that the thread waits for, if its group is
//! free. A thread in the middle of a callback of the executor does so inside that callback
//! (*nested*); a thread from outside takes the place of a worker that rests (a *caller*), so that
//! no more callbacks run at once than the executor has threads.
//!
//! If neither is possible, the thread sleeps among `SchedulerState::waiting_callers`. It is rung
//! when it can run its entity after all and no worker is called for the ready tasks: when a task
//! becomes ready, when a callback of the group ends, when another caller leaves, and when a worker
//! goes to sleep or stops. A thread that could run no task isn't rung: it would go to sleep again,
//! and be rung again.
//!
//! Entities that a caller may run are announced without calling a thread. So every exit that leaves
//! a task ready calls a thread for it: [`TaskRef::register_caller`], the end of a caller's
//! callback, the end of a [`RegisteredCaller`].

use super::current::{self, CallerScope};
use super::run::InHand;
use super::scheduler::{Locked, RunBy, RunningTask, Scheduler, TaskRef};
use super::state::WaitingCaller;
use crate::sys::clock::Stamp;
use crate::sys::parker::Parker;
use crate::sys::sync::Arc;
use std::mem;

impl TaskRef {
    /// Runs an entity's callback, or an older one of its group, on this thread, which would
    /// otherwise wait for it for at most `within` nanoseconds. The entity must be ready and its
    /// group free; and either this thread is in a callback of this executor, or a thread spins the
    /// executor, which has a place for a thread from outside, would run this callback next, and
    /// knows that it ends in time. Returns `false` if it ran none.
    ///
    /// `since`: the time since which the entity has work that isn't announced yet; this announces
    /// it.
    pub(crate) fn run_as_caller(&self, since: Option<Stamp>, within: i64) -> bool {
        let scheduler = &*self.scheduler;
        let mut hand = InHand { scheduler, work: None };
        self.take_as_caller(since, within, &mut hand.work);
        let is_caller = hand.work.as_ref().is_some_and(|work| work.run_by == RunBy::Caller);
        let _scope = is_caller.then(|| CallerScope::enter(scheduler.id));
        match hand.execute() {
            Ok(_) if hand.work.is_none() => false,
            Ok(_) => true,
            Err(fault) => {
                scheduler.dismiss(Some(*fault)); // the threads that spin return it
                true
            }
        }
    }

    /// Takes an entity to be run on this thread; see [`run_as_caller`](Self::run_as_caller).
    pub(crate) fn take_as_caller(&self, since: Option<Stamp>, within: i64, work: &mut Option<RunningTask>) {
        let (scheduler, id) = (&*self.scheduler, self.header.member);
        let mut state = scheduler.lock();
        state.settle();
        let hand = state.caller_may_run();
        if let Some(since) = since {
            // Like a function call: it needn't go through the queue.
            if hand == Some(RunBy::Nested) && state.queue.is_idle(id) {
                state.hand_out(id.index, RunBy::Nested, (0, 0), work);
                return;
            }
            state.queue.make_ready(id, since);
        }
        if let Some(hand) = hand
            && let Some(member) = state.queue.runnable(id, hand == RunBy::Nested, within)
        {
            state.pop_this(member, hand, work);
        }
    }

    /// Registers this thread before it sleeps until another one has run an entity, or until it can
    /// run it itself: then it is unparked. Calls a thread for ready tasks that were left to this
    /// one. Returns `None` if the entity can be run here now.
    pub(crate) fn register_caller<'a>(
        &'a self,
        within: i64,
        parker: &'a Arc<Parker>,
    ) -> Option<RegisteredCaller<'a>> {
        let scheduler = &*self.scheduler;
        let mut state = scheduler.lock();
        state.settle();
        let nested = current::spins(scheduler.id);
        if state.accepts(nested) && state.queue.runnable(self.header.member, nested, within).is_some() {
            return None;
        }
        let worker = current::worker_of(scheduler.id);
        if let Some(worker) = worker {
            state.workers.set_blocked(worker, true);
        }
        state.waiting_callers.push(WaitingCaller {
            entity: self.header.member,
            nested,
            within,
            parker: parker.clone(),
        });
        let called = state.call_for_ready();
        drop(state);
        if called {
            scheduler.signal();
        }
        Some(RegisteredCaller { scheduler, parker, worker })
    }

    /// Leaves a task to other threads that this one has announced quietly, and neither runs nor
    /// awaits.
    pub(crate) fn leave_to_others(&self) {
        let called = self.scheduler.lock().call_for_ready();
        self.signals(called).signal();
    }
}

impl Locked<'_> {
    /// Returns the role in which this thread may run a task of this executor, if it may.
    fn caller_may_run(&self) -> Option<RunBy> {
        let nested = current::spins(self.scheduler().id);
        self.accepts(nested).then_some(if nested { RunBy::Nested } else { RunBy::Caller })
    }

    /// Calls a thread for the ready tasks. Returns `true` if the caller must signal.
    pub(super) fn call_for_ready(&mut self) -> bool {
        let bells = &self.scheduler().bells;
        let ready = self.queue.groups().len();
        if ready == 0 {
            return false;
        }
        if let Some(worker) = self.workers.for_place(ready) {
            bells.call(worker);
            return true;
        }
        if mem::take(&mut self.descriptor_waits) {
            bells.call_descriptor();
            return true;
        }
        self.call_waiting_caller(bells)
    }

    /// Calls another worker to receive from other processes, because this one is about to wait.
    /// Returns `true` if the caller must signal.
    pub(super) fn call_poller(&mut self) -> bool {
        let scheduler = self.scheduler();
        let has_none = scheduler.remote_events.have_no_poller();
        let called = has_none.then(|| self.workers.for_poller(i64::MAX)).flatten();
        called.inspect(|worker| scheduler.bells.call(*worker)).is_some()
    }
}

/// A thread that waits until another one has run an entity; see [`TaskRef::register_caller`].
pub(crate) struct RegisteredCaller<'a> {
    scheduler: &'a Scheduler,
    parker: &'a Arc<Parker>,
    /// The number of the worker, if it is one.
    worker: Option<u32>,
}

impl Drop for RegisteredCaller<'_> {
    fn drop(&mut self) {
        let scheduler = self.scheduler;
        let mut state = scheduler.lock();
        if let Some(worker) = self.worker {
            state.workers.set_blocked(worker, false);
        }
        let place = state.waiting_callers.iter().position(|caller| Arc::ptr_eq(&caller.parker, self.parker));
        let gone = place.map(|place| state.waiting_callers.swap_remove(place));
        // A thread that was rung may not run the task for which it was rung.
        let called = gone.is_none() && state.call_for_ready();
        drop(state);
        drop(gone);
        if called {
            scheduler.signal();
        }
    }
}
