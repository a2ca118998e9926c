//! Spins begin, are stopped, and end.

use super::descriptor::Descriptor;
use super::remote_events::Presence;
use super::scheduler::Scheduler;
use super::spins::Spins;
use super::state::Sleep;
use crate::executor::dispatch_order::DispatchOrder;
use crate::executor::error::SpinError;
use crate::sys::clock::Time;
use crate::sys::parker::Parker;
use crate::sys::sync::Arc;
use sinew_shm::transport::EventReceiver;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

impl Scheduler {
    /// Returns the descriptor that is readable while no thread spins and there is work.
    pub(crate) fn descriptor(&self) -> io::Result<BorrowedFd<'_>> {
        if self.bells.descriptor.get().is_none() {
            let _ = self.bells.descriptor.set(Descriptor::new()?); // if another thread was faster, its one is as good
            self.remote_events.give_up();
            self.watch_descriptor();
        }
        self.bells.descriptor.get().map(AsFd::as_fd).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    /// Makes the descriptor readable when there is work, as no thread spins any more.
    fn watch_descriptor(&self) {
        let Some(descriptor) = self.bells.descriptor.get() else { return };
        let mut state = self.lock();
        if state.spins.has_spinner() {
            return; // it comes here when it ends
        }
        let wait = state.longest_wait(None, true);
        let is_due = !state.queue.groups().is_empty() || matches!(wait, Sleep::Look | Sleep::Over);
        state.descriptor_waits = !is_due;
        drop(state);
        match wait {
            _ if is_due => descriptor.ready(),
            Sleep::AtMost(timeout) => descriptor.arm(timeout.map(|timeout| Time::steady() + timeout)),
            Sleep::Look | Sleep::Over => {}
        }
    }

    /// Returns the port that publishers of other processes notify for entities that this executor
    /// runs. `None`: they notify the context's receiving thread.
    pub(crate) fn port(&self, presence: &Arc<dyn Presence>) -> Option<Arc<EventReceiver>> {
        // Only this process can make the descriptor readable.
        if self.bells.descriptor.get().is_some() {
            return None;
        }
        let (port, is_new) = self.remote_events.port(presence)?;
        if is_new {
            // The poller has to notice it, too; without one, a sleeping worker becomes it.
            self.calling(|state| {
                let poller = self.remote_events.poller().and_then(|poller| state.workers.call_this(poller));
                poller.or_else(|| state.workers.call())
            });
        }
        Some(port)
    }

    /// Returns the number of threads that spin it now.
    pub(crate) fn present(&self) -> usize {
        self.lock().spins.present
    }

    /// Whether no thread spins this executor now, and the calling one did last: then none but this
    /// one can be expected to run its callbacks.
    pub(crate) fn depends_on_this_thread(&self) -> bool {
        self.lock().spins.depend_on_this_thread()
    }

    pub(crate) fn is_stopped(&self) -> bool {
        let state = self.lock();
        state.spins.stopped || state.spins.ended
    }

    /// Sets the order of callbacks, and whether callers may run them; called before it spins.
    pub(crate) fn configure(&self, order: DispatchOrder, caller_runs: bool) {
        let mut state = self.lock();
        (state.order, state.spins.caller_runs) = (order, caller_runs);
        self.lane.lock().set_order(order);
    }

    /// Pokes the thread that spins, but not its helpers.
    pub(crate) fn poke(&self) {
        self.calling(|state| {
            state.spins.poked = true;
            state.workers.call_this(0)
        });
    }

    pub(crate) fn stop(&self) {
        self.halt(|spins| spins.stopped = true);
    }

    /// Ends every spin, now and later, because the context is shut down.
    pub(crate) fn end(&self) {
        self.halt(|spins| spins.ended = true);
    }

    /// Makes the helpers of the running spin return, because it has finished or failed.
    pub(crate) fn dismiss(&self, fault: Option<SpinError>) {
        self.faults.keep(fault); // before: a thread that ends because of it returns it
        self.halt(|spins| spins.dismissed = true);
    }

    fn halt(&self, mark: impl FnOnce(&mut Spins)) {
        let mut state = self.lock();
        mark(&mut state.spins);
        state.workers.call_all();
        drop(state);
        self.bells.of_workers.iter().for_each(Parker::unpark);
        self.bells.of_timers.unpark();
        self.bells.make_descriptor_readable();
    }
}

/// A thread's place in a spin, until it is dropped.
pub(crate) struct Place<'a> {
    scheduler: &'a Arc<Scheduler>,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    /// Place of the thread that spins; its end is that of the spin.
    First,
    /// Place of a thread that helps it, as this worker.
    Helper(u32),
    /// Place of a thread that only waits. It learns of a stop when it waits again.
    Waiting,
}

impl<'a> Place<'a> {
    /// Makes the calling thread the one that spins. Returns `None` if there is one already, which
    /// may be this thread, in a callback. `hosts`: threads from outside may run callbacks
    /// meanwhile; a short spin, which waits for no thread, has no place for them.
    pub(crate) fn first(scheduler: &'a Arc<Scheduler>, hosts: bool) -> Option<Self> {
        Self::begin(scheduler, hosts, Kind::First)
    }

    /// The same for a thread that waits until there is work, and runs none.
    pub(crate) fn waiting(scheduler: &'a Arc<Scheduler>, hosts: bool) -> Option<Self> {
        Self::begin(scheduler, hosts, Kind::Waiting)
    }

    /// Returns a place for another thread, which helps the one that spins.
    pub(crate) fn helper(scheduler: &'a Arc<Scheduler>, worker: u32) -> Self {
        scheduler.lock().spins.present += 1;
        Self { scheduler, kind: Kind::Helper(worker) }
    }

    fn begin(scheduler: &'a Arc<Scheduler>, hosts: bool, kind: Kind) -> Option<Self> {
        let mut state = scheduler.lock();
        if !state.spins.begin(hosts) {
            return None;
        }
        state.descriptor_waits = false;
        drop(state);
        if let Some(descriptor) = scheduler.bells.descriptor.get() {
            descriptor.clear(); // before looking for work
        }
        Some(Self { scheduler, kind })
    }

    pub(crate) fn scheduler(&self) -> &'a Arc<Scheduler> {
        self.scheduler
    }

    /// Returns the thread's number as a worker.
    pub(crate) fn worker(&self) -> u32 {
        if let Kind::Helper(worker) = self.kind { worker } else { 0 }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut state = self.scheduler.lock();
        match self.kind {
            Kind::Helper(worker) => {
                state.spins.present -= 1;
                state.retire(worker);
            }
            Kind::Waiting => {
                state.leave_spin();
                drop(state);
                self.scheduler.watch_descriptor();
            }
            Kind::First => {
                state.spins.dismissed = true; // no thread from outside begins anything any more
                while state.workers.any_caller_runs() {
                    state.leaving += 1;
                    state.sleep(&self.scheduler.finished);
                    state.leaving -= 1;
                }
                state.spins.take_stop();
                state.leave_spin();
                drop(state);
                self.scheduler.watch_descriptor();
            }
        }
    }
}
