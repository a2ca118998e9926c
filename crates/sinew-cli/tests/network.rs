//! `sinew router` and `sinew gateway` as processes: hosts are directories of their own.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::disallowed_methods, reason = "processes are waited for in real time")]

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Time limit of operations that would otherwise hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process, killed at the end.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill(); // fails if it has ended
        let _ = self.0.wait();
    }
}

impl Running {
    fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_raw(i32::try_from(self.0.id()).unwrap()).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }
}

fn sinew(arguments: &[&str], host: Option<&Path>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
    command.args(arguments).stdin(Stdio::null());
    if let Some(host) = host {
        command.arg("--dir").arg(host);
    }
    for variable in [
        "ROS_DOMAIN_ID",
        "SINEW_DOMAIN_ID",
        "SINEW_DIR",
        "ZENOH_SESSION_CONFIG_URI",
        "ZENOH_ROUTER_CONFIG_URI",
        "ZENOH_CONFIG_OVERRIDE",
        "ZENOH_ROUTER_CHECK_ATTEMPTS",
        "ROS_AUTOMATIC_DISCOVERY_RANGE",
        "ROS_STATIC_PEERS",
    ] {
        command.env_remove(variable);
    }
    command
}

/// Starts a process, and returns it with its first line.
fn start(arguments: &[&str], host: Option<&Path>) -> (Running, String) {
    let mut child = sinew(arguments, host).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (Running(child), line)
}

fn router() -> (Running, String) {
    let (router, line) = start(&["router", "--listen", "tcp/127.0.0.1:0"], None);
    let endpoint = line.split_whitespace().find(|word| word.starts_with("tcp/")).unwrap().to_owned();
    (router, endpoint)
}

fn gateway(endpoint: &str, host: &Path) -> Running {
    let (gateway, line) = start(&["gateway", "--connect", endpoint, "--client"], Some(host));
    assert!(line.starts_with("domain 0 is on the network, as session "), "{line}");
    gateway
}

fn host() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap()
}

fn output(arguments: &[&str], host: &Path) -> String {
    String::from_utf8(sinew(arguments, Some(host)).output().unwrap().stdout).unwrap()
}

fn wait_for(what: &str, mut look: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !look() {
        assert!(begin.elapsed() < PATIENCE, "{what}: it never is");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Returns the number of publishers on `/chatter` that a host sees.
fn publishers(host: &Path) -> usize {
    let info = output(&["topic", "info", "--json", "/chatter"], host);
    let info: Option<serde_json::Value> = serde_json::from_str(&info).ok();
    info.and_then(|info| Some(info["publishers"].as_array()?.len())).unwrap_or(0)
}

const TALK: [&str; 7] = ["topic", "pub", "--rate", "20", "/chatter", "std_msgs/msg/String", "data: hello"];

/// A program that publishes without end.
fn talker(host: &Path) -> Running {
    Running(sinew(&TALK, Some(host)).stdout(Stdio::null()).spawn().unwrap())
}

/// Checks that a message of the talker reaches a host. (Earlier ones are lost if they come faster
/// than a busy machine takes them.)
#[track_caller]
fn assert_hears(host: &Path) {
    let said = output(&["topic", "echo", "--once", "/chatter"], host);
    let message = match said.split_once('\n') {
        Some((lost, message)) if lost.starts_with("# lost before it: ") => message,
        _ => &said,
    };
    assert_eq!(message, "data: hello\n---\n", "{said}");
}

#[test]
fn two_hosts_see_and_hear_each_other() {
    let (_router, endpoint) = router();
    let (one, other) = (host(), host());
    let first = gateway(&endpoint, one.path());
    let _second = gateway(&endpoint, other.path());
    let _talker = talker(one.path());
    assert_hears(other.path());
    let info: serde_json::Value =
        serde_json::from_str(&output(&["topic", "info", "--json", "/chatter"], other.path())).unwrap();
    assert_eq!(info["publishers"][0]["path"], "network");
    let text = output(&["topic", "info", "-v", "/chatter"], other.path());
    assert!(text.contains("Process: network, by "), "{text}");
    let nodes = output(&["node", "list", "--include-hidden"], other.path());
    assert!(nodes.contains("/_sinew_pub_") && !nodes.contains("_sinew_gateway"), "{nodes}");

    // When it is killed, its nodes go as well; the next one brings them back.
    first.signal(rustix::process::Signal::KILL);
    wait_for("its nodes are gone", || output(&["topic", "list"], other.path()).is_empty());
    let third = gateway(&endpoint, one.path());
    assert_hears(other.path());
    third.signal(rustix::process::Signal::INT);
    let mut third = third;
    assert!(third.0.wait().unwrap().success(), "Ctrl-C is no failure");
}

/// None of its messages would come, and its counters mean nothing.
#[test]
fn a_topic_of_the_network_that_nobody_takes_is_watched() {
    let (_router, endpoint) = router();
    let (one, other) = (host(), host());
    let _gateways = [gateway(&endpoint, one.path()), gateway(&endpoint, other.path())];
    let _talker = talker(one.path());
    wait_for("it is seen", || publishers(other.path()) == 1);
    // As `top` and `topic info` show it, one after the other.
    let is_carried = || {
        let top = json(&["top", "--json", "--interval", "0.01"], other.path());
        let topics = top["topics"].as_array().unwrap().clone();
        let topic = topics.into_iter().find(|topic| topic["name"] == "/chatter").unwrap();
        let info = json(&["topic", "info", "--json", "/chatter"], other.path());
        [&topic["carried"], &info["publishers"][0]["carried"]].map(|carried| carried == true)
    };
    for (command, begin) in [("hz", "average rate: "), ("bw", "")] {
        assert_eq!(is_carried(), [false; 2]);
        for arguments in [
            &["topic", "info", "/chatter"][..],
            &["topic", "info", "-v", "/chatter"],
            &["top", "--interval", "0.01"],
        ] {
            let said = output(arguments, other.path());
            assert!(said.contains("not carried: no subscription here"), "{said}");
        }
        let mut watch = sinew(&["topic", command, "/chatter", "--interval", "0.1"], Some(other.path()));
        let mut watch = Running(watch.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
        let mut said = String::new();
        BufReader::new(watch.0.stderr.take().unwrap()).read_line(&mut said).unwrap();
        assert!(
            said.starts_with("sinew: /chatter is of the network, and has no subscription here"),
            "{said}"
        );
        let mut lines = BufReader::new(watch.0.stdout.take().unwrap()).lines().map(Result::unwrap);
        let found = lines.find(|line| line.starts_with(begin) && line != "no new messages").unwrap();
        assert!(found.starts_with("average rate: ") || found.contains("B/s from "), "{found}");
        assert_eq!(is_carried(), [true; 2]);
        watch.signal(rustix::process::Signal::INT);
        assert!(lines.all(|line| !line.is_empty()) && watch.0.wait().unwrap().success());
        wait_for("its subscription is gone", || is_carried() == [false; 2]);
    }
}

#[test]
fn the_other_side_sees_a_killed_gateway_go_and_come() {
    const COUNT: usize = 30;
    let (_router, endpoint) = router();
    let (one, other) = (host(), host());
    let first = gateway(&endpoint, one.path());
    let _second = gateway(&endpoint, other.path());
    let mut echo = sinew(&["topic", "echo", "--json", "/chatter"], Some(other.path()));
    let mut echo = Running(echo.stdout(Stdio::piped()).spawn().unwrap());
    let mut lines = BufReader::new(echo.0.stdout.take().unwrap()).lines();
    let _talker = talker(one.path());
    let mut next = || {
        let line: serde_json::Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        line["stamp_ns"].as_i64().unwrap() // the talker's: no two are the same
    };
    let mut stamps: Vec<_> = (0..COUNT).map(|_| next()).collect();
    first.signal(rustix::process::Signal::KILL);
    wait_for("its ends are gone", || publishers(other.path()) == 0);
    let _third = gateway(&endpoint, one.path());
    wait_for("its ends are back", || publishers(other.path()) == 1);
    stamps.extend((0..COUNT).map(|_| next()));
    assert!(stamps.is_sorted_by(|one, next| one < next), "none twice: {stamps:?}");
}

/// Messages that were published while no gateway led are reported: their publisher's numbers go on.
#[test]
fn what_a_killed_gateway_has_cost_is_told() -> sinew::Result<()> {
    use sinew_interfaces::std_msgs::msg::String as Text;
    const WHILE_NONE_LEADS: u64 = 20;
    let (_router, endpoint) = router();
    let (one, other) = (host(), host());
    let _near = gateway(&endpoint, one.path());
    let mut far = gateway(&endpoint, other.path());
    let context = |host: &Path| sinew::Context::builder().domain(0).directory(host).build();
    let qos = sinew::QoS::new().keep_all();
    let talker = context(one.path())?.node("talker")?.publisher::<Text>("/chatter").qos(qos).create()?;
    let listener = context(other.path())?.node("listener")?;
    let texts = listener.subscription::<Text>("/chatter").qos(qos).create()?;
    let mut numbers = Vec::new();
    for round in 1..=3 {
        wait_for("messages", || {
            talker.publish(Text { data: "hello".to_owned() }).unwrap();
            numbers.extend(std::iter::from_fn(|| texts.take()).map(|(_, info)| info.publication_sequence()));
            numbers.len() >= 10 * round
        });
        if round < 3 {
            far.signal(rustix::process::Signal::KILL);
            wait_for("its ends are gone", || {
                texts.publisher_count() == 0 && talker.subscription_count() == 0
            });
            (0..WHILE_NONE_LEADS).for_each(|_| talker.publish(Text::default()).unwrap());
            far = gateway(&endpoint, other.path());
        }
    }
    assert!(numbers.is_sorted_by(|one, next| one < next), "each once, and in order: {numbers:?}");
    let span = numbers[numbers.len() - 1] - numbers[0] + 1;
    let missing = span - numbers.len() as u64;
    assert!(missing >= 2 * WHILE_NONE_LEADS, "{numbers:?}");
    assert_eq!(texts.statistics().missed, missing, "{numbers:?}");
    Ok(())
}

#[test]
fn the_second_gateway_takes_over() {
    let (_router, endpoint) = router();
    let (one, other) = (host(), host());
    let first = gateway(&endpoint, one.path());
    let second = sinew(&["gateway", "--connect", &endpoint, "--client"], Some(one.path()));
    let mut second = { second }.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut line, mut printed) = (String::new(), BufReader::new(second.stdout.take().unwrap()));
    BufReader::new(second.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let _second = Running(second);
    assert!(line.contains("another gateway of domain 0 is at work"), "{line}");
    let _far = gateway(&endpoint, other.path());
    let _talker = talker(one.path());
    first.signal(rustix::process::Signal::KILL);
    let mut line = String::new();
    printed.read_line(&mut line).unwrap();
    assert!(line.starts_with("domain 0 is on the network, as session "), "{line}");
    assert!(line.ends_with(": the gateway before it is gone\n"), "{line}");
    assert_hears(other.path());
}

/// The server has the request, and no executor runs it.
#[test]
fn a_call_says_that_the_gateway_went() {
    use sinew_interfaces::example_interfaces::srv::{AddTwoInts, AddTwoIntsRequest, AddTwoIntsResponse};
    let (_router, endpoint) = router();
    let (one, other) = (host(), host());
    let _far = gateway(&endpoint, one.path());
    let near = gateway(&endpoint, other.path());
    let context = |host: &Path| sinew::Context::builder().domain(0).directory(host).build().unwrap();
    let server = context(one.path()).node("server").unwrap();
    let server = server.server::<AddTwoInts>("/add");
    let server = server.callback(|_: &AddTwoIntsRequest| AddTwoIntsResponse::default()).unwrap();
    let client = context(other.path()).node("client").unwrap();
    let client = client.client::<AddTwoInts>("/add").create().unwrap();
    assert!(client.wait_for_server(PATIENCE));
    let error = std::thread::scope(|scope| {
        let call = scope.spawn(|| client.call(AddTwoIntsRequest::default(), PATIENCE).map(drop).unwrap_err());
        wait_for("the server has it", || server.statistics().waiting == 1);
        near.signal(rustix::process::Signal::KILL);
        call.join().unwrap()
    });
    assert_eq!(error.failure(), &sinew::error::CallFailure::GatewayGone, "{error}");
    assert!(error.to_string().contains("the gateway to the network went away"), "{error}");
}

#[test]
fn what_is_wrong_is_told() {
    let (_router, endpoint) = router();
    let host = host();
    let failed = |arguments: &[&str], host| {
        let output = sinew(arguments, host).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    for (arguments, part) in [
        (
            &["gateway", "--connect", "robot"][..],
            "--connect is `robot`, but an endpoint is PROTOCOL/HOST:PORT",
        ),
        (&["gateway", "--domain", "300"], "domain 300 can't be on the network: ROS 2's domains are 0 to 232"),
        (&["gateway", "--allow", "/cam*"], "the pattern is `/cam*`"),
    ] {
        let said = failed(arguments, Some(host.path()));
        assert!(said.starts_with(&format!("sinew: {part}")), "{said}");
    }
    let said = failed(&["router", "--listen", &endpoint], None);
    assert!(said.starts_with(&format!("sinew: the router can't listen on {endpoint}: ")), "{said}");
}

/// Returns the JSON output of a command.
fn json(arguments: &[&str], host: &Path) -> serde_json::Value {
    serde_json::from_str(&output(arguments, host)).unwrap()
}

/// Returns the doctor's findings of that kind: state and text. (Its findings on the machine don't
/// matter.)
fn found(host: &Path, check: &str) -> Vec<(String, String)> {
    let told = json(&["doctor", "--json"], host);
    let checks = told["checks"].as_array().unwrap();
    let its = checks.iter().filter(|finding| finding["check"] == check);
    its.map(|finding| {
        let text = |field: &str| finding[field].as_str().unwrap().to_owned();
        (text("state"), format!("{}\n{}", text("found"), text("remedy")))
    })
    .collect()
}

/// Returns the doctor's text on the gateway, which is working. (If the machine holds up a gateway,
/// it doesn't count its knock in time.)
fn gateway_that_is_fine(host: &Path) -> String {
    let mut said = String::new();
    wait_for("the gateway is at work", || {
        let gateway = found(host, "gateway");
        let [(state, text)] = &gateway[..] else { panic!("{gateway:?}") };
        said.clone_from(text);
        assert!(state == "fine" || text.contains("but is not at work"), "{text}");
        state == "fine"
    });
    said
}

/// Returns the findings on the network, except for `gateway`.
fn complaints(host: &Path) -> Vec<(String, String)> {
    let checks = ["peers", "clocks", "attachments", "domains", "tokens", "foreign files"];
    checks.iter().flat_map(|check| found(host, check)).collect()
}

/// Starts a gateway with a variable set, and reads its first line.
fn gateway_with(arguments: &[&str], host: &Path, override_: &str) -> Running {
    let mut command = sinew(&[&["gateway"], arguments].concat(), Some(host));
    let command =
        command.env("ZENOH_CONFIG_OVERRIDE", override_).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("domain "), "{line}");
    Running(child)
}

#[test]
fn what_is_brought_over_is_seen() {
    let (_router, endpoint) = router();
    let (one, other) = (host(), host());
    let first = gateway(&endpoint, one.path());
    let _second = gateway(&endpoint, other.path());
    assert!(!output(&["top", "--interval", "0.01"], one.path()).contains("NETWORK TOPIC"), "nothing is");
    let _talker = talker(one.path());
    let listen = ["topic", "echo", "/chatter"];
    let _listener = Running(sinew(&listen, Some(other.path())).stdout(Stdio::null()).spawn().unwrap());

    // Read in the gateway's own memory, without a request to it.
    let totals = |host: &Path, field: &str| {
        let top = json(&["top", "--json", "--interval", "0.2"], host);
        let topics = top["gateways"][0]["topics"].as_array().unwrap().clone();
        let topic = topics.into_iter().find(|topic| topic["name"] == "/chatter")?;
        (topic[field].as_f64().unwrap() > 0.0).then_some(())
    };
    for (host, fields) in [
        (&one, ["sent", "sent_bytes", "sent_hz", "sent_bytes_per_second"]),
        (&other, ["received", "received_bytes", "received_hz", "received_bytes_per_second"]),
    ] {
        for field in fields {
            wait_for(field, || totals(host.path(), field).is_some());
        }
    }
    let top = json(&["top", "--json", "--interval", "0.01"], one.path());
    let pid = first.0.id();
    assert_eq!(top["gateways"][0]["pid"], pid);
    let gateways: Vec<_> =
        top["processes"].as_array().unwrap().iter().filter(|one| one["pid"] == pid).collect();
    assert_eq!((gateways.len(), &gateways[0]["program"]), (1, &"gateway".into()), "one row: {top}");
    let text = output(&["top", "--interval", "0.01"], one.path());
    assert!(text.contains(&format!("gateway {pid} (sinew): one router, 0 peers; ")), "{text}");
    assert!(text.contains("NETWORK TOPIC") && text.contains("LIMITED"), "{text}");
    let info = output(&["topic", "info", "-v", "/chatter"], one.path());
    let begin = format!("On the network, by {pid} sinew: std_msgs/msg/String\n  Sent: ");
    assert!(info.contains(&begin) && info.contains("  Refused: 0\n"), "{info}");
    let info = json(&["topic", "info", "--json", "/chatter"], one.path());
    assert!(info["network"][0]["totals"]["sent"].as_u64() > Some(0), "{info}");
    let lists =
        ["topic", "node", "service"].map(|what| output(&[what, "list", "--include-hidden"], one.path()));
    assert!(!lists.concat().contains(&top["gateways"][0]["session"].as_str().unwrap()[..8]), "{lists:?}");
}

#[test]
fn the_doctor_says_nothing_where_all_is_well() {
    let (_router, endpoint) = router();
    let (one, other) = (host(), host());
    let _first = gateway(&endpoint, one.path());
    assert!(found(other.path(), "gateway").is_empty(), "there is none");
    let _second = gateway_with(&["--connect", &endpoint, "--listen", "tcp/127.0.0.1:0"], other.path(), "");
    let _talker = talker(one.path());
    // A message that the machine holds up looks like one of a slow clock, until the next one comes.
    let mut told = Vec::new();
    wait_for("no complaint", || {
        assert_hears(other.path());
        told = complaints(other.path());
        assert!(told.iter().all(|(_, text)| text.starts_with("messages of ")), "{told:?}");
        told.is_empty()
    });
    for host in [&one, &other] {
        let gateway = gateway_that_is_fine(host.path());
        assert!(gateway.contains(") leads, as session ") && gateway.contains(": one router, "), "{gateway}");
        assert_eq!(complaints(host.path()), []);
        assert!(found(host.path(), "topics").iter().all(|(state, _)| state == "fine"));
    }
}

#[test]
fn the_doctor_finds_a_gateway_that_is_stopped() {
    let (_router, endpoint) = router();
    let host = host();
    let gateway = gateway(&endpoint, host.path());
    gateway.signal(rustix::process::Signal::STOP);
    let stopped = found(host.path(), "gateway");
    let [(state, text)] = &stopped[..] else { panic!("{stopped:?}") };
    let pid = gateway.0.id();
    assert!(
        state == "wrong" && text.contains("leads, as session ") && text.contains("is not at work"),
        "{text}"
    );
    assert!(text.contains(&format!("kill -CONT {pid} ")), "{text}");
    gateway.signal(rustix::process::Signal::CONT);
    wait_for("it is at work again", || found(host.path(), "gateway")[0].0 == "fine");
}

#[test]
fn the_doctor_finds_that_there_is_no_router() {
    let host = host();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("tcp/{}", free.local_addr().unwrap());
    let connect = format!("connect/endpoints=[{endpoint:?}]");
    drop(free);
    let gateway = gateway_with(&[], host.path(), &connect);
    let expected = format!(", and finds no router at {endpoint}; it can't be connected to: ");
    let found = found(host.path(), "gateway");
    let [(state, text)] = &found[..] else { panic!("{found:?}") };
    assert!(state == "wrong" && text.contains(&expected) && text.contains("start `sinew router`"), "{text}");
    let status = sinew(&["doctor"], Some(host.path())).output().unwrap().status;
    assert_eq!(status.code(), Some(1));
    drop(gateway);
}

/// Like the answer of zenoh 0.11 to a session of zenoh 1.
#[test]
fn the_doctor_finds_a_router_of_before_zenoh_1() {
    use std::io::{Read as _, Write as _};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("tcp/{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let (mut length, mut greeting) = ([0; 2], Vec::new());
            let read = stream.read_exact(&mut length);
            greeting.resize(usize::from(u16::from_le_bytes(length)), 0);
            // Its caller may have gone.
            let _ = read.and_then(|()| stream.read_exact(&mut greeting));
            let _ = stream.write_all(&[2, 0, 3, 2]);
        }
    });
    let host = host();
    let _gateway = gateway_with(&["--connect", &endpoint], host.path(), "");
    let expected = format!(
        "finds no session at {endpoint}; what listens there refuses the protocol of zenoh 1, as zenoh 0.11 and older do"
    );
    let mut last = Vec::new();
    // The doctor gives each answer a second.
    wait_for("it is found", || {
        last = found(host.path(), "gateway");
        last.iter().any(|(_, text)| text.contains(&expected))
    });
    let [(state, text)] = &last[..] else { panic!("{last:?}") };
    assert!(state == "wrong" && text.contains("update it"), "{text}");
}

/// The commonest complaint: both are connected to the router, and neither can connect to the other.
#[test]
fn the_doctor_finds_a_peer_that_cannot_be_reached() {
    let (_router, endpoint) = router();
    let (one, other) = (host(), host());
    let deaf = "listen/endpoints=[]";
    let _first = gateway_with(&["--connect", &endpoint], one.path(), deaf);
    let second = gateway_with(&["--connect", &endpoint], other.path(), deaf);
    let _talker = talker(other.path());
    let mut last = Vec::new();
    wait_for("it is found", || {
        last = found(one.path(), "peers");
        !last.is_empty()
    });
    let [(state, text)] = &last[..] else { panic!("{last:?}") };
    assert!(state == "wrong" && text.contains("/_sinew_pub_"), "{text}");
    assert!(text.contains("is at the router, but not reached") && text.contains("--client"), "{text}");
    // The remedy works.
    drop(second);
    let _second = gateway(&endpoint, other.path());
    // Nodes of the previous gateway may still be listed, as unreachable.
    wait_for("it is reached", || {
        output(&["node", "list", "-a"], one.path()).contains("/_sinew_pub_")
            && complaints(one.path()).is_empty()
    });
}

#[test]
fn the_doctor_finds_types_that_differ_here_and_there() {
    use sinew::msg::{GenericType, TypeHash};
    let (_router, endpoint) = router();
    let (one, other) = (host(), host());
    let _gateways = [gateway(&endpoint, one.path()), gateway(&endpoint, other.path())];
    let talk = [&TALK[..], &["--force"]].concat(); // without the check of other types
    let _talker = Running(sinew(&talk, Some(one.path())).stdout(Stdio::null()).spawn().unwrap());
    // Of the same name, from a different definition.
    let kind = GenericType::new("std_msgs/msg/String", TypeHash([7; 32])).unwrap();
    let context = sinew::Context::builder().domain(0).directory(other.path()).build().unwrap();
    let _listener =
        context.node("listener").unwrap().generic_subscription("/chatter", kind).create().unwrap();
    for (host, talker, listener) in
        [(&one, "process", "/listener on the network"), (&other, "network", "/listener in process ")]
    {
        let mut wrong = Vec::new();
        wait_for("it is found", || {
            wrong = found(host.path(), "topics");
            wrong.retain(|(state, _)| state == "wrong");
            !wrong.is_empty()
        });
        let [(_, text)] = &wrong[..] else { panic!("{wrong:?}") };
        assert!(text.starts_with("/chatter: /_sinew_pub_") && text.contains(listener), "{text}");
        assert!(text.contains(talker), "{text}");
        assert_eq!(text.matches("std_msgs/msg/String").count(), 2, "{text}");
        assert_eq!(text.matches("RIHS01_").count(), 2, "whose is whose: {text}");
    }
}

#[test]
fn the_doctor_finds_another_domain() {
    let (_router, endpoint) = router();
    let (one, other) = (host(), host());
    let _first = gateway(&endpoint, one.path());
    let _second = gateway_with(&["--connect", &endpoint, "--client", "--domain", "5"], other.path(), "");
    let talk = [&TALK[..], &["--domain", "5"]].concat();
    let talker = Running(sinew(&talk, Some(other.path())).stdout(Stdio::null()).spawn().unwrap());
    let mut last = Vec::new();
    wait_for("it is found", || {
        last = found(one.path(), "domains");
        !last.is_empty()
    });
    let expected = "no node of domain 0 is on the network, but one is of domain 5\n";
    assert!(last[0].0 == "advice" && last[0].1.starts_with(expected), "{last:?}");
    assert!(last[0].1.contains("ROS_DOMAIN_ID"), "{last:?}");
    drop(talker);
    wait_for("it is gone", || found(one.path(), "domains").is_empty());
}
