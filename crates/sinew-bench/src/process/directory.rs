//! A domain directory for one run: fresh, in memory, and gone afterwards, however the run ends
//! ([`Sweeper`]).

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use super::{Task, arguments};
use crate::sweeper::{Sweeper, clear_up, remaining};
use crate::{Error, now_ns, on_own_thread};

/// The parent of the directories of all runs.
const MEMORY: &str = "/dev/shm";

/// Prefix of a run's directory, before a unique part.
const PREFIX: &str = "sinew-bench-";

/// The directory of a run; it contains one for each round in progress.
pub struct Directory {
    path: PathBuf,
    _sweeper: Sweeper,
}

impl Directory {
    /// Creates it, for this user only.
    pub fn create() -> Result<Self, Error> {
        let name = format!("{PREFIX}{}-{:x}", std::process::id(), now_ns());
        let path = Path::new(MEMORY).join(&name);
        // First the sweeper, then the directory: nothing can end this process in between without a
        // sweep.
        let directory = Self { path, _sweeper: Sweeper::start(arguments(&Task::Sweep { name })?)? };
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

fn make(path: &Path) -> Result<(), Error> {
    let made = DirBuilder::new().mode(0o700).create(path);
    made.map_err(|source| Error::File { action: "create the directory", path: path.to_owned(), source })
}

/// In the sweeper: waits until the run has ended, and removes its directory.
pub(super) fn sweep(name: &str) -> Result<(), Error> {
    let is_ours = name.strip_prefix(PREFIX).is_some_and(|rest| {
        !rest.is_empty() && rest.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-')
    });
    if !is_ours {
        return Err(Error::NotOurPeer);
    }
    let path = Path::new(MEMORY).join(name);
    remaining();
    clear_up(|| match fs::remove_dir_all(&path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(Error::File { action: "remove the directory", path: path.clone(), source })
        }
        _ => Ok(()),
    })
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
