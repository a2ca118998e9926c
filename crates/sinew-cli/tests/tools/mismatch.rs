//! Endpoints of one topic that exchange nothing, as the tools report them.

use std::sync::Arc;

use serde_json::json;
use sinew::QoS;
use sinew_shm::transport::{OwnEndpoint, Participant};
use sinew_shm::{Endpoint, EndpointKind};

use crate::{Base, entity, text};

const STRING: &str = "std_msgs/msg/String";

/// Describes an endpoint that can leave its process, with this QoS.
fn end(kind: EndpointKind, number: u64, node: &str, type_name: &str, qos: QoS) -> Endpoint {
    let mut hash = [0xdf; 32];
    hash[0] = u8::try_from(type_name.len()).unwrap();
    Endpoint { hash, qos: qos.to_bytes(true), ..entity(kind, number, node, "/x", type_name) }
}

/// Creates a talker and a listener that match, and a subscription that requests more.
fn talker_and_misuser(talker: &Arc<Participant>, others: &Arc<Participant>) -> Vec<OwnEndpoint> {
    use EndpointKind::{Publisher, Subscription};
    let plain = QoS::default();
    let publisher = end(Publisher, 1, "/talker", STRING, plain);
    let fits = end(Subscription, 2, "/fits", STRING, plain);
    let misuser = end(Subscription, 3, "/misuser", STRING, plain.transient_local());
    let known = [(talker, publisher), (others, fits), (others, misuser)];
    known.map(|(participant, entity)| participant.advertise(&entity, None).unwrap()).into()
}

#[test]
fn pairs_that_match_are_no_concern() {
    let base = Base::new();
    let (talker, others) = (base.join(), base.join());
    let mut entities = talker_and_misuser(&talker, &others);
    entities.truncate(2);
    assert_eq!(base.text(&["topic", "check"]), "1 topic: every publisher matches every subscription\n");
    assert_eq!(base.text(&["topic", "check", "x"]), "1 topic: every publisher matches every subscription\n");
    assert_eq!(base.json(&["topic", "check"]), json!([]));
    assert!(base.doctor(&[]).contains("fine    topics          1; all ends of each match\n"));
    let brief = base.text(&["topic", "info", "x"]);
    assert_eq!(brief, "Type: std_msgs/msg/String\nPublisher count: 1\nSubscription count: 1\n");
    assert!(!base.text(&["topic", "info", "-v", "x"]).contains("ncompatible"));
}

#[test]
fn a_pair_that_can_t_talk_is_told_wherever_one_looks() {
    let base = Base::new();
    let (talker, others) = (base.join(), base.join());
    let _entities = talker_and_misuser(&talker, &others);
    let why = "durability (offers volatile, asked transient_local)";

    let brief = base.text(&["topic", "info", "x"]);
    let expected = format!(
        "Type: {STRING}\nPublisher count: 1\nSubscription count: 2\n/talker is incompatible: {why} with /misuser\n"
    );
    assert_eq!(brief, expected);
    let verbose = base.text(&["topic", "info", "-v", "x"]);
    let told: Vec<&str> = verbose.lines().filter(|line| line.contains("ncompatible")).collect();
    let (to_talker, to_misuser) =
        (format!("incompatible: {why} with /misuser"), format!("incompatible: {why} with /talker"));
    assert_eq!(told, [to_talker, to_misuser]);
    let found = base.json(&["topic", "info", "x"]);
    assert_eq!(found["incompatible"][0]["reason"], why);
    assert_eq!(found["incompatible"][0]["receiver"]["node"], "/misuser");

    let output = base.sinew(&["topic", "check"]);
    assert_eq!(output.status.code(), Some(1));
    let sender = &found["incompatible"][0]["sender"];
    assert_eq!(sender["pid"], std::process::id());
    let here = format!("in process {} ({})", sender["pid"], sender["program"].as_str().unwrap());
    let line = format!("/x: /talker {here} is incompatible: {why} with /misuser {here}");
    assert_eq!(text(&output.stdout), format!("{line}\n"));
    assert_eq!(text(&output.stderr), "sinew: one publisher and subscription can't talk\n");
    let told = base.doctor(&[]);
    let remedy = "have /talker offer as much, or /misuser ask for no more";
    assert!(told.contains(&format!("WRONG   topics          {line}\n{:<24}{remedy}\n", "")), "{told}");
    assert!(base.failure(&["topic", "check", "/y"]).contains("no topic is called /y"));
}

#[test]
fn two_types_are_marked_and_told() {
    use EndpointKind::{Client, Publisher, Server, Subscription};
    let base = Base::new();
    let (one, two) = (base.join(), base.join());
    let plain = QoS::default();
    let other = "std_msgs/msg/Int32";
    let mut newer = Endpoint { name: "/y".to_owned(), ..end(Publisher, 4, "/new", STRING, plain) };
    let older = Endpoint { kind: Subscription, number: 5, node: "/old".to_owned(), ..newer.clone() };
    newer.hash[1] = 1;
    let service =
        |kind, node, type_name| Endpoint { name: "/s".to_owned(), ..end(kind, 6, node, type_name, plain) };
    let known = [
        (&one, end(Publisher, 1, "/talker", STRING, plain)),
        (&two, end(Subscription, 2, "/counter", other, plain)),
        (&one, newer),
        (&two, older),
        (&one, service(Server, "/server", "a/srv/A")),
        (&two, service(Client, "/client", "a/srv/Other")),
    ];
    let _entities = known.map(|(participant, entity)| participant.advertise(&entity, None).unwrap());
    let list = base.text(&["topic", "list", "-t"]);
    let expected = format!(
        "/x [{other}, {STRING}] (2 types, which don't match)\n/y [{STRING}] (2 versions, which don't match)\n"
    );
    assert_eq!(list, expected);
    assert_eq!(base.text(&["topic", "list"]), "/x\n/y\n");
    let output = base.sinew(&["topic", "check"]);
    let told = text(&output.stdout);
    assert!(told.contains(&format!("type (offers {STRING}, asked {other}) with /counter")), "{told}");
    assert!(told.contains(&format!("type (offers {STRING} RIHS01_1301df")), "{told}");
    assert!(told.contains(&format!("asked {STRING} RIHS01_13dfdf")), "{told}");
    assert_eq!(text(&output.stderr), "sinew: 2 pairs can't talk\n");
    let told = base.doctor(&[]);
    assert!(told.contains("type (offers a/srv/A, asked a/srv/Other) with /client"), "{told}");
}

#[test]
fn two_versions_of_a_type_that_are_known_are_told_by_what_differs() {
    use EndpointKind::{Client, Publisher, Server, Subscription};
    use sinew_msg::description::{
        FieldDescription, FieldTypeDescription, IndividualTypeDescription, TypeDescription, type_id,
    };
    let base = Base::new();
    let (one, two) = (base.join(), base.join());
    let described = |name: &str, type_id| {
        let field_type = FieldTypeDescription { type_id, ..Default::default() };
        let field = FieldDescription { name: "velocity".to_owned(), field_type, ..Default::default() };
        let type_description = IndividualTypeDescription { type_name: name.to_owned(), fields: vec![field] };
        let message = TypeDescription { type_description, ..Default::default() };
        match name.contains("/srv/") {
            true => TypeDescription::of_service(name, &message, &TypeDescription::default()),
            false => message,
        }
    };
    let known = |kind, type_name, type_id| {
        let description = described(type_name, type_id);
        let hash = description.hash().0;
        one.domain().keep_description(&hash, &description.to_json()).unwrap();
        let number = u64::from(type_id);
        Endpoint {
            hash,
            ..end(kind, number, if number > 10 { "/new" } else { "/old" }, type_name, QoS::default())
        }
    };
    let ends = [
        (&one, known(Publisher, "a/msg/Wheel", type_id::DOUBLE)),
        (&two, known(Subscription, "a/msg/Wheel", type_id::FLOAT)),
        (&one, known(Server, "a/srv/Turn", type_id::FLOAT)),
        (&two, known(Client, "a/srv/Turn", type_id::DOUBLE)),
    ];
    let _entities = ends.map(|(participant, end)| participant.advertise(&end, None).unwrap());
    let topic = "type (a/msg/Wheel: `velocity` is float64 at the publisher, float32 at the subscription)";
    let told = text(&base.sinew(&["topic", "check"]).stdout).to_owned();
    assert!(told.contains(&format!("{topic} with /old")), "{told}");
    let service =
        "type (a/srv/Turn: `request_message.velocity` is float32 at the server, float64 at the client)";
    let told = base.doctor(&[]);
    assert!(told.contains(topic) && told.contains(&format!("{service} with /new")), "{told}");
}

#[test]
fn what_stays_in_its_process_is_told_unless_that_is_where_its_partner_is() {
    use EndpointKind::{Publisher, Subscription};
    let base = Base::new();
    let (one, two) = (base.join(), base.join());
    let inside = |kind, number, node| entity(kind, number, node, "/x", "robot::Inside");
    let publisher = one.advertise(&inside(Publisher, 1, "/a"), None).unwrap();
    let _subscription = two.advertise(&inside(Subscription, 2, "/b"), None).unwrap();
    let output = base.sinew(&["topic", "check"]);
    assert!(text(&output.stdout).contains("type (robot::Inside stays in its process"), "{output:?}");
    publisher.counters().set(sinew_shm::Counter::Matched, 1);
    assert!(base.sinew(&["topic", "check"]).status.success());
}

#[test]
fn another_type_is_not_published_unless_forced() {
    use EndpointKind::Subscription;
    let base = Base::new();
    let participant = base.join();
    let counter = end(Subscription, 1, "/counter", "std_msgs/msg/Int32", QoS::default());
    let _counter = participant.advertise(&counter, None).unwrap();
    let publish = ["topic", "pub", "x", STRING, "--once", "--max-wait-time", "0.05"];
    let said = base.failure(&publish);
    let expected = format!(
        "sinew: /x has another type, so nothing would be received, incompatible: type (offers {STRING}, asked \
         std_msgs/msg/Int32) with /counter; publish to another topic or as std_msgs/msg/Int32, or use --force\n"
    );
    assert_eq!(said, expected);
    let said = base.failure(&[&publish[..], &["--force"]].concat());
    assert!(said.contains("0 of 1 subscriptions of /x matched"), "{said}");
}

#[test]
fn what_another_publishes_is_told_as_that() {
    let base = Base::new();
    let participant = base.join();
    let counter = end(EndpointKind::Publisher, 1, "/counter", "std_msgs/msg/Int32", QoS::default());
    let _counter = participant.advertise(&counter, None).unwrap();
    let said = base.failure(&["topic", "pub", "x", STRING, "--once", "--max-wait-time", "0.05"]);
    let expected = "sinew: /x has another type, so nothing would be received, it is published as std_msgs/msg/Int32 by \
                    /counter; publish to another topic or as std_msgs/msg/Int32, or use --force\n";
    assert_eq!(said, expected);
}
