//! A running process.

use std::fs::DirBuilder;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::Pid;

use super::family;
use crate::plan::{Process, Word};

/// One run of a process.
pub(super) struct Child {
    pub(super) pid: Pid,
    /// It was reported that other processes have waited for it for long.
    pub(super) is_told_late: bool,
    /// It has ended and been reaped; other processes of its group remain.
    pub(super) is_lingering: bool,
}

/// The ends of the pipes of a process's standard output and standard error.
pub(super) type Outputs = [Option<OwnedFd>; 2];

/// The reason why a process can't be started.
#[derive(Debug, thiserror::Error)]
pub(super) enum StartError {
    #[error("{}: {source}", path.display())]
    Program { path: PathBuf, source: io::Error },
    #[error("its parameter file {} can't be written: {source}", path.display())]
    ParameterFile { path: PathBuf, source: io::Error },
}

impl Child {
    /// Starts a process in a group of its own, so that Ctrl-C reaches it only through the launch.
    /// Also returns its output.
    ///
    /// Its parameter files in `temporary`, which is created if it is missing, are named by its
    /// index in the plan, `number`.
    pub(super) fn start(
        process: &Process,
        number: usize,
        mark: &str,
        temporary: &Path,
    ) -> Result<(Self, Outputs), StartError> {
        let mut command = Command::new(&process.program);
        for (position, word) in process.arguments.iter().enumerate() {
            match word {
                Word::Text(text) => drop(command.arg(text)),
                Word::File(text) => {
                    let path = temporary.join(format!("{number}.{position}.yaml"));
                    // A program that tidies up may have removed the directory.
                    let directory = DirBuilder::new().recursive(true).mode(0o700).create(temporary);
                    if let Err(source) = directory.and_then(|()| std::fs::write(&path, text)) {
                        return Err(StartError::ParameterFile { path, source });
                    }
                    command.arg(path);
                }
            }
        }
        command.env_clear().envs(&*process.environment).env(family::VARIABLE, mark).process_group(0);
        if let Some(directory) = &process.directory {
            command.current_dir(directory);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let failed = |source| StartError::Program { path: process.program.clone(), source };
        let mut child = command.spawn().map_err(failed)?;
        let outputs = [child.stdout.take().map(OwnedFd::from), child.stderr.take().map(OwnedFd::from)];
        for stream in outputs.iter().flatten() {
            // Only the launch's end: the process's own end blocks as usual.
            let flags = fcntl_getfl(stream).and_then(|flags| fcntl_setfl(stream, flags | OFlags::NONBLOCK));
            flags.map_err(|error| failed(error.into()))?;
        }
        Ok((Self { pid: Pid::from_child(&child), is_told_late: false, is_lingering: false }, outputs))
    }
}
