//! However a run ends, nothing is left of it: no process, no file, no shared memory.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// A run that takes long, and mostly sleeps.
const CASE: &str = r#"{"system":"iceoryx2 with events","seconds":1000.0,
    "scenario":"process-chain","relays":2,"rate":10.0}"#;

/// A run, as the child of a shell.
struct Run {
    shell: Child,
    process: Pid,
    /// The prefix of its files' names, which its other processes also get.
    name: String,
}

impl Run {
    /// Starts it, and waits until all its processes and files exist.
    fn start() -> Self {
        let mut shell = Command::new("sh")
            .args(["-c", r#""$0" run "$1" & echo $!; wait"#, env!("CARGO_BIN_EXE_peer-iceoryx2"), CASE])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(shell.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let process = Pid::from_raw(line.trim().parse().unwrap()).unwrap();
        let run = Self { shell, process, name: format!("sinew-iox2-{process}-") };
        eventually("it is under way", || {
            let is_there = |task| run.processes().iter().any(|(_, line)| line.contains(task));
            [" run ", " sweep ", " peer "].into_iter().all(is_there)
                && ["/dev/shm", "/tmp"].into_iter().all(|place| !run.files(place).is_empty())
        });
        run
    }

    /// Returns its living processes with their command lines. The line of a zombie is empty.
    fn processes(&self) -> Vec<(Pid, String)> {
        let numbers = fs::read_dir("/proc").unwrap().flatten();
        let pids = numbers.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?));
        let lines = pids.filter_map(|pid| Some((pid, fs::read(format!("/proc/{pid}/cmdline")).ok()?)));
        let lines = lines.map(|(pid, line)| (pid, String::from_utf8_lossy(&line).replace('\0', " ")));
        let is_ours = |(pid, line): &(Pid, String)| {
            line.contains(&self.name) || (*pid == self.process && !line.is_empty())
        };
        lines.filter(is_ours).collect()
    }

    fn files(&self, place: &str) -> Vec<PathBuf> {
        let paths = fs::read_dir(place).unwrap().flatten().map(|entry| entry.path());
        let is_ours = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with(&self.name);
        paths.filter(is_ours).collect()
    }

    /// Stops the other process, so that it can't end by itself.
    fn hang(&self) {
        let processes = self.processes();
        let (other, _) = processes.iter().find(|(_, line)| line.contains(" peer ")).unwrap();
        kill_process(*other, Signal::STOP).unwrap();
    }

    fn leaves_nothing(&self) {
        eventually("no process is left", || self.processes().is_empty());
        eventually("no shared memory is left", || self.files("/dev/shm").is_empty());
        eventually("no file is left", || self.files("/tmp").is_empty());
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // Only a failed test has any left. The sweeper ends by itself, when it has removed the
        // files.
        for (pid, _) in self.processes().iter().filter(|(_, line)| !line.contains(" sweep ")) {
            let _ = kill_process(*pid, Signal::KILL);
        }
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }
}

/// Waits until it is so, far longer than necessary on any machine.
#[track_caller]
fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < until, "not so: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_run_that_is_killed_leaves_nothing() {
    let run = Run::start();
    run.hang();
    kill_process(run.process, Signal::KILL).unwrap();
    run.leaves_nothing();
}

#[test]
fn a_run_whose_parent_is_killed_leaves_nothing() {
    let mut run = Run::start();
    run.shell.kill().unwrap();
    run.leaves_nothing();
}
