//! Sends the lines of all processes to the screen and to their files.

use std::collections::VecDeque;
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use serde_json::{Value, json};

use super::child::Outputs;
use super::error::{RunError, failed};
use super::lines::{Lines, harmless};
use super::logs::{self, Logs};
use super::options::RunOptions;
use super::report::{self, Event, Row};
use super::screen::Screen;
use super::view::{self, View};
use crate::plan::{Output, Plan, Process};
use crate::supervisor::{Outcome, Reason};

/// Bytes that are read at once, so that a process that floods its pipe doesn't block the others.
const ONCE: usize = 64 << 10;

/// Bytes that are read at most before a process's end is reported: everything that fits into its
/// pipe, but no more of the output of processes that still write there.
const PIPE: usize = 1 << 20;

/// Number of last lines that are kept of output that isn't shown.
const LAST: usize = 10;

/// Colours of names; readable on light and dark backgrounds.
const COLOURS: [u8; 6] = [36, 33, 32, 35, 34, 31];

/// The output of a run of a process through a pipe. Processes that it has started may write there
/// after it has ended.
struct Stream {
    process: usize,
    /// 0: standard output, 1: standard error.
    number: usize,
    /// `None` once the other end is closed.
    from: Option<OwnedFd>,
    lines: Lines,
    /// Number of bytes that are read at most once all processes have ended.
    rest: usize,
}

pub(super) struct Sink {
    streams: Vec<Stream>,
    /// The last lines of each process's run that weren't shown when they came.
    last: Vec<VecDeque<Vec<u8>>>,
    screen: Screen,
    /// Draws the whole terminal instead of writing line after line.
    view: Option<View>,
    logs: Option<Logs>,
    log_is_told: bool,
    names: Vec<String>,
    outputs: Vec<Output>,
    log_files: Vec<Option<String>>,
    json: bool,
    colours: bool,
    buffer: Vec<u8>,
    /// The text made from the lines of one read.
    text: Vec<u8>,
}

impl Sink {
    pub(super) fn open(plan: &Plan, options: &RunOptions) -> Result<Self, RunError> {
        let screen = Screen::open(plan.processes.len()).map_err(failed("opening standard output"))?;
        let logged = plan.processes.iter().find(|process| process.log_file().is_some());
        let logs = logged.map(|process| {
            let path = logs::base(&process.environment);
            Logs::create(&path).map_err(|source| RunError::Logs { path, source })
        });
        let mut sink = Self {
            streams: Vec::new(),
            last: vec![VecDeque::new(); plan.processes.len()],
            screen,
            view: options.full_screen.then(View::default),
            logs: logs.transpose()?,
            log_is_told: false,
            names: plan.processes.iter().map(|process| process.name.clone()).collect(),
            outputs: plan.processes.iter().map(|process| process.output).collect(),
            log_files: plan.processes.iter().map(Process::log_file).collect(),
            json: options.json,
            colours: options.colours && !options.json && !options.full_screen,
            buffer: vec![0; ONCE],
            text: Vec::new(),
        };
        if sink.view.is_some() {
            sink.screen.add(sink.screen.own(), view::ENTER.as_bytes());
        }
        if let Some(directory) = sink.logs.as_ref().map(|logs| logs.directory().display().to_string()) {
            let value = json!({"event": "logs", "directory": directory});
            sink.own(&format!("logs are in {directory}"), value);
        }
        Ok(sink)
    }

    pub(super) fn has_room(&self, process: usize) -> bool {
        self.screen.has_room(process)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.screen.is_closed()
    }

    /// Returns the screen's descriptor if output waits for it.
    pub(super) fn wants_to_write(&self) -> Option<BorrowedFd<'_>> {
        self.screen.is_waiting().then(|| self.screen.descriptor())
    }

    pub(super) fn write(&mut self) {
        self.screen.write();
    }

    /// Adds the output of a process that has started.
    pub(super) fn add(&mut self, process: usize, outputs: Outputs) {
        let stream = |(number, from)| Stream { process, number, from, lines: Lines::default(), rest: PIPE };
        self.streams.extend(outputs.into_iter().enumerate().map(stream));
    }

    /// Returns the streams to be read from, each with its index.
    pub(super) fn sources(&self) -> impl Iterator<Item = (usize, BorrowedFd<'_>)> {
        let streams = self.streams.iter().enumerate();
        let with_room = streams.filter(|(_, stream)| self.screen.has_room(stream.process));
        with_room.filter_map(|(index, stream)| Some((index, stream.from.as_ref()?.as_fd())))
    }

    /// Reads each of these streams once.
    pub(super) fn read(&mut self, streams: &[usize]) {
        for &index in streams {
            self.read_one(index);
        }
        self.streams.retain(|stream| stream.from.is_some());
    }

    /// Reads a stream once, and returns the number of bytes.
    fn read_one(&mut self, index: usize) -> usize {
        let stream = &mut self.streams[index];
        let (process, number) = (stream.process, stream.number);
        let Some(from) = &stream.from else { return 0 };
        let count = match rustix::io::read(from, &mut self.buffer) {
            Ok(count) => count,
            Err(Errno::AGAIN | Errno::INTR) => return 0,
            Err(_) => 0,
        };
        if count == 0 {
            stream.from = None;
            self.end_line(index);
            return 0;
        }
        let mut lines = std::mem::take(&mut stream.lines);
        let buffer = std::mem::take(&mut self.buffer);
        lines.push(&buffer[..count], |line, is_last| self.line(process, number, line, is_last));
        self.buffer = buffer;
        self.streams[index].lines = lines;
        self.flush(process);
        count
    }

    /// Reads a stream until it has nothing more, there is no room, or it has given so many bytes.
    /// Returns their number.
    fn read_on(&mut self, index: usize, most: usize) -> usize {
        let (process, mut sum) = (self.streams[index].process, 0);
        while self.screen.has_room(process) && sum < most {
            match self.read_one(index) {
                0 => break,
                count => sum += count,
            }
        }
        sum
    }

    /// Reads what is left in the pipes, as far as there is room. Returns `false` if there was
    /// nothing more; then lines that are incomplete have ended. A process that couldn't be ended
    /// and still writes isn't followed beyond what fits into its pipe.
    pub(super) fn read_the_rest(&mut self) -> bool {
        let mut sum = 0;
        for index in 0..self.streams.len() {
            let count = self.read_on(index, self.streams[index].rest);
            self.streams[index].rest = self.streams[index].rest.saturating_sub(count);
            sum += count;
        }
        if sum == 0 {
            (0..self.streams.len()).for_each(|index| self.end_line(index));
        }
        sum > 0
    }

    /// Ends a stream's line, which may be incomplete.
    fn end_line(&mut self, index: usize) {
        let Stream { process, number, .. } = self.streams[index];
        let mut lines = std::mem::take(&mut self.streams[index].lines);
        lines.end(|line, is_last| self.line(process, number, line, is_last));
        self.flush(process);
    }

    /// Reads the output that a process has written so far, as far as there is room.
    pub(super) fn drain(&mut self, process: usize) {
        for index in 0..self.streams.len() {
            if self.streams[index].process == process {
                self.read_on(index, PIPE);
            }
        }
        self.streams.retain(|stream| stream.from.is_some());
    }

    /// Ends the output of a process's run: its last line may be incomplete. If the process failed,
    /// its last lines are shown.
    pub(super) fn end(&mut self, process: usize, outcome: &Outcome) {
        for index in 0..self.streams.len() {
            // Without room, the rest of a line may still be in the pipe.
            if self.streams[index].process == process && self.screen.has_room(process) {
                self.end_line(index);
            }
        }
        let last = std::mem::take(&mut self.last[process]);
        if outcome.failure().is_none() || last.is_empty() || self.json {
            return;
        }
        let name = self.names[process].clone();
        self.own(&format!("{name} failed; its last lines:"), Value::Null);
        for line in &last {
            self.shown(process, 0, line);
        }
        self.flush(process);
    }

    /// Takes in a line, or a piece of one that isn't its last.
    fn line(&mut self, process: usize, stream: usize, line: &[u8], is_last: bool) {
        if self.outputs[process] != Output::Log || stream == 1 {
            self.shown(process, stream, line);
        } else {
            let last = &mut self.last[process];
            if last.len() == LAST {
                last.pop_front();
            }
            last.push_back(line.to_vec());
        }
        self.logged(process, line, is_last);
    }

    /// Shows a line on the screen.
    fn shown(&mut self, process: usize, stream: usize, line: &[u8]) {
        let name = &self.names[process];
        let line = harmless(line, self.colours);
        // Writing to a vector can't fail.
        let _ = if self.json {
            let stream = ["stdout", "stderr"][stream];
            writeln!(
                self.text,
                "{}",
                json!({"event": "output", "process": name, "stream": stream, "line": line})
            )
        } else if self.colours {
            writeln!(self.text, "\x1b[{}m[{name}]\x1b[0m {line}", COLOURS[process % COLOURS.len()])
        } else {
            writeln!(self.text, "[{name}] {line}")
        };
    }

    /// Writes an unchanged line, or a piece of it, to the process's file, if it has one.
    fn logged(&mut self, process: usize, line: &[u8], is_last: bool) {
        let (Some(logs), Some(name)) = (&mut self.logs, &self.log_files[process]) else { return };
        let Err(error) = logs.write(name, &[line, if is_last { b"\n" } else { b"" }].concat()) else {
            return;
        };
        if !std::mem::replace(&mut self.log_is_told, true) {
            let directory = logs.directory().display().to_string();
            let value = json!({"event": "log_failed", "error": error.to_string()});
            self.own(&format!("can't write to {directory}, so its logs are incomplete: {error}"), value);
        }
    }

    fn flush(&mut self, process: usize) {
        match &mut self.view {
            Some(view) => view.add(&self.text),
            None => self.screen.add(process, &self.text),
        }
        self.text.clear();
    }

    /// Reports an event of a process.
    pub(super) fn event(&mut self, process: usize, event: &Event<'_>) {
        let name = self.names[process].clone();
        let value = report::value(&name, event);
        let sentence = report::sentence(event).map(|sentence| format!("{name} {sentence}"));
        if let Some(sentence) = sentence {
            self.own(&sentence, value);
        } else if self.json {
            self.own("", value);
        }
    }

    pub(super) fn stop(&mut self, reason: Reason) {
        let required = match reason {
            Reason::Required(process) => self.names[process].clone(),
            Reason::Asked => String::new(),
        };
        let value = json!({"event": "stop", "required": (!required.is_empty()).then_some(&required)});
        self.own(&report::stop(reason, &required), value);
    }

    pub(super) fn strays(&mut self, count: usize) {
        let value = json!({"event": "strays", "count": count});
        self.own(&format!("{count} processes that had left their process groups were ended"), value);
    }

    pub(super) fn usage(&mut self, rows: &[Row<'_>]) {
        if self.json {
            rows.iter().for_each(|row| self.own("", report::row_value(row)));
        } else if let Some(view) = &self.view {
            // A slow terminal gets the next picture.
            if !self.screen.is_waiting() {
                let picture = view.picture(&report::table(rows), size());
                self.screen.add(self.screen.own(), picture.as_bytes());
            }
        } else {
            report::table(rows).iter().for_each(|line| self.own(line, Value::Null));
        }
    }

    /// Gives the terminal back; the last picture's lines stay on it.
    pub(super) fn leave(&mut self) {
        if let Some(view) = self.view.take() {
            self.screen.add(self.screen.own(), view.leave().as_bytes());
        }
    }

    /// Reports on standard error that the waiting output is given up, unless that is as slow.
    pub(super) fn tell_lost(&self) {
        let mut errors = io::stderr();
        let is_ready = poll(&mut [PollFd::new(&errors, PollFlags::OUT)], Some(&Timespec::default())) == Ok(1);
        if is_ready {
            let lines = self.screen.waiting_lines();
            // Fails if standard error is closed.
            let _ = writeln!(errors, "sinew: standard output takes no more: its last {lines} lines are lost");
        }
    }

    /// Writes a message of the launch itself.
    fn own(&mut self, sentence: &str, value: Value) {
        let line = match self.json {
            true if value.is_null() => return,
            true => format!("{value}\n"),
            false => format!("sinew: {sentence}\n"),
        };
        // Behind the processes' output so far.
        self.text.extend_from_slice(line.as_bytes());
        self.flush(self.screen.own());
    }
}

/// Returns the columns and rows of the terminal.
fn size() -> (usize, usize) {
    match rustix::termios::tcgetwinsize(std::io::stdout()) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => (size.ws_col.into(), size.ws_row.into()),
        _ => (80, 24),
    }
}
