//! The inspection commands, on participants that the tests create.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod dead;
mod doctor;
mod domain;
mod echo;
mod held;
mod looks;
mod mismatch;
mod names;
mod one_sided;
mod service_events;
mod timers;
mod watch;

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use serde_json::Value;
use sinew_shm::transport::{Incoming, Observer, OwnEndpoint, Participant, Sink};
use sinew_shm::{Domain, Endpoint, EndpointKey, EndpointKind, Peer};

/// A directory for domains, removed at the end.
struct Base(tempfile::TempDir);

/// Counts the other participants that a participant finds.
#[derive(Default)]
struct Found(AtomicUsize);

impl Observer for Found {
    fn appeared(&self, _: &Arc<Peer>, _: EndpointKey, _: &Endpoint) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
    fn vanished(&self, _: &Arc<Peer>, _: EndpointKey) {}
    fn connected(&self, _: Incoming, _: Option<EndpointKey>) -> Option<Arc<dyn Sink>> {
        None
    }
    fn left(&self, _: &Arc<Peer>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Base {
    fn new() -> Self {
        Self(tempfile::tempdir_in("/dev/shm").unwrap())
    }

    fn join(&self) -> Arc<Participant> {
        let domain = Domain::open(Some(self.0.path()), 0).unwrap();
        Participant::join(&domain, Arc::new(Found::default())).unwrap()
    }

    fn domain(&self) -> PathBuf {
        self.0.path().join("0")
    }

    fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.domain()).unwrap();
        let mut files: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        files.sort_unstable();
        files
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
        command.args(arguments).arg("--dir").arg(self.0.path());
        for variable in ["SINEW_DIR", "SINEW_DOMAIN_ID", "ROS_DOMAIN_ID"] {
            command.env_remove(variable);
        }
        command.stdin(Stdio::null());
        command
    }

    fn sinew(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Returns the output of a successful command.
    #[track_caller]
    fn text(&self, arguments: &[&str]) -> String {
        let output = self.sinew(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// Returns the single JSON value of a command.
    #[track_caller]
    fn json(&self, arguments: &[&str]) -> Value {
        let text = self.text(&[arguments, &["--json"]].concat());
        assert_eq!(text.lines().count(), 1, "{text}");
        serde_json::from_str(&text).unwrap()
    }

    /// Returns the doctor's output. The result also depends on the machine (other tests may have
    /// taken all inotify instances): its exit code must agree with its lines.
    #[track_caller]
    fn doctor(&self, arguments: &[&str]) -> String {
        let output = self.sinew(&[&["doctor"], arguments].concat());
        let told = text(&output.stdout);
        let wrong = told.lines().filter(|line| line.starts_with("WRONG ")).count();
        assert_eq!(output.status.code(), Some(i32::from(wrong > 0)), "{told}{}", text(&output.stderr));
        assert_eq!(text(&output.stderr).contains(" to mend"), wrong > 0, "{told}{}", text(&output.stderr));
        told
    }

    /// Returns the error message of a failing command.
    #[track_caller]
    fn failure(&self, arguments: &[&str]) -> String {
        let output = self.sinew(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stderr)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Describes an entity; its hash equals that of `std_msgs/msg/String` only in the first byte.
fn entity(kind: EndpointKind, number: u64, node: &str, name: &str, type_name: &str) -> Endpoint {
    let mut hash = [0; 32];
    hash[0] = 0xdf;
    let (node, name, type_name) = (node.to_owned(), name.to_owned(), type_name.to_owned());
    Endpoint { kind, number, node, name, type_name, hash, qos: qos(kind) }
}

/// Encodes a QoS as `sinew` does: publishers are reliable and keep 10, others keep all and are best
/// effort. No limits.
fn qos(kind: EndpointKind) -> [u8; 64] {
    let mut qos = [0; 64];
    let is_publisher = kind == EndpointKind::Publisher;
    (qos[0], qos[1], qos[2], qos[8]) = (1, u8::from(!is_publisher), u8::from(is_publisher), 10);
    qos[16..40].fill(0xff);
    qos
}

/// Creates a talker and a listener, each with a service's endpoint, in one process.
fn talker_and_listener(participant: &Arc<Participant>) -> Vec<OwnEndpoint> {
    use EndpointKind::{Client, Node, Publisher, Server, Subscription};
    const STRING: &str = "std_msgs/msg/String";
    const TRIGGER: &str = "std_srvs/srv/Trigger";
    let entities = [
        entity(Node, 1, "/talker", "", ""),
        entity(Publisher, 2, "/talker", "/chatter", STRING),
        entity(Server, 3, "/talker", "/talker/pause", TRIGGER),
        entity(Node, 4, "/demo/listener", "", ""),
        entity(Subscription, 5, "/demo/listener", "/chatter", STRING),
        entity(Client, 6, "/demo/listener", "/talker/pause", TRIGGER),
        entity(Publisher, 7, "/demo/listener", "/demo/_heard", STRING),
        entity(Node, 8, "/_tool", "", ""),
    ];
    entities.iter().map(|entity| participant.advertise(entity, None).unwrap()).collect()
}

const PATIENCE: Duration = Duration::from_secs(60);

/// Repeats a query until its answer is as expected.
#[expect(clippy::disallowed_methods, reason = "to wait for a process that is looked at from outside")]
#[track_caller]
fn until<T>(ask: impl Fn() -> T, is_it: impl Fn(&T) -> bool) -> T
where
    T: std::fmt::Debug,
{
    let end = Instant::now() + PATIENCE;
    loop {
        let told = ask();
        if is_it(&told) {
            return told;
        }
        assert!(Instant::now() < end, "{told:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Announces subscriptions, and accepts connections but reads nothing.
struct Slow {
    subscriptions: SyncSender<Arc<Peer>>,
    connections: SyncSender<Incoming>,
}

impl Observer for Slow {
    fn appeared(&self, peer: &Arc<Peer>, _: EndpointKey, _: &Endpoint) {
        self.subscriptions.send(peer.clone()).unwrap();
    }
    fn vanished(&self, _: &Arc<Peer>, _: EndpointKey) {}
    fn connected(&self, incoming: Incoming, _: Option<EndpointKey>) -> Option<Arc<dyn Sink>> {
        self.connections.send(incoming).unwrap();
        None
    }
    fn left(&self, _: &Arc<Peer>) {}
}

/// The variable with the directory in which a child joins.
const CHILD: &str = "SINEW_TEST_CHILD";

/// Another process with the talker and the listener. Killed at the end.
struct Other(Child);

impl Other {
    /// Runs only the named test, which acts differently in a child.
    fn start(base: &Base, test: &str) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
        let mut child = command.env(CHILD, base.0.path()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().contains("it has joined")));
        Self(child)
    }

    /// Kills it without a chance to clean up.
    fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        // Both fail only if it has already been killed.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits until it is killed.
fn park() -> ! {
    loop {
        std::thread::park();
    }
}
