//! A process that outlives a run and removes its remains, such as files of shared memory, if it is
//! killed.

use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use sinew_bench::clock::{nanoseconds, sleep_until};
use sinew_bench::process::ourselves;

use crate::{Program, Result, now_ns};

/// Time for which the sweeper watches whether an ending process still adds files.
const LEAVING: Duration = Duration::from_millis(500);

/// Makes a separate process call [`Program::sweep`]: when this is dropped, or when the process that
/// holds it has ended, in whatever way. Drop it after everything that the run uses.
#[derive(Debug)]
pub struct Sweeper(Child);

impl Sweeper {
    /// Starts it, for the run of that name.
    ///
    /// # Errors
    ///
    /// If it can't be started.
    pub fn start(name: &str) -> Result<Self> {
        let sweeper = ourselves()
            .args(["sweep", name])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .process_group(0) // Ctrl-C is only for the run
            .spawn()
            .context("the process that clears up can't be started")?;
        Ok(Self(sweeper))
    }
}

impl Drop for Sweeper {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        // Nothing could be done about its exit code.
        let _ = self.0.wait();
    }
}

/// In the sweeper: waits until the run has ended, and removes its remains.
pub(crate) fn sweep<P: Program>(name: &str) {
    // The reason for the end of the wait doesn't matter.
    let _ = std::io::stdin().read(&mut [0]);
    clear_up(|| P::sweep(name));
}

/// Calls `sweep` until it succeeds, or for half a second: an ending process may still add files.
pub fn clear_up(mut sweep: impl FnMut() -> Result<()>) {
    let until = now_ns() + nanoseconds(LEAVING);
    while sweep().is_err() && now_ns() < until {
        sleep_until(now_ns() + 20_000_000);
    }
}
