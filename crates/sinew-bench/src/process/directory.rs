//! A domain directory for one run: fresh, in memory, and gone afterwards, however the run ends.
//!
//! A process that outlives this one, the *sweeper*, removes the directory when the pipe between the
//! two is closed: also after a panic, a Ctrl-C (it is in a process group of its own) or `kill -9`.

use std::fs::{self, DirBuilder};
use std::io::{self, Read as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use super::{Task, with};
use crate::clock::{nanoseconds, now_ns, sleep_until};
use crate::error::Error;
use crate::pacing::on_own_thread;

/// The parent of the directories of all runs.
const MEMORY: &str = "/dev/shm";

/// Prefix of a run's directory, before a unique part.
const PREFIX: &str = "sinew-bench-";

/// Time for which the sweeper watches whether files are still added: processes that end with this
/// one may take a moment.
const LEAVING: Duration = Duration::from_millis(500);

/// The directory of a run; it contains one for each round in progress.
pub struct Directory {
    path: PathBuf,
    sweeper: Child,
}

impl Directory {
    /// Creates it, for this user only.
    pub fn create() -> Result<Self, Error> {
        let name = format!("{PREFIX}{}-{:x}", std::process::id(), now_ns());
        let path = Path::new(MEMORY).join(&name);
        // First the sweeper, then the directory: nothing can end this process in between without a
        // sweep.
        let sweeper = with(&Task::Sweep { name })?
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(|source| Error::System { call: "starting the process that clears up", source })?;
        let directory = Self { path, sweeper };
        make(&directory.path)?;
        Ok(directory)
    }

    /// Does the work of a round in a fresh directory of its own, and on a thread of its own.
    pub fn round<T: Send>(&self, work: impl FnOnce(&Path) -> Result<T, Error> + Send) -> Result<T, Error> {
        let path = self.path.join(format!("{:x}", now_ns()));
        make(&path)?;
        let outcome = on_own_thread(|| work(&path));
        // The sweeper finds any remaining files.
        let _ = fs::remove_dir_all(&path);
        outcome
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        drop(self.sweeper.stdin.take());
        // Nothing could be done about its exit code.
        let _ = self.sweeper.wait();
    }
}

fn make(path: &Path) -> Result<(), Error> {
    let made = DirBuilder::new().mode(0o700).create(path);
    made.map_err(|source| Error::File { action: "create the directory", path: path.to_owned(), source })
}

/// In the sweeper: waits until the measuring process closes the pipe, or has ended, and removes its
/// directory.
pub(super) fn sweep(name: &str) -> Result<(), Error> {
    let is_ours = name.strip_prefix(PREFIX).is_some_and(|rest| {
        !rest.is_empty() && rest.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-')
    });
    if !is_ours {
        return Err(Error::NotOurPeer);
    }
    let path = Path::new(MEMORY).join(name);
    // The reason for the end of the wait doesn't matter.
    let _ = io::stdin().read(&mut [0]);
    let until = now_ns() + nanoseconds(LEAVING);
    loop {
        match fs::remove_dir_all(&path) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(source) if now_ns() > until => {
                return Err(Error::File { action: "remove the directory", path, source });
            }
            Err(_) => sleep_until(now_ns() + nanoseconds(LEAVING / 20)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_directories_are_swept() {
        for name in ["", "sinew-bench-", "sinew-bench-../x", "sinew-1000", "sinew-bench-1/../../home"] {
            assert!(matches!(sweep(name), Err(Error::NotOurPeer)), "{name}");
        }
    }
}
