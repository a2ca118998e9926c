//! A side of a comparison: a program in Rust, C, C++ or Python, and what it prints at its end.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::interpreter::Interpreter;
use crate::process::command;
use crate::{Error, Figures, Ground, Process, Samples, Settings, Work, nanoseconds, now_ns};

/// Operations between two readings of the clock.
pub(super) const CHUNK: u32 = 100;

/// Number of chunks that are kept.
const ROOM: usize = 1 << 14;

/// Environment variables by which a user's settings would reach the programs.
const OF_USERS: [&str; 2] = ["SINEW_DOMAIN_ID", "ROS_DOMAIN_ID"];

/// Returns the options that name a side: the case, its language and how it uses that.
pub(super) fn side(case: &str, language: &str, how: &str) -> Settings {
    Settings::new().with("case", case).with("language", language).with("how", how)
}

/// The last line of a program.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct Measured {
    /// Times in nanoseconds.
    pub(super) samples: Samples,
    pub(super) lost: u64,
    /// Number of messages that were copied.
    #[serde(default)]
    pub(super) copies: Option<u64>,
    /// CPU time in percent of one core.
    #[serde(default)]
    pub(super) cpu_percent: Option<f64>,
    /// Number of times that the process was woken.
    #[serde(default)]
    pub(super) wake_ups: Option<u64>,
}

impl Measured {
    /// Repeats the operation for a time, after a chunk that warms up. Has the times of chunks.
    pub(super) fn repeating<E>(
        time: Duration,
        mut operation: impl FnMut() -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut chunk = || (0..CHUNK).try_for_each(|_| operation());
        let mut samples = Samples::with_room_for(ROOM);
        chunk()?;
        let mut now = now_ns();
        let until = now + nanoseconds(time);
        while now < until {
            let began = now;
            chunk()?;
            now = now_ns();
            samples.record(now - began);
        }
        Ok(Self { samples, ..Self::default() })
    }

    /// Returns the figures of a round; each time is of this many operations.
    pub(super) fn figures(&self, operations: u32) -> Figures {
        let Self { copies, cpu_percent, wake_ups, .. } = *self;
        let figures = Figures::of(&self.samples, operations).faulty(self.lost, 0);
        Figures { copies, cpu_percent, wake_ups, ..figures }
    }
}

/// A program with its arguments.
pub(super) enum Program<'a, W> {
    /// This one, in a role.
    Rust(W),
    /// A compiled one.
    Compiled(&'a PathBuf, Vec<String>),
    /// One in Python.
    Interpreted(&'a Interpreter, &'a PathBuf, Vec<String>),
}

impl<W: Work> Program<'_, W> {
    pub(super) fn command(&self, directory: &Path) -> Result<Command, Error> {
        let mut command = match self {
            Self::Rust(work) => command(work)?,
            Self::Compiled(program, arguments) => {
                let mut command = Command::new(program);
                command.args(arguments).env_remove("LD_LIBRARY_PATH"); // it has the path of its library
                command
            }
            Self::Interpreted(interpreter, program, arguments) => {
                let mut command = interpreter.command();
                command.arg(program).args(arguments);
                command
            }
        };
        command.env("SINEW_DIR", directory);
        for name in OF_USERS {
            command.env_remove(name);
        }
        Ok(command)
    }

    /// Starts it, to measure for about `time`.
    pub(super) fn start(&self, directory: &Path, time: Duration) -> Result<Process, Error> {
        let mut command = self.command(directory)?;
        Ok(Process::run("languages", command.stdin(Stdio::piped()))?.measuring_for(time))
    }

    /// Runs it to its end.
    pub(super) fn measure(&self, directory: &Path, time: Duration) -> Result<Measured, Error> {
        self.start(directory, time)?.finish()
    }

    /// Measures a round beside another process, which is ended with it.
    pub(super) fn measure_beside(
        &self,
        other: &Self,
        ground: &Ground,
        time: Duration,
    ) -> Result<Measured, Error>
    where
        W: Sync,
    {
        ground.round(|directory| {
            let mut other = other.start(directory, Duration::ZERO)?;
            other.hear::<()>()?;
            self.measure(directory, time)
        })
    }
}
