//! The other processes of a benchmark: this program again, in a hidden role, ended when they are no
//! longer needed or when this process dies.
//!
//! They communicate in lines of JSON: orders go to the other process's standard input, its results
//! come from its standard output. Another process ends by itself when its standard input is closed.

mod directory;
mod measuring;

use std::any::type_name;
use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::getpid;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Error;
pub use crate::sweeper::{Sweeper, clear_up, ourselves, remaining};
pub use directory::Directory;
use directory::Place;
pub(crate) use measuring::pause_until_all;
pub use measuring::{Measuring, await_all, end_with_parent, serve};

/// Longest silence of another process when it is expected to send something.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The work of another process, with everything it needs.
pub trait Work: Serialize + DeserializeOwned {
    /// Returns the measured scenario, for messages: by default, the module of this type.
    fn scenario(&self) -> &'static str {
        type_name::<Self>().split("::").nth(1).unwrap_or_default()
    }

    /// Does the work, in the other process.
    fn play(&self, measuring: Measuring) -> Result<(), Error>;
}

/// A kind of [`Work`] that a program can do in another process.
#[derive(Clone, Copy)]
pub struct Role {
    name: fn() -> &'static str,
    play: fn(Value, Measuring) -> Result<(), Error>,
}

impl Role {
    /// Returns the role for this kind of work.
    pub const fn of<W: Work>() -> Self {
        Self { name: type_name::<W>, play: play::<W> }
    }
}

fn play<W: Work>(work: Value, measuring: Measuring) -> Result<(), Error> {
    let work: W = serde_json::from_value(work).map_err(|_| Error::NotOurPeer)?;
    work.play(measuring)
}

/// The task of a process of this program.
#[derive(Deserialize, Serialize)]
enum Task {
    /// Remove the directory of a run when that is over.
    Sweep { place: Place, name: String },
    /// Take part in a measurement: the type of the [`Work`], and the work.
    Measure(String, Value),
}

/// Returns the arguments with which this program does a task.
fn arguments(task: &Task) -> Result<[String; 3], Error> {
    let text = serde_json::to_string(task).map_err(|error| Error::Output(error.into()))?;
    Ok(["peer".to_owned(), getpid().as_raw_nonzero().to_string(), text])
}

/// Returns the command with which this program does the work in another process.
pub(crate) fn command(work: &impl Work) -> Result<Command, Error> {
    let value = serde_json::to_value(work).map_err(|error| Error::Output(error.into()))?;
    let mut command = ourselves();
    command.args(arguments(&Task::Measure(name_of(work).to_owned(), value))?);
    Ok(command)
}

fn name_of<W: Work>(_: &W) -> &'static str {
    type_name::<W>()
}

/// The measuring process's handle of another process. Dropping it early ends the process.
pub struct Process {
    child: Child,
    /// The measured scenario, for messages.
    what: &'static str,
    orders: Option<ChildStdin>,
    told: ChildStdout,
    /// Longest silence when it is expected to send something.
    patience: Duration,
    /// Bytes after the last line that was read.
    rest: Vec<u8>,
}

impl Process {
    /// Starts it. The calling thread must outlive it: the kernel ends it with the thread.
    pub fn start<W: Work>(work: &W) -> Result<Self, Error> {
        Self::start_with(work, Stdio::piped())
    }

    /// Starts it with a standard input of its own: it gets no orders.
    pub(crate) fn start_with<W: Work>(work: &W, input: Stdio) -> Result<Self, Error> {
        Self::run(work.scenario(), command(work)?.stdin(input))
    }

    /// Starts any program that communicates like a process of this one. The calling thread must
    /// outlive it.
    pub(crate) fn run(what: &'static str, command: &mut Command) -> Result<Self, Error> {
        let call = "starting another process of a benchmark";
        let failed = |source| Error::System { call, source };
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().map_err(failed)?;
        let missing = || failed(std::io::ErrorKind::BrokenPipe.into());
        let orders = child.stdin.take();
        let told = child.stdout.take().ok_or_else(missing)?;
        Ok(Self { child, what, orders, told, patience: PATIENCE, rest: Vec::new() })
    }

    /// Waits longer for each of its lines: it measures for that time without sending any.
    pub(crate) fn measuring_for(mut self, time: Duration) -> Self {
        self.patience = PATIENCE + time;
        self
    }

    /// Sends an order: one line.
    pub fn order(&mut self, what: &impl Serialize) -> Result<(), Error> {
        let mut line = serde_json::to_vec(what).map_err(|error| Error::Output(error.into()))?;
        line.push(b'\n');
        let written = self.orders.as_mut().map(|orders| orders.write_all(&line));
        match written {
            Some(Ok(())) => Ok(()),
            _ => Err(self.ended()),
        }
    }

    /// Waits for its next line.
    pub fn hear<T: DeserializeOwned>(&mut self) -> Result<T, Error> {
        let line = self.line()?;
        serde_json::from_slice(&line).map_err(|_| Error::PeerEnded {
            what: self.what,
            status: format!("after it had told {:?}", String::from_utf8_lossy(&line)),
        })
    }

    /// Sends the number of messages that it should have received, and waits for its results and its
    /// end.
    pub fn finish_after<T: DeserializeOwned>(mut self, messages: u64) -> Result<T, Error> {
        self.order(&messages)?;
        self.finish()
    }

    /// Orders it to end, and waits for its last line and its end.
    pub fn finish<T: DeserializeOwned>(mut self) -> Result<T, Error> {
        self.orders = None;
        let told = self.hear()?;
        // It leaves the domain as it would elsewhere: only a process that hangs is killed.
        match self.line() {
            Ok(_) | Err(Error::PeerEnded { .. }) => Ok(told),
            Err(error) => Err(error),
        }
    }

    /// Returns `true` if it has sent something, or ended.
    pub fn has_told(&self) -> Result<bool, Error> {
        Ok(!self.rest.is_empty() || readable(&self.told, Duration::ZERO)?)
    }

    /// Fails if it has ended.
    pub fn check(&mut self) -> Result<(), Error> {
        match status(&mut self.child)? {
            None => Ok(()),
            Some(_) => Err(self.ended()),
        }
    }

    fn line(&mut self) -> Result<Vec<u8>, Error> {
        let mut chunk = [0; 1 << 16];
        let mut seen = 0;
        loop {
            if let Some(end) = self.rest[seen..].iter().position(|&byte| byte == b'\n') {
                let mut line: Vec<u8> = self.rest.drain(..=seen + end).collect();
                line.pop();
                return Ok(line);
            }
            seen = self.rest.len();
            if !readable(&self.told, self.patience)? {
                return Err(Error::PeerSilent { what: self.what, waited: self.patience });
            }
            let read = self.told.read(&mut chunk).map_err(|source| Error::System { call: "read", source })?;
            if read == 0 {
                return Err(self.ended());
            }
            self.rest.extend_from_slice(&chunk[..read]);
        }
    }

    /// Returns the error for a process that has ended, or is about to.
    fn ended(&mut self) -> Error {
        match self.child.wait() {
            Ok(status) => Error::PeerEnded { what: self.what, status: status.to_string() },
            Err(source) => Error::System { call: "waitpid", source },
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It has nothing to lose. Both fail only if it has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the exit status of a process, if it has ended.
pub fn status(child: &mut Child) -> Result<Option<ExitStatus>, Error> {
    child.try_wait().map_err(|source| Error::System { call: "waitpid", source })
}

/// Waits until there is something to read, or the writer is gone; returns `false` after `longest`.
fn readable(pipe: &ChildStdout, longest: Duration) -> Result<bool, Error> {
    let longest = Timespec { tv_sec: longest.as_secs().cast_signed(), tv_nsec: 0 };
    loop {
        match poll(&mut [PollFd::new(pipe, PollFlags::IN)], Some(&longest)) {
            Ok(ready) => return Ok(ready > 0),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(Error::system("poll")(errno)),
        }
    }
}
