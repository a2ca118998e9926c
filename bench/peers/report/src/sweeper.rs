//! The sweeper: a process that outlives this program, and removes its remains if it is killed.

use std::path::Path;
use std::process::Child;

use anyhow::{Context as _, Result};
use rustix::process::{Pid, Signal, kill_process_group};
use sinew_bench::process::{Sweeper, clear_up, remaining};
use tempfile::TempDir;

/// The sweeper's first argument, before the directory that it removes.
const TASK: &str = "sweep";

/// Prefix of the directories that a sweeper removes.
const PREFIX: &str = "sinew-peers-";

/// A directory for the files of the measured programs. When this program ends, in whatever way, it
/// is removed, and the running program is killed.
pub struct Place {
    directory: TempDir,
    sweeper: Sweeper,
}

impl Place {
    /// Creates it.
    ///
    /// # Errors
    ///
    /// If the operating system refuses.
    pub fn create() -> Result<Self> {
        let directory = tempfile::Builder::new().prefix(PREFIX).tempdir();
        let directory = directory.context("no directory for the programs' files")?;
        let sweeper = Sweeper::start([TASK.as_ref(), directory.path().as_os_str()])?;
        Ok(Self { directory, sweeper })
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Notifies the sweeper of the running program, including its group; or that none is running.
    pub fn note(&self, program: Option<&Child>) {
        self.sweeper.note(&program.map_or_else(String::new, |program| program.id().to_string()));
    }
}

/// In the sweeper: waits until the program that started it has ended, and removes its remains.
/// Returns `false` if this process is not a sweeper.
pub fn sweep() -> bool {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [task, directory] = &arguments[..] else { return false };
    let directory = Path::new(directory);
    let name = directory.file_name().unwrap_or_default().to_string_lossy();
    if task != TASK || !name.starts_with(PREFIX) {
        return false;
    }
    if let Some(group) = remaining().parse().ok().and_then(Pid::from_raw) {
        // Fails only if it has ended by itself.
        let _ = kill_process_group(group, Signal::KILL);
    }
    // Nobody is left to whom a failure could be reported.
    let _ = clear_up(|| match std::fs::remove_dir_all(directory) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    });
    true
}
