//! `sinew router` and `sinew gateway` as processes: hosts are directories of their own.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::disallowed_methods, reason = "processes are waited for in real time")]

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a test that would otherwise hang may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process, killed at the end.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill(); // it may have ended
        let _ = self.0.wait();
    }
}

impl Running {
    fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_raw(i32::try_from(self.0.id()).unwrap()).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }
}

fn sinew(arguments: &[&str], host: Option<&Path>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
    command.args(arguments).stdin(Stdio::null());
    if let Some(host) = host {
        command.arg("--dir").arg(host);
    }
    for variable in [
        "ROS_DOMAIN_ID",
        "SINEW_DOMAIN_ID",
        "SINEW_DIR",
        "ZENOH_SESSION_CONFIG_URI",
        "ZENOH_ROUTER_CONFIG_URI",
        "ZENOH_CONFIG_OVERRIDE",
        "ZENOH_ROUTER_CHECK_ATTEMPTS",
        "ROS_AUTOMATIC_DISCOVERY_RANGE",
        "ROS_STATIC_PEERS",
    ] {
        command.env_remove(variable);
    }
    command
}

/// Starts it; also its first line.
fn start(arguments: &[&str], host: Option<&Path>) -> (Running, String) {
    let mut child = sinew(arguments, host).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (Running(child), line)
}

fn router() -> (Running, String) {
    let (router, line) = start(&["router", "--listen", "tcp/127.0.0.1:0"], None);
    let endpoint = line.split_whitespace().find(|word| word.starts_with("tcp/")).unwrap().to_owned();
    (router, endpoint)
}

fn gateway(endpoint: &str, host: &Path) -> Running {
    let (gateway, line) = start(&["gateway", "--connect", endpoint, "--client"], Some(host));
    assert!(line.starts_with("domain 0 is on the network, as session "), "{line}");
    gateway
}

fn host() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap()
}

fn output(arguments: &[&str], host: &Path) -> String {
    String::from_utf8(sinew(arguments, Some(host)).output().unwrap().stdout).unwrap()
}

fn wait_for(what: &str, mut look: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !look() {
        assert!(begin.elapsed() < PATIENCE, "{what}: it never is");
        std::thread::sleep(Duration::from_millis(20));
    }
}

const TALK: [&str; 7] = ["topic", "pub", "--rate", "20", "/chatter", "std_msgs/msg/String", "data: hello"];

/// A program that publishes without end.
fn talker(host: &Path) -> Running {
    Running(sinew(&TALK, Some(host)).stdout(Stdio::null()).spawn().unwrap())
}

#[test]
fn two_hosts_see_and_hear_each_other() {
    let (_router, endpoint) = router();
    let (one, other) = (host(), host());
    let first = gateway(&endpoint, one.path());
    let _second = gateway(&endpoint, other.path());
    let _talker = talker(one.path());
    let echo = |_| output(&["topic", "echo", "--once", "/chatter"], other.path());
    assert_eq!(echo(()), "data: hello\n---\n");
    let info: serde_json::Value =
        serde_json::from_str(&output(&["topic", "info", "--json", "/chatter"], other.path())).unwrap();
    assert_eq!(info["publishers"][0]["path"], "network");
    let text = output(&["topic", "info", "-v", "/chatter"], other.path());
    assert!(text.contains("Process: network, by "), "{text}");
    let nodes = output(&["node", "list", "--include-hidden"], other.path());
    assert!(nodes.contains("/_sinew_pub_") && !nodes.contains("_sinew_gateway"), "{nodes}");

    // Killed, it takes its nodes with it; the next one brings them back.
    first.signal(rustix::process::Signal::KILL);
    wait_for("its nodes are gone", || output(&["topic", "list"], other.path()).is_empty());
    let third = gateway(&endpoint, one.path());
    assert_eq!(echo(()), "data: hello\n---\n");
    third.signal(rustix::process::Signal::INT);
    let mut third = third;
    assert!(third.0.wait().unwrap().success(), "Ctrl-C is no failure");
}

#[test]
fn the_second_gateway_takes_over() {
    let (_router, endpoint) = router();
    let (one, other) = (host(), host());
    let first = gateway(&endpoint, one.path());
    let second = sinew(&["gateway", "--connect", &endpoint, "--client"], Some(one.path()));
    let mut second = { second }.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(second.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let _second = Running(second);
    assert!(line.contains("another gateway of domain 0 is at work"), "{line}");
    let _far = gateway(&endpoint, other.path());
    let _talker = talker(one.path());
    first.signal(rustix::process::Signal::KILL);
    assert_eq!(output(&["topic", "echo", "--once", "/chatter"], other.path()), "data: hello\n---\n");
}

#[test]
fn what_is_wrong_is_told() {
    let (_router, endpoint) = router();
    let host = host();
    let failed = |arguments: &[&str], host| {
        let output = sinew(arguments, host).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    for (arguments, part) in [
        (
            &["gateway", "--connect", "robot"][..],
            "--connect is `robot`, but an endpoint is PROTOCOL/HOST:PORT",
        ),
        (&["gateway", "--domain", "300"], "domain 300 can't be on the network: ROS 2's are 0 to 232"),
        (&["gateway", "--allow", "/cam*"], "the pattern is `/cam*`"),
    ] {
        let said = failed(arguments, Some(host.path()));
        assert!(said.starts_with(&format!("sinew: {part}")), "{said}");
    }
    let said = failed(&["router", "--listen", &endpoint], None);
    assert!(said.starts_with(&format!("sinew: the router can't listen on {endpoint}: ")), "{said}");
}
