//! Spins: they begin, are stopped, and end.

use super::descriptor::Descriptor;
use super::remote_events::Presence;
use super::scheduler::Scheduler;
use super::state::{SchedulerState, Sleep};
use crate::executor::error::SpinError;
use crate::sys::clock::Time;
use crate::sys::parker::Parker;
use crate::sys::sync::Arc;
use sinew_shm::EventReceiver;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

impl Scheduler {
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
    pub(crate) fn descriptor(&self) -> io::Result<BorrowedFd<'_>> {
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

    pub(super) fn make_descriptor_readable(&self) {
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
    pub(crate) fn host_nobody(&self) {
        self.lock().hosts = false;
    }

    /// The calling thread doesn't spin for a while; if it is to stop, it hears of that when it
    /// spins again.
    pub(crate) fn interrupt_spin(&self) {
        self.lock().leave_spin();
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

    pub(crate) fn set_caller_runs(&self, may_run: bool) {
        self.lock().caller_runs = may_run;
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
    pub(crate) fn dismiss(&self, fault: Option<SpinError>) {
        self.faults.keep(fault); // before: a thread that ends because of it returns it
        self.halt(|state| state.dismissed = true);
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
}
