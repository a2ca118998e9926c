//! Messages of any type: echoed, published, asked for, and their types shown.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};
use sinew::prelude::*;
use sinew::{Executor, Publisher, StopHandle};
use sinew_msg::{ServiceType, TypeHash};

/// Longer than anything takes that goes well.
const PATIENCE: Duration = Duration::from_secs(30);

/// As ROS 2 has it.
#[derive(Message, Clone, Default)]
#[message(name = "std_msgs/msg/String")]
struct Text {
    data: String,
}

/// Of a package that has no definitions anywhere.
#[derive(Message, Clone, Default)]
#[message(name = "robot_msgs/msg/Arm")]
struct Arm {
    name: String,
    joints: Vec<Joint>,
    gains: [f32; 2],
}

#[derive(Message, Clone, Default)]
#[message(name = "robot_msgs/msg/Joint")]
struct Joint {
    angle: f64,
    limits: Vec<u8>,
}

#[derive(Message, Clone, Default)]
#[message(name = "robot_msgs/srv/Grip_Request")]
struct GripRequest {
    width: f64,
}

#[derive(Message, Clone, Default)]
#[message(name = "robot_msgs/srv/Grip_Response")]
struct GripResponse {
    held: bool,
    objects: Vec<String>,
}

struct Grip;

impl Service for Grip {
    type Request = GripRequest;
    type Response = GripResponse;
    const TYPE: Option<&'static ServiceType> =
        Some(&ServiceType { name: "robot_msgs/srv/Grip", hash: TypeHash(GRIP) });
}

/// That of the definition below.
const GRIP: [u8; 32] = [
    0x56, 0xb5, 0xaa, 0xe8, 0x19, 0xe4, 0x4c, 0xb4, 0x29, 0xd8, 0x00, 0x4d, 0x90, 0xb2, 0xda, 0x52, 0x17,
    0x66, 0x40, 0xcf, 0x9c, 0x0b, 0x31, 0x84, 0x5f, 0x47, 0xca, 0xab, 0x5f, 0x0a, 0x75, 0xc3,
];
const GRIP_SRV: &str = "float64 width\n---\nbool held\nstring[] objects\n";

/// A directory for domains, removed at the end.
struct Base(tempfile::TempDir);

impl Base {
    fn new() -> Self {
        Self(tempfile::tempdir_in("/dev/shm").unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn context(&self) -> Context {
        Context::builder().domain(0).directory(self.path().join("domains")).build().unwrap()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
        command.args(arguments).stdin(Stdio::null());
        command.env("SINEW_DIR", self.path().join("domains")).env("SINEW_DOMAIN_ID", "0");
        command.env_remove("AMENT_PREFIX_PATH");
        command
    }

    fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    #[track_caller]
    fn text(&self, arguments: &[&str]) -> String {
        good(&self.command(arguments).output().unwrap())
    }

    #[track_caller]
    fn failure(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stdout));
        String::from_utf8(output.stderr).unwrap()
    }

    /// Puts a definition into `definitions/package/kind/Base.kind`.
    fn define(&self, package: &str, file: &str, text: &str) -> String {
        let folder = self.path().join("definitions");
        let path = folder.join(package).join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        folder.to_str().unwrap().to_owned()
    }
}

#[track_caller]
fn good(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Serves a context in a thread of its own until it is dropped.
struct Spinning(StopHandle, Option<JoinHandle<()>>);

impl Spinning {
    fn new(context: &Context) -> Self {
        let executor = Executor::single();
        executor.add(context).unwrap();
        let stop = executor.stop_handle();
        Self(stop, Some(std::thread::spawn(move || executor.spin().unwrap())))
    }
}

impl Drop for Spinning {
    fn drop(&mut self) {
        self.0.stop();
        if let Some(thread) = self.1.take() {
            thread.join().unwrap();
        }
    }
}

/// Waits until somebody receives what is published.
fn wait_for_subscription<T: Message>(publisher: &Publisher<T>) {
    for _ in 0..PATIENCE.as_millis() {
        if publisher.matched_subscriptions() > 0 {
            return;
        }
        pause();
    }
    panic!("nobody subscribes to {}", publisher.topic());
}

#[expect(clippy::disallowed_methods, reason = "to wait for another process")]
fn pause() {
    std::thread::sleep(Duration::from_millis(1));
}

fn listen<T: Message + Clone>(context: &Context, topic: &str) -> (sinew::Subscription<T>, Receiver<T>) {
    let (sender, receiver) = channel();
    let node = context.node("listener").unwrap();
    let callback = move |message: &T| drop(sender.send(message.clone()));
    (node.subscription::<T>(topic).callback(callback).unwrap(), receiver)
}

#[test]
fn a_topic_is_echoed_with_its_fields() {
    let base = Base::new();
    let context = base.context();
    let talker = context.node("talker").unwrap().publisher::<Text>("chatter").create().unwrap();
    let child = base.start(&["topic", "echo", "chatter", "--once"]);
    wait_for_subscription(&talker);
    talker.publish(Text { data: "Hello: world".to_owned() }).unwrap();
    assert_eq!(good(&child.wait_with_output().unwrap()), "data: 'Hello: world'\n---\n");
}

#[test]
fn a_type_that_only_its_program_knows_is_echoed_as_well() {
    let base = Base::new();
    let context = base.context();
    let arms = context.node("robot").unwrap().publisher::<Arm>("arm").create().unwrap();
    let joint = |angle| Joint { angle, limits: (0..3).collect() };
    let arm = Arm { name: "left".into(), joints: vec![joint(0.5), joint(f64::NAN)], gains: [1.0, 0.1] };
    let yaml = "\
name: left
joints:
- angle: 0.5
  limits:
  - 0
  - 1
  - '...'
- angle: .nan
  limits:
  - 0
  - 1
  - '...'
gains:
- 1.0
- 0.10000000149011612
---
";
    let child = base.start(&["topic", "echo", "arm", "--count", "1", "--truncate-length", "2"]);
    wait_for_subscription(&arms);
    arms.publish(arm.clone()).unwrap();
    let told = good(&child.wait_with_output().unwrap());
    assert_eq!(told.replace("name: le...", "name: left"), yaml);

    let child = base.start(&["topic", "echo", "arm", "--once", "--json"]);
    while arms.matched_subscriptions() > 0 {
        pause(); // the first one's
    }
    wait_for_subscription(&arms);
    arms.publish(arm).unwrap();
    let told: Value = serde_json::from_str(&good(&child.wait_with_output().unwrap())).unwrap();
    assert_eq!((&told["type"], &told["topic"]), (&json!("robot_msgs/msg/Arm"), &json!("/arm")));
    assert_eq!(told["message"]["joints"][1], json!({"angle": "nan", "limits": [0, 1, 2]}));

    let hash = Arm::ENCODING.unwrap().hash.to_string();
    assert_eq!(base.text(&["interface", "hash", "robot_msgs/msg/Arm"]), format!("{hash}\n"));
}

#[test]
fn descriptions_that_lie_are_not_believed() {
    let base = Base::new();
    let context = base.context();
    let arms = context.node("robot").unwrap().publisher::<Arm>("arm").create().unwrap();
    let kept = base.path().join("domains/types");
    let hash = Arm::ENCODING.unwrap().hash.to_string().replace("RIHS01_", "");
    let file = kept.join(format!("{hash}.json"));
    let text = std::fs::read_to_string(&file).unwrap();
    for (lie, problem) in [
        (text.replace("angle", "color"), "it has the hash RIHS01_"),
        ("{".to_owned(), "it is no description"),
    ] {
        std::fs::remove_file(&file).unwrap();
        std::fs::write(&file, lie).unwrap();
        let child = base.start(&["topic", "echo", "arm", "--once"]);
        while arms.matched_subscriptions() > 0 {
            pause();
        }
        wait_for_subscription(&arms);
        arms.publish(Arm::default()).unwrap();
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(&format!("is ignored: {problem}")), "{said}");
        assert!(said.contains("bytes are shown: robot_msgs/msg/Arm is not known"), "{said}");
        assert!(said.contains("--interfaces DIR adds definitions"), "{said}");
        assert!(good(&output).contains("00000000  00 01 00 00"));
    }
}

#[test]
fn a_text_is_published() {
    let base = Base::new();
    let context = base.context();
    let (_subscription, heard) = listen::<Text>(&context, "chatter");
    let _spinning = Spinning::new(&context);
    let told = base.text(&["topic", "pub", "/chatter", "std_msgs/String", "{data: hello}", "--once"]);
    assert_eq!(told, "publishing #1: std_msgs/String {data: hello}\n");
    assert_eq!(heard.recv_timeout(PATIENCE).unwrap().data, "hello");

    let long = "x".repeat(100_000);
    let json = json!({"data": long}).to_string();
    base.text(&["topic", "pub", "chatter", "std_msgs/msg/String", &json, "--times", "2", "--rate", "1000"]);
    assert_eq!(heard.recv_timeout(PATIENCE).unwrap().data, long);
    assert_eq!(heard.recv_timeout(PATIENCE).unwrap().data, long);
}

#[test]
fn a_message_of_a_type_that_only_its_subscriber_knows_is_published() {
    let base = Base::new();
    let context = base.context();
    let (_subscription, heard) = listen::<Arm>(&context, "arm");
    let _spinning = Spinning::new(&context);
    let values = "{name: left, joints: [{angle: 1, limits: [1, 2]}, {}], gains: [0.5, -1]}";
    base.text(&["topic", "pub", "arm", "robot_msgs/msg/Arm", values, "--once"]);
    let arm = heard.recv_timeout(PATIENCE).unwrap();
    assert_eq!((arm.name.as_str(), arm.joints.len(), arm.gains), ("left", 2, [0.5, -1.0]));
    assert_eq!((arm.joints[0].angle, &arm.joints[0].limits[..]), (1.0, &[1, 2][..]));
}

#[test]
fn what_is_no_message_is_an_error() {
    let base = Base::new();
    let publish = |type_name: &str, values: &str| base.failure(&["topic", "pub", "t", type_name, values]);
    assert_eq!(
        publish("std_msgs/msg/String", "{date: a}"),
        "sinew: this is no std_msgs/msg/String: `date`: std_msgs/msg/String has no such field, but `data`\n"
    );
    assert_eq!(
        publish("geometry_msgs/msg/PoseStamped", "{pose: {position: {x: a}}}"),
        "sinew: this is no geometry_msgs/msg/PoseStamped: `pose.position.x`: found `a`, expected a number for `float64`\n"
    );
    let unknown = publish("std_msgs/msg/Sring", "{}");
    let looked =
        "std_msgs/msg/Sring is not known (looked at: AMENT_PREFIX_PATH (not set), the 23 packages built in, ";
    assert!(unknown.contains(looked), "{unknown}");
    assert!(
        unknown.contains("--interfaces DIR adds definitions; did you mean std_msgs/msg/String"),
        "{unknown}"
    );
    assert!(publish("String", "{}").contains("`String` is not the name of a ROS 2 type"));
    assert!(publish("std_srvs/srv/SetBool", "{}").contains("is of the kind `srv`"));
}

#[test]
fn a_service_is_called() {
    let base = Base::new();
    let context = base.context();
    let server = |request: &GripRequest| match request.width {
        width if width > 0.0 => {
            Ok(GripResponse { held: true, objects: vec!["cup".into(), format!("{width} m")] })
        }
        width => Err(format!("{width} m is no width")),
    };
    let _grip = context.node("hand").unwrap().service::<Grip>("grip").callback(server).unwrap();
    let _spinning = Spinning::new(&context);
    assert_eq!(
        base.text(&["service", "call", "/grip", "robot_msgs/srv/Grip", "{width: 0.25}"]),
        "held: true\nobjects:\n- cup\n- 0.25 m\n"
    );
    let told = base.text(&["service", "call", "grip", "width: 1", "--json"]);
    assert_eq!(told, "{\"held\":true,\"objects\":[\"cup\",\"1 m\"]}\n");
    assert_eq!(base.failure(&["service", "call", "grip"]), "sinew: /grip failed: 0 m is no width\n");
    let other = base.failure(&["service", "call", "grip", "std_srvs/srv/SetBool", "{}"]);
    assert_eq!(other, "sinew: /grip has the type robot_msgs/srv/Grip, not std_srvs/srv/SetBool\n");
    let wrong = base.failure(&["service", "call", "grip", "{width: wide}"]);
    assert!(wrong.contains("`width`: found `wide`, expected a number"), "{wrong}");
    let nobody = base.failure(&["service", "call", "gripp", "--timeout", "0.1"]);
    assert!(nobody.contains("did you mean /grip?"), "{nobody}");
    let expected = "nobody served /gripp in domain 0 within 0.1 s; did you mean /grip? (`sinew service list` tells what there is)\n";
    assert!(nobody.ends_with(expected), "{nobody}");
}

#[test]
fn types_are_listed_and_shown() {
    let base = Base::new();
    let folder = base.define("robot_msgs", "srv/Grip.srv", GRIP_SRV);
    base.define(
        "robot_msgs",
        "msg/Tool.msg",
        "# What is held.\nuint8 NONE=0\nuint8 kind 0  # one of these\ngeometry_msgs/Point at\n",
    );
    let with = ["--interfaces", folder.as_str()];
    let list = base.text(&[&["interface", "list"], &with[..]].concat());
    assert!(
        list.contains("    robot_msgs/msg/Tool\n")
            && list.contains("Services:\n")
            && list.contains("    sensor_msgs/msg/Image\n")
    );
    let messages = base.text(&["interface", "list", "--only-srvs"]);
    assert!(!messages.contains("/msg/") && messages.contains("std_srvs/srv/SetBool"));

    let shown = base.text(&[&["interface", "show", "robot_msgs/Tool"], &with[..]].concat());
    let expected = "\
# What is held.
uint8 NONE=0
uint8 kind 0  # one of these
geometry_msgs/Point at
\tfloat64 x
\tfloat64 y
\tfloat64 z
";
    assert_eq!(shown, expected);
    let hash = base.text(&[&["interface", "hash", "robot_msgs/srv/Grip"], &with[..]].concat());
    assert_eq!(hash, format!("{}\n", TypeHash(GRIP)));
    let json: Value =
        serde_json::from_str(&base.text(&["interface", "show", "std_srvs/SetBool", "--json"])).unwrap();
    assert_eq!(json["type_description"]["type_name"], "std_srvs/srv/SetBool");

    // A broken package harms nobody who doesn't use it.
    base.define("broken_msgs", "msg/A.msg", "int a\n");
    base.text(&[&["interface", "show", "robot_msgs/Tool"], &with[..]].concat());
    let broken = base.failure(&[&["interface", "show", "broken_msgs/A"], &with[..]].concat());
    assert!(broken.contains("broken_msgs/msg/A.msg:1:1: found `int`, expected a type"), "{broken}");
    let nothing = base.failure(&["interface", "list", "--interfaces", "/proc/self/fd"]);
    assert!(nothing.starts_with("sinew: /proc/self/fd has no interfaces"), "{nothing}");
}

#[test]
fn definitions_of_a_ros_2_installation_are_found() {
    let base = Base::new();
    base.define("share/tool_msgs", "msg/Tool.msg", "string name \"none\"\n");
    let mut command = base.command(&["interface", "show", "tool_msgs/msg/Tool"]);
    let output = command.env("AMENT_PREFIX_PATH", base.path().join("definitions")).output().unwrap();
    assert_eq!(good(&output), "string name \"none\"\n");
}
