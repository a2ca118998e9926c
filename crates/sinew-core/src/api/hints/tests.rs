//! A context's hints, in a domain of its own.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use super::{Line, Said, lines};
use crate::api::context::Context;
use crate::ros::arguments::Arguments;
use crate::ros::report::Report;
use crate::ros::unmatched::NodeNames;
use crate::sys::clock::Time;
use crate::sys::logging::Level;
use crate::sys::sync::Mutex;
use crate::{Executor, Service, Unique};
use sinew_interfaces::rcl_interfaces::srv::GetLoggerLevels;
use sinew_msg::{Message, ServiceType, TypeHash};
use std::time::Duration;

#[derive(Clone, Debug, Default, PartialEq, Message)]
struct Number {
    value: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Message)]
struct Other {
    value: u64,
}

struct Add;
impl Service for Add {
    type Request = Number;
    type Response = Number;
}

const PATIENCE: Duration = Duration::from_secs(5);

fn context(arguments: &[&str]) -> Context {
    let line = ["program"].iter().chain(arguments).map(|&argument| argument.to_owned());
    Context::builder().arguments(line).shared_memory(false).build().unwrap()
}

/// Returns the lines that the context logs at once, and after `later`.
fn said_by(context: &Context, later: Duration) -> Vec<(Level, Option<String>, String)> {
    let said = Mutex::new(Said::default());
    let now = Time::steady();
    let plain = |line: Line| (line.level, line.node.map(|node| node.to_string()), line.text);
    let early = lines(context.shared(), &said, now);
    assert!(early.is_empty(), "{:?}", early.into_iter().map(plain).collect::<Vec<_>>());
    let all = lines(context.shared(), &said, now + later).into_iter().map(plain).collect();
    let again = lines(context.shared(), &said, now + later * 2).into_iter().map(plain).collect::<Vec<_>>();
    assert!(again.is_empty(), "once: {again:?}");
    all
}

fn texts(context: &Context) -> Vec<String> {
    said_by(context, PATIENCE).into_iter().map(|(_, _, text)| text).collect()
}

#[test]
fn a_subscription_without_a_publisher_says_so_once_with_what_is_near() {
    let context = context(&[]);
    let driver = context.node("driver").unwrap();
    let _states = driver.publisher::<Number>("wheel_states").create().unwrap();
    let _others = driver.publisher::<Other>("wheel_stats").create().unwrap();
    let node = context.node_in("/robot", "controller").unwrap();
    let _sates = node.subscription::<Number>("/wheel_sates").create().unwrap();
    let _matched = node.subscription::<Number>("/wheel_states").create().unwrap();
    let _had = node.subscription::<Number>("/had").create().unwrap();
    drop(driver.publisher::<Number>("/had").create().unwrap());
    let _hidden = node.subscription::<Number>("/a/_hidden").create().unwrap();
    let _own = node.subscription::<Number>("/rosout").create().unwrap();
    let _tool = context.node("_tool").unwrap().subscription::<Number>("/nobody").create().unwrap();
    let (level, named) = (Level::Info, Some("/robot/controller".to_owned()));
    let text = "no publisher of /wheel_sates yet, 5s after this subscription was made; /driver publishes the same type as \
                /wheel_states";
    assert_eq!(said_by(&context, PATIENCE), [(level, named, text.to_owned())]);
}

#[test]
fn a_client_without_a_server_says_so_and_one_of_an_action_once_for_all() {
    let context = context(&[]);
    let server = context.node("adder").unwrap();
    let _server = server.server::<Add>("/add_two_ints").callback(|number: Unique<Number>| number).unwrap();
    let _goals =
        server.server::<Add>("/fib/_action/send_goal").callback(|number: Unique<Number>| number).unwrap();
    let node = context.node("asker").unwrap();
    let _client = node.client::<Add>("/add_tow_ints").create().unwrap();
    let _served = node.client::<Add>("/add_two_ints").create().unwrap();
    let clients: Vec<_> = ["send_goal", "cancel_goal", "get_result"]
        .map(|entity| node.client::<Add>(&format!("/robot/fib/_action/{entity}")).create().unwrap())
        .into();
    let mut said = texts(&context);
    said.sort_unstable();
    let expected = [
        "no server of /add_tow_ints yet, 5s after this client was made; /adder serves the same type as /add_two_ints",
        "no server of action /robot/fib yet, 5s after this client was made; /adder serves the same type as /fib",
    ];
    assert_eq!(said, expected);
    drop(clients);
}

#[test]
fn a_client_of_a_nodes_parameters_names_the_node() {
    let context = context(&[]);
    let node = context.node("driver").unwrap();
    let _silent = context.node_builder("silent").start_parameter_services(false).create().unwrap();
    let clients = ["/drvier", "/silent", "/driver"].map(|of| node.parameter_client(of));
    // The first question makes the client of each service.
    let _calls = clients.each_ref().map(|client| (client.get(["x"]), client.describe(["x"])));
    let mut said = texts(&context);
    said.sort_unstable();
    let [wrong, refused] = &said[..] else { panic!("{said:?}") };
    assert!(wrong.starts_with("no server of /drvier/"), "{wrong}");
    assert!(wrong.ends_with("was made: no node is called /drvier; there is /driver"), "{wrong}");
    assert!(refused.contains("was made: node /silent has no "), "{refused}");
}

/// A service of each lifecycle node.
struct ChangeState;
impl Service for ChangeState {
    type Request = Number;
    type Response = Number;
    const TYPE: Option<&'static ServiceType> =
        Some(&ServiceType { name: "lifecycle_msgs/srv/ChangeState", hash: TypeHash([1; 32]) });
}

#[test]
fn a_client_of_a_nodes_lifecycle_is_told_of_the_node_and_not_of_another_nodes_service() {
    let context = context(&[]);
    let wheels = context.node_in("/r1", "wheels").unwrap();
    let answer = |number: Unique<Number>| number;
    let _change = wheels.server::<ChangeState>("~/change_state").callback(answer).unwrap();
    let _plain = context.node_in("/r1", "plain").unwrap();
    let node = context.node("manager").unwrap();
    let clients = ["/lidar", "/wheels", "/r1/plain", "/r1/wheels", ""]
        .map(|of| node.client::<ChangeState>(&format!("{of}/change_state")).create().unwrap());
    let levels = ["/lidar", "/r1/plain"]
        .map(|of| node.client::<GetLoggerLevels>(&format!("{of}/get_logger_levels")).create().unwrap());
    let mut said = texts(&context);
    said.sort_unstable();
    let [alone, lidar, plain, moved] = &said[..] else { panic!("one for each node: {said:?}") };
    assert_eq!(alone, "no server of /change_state yet, 5s after this client was made");
    assert!(lidar.starts_with("no server of /lidar/"), "{lidar}");
    assert!(lidar.ends_with(" yet, 5s after this client was made: no node is called /lidar"), "{lidar}");
    assert!(plain.contains("was made: node /r1/plain has no "), "{plain}");
    assert!(moved.starts_with("no server of /wheels/change_state"), "{moved}");
    assert!(moved.ends_with(": no node is called /wheels; there is /r1/wheels"), "{moved}");
    drop((clients, levels));
}

#[test]
fn what_is_hidden_and_what_each_node_has_is_not_suggested() {
    let context = context(&["--ros-args", "-r", "stpo:=halt", "-r", "far:=near"]);
    let node = context.node("wheels").unwrap();
    let answer = |number: Unique<Number>| number;
    let _servers = [
        node.server::<Add>("~/_container/list_nodes").callback(answer).unwrap(),
        node.server::<Add>("drive/_action/send_goal").callback(answer).unwrap(),
        node.server::<Add>("stop").callback(answer).unwrap(),
        node.server::<Add>("~/get_state").callback(answer).unwrap(),
    ];
    let _change = node.server::<ChangeState>("~/change_state").callback(answer).unwrap();
    let _levels = node.client::<GetLoggerLevels>("/lidar/get_logger_levels").create().unwrap();
    let _hidden = node.publisher::<Number>("_internal").create().unwrap();
    let executor = Executor::single();
    executor.add(&context).unwrap();
    let mut said = texts(&context);
    said.retain(|text| text.starts_with("remap rule"));
    let [near, far] = &said[..] else { panic!("{said:?}") };
    assert!(near.ends_with("is called stpo; it has stop"), "{near}");
    assert!(far.ends_with("is called far; it has drive, stop, wheels/get_state"), "{far}");
}

#[test]
fn simulated_time_without_a_simulator_is_reported() {
    let context = context(&["--ros-args", "-p", "use_sim_time:=true"]);
    let _node = context.node("node").unwrap();
    assert_eq!(texts(&context), ["no publisher of /clock yet, 5s after this subscription was made"]);
}

#[test]
fn nothing_is_said_of_what_is_to_be_silent() {
    let silent = context(&["--ros-args", "--disable-hint-logs", "-r", "a:=b"]);
    let _nobody = silent.node("node").unwrap().subscription::<Number>("nobody").create().unwrap();
    assert_eq!(texts(&silent), [""; 0]);
    let loud = context(&["--ros-args", "--disable-hint-logs", "--enable-hint-logs"]);
    let quiet = loud.node_builder("quiet").hints(false).remap("a:=b").create().unwrap();
    let _nobody = quiet.subscription::<Number>("nobody").create().unwrap();
    let executor = Executor::single();
    executor.add(&loud).unwrap();
    assert_eq!(texts(&loud), [""; 0]);
    drop((_nobody, quiet));
    let _nobody = loud.node("quiet").unwrap().subscription::<Number>("nobody").create().unwrap();
    assert_eq!(texts(&loud).len(), 1, "another node of that name");
}

#[test]
fn names_of_others_cost_little_however_many_and_long_they_are() {
    let context = context(&[]);
    let node = context.node("node").unwrap();
    let name = |index: usize| format!("/{}{index:03}", "x".repeat(240));
    let publishers: Vec<_> =
        (0..300).map(|index| node.publisher::<Number>(&name(index)).create().unwrap()).collect();
    let subscriptions: Vec<_> =
        (300..600).map(|index| node.subscription::<Number>(&name(index)).create().unwrap()).collect();
    let said = texts(&context);
    let (last, rest) = said.split_last().unwrap();
    assert!(rest.iter().all(|text| text.ends_with("was made")), "they differ in digits: {}", rest[0]);
    let left = subscriptions.len() - rest.len();
    assert_eq!(*last, format!("{left} more subscriptions have no publisher; `sinew topic check` lists them"));
    drop(publishers);
}

#[test]
fn two_nodes_of_one_name_are_told_by_the_later_one() {
    let context = context(&[]);
    let _first = context.node("talker").unwrap();
    let _other = context.node_in("/left", "talker").unwrap();
    assert_eq!(texts(&context), [""; 0]);
    let _second = context.node("talker").unwrap();
    let said = said_by(&context, PATIENCE);
    let [(Level::Warn, Some(node), text)] = &said[..] else { panic!("{said:?}") };
    assert_eq!(node, "/talker");
    assert!(text.starts_with("another node is called /talker as well, in this process"), "{text}");
}

#[test]
fn rules_that_match_nothing_are_told_once_the_context_is_served() {
    let line = [
        "--ros-args",
        "-r",
        "imgae:=left/image",
        "-r",
        "image:=right/image",
        "-r",
        "camra:__node:=cam",
        "-r",
        "talkr:image:=x",
        "-p",
        "gian:=3",
        "-p",
        "gain:=4",
        "-p",
        "/camra:gain:=5",
        "-p",
        "use_sim_time:=false",
    ];
    let context = context(&line);
    let node = context.node_in("/robot", "camera").unwrap();
    let _image = node.publisher::<Number>("image").create().unwrap();
    let _depth = node.publisher::<Number>("depth_imgage").create().unwrap();
    let gain = node.parameter("gain").default(1_i64).create().unwrap();
    assert_eq!(gain.get(), 4);
    assert_eq!(texts(&context), [""; 0], "the program may not be done");
    let executor = Executor::single();
    executor.add(&context).unwrap();
    let expected = [
        "remap rule `imgae:=left/image` has matched nothing so far: no topic, service or action of /robot/camera is called \
         imgae; it has depth_imgage, right/image",
        "remap rule `camra:__node:=cam` has matched nothing so far: the program gives no node the name camra; there is \
         /robot/camera",
        "remap rule `talkr:image:=x` has matched nothing so far: no node is called talkr; there is /robot/camera",
        "`-p gian:=..` has set nothing so far: no parameter of /robot/camera is called gian; it has gain",
        "`-p /camra:gain:=..` has set nothing so far: no node is called /camra; there is /robot/camera",
    ];
    let said = said_by(&context, PATIENCE);
    assert!(said.iter().all(|(level, node, _)| *level == Level::Warn && node.is_none()), "{said:?}");
    assert_eq!(said.into_iter().map(|(_, _, text)| text).collect::<Vec<_>>(), expected);
}

#[test]
fn without_an_executor_rules_are_told_later() {
    let context = context(&["--ros-args", "-r", "imgae:=left/image"]);
    let node = context.node_builder("camera").remap("dpeth:=far").create().unwrap();
    let _image = node.publisher::<Number>("depth").create().unwrap();
    let said: Vec<_> = said_by(&context, PATIENCE * 6).into_iter().map(|(_, _, text)| text).collect();
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].starts_with("remap rule `imgae:=left/image`"), "{said:?}");
    assert!(said[1].ends_with("of /camera is called dpeth; it has depth"), "{said:?}");
}

#[test]
fn a_level_for_a_mistyped_logger_is_reported() {
    let levels =
        ["camra:=debug", "camera.lens:=debug", "left:=info", "left.camra:=info", "some_crate:=warn", "debug"];
    let line = levels.iter().flat_map(|level| ["--log-level", level]);
    let line = ["program", "--ros-args"].into_iter().chain(line).map(str::to_owned);
    let arguments = Arguments::parse(line).unwrap();
    let nodes =
        ["/camera", "/left/camera"].map(|name| NodeNames { full_name: name.into(), ..NodeNames::default() });
    let texts: Vec<_> = arguments.unmatched(&nodes).into_iter().map(|one| one.text).collect();
    let [one, of_left] = &texts[..] else { panic!("{texts:?}") };
    assert!(one.starts_with("`--log-level camra:=..` has matched no node so far"), "{one}");
    assert!(one.ends_with("there is camera") && of_left.ends_with("there is left.camera"), "{texts:?}");
}

#[test]
fn what_other_processes_are_given_too_is_no_mistake_unless_it_resembles_something() {
    let line = "program --ros-args -r tf:=/tf -r imgae:=x -r far:=y -p map:=1 -p gian:=2 -p far:=3";
    let mut arguments = Arguments::parse(line.split(' ').map(str::to_owned)).unwrap();
    arguments.are_shared("tf:=/tf\nimgae:=x\n-p map\n-p gian\n-p\n");
    let node = NodeNames {
        full_name: "/camera".into(),
        name: "camera".to_owned(),
        namespace: "/".to_owned(),
        topics: vec!["/image".into()],
        services: Vec::new(),
        parameters: vec!["gain".to_owned()],
    };
    let all = arguments.unmatched(&[node]);
    let likely: Vec<_> = all.iter().map(|one| one.is_likely_wrong).collect();
    assert_eq!(likely, [false, true, true, false, true, true], "{all:?}");
}

#[test]
fn what_a_node_is_given_later_is_told_too() {
    let context = context(&["--ros-args", "-r", "a:=b"]);
    let executor = Executor::single();
    executor.add(&context).unwrap();
    let said = Mutex::new(Said::default());
    let now = Time::steady();
    let at = |seconds: u32| -> Vec<String> {
        let all = lines(context.shared(), &said, now + Duration::from_secs(1) * seconds);
        all.into_iter().map(|line| line.text).collect()
    };
    assert_eq!(at(0), [""; 0]);
    assert_eq!(at(5), ["remap rule `a:=b` has matched nothing so far: there is no node"]);
    let node = context.node_builder("late").remap("imgae:=x").parameter_override("gian", 2).create().unwrap();
    let (_image, _gain) =
        (node.publisher::<Number>("image"), node.parameter("gain").default(1_i64).create().unwrap());
    let _image = _image.create().unwrap();
    assert_eq!(at(7), [""; 0]);
    let expected = [
        "remap rule `imgae:=x` has matched nothing so far: no topic, service or action of /late is called imgae; it has image",
        "a parameter given to this node has set nothing so far: no parameter of /late is called gian; it has gain",
    ];
    assert_eq!(at(12), expected);
    assert_eq!(at(100), [""; 0]);
}

#[test]
fn tools_are_told_of_options_until_they_match_or_their_node_goes() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let line = ["program", "--ros-args", "-r", "imgae:=x", "-p", "gian:=1"];
    let context = Context::builder().domain(0).directory(directory.path()).arguments(line).build().unwrap();
    let node = context.node("camera").unwrap();
    let other = context.node_builder("other").remap("far:=near").create().unwrap();
    let (said, now) = (Mutex::new(Said::default()), Time::steady());
    let domain = sinew_shm::Domain::open(Some(directory.path()), 0).unwrap();
    let told_at = |seconds: u32| {
        lines(context.shared(), &said, now + Duration::from_secs(1) * seconds);
        let snapshot = sinew_shm::inspect::Snapshot::take(&domain).unwrap();
        let all = snapshot.peers().iter().flat_map(|peer| peer.endpoints());
        let reports = all.filter(|(_, endpoint)| Report::of(endpoint) == Some(Report::Unmatched));
        let mut texts: Vec<String> = reports.map(|(_, report)| report.type_name).collect();
        texts.sort_unstable();
        texts.iter().map(|text| text.split_whitespace().nth(1).unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(told_at(0), [""; 0]);
    let rule = |text: &str| text.to_owned();
    assert_eq!(told_at(30), [rule("gian:=..`"), rule("rule"), rule("rule")]);
    let _image = node.publisher::<Number>("imgae").create().unwrap();
    assert_eq!(told_at(32), [rule("gian:=..`"), rule("rule")]);
    let _gain = node.parameter("gian").default(3_i64).create().unwrap();
    assert_eq!(told_at(34), [rule("rule")]);
    drop(other);
    assert_eq!(told_at(36), [""; 0]);
}

#[test]
fn blocks_of_files_are_told_unless_the_file_may_be_for_others() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("robot.yaml");
    let text =
        "/camera: {ros__parameters: {gain: 1, gian: 2, size: 3}}\n/planner: {ros__parameters: {rate: 1}}\n";
    std::fs::write(&path, text).unwrap();
    let file = path.display().to_string();
    let context_of = |arguments: &[&str]| {
        let context = context(&[&["--ros-args", "--params-file", file.as_str()], arguments].concat());
        let node = context.node("camera").unwrap();
        let gain = node.parameter("gain").default(1_i64).create().unwrap();
        (context, node, gain)
    };
    let (context, node, gain) = context_of(&[]);
    let executor = Executor::single();
    executor.add(&context).unwrap();
    let said = said_by(&context, PATIENCE);
    let expected = [
        (
            Level::Warn,
            format!(
                "parameter file {file}, block /camera: no parameter of /camera is called gian; it has gain; one more of the \
                 block is not declared either"
            ),
        ),
        (
            Level::Info,
            format!("parameter file {file}: no node here matches its block /planner; there is /camera"),
        ),
    ];
    let said: Vec<_> = said.into_iter().map(|(level, _, text)| (level, text)).collect();
    assert_eq!(said, expected);
    drop((node, gain));

    let (context, _node, _gain) = context_of(&["-r", "__node:=camrea"]);
    executor.add(&context).unwrap();
    let said = said_by(&context, PATIENCE);
    let warnings: Vec<_> =
        said.iter().filter(|(level, ..)| *level == Level::Warn).map(|(_, _, text)| text).collect();
    assert_eq!(warnings.len(), 1, "{said:?}");
    assert!(warnings[0].contains("no node has the name of its block /camera"), "{said:?}");
}
