//! `sinew tf`, on frames that the test publishes.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use sinew::{Context, Node};
use sinew_tf::{StampedTransform, StaticTransformBroadcaster, Transform, TransformBroadcaster};

fn sinew(place: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
    command.arg("tf").args(arguments).env("SINEW_DIR", place).env_remove("SINEW_DOMAIN_ID");
    command.env_remove("ROS_DOMAIN_ID").output().unwrap()
}

fn text(output: &[u8]) -> String {
    String::from_utf8(output.to_vec()).unwrap()
}

/// Returns the output of `tree` once it is complete: the command listens for a moment, in which a
/// busy machine receives little.
#[track_caller]
fn tree(place: &Path, options: &[&str], is_all: impl Fn(&Output) -> bool) -> Output {
    let begin = sinew::time::Time::steady();
    loop {
        let output = sinew(place, &[&["tree"], options].concat());
        if is_all(&output) {
            return output;
        }
        let (told, said) = (text(&output.stdout), text(&output.stderr));
        assert!(sinew::time::Time::steady() - begin < PATIENCE, "{options:?}: {told}{said}");
    }
}

/// Time limit of operations that would otherwise hang.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

/// A robot with a turning wheel, until it is dropped.
struct Robot {
    _place: tempfile::TempDir,
    node: Node,
    _fixed: StaticTransformBroadcaster,
    _timer: sinew::Timer,
    context: Context,
    spinning: Option<std::thread::JoinHandle<()>>,
}

impl Robot {
    fn new(links: &'static [(&str, &str)]) -> Self {
        let place = tempfile::tempdir_in("/dev/shm").unwrap();
        let context = Context::builder().directory(place.path()).build().unwrap();
        let node = context.node_in("/robot", "odometry").unwrap();
        let fixed = StaticTransformBroadcaster::new(&node).unwrap();
        let transform = Transform::from_translation([0.25, 0.0, 0.5]);
        fixed.send([StampedTransform { stamp: node.now(), transform }.to_msg("base", "lidar")]).unwrap();
        let broadcaster = TransformBroadcaster::new(&node).unwrap();
        let clock = node.clone();
        let timer = node.timer(std::time::Duration::from_millis(20)).callback(move || {
            let transform =
                Transform::from_roll_pitch_yaw([1.5, 0.0, 0.0], [0.0, 0.0, std::f64::consts::FRAC_PI_2]);
            let placed = StampedTransform { stamp: clock.now(), transform };
            broadcaster.send(links.iter().map(|(parent, child)| placed.to_msg(parent, child)))
        });
        let spun = context.clone();
        let spinning = std::thread::spawn(move || sinew::spin(&spun).unwrap());
        Self { _place: place, node, _fixed: fixed, _timer: timer.unwrap(), context, spinning: Some(spinning) }
    }

    fn place(&self) -> &Path {
        self._place.path()
    }
}

impl Drop for Robot {
    fn drop(&mut self) {
        self.context.shutdown();
        drop(self.spinning.take().map(std::thread::JoinHandle::join));
    }
}

#[test]
fn a_tree_is_drawn() {
    let robot = Robot::new(&[("map", "odom"), ("odom", "base")]);
    let is_all = |output: &Output| {
        let told = text(&output.stdout);
        told.lines().count() == 4 && told.contains(" Hz, ")
    };
    let output = tree(robot.place(), &["--interval", "0.5"], is_all);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let lines = text(&output.stdout);
    let lines: Vec<&str> = lines.lines().collect();
    let begins = ["map", "└─ odom", "   └─ base", "      └─ lidar"];
    assert_eq!(lines.len(), begins.len(), "{lines:?}");
    for (line, begin) in lines.iter().zip(begins) {
        assert!(line.starts_with(begin), "{lines:?}");
    }
    assert!(lines[2].contains(" Hz, ") && lines[2].ends_with(" ago, by /robot/odometry"), "{lines:?}");
    assert!(lines[3].ends_with("static, by /robot/odometry"), "{lines:?}");

    let json = |output: &Output| serde_json::from_slice::<Value>(&output.stdout).unwrap();
    let base = |told: &Value| {
        told["frames"].as_array().unwrap().iter().find(|frame| frame["name"] == "base").cloned()
    };
    let is_fast = |base: Value| base["rate_hz"].as_f64() > Some(1.0);
    let is_all = |output: &Output| base(&json(output)).is_some_and(is_fast);
    let told = json(&tree(robot.place(), &["--interval", "0.5", "--json"], is_all));
    assert_eq!(told["loops"], serde_json::json!([]));
    let base = base(&told).unwrap();
    assert_eq!((&base["parent"], &base["is_static"]), (&Value::from("odom"), &Value::from(false)));

    let picture = robot.place().join("frames.svg");
    let svg = || std::fs::read_to_string(&picture).unwrap_or_default();
    let is_all = |_: &Output| svg().matches("<rect class=\"node\"").count() == 4;
    let options = ["--interval", "0.2", "--output", picture.to_str().unwrap()];
    let output = tree(robot.place(), &options, is_all);
    assert!(output.status.success() && output.stdout.is_empty(), "{}", text(&output.stderr));
    assert!(svg().starts_with("<svg"), "{}", svg());
    let is_all = |output: &Output| text(&output.stdout).contains("\"base\" -> \"lidar\"");
    let dot = text(&tree(robot.place(), &["--interval", "0.2", "-T", "dot"], is_all).stdout);
    assert!(dot.starts_with("digraph"), "{dot}");
    // The tool's own node isn't listed.
    assert_eq!(robot.node.full_name(), "/robot/odometry");
}

#[test]
fn a_loop_is_told() {
    let robot = Robot::new(&[("b", "a"), ("c", "b"), ("a", "c")]);
    let expected = "these lie in each other in a circle: a, b, c";
    let output =
        tree(robot.place(), &["--interval", "0.5"], |output| text(&output.stdout).contains(expected));
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn nothing_is_told_as_such() {
    let place = tempfile::tempdir_in("/dev/shm").unwrap();
    let output = sinew(place.path(), &["tree", "--interval", "0.1"]);
    assert!(output.status.success() && text(&output.stdout).starts_with("no frame is there"));
}

/// Names of frames neither control the terminal nor look like a line of this command.
#[test]
fn names_of_frames_are_harmless() {
    let robot = Robot::new(&[("map", "od\x1b[2J\nom")]);
    for options in [&["--interval", "0.3"][..], &["--interval", "0.3", "-T", "dot"]] {
        let output = tree(robot.place(), options, |output| text(&output.stdout).contains("[2J"));
        let told = text(&output.stdout);
        assert!(!told.contains('\x1b') && !told.contains("\nom"), "{told}");
    }
}

/// An invalid rotation: refused transforms aren't reported as "nothing".
#[test]
fn what_is_refused_is_told() {
    let place = tempfile::tempdir_in("/dev/shm").unwrap();
    let context = Context::builder().directory(place.path()).build().unwrap();
    let node = context.node_in("/robot", "odometry").unwrap();
    let fixed = StaticTransformBroadcaster::new(&node).unwrap();
    let mut wrong = StampedTransform::default().to_msg("odom", "base");
    wrong.transform.rotation.w = 9.0;
    fixed.send([wrong]).unwrap();

    let refused = "refused once: the rotation [0.0, 0.0, 0.0, 9.0] of \"base\" has the length 9";
    let has_come = |output: &Output| text(&output.stdout).contains("refused");
    let output = tree(place.path(), &["--interval", "0.2"], has_come);
    let told = text(&output.stdout);
    let none = "no frame is there: what was published on /tf and /tf_static was refused";
    assert!(output.status.success() && told.starts_with(&format!("{none}\n{refused}")), "{told}");
    assert!(told.ends_with("; sent by /robot/odometry\n"), "{told}");
    let has_come = |output: &Output| text(&output.stdout).contains("authority");
    let told = tree(place.path(), &["--interval", "0.2", "--json"], has_come).stdout;
    let told: Value = serde_json::from_slice(&told).unwrap();
    assert_eq!(
        (&told["refused"][0]["count"], &told["refused"][0]["authority"]),
        (&1.into(), &"/robot/odometry".into())
    );
    let has_come = |output: &Output| !output.stderr.is_empty();
    let output = tree(place.path(), &["--interval", "0.2", "-T", "svg"], has_come);
    assert!(text(&output.stderr).starts_with(&format!("sinew: {refused}")), "{}", text(&output.stderr));

    says(place.path(), &["echo", "odom", "base"], &format!("sinew: {refused}"));
}

#[test]
fn a_file_gets_what_its_name_promises() {
    let place = tempfile::tempdir_in("/dev/shm").unwrap();
    let picture = place.path().join("frames.png");
    let name = picture.to_str().unwrap();
    let output = sinew(place.path(), &["tree", "--interval", "0.1", "-o", name]);
    let said = text(&output.stderr);
    assert_eq!((output.status.code(), picture.exists()), (Some(2), false));
    assert!(
        said.contains("no format for names that end with .png, only for .svg, .dot, .gv, .json, .txt"),
        "{said}"
    );
    // An explicit format is accepted.
    assert!(sinew(place.path(), &["tree", "--interval", "0.1", "-o", name, "-T", "svg"]).status.success());
    assert!(std::fs::read_to_string(picture).unwrap().starts_with("<svg"));
}

#[test]
fn where_a_frame_is() {
    let robot = Robot::new(&[("map", "odom"), ("odom", "base")]);
    let output = sinew(robot.place(), &["echo", "odom", "lidar", "-n", "2", "--rate", "20"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let told = text(&output.stdout);
    let translations: Vec<&str> = told.lines().filter(|line| line.starts_with("  translation")).collect();
    assert_eq!(translations, ["  translation          1.5000    0.2500    0.5000 m"; 2], "{told}");
    assert!(told.contains("90.0000 degrees"), "{told}");
    let output = sinew(robot.place(), &["echo", "base", "lidar", "-n", "1", "--json"]);
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told["translation"], serde_json::json!([0.25, 0.0, 0.5]));

    let refused = sinew(robot.place(), &["echo", "base", "lidar", "--rate", "0"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("from 0.001 to 1000 Hz"));
}

/// Runs a command until it writes the expected text, and ends it with Ctrl-C. (On a busy machine, a
/// command that receives nothing for a second says so first.)
#[track_caller]
fn says(place: &Path, arguments: &[&str], expected: &str) {
    let begin = sinew::time::Time::steady();
    loop {
        let mut command = Command::new("env"); // resets a signal that the parent may ignore
        command.args(["--default-signal=INT", env!("CARGO_BIN_EXE_sinew"), "tf"]).args(arguments);
        command.env("SINEW_DIR", place).env_remove("SINEW_DOMAIN_ID").env_remove("ROS_DOMAIN_ID");
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        assert!(child.wait().unwrap().success());
        if line.contains(expected) {
            return;
        }
        assert!(line.contains("no transform has named the frame"), "{line}");
        assert!(sinew::time::Time::steady() - begin < PATIENCE, "{line}");
    }
}

/// The command waits for missing frames, reports the reason, and ends with the first Ctrl-C.
#[test]
fn what_is_missing_is_said_and_waited_for() {
    let robot = Robot::new(&[("map", "odom")]);
    let expected = "\"map\" is in the tree of \"map\", \"lidar\" in that of \"base\"";
    says(robot.place(), &["echo", "map", "lidar"], expected);
}
