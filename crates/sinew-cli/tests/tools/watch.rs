//! Activity: rates, sizes, delays, `top`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;
use sinew_msg::description::{
    FieldDescription, FieldTypeDescription, IndividualTypeDescription, TypeDescription, type_id,
};
use sinew_shm::transport::{OwnEndpoint, Participant};
use sinew_shm::{Counter, Domain, Endpoint, EndpointKind};

use crate::{Base, PATIENCE, talker_and_listener, until};

/// Counts messages, as a talker and a listener would, until it is dropped.
struct Talking {
    ends: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Talking {
    fn start(entities: Vec<OwnEndpoint>) -> Self {
        let ends = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&ends);
        let talk = move || {
            while !ended.load(Ordering::Relaxed) {
                let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
                let now = now.tv_sec * 1_000_000_000 + now.tv_nsec;
                entities[1].counters().set(Counter::Last, now.cast_unsigned());
                entities[1].counters().add(Counter::Messages, 1);
                entities[1].counters().add(Counter::Bytes, 100);
                entities[4].counters().add(Counter::Messages, 1);
                entities[4].counters().add(Counter::Taken, 1);
                entities[4].counters().record_latency(5000);
                std::thread::park_timeout(Duration::from_millis(1));
            }
        };
        Self { ends, thread: Some(std::thread::spawn(talk)) }
    }
}

impl Drop for Talking {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
    }
}

/// Returns the output of a command that saw some messages: a busy machine may hold up the
/// publisher.
#[track_caller]
fn told_of_some(base: &Base, arguments: &[&str]) -> String {
    let begin = sinew::time::Time::steady();
    loop {
        let told = base.text(arguments);
        if !told.contains("no new messages") {
            return told;
        }
        assert!(sinew::time::Time::steady() - begin < PATIENCE, "{told}");
    }
}

#[test]
fn rates_bandwidth_and_latency() {
    let base = Base::new();
    let participant = base.join();
    let talking = Talking::start(talker_and_listener(&participant));
    let watch = |what| ["topic", what, "/chatter", "--interval", "0.2", "--count", "2"];
    // A message may be counted between its number and its bytes: more than one only if that takes
    // long.
    let fits = |line: &Value| {
        let (bytes, messages) = (line["bytes"].as_u64().unwrap(), line["messages"].as_u64().unwrap());
        bytes.abs_diff(messages * 100) <= 100
    };
    let lines = |what| {
        let all = |text: &String| {
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()
        };
        // Both fields are there even while nothing is published.
        let has_some = |line: &Value| {
            ["messages", "average_latency_ns"].iter().any(|&field| line[field].as_f64() > Some(0.0))
                && (what != "bw" || fits(line))
        };
        let ask = || base.text(&[&watch(what)[..], &["--json"]].concat());
        let text = until(ask, |text| all(text).iter().all(has_some));
        let lines = all(&text);
        assert_eq!(lines.len(), 2, "{text}");
        assert_eq!(lines[0]["topic"], "/chatter");
        assert!(lines[0]["seconds"].as_f64().unwrap() < lines[1]["seconds"].as_f64().unwrap(), "{text}");
        lines
    };
    let positive = |value: &Value| assert!(value.as_f64().unwrap() > 0.0, "{value}");
    for line in lines("hz") {
        assert_eq!(line["publishers"], 1);
        positive(&line["rate_hz"]);
        positive(&line["messages"]);
    }
    for line in lines("bw") {
        positive(&line["bytes_per_second"]);
    }
    for line in lines("latency") {
        assert_eq!((line["subscriptions"].as_u64(), line["p50_below_ns"].as_u64()), (Some(1), Some(8192)));
        let mean = line["average_latency_ns"].as_f64().unwrap();
        assert!((4000.0..6000.0).contains(&mean), "{line}");
    }
    assert!(told_of_some(&base, &watch("hz")).starts_with("average rate: "));
    assert!(told_of_some(&base, &watch("bw")).contains("Message size mean: "));
    // There is no P90 of few messages.
    let percentiles = "\n\tP50 4 to 8 µs, P90 4 to 8 µs, ";
    let told = until(|| base.text(&watch("latency")), |told| told.contains(percentiles));
    assert!(told.starts_with("average latency: "), "{told}");
    drop(talking);
}

#[test]
fn who_says_nothing_has_no_rate() {
    let base = Base::new();
    let participant = base.join();
    let _entities = talker_and_listener(&participant);
    for what in ["hz", "bw", "latency"] {
        let text = base.text(&["topic", what, "chatter", "--interval", "0.05", "--count", "2"]);
        assert_eq!(text, "no new messages\nno new messages\n");
    }
}

#[test]
fn a_latency_needs_a_subscription() {
    let base = Base::new();
    let participant = base.join();
    let entities = talker_and_listener(&participant);
    let mut entities = entities.into_iter();
    let _talker: Vec<_> = entities.by_ref().take(4).collect();
    drop(entities);
    let told = |what| base.text(&["topic", what, "chatter", "--interval", "0.01", "--count", "1"]);
    assert_eq!(told("latency"), "no subscription takes the messages\n");
    assert_eq!(told("hz"), "no new messages\n");
}

/// Creates a publisher of a type with messages of 1 MB each, and with a subscription.
fn frames(base: &Base, participant: &Arc<Participant>) -> OwnEndpoint {
    let field = FieldDescription {
        name: "pixels".to_owned(),
        field_type: FieldTypeDescription {
            type_id: type_id::UINT8 + type_id::ARRAY,
            capacity: 1_000_000,
            ..FieldTypeDescription::default()
        },
        ..FieldDescription::default()
    };
    let (type_name, fields) = ("robot/msg/Frame".to_owned(), vec![field]);
    let frame = TypeDescription {
        type_description: IndividualTypeDescription { type_name, fields },
        ..TypeDescription::default()
    };
    let domain = Domain::open(Some(base.0.path()), 0).unwrap();
    domain.keep_description(&frame.hash().0, &frame.to_json()).unwrap();
    let frames = crate::entity(EndpointKind::Publisher, 20, "/camera", "/frames", "robot/msg/Frame");
    let frames = participant.advertise(&Endpoint { hash: frame.hash().0, ..frames }, None).unwrap();
    frames.counters().set(Counter::Matched, 1);
    frames
}

#[test]
fn what_is_measured_is_said() {
    let base = Base::new();
    let participant = base.join();
    let entities = talker_and_listener(&participant);
    let matched = entities[1].counters();
    let frames = frames(&base, &participant);
    let ends = Arc::new(AtomicBool::new(false));
    let talk = std::thread::spawn({
        let ends = Arc::clone(&ends);
        move || {
            while !ends.load(Ordering::Relaxed) {
                entities[1].counters().add(Counter::Messages, 1); // and no bytes
                frames.counters().add(Counter::Messages, 1);
                std::thread::park_timeout(Duration::from_millis(1));
            }
        }
    });
    let bandwidth = ["topic", "bw", "chatter", "--interval", "0.2", "--count", "1"];
    let told = told_of_some(&base, &bandwidth);
    assert!(
        told.starts_with("0 B/s from ") && told.contains("messages, which no subscription gets\n"),
        "{told}"
    );
    matched.set(Counter::Matched, 1);
    let told = told_of_some(&base, &bandwidth);
    assert!(
        told.contains(" messages/s by reference from ") && told.contains("their size isn't counted\n"),
        "{told}"
    );
    let json = until(|| base.json(&bandwidth), |json| json["messages"].as_f64() > Some(0.0));
    assert_eq!((&json["by_reference"], &json["bytes"]), (&json["messages"], &0.into()));
    assert!(json["by_reference_hz"].as_f64().unwrap() > 0.0, "{json}");
    let info = base.text(&["topic", "info", "-v", "chatter"]);
    assert!(info.contains("  Bytes: 0 (the messages move by reference, none left its process)\n"), "{info}");
    until(|| base.text(&["top", "--interval", "0.2"]), |top| top.contains("   by ref "));

    let told = told_of_some(&base, &["topic", "bw", "frames", "--interval", "0.2", "--count", "1"]);
    assert!(
        told.contains(" MB/s by reference from ") && told.contains(" messages of 1.00 MB, which"),
        "{told}"
    );
    ends.store(true, Ordering::Relaxed);
    talk.join().unwrap();
}

#[test]
fn top_without_a_terminal_is_one_table() {
    let base = Base::new();
    let participant = base.join();
    let talking = Talking::start(talker_and_listener(&participant));
    let text = until(|| base.text(&["top", "--interval", "0.2"]), |text| text.contains(" 5.00 µs "));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "domain 0: 1 processes, 2 topics by rate");
    assert!(lines[1].starts_with("PROCESS ") && lines[2].starts_with("tools"), "{text}");
    assert!(lines[4].starts_with("TOPIC ") && lines[5].starts_with("/chatter "), "{text}");
    assert!(lines[5].contains(" 5.00 µs ") && lines.len() == 7, "{text}");
    let has_some = |top: &Value| top["topics"][0]["mean_latency_ns"].is_number();
    let top = until(|| base.json(&["top", "--interval", "0.2"]), has_some);
    assert_eq!((&top["processes"][0]["publishers"], &top["processes"][0]["nodes"]), (&2.into(), &3.into()));
    let topic = &top["topics"][0];
    assert_eq!((&topic["name"], &topic["type"]), (&"/chatter".into(), &"std_msgs/msg/String".into()));
    assert!(topic["rate_hz"].as_f64().unwrap() > 0.0 && topic["mean_latency_ns"].is_number(), "{topic}");
    drop(talking);
}
