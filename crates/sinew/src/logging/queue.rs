//! The way of lines to the logging thread: bounded, so that a flood costs what the program allows
//! for it, and no caller ever waits.
//!
//! Any thread pushes; one thread, the logging thread, takes. What doesn't fit is dropped and counted.
//! The thread sleeps in one of two ways:
//!
//! - *with its parker* when a look found nothing: the next push wakes it, which costs its caller a
//!   system call;
//! - *for a moment* ([`DOZE`]) after it wrote something: pushes leave a call with the parker, which it
//!   is not asleep on, and so cost no system call; only one that finds the queue half full wakes it.
//!
//! No line is missed: it looks after each sleep, and a call that came before it parks ends that sleep
//! at once (see [`Parker`]).

use super::line::Line;
use crate::sys::parker::Parker;
use crate::sys::sync::{AtomicU64, AtomicUsize, Ordering};
use crossbeam_queue::ArrayQueue;
use std::time::Duration;

/// Lines that wait at most.
pub(super) const LINES: usize = 4096;

/// Bytes of text that wait at most.
const BYTES: usize = 16 << 20;

/// How long lines wait to be written together with the next ones.
const DOZE: Duration = Duration::from_millis(5);

pub(super) struct Queue {
    lines: ArrayQueue<Line>,
    bytes: AtomicUsize,
    /// How many were pushed, and how many of those were written.
    pushed: AtomicU64,
    written: AtomicU64,
    dropped: AtomicU64,
    parker: Parker,
    doze: Parker,
}

impl Queue {
    pub(super) fn new() -> Self {
        Self {
            lines: ArrayQueue::new(LINES),
            bytes: AtomicUsize::new(0),
            pushed: AtomicU64::new(0),
            written: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            parker: Parker::new(),
            doze: Parker::new(),
        }
    }

    /// Hands a line over, or counts it if there is no room.
    pub(super) fn push(&self, line: Line) {
        let size = line.size();
        // Relaxed, all of these: they count, and nothing rides on them but how much is let in.
        let waiting = self.bytes.fetch_add(size, Ordering::Relaxed);
        // Counted before it is there: `flush` never waits for less than was pushed before it.
        self.pushed.fetch_add(1, Ordering::Relaxed);
        if waiting.saturating_add(size) > BYTES || self.lines.push(line).is_err() {
            self.bytes.fetch_sub(size, Ordering::Relaxed);
            self.written.fetch_add(1, Ordering::Relaxed);
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
        self.parker.unpark();
        if self.lines.len() > LINES / 2 {
            self.doze.unpark();
        }
    }

    /// The next line; for the logging thread.
    pub(super) fn take(&self) -> Option<Line> {
        let line = self.lines.pop()?;
        self.bytes.fetch_sub(line.size(), Ordering::Relaxed);
        Some(line)
    }

    /// So many of the lines that were taken are written.
    pub(super) fn count_written(&self, lines: u64) {
        self.written.fetch_add(lines, Ordering::Release); // pairs with `is_written`
    }

    /// How many were dropped since this was asked last.
    pub(super) fn take_dropped(&self) -> u64 {
        self.dropped.swap(0, Ordering::Relaxed)
    }

    /// Waits for lines: the logging thread, after a look that found some, or none.
    pub(super) fn wait(&self, found_some: bool) {
        if found_some {
            self.doze.park(Some(DOZE));
        } else {
            self.parker.park(None);
        }
    }

    /// What was pushed until now, for [`is_written`](Self::is_written).
    pub(super) fn pushed(&self) -> u64 {
        self.pushed.load(Ordering::Relaxed)
    }

    /// Whether all that was [pushed](Self::pushed) then is written. Wakes the thread if not.
    pub(super) fn is_written(&self, pushed: u64) -> bool {
        let is_written = self.written.load(Ordering::Acquire) >= pushed;
        if !is_written {
            self.parker.unpark();
            self.doze.unpark();
        }
        is_written
    }
}
