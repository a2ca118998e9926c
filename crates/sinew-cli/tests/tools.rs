//! The commands that look at what runs, on participants that the tests make.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};
use sinew_shm::{
    Connect, Counter, Domain, Entity, EntityKey, EntityKind, Head, Incoming, LAYOUT_VERSION, Observer,
    OwnEntity, Participant, Peer, Sink, Writer,
};

/// A directory for domains, removed at the end.
struct Base(tempfile::TempDir);

/// Counts the others that a participant finds.
#[derive(Default)]
struct Found(AtomicUsize);

impl Observer for Found {
    fn appeared(&self, _: &Arc<Peer>, _: EntityKey, _: &Entity) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
    fn vanished(&self, _: &Arc<Peer>, _: EntityKey) {}
    fn connected(&self, _: Incoming, _: Option<EntityKey>) -> Option<Arc<dyn Sink>> {
        None
    }
    fn left(&self, _: &Arc<Peer>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Base {
    fn new() -> Self {
        Self(tempfile::tempdir_in("/dev/shm").unwrap())
    }

    fn join(&self) -> Arc<Participant> {
        let domain = Domain::open(Some(self.0.path()), 0).unwrap();
        Participant::join(&domain, Arc::new(Found::default())).unwrap()
    }

    fn domain(&self) -> PathBuf {
        self.0.path().join("0")
    }

    fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.domain()).unwrap();
        let mut files: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        files.sort_unstable();
        files
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
        command.args(arguments).arg("--dir").arg(self.0.path());
        for variable in ["SINEW_DIR", "SINEW_DOMAIN_ID", "ROS_DOMAIN_ID"] {
            command.env_remove(variable);
        }
        command.stdin(Stdio::null());
        command
    }

    fn sinew(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// What a command that goes well prints.
    #[track_caller]
    fn text(&self, arguments: &[&str]) -> String {
        let output = self.sinew(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// The one JSON value that a command prints on one line.
    #[track_caller]
    fn json(&self, arguments: &[&str]) -> Value {
        let text = self.text(&[arguments, &["--json"]].concat());
        assert_eq!(text.lines().count(), 1, "{text}");
        serde_json::from_str(&text).unwrap()
    }

    /// What the doctor prints. Whether all is fine depends on the machine, too (other tests may have taken all inotify instances):
    /// its exit code is to say the same as its lines.
    #[track_caller]
    fn doctor(&self, arguments: &[&str]) -> String {
        let output = self.sinew(&[&["doctor"], arguments].concat());
        let told = text(&output.stdout);
        let wrong = told.lines().filter(|line| line.starts_with("WRONG ")).count();
        assert_eq!(output.status.code(), Some(i32::from(wrong > 0)), "{told}{}", text(&output.stderr));
        assert_eq!(text(&output.stderr).contains(" to mend"), wrong > 0, "{told}{}", text(&output.stderr));
        told
    }

    /// What a command that fails says.
    #[track_caller]
    fn failure(&self, arguments: &[&str]) -> String {
        let output = self.sinew(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stderr)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Names, types and so on of an entity; its hash is that of `std_msgs/msg/String` in its first byte only.
fn entity(kind: EntityKind, number: u64, node: &str, name: &str, type_name: &str) -> Entity {
    let mut hash = [0; 32];
    hash[0] = 0xdf;
    let (node, name, type_name) = (node.to_owned(), name.to_owned(), type_name.to_owned());
    Entity { kind, number, node, name, type_name, hash, qos: qos(kind) }
}

/// As `sinew` writes it: publishers are reliable and keep 10, others keep all and are best effort. No limits.
fn qos(kind: EntityKind) -> [u8; 64] {
    let mut qos = [0; 64];
    let is_publisher = kind == EntityKind::Publisher;
    (qos[0], qos[1], qos[2], qos[8]) = (1, u8::from(!is_publisher), u8::from(is_publisher), 10);
    qos[16..40].fill(0xff);
    qos
}

/// A talker and a listener, each with a service's end, in one process.
fn talker_and_listener(participant: &Arc<Participant>) -> Vec<OwnEntity> {
    use EntityKind::{Client, Node, Publisher, Server, Subscription};
    const STRING: &str = "std_msgs/msg/String";
    const TRIGGER: &str = "std_srvs/srv/Trigger";
    let entities = [
        entity(Node, 1, "/talker", "", ""),
        entity(Publisher, 2, "/talker", "/chatter", STRING),
        entity(Server, 3, "/talker", "/talker/pause", TRIGGER),
        entity(Node, 4, "/demo/listener", "", ""),
        entity(Subscription, 5, "/demo/listener", "/chatter", STRING),
        entity(Client, 6, "/demo/listener", "/talker/pause", TRIGGER),
        entity(Publisher, 7, "/demo/listener", "/demo/_heard", STRING),
        entity(Node, 8, "/_tool", "", ""),
    ];
    entities.iter().map(|entity| participant.advertise(entity, None).unwrap()).collect()
}

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
    assert_eq!(info[0]["subscribers"], json!([{"name": "/chatter", "type": "std_msgs/msg/String"}]));
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
  Matched: 0
  Copies: 0
  Dropped: 5
    for newer ones: 2
    history full: 0
    lifespan over: 0
    overwritten unread: 3

"
    );
    assert_eq!(without, expected);
    says_the_same_in_json(&base, &hash);
}

/// What `a_topic` has as text.
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

/// Counts messages, as a talker and a listener would, until this is dropped.
struct Talking {
    ends: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Talking {
    fn start(entities: Vec<OwnEntity>) -> Self {
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

#[test]
fn rates_bandwidth_and_delay() {
    let base = Base::new();
    let participant = base.join();
    let talking = Talking::start(talker_and_listener(&participant));
    let watch = |what| ["topic", what, "/chatter", "--interval", "0.2", "--count", "2"];
    let lines = |what| {
        let text = base.text(&[&watch(what)[..], &["--json"]].concat());
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
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
        let (bytes, messages) = (line["bytes"].as_u64().unwrap(), line["messages"].as_u64().unwrap());
        assert!(bytes.abs_diff(messages * 100) <= 100, "{line}"); // a message may be counted between the two
        positive(&line["bytes_per_second"]);
    }
    for line in lines("delay") {
        assert_eq!((line["subscriptions"].as_u64(), line["p50_below_ns"].as_u64()), (Some(1), Some(8192)));
        let mean = line["average_delay_ns"].as_f64().unwrap();
        assert!((4000.0..6000.0).contains(&mean), "{line}");
    }
    assert!(base.text(&watch("hz")).starts_with("average rate: "));
    assert!(base.text(&watch("bw")).contains("Message size mean: "));
    assert!(base.text(&watch("delay")).contains("\tP50 < 8.19 µs, P90 < 8.19 µs, P99 < 8.19 µs window: "));
    drop(talking);
}

#[test]
fn who_says_nothing_has_no_rate() {
    let base = Base::new();
    let participant = base.join();
    let _entities = talker_and_listener(&participant);
    for what in ["hz", "bw", "delay"] {
        let text = base.text(&["topic", what, "chatter", "--interval", "0.05", "--count", "2"]);
        assert_eq!(text, "no new messages\nno new messages\n");
    }
}

#[test]
fn top_without_a_terminal_is_one_table() {
    let base = Base::new();
    let participant = base.join();
    let talking = Talking::start(talker_and_listener(&participant));
    let text = base.text(&["top", "--interval", "0.2"]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "domain 0: 1 processes, 2 topics by rate");
    assert!(lines[1].starts_with("PROCESS ") && lines[2].starts_with("tools"), "{text}");
    assert!(lines[4].starts_with("TOPIC ") && lines[5].starts_with("/chatter "), "{text}");
    assert!(lines[5].contains(" 5.00 µs ") && lines.len() == 7, "{text}");
    let top = base.json(&["top", "--interval", "0.2"]);
    assert_eq!((&top["processes"][0]["publishers"], &top["processes"][0]["nodes"]), (&2.into(), &3.into()));
    let topic = &top["topics"][0];
    assert_eq!((&topic["name"], &topic["type"]), (&"/chatter".into(), &"std_msgs/msg/String".into()));
    assert!(topic["rate_hz"].as_f64().unwrap() > 0.0 && topic["mean_delay_ns"].is_number(), "{topic}");
    drop(talking);
}

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
    let cases: [(&[&str], &str); 13] = [
        (&["node"], "Usage"),
        (&["topic", "echo", "/a", "--count", "0"], "0 is not in 1.."),
        (&["topic", "watch"], "unrecognized subcommand"),
        (&["topic", "info"], "<NAME>"),
        (&["topic", "hz", "/"], "must be a name"),
        (&["topic", "hz", "/a", "--interval", "0"], "from 0.01 to 3600"),
        (&["topic", "bw", "/a", "--window", "-1"], "above 0"),
        (&["topic", "delay", "/a", "--count", "0"], "0 is not in 1.."),
        (&["topic", "list", "--domain", "-1"], "-1 is not in 0.."),
        (&["node", "list", "--show-types"], "unexpected argument"),
        (&["service", "info", "/a"], "unrecognized subcommand"),
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
            let kind = if number % 2 == 0 { EntityKind::Publisher } else { EntityKind::Subscription };
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

/// The name of the variable that says in which directory a child joins.
const CHILD: &str = "SINEW_TEST_CHILD";

/// Another process with the talker and the listener. Killed at the end.
struct Other(Child);

impl Other {
    /// Runs the named test alone, which does something else in a child.
    fn start(base: &Base, test: &str) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
        let mut child = command.env(CHILD, base.0.path()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().contains("it has joined")));
        Self(child)
    }

    /// Without a chance to tidy up.
    fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        // Both fail only when it has been killed already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

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

/// Until it is killed.
fn park() -> ! {
    loop {
        std::thread::park();
    }
}

#[test]
fn the_dead_are_left_out_and_cleaned_up() {
    let base = Base::new();
    let other = Other::start(&base, "the_other_process");
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

/// Tells of subscriptions, and takes connections up but reads nothing.
struct Slow {
    subscriptions: SyncSender<Arc<Peer>>,
    connections: SyncSender<Incoming>,
}

impl Observer for Slow {
    fn appeared(&self, peer: &Arc<Peer>, _: EntityKey, _: &Entity) {
        self.subscriptions.send(peer.clone()).unwrap();
    }
    fn vanished(&self, _: &Arc<Peer>, _: EntityKey) {}
    fn connected(&self, incoming: Incoming, _: Option<EntityKey>) -> Option<Arc<dyn Sink>> {
        self.connections.send(incoming).unwrap();
        None
    }
    fn left(&self, _: &Arc<Peer>) {}
}

const PATIENCE: Duration = Duration::from_secs(60);
/// An image that is longer than what is shown of it.
fn long() -> Vec<u8> {
    (0..=255).cycle().take(300).collect()
}

/// A participant that talks on `/chatter` once somebody listens.
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

    /// A publisher, of a type that can leave the process or can't.
    fn publisher(&self, travels: bool) -> OwnEntity {
        let mut entity = entity(EntityKind::Publisher, 1, "/talker", "/chatter", "std_msgs/msg/String");
        entity.qos[5] = u8::from(travels);
        self.participant.advertise(&entity, None).unwrap()
    }

    /// Publishes to the next one who subscribes.
    fn publish(&self, publisher: OwnEntity, images: &[&[u8]]) -> Writer {
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
    assert_eq!(waits, "sinew: nobody publishes /chatter in domain 0 yet: waiting\n");
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
    assert_eq!(message["image"], hex);
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

#[test]
fn what_the_dead_have_left_stays_while_somebody_reads_it() {
    let child = std::env::var_os(CHILD);
    let base = child.is_none().then(Base::new);
    let directory = child.as_deref().map(Path::new).or(base.as_ref().map(|base| base.0.path())).unwrap();
    let domain = Domain::open(Some(directory), 0).unwrap();
    let (subscriptions, subscribed) = sync_channel(9);
    let (connections, connected) = sync_channel(9);
    let participant = Participant::join(&domain, Arc::new(Slow { subscriptions, connections })).unwrap();
    let Some(base) = base else {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).unwrap();
        let publisher = entity(EntityKind::Publisher, 1, "/talker", "/chatter", "std_msgs/msg/String");
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
    let subscription = entity(EntityKind::Subscription, 1, "/listener", "/chatter", "std_msgs/msg/String");
    let _subscription = participant.advertise(&subscription, None).unwrap();
    let other = Other::start(&base, "what_the_dead_have_left_stays_while_somebody_reads_it");
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

#[test]
fn another_layout_is_told_and_left_alone() {
    let base = Base::new();
    drop(base.join());
    let mut header = vec![0; 4096];
    header[..8].copy_from_slice(b"SINEWSHM");
    header[12..16].copy_from_slice(&(LAYOUT_VERSION + 1).to_le_bytes());
    let name = "00000000000000ff.control";
    std::fs::write(base.domain().join(name), header).unwrap();
    let file = std::fs::File::options().write(true).open(base.domain().join(name)).unwrap();
    // Ours is another process than the one that asks, so any lock says that its owner lives. (A participant in this process
    // would see none, and open and close the file, which ends a lock of this kind.)
    rustix::fs::fcntl_lock(&file, rustix::fs::FlockOperation::LockExclusive).unwrap();

    let output = base.sinew(&["topic", "list"]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), String::new()));
    let version =
        format!("{name}: has layout version {}, this program has {LAYOUT_VERSION}", LAYOUT_VERSION + 1);
    assert!(text(&output.stderr).contains(&version), "{}", text(&output.stderr));
    let told = base.doctor(&["--clean"]);
    assert!(told.contains(&format!("WRONG   participants    {version}")), "{told}");
    assert!(base.files().contains(&name.to_owned()));
}

#[test]
fn the_doctor_looks_at_the_directory() {
    use std::os::unix::fs::PermissionsExt as _;
    let base = Base::new();
    let told = base.doctor(&[]);
    assert!(told.contains("isn't there: the first participant makes it"), "{told}");
    assert!(told.contains("is a tmpfs") && told.contains("fine    kernel"), "{told}");

    drop(base.join());
    std::fs::write(base.domain().join("notes.txt"), "").unwrap();
    let told = base.doctor(&[]);
    assert!(told.contains("fine    rights") && told.contains("notes.txt are none of ours"), "{told}");
    assert!(told.contains("stale files     none"), "{told}");

    std::fs::set_permissions(base.domain(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let told = base.doctor(&[]);
    assert!(
        told.contains("WRONG   directory") && told.contains("mode 777") && told.contains("chmod 700"),
        "{told}"
    );
    assert!(base.failure(&["node", "list"]).contains("chmod 700"));
}
