//! The front end: takes lines from the program, and runs the thread that writes them.

use super::line::{Format, Line, Place};
use super::queue::{LINES, Queue};
use super::rosout;
use super::sinks::{Console, LogFile, notice};
use crate::api::node::NodeCore;
use crate::sys::clock::{Time, nanoseconds};
use crate::sys::logging::{self, LogLevel, OUTPUTS, Source};
use crate::sys::parker::Parker;
use crate::sys::sync::{Arc, Mutex};
use std::fmt;
use std::io;
use std::sync::OnceLock;
use std::thread::{self, ThreadId};
use std::time::Duration;

/// Maximum time that the end of the program, or a panic, waits for lines to be written.
const PATIENCE: Duration = Duration::from_secs(1);

static FRONT: OnceLock<Front> = OnceLock::new();

/// Takes lines from any thread.
pub(super) struct Front {
    queue: Queue,
    /// The thread that writes them.
    thread: OnceLock<ThreadId>,
    /// Stand-ins for nodes that this thread was the last to hold; kept until their lines are
    /// written.
    stand_ins: Mutex<Vec<Arc<NodeCore>>>,
}

/// Returns the front of this process, if [`init`](super::init) was called.
pub(super) fn installed() -> Option<&'static Front> {
    FRONT.get()
}

impl Front {
    /// Creates the process's only front, if there is none.
    pub(super) fn make() -> io::Result<&'static Self> {
        let queue = Queue::new()?;
        Ok(FRONT.get_or_init(|| Self { queue, thread: OnceLock::new(), stand_ins: Mutex::default() }))
    }

    /// Passes a line to the thread. Never blocks; allocates the text.
    pub(super) fn say(&self, level: LogLevel, name: &str, text: fmt::Arguments<'_>, place: Place) {
        self.queue.push(Line::new(level, Time::wall().nanoseconds(), name, text, place));
    }

    /// Waits until earlier lines are written, at most for `timeout`. Returns `false` if they
    /// aren't.
    pub(super) fn flush(&self, timeout: Duration) -> bool {
        if self.is_own_thread() {
            return false; // the thread can't wait for itself
        }
        let pushed = self.queue.pushed();
        let until = Time::steady().nanoseconds().saturating_add(nanoseconds(timeout));
        let rest = Parker::new();
        while !self.queue.is_written(pushed) {
            if Time::steady().nanoseconds() >= until {
                return false;
            }
            rest.park(Some(Duration::from_micros(200)));
        }
        true
    }

    /// Keeps a node until earlier lines are written, as [`flush`](Self::flush) does with the caller
    /// waiting; the thread itself goes on, and keeps the node meanwhile.
    pub(super) fn flush_for(&self, stand_in: Arc<NodeCore>, timeout: Duration) -> bool {
        if self.is_own_thread() {
            self.stand_ins.lock().push(stand_in);
            return true;
        }
        self.flush(timeout)
    }

    /// Drops the nodes that were kept for lines, if all are written; for the thread itself.
    fn drop_stand_ins(&self) {
        if !self.is_behind() {
            let stand_ins = std::mem::take(&mut *self.stand_ins.lock());
            drop(stand_ins);
        }
    }

    fn is_own_thread(&self) -> bool {
        self.thread.get() == Some(&thread::current().id())
    }

    /// Whether there are lines that aren't written yet.
    pub(super) fn is_behind(&self) -> bool {
        self.queue.is_behind()
    }
}

impl log::Log for Front {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        LogLevel::from(metadata.level()) >= logging::level(metadata.target())
    }

    fn log(&self, record: &log::Record<'_>) {
        if self.enabled(record.metadata()) {
            let place = Place {
                module: record.module_path_static().unwrap_or(""),
                file: record.file_static().unwrap_or(""),
                line: record.line().unwrap_or(0),
            };
            self.say(record.level().into(), record.target(), *record.args(), place);
        }
    }

    fn flush(&self) {
        self.flush(PATIENCE);
    }
}

/// Logs a line of Sinew itself; see [`sinew_shm::logging`].
pub(super) fn say_of_sinew(source: Source, logger: &str, text: fmt::Arguments<'_>) {
    let place = Place { module: source.module, file: "", line: source.line };
    if let Some(front) = installed() {
        front.say(source.level.into(), logger, text, place);
    }
}

/// Writes the waiting lines when the program ends.
pub(super) extern "C" fn flush_at_exit() {
    flush_soon();
}

/// Waits for earlier lines to be written, for a limited time.
pub(super) fn flush_soon() {
    if let Some(front) = installed() {
        front.flush(PATIENCE);
    }
}

/// The outputs of the thread.
pub(super) struct Writer {
    pub(super) format: Format,
    pub(super) console: Option<Console>,
    pub(super) file: Option<LogFile>,
    pub(super) rosout: bool,
}

impl Writer {
    /// Writes lines forever; the thread's whole life.
    pub(super) fn run(mut self, front: &Front) {
        let _ = front.thread.set(thread::current().id());
        loop {
            let (mut taken, outputs) = (0, OUTPUTS.lock().clone());
            let queue = &front.queue;
            for line in std::iter::from_fn(|| queue.take()).take(LINES) {
                self.add(&line, outputs.console, outputs.file);
                taken += 1;
            }
            let dropped = queue.take_dropped();
            if dropped > 0 {
                let text = format!(
                    "{dropped} log lines were dropped: they came faster than they could be written ({LINES} may wait)"
                );
                self.add(&notice(LogLevel::Warn, &text), outputs.console, outputs.file);
            }
            self.flush(outputs.console);
            queue.count_written(taken);
            front.drop_stand_ins();
            queue.wait();
        }
    }

    fn add(&mut self, line: &Line, to_console: bool, to_file: bool) {
        if let Some(console) = self.console.as_mut().filter(|_| to_console) {
            console.add(line, &self.format);
        }
        if let Some(file) = self.file.as_mut().filter(|_| to_file) {
            file.add(line, &self.format);
        }
        if self.rosout {
            rosout::publish(line);
        }
    }

    /// Writes what is pending. An error of one output is reported by the other.
    fn flush(&mut self, to_console: bool) {
        let of_file = self.file.as_mut().and_then(LogFile::flush);
        if let Some(line) = of_file {
            self.add(&line, to_console, false);
        }
        let Some(console) = &mut self.console else { return };
        console.flush();
        if let Some(lost) = console.recovered() {
            let text = format!("{lost} log lines could not be written here");
            console.add(&notice(LogLevel::Warn, &text), &self.format);
            console.flush();
        }
    }
}
