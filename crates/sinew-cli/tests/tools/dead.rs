//! Remains of dead processes.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use rustix::process::Signal;
use serde_json::Value;
use sinew_shm::transport::{Connect, Head, Participant, Writer};
use sinew_shm::{Domain, EndpointKind};

use crate::{Base, CHILD, Found, Other, PATIENCE, Slow, entity, park, talker_and_listener};

#[test]
fn the_other_process() {
    let Some(directory) = std::env::var_os(CHILD) else { return };
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).unwrap();
    let domain = Domain::open(Some(Path::new(&directory)), 0).unwrap();
    let participant = Participant::join(&domain, Arc::new(Found::default())).unwrap();
    let _entities = talker_and_listener(&participant);
    println!("it has joined");
    park();
}

#[test]
fn the_dead_are_left_out_and_cleaned_up() {
    let base = Base::new();
    let other = Other::start(&base, "dead::the_other_process");
    assert_eq!(base.text(&["node", "list"]), "/demo/listener\n/talker\n");
    assert!(base.doctor(&[]).contains("participants    1 live here"));
    other.kill();
    let left = base.files();
    assert!(!left.is_empty());
    assert_eq!(base.text(&["node", "list"]), "");
    assert_eq!(base.files(), left, "who only looks removes nothing");

    let told = base.doctor(&[]);
    assert!(told.contains("WRONG   stale files") && told.contains("sinew doctor --clean"), "{told}");
    let output = base.sinew(&["doctor", "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &report["healthy"]), (Some(1), &false.into()));
    let checks = report["checks"].as_array().unwrap();
    let stale = checks.iter().find(|check| check["check"] == "stale files").unwrap();
    assert_eq!(stale["state"], "wrong");

    let told = base.doctor(&["--clean"]);
    assert!(told.contains(&format!("removed {} files of one dead process", left.len())), "{told}");
    assert_eq!(base.files(), [""; 0]);
}

#[test]
fn what_the_dead_have_left_stays_while_a_process_reads_it() {
    let child = std::env::var_os(CHILD);
    let base = child.is_none().then(Base::new);
    let directory = child.as_deref().map(Path::new).or(base.as_ref().map(|base| base.0.path())).unwrap();
    let domain = Domain::open(Some(directory), 0).unwrap();
    let (subscriptions, subscribed) = sync_channel(9);
    let (connections, connected) = sync_channel(9);
    let participant = Participant::join(&domain, Arc::new(Slow { subscriptions, connections })).unwrap();
    let Some(base) = base else {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).unwrap();
        let publisher = entity(EndpointKind::Publisher, 1, "/talker", "/chatter", "std_msgs/msg/String");
        let publisher = Arc::new(participant.advertise(&publisher, None).unwrap());
        let reader = subscribed.recv_timeout(PATIENCE).unwrap();
        let mut writer = Writer::new(publisher, 8, 200, 1).unwrap();
        writer
            .connect(&reader, &Connect { target: None, first: 1, live: 1, depth: 8, capacity: None })
            .unwrap();
        writer.publish_inline(1, &Head::default(), b"its last words");
        println!("it has joined");
        park();
    };
    let subscription = entity(EndpointKind::Subscription, 1, "/listener", "/chatter", "std_msgs/msg/String");
    let _subscription = participant.advertise(&subscription, None).unwrap();
    let other = Other::start(&base, "dead::what_the_dead_have_left_stays_while_a_process_reads_it");
    let mut incoming = connected.recv_timeout(PATIENCE).unwrap();
    other.kill();
    let left = base.files();
    let told = base.doctor(&["--clean"]);
    assert!(
        told.contains("fine    stale files     none; ") && told.contains(" are still being read"),
        "{told}"
    );
    assert_eq!(base.files(), left);
    let mut words = Vec::new();
    assert!(incoming.read(&mut words).unwrap().is_some());
    assert_eq!(words, b"its last words");
}
