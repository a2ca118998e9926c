//! `sinew log`.

use std::io::BufReader;

use serde_json::Value;
use sinew::logging::Logger;
use sinew::prelude::*;
use sinew::time::Time;
use sinew_interfaces::rcl_interfaces::msg::Log;

use crate::{Base, end_with_ctrl_c};

fn line(second: i64, level: u8, name: &str, message: &str) -> Log {
    let stamp = Time::from_nanoseconds(1_700_000_000_000_000_000 + second * 1_000_000_000).to_msg();
    let (file, function) = ("src/arm.rs".to_owned(), "arm".to_owned());
    Log { stamp, level, name: name.to_owned(), msg: message.to_owned(), file, function, line: 7 }
}

#[test]
fn lines_are_followed_and_filtered() {
    let base = Base::new();
    let context = base.context();
    let node = context.node("arm").unwrap();
    let rosout = node.publisher::<Log>("/rosout").qos(QoS::rosout()).create().unwrap();
    for line in [
        line(0, 10, "robot.arm", "joint 1 at 0.5"),
        line(1, 30, "robot.arm.hand", "joint 2 slips"),
        line(2, 40, "robot.armoury", "joint 3 slips"),
        line(3, 20, "camera", "ready"),
    ] {
        rosout.publish(line).unwrap();
    }
    let text = |options: &[&str]| base.text(&[&["log"], options].concat());
    assert_eq!(
        text(&["-n", "4"]),
        "[DEBUG] [1700000000.000000000] [robot.arm]: joint 1 at 0.5\n\
         [WARN] [1700000001.000000000] [robot.arm.hand]: joint 2 slips\n\
         [ERROR] [1700000002.000000000] [robot.armoury]: joint 3 slips\n\
         [INFO] [1700000003.000000000] [camera]: ready\n"
    );
    let slips = "[WARN] [1700000001.000000000] [robot.arm.hand]: joint 2 slips";
    assert_eq!(text(&["-n", "1", "--node", "/robot/arm", "--level", "warn"]), format!("{slips}\n"));
    assert_eq!(
        text(&["-n", "1", "--regex", "joint [2-9]", "-v"]),
        format!("{slips} (arm at src/arm.rs:7)\n")
    );
    let json: Value = serde_json::from_str(&text(&["-n", "1", "--node", "camera", "--json"])).unwrap();
    assert_eq!(
        (&json["severity"], &json["level"], &json["msg"]),
        (&"INFO".into(), &20.into(), &"ready".into())
    );
    assert_eq!(json["stamp"], 1_700_000_003_000_000_000_i64);

    let mut child = base.start(&["log", "--no-history"]);
    let mut output = BufReader::new(child.stdout.take().unwrap());
    assert!(rosout.wait_for_subscribers(1, crate::PATIENCE));
    rosout.publish(line(4, 50, "robot.arm", "new")).unwrap();
    let mut first = String::new();
    std::io::BufRead::read_line(&mut output, &mut first).unwrap();
    assert_eq!(first, "[FATAL] [1700000004.000000000] [robot.arm]: new\n");
    end_with_ctrl_c(child);
    let wrong = base.command(&["log", "--level", "loud"]).output().unwrap();
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("debug, info, warn, error or fatal"));
}

/// A node's messages neither control the terminal nor look like a line of another node.
#[test]
fn what_nodes_say_is_harmless() {
    let base = Base::new();
    let context = base.context();
    let node = context.node("arm").unwrap();
    let rosout = node.publisher::<Log>("/rosout").qos(QoS::rosout()).create().unwrap();
    let message = "\x1b]0;title\x07\x1b[2J\x1b[31mred\x1b[0m\r\n[FATAL] [0] [base]: forged\n";
    rosout.publish(line(0, 20, "ar\x1bm\nx", message)).unwrap();
    assert_eq!(
        base.text(&["log", "-n", "1"]),
        "[INFO] [1700000000.000000000] [ar\\x1bm\\nx]: \\x1b]0;title\\x07\\x1b[2Jred\n    [FATAL] [0] [base]: forged\n"
    );
    let json: Value = serde_json::from_str(&base.text(&["log", "-n", "1", "--json"])).unwrap();
    assert_eq!(json["msg"], message, "for programs it is as it was said");

    let unseen = "\u{9b}31m\u{202e}\x7f\u{200b}";
    rosout.publish(line(0, 20, "arm", unseen)).unwrap();
    let both = base.text(&["log", "-n", "2", "--json"]);
    assert!(both.contains("\"\\u009b31m\\u202e\\u007f\\u200b\""), "{both}");
    let json: Value = serde_json::from_str(both.lines().last().unwrap()).unwrap();
    assert_eq!(json["msg"], unseen);
}

#[test]
fn a_node_without_services_is_told_from_one_that_isnt_there() {
    let base = Base::new();
    let context = base.context();
    let _node = context.node_in("/robot", "arm").unwrap();
    let said = base.failure(&["log", "level", "/robot/arm"]);
    assert!(
        said.starts_with("sinew: the levels of /robot/arm's loggers can't be read or set: it has no"),
        "{said}"
    );
    let said = base.failure(&["log", "level", "/robot/amr", "", "debug"]);
    assert_eq!(said, "sinew: no node is called /robot/amr in domain 0; did you mean /robot/arm?\n");
}

#[test]
fn levels_are_told_and_set() {
    let base = Base::new();
    let context = base.context();
    let node = context.node_in("/robot", "arm").unwrap();
    let _services = node.logger_services().unwrap();
    let text = |options: &[&str]| base.text(&[&["log", "level", "/robot/arm"], options].concat());
    assert_eq!(text(&[]), "robot.arm: unset\n");
    assert_eq!(text(&["warn"]), "robot.arm: warn\n");
    assert_eq!([text(&[]), text(&["unset"])], ["robot.arm: warn\n", "robot.arm: unset\n"]);
    assert_eq!(text(&["robot.arm.hand", "debug"]), "robot.arm.hand: debug\n");
    assert!(Logger::named("robot.arm.hand").is_enabled(sinew::LogLevel::Debug));
    assert_eq!(
        text(&["robot.arm.hand", "--json"]),
        "{\"level\":10,\"name\":\"robot.arm.hand\",\"severity\":\"debug\"}\n"
    );
    assert_eq!(text(&["robot.arm.hand", "unset"]), "robot.arm.hand: unset\n");
    assert_eq!(text(&["", "fatal"]), "all others: fatal\n");
    assert!(!Logger::named("camera").is_enabled(sinew::LogLevel::Error));
    text(&["", "unset"]);
}
