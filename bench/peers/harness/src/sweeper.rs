//! What a run leaves when it is killed, such as files of shared memory, is removed by a process
//! that outlives it.

use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use sinew_bench::clock::{nanoseconds, sleep_until};
use sinew_bench::process::ourselves;

use crate::{Program, Result, now_ns};

/// For how long the sweeper looks whether a process that ends still adds files.
const LEAVING: Duration = Duration::from_millis(500);

/// Has [`Program::sweep`] called by a process of its own: when this is dropped, or when the process
/// that has this has ended, however it did. Drop it after all that the run uses.
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
            .process_group(0) // Ctrl-C ends the run's
            .spawn()
            .context("the process that clears up can't be started")?;
        Ok(Self(sweeper))
    }
}

impl Drop for Sweeper {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        // Its exit code says nothing that could be mended here.
        let _ = self.0.wait();
    }
}

/// In the sweeper: waits until the run has ended, and clears up.
pub(crate) fn sweep<P: Program>(name: &str) {
    // What ends the wait doesn't matter.
    let _ = std::io::stdin().read(&mut [0]);
    clear_up(|| P::sweep(name));
}

/// Has `sweep` called until it succeeds, or for half a second: a process that ends may still add
/// files.
pub fn clear_up(mut sweep: impl FnMut() -> Result<()>) {
    let until = now_ns() + nanoseconds(LEAVING);
    while sweep().is_err() && now_ns() < until {
        sleep_until(now_ns() + 20_000_000);
    }
}
