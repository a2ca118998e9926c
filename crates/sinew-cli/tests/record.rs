//! `sinew bag record`: counts at both ends, the ways to end it, and errors.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use sinew::prelude::*;
use sinew_bag::{BagReader, Selection};
use sinew_interfaces::std_msgs::msg::String as Text;
use tempfile::TempDir;

/// To fail instead of hanging.
const PATIENCE: Duration = Duration::from_secs(60);

/// A recorder; killed on drop.
struct Recording {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Recording {
    fn start(place: &Path, options: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
        command.args(["bag", "record", "--json", "-o"]).arg(place.join("bag")).args(options);
        command.env("SINEW_DIR", place).env("SINEW_DOMAIN_ID", "7");
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, output }
    }

    /// Returns what it says next.
    fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        (self.output.read_line(&mut line).unwrap() > 0).then(|| serde_json::from_str(&line).unwrap())
    }

    fn interrupt(&self) {
        self.signal(Signal::INT);
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Returns its exit code, and the last thing that it says.
    fn end(mut self) -> (Option<i32>, Value) {
        let last = std::iter::from_fn(|| self.next()).last().unwrap();
        (self.child.wait().unwrap().code(), last)
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        // Both fail only if it has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn robot() -> (TempDir, Node) {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let context = Context::builder().domain(7).directory(directory.path()).build().unwrap();
    let node = context.node("robot").unwrap();
    (directory, node)
}

fn publisher(node: &Node, topic: &str) -> Publisher<Text> {
    let kept = QoS::default().keep_all().max_samples(1000).max_blocking_time(PATIENCE);
    node.publisher::<Text>(topic).qos(kept).create().unwrap()
}

#[test]
fn ctrl_c_ends_it_with_everything_in_the_bag() {
    let (place, node) = robot();
    let (a, b) = (publisher(&node, "/a"), publisher(&node, "/b"));
    let options = ["a", "-e", "^/b$", "--lossless", "--custom-data", "robot=5", "-b", "100000"];
    let recording = Recording::start(place.path(), &options);
    assert!(a.wait_for_subscribers(1, PATIENCE) && b.wait_for_subscribers(1, PATIENCE));
    for number in 0..5000 {
        a.publish(Text { data: format!("{number}") }).unwrap();
        b.publish(Text { data: format!("{number}") }).unwrap();
    }
    recording.interrupt();
    let (code, last) = recording.end();
    assert_eq!((code, &last["messages"], &last["lost"]), (Some(0), &10_000.into(), &0.into()), "{last}");
    assert_eq!(last["topics"].as_array().unwrap().len(), 2);
    let bag = BagReader::open(place.path().join("bag")).unwrap();
    assert_eq!((bag.message_count(), &last["files"]), (10_000, &bag.files().len().into()));
    assert_eq!(bag.metadata().unwrap().custom_data["robot"], "5");
    let texts = bag.messages(&Selection::all().topic("/a")).unwrap();
    let texts: Vec<String> = texts.map(|message| message.unwrap().decode::<Text>().unwrap().data).collect();
    assert!(texts.iter().enumerate().all(|(number, text)| *text == number.to_string()));
}

#[test]
fn a_terminal_that_goes_ends_it_like_ctrl_c() {
    let (place, node) = robot();
    let a = publisher(&node, "/a");
    let recording = Recording::start(place.path(), &["a", "--lossless"]);
    assert!(a.wait_for_subscribers(1, PATIENCE));
    (0..10).for_each(|_| a.publish(Text::default()).unwrap());
    recording.signal(Signal::HUP);
    let (code, last) = recording.end();
    assert_eq!((code, &last["messages"]), (Some(0), &10.into()), "{last}");
    assert_eq!(BagReader::open(place.path().join("bag")).unwrap().message_count(), 10);
}

#[test]
fn lost_messages_show_in_the_exit_code_and_in_the_bag() {
    let (place, node) = robot();
    let a = publisher(&node, "/a");
    let mut recording = Recording::start(place.path(), &["-a", "--max-cache-size", "1"]);
    assert!(a.wait_for_subscribers(1, PATIENCE));
    while recording.next().unwrap()["lost"] == 0 {
        (0..2000).for_each(|_| a.publish(Text::default()).unwrap());
    }
    recording.interrupt();
    let (code, last) = recording.end();
    assert_eq!(code, Some(1));
    let counted = last["messages"].as_u64().unwrap() + last["lost"].as_u64().unwrap();
    assert_eq!(counted, a.statistics().published, "{last}");
    let info = Command::new(env!("CARGO_BIN_EXE_sinew"))
        .args(["bag", "info", "--json"])
        .arg(place.path().join("bag"))
        .output()
        .unwrap();
    let info: Value = serde_json::from_slice(&info.stdout).unwrap();
    assert_eq!((&info["lost"]["/a"], &info["messages"]), (&last["lost"], &last["messages"]));
}

#[test]
fn a_service_ends_it() {
    use sinew_interfaces::rosbag2_interfaces::srv::{Stop, StopRequest};
    let (place, node) = robot();
    let recording = Recording::start(place.path(), &["-a", "--node-name", "black_box"]);
    let stop = node.client::<Stop>("/black_box/stop").create().unwrap();
    stop.call(StopRequest::default(), PATIENCE).unwrap();
    let (code, last) = recording.end();
    assert_eq!((code, &last["messages"]), (Some(0), &0.into()));
    assert_eq!(BagReader::open(place.path().join("bag")).unwrap().message_count(), 0);
}

#[test]
fn wrong_wishes_are_refused_by_name() {
    let (place, _node) = robot();
    let run = |options: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
        command
            .args(["bag", "record"])
            .args(options)
            .env("SINEW_DIR", place.path())
            .current_dir(place.path());
        let output = command.stdin(Stdio::null()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    std::fs::write(place.path().join("qos.yaml"), "/a:\n  durability: eternal\n").unwrap();
    for (options, wanted, says) in [
        (&[][..], 1, "nothing is selected"),
        (&["-e", "("][..], 1, "`(`"),
        (&["-a", "-o", "."][..], 1, "exists already"),
        (&["-a", "--qos-profile-overrides-path", "qos.yaml"][..], 1, "`durability: eternal`"),
        (&["-a", "--snapshot-mode", "--lossless"][..], 2, "--lossless"),
        (&["-a", "--custom-data", "x"][..], 2, "key=value"),
    ] {
        let (code, error) = run(options);
        assert!(code == Some(wanted) && error.contains(says), "{options:?}: {code:?} {error}");
    }
}
