//! Child processes: this test program once more, in a role.

use std::io::Write;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};

const ROLE: &str = "SINEW_FAULTS_ROLE";
const DIRECTORY: &str = "SINEW_FAULTS_DIRECTORY";
const REPORT: &str = "SINEW_FAULTS_REPORT";
const WORDS: &str = "SINEW_FAULTS_WORDS";
const USER: &str = "SINEW_FAULTS_USER";

/// A scene for a test: a directory for domains and one for reports. Both are removed at the end.
pub(crate) struct Scene {
    pub(crate) shared: tempfile::TempDir,
    reports: tempfile::TempDir,
    next: std::cell::Cell<u32>,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self {
            shared: tempfile::tempdir_in("/dev/shm").unwrap(),
            reports: tempfile::tempdir().unwrap(),
            next: std::cell::Cell::default(),
        }
    }

    pub(crate) fn base(&self) -> &Path {
        self.shared.path()
    }

    /// The files of domain 0.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.base().join("0")).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    /// Files of the domain that this process has mapped, including removed ones.
    pub(crate) fn mapped(&self) -> Vec<String> {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let directory = format!("{}/0/", self.base().display());
        maps.lines().filter_map(|line| Some(line.split_once(&directory)?.1.to_owned())).collect()
    }

    /// Bytes that the files of domain 0 take.
    pub(crate) fn usage(&self) -> u64 {
        use std::os::unix::fs::MetadataExt;
        let entries = std::fs::read_dir(self.base().join("0")).unwrap();
        entries.filter_map(|entry| entry.ok()?.metadata().ok()).map(|found| found.blocks() * 512).sum()
    }

    /// Starts a child in this role. The role defines the meaning of `words`.
    pub(crate) fn child(&self, role: &str, words: &str) -> Process {
        self.child_by(role, words, &[])
    }

    /// The same, as another user with one group. Needs root.
    pub(crate) fn child_as(&self, (user, group): (u32, u32), role: &str, words: &str) -> Process {
        self.child_by(role, words, &["env", "-u", "SINEW_DIR", &format!("{USER}={user} {group}")])
    }

    /// The same, started by another program such as `unshare`.
    pub(crate) fn child_by(&self, role: &str, words: &str, by: &[&str]) -> Process {
        let number = self.next.replace(self.next.get() + 1);
        let report = self.reports.path().join(number.to_string());
        std::fs::write(&report, "").unwrap();
        start(self.base(), report, role, words, by)
    }
}

fn start(base: &Path, report: PathBuf, role: &str, words: &str, by: &[&str]) -> Process {
    let own = std::env::current_exe().unwrap();
    let mut command = match by {
        [] => Command::new(own),
        [program, arguments @ ..] => {
            let mut command = Command::new(program);
            command.args(arguments).arg(own);
            command
        }
    };
    command.args(["a_child_plays_its_role", "--exact", "--nocapture", "--test-threads=1"]);
    command.env(ROLE, role).env(WORDS, words).env(DIRECTORY, base).env(REPORT, &report);
    command.stdout(std::process::Stdio::null()).process_group(0);
    let child = command.spawn().unwrap();
    Process { child, report }
}

/// A child, which is killed when this is dropped, at the latest.
pub(crate) struct Process {
    child: Child,
    report: PathBuf,
}

impl Process {
    pub(crate) fn signal(&self, signal: libc::c_int) {
        let id = i32::try_from(self.child.id()).unwrap();
        // SAFETY: takes numbers only; the child was not waited for, so the number is its group's.
        unsafe { libc::kill(-id, signal) };
    }

    pub(crate) fn kill(&mut self) -> ExitStatus {
        self.signal(libc::SIGKILL);
        self.child.wait().unwrap()
    }

    /// Stops the child, and waits until it has stopped, because a signal takes some time.
    #[track_caller]
    pub(crate) fn stop(&self) {
        self.signal(libc::SIGSTOP);
        let is_stopped = |thread: std::io::Result<std::fs::DirEntry>| {
            let status = std::fs::read_to_string(thread.unwrap().path().join("stat"));
            // The program's name, in parentheses, may contain anything.
            status.is_ok_and(|status| status.rsplit(')').next().unwrap().trim_start().starts_with('T'))
        };
        crate::station::until("the child stops", || {
            std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap().all(is_stopped)
        });
    }

    /// Kills the child, but not its own children.
    pub(crate) fn kill_alone(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn wait(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    pub(crate) fn has_ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// The lines that the child wrote; an incomplete line doesn't count.
    pub(crate) fn report(&self) -> Vec<String> {
        let all = std::fs::read_to_string(&self.report).unwrap();
        let whole = all.rfind('\n').map_or("", |end| &all[..end]);
        whole.lines().map(str::to_owned).collect()
    }

    /// Waits until the child has written a line with this prefix, and returns the rest of the line.
    #[track_caller]
    pub(crate) fn says(&mut self, beginning: &str) -> String {
        let mut found = None;
        crate::station::until(&format!("the child says {beginning}: {:?}", self.report()), || {
            found = self.report().iter().find_map(|line| line.strip_prefix(beginning).map(str::to_owned));
            found.is_some()
                || self.has_ended().is_some_and(|status| !status.success() && status.signal().is_none())
        });
        found.unwrap_or_else(|| panic!("the child ended without saying {beginning}: {:?}", self.report()))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(libc::SIGKILL); // its own children as well
        let _ = self.child.wait();
    }
}

/// Turns this process into another user's, with one group.
pub(crate) fn become_user(user: u32, group: u32) {
    // SAFETY: a valid list of one group for the duration of the call.
    assert_eq!(unsafe { libc::setgroups(1, &raw const group) }, 0);
    // SAFETY: takes numbers only.
    assert_eq!(unsafe { libc::setresgid(group, group, group) }, 0);
    // SAFETY: as above.
    assert_eq!(unsafe { libc::setresuid(user, user, user) }, 0);
}

/// The parameters of a child.
pub(crate) struct Part {
    pub(crate) role: String,
    pub(crate) words: Vec<String>,
    pub(crate) directory: PathBuf,
    report: std::fs::File,
}

impl Part {
    pub(crate) fn mine() -> Option<Self> {
        let role = std::env::var(ROLE).ok()?;
        let report = std::fs::OpenOptions::new().append(true).open(std::env::var_os(REPORT)?).unwrap();
        let words = std::env::var(WORDS).unwrap().split_whitespace().map(str::to_owned).collect();
        if let Ok(user) = std::env::var(USER) {
            let numbers: Vec<u32> = user.split(' ').map(|number| number.parse().unwrap()).collect();
            become_user(numbers[0], numbers[1]);
        }
        Some(Self { role, words, directory: std::env::var_os(DIRECTORY)?.into(), report })
    }

    /// A child of this child, in the same directory.
    pub(crate) fn child(&self, role: &str, words: &str) -> Process {
        let report = PathBuf::from(std::env::var_os(REPORT).unwrap()).with_extension(role.replace(' ', "-"));
        std::fs::write(&report, "").unwrap();
        start(&self.directory, report, role, words, &[])
    }

    /// Reports to the parent, even if this process is killed at once.
    pub(crate) fn say(&self, line: &str) {
        (&self.report).write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Whether this process, or one that it forked, has reported this.
    pub(crate) fn has_said(&self, line: &str) -> bool {
        let all = std::fs::read_to_string(std::env::var_os(REPORT).unwrap()).unwrap();
        all.lines().any(|said| said == line)
    }
}
