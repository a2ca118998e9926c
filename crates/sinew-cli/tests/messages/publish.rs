//! `topic pub`.

use std::io::{BufRead as _, BufReader};

use serde_json::json;
use sinew::prelude::*;

use crate::{Arm, Base, PATIENCE, Spinning, Text, end_with_ctrl_c, good, listen};

/// ROS 2's type.
#[derive(Message, Clone, Copy, Default)]
#[message(name = "builtin_interfaces/msg/Time")]
struct Stamp {
    sec: i32,
    nanosec: u32,
}

/// ROS 2's type.
#[derive(Message, Clone, Default)]
#[message(name = "std_msgs/msg/Header")]
struct Header {
    stamp: Stamp,
    frame_id: String,
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
fn a_file_or_standard_input_is_published() {
    let base = Base::new();
    let context = base.context();
    let (_subscription, heard) = listen::<Text>(&context, "chatter");
    let _spinning = Spinning::new(&context);
    let file = base.path().join("message.yaml");
    let path = file.to_str().unwrap();
    let publish = |options: &[&str]| {
        let line = ["topic", "pub", "chatter", "std_msgs/String", "--once", "--print", "0"];
        base.command(&[&line, options].concat())
    };
    // Longer than a command line may be.
    let long = "x".repeat(3 << 20);
    std::fs::write(&file, format!("data: {long}\n---\n")).unwrap();
    good(&publish(&["--file", path]).output().unwrap());
    assert_eq!(heard.recv_timeout(PATIENCE).unwrap().data, long);

    for options in [&["-"][..], &["--file", "-"], &["--stdin"]] {
        std::fs::write(&file, json!({"data": "from JSON"}).to_string()).unwrap();
        let output = publish(options).stdin(std::fs::File::open(&file).unwrap()).output().unwrap();
        good(&output);
        assert_eq!(heard.recv_timeout(PATIENCE).unwrap().data, "from JSON");
    }

    let failure = |options: &[&str]| {
        let output = publish(options).output().unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    std::fs::write(&file, "data: [1\n").unwrap();
    assert!(failure(&["--file", path]).starts_with("sinew: this is no std_msgs/msg/String: "));
    std::fs::write(&file, "\n").unwrap();
    assert!(failure(&["--file", path]).contains("message.yaml is empty: write the values"));
    assert!(failure(&["-"]).starts_with("sinew: standard input is empty: "));
    assert!(failure(&["--file", "/none.yaml"]).starts_with("sinew: can't read /none.yaml: No such file"));
    assert!(failure(&["{data: a}", "--file", path]).contains("cannot be used with"));
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
        "std_msgs/msg/Sring is not known (looked at: AMENT_PREFIX_PATH (not set), the 24 packages built in, ";
    assert!(unknown.contains(looked), "{unknown}");
    assert!(
        unknown.contains("--interfaces DIR adds definitions; did you mean std_msgs/msg/String"),
        "{unknown}"
    );
    assert!(publish("String", "{}").contains("`String` is not the name of a ROS 2 type"));
    assert!(publish("std_srvs/srv/SetBool", "{}").contains("is of the kind `srv`"));
}

#[test]
fn times_and_liveliness_are_offered() {
    let base = Base::new();
    let options = "--qos-deadline 2 --qos-lifespan 0.5 --qos-liveliness manual_by_topic --qos-liveliness-lease-duration 3 -w 1";
    let arguments = ["topic", "pub", "/chatter", "std_msgs/String"];
    let child = base.start(&[&arguments[..], &options.split(' ').collect::<Vec<_>>()].concat());
    let context = base.context();
    let (subscription, _heard) = listen::<Text>(&context, "chatter");
    while subscription.publisher_count() == 0 {
        std::thread::yield_now();
    }
    let info: serde_json::Value =
        serde_json::from_str(&base.text(&["topic", "info", "/chatter", "--json"])).unwrap();
    let qos = &info["publishers"][0]["qos"];
    assert_eq!((&qos["deadline_ns"], &qos["lifespan_ns"]), (&json!(2_000_000_000), &json!(500_000_000)));
    let liveliness = (&qos["liveliness"], &qos["liveliness_lease_ns"]);
    assert_eq!(liveliness, (&json!("manual_by_topic"), &json!(3_000_000_000_u64)));
    end_with_ctrl_c(child);
}

#[test]
fn times_are_told_when_a_message_is_published() {
    let base = Base::new();
    let context = base.context();
    let (_subscription, heard) = listen::<Header>(&context, "headers");
    let _spinning = Spinning::new(&context);
    let publish = |values: &str| {
        base.text(&["topic", "pub", "headers", "std_msgs/Header", values, "-t", "2", "-r", "1000"])
    };
    let next = || heard.recv_timeout(PATIENCE).unwrap();
    let told = publish("{stamp: now, frame_id: map}");
    assert!(
        told.starts_with("publishing #1: std_msgs/Header {stamp: {sec: 1") && !told.contains("now"),
        "{told}"
    );
    let (first, second) = (next(), next());
    let time = |header: &Header| (header.stamp.sec, header.stamp.nanosec);
    assert!(time(&first) > (1_600_000_000, 0) && time(&first) < time(&second), "each has its own");
    assert_eq!((first.frame_id.as_str(), second.frame_id.as_str()), ("map", "map"));
    publish("auto");
    let third = next();
    assert!(time(&second) < time(&third) && third.frame_id.is_empty());
    publish("{stamp: {sec: 5}}");
    next();
    assert_eq!(time(&next()), (5, 0));
}

#[test]
fn late_subscriptions_get_what_is_retained() {
    let base = Base::new();
    let options =
        "--times 3 --rate 1000 -w 0 --qos-durability transient_local --qos-depth 2 --keep-alive 60 -n mapper";
    let arguments = ["topic", "pub", "map", "std_msgs/String", "{data: here}"];
    let mut child = base.start(&[&arguments[..], &options.split(' ').collect::<Vec<_>>()].concat());
    let mut told = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(told.any(|line| line.unwrap().starts_with("publishing #3: ")));
    assert_eq!(base.text(&["node", "list"]), "/mapper\n");
    let info = base.text(&["topic", "info", "-v", "map"]);
    for line in ["Node name: mapper", "  History (Depth): KEEP_LAST (2)", "  Durability: TRANSIENT_LOCAL"] {
        assert!(info.contains(line), "{info}");
    }
    assert_eq!(base.text(&["topic", "echo", "map", "--csv", "--count", "2"]), "here\nhere\n");
    assert_eq!(base.text(&["topic", "echo", "map", "--csv", "--once", "--qos-depth", "1"]), "here\n");
    end_with_ctrl_c(child);
}

#[test]
fn subscriptions_that_ask_for_more_are_told_of() {
    let base = Base::new();
    let context = base.context();
    let node = context.node("viewer").unwrap();
    let wants = QoS::default().transient_local();
    let _map = node.subscription::<Text>("map").qos(wants).callback(|_: &Text| {}).unwrap();
    let publish = |option: &str, kind: &str| {
        let arguments = ["topic", "pub", "map", "std_msgs/String", "--once", "--max-wait-time", "0.2"];
        base.failure(&[&arguments[..], &[option, kind]].concat())
    };
    let said = publish("--qos-profile", "default");
    let expected = "sinew: /viewer gets nothing, incompatible: durability (offers volatile, asked \
                    transient_local); --qos-durability transient_local offers more\n";
    assert!(said.starts_with(expected), "{said}");
    assert!(
        said.contains("0 of 1 subscriptions of /map matched within 0.2 s, so nothing was published"),
        "{said}"
    );
    assert!(publish("--qos-reliability", "best_effort").contains("reliability (offers best_effort, "));
}

#[test]
fn every_message_comes_where_both_keep_all() {
    const MESSAGES: usize = 3000; // more than the ring keeps
    let base = Base::new();
    let context = base.context();
    let node = context.node("listener").unwrap();
    let (sender, heard) = std::sync::mpsc::channel();
    let callback = move |message: &Text| drop(sender.send(message.data.clone()));
    let few = QoS::default().keep_all().max_samples(2);
    let _subscription = node.subscription::<Text>("chatter").qos(few).callback(callback).unwrap();
    let times = MESSAGES.to_string();
    let options = ["--qos-history", "keep_all", "-r", "100000", "--print", "1500", "--times", &times];
    let arguments = ["topic", "pub", "chatter", "std_msgs/String", "{data: a}"];
    let child = base.start(&[&arguments[..], &options].concat());
    // No messages are taken yet. A publisher that doesn't wait would be finished before this loop
    // is.
    for _ in 0..20 {
        base.text(&["topic", "list"]);
    }
    let _spinning = Spinning::new(&context);
    let told = good(&child.wait_with_output().unwrap());
    let line = |number| format!("publishing #{number}: std_msgs/String {{data: a}}\n");
    assert_eq!(told, line(1500) + &line(3000));
    for number in 0..MESSAGES {
        assert!(heard.recv_timeout(PATIENCE).is_ok(), "message {number}");
    }
}

#[test]
fn wrong_options_are_told_at_once() {
    let base = Base::new();
    let cases: [(&[&str], &str); 8] = [
        (&["pub", "a b", "std_msgs/String"], "topic name `/a b` is invalid at byte 2"),
        (&["pub", "a", "std_msgs/String", "-n", "1a"], "node name `1a` is invalid at byte 0"),
        (&["pub", "a", "std_msgs/String", "-r", "0"], "from 0.001 to 100000"),
        (&["pub", "a", "std_msgs/String", "-1", "-t", "2"], "cannot be used with"),
        (&["pub", "a", "std_msgs/String", "--qos-depth", "0"], "0 is not in 1..=65535"),
        (
            &["pub", "a", "std_msgs/String", "--qos-history", "keep_all", "--qos-depth", "2"],
            "keep_all has no depth",
        ),
        (&["echo", "a", "--field", "a..b"], "`a..b` is no field: write names with dots between them"),
        (&["echo", "a", "--csv", "--json"], "cannot be used with"),
    ];
    for (arguments, expected) in cases {
        let output = base.command(&[&["topic"], arguments].concat()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
    let said = base.failure(&["topic", "pub", "a", "std_msgs/String", "{data:hello}"]);
    assert!(said.ends_with("but `data`; YAML wants a blank behind a colon\n"), "{said}");
}
