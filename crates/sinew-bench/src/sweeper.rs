//! A process that outlives this one, and removes its remains: also after a panic, a Ctrl-C (it is
//! in a process group of its own) or `kill -9`. It begins when the pipe between the two is closed.

use std::ffi::OsStr;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::{Error, nanoseconds, now_ns, sleep_until};

/// Returns a command for this program, by its name, under which other tools see its processes, even
/// if its file has been replaced.
pub fn ourselves() -> Command {
    let named = std::env::current_exe().ok().filter(|path| path.exists());
    Command::new(named.unwrap_or_else(|| PathBuf::from("/proc/self/exe")))
}

/// Time for which a sweeper watches whether remains are still added: processes that end with the
/// measuring one may take a moment.
const LEAVING: Duration = Duration::from_millis(500);

/// The measuring process's handle. Drop it after everything that is to be removed.
#[derive(Debug)]
pub struct Sweeper(Child);

impl Sweeper {
    /// Starts this program with `arguments`, upon which it calls [`remaining`] and clears up. Start
    /// it before there is anything to remove.
    pub fn start(arguments: impl IntoIterator<Item: AsRef<OsStr>>) -> Result<Self, Error> {
        let sweeper = ourselves()
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(|source| Error::System { call: "starting the process that clears up", source })?;
        Ok(Self(sweeper))
    }

    /// Replaces the text that [`remaining`] returns: a line.
    pub fn note(&self, line: &str) {
        // Fails if the sweeper is gone.
        let _ = self.0.stdin.as_ref().map(|mut stdin| writeln!(stdin, "{line}"));
    }
}

impl Drop for Sweeper {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        // Nothing could be done about its exit code.
        let _ = self.0.wait();
    }
}

/// In the sweeper: waits until the measuring process drops its handle, or has ended. Returns the
/// last line of [`Sweeper::note`], or nothing.
pub fn remaining() -> String {
    io::stdin().lines().map_while(Result::ok).last().unwrap_or_default()
}

/// Calls `sweep` until it succeeds, or for half a second: an ending process may still add files.
pub fn clear_up<E>(mut sweep: impl FnMut() -> Result<(), E>) -> Result<(), E> {
    let until = now_ns() + nanoseconds(LEAVING);
    loop {
        match sweep() {
            Err(_) if now_ns() < until => sleep_until(now_ns() + nanoseconds(LEAVING / 20)),
            outcome => return outcome,
        }
    }
}
