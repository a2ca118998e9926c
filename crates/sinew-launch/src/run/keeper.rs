//! A process beside the launch that outlives it, and acts only if the launch is killed: then it
//! ends the processes that the launch has started.
//!
//! It reads from a pipe with the launch as its only writer. A byte means that the launch has
//! finished; the end of the pipe without a byte means that it was killed.

use std::io::{self, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::family;

/// Time between SIGTERM and SIGKILL for the processes.
const GRACE: Duration = Duration::from_secs(2);

/// The launch's handle of the keeper.
pub(super) struct Keeper(Child);

impl Keeper {
    /// Starts the keeper with this command line, which has to call [`keep`] with the arguments that
    /// follow.
    pub(super) fn start(command: &[String], mark: &str, temporary: &Path) -> io::Result<Self> {
        let Some((program, arguments)) = command.split_first() else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        Command::new(program)
            .args(arguments)
            .arg(mark)
            .arg(temporary)
            .env_remove(family::VARIABLE) // a launch around this one ends it, and then needs the keeper
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0) // keeps Ctrl-C away from it
            .spawn()
            .map(Self)
    }

    /// Ends the keeper after all processes have ended. Blocks until it has ended.
    pub(super) fn dismiss(mut self) {
        if let Some(mut to) = self.0.stdin.take() {
            let _ = to.write_all(b"."); // fails if the keeper is gone
        }
        let _ = self.0.wait(); // it may already have been reaped
    }
}

/// Runs the keeper, in a process of its own: waits for the launch's end, and if that came
/// unexpectedly, ends the processes that it started (SIGTERM, after 2 s SIGKILL) and removes its
/// temporary files. Blocks until then. SIGINT, SIGTERM and SIGHUP have no effect.
///
/// `arguments` are the two that the launch appended to its
/// [`RunOptions::keeper`](super::RunOptions).
pub fn keep(arguments: &[String]) {
    let [mark, temporary] = arguments else { return };
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // It ends with the pipe. Without the handler it would work as well, until such a signal.
        let _ = signal_hook::flag::register(signal, Arc::default());
    }
    let mut byte = [0];
    if let Ok(1) = io::stdin().read(&mut byte) {
        return;
    }
    family::end(mark, GRACE);
    let temporary = PathBuf::from(temporary);
    // Only a directory that the launch made, under this name.
    if temporary.file_name().is_some_and(|name| name.to_string_lossy().starts_with(TEMPORARY)) {
        let _ = std::fs::remove_dir_all(temporary);
    }
}

/// Prefix of the names of temporary directories.
pub(super) const TEMPORARY: &str = "sinew-launch-";
