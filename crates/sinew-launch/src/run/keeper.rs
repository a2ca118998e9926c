//! A process beside the launch that outlives it, and does nothing unless the launch is killed: then
//! it ends what the launch has started.
//!
//! It reads from a pipe whose other end only the launch has. A byte says that all is well; the end
//! without one says that the launch is gone.

use std::io::{self, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::family;

/// How long what was started may take to end after SIGTERM.
const GRACE: Duration = Duration::from_secs(2);

/// The keeper, seen from the launch.
pub(super) struct Keeper(Child);

impl Keeper {
    /// Starts it: by this command line, which has to call [`keep`] with what follows.
    pub(super) fn start(command: &[String], mark: &str, temporary: &Path) -> io::Result<Self> {
        let Some((program, arguments)) = command.split_first() else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        Command::new(program)
            .args(arguments)
            .arg(mark)
            .arg(temporary)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0) // Ctrl-C is none of its business
            .spawn()
            .map(Self)
    }

    /// All has ended: the keeper ends, too. Blocks until it has.
    pub(super) fn dismiss(mut self) {
        if let Some(mut to) = self.0.stdin.take() {
            let _ = to.write_all(b"."); // if it is gone, it needs no telling
        }
        let _ = self.0.wait(); // it may have been reaped with the others
    }
}

/// What the keeper does, in a process of its own: waits for the launch's end, and if that came
/// unexpectedly, ends what it started (SIGTERM, after 2 s SIGKILL) and removes its temporary files.
/// Blocks until then.
///
/// `arguments` are the two that the launch put behind its [`RunOptions::keeper`](super::RunOptions).
pub fn keep(arguments: &[String]) {
    let [mark, temporary] = arguments else { return };
    let mut byte = [0];
    if let Ok(1) = io::stdin().read(&mut byte) {
        return;
    }
    family::end(mark, GRACE);
    let temporary = PathBuf::from(temporary);
    // It was made by the launch, under this name.
    if temporary.file_name().is_some_and(|name| name.to_string_lossy().starts_with(TEMPORARY)) {
        let _ = std::fs::remove_dir_all(temporary);
    }
}

/// What the names of directories for temporary files begin with.
pub(super) const TEMPORARY: &str = "sinew-launch-";
