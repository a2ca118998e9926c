//! Commands that draw on a terminal: keys, Ctrl-C, and the terminal's state afterwards.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process, setsid};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use sinew::{Context, Duration};
use sinew_interfaces::sensor_msgs::msg::Temperature;

const ENTER: &str = "\x1b[?1049h";
const LEAVE: &str = "\x1b[?1049l";
const SHOW_CURSOR: &str = "\x1b[?25h";

/// A terminal, with the command in its foreground.
struct Session {
    terminal: File,
    child: Child,
    modes_before: LocalModes,
    seen: Vec<u8>,
    /// The directory that it shares with other processes.
    place: Arc<tempfile::TempDir>,
}

/// More bytes than any test waits for: the expected text won't come.
const ENOUGH: usize = 32 << 20;

impl Drop for Session {
    fn drop(&mut self) {
        // Both fail only if it has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Session {
    fn start(options: &[&str]) -> Self {
        Self::of("demo", options, (120, 24))
    }

    fn of(subcommand: &str, options: &[&str], (columns, rows): (u16, u16)) -> Self {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&terminal, size).unwrap();
        let modes_before = tcgetattr(&terminal).unwrap().local_modes;
        let name = ptsname(&terminal, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let end = File::from(rustix::fs::open(&name, flags, Mode::empty()).unwrap());
        let place = Arc::new(tempfile::tempdir_in("/dev/shm").unwrap());
        let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
        command
            .arg(subcommand)
            .args(options)
            .env("TERM", "xterm")
            .env_remove("NO_COLOR")
            .env("SINEW_DIR", place.path());
        command.stdin(end.try_clone().unwrap()).stdout(end.try_clone().unwrap()).stderr(end);
        let claim = || {
            setsid()?;
            rustix::process::ioctl_tiocsctty(std::io::stdin())?;
            Ok(())
        };
        // SAFETY: between fork and exec only async-signal-safe functions may be called: `claim`
        // makes two system calls, and naming standard input allocates nothing.
        unsafe { command.pre_exec(claim) };
        let child = command.spawn().unwrap();
        Self { terminal: terminal.into(), child, modes_before, seen: Vec::new(), place }
    }

    /// Reads the output until `text` appears in it. Returns `false` if the other end is closed
    /// before.
    fn until(&mut self, text: &str) -> bool {
        let patience = Timespec { tv_sec: 60, tv_nsec: 0 };
        let mut read = [0; 1 << 16];
        let mut looked_at = 0;
        while !self.seen[looked_at..].windows(text.len()).any(|window| window == text.as_bytes()) {
            looked_at = self.seen.len().saturating_sub(text.len());
            let ready = poll(&mut [PollFd::new(&self.terminal, PollFlags::IN)], Some(&patience));
            assert!(ready != Ok(0) && self.seen.len() < ENOUGH, "{text:?} doesn't come");
            // Reading fails when the other end is closed.
            let Ok(count @ 1..) = self.terminal.read(&mut read) else { return false };
            self.seen.extend_from_slice(&read[..count]);
        }
        true
    }

    fn press(&mut self, key: &str) {
        self.terminal.write_all(key.as_bytes()).unwrap();
    }

    /// Waits for the end, and checks that the terminal has its previous state.
    #[track_caller]
    fn end(mut self) -> (std::process::ExitStatus, String) {
        self.until("nothing says this");
        let status = self.child.wait().unwrap();
        let seen = String::from_utf8_lossy(&self.seen).into_owned();
        for (text, wanted) in [(ENTER, 1), (LEAVE, 1), (SHOW_CURSOR, 1)] {
            assert_eq!(seen.matches(text).count(), wanted, "{text:?} in {seen:?}");
        }
        let after = seen[seen.find(LEAVE).unwrap()..].to_owned();
        assert_eq!(tcgetattr(&self.terminal).unwrap().local_modes, self.modes_before);
        (status, after)
    }
}

#[test]
fn keys_change_the_filter_and_ctrl_c_gives_the_terminal_back() {
    let mut session = Session::start(&["--rate", "20"]);
    assert!(session.until("filter: edges at 100 %"));
    assert!(
        !tcgetattr(&session.terminal).unwrap().local_modes.intersects(LocalModes::ICANON | LocalModes::ECHO)
    );
    session.press("m");
    assert!(session.until("filter: negative, changed once through its service"));
    session.press("\x1b[A"); // an arrow key has no meaning
    session.press("-");
    assert!(session.until("changed 2 times"));
    session.press("\x03");
    let (status, after) = session.end();
    assert!(status.success(), "{after}");
    assert!(after.contains("in all") && after.contains("0 copies"), "{after}");
}

#[test]
fn the_key_q_ends_it_as_well() {
    let mut session = Session::start(&["--executor", "multi"]);
    assert!(session.until("filter: edges"));
    session.press("q");
    assert!(session.end().0.success());
}

#[test]
fn what_goes_wrong_is_told_on_the_terminal_and_once_more_after_it_was_given_back() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("astronaut.png")).unwrap();
    let mut session = Session::start(&["--save", directory.path().to_str().unwrap()]);
    assert!(session.until("no more frames are saved"));
    let pid = Pid::from_child(&session.child);
    kill_process(pid, Signal::TERM).unwrap();
    let (status, after) = session.end();
    assert_eq!(status.code(), Some(1));
    assert!(after.contains("sinew: can't save") && after.contains("astronaut.png"), "{after}");
}

/// Starts the demonstration in two processes, and waits until it draws and listens; also returns
/// the viewer's process.
fn two_processes() -> (Session, Pid) {
    let mut session = Session::start(&["--processes", "--rate", "10"]);
    assert!(session.until("filter: edges at 100 %"));
    let wanted = format!("--viewer-of\0{}\0", session.child.id());
    let is_viewer = |number: &i32| {
        let words = std::fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
        words.ends_with(wanted.as_bytes())
    };
    let processes = std::fs::read_dir("/proc").unwrap();
    let mut numbers = processes.filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
    let viewer = numbers.find(is_viewer).unwrap();
    (session, Pid::from_raw(viewer).unwrap())
}

/// Checks that a demonstration's shared memory is gone; the next process removes that of a killed
/// one.
fn nothing_is_left_in(place: &tempfile::TempDir) {
    let mut doctor = Command::new(env!("CARGO_BIN_EXE_sinew"));
    doctor.args(["doctor", "--clean"]).env("SINEW_DIR", place.path()).output().unwrap();
    assert_eq!(std::fs::read_dir(place.path().join("0")).unwrap().count(), 0);
}

#[test]
fn two_processes_end_together_by_key_or_signal() {
    for key in ["q", "\x03"] {
        let (mut session, _) = two_processes();
        session.press("m");
        assert!(session.until("filter: negative, changed once through its service"));
        session.press(key);
        let place = Arc::clone(&session.place);
        let (status, after) = session.end();
        assert!(status.success(), "{after}");
        assert_eq!(after.matches("in all").count(), 1, "{after}");
        assert!(after.contains(" copies, 0 encodings, 0 decodings"), "{after}");
        nothing_is_left_in(&place);
    }
}

#[test]
fn a_killed_viewer_ends_both_and_the_terminal_is_given_back() {
    let (session, viewer) = two_processes();
    let place = Arc::clone(&session.place);
    kill_process(viewer, Signal::KILL).unwrap();
    let (status, after) = session.end();
    assert_eq!(status.code(), Some(1));
    assert!(after.contains("sinew: the demo's viewer") && after.contains("SIGKILL"), "{after}");
    nothing_is_left_in(&place);
}

#[test]
fn a_signal_to_the_first_process_ends_both() {
    let (session, _) = two_processes();
    kill_process(Pid::from_child(&session.child), Signal::TERM).unwrap();
    let (status, after) = session.end();
    assert!(status.success() && after.contains("in all"), "{after}");
}

/// Starts the view on a directory of its own, with a participant that has 40 topics.
fn top() -> (tempfile::TempDir, Vec<sinew_shm::transport::OwnEndpoint>, Session) {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let domain = sinew_shm::Domain::open(Some(directory.path()), 0).unwrap();
    let participant = sinew_shm::transport::Participant::join(&domain, std::sync::Arc::new(Nobody)).unwrap();
    let topics = (0..40).map(|number| {
        let entity = sinew_shm::Endpoint {
            kind: sinew_shm::EndpointKind::Publisher,
            number,
            node: "/talker".into(),
            name: format!("/topic{number:02}"),
            type_name: "std_msgs/msg/Empty".into(),
            hash: [0; 32],
            qos: sinew::QoS::default().to_bytes(true),
        };
        participant.advertise(&entity, None).unwrap()
    });
    let topics = topics.collect();
    let options = ["--interval", "0.1", "--dir", directory.path().to_str().unwrap()];
    let session = Session::of("top", &options, (80, 24));
    (directory, topics, session)
}

struct Nobody;

impl sinew_shm::transport::Observer for Nobody {
    fn appeared(
        &self,
        _: &std::sync::Arc<sinew_shm::Peer>,
        _: sinew_shm::EndpointKey,
        _: &sinew_shm::Endpoint,
    ) {
    }
    fn vanished(&self, _: &std::sync::Arc<sinew_shm::Peer>, _: sinew_shm::EndpointKey) {}
    fn connected(
        &self,
        _: sinew_shm::transport::Incoming,
        _: Option<sinew_shm::EndpointKey>,
    ) -> Option<std::sync::Arc<dyn sinew_shm::transport::Sink>> {
        None
    }
    fn left(&self, _: &std::sync::Arc<sinew_shm::Peer>) {}
}

#[test]
fn top_sorts_scrolls_and_ends() {
    let (_directory, topics, mut session) = top();
    assert!(session.until("domain 0: 1 processes, 40 topics by rate; q ends, s sorts, arrows scroll"));
    assert!(session.until("/topic00 ") && session.until("more"));
    topics[33].counters().add(sinew_shm::Counter::Overwritten, 77);
    session.press("sss");
    assert!(session.until("40 topics by queue"));
    session.press("s");
    assert!(session.until("40 topics by drops") && session.until("/topic33 ") && session.until(" 77"));
    session.press("s\x1b[F");
    assert!(session.until("40 topics by name") && session.until("/topic39 "));
    session.press("q");
    let (status, after) = session.end();
    assert!(status.success() && after.len() <= LEAVE.len() + 2, "{after:?}");
}

#[test]
fn top_gives_the_terminal_back_on_signals() {
    for signal in [None, Some(Signal::TERM)] {
        let (_directory, _topics, mut session) = top();
        assert!(session.until("/topic00 "));
        match signal {
            Some(signal) => kill_process(Pid::from_child(&session.child), signal).unwrap(),
            None => session.press("\x03"),
        }
        assert!(session.end().0.success());
    }
}

#[test]
fn a_recording_is_paused_and_ended_by_keys() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("bag");
    let path = path.to_str().unwrap();
    let mut session = Session::of("bag", &["record", "-a", "-o", path], (120, 24));
    assert!(session.until("0 messages of"));
    session.press(" ");
    assert!(session.until("| paused"));
    session.press(" nq");
    let (status, after) = session.end();
    assert!(status.success(), "{after}");
    assert!(after.contains("bag: 0 messages of"), "{after}");
}

#[test]
fn a_bag_is_played_by_keys() {
    let bags = concat!(env!("CARGO_MANIFEST_DIR"), "/../sinew-bag/tests/data/rewriter_a");
    let mut session = Session::of("bag", &["play", bags, "--start-paused", "--rate", "2"], (120, 24));
    assert!(session.until("x 2.000") && session.until("| 0 messages") && session.until("paused"));
    assert!(session.until("space: pause, arrows: next message"));
    session.press("\x1b[C");
    assert!(session.until("| 1 message,"));
    session.press("\x1b[C\x1b[C");
    assert!(session.until("| 3 messages"));
    session.press("\x1b[B");
    assert!(session.until("x 1.818"));
    session.press("\x1b[H\x1b[C");
    assert!(session.until("| 4 messages"));
    session.press("q");
    let (status, after) = session.end();
    assert!(status.success() && after.contains("4 messages of "), "{after}");
}

#[test]
fn a_topic_is_plotted_until_a_key_ends_it() {
    let options = ["plot", "/warm.temperature", "--domain", "0", "--window", "10"];
    let mut session = Session::of("topic", &options, (100, 20));
    assert!(session.until("q: end | no values yet"));
    let context = Context::builder().domain(0).directory(session.place.path()).build().unwrap();
    let sensor = context.node("sensor").unwrap().publisher::<Temperature>("warm").create().unwrap();
    assert!(sensor.wait_for_subscribers(1, Duration::from_secs(60)));
    sensor.publish(Temperature { temperature: 21.5, ..Temperature::default() }).unwrap();
    assert!(session.until("the last 10 s: values") && session.until("/warm.temperature  last 21.5"));
    session.press("xq");
    let (status, after) = session.end();
    assert!(status.success() && after.contains("/warm.temperature  last 21.5"), "{after}");
}
