//! A process beside the launch that outlives it, and acts only if the launch is killed: then it
//! ends the processes that the launch has started.
//!
//! It reads from a pipe with the launch as its only writer: a line `+GROUP` for each process group
//! that has started, `-GROUP` for each that has ended, and `.` when the launch has finished. The
//! end of the pipe without that means that the launch was killed.

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::family::{self, Family};

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
        let keeper = Command::new(program)
            .args(arguments)
            .arg(mark)
            .arg(temporary)
            .env_remove(family::VARIABLE) // so that no launch around this one ends it before its work
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0) // keeps Ctrl-C away from it
            .spawn()?;
        let keeper = Self(keeper);
        if let Some(to) = &keeper.0.stdin {
            // A keeper that was stopped doesn't stop the launch.
            fcntl_setfl(to, fcntl_getfl(to)? | OFlags::NONBLOCK)?;
        }
        Ok(keeper)
    }

    /// Tells the keeper that a process group exists from now on.
    pub(super) fn started(&self, group: i32) {
        self.tell(&format!("+{group}\n"));
    }

    /// Tells the keeper that a process group is gone.
    pub(super) fn ended(&self, group: i32) {
        self.tell(&format!("-{group}\n"));
    }

    fn tell(&self, line: &str) {
        if let Some(mut to) = self.0.stdin.as_ref() {
            let _ = to.write_all(line.as_bytes()); // fails if the keeper is gone or was stopped
        }
    }

    /// Ends the keeper after all processes have ended. Blocks until it has ended.
    pub(super) fn dismiss(mut self) {
        self.tell(".\n");
        drop(self.0.stdin.take());
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
    let mut family = Family { mark: mark.clone(), groups: BTreeSet::new() };
    for line in io::stdin().lines().map_while(Result::ok) {
        let group = line.get(1..).and_then(|group| group.parse().ok());
        match (line.chars().next(), group) {
            (Some('+'), Some(group)) => drop(family.groups.insert(group)),
            (Some('-'), Some(group)) => drop(family.groups.remove(&group)),
            _ => return,
        }
    }
    family.end(GRACE);
    let temporary = PathBuf::from(temporary);
    // Only a directory that the launch made, under this name.
    if temporary.file_name().is_some_and(|name| name.to_string_lossy().starts_with(TEMPORARY)) {
        let _ = std::fs::remove_dir_all(temporary);
    }
}

/// Prefix of the names of temporary directories.
pub(super) const TEMPORARY: &str = "sinew-launch-";
