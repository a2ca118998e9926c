//! The bounded queue of lines to the logging thread: a flood costs no more than its bounds, and no
//! caller ever waits.
//!
//! Any thread pushes; only the logging thread takes. Lines that don't fit are dropped and counted.
//!
//! Waking a thread costs its caller some µs, and often the processor, as the kernel likes to run
//! the woken thread at once. So the first line after a silence only sets an alarm ([`Alarm`]), with
//! a system call that wakes no thread. After [`LATER`] the kernel wakes the logging thread, which
//! writes all lines that came meanwhile. Lines in between cost no system call; when the queue is
//! half full, and when a thread waits for lines to be written, the alarm is set to now.
//!
//! No line is missed: the thread looks after each sleep, and a call that comes before it sleeps
//! ends that sleep at once (see [`Parker`]).

use super::line::Line;
use crate::sys::clock::{Time, TimerFd};
use crate::sys::parker::{Bell, Parker};
use crate::sys::sync::{Arc, AtomicBool, AtomicU64, AtomicUsize, Ordering};
use crossbeam_queue::ArrayQueue;
use rustix::event::{PollFd, PollFlags, poll};
use std::io;
use std::time::Duration;

/// Maximum number of waiting lines.
pub(super) const LINES: usize = 4096;

/// Maximum bytes of waiting text.
const BYTES: usize = 16 << 20;

/// Time for which lines wait to be written together with the next ones.
const LATER: Duration = Duration::from_millis(5);

pub(super) struct Queue {
    lines: ArrayQueue<Line>,
    bytes: AtomicUsize,
    /// Numbers of lines that were pushed; of those, that were written; and that were dropped for
    /// lack of room.
    pushed: AtomicU64,
    written: AtomicU64,
    dropped: AtomicU64,
    /// Number of dropped lines that were reported.
    reported: AtomicU64,
    parker: Parker,
    alarm: Arc<Alarm>,
}

/// The alarm that the logging thread sleeps on: readable when it is time to write.
struct Alarm {
    timer: TimerFd,
    /// Whether it is set to now and the thread hasn't seen that.
    is_urgent: AtomicBool,
}

impl Bell for Alarm {
    /// Returns 0: a ring shows on the timer, which stays readable.
    fn value(&self) -> u32 {
        0
    }

    fn ring(&self) {
        // Fails only for an invalid descriptor or an invalid time.
        let _ = self.timer.set(Some(Time::steady() + LATER));
    }
}

impl Alarm {
    /// Wakes the logging thread now.
    fn ring_now(&self) {
        // A thread that finds it set does nothing more: the one that set it wakes the logging
        // thread, which clears it before it looks, and so (AcqRel) sees the lines pushed before
        // this.
        if !self.is_urgent.swap(true, Ordering::AcqRel) {
            let _ = self.timer.set(Some(Time::from_nanoseconds(1)));
        }
    }

    /// Sleeps until the alarm is due.
    fn sleep(&self) {
        let _ = poll(&mut [PollFd::new(&self.timer, PollFlags::IN)], None); // a signal: sleeps again
    }

    /// Clears the alarm after it was seen; later rings set it anew.
    fn clear(&self) {
        // The timer first: a ring in between leaves it set, for one unnecessary look. In the other
        // order the flag would stay set without the timer, and later rings would set no alarm.
        let _ = self.timer.set(None);
        self.is_urgent.swap(false, Ordering::AcqRel);
    }
}

impl Queue {
    /// # Errors
    /// Returns the operating system's error if no descriptor is left.
    pub(super) fn new() -> io::Result<Self> {
        let alarm = Arc::new(Alarm { timer: TimerFd::new()?, is_urgent: AtomicBool::new(false) });
        Ok(Self {
            lines: ArrayQueue::new(LINES),
            bytes: AtomicUsize::new(0),
            pushed: AtomicU64::new(0),
            written: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            reported: AtomicU64::new(0),
            parker: Parker::new(),
            alarm,
        })
    }

    /// Pushes a line, or counts it as dropped if there is no room.
    pub(super) fn push(&self, line: Line) {
        let size = line.size();
        // Relaxed, all of these: they count, and order nothing; they only bound what is let in.
        let waiting = self.bytes.fetch_add(size, Ordering::Relaxed);
        // Counted before it is pushed: `flush` never waits for fewer lines than were pushed before
        // it.
        self.pushed.fetch_add(1, Ordering::Relaxed);
        if waiting.saturating_add(size) > BYTES || self.lines.push(line).is_err() {
            self.bytes.fetch_sub(size, Ordering::Relaxed);
            self.dropped.fetch_add(1, Ordering::Release); // pairs with `pushed`
        }
        self.parker.unpark();
        if self.lines.len() > LINES / 2 {
            self.alarm.ring_now();
        }
    }

    /// Takes the next line; for the logging thread.
    pub(super) fn take(&self) -> Option<Line> {
        let line = self.lines.pop()?;
        self.bytes.fetch_sub(line.size(), Ordering::Relaxed);
        Some(line)
    }

    /// Counts taken lines as written.
    pub(super) fn count_written(&self, lines: u64) {
        self.written.fetch_add(lines, Ordering::Release); // pairs with `is_written`
    }

    /// Returns the number of lines dropped since the last call.
    pub(super) fn take_dropped(&self) -> u64 {
        let dropped = self.dropped.load(Ordering::Relaxed);
        dropped - self.reported.swap(dropped, Ordering::Relaxed)
    }

    /// Waits for lines; for the logging thread.
    pub(super) fn wait(&self) {
        self.parker.park_at(&self.alarm, |_| self.alarm.sleep());
        self.alarm.clear();
    }

    /// Returns the number of lines pushed until now that must be written, for
    /// [`is_written`](Self::is_written). A line that another thread is about to drop counts as
    /// well.
    pub(super) fn pushed(&self) -> u64 {
        // In this order: a line counted as dropped (Acquire) is counted as pushed.
        let dropped = self.dropped.load(Ordering::Acquire);
        self.pushed.load(Ordering::Relaxed) - dropped
    }

    /// Whether a pushed line isn't written yet.
    pub(super) fn is_behind(&self) -> bool {
        self.written.load(Ordering::Acquire) < self.pushed()
    }

    /// Whether as many lines are written as were [pushed](Self::pushed) then, or all that are
    /// pushed now, if some of them were dropped. Wakes the thread if not.
    pub(super) fn is_written(&self, pushed: u64) -> bool {
        let is_written = self.written.load(Ordering::Acquire) >= pushed || !self.is_behind();
        if !is_written {
            self.alarm.ring_now();
        }
        is_written
    }
}

#[cfg(test)]
mod tests {
    use super::super::line::Place;
    use super::*;
    use crate::sys::logging::LogLevel;

    #[test]
    fn what_is_dropped_counts_for_no_other_line() {
        let queue = Queue::new().unwrap();
        let push = || {
            let place = Place { module: "", file: "", line: 0 };
            queue.push(Line::new(LogLevel::Info, 0, "arm", format_args!("hot"), place));
        };
        (0..LINES).for_each(|_| push());
        let pushed = queue.pushed();
        (0..2 * LINES).for_each(|_| push());
        assert_eq!((pushed, queue.pushed()), (LINES as u64, LINES as u64));
        assert!(queue.is_behind() && !queue.is_written(pushed));
        assert_eq!((queue.take_dropped(), queue.take_dropped()), (2 * LINES as u64, 0));
        assert_eq!(std::iter::from_fn(|| queue.take()).count(), LINES);
        queue.count_written(LINES as u64 - 1);
        assert!(!queue.is_written(pushed));
        queue.count_written(1);
        assert!(!queue.is_behind() && queue.is_written(pushed));
    }
}
