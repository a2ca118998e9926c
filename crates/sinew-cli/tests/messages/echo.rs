//! `topic echo`.

use serde_json::{Value, json};
use sinew::prelude::*;

use crate::{Arm, Base, Joint, Text, end_with_ctrl_c, first_line, good, pause, wait_for_subscription};

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
fn what_messages_say_steers_no_terminal() {
    let base = Base::new();
    let context = base.context();
    let talker = context
        .node("talker")
        .unwrap()
        .publisher::<Text>("chatter")
        .qos(QoS::default().transient_local())
        .create()
        .unwrap();
    let data = "\u{9b}31m\u{202e}a\u{200b}\u{e0041}";
    talker.publish(Text { data: data.to_owned() }).unwrap();
    let echo = |options: &[&str]| {
        base.text(
            &[&["topic", "echo", "chatter", "--once", "--qos-durability", "transient_local"], options]
                .concat(),
        )
    };
    assert_eq!(echo(&[]), "data: \"\\x9B31m\\u202Ea\\u200B\\U000E0041\"\n---\n");
    assert_eq!(echo(&["--csv"]), "\\u{9b}31m\\u{202e}a\\u{200b}\\u{e0041}\n");
    let json = echo(&["--json"]);
    assert!(json.contains("\"\\u009b31m\\u202ea\\u200b\\udb40\\udc41\""), "{json}");
    assert_eq!(serde_json::from_str::<Value>(&json).unwrap()["message"]["data"], data);
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

    while arms.subscription_count() > 0 {
        pause(); // the first one's
    }
    let child = base.start(&["topic", "echo", "arm", "--once", "--json"]);
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
        while arms.subscription_count() > 0 {
            pause(); // the last one's
        }
        let child = base.start(&["topic", "echo", "arm", "--once"]);
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

/// Returns an arm with this many joints.
fn arm(joints: u8) -> Arm {
    let joint = |at: u8| Joint { angle: f64::from(at) / 2.0, limits: vec![at, 200] };
    Arm { name: "left, or so".into(), joints: (0..joints).map(joint).collect(), gains: [1.0, -0.5] }
}

#[test]
fn a_part_is_echoed_or_all_as_csv() {
    let base = Base::new();
    let context = base.context();
    let arms = context.node("robot").unwrap().publisher::<Arm>("arm").create().unwrap();
    let echoed = |options: &[&str], told: &[u8]| {
        let child = base.start(&[&["topic", "echo", "arm"], options].concat());
        wait_for_subscription(&arms);
        told.iter().for_each(|&joints| arms.publish(arm(joints)).unwrap());
        let output = child.wait_with_output().unwrap();
        while arms.subscription_count() > 0 {
            pause();
        }
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (told, said) = echoed(&["--field", "joints[1]", "--once"], &[1, 2]);
    assert_eq!(told, "angle: 0.5\nlimits:\n- 1\n- 200\n---\n");
    assert_eq!(said, "sinew: a message of /robot has no `joints[1]`: it has fewer elements\n");
    let (told, _) = echoed(&["--field", "gains[1]", "--once", "--json"], &[0]);
    assert_eq!(serde_json::from_str::<Value>(&told).unwrap()["value"], json!(-0.5));
    let (told, _) = echoed(&["--csv", "--count", "2"], &[1, 0]);
    assert_eq!(told, "\"left, or so\",0.0,0,200,1.0,-0.5\n\"left, or so\",1.0,-0.5\n");
    let (told, _) = echoed(&["--csv", "--field", "joints", "--once"], &[2]);
    assert_eq!(told, "0.0,0,200,0.5,1,200\n");
    // This is reported without any message.
    let said = base.failure(&["topic", "echo", "arm", "--field", "joints[0].color"]);
    let expected =
        "sinew: `joints[0].color`: robot_msgs/msg/Joint has no such field, but `angle`, `limits`\n";
    assert_eq!(said, expected);
}

#[test]
fn what_is_retained_is_echoed_unless_it_isnt_wanted() {
    let base = Base::new();
    let context = base.context();
    let node = context.node("mapper").unwrap();
    let latched = QoS::default().keep_last(2).transient_local();
    let maps = node.publisher::<Text>("map").qos(latched).create().unwrap();
    let publish = |data: &str| maps.publish(Text { data: data.to_owned() }).unwrap();
    ["a", "b", "c"].into_iter().for_each(publish);
    assert_eq!(base.text(&["topic", "echo", "map", "--csv", "--count", "2"]), "b\nc\n");
    let newest = ["topic", "echo", "map", "--csv", "--once", "--qos-depth", "1"];
    assert_eq!(base.text(&newest), "c\n");
    while maps.subscription_count() > 0 {
        pause();
    }
    let child = base.start(&["topic", "echo", "map", "--csv", "--once", "--qos-durability", "volatile"]);
    wait_for_subscription(&maps);
    publish("d");
    assert_eq!(good(&child.wait_with_output().unwrap()), "d\n");
}

#[test]
fn publishers_that_offer_less_are_told_of() {
    let base = Base::new();
    let context = base.context();
    let node = context.node("talker").unwrap();
    let _talker = node.publisher::<Text>("chatter").qos(QoS::sensor_data()).create().unwrap();
    let durability = "durability (offers volatile, asked transient_local); --qos-durability";
    let reliability = "reliability (offers best_effort, asked reliable); --qos-reliability";
    let liveliness = "liveliness (offers automatic, asked manual_by_topic); --qos-liveliness";
    let lease = "liveliness lease (offers none, asked 2s); --qos-liveliness-lease-duration";
    for (option, kind, why) in [
        ("--qos-durability", "transient_local", durability),
        ("--qos-reliability", "reliable", reliability),
        ("--qos-profile", "default", reliability),
        ("--qos-deadline", "0.5", "deadline (offers none, asked 500ms); --qos-deadline"),
        ("--qos-liveliness", "manual_by_topic", liveliness),
        ("--qos-liveliness-lease-duration", "2", lease),
        ("--qos-liveliness-lease-duration-seconds", "2", lease),
    ] {
        let mut child = base.start(&["topic", "echo", "chatter", option, kind]);
        let expected = format!(
            "sinew: nothing of /talker comes, incompatible: {why} or --qos-profile can ask for less\n"
        );
        assert_eq!(first_line(child.stderr.take()), expected);
        end_with_ctrl_c(child);
    }
    let mut child = base.start(&["topic", "echo", "chatter", "std_msgs/msg/Header"]);
    let expected = "sinew: /talker publishes /chatter as std_msgs/msg/String, which is left out\n";
    assert_eq!(first_line(child.stderr.take()), expected);
    end_with_ctrl_c(child);
}
