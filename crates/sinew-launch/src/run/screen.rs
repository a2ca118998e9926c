//! Standard output, which may be slow: a terminal, or a pipe to a program that doesn't read.
//!
//! Output waits here, and the launch's thread never does. Each process has a share of the waiting
//! bytes. A process that has used up its share isn't read from: it waits for the reader as it would
//! if it wrote to standard output itself, and the others don't.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{SendFlags, send};

/// Most bytes of one process that may wait.
const SHARE: usize = 64 << 10;

pub(super) struct Screen {
    to: OwnedFd,
    is_socket: bool,
    /// Waiting texts, each with the index of its share.
    waiting: VecDeque<(usize, Vec<u8>)>,
    /// Bytes of the first text that have been written.
    written: usize,
    /// Waiting bytes of each process; the last entry is the launch's own.
    shares: Vec<usize>,
    /// The reader is gone.
    is_closed: bool,
}

impl Screen {
    /// Opens standard output for that many processes.
    pub(super) fn open(processes: usize) -> io::Result<Self> {
        let (to, is_socket) = without_blocking()?;
        let shares = vec![0; processes + 1];
        Ok(Self { to, is_socket, waiting: VecDeque::new(), written: 0, shares, is_closed: false })
    }

    /// Returns the index of the launch's own share.
    pub(super) fn own(&self) -> usize {
        self.shares.len() - 1
    }

    /// Returns `true` if that process has room for more.
    pub(super) fn has_room(&self, process: usize) -> bool {
        self.shares[process] < SHARE
    }

    /// Returns `true` if output waits.
    pub(super) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Returns the number of lines that wait.
    pub(super) fn waiting_lines(&self) -> usize {
        self.waiting.iter().flat_map(|(_, text)| text).filter(|&&byte| byte == b'\n').count()
    }

    /// Returns `true` if the reader is gone: then all output is discarded.
    pub(super) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Returns the descriptor to wait on.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.to.as_fd()
    }

    /// Adds a text, which is written as soon as possible.
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

    /// Writes as much as standard output takes without blocking.
    pub(super) fn write(&mut self) {
        while let Some((owner, text)) = self.waiting.front() {
            let rest = &text[self.written..];
            let written = match self.is_socket {
                true => send(&self.to, rest, SendFlags::DONTWAIT | SendFlags::NOSIGNAL),
                false => rustix::io::write(&self.to, rest),
            };
            match written {
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

/// Opens standard output once more, so that making it non-blocking doesn't affect other processes.
/// A file or a socket can't be reopened, and is used as it is. Returns `true` for a socket: each
/// call that writes to it has to say that it doesn't block.
fn without_blocking() -> io::Result<(OwnedFd, bool)> {
    let own = io::stdout();
    let kind = rustix::fs::fstat(&own).map(|status| FileType::from_raw_mode(status.st_mode));
    if let Ok(FileType::Fifo | FileType::CharacterDevice) = kind {
        let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        if let Ok(opened) = rustix::fs::open("/proc/self/fd/1", flags, Mode::empty()) {
            return Ok((opened, false));
        }
    }
    Ok((own.as_fd().try_clone_to_owned()?, kind == Ok(FileType::Socket)))
}
