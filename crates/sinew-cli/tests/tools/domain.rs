//! The selected domain; and that looking changes nothing.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::json;
use sinew_shm::transport::Participant;
use sinew_shm::{Domain, EndpointKind};

use crate::{Base, Found, entity, talker_and_listener, text};

#[test]
fn an_empty_domain() {
    let base = Base::new();
    for list in ["node", "topic", "service"] {
        assert_eq!(base.text(&[list, "list"]), "");
        assert_eq!(base.json(&[list, "list"]), json!([]));
    }
    assert_eq!(base.json(&["top", "--interval", "0.01"])["topics"], json!([]));
    assert_eq!(base.failure(&["topic", "info", "/a"]), "sinew: no topic is called /a in domain 0\n");
    assert!(!base.domain().exists(), "who only looks makes nothing");

    let elsewhere = base.0.path().join("nowhere");
    let output = Command::new(env!("CARGO_BIN_EXE_sinew"))
        .args(["node", "list", "--dir"])
        .arg(&elsewhere)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("nowhere is not there"), "{}", text(&output.stderr));
}

#[test]
fn the_domain_comes_from_the_options_or_the_environment() {
    let base = Base::new();
    let domain = Domain::open(Some(base.0.path()), 7).unwrap();
    let participant = Participant::join(&domain, Arc::new(Found::default())).unwrap();
    let _entities = talker_and_listener(&participant);
    let list = |set: &[(&str, &str)], arguments: &[&str]| {
        let mut command = base.command(&["topic", "list"]);
        command.args(arguments).envs(set.iter().copied());
        let output = command.output().unwrap();
        (output.status.code(), text(&output.stdout) + &text(&output.stderr))
    };
    let found = (Some(0), "/chatter\n".to_owned());
    assert_eq!(list(&[], &["--domain", "7"]), found);
    assert_eq!(list(&[("ROS_DOMAIN_ID", "7")], &[]), found);
    assert_eq!(list(&[("ROS_DOMAIN_ID", "3"), ("SINEW_DOMAIN_ID", "7")], &[]), found);
    let (code, said) = list(&[("SINEW_DOMAIN_ID", "7")], &["--domain", "0"]);
    assert!(code == Some(0) && said.starts_with("sinew: no topics in domain 0 of "), "{said}");
    let (code, said) = list(&[("ROS_DOMAIN_ID", "seven")], &[]);
    assert!(code == Some(1) && said.contains("ROS_DOMAIN_ID is \"seven\""), "{said}");
}

#[test]
fn wrong_options() {
    let base = Base::new();
    let cases: [(&[&str], &str); 14] = [
        (&["node"], "Usage"),
        (&["topic", "echo", "/a", "--count", "0"], "0 is not in 1.."),
        (&["topic", "watch"], "unrecognized subcommand"),
        (&["topic", "info"], "<NAME>"),
        (&["topic", "hz", "/"], "must be a name"),
        (&["topic", "hz", "/a", "--interval", "0"], "from 0.01 to 3600"),
        (&["topic", "bw", "/a", "--over", "-1"], "above 0"),
        (&["topic", "hz", "/a", "-w", "100"], "a report covers a time here"),
        (&["topic", "delay", "/a", "--count", "0"], "0 is not in 1.."),
        (&["topic", "list", "--domain", "-1"], "-1 is not in 0.."),
        (&["node", "list", "--show-types"], "unexpected argument"),
        (&["service", "hz", "/a"], "unrecognized subcommand"),
        (&["top", "--interval", "soon"], "from 0.01 to 3600"),
        (&["doctor", "everything"], "unexpected argument"),
    ];
    for (arguments, expected) in cases {
        let output = base.sinew(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains(expected), "{arguments:?}: {}", text(&output.stderr));
    }
}

#[test]
fn a_hundred_entities_of_several_processes() {
    let base = Base::new();
    let domain = Domain::open(Some(base.0.path()), 0).unwrap();
    let mut entities = Vec::new();
    for process in 0..4 {
        let participant = Participant::join(&domain, Arc::new(Found::default())).unwrap();
        for number in 0..25 {
            let kind = if number % 2 == 0 { EndpointKind::Publisher } else { EndpointKind::Subscription };
            let node = format!("/process{process}");
            let entity = entity(kind, number, &node, &format!("/topic{number:02}"), "std_msgs/msg/Empty");
            entities.push(participant.advertise(&entity, None).unwrap());
        }
    }
    let topics = base.json(&["topic", "list"]);
    assert_eq!(topics.as_array().unwrap().len(), 25);
    assert_eq!((&topics[0]["publishers"], &topics[1]["subscriptions"]), (&4.into(), &4.into()));
    let top = base.json(&["top", "--interval", "0.05"]);
    assert_eq!(
        (top["processes"].as_array().unwrap().len(), &top["processes"][3]["publishers"]),
        (4, &13.into())
    );
    entities.truncate(50);
    assert_eq!(base.json(&["topic", "list"])[0]["publishers"], 2);
}

#[test]
fn who_is_looked_at_doesnt_notice() {
    let base = Base::new();
    let found = Arc::new(Found::default());
    let domain = Domain::open(Some(base.0.path()), 0).unwrap();
    let participant = Participant::join(&domain, found.clone()).unwrap();
    let _entities = talker_and_listener(&participant);
    let before = base.files();
    for arguments in [&["topic", "list"][..], &["topic", "info", "chatter"], &["top", "--interval", "0.05"]] {
        base.text(arguments);
    }
    base.doctor(&["--clean"]);
    participant.refresh();
    assert_eq!((base.files(), found.0.load(Ordering::SeqCst)), (before, 0));
}
