//! Tests with several processes: the test binary runs itself again, for one test, in another role.

use sinew_shm::Domain;
use sinew_shm::raw::Space;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// The role of this process, if a test has started it, and the directory where it meets the others.
const ROLE: &str = "SINEW_TEST_ROLE";

/// The prefix of the lines that a process writes for its test; the test harness writes other lines.
const SAID: &str = "said: ";

/// A directory of its own for one test, removed at the end.
pub(crate) struct Directory(tempfile::TempDir);

impl Directory {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir_in("/dev/shm").unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn domain(&self) -> Domain {
        Domain::open(Some(self.path()), 0).unwrap()
    }

    pub(crate) fn space(&self) -> Space {
        Space::join(&self.domain()).unwrap()
    }

    /// Fails if files are left in the domain after a process has had the time to notice that all
    /// participants are gone.
    #[track_caller]
    pub(crate) fn becomes_empty(&self) {
        let files = || -> Vec<String> {
            let entries = std::fs::read_dir(self.path().join("0")).unwrap().flatten();
            entries.map(|entry| entry.file_name().into_string().unwrap()).collect()
        };
        let other = self.space();
        let own = format!("{:016x}.", other.id());
        until("nothing of others is left", || files().iter().all(|name| name.starts_with(&own)));
        drop(other);
        assert_eq!(files(), [""; 0]);
    }

    /// Starts this test once more, in another role.
    pub(crate) fn start(&self, test: &str, role: &str) -> Other {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture", "--test-threads=1"])
            .env(ROLE, role)
            .env("SINEW_DIR", self.path())
            .env_remove("SINEW_DOMAIN_ID")
            .env_remove("ROS_DOMAIN_ID")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Other { child, input: Some(input), output: BufReader::new(output) }
    }
}

/// The role of this process, if it isn't the test itself. The process dies with its parent.
pub(crate) fn role() -> Option<String> {
    let role = std::env::var(ROLE).ok()?;
    let kill = rustix::process::Signal::KILL;
    rustix::process::set_parent_process_death_signal(Some(kill)).unwrap();
    Some(role)
}

/// Sends a line to the test that has started this process.
pub(crate) fn say(what: &str) {
    println!("\n{SAID}{what}");
    std::io::stdout().flush().unwrap();
}

/// Waits until the test sends a line, or is gone.
pub(crate) fn next_line() -> String {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    line.trim().to_owned()
}

/// Another process of a test. It is killed at the end.
pub(crate) struct Other {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Other {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The next line that the process sends.
    #[track_caller]
    pub(crate) fn next_line(&mut self) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "it ended without a word");
            if let Some(said) = line.strip_prefix(SAID) {
                return said.trim().to_owned();
            }
        }
    }

    pub(crate) fn say(&mut self, what: &str) {
        writeln!(self.input.as_mut().unwrap(), "{what}").unwrap();
    }

    fn signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.child), signal).unwrap();
    }

    pub(crate) fn stop(&self) {
        self.signal(rustix::process::Signal::STOP);
        // It has stopped once the system reports it.
        let path = format!("/proc/{}/stat", self.child.id());
        until("it stops", || {
            let stat = std::fs::read_to_string(&path).unwrap();
            stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('T'))
        });
    }

    pub(crate) fn go_on(&self) {
        self.signal(rustix::process::Signal::CONT);
    }

    /// Kills the process, and waits until it is gone.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits until the process ends by itself, which must be successful.
    #[track_caller]
    pub(crate) fn end(mut self) {
        self.input = None;
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[track_caller]
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Long enough for anything to happen, however busy the machine is.
pub(crate) const LONG: Duration = Duration::from_secs(60);
