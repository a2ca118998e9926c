//! The outputs of lines: the console, and a file.

use super::line::{Format, Line, Place};
use crate::sys::clock::Time;
use crate::sys::logging::{LogLevel, OUTPUTS};
use std::fs::{self, File};
use std::io::{self, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

/// Approximate bytes that are written at once.
const BATCH: usize = 64 << 10;

/// The console: standard error, or standard output.
pub(super) struct Console {
    out: Box<dyn Write + Send>,
    is_colored: bool,
    /// Whether each line is written by itself.
    one_by_one: bool,
    buffer: String,
    lost: Lost,
}

impl Console {
    /// Creates the console on standard error or standard output; colored as requested, otherwise if
    /// it is a terminal.
    pub(super) fn new(to_stdout: bool, color: Option<bool>, one_by_one: bool) -> Self {
        let (out, is_terminal): (Box<dyn Write + Send>, bool) = match to_stdout {
            true => (Box::new(io::stdout()), io::stdout().is_terminal()),
            false => (Box::new(io::stderr()), io::stderr().is_terminal()),
        };
        let is_colored = color.unwrap_or(is_terminal);
        Self { out, is_colored, one_by_one, buffer: String::new(), lost: Lost::default() }
    }

    pub(super) fn add(&mut self, line: &Line, format: &Format) {
        format.write(line, self.is_colored, &mut self.buffer);
        self.lost.waiting += 1;
        if self.one_by_one || self.buffer.len() >= BATCH {
            self.flush();
        }
    }

    /// Writes the pending lines. A closed console is no error of the program.
    pub(super) fn flush(&mut self) {
        if self.buffer.is_empty() {
            return;
        }
        let result = self.out.write_all(self.buffer.as_bytes()).and_then(|()| self.out.flush());
        self.buffer.clear();
        self.lost.note(&result);
    }

    /// Returns the number of lines lost before one that was written, if it wasn't reported yet.
    pub(super) fn recovered(&mut self) -> Option<u64> {
        self.lost.recovered.take()
    }
}

/// A file, which is created with the first line.
pub(super) struct LogFile {
    directory: Option<PathBuf>,
    /// Replaces the program's name.
    prefix: Option<String>,
    file: Option<File>,
    path: PathBuf,
    buffer: String,
    lost: Lost,
    /// A failure or a recovery that wasn't reported yet.
    news: Option<Line>,
}

impl LogFile {
    /// Creates the output in a directory, or in ROS 2's default one.
    pub(super) fn new(directory: Option<PathBuf>, prefix: Option<String>) -> Self {
        let (path, buffer) = (PathBuf::new(), String::new());
        Self { directory, prefix, file: None, path, buffer, lost: Lost::default(), news: None }
    }

    pub(super) fn add(&mut self, line: &Line, format: &Format) {
        format.write(line, false, &mut self.buffer);
        self.lost.waiting += 1;
        if self.buffer.len() >= BATCH {
            self.write();
        }
    }

    /// Writes the pending lines. Returns a report of a failure after a success, or of a recovery: a
    /// file that can't be written is reported once.
    pub(super) fn flush(&mut self) -> Option<Line> {
        if !self.buffer.is_empty() {
            self.write();
        }
        self.news.take()
    }

    fn write(&mut self) {
        let mut text = std::mem::take(&mut self.buffer);
        let result = self.open().and_then(|mut file| file.write_all(text.as_bytes()));
        text.clear();
        self.buffer = text;
        let is_news = self.lost.note(&result);
        let path = self.path.display();
        let text = match (result, self.lost.recovered.take()) {
            (Err(error), _) if is_news => {
                format!(
                    "log lines are lost: {path} can't be written: {error}; free some space, or set ROS_LOG_DIR"
                )
            }
            (Ok(()), Some(lost)) => {
                format!("{path} can be written again: {lost} lines are missing in it")
            }
            _ => return,
        };
        self.news = Some(notice(LogLevel::Warn, &text));
    }

    fn open(&mut self) -> io::Result<&File> {
        if self.file.is_none() {
            let directory = self.directory.clone().or_else(usual_directory).ok_or_else(|| {
                io::Error::new(io::ErrorKind::NotFound, "neither ROS_LOG_DIR nor ROS_HOME nor HOME is set")
            })?;
            self.path = directory.clone();
            fs::create_dir_all(&directory)?;
            let prefix =
                self.prefix.clone().or_else(|| OUTPUTS.lock().file_name.clone()).unwrap_or_else(program);
            let milliseconds = Time::wall().nanoseconds() / 1_000_000;
            self.path = directory.join(format!("{prefix}_{}_{milliseconds}.log", std::process::id()));
            self.file = Some(File::options().create(true).append(true).open(&self.path)?);
        }
        self.file.as_ref().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// Makes a line about logging itself.
pub(super) fn notice(level: LogLevel, text: &str) -> Line {
    let place = Place { module: module_path!(), file: file!(), line: line!() };
    Line::new(level, Time::wall().nanoseconds(), "sinew", format_args!("{text}"), place)
}

/// Returns `$ROS_LOG_DIR`, otherwise `$ROS_HOME/log`, otherwise `~/.ros/log`.
pub(super) fn usual_directory() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = || variable("HOME");
    let usual = || Some(variable("ROS_HOME").or_else(|| Some(home()?.join(".ros")))?.join("log"));
    let directory = variable("ROS_LOG_DIR").or_else(usual)?;
    match directory.strip_prefix("~") {
        Ok(inside) => Some(home()?.join(inside)),
        Err(_) => Some(directory),
    }
}

/// Returns the program's name.
fn program() -> String {
    let path = std::env::current_exe().unwrap_or_default();
    path.file_name().unwrap_or_else(|| Path::new("program").as_os_str()).to_string_lossy().into_owned()
}

/// Lines that a sink failed to write.
#[derive(Default)]
struct Lost {
    /// Lines in the next write.
    waiting: u64,
    lines: u64,
    /// Number of lines lost before a successful write, until it is reported.
    recovered: Option<u64>,
}

impl Lost {
    /// Counts a write. Returns `true` if it failed and the one before didn't.
    fn note(&mut self, result: &io::Result<()>) -> bool {
        let lines = std::mem::take(&mut self.waiting);
        if result.is_err() {
            self.lines += lines;
            return self.lines == lines;
        }
        if self.lines > 0 {
            self.recovered = Some(std::mem::take(&mut self.lines));
        }
        false
    }
}
