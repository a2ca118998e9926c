//! Signals as a descriptor to wait on.

use std::fs;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::SignalOnly;

/// The signals that a launch handles.
pub(super) struct Signals(SignalDelivery<UnixStream, SignalOnly>);

/// Signals that have arrived.
#[derive(Default)]
pub(super) struct Came {
    /// A child has ended.
    pub(super) child: bool,
    /// All processes are to end.
    pub(super) interrupt: bool,
    /// The table of processes is requested.
    pub(super) table: bool,
}

impl Signals {
    pub(super) fn listen() -> io::Result<Self> {
        let (read, write) = UnixStream::pair()?;
        read.set_nonblocking(true)?;
        let hang_up = (!is_ignored(SIGHUP)).then_some(SIGHUP);
        let all = [SIGCHLD, SIGINT, SIGTERM, SIGUSR1].into_iter().chain(hang_up);
        SignalDelivery::with_pipe(read, write, SignalOnly, all).map(Self)
    }

    /// Returns the descriptor to wait on.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.get_read().as_fd()
    }

    /// Returns the signals since the last call.
    pub(super) fn take(&mut self) -> Came {
        let mut bytes = [0; 64];
        while matches!(self.0.get_read_mut().read(&mut bytes), Ok(1..)) {}
        let mut came = Came::default();
        for signal in self.0.pending() {
            match signal {
                SIGCHLD => came.child = true,
                SIGUSR1 => came.table = true,
                _ => came.interrupt = true,
            }
        }
        came
    }
}

/// Returns `true` if the process ignores the signal of this number: a parent that ignores it, such
/// as `nohup`, hands that on, and a program that handles the signal would undo it.
#[must_use]
pub fn is_ignored(signal: i32) -> bool {
    // The mask of proc_pid_status(5): bit 0 is signal 1.
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}
