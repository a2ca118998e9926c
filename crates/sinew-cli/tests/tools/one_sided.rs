//! One-sided names, and nodes with the same name, as the tools report them.

use serde_json::json;
use sinew::gateway::Report;
use sinew_shm::EndpointKind::{Client, Node, Publisher, Server, Subscription};
use sinew_shm::transport::{OwnEndpoint, Participant};
use sinew_shm::{Endpoint, EndpointKind};
use std::sync::Arc;

use crate::{Base, entity, text};

const STRING: &str = "std_msgs/msg/String";
const INT32: &str = "std_msgs/msg/Int32";
const TRIGGER: &str = "std_srvs/srv/Trigger";

type End = (EndpointKind, &'static str, &'static str, &'static str);

fn known(participant: &Arc<Participant>, ends: &[End]) -> Vec<OwnEndpoint> {
    let entity = |(number, &(kind, node, name, type_name)): (u64, &End)| Endpoint {
        qos: sinew::QoS::default().to_bytes(true),
        ..entity(kind, number, node, name, type_name)
    };
    (1..).zip(ends).map(|end| participant.advertise(&entity(end), None).unwrap()).collect()
}

#[test]
fn a_misspelled_name_is_told_first_wherever_one_looks() {
    let base = Base::new();
    let (driver, controller) = (base.join(), base.join());
    let _driver = known(
        &driver,
        &[
            (Publisher, "/driver", "/a_debug_topic", STRING),
            (Publisher, "/driver", "/wheel_sates", INT32),
            (Publisher, "/driver", "/wheel_stated", STRING),
            (Publisher, "/driver", "/rosout", STRING),
            (Publisher, "/_tool", "/tool", STRING),
            (Server, "/driver", "/driver/get_parameters", TRIGGER),
            (Server, "/driver", "/stop_all", TRIGGER),
        ],
    );
    let _controller = known(
        &controller,
        &[
            (Subscription, "/controller", "/wheel_states", INT32),
            (Client, "/controller", "/stop_al", TRIGGER),
            (Client, "/controller", "/drive/_action/send_goal", "a/action/Drive_SendGoal"),
            (Client, "/controller", "/drive/_action/get_result", "a/action/Drive_GetResult"),
        ],
    );
    let expected = "\
6 topics: every publisher matches every subscription
/wheel_states has no publisher: subscribed to by /controller; /driver publishes the same type as /wheel_sates
/stop_al has no server: called by /controller; /driver serves the same type as /stop_all
/wheel_sates has no subscription: published by /driver; /controller subscribes to the same type as /wheel_states
/stop_all has no client: served by /driver; /controller calls the same type as /stop_al
action /drive has no server: called by /controller
/a_debug_topic has no subscription: published by /driver
/wheel_stated has no subscription: published by /driver
";
    assert_eq!(base.text(&["topic", "check"]), expected);
    let of_one = base.text(&["topic", "check", "wheel_sates"]);
    assert_eq!(of_one.lines().count(), 2, "{of_one}");
    let found = base.json(&["topic", "check"]);
    assert_eq!(found[0]["name"], "/wheel_states");
    assert_eq!((&found[0]["kind"], &found[0]["reason"]), (&json!("topic"), &json!("no publisher")));
    assert_eq!((&found[0]["receiver"]["node"], &found[0]["sender"]), (&json!("/controller"), &json!(null)));
    assert_eq!(found[0]["similar"], json!(["/wheel_sates"]));

    let told = base.doctor(&[]);
    let advice = "advice  topics          /wheel_states has no publisher: subscribed to by /controller; /driver publishes the \
                  same type as /wheel_sates\n";
    assert!(told.contains(advice), "{told}");
    let remedy = "if they are meant to meet, give /controller or /driver the other's name (-r /wheel_states:=/wheel_sates)";
    assert!(told.contains(remedy), "{told}");
    assert!(told.contains("advice  services        action /drive has no server"), "{told}");
    assert!(!told.contains("fine    topics") && !told.contains("/a_debug_topic"), "{told}");

    let graph = base.json(&["graph", "--interval", "0.01"]);
    let missing = |name: &str| {
        let topics = graph["topics"].as_array().unwrap();
        topics.iter().find(|topic| topic["name"] == name).unwrap()["missing"].clone()
    };
    assert_eq!((missing("/wheel_states"), missing("/rosout")), (json!("publisher"), json!(null)));
    assert_eq!(graph["one_sided"].as_array().unwrap().len(), 7);
}

#[test]
fn services_of_each_node_are_told_by_the_node_and_never_by_a_remap() {
    const CHANGE: &str = "lifecycle_msgs/srv/ChangeState";
    const GET: &str = "lifecycle_msgs/srv/GetState";
    const EVENT: &str = "lifecycle_msgs/msg/TransitionEvent";
    const LEVELS: &str = "rcl_interfaces/srv/GetLoggerLevels";
    let base = Base::new();
    let (driver, manager) = (base.join(), base.join());
    let ends = [
        (Node, "/r1/wheels", "", ""),
        (Server, "/r1/wheels", "/r1/wheels/change_state", CHANGE),
        (Server, "/r1/wheels", "/r1/wheels/get_state", GET),
        (Publisher, "/r1/wheels", "/r1/wheels/transition_event", EVENT),
        (Server, "/r1/wheels", "/r1/wheels/get_logger_levels", LEVELS),
        (Node, "/r1/plain", "", ""),
    ];
    let _driver = known(&driver, &ends);
    let asked = [
        (Client, "/manager", "/lidar/change_state", CHANGE),
        (Client, "/manager", "/lidar/get_state", GET),
        (Subscription, "/viewer", "/lidar/transition_event", EVENT),
        (Client, "/manager", "/wheels/change_state", CHANGE),
        (Client, "/manager", "/change_state", CHANGE),
        (Client, "/manager", "/r1/plain/get_logger_levels", LEVELS),
    ];
    let manager = known(&manager, &asked);
    let expected = "\
2 topics: every publisher matches every subscription
/wheels/change_state has no server: called by /manager; no node is called /wheels; there is /r1/wheels
/change_state has no server: called by /manager
/lidar/change_state (and 2 more of /lidar) has no server: called by /manager, /viewer; no node is called /lidar
/r1/plain/get_logger_levels has no server: called by /manager; /r1/plain has no get_logger_levels
";
    assert_eq!(base.text(&["topic", "check"]), expected);
    let of_one = base.text(&["topic", "check", "/lidar/transition_event"]);
    assert!(of_one.contains("/lidar/transition_event"), "{of_one}");
    let found = base.json(&["topic", "check"]);
    assert_eq!(found.as_array().unwrap().len(), asked.len(), "programs get each: {found}");
    let similar: Vec<_> = found.as_array().unwrap().iter().map(|one| one["similar"].clone()).collect();
    assert_eq!(similar[0], json!(["/r1/wheels/change_state"]));
    assert!(similar[1..].iter().all(|names| *names == json!([])), "{similar:?}");

    let told = base.doctor(&[]);
    assert!(!told.contains(":=/r1/wheels/"), "{told}");
    for remedy in [
        "if /r1/wheels is meant, tell /manager its name; else start /wheels",
        "start /lidar, or see /manager for which node it asks",
        "see /manager for which node it asks, or give /r1/plain a get_logger_levels",
    ] {
        assert!(told.contains(remedy), "{remedy}: {told}");
    }
    assert_eq!(told.matches("no node is called /lidar").count(), 1, "{told}");
    assert!(!told.contains("fine    topics"), "one of /lidar has no publisher: {told}");
    drop(manager);
    assert!(base.doctor(&[]).contains("all ends of each match\n"), "unused ones are no matter");
}

#[test]
fn what_nobody_uses_yet_is_fine() {
    let base = Base::new();
    let driver = base.join();
    let ends = [
        (Publisher, "/driver", "/arm_1", STRING),
        (Publisher, "/driver", "/arm_2", STRING),
        (Server, "/driver", "/stop", TRIGGER),
    ];
    let mut known = known(&driver, &ends);
    let told = base.doctor(&[]);
    let topics =
        "fine    topics          2; all ends of each match; 2 have no subscription, /arm_1 for one\n";
    assert!(told.contains(topics), "{told}");
    assert!(told.contains("fine    services        1; all ends of each match\n"), "{told}");
    known.remove(1);
    assert!(base.doctor(&[]).contains("1; all ends of each match; /arm_1 has no subscription\n"));
}

#[test]
fn nodes_of_one_name_are_told() {
    let base = Base::new();
    let (one, two) = (base.join(), base.join());
    let first = known(&one, &[(Node, "/talker", "", ""), (Node, "/_tool", "", "")]);
    let _second =
        known(&two, &[(Node, "/talker", "", ""), (Node, "/_tool", "", ""), (Node, "/a/talker", "", "")]);
    let told = base.doctor(&[]);
    assert!(told.contains("advice  nodes           2 are called /talker: "), "{told}");
    assert!(!told.contains("called /_tool") && !told.contains("fine    nodes"), "{told}");
    drop(first);
    assert!(base.doctor(&[]).contains("fine    nodes           2; each has a name of its own\n"));
}

#[test]
fn options_that_matched_nothing_are_told() {
    let base = Base::new();
    let participant = base.join();
    let said = "remap rule `imgae:=left/image` has matched nothing so far: ..";
    let report = participant.advertise(&Report::Unmatched.about("", said), None).unwrap();
    let told = base.doctor(&[]);
    assert!(told.contains("advice  options") && told.contains(said), "{told}");
    let output = base.sinew(&["topic", "list"]);
    assert_eq!((text(&output.stdout).as_str(), output.status.success()), ("", true), "no topic");
    drop(report);
    assert!(!base.doctor(&[]).contains("options"), "it matched");
}
