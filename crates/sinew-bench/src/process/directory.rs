//! A directory for one run: fresh, in memory unless it is for programs, and gone afterwards, however
//! the run ends ([`Sweeper`]).

use std::env;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Task, arguments};
use crate::sweeper::{Sweeper, clear_up, remaining};
use crate::{Error, now_ns, on_own_thread};

/// The place of a directory.
#[derive(Clone, Copy, Deserialize, Serialize)]
pub(super) enum Place {
    /// In memory.
    Memory,
    /// Where temporary files of any size are, and programs may be run.
    Temporary,
}

impl Place {
    fn path(self) -> PathBuf {
        match self {
            Self::Memory => PathBuf::from("/dev/shm"),
            Self::Temporary => env::temp_dir(),
        }
    }
}

/// Prefix of a run's directory, before a unique part.
const PREFIX: &str = "sinew-bench-";

/// The directory of a run; it contains one for each round in progress.
pub struct Directory {
    path: PathBuf,
    _sweeper: Sweeper,
}

impl Directory {
    /// Creates it in memory, for this user only.
    pub fn create() -> Result<Self, Error> {
        Self::in_place(Place::Memory)
    }

    /// Creates one for programs, which can't be run from memory everywhere.
    pub(crate) fn for_programs() -> Result<Self, Error> {
        Self::in_place(Place::Temporary)
    }

    fn in_place(place: Place) -> Result<Self, Error> {
        let name = format!("{PREFIX}{}-{:x}", std::process::id(), now_ns());
        let path = place.path().join(&name);
        // First the sweeper, then the directory: nothing can end this process in between without a
        // sweep.
        let directory = Self { path, _sweeper: Sweeper::start(arguments(&Task::Sweep { place, name })?)? };
        make(&directory.path)?;
        Ok(directory)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
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
pub(super) fn sweep(place: Place, name: &str) -> Result<(), Error> {
    let is_ours = name.strip_prefix(PREFIX).is_some_and(|rest| {
        !rest.is_empty() && rest.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-')
    });
    if !is_ours {
        return Err(Error::NotOurPeer);
    }
    let path = place.path().join(name);
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
            assert!(matches!(sweep(Place::Memory, name), Err(Error::NotOurPeer)), "{name}");
        }
    }
}
