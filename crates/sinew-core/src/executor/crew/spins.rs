//! The threads that spin an executor, and whether they go on: plain data.

use std::thread::{self, ThreadId};

/// The threads that spin an executor, and whether they go on.
#[derive(Default)]
pub(super) struct Spins {
    /// The next blocking spin, or the one that runs, returns.
    pub(super) stopped: bool,
    /// The context is shut down: every spin returns.
    pub(super) ended: bool,
    /// The spinning thread has finished: its helpers return.
    pub(super) dismissed: bool,
    /// The spinning thread has to return from running callbacks, because a future can go on.
    pub(super) poked: bool,
    /// Threads from outside that call a server of this executor may run it.
    pub(super) caller_runs: bool,
    /// The spin that runs has a place for them.
    hosts: bool,
    /// The thread that spins now.
    spinner: Option<ThreadId>,
    /// The thread that spun last.
    last_spinner: Option<ThreadId>,
    /// Number of threads that spin.
    pub(super) present: usize,
}

impl Spins {
    /// Makes the calling thread the one that spins. Returns `false` if there is one already.
    pub(super) fn begin(&mut self, hosts: bool) -> bool {
        if self.has_spinner() {
            return false;
        }
        self.spinner = Some(thread::current().id());
        (self.last_spinner, self.present, self.hosts) = (self.spinner, 1, hosts);
        true
    }

    /// Records that no thread spins any more.
    pub(super) fn leave(&mut self) {
        (self.spinner, self.present) = (None, 0);
    }

    pub(super) fn has_spinner(&self) -> bool {
        self.spinner.is_some()
    }

    /// Whether all threads are to return.
    #[inline]
    pub(super) fn are_over(&self) -> bool {
        self.stopped || self.ended || self.dismissed
    }

    /// Clears a stop that was carried out.
    pub(super) fn take_stop(&mut self) {
        (self.stopped, self.dismissed) = (false, false);
    }

    /// Whether a thread from outside may run something.
    pub(super) fn accept_callers(&self) -> bool {
        self.caller_runs && self.hosts && self.present > 0 && !self.stopped && !self.dismissed
    }

    /// Whether no thread spins now, and the calling one was the last to do so.
    pub(super) fn depend_on_this_thread(&self) -> bool {
        !self.has_spinner() && self.last_spinner == Some(thread::current().id())
    }
}
