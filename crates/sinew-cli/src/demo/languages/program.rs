//! The programs of the demonstration: processes with one node or with all.

use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use sinew_bench::clock::{nanoseconds, now_ns, sleep_until};
use sinew_bench::process::status;

use crate::error::Error;

/// Time between two checks of a program.
pub(super) const LOOK: Duration = Duration::from_millis(20);

/// Longest wait for programs: to see each other, to see the last images, to end.
pub(super) const GRACE: Duration = Duration::from_secs(10);

/// A process. It is killed if it is still running when this is dropped.
pub(super) struct Program {
    /// Names of its nodes.
    nodes: String,
    child: Child,
}

impl Program {
    /// Starts it, out of reach of the terminal's Ctrl-C: it is ended after the last image. The kernel
    /// ends it with the calling thread.
    pub(super) fn start(nodes: String, command: &mut Command) -> Result<Self, Error> {
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).process_group(0);
        let call = "starting a program of the demo";
        Ok(Self { nodes, child: command.spawn().map_err(|source| Error::System { call, source })? })
    }

    /// Fails if it has ended.
    pub(super) fn check(&mut self) -> Result<(), Error> {
        status(&mut self.child)?.map_or(Ok(()), |status| Err(self.ended(status)))
    }

    /// Ends it, and returns what it printed.
    pub(super) fn end(mut self) -> Result<String, Error> {
        let status = self.asked_to_end()?;
        if !status.success() {
            return Err(self.ended(status));
        }
        let mut said = String::new();
        let read = self.child.stdout.as_mut().map_or(Ok(0), |output| output.read_to_string(&mut said));
        read.map_err(|source| Error::System { call: "reading a program's output", source })?;
        Ok(said)
    }

    fn ended(&self, status: ExitStatus) -> Error {
        Error::ProgramEnded { nodes: self.nodes.clone(), status: status.to_string() }
    }

    /// Asks it to end, then kills it.
    fn asked_to_end(&mut self) -> Result<ExitStatus, Error> {
        for signal in [Signal::TERM, Signal::KILL] {
            // Fails only if it has ended, which the next look shows.
            let _ = kill_process(Pid::from_child(&self.child), signal);
            let until = now_ns() + nanoseconds(GRACE);
            while now_ns() < until {
                if let Some(status) = status(&mut self.child)? {
                    return Ok(status);
                }
                sleep_until(now_ns() + nanoseconds(LOOK));
            }
        }
        self.child.wait().map_err(|source| Error::System { call: "waitpid", source })
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Both fail only if it has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
