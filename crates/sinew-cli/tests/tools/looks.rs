//! The existing entities: lists, nodes and topics.

use serde_json::{Value, json};
use sinew_shm::Counter;

use crate::{Base, talker_and_listener};

#[test]
fn lists() {
    let base = Base::new();
    let participant = base.join();
    let _entities = talker_and_listener(&participant);
    assert_eq!(base.text(&["node", "list"]), "/demo/listener\n/talker\n");
    assert_eq!(base.text(&["node", "list", "-a"]), "/_tool\n/demo/listener\n/talker\n");
    assert_eq!(base.text(&["topic", "list"]), "/chatter\n");
    assert_eq!(base.text(&["topic", "list", "-t"]), "/chatter [std_msgs/msg/String]\n");
    assert_eq!(base.text(&["topic", "list", "--include-hidden-topics"]), "/chatter\n/demo/_heard\n");
    assert_eq!(base.text(&["service", "list", "-t"]), "/talker/pause [std_srvs/srv/Trigger]\n");

    let nodes = base.json(&["node", "list"]);
    assert_eq!(nodes[1]["name"], "/talker");
    assert_eq!(nodes[1]["pid"], std::process::id());
    assert!(nodes[1]["program"].as_str().unwrap().starts_with("tools"), "{nodes}");
    let chatter =
        json!([{"name": "/chatter", "types": ["std_msgs/msg/String"], "publishers": 1, "subscriptions": 1}]);
    assert_eq!(base.json(&["topic", "list"]), chatter);
    let pause =
        json!([{"name": "/talker/pause", "types": ["std_srvs/srv/Trigger"], "servers": 1, "clients": 1}]);
    assert_eq!(base.json(&["service", "list"]), pause);
}

#[test]
fn a_node() {
    let base = Base::new();
    let participant = base.join();
    let _entities = talker_and_listener(&participant);
    let info = base.text(&["node", "info", "/talker"]);
    let process = info.lines().nth(1).unwrap();
    assert!(process.starts_with(&format!("  Process: {} tools", std::process::id())), "{info}");
    let expected = "\
/talker
  Subscribers:
  Publishers:
    /chatter: std_msgs/msg/String
  Service Servers:
    /talker/pause: std_srvs/srv/Trigger
  Service Clients:
";
    assert_eq!(info.replace(&format!("{process}\n"), ""), expected);
    let info = base.json(&["node", "info", "demo/listener"]);
    assert_eq!(
        info[0]["subscribers"],
        json!([{"name": "/chatter", "type": "std_msgs/msg/String", "waiting": 0}])
    );
    assert_eq!(info[0]["service_clients"][0]["name"], "/talker/pause");
    let said = base.failure(&["node", "info", "listener"]);
    assert_eq!(said, "sinew: no node is called /listener in domain 0; did you mean /demo/listener?\n");
}

#[test]
fn a_topic() {
    let base = Base::new();
    let participant = base.join();
    let entities = talker_and_listener(&participant);
    entities[1].counters().add(Counter::Messages, 12);
    entities[4].counters().add(Counter::Messages, 9);
    entities[4].counters().add(Counter::Taken, 4);
    entities[4].counters().add(Counter::Overwritten, 2);
    entities[4].counters().add(Counter::Missed, 3);
    entities[4].counters().record_latency(1000);
    let brief = "Type: std_msgs/msg/String\nPublisher count: 1\nSubscription count: 1\n";
    assert_eq!(base.text(&["topic", "info", "/chatter"]), brief);

    let process = "Process: ";
    let gid: Vec<String> = participant.id().to_le_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    let info = base.text(&["topic", "info", "-v", "chatter"]);
    let without: String =
        info.lines().filter(|line| !line.starts_with(process)).map(|line| format!("{line}\n")).collect();
    let (gid, hash) = (gid.join("."), format!("RIHS01_df{}", "0".repeat(62)));
    let expected = format!(
        "\
Type: std_msgs/msg/String

Publisher count: 1

Node name: talker
Node namespace: /
Topic type: std_msgs/msg/String
Topic type hash: {hash}
Endpoint type: PUBLISHER
GID: {gid}.02.00.00.00.00.00.00.00
QoS profile:
  Reliability: RELIABLE
  History (Depth): KEEP_LAST (10)
  Durability: VOLATILE
  Lifespan: Infinite
  Deadline: Infinite
  Liveliness: AUTOMATIC
  Liveliness lease duration: Infinite
Counters:
  Published: 12
  Bytes: 0
  Retained: 0
  Matched: 0
  Copies: 0
  Encodings: 0
  Decodings: 0
  Drafts: 0
  Refused: 0

Subscription count: 1

Node name: listener
Node namespace: /demo
Topic type: std_msgs/msg/String
Topic type hash: {hash}
Endpoint type: SUBSCRIPTION
GID: {gid}.05.00.00.00.00.00.00.00
QoS profile:
  Reliability: BEST_EFFORT
  History (Depth): KEEP_ALL
  Durability: VOLATILE
  Lifespan: Infinite
  Deadline: Infinite
  Liveliness: AUTOMATIC
  Liveliness lease duration: Infinite
Counters:
  Received: 9
  Taken: 4
  Waiting: 0
  Not fetched yet: 0
  Matched: 0
  Copies: 0
  Decodings: 0
  Views: 0
  Dropped: 5
    for newer ones: 2
    history full: 0
    lifespan over: 0
    lost on the way: 3

"
    );
    assert_eq!(without, expected);
    says_the_same_in_json(&base, &hash);
}

/// The text of `a_topic`.
#[track_caller]
fn says_the_same_in_json(base: &Base, hash: &str) {
    let info = base.json(&["topic", "info", "/chatter"]);
    assert_eq!(info["publishers"][0]["counters"]["messages"], 12);
    assert_eq!(
        info["subscriptions"][0]["latencies_by_power_of_two_ns"],
        json!([0, 0, 0, 0, 0, 0, 0, 0, 0, 1])
    );
    assert_eq!(info["subscriptions"][0]["type_hash"], hash);
    assert_eq!(
        (&info["publishers"][0]["qos"]["depth"], &info["subscriptions"][0]["qos"]["depth"]),
        (&10.into(), &Value::Null)
    );
}

#[test]
fn a_topic_that_isnt_there() {
    let base = Base::new();
    let participant = base.join();
    let _entities = talker_and_listener(&participant);
    for command in ["info", "hz", "bw", "delay"] {
        let said = base.failure(&["topic", command, "/chater"]);
        assert_eq!(said, "sinew: no topic is called /chater in domain 0; did you mean /chatter?\n");
    }
}
