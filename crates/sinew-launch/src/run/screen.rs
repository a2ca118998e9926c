//! Standard output, which may be slow: a terminal, or a pipe to a program that doesn't read.
//!
//! What is to be written waits here, and the thread never does. Each process has its share of what
//! may wait; one that has used it up isn't read from, so it waits for the reader as it would if it
//! wrote there itself, and the others don't.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

/// How much of one process may wait.
const SHARE: usize = 64 << 10;

pub(super) struct Screen {
    to: OwnedFd,
    /// Text, and whose it is.
    waiting: VecDeque<(usize, Vec<u8>)>,
    /// How much of the first has been written.
    written: usize,
    /// Bytes that wait, for each process; the last is our own.
    shares: Vec<usize>,
    /// Nobody reads any more.
    is_closed: bool,
}

impl Screen {
    /// Standard output for so many processes.
    pub(super) fn open(processes: usize) -> io::Result<Self> {
        let shares = vec![0; processes + 1];
        Ok(Self { to: without_blocking()?, waiting: VecDeque::new(), written: 0, shares, is_closed: false })
    }

    /// Whose share is our own.
    pub(super) fn own(&self) -> usize {
        self.shares.len() - 1
    }

    /// Whether more of that process is taken.
    pub(super) fn has_room(&self, process: usize) -> bool {
        self.shares[process] < SHARE
    }

    /// Whether something waits.
    pub(super) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether nobody reads any more: then all is thrown away.
    pub(super) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// To wait on.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.to.as_fd()
    }

    /// Adds a text, which will be written when it can be.
    pub(super) fn add(&mut self, process: usize, text: &[u8]) {
        if self.is_closed || text.is_empty() {
            return;
        }
        self.shares[process] += text.len();
        match self.waiting.back_mut() {
            Some((owner, waiting)) if *owner == process && waiting.len() < SHARE => {
                waiting.extend_from_slice(text)
            }
            _ => self.waiting.push_back((process, text.to_vec())),
        }
    }

    /// Writes what is taken at once.
    pub(super) fn write(&mut self) {
        while let Some((owner, text)) = self.waiting.front() {
            match rustix::io::write(&self.to, &text[self.written..]) {
                Ok(count) => {
                    self.written += count;
                    if self.written == text.len() {
                        self.shares[*owner] -= text.len();
                        self.waiting.pop_front();
                        self.written = 0;
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => {
                    self.is_closed = true;
                    self.waiting.clear();
                    self.shares.fill(0);
                }
            }
        }
    }
}

/// Standard output, opened once more so that others who have it don't notice that it doesn't
/// block. A file or a socket can't be, and is written to as it is.
fn without_blocking() -> io::Result<OwnedFd> {
    let own = io::stdout();
    let kind = rustix::fs::fstat(&own).map(|status| FileType::from_raw_mode(status.st_mode));
    if let Ok(FileType::Fifo | FileType::CharacterDevice) = kind {
        let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        if let Ok(opened) = rustix::fs::open("/proc/self/fd/1", flags, Mode::empty()) {
            return Ok(opened);
        }
    }
    own.as_fd().try_clone_to_owned()
}
