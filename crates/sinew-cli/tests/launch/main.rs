//! `sinew launch` and `sinew run` with real processes: small shell programs.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod ends;
mod order;
mod output;
mod python;
mod tools;

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// A directory for a launch file, its processes' output, and their domain.
struct Place(tempfile::TempDir);

impl Place {
    /// With this launch file.
    fn new(text: &str) -> Self {
        let place = Self(tempfile::tempdir_in("/dev/shm").unwrap());
        std::fs::write(place.path("robot.toml"), text).unwrap();
        std::fs::create_dir(place.path("tmp")).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        self.command_below(&[], arguments)
    }

    /// A command that another program becomes, such as `nohup`.
    fn command_below(&self, other: &[&str], arguments: &[&str]) -> Command {
        let line = [other, &[env!("CARGO_BIN_EXE_sinew")], arguments].concat();
        let mut command = Command::new(line[0]);
        command.args(&line[1..]).current_dir(self.0.path()).stdin(Stdio::null());
        command.env("SINEW_DIR", self.path("domains")).env("ROS_LOG_DIR", self.path("logs"));
        command.env("TMPDIR", self.path("tmp")).env("PLACE", self.0.path()).env_remove("SINEW_DOMAIN_ID");
        command
    }

    /// Runs a launch to its end.
    fn run(&self, options: &[&str]) -> Output {
        self.command(&[&["launch", "robot.toml"], options].concat()).output().unwrap()
    }

    /// Starts a launch that writes its events as JSON.
    fn start(&self) -> Launch {
        self.start_below(&[])
    }

    /// As [`Place::start`], by another program such as `nohup`.
    fn start_below(&self, other: &[&str]) -> Launch {
        let mut command = self.command_below(other, &["launch", "robot.toml", "--json"]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Launch { child, lines, events: Vec::new() }
    }

    /// Checks for parameter files and the like.
    fn nothing_temporary_is_left(&self) {
        until("temporary files are gone", || std::fs::read_dir(self.path("tmp")).unwrap().count() == 0);
    }
}

/// A running launch.
struct Launch {
    child: Child,
    lines: BufReader<ChildStdout>,
    events: Vec<Value>,
}

impl Launch {
    /// Reads until an event fits, and returns it.
    #[track_caller]
    fn until(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            let mut line = String::new();
            let count = self.lines.read_line(&mut line).unwrap();
            assert!(count > 0, "{what} doesn't come: {:#?}", self.events);
            let event: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
            self.events.push(event.clone());
            if fits(&event) {
                return event;
            }
        }
    }

    /// Reads until this event of a process, and returns it.
    #[track_caller]
    fn event(&mut self, process: &str, event: &str) -> Value {
        let fits = |value: &Value| value["process"] == process && value["event"] == event;
        self.until(&format!("{event} of {process}"), fits)
    }

    /// Reads until a process has written that line.
    #[track_caller]
    fn line(&mut self, process: &str, line: &str) {
        let fits = |value: &Value| value["process"] == process && value["line"] == line;
        self.until(&format!("{line:?} of {process}"), fits);
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Reads to the end; returns all events and the exit code.
    fn end(mut self) -> (Vec<Value>, Option<i32>) {
        let rest = self.lines.lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap());
        self.events.extend(rest);
        (self.events, self.child.wait().unwrap().code())
    }
}

/// Summarizes events.
fn short(events: &[Value]) -> Vec<String> {
    let one = |event: &Value| {
        let text = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
        let more = ["how", "signal", "line"].map(text).concat();
        format!("{} {} {more}", text("process"), text("event")).trim().to_owned()
    };
    events.iter().map(one).collect()
}

fn index(events: &[String], wanted: &str) -> usize {
    events.iter().position(|event| event == wanted).unwrap_or_else(|| panic!("no {wanted:?} in {events:#?}"))
}

/// Returns `true` if a process exists and is not a zombie.
fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid.trim()).join("stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

/// Waits for an effect of another process.
#[track_caller]
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..6000 {
        if is_so() {
            return;
        }
        let pause = rustix::thread::Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
        let _ = rustix::thread::nanosleep(&pause);
    }
    panic!("not within a minute: {what}");
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
