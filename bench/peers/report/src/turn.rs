//! Runs a program for one round: with a time limit, in a process group of its own, so that
//! everything it has started ends with it.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::sweeper::Place;

/// Time that a program gets to end by itself when asked to.
const LEAVING: Duration = Duration::from_secs(2);

/// Bytes of a program's output that are kept.
const KEPT: u64 = 1 << 16;

/// Runs programs.
pub struct Turns {
    /// Readable once a signal has asked this program to end.
    asked: UnixStream,
    /// The directory for the programs' files; it is removed with this, and the running program is
    /// ended.
    place: Place,
}

/// The end of a program's turn.
#[derive(Debug)]
pub enum Turn {
    /// Success, with the last 64 KB of its output.
    Said(String),
    /// It failed, with the reason in one line.
    Failed(String),
    /// It doesn't support the case.
    NoPart,
    /// It was ended because it took longer than this.
    TooLong(Duration),
    /// It was ended because a signal asked this program to end.
    Asked,
}

impl Turns {
    /// Starts: from now on, Ctrl-C, SIGTERM and a closed terminal end the current turn and all
    /// further ones.
    ///
    /// # Errors
    ///
    /// If the operating system refuses.
    pub fn begin() -> Result<Self> {
        let (asked, asking) = UnixStream::pair().context("no pair of sockets for signals")?;
        let closed = (!is_ignored(SIGHUP)).then_some(SIGHUP);
        for signal in [SIGINT, SIGTERM].into_iter().chain(closed) {
            let asking = asking.try_clone().context("no socket for signals")?;
            signal_hook::low_level::pipe::register(signal, asking).context("signals can't be caught")?;
        }
        Ok(Self { asked, place: Place::create()? })
    }

    /// Returns `true` if a signal has asked this program to end.
    pub fn asked(&self) -> bool {
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut [PollFd::new(&self.asked, PollFlags::IN)], Some(&at_once)).is_ok_and(|ready| ready > 0)
    }

    /// Runs a program to its end, or to its limit. Its standard input is empty.
    pub fn take(&self, command: &mut Command, limit: Duration) -> Turn {
        if self.asked() {
            return Turn::Asked;
        }
        self.run(command, limit).unwrap_or_else(|error| Turn::Failed(format!("{error:#}")))
    }

    fn run(&self, command: &mut Command, limit: Duration) -> Result<Turn> {
        let (mut out, mut complaints) = (tempfile::tempfile()?, tempfile::tempfile()?);
        let mut child = command
            .env("TMPDIR", self.place.path())
            .stdin(Stdio::null())
            .stdout(out.try_clone()?)
            .stderr(complaints.try_clone()?)
            .process_group(0)
            .spawn()
            .with_context(|| format!("{} can't be started", command.get_program().display()))?;
        self.place.note(Some(&child));
        let waited = self.wait(&child, limit);
        if !matches!(waited, Ok(End::Itself)) {
            end(&mut child);
        }
        let status = child.wait()?;
        // Processes that it may have left running must not disturb the next one.
        let _ = kill_group(&child, Signal::KILL);
        self.place.note(None);
        match waited? {
            End::Itself => {}
            End::Asked => return Ok(Turn::Asked),
            End::Limit => return Ok(Turn::TooLong(limit)),
        }
        let said = tail(&mut out)?;
        Ok(match status.success() {
            true if said.trim().is_empty() => Turn::Failed("it said nothing".to_owned()),
            true => Turn::Said(said),
            false if status.code() == Some(harness::NO_PART.into()) => Turn::NoPart,
            false => Turn::Failed(reason(&tail(&mut complaints)?, status)),
        })
    }

    fn wait(&self, child: &Child, limit: Duration) -> Result<End> {
        let process = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
        let until = Instant::now() + limit;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let left = Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() };
            let mut watched = [PollFd::new(&process, PollFlags::IN), PollFd::new(&self.asked, PollFlags::IN)];
            match poll(&mut watched, Some(&left)) {
                Ok(0) => return Ok(End::Limit),
                Ok(_) if !watched[0].revents().is_empty() => return Ok(End::Itself),
                Ok(_) => return Ok(End::Asked),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }
}

/// Returns `true` if this process was started with the signal ignored, as `nohup` does; then it
/// stays ignored.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// The end of a wait for a program.
enum End {
    Itself,
    Limit,
    Asked,
}

/// Ends a program and everything that it started: asks first, so that it can clean up.
fn end(child: &mut Child) {
    let _ = kill_group(child, Signal::TERM);
    let until = Instant::now() + LEAVING;
    while Instant::now() < until && matches!(child.try_wait(), Ok(None)) {
        std::thread::sleep(Duration::from_millis(10));
    }
    let _ = kill_group(child, Signal::KILL);
}

/// Signals a program's group. Fails only if there is nothing left to end.
fn kill_group(child: &Child, signal: Signal) -> rustix::io::Result<()> {
    kill_process_group(Pid::from_child(child), signal)
}

/// Returns the last part of a program's output, as text.
fn tail(file: &mut File) -> Result<String> {
    let length = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(length.saturating_sub(KEPT)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the reason for a program's failure: the last line on its standard error, or its exit
/// status.
fn reason(complaints: &str, status: ExitStatus) -> String {
    /// Longest sentence; longer ones are cut.
    const LONGEST: usize = 300;
    match complaints.lines().rfind(|line| !line.trim().is_empty()) {
        Some(line) => line.trim().chars().take(LONGEST).collect(),
        None => format!("it ended without a word ({status})"),
    }
}

/// Returns the last line with any text: a program's answer.
pub fn answer(said: &str) -> &str {
    said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default()
}
