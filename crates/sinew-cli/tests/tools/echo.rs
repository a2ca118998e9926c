//! Messages as bytes, from participants that publish without the library.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};

use rustix::process::Signal;
use serde_json::{Value, json};
use sinew::Message;
use sinew_shm::transport::{Connect, Head, OwnEndpoint, Participant, Writer};
use sinew_shm::{Domain, EndpointKind, Peer};

use crate::{Base, PATIENCE, Slow, entity, text};

/// Returns a message that is longer than the part shown.
fn long() -> Vec<u8> {
    (0..=255).cycle().take(300).collect()
}

/// A participant that publishes on `/chatter` once there is a subscription.
struct Talker {
    participant: Arc<Participant>,
    subscribed: Receiver<Arc<Peer>>,
}

impl Talker {
    fn join(base: &Base) -> Self {
        let domain = Domain::open(Some(base.0.path()), 0).unwrap();
        let ((subscriptions, subscribed), (connections, _)) = (sync_channel(9), sync_channel(9));
        let participant = Participant::join(&domain, Arc::new(Slow { subscriptions, connections })).unwrap();
        Self { participant, subscribed }
    }

    /// Creates a publisher, of a type that can leave the process or can't.
    fn publisher(&self, travels: bool) -> OwnEndpoint {
        let mut entity = entity(EndpointKind::Publisher, 1, "/talker", "/chatter", "std_msgs/msg/String");
        entity.qos[5] = u8::from(travels);
        self.participant.advertise(&entity, None).unwrap()
    }

    /// Publishes to the next subscription.
    fn publish(&self, publisher: OwnEndpoint, images: &[&[u8]]) -> Writer {
        let reader = self.subscribed.recv_timeout(PATIENCE).unwrap();
        let mut writer = Writer::new(Arc::new(publisher), 8, 200, 1).unwrap();
        let connect = Connect { target: None, first: 1, live: 1, depth: 8, capacity: None };
        writer.connect(&reader, &connect).unwrap();
        for (number, image) in (1..).zip(images) {
            let mut loan = writer.lender().loan(image.len()).unwrap();
            loan.bytes_mut().copy_from_slice(image);
            writer.publish_lent(number, &Head::default(), loan.share());
        }
        writer
    }
}

#[test]
fn echo_waits_for_a_topic_and_prints_its_bytes() {
    let base = Base::new();
    let talker = Talker::join(&base);
    let mut command = base.command(&["topic", "echo", "chatter", "--raw", "--count", "2"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut waits = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut waits).unwrap();
    assert_eq!(waits, "sinew: /chatter has no publisher in domain 0 yet: waiting\n");
    let _writer = talker.publish(talker.publisher(true), &[b"\0\x01\0\0hello\0", &long(), b"one too many"]);
    let output = child.wait_with_output().unwrap();
    let told = text(&output.stdout);
    assert!(output.status.success(), "{told}");
    let messages: Vec<&str> = told.split("---\n").collect();
    assert_eq!((messages.len(), messages[2]), (3, ""), "{told}");
    let gid = talker.participant.id().to_le_bytes().map(|byte| format!("{byte:02x}")).join(".");
    let first: Vec<&str> = messages[0].lines().collect();
    assert!(first[0].starts_with("stamp: ") && first[3].starts_with("latency: "), "{told}");
    assert_eq!(first[1], format!("publisher: {gid}.01.00.00.00.00.00.00.00 (/talker)"));
    assert_eq!((first[2], first[4], first.len()), ("sequence: 1", "length: 10", 6), "{told}");
    assert!(first[5].starts_with("00000000  00 01 00 00 68 65 6c 6c  6f 00 "), "{told}");
    assert!(messages[1].contains("length: 300\n"), "{told}");
    assert!(messages[1].ends_with("|\n... and 44 bytes more: --full shows them\n"), "{told}");
}

/// ROS 2's type.
#[derive(Message, Default)]
#[message(name = "std_msgs/msg/String")]
struct Text {
    data: String,
}

#[test]
fn a_message_that_cant_be_read_is_told_of_and_passed_over() {
    let base = Base::new();
    let image = |letter| [0, 1, 0, 0, 2, 0, 0, 0, letter, 0];
    let truncated = [0, 1, 0, 0, 2, 0, 0, 0, b'x'];
    let problem = "`data` of std_msgs/msg/String claims 2 elements, but the message has room for 1 at most";
    for (options, skips) in [(&["--csv"][..], true), (&["--field", "data"], true), (&[], false)] {
        let talker = Talker::join(&base);
        let mut publisher = entity(EndpointKind::Publisher, 1, "/talker", "/chatter", "std_msgs/msg/String");
        publisher.hash = Text::ENCODING.unwrap().hash.0;
        publisher.qos[5] = 1;
        let publisher = talker.participant.advertise(&publisher, None).unwrap();
        let count = if skips { "2" } else { "3" };
        let arguments = ["topic", "echo", "chatter", "--count", count];
        let mut command = base.command(&[&arguments[..], options].concat());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let _writer = talker.publish(publisher, &[&image(b'a'), &truncated, &image(b'b')]);
        let output = child.wait_with_output().unwrap();
        let (told, said) = (text(&output.stdout), text(&output.stderr));
        assert!(said.contains(problem) && said.contains("can't be read"), "{said}");
        let lines: Vec<&str> = told.lines().filter(|line| !line.starts_with("---")).collect();
        match options {
            [] => assert!(
                lines[0] == "data: a" && lines[lines.len() - 1] == "data: b" && lines.len() > 3,
                "{told}"
            ),
            _ => assert_eq!(lines, ["a", "b"]),
        }
    }
}

#[test]
fn echo_for_programs_and_until_ctrl_c() {
    let base = Base::new();
    let talker = Talker::join(&base);
    let publisher = talker.publisher(true);
    let mut command = base.command(&["topic", "echo", "/chatter", "--json", "--raw", "--full"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let _writer = talker.publish(publisher, &[&long()]);
    let mut line = String::new();
    let mut told = BufReader::new(child.stdout.take().unwrap());
    told.read_line(&mut line).unwrap();
    let message: Value = serde_json::from_str(&line).unwrap();
    let hex = long().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    assert_eq!(message["bytes"], hex);
    let told = ["topic", "node", "length", "sequence", "lost_before"].map(|key| message[key].clone());
    assert_eq!(json!(told), json!(["/chatter", "/talker", 300, 1, 0]));
    assert!(message["stamp_ns"].is_i64() && message["latency_ns"].is_i64(), "{message}");
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
    let ours = format!("{:016x}.", talker.participant.id());
    assert!(base.files().iter().all(|file| file.starts_with(&ours)), "{:?}", base.files());
}

#[test]
fn what_stays_in_its_process_cant_be_echoed() {
    let base = Base::new();
    let talker = Talker::join(&base);
    let _publisher = talker.publisher(false);
    let said = base.failure(&["topic", "echo", "chatter"]);
    assert!(
        said.contains("messages stay in the process of /talker, since std_msgs/msg/String has"),
        "{said}"
    );
}
