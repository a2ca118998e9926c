//! Names and types, hidden names, and the picture of the graph.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use sinew::executor::StopHandle;
use sinew::{Executor, Node};
use sinew_action::Actions as _;
use sinew_component::Container;
use sinew_interfaces::example_interfaces::action::Fibonacci;
use sinew_interfaces::example_interfaces::srv::{AddTwoInts, AddTwoIntsRequest, AddTwoIntsResponse};
use sinew_shm::Counter;
use sinew_tf::{StampedTransform, StaticTransformBroadcaster};

use crate::{Base, talker_and_listener, text, until};

#[test]
fn types_of_a_name_and_names_of_a_type() {
    let base = Base::new();
    let participant = base.join();
    let _entities = talker_and_listener(&participant);
    assert_eq!(base.text(&["topic", "type", "chatter"]), "std_msgs/msg/String\n");
    assert_eq!(base.json(&["topic", "type", "/chatter"]), json!(["std_msgs/msg/String"]));
    assert_eq!(base.text(&["service", "type", "/talker/pause"]), "std_srvs/srv/Trigger\n");
    let said = base.failure(&["service", "type", "/talker/puase"]);
    assert_eq!(said, "sinew: no service is called /talker/puase in domain 0; did you mean /talker/pause?\n");

    assert_eq!(base.text(&["topic", "find", "std_msgs/msg/String"]), "/chatter\n");
    assert_eq!(base.text(&["topic", "find", "std_msgs/String"]), "/chatter\n", "the short name");
    assert_eq!(base.json(&["service", "find", "std_srvs/Trigger"]), json!(["/talker/pause"]));
    assert_eq!(base.text(&["topic", "find", "msg/String"]), "");
    let all = ["topic", "find", "std_msgs/msg/String", "--include-hidden-topics"];
    assert_eq!(base.text(&all), "/chatter\n/demo/_heard\n");
    assert_eq!(base.text(&["topic", "find", "-c", "std_msgs/msg/String"]), "1\n");
    assert_eq!(base.json(&["service", "find", "std_srvs/srv/Trigger"]), json!(["/talker/pause"]));
    assert_eq!(base.json(&["service", "find", "std_srvs/srv/Trigger", "--count-services"]), 1);
    let output = base.sinew(&["topic", "find", "std_msgs/msg/Strin"]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), String::new()));
    let said = "sinew: no topics have the type std_msgs/msg/Strin; did you mean std_msgs/msg/String?\n";
    assert_eq!(text(&output.stderr), said);
}

#[test]
fn hidden_names_are_listed_on_request() {
    let base = Base::new();
    let participant = base.join();
    let _entities = talker_and_listener(&participant);
    assert_eq!(base.text(&["node", "list", "--include-hidden"]), "/_tool\n/demo/listener\n/talker\n");
    assert_eq!(base.text(&["topic", "list", "--include-hidden"]), "/chatter\n/demo/_heard\n");
    assert_eq!(base.text(&["service", "list", "--include-hidden"]), "/talker/pause\n");
    assert_eq!(base.text(&["node", "list", "-c"]), "2\n");
    assert_eq!(base.text(&["topic", "list", "-a", "--count-topics"]), "2\n");
    assert_eq!(base.json(&["service", "list", "--count-services"]), 1);
    assert_eq!(base.text(&["action", "list", "-c"]), "0\n");
}

#[test]
fn a_service() {
    let base = Base::new();
    let participant = base.join();
    let entities = talker_and_listener(&participant);
    entities[2].counters().add(Counter::Messages, 7);
    entities[2].counters().add(Counter::Waiting, 2);
    entities[5].counters().add(Counter::Taken, 5);
    let brief = "Type: std_srvs/srv/Trigger\nClients count: 1\nServices count: 1\n";
    assert_eq!(base.text(&["service", "info", "/talker/pause"]), brief);
    let told = base.text(&["service", "info", "-v", "talker/pause"]);
    let ends: String =
        told.lines().filter(|line| !line.contains("Process: ")).map(|line| format!("{line}\n")).collect();
    let expected = format!(
        "{brief}\nServer of /talker\n  Requests: 7\n  Taken: 0\n  Waiting: 2\n  Not fetched yet: 0\n  Refused: 0\n  Clients: 0\n\
         \nClient of /demo/listener\n  Calls: 0\n  Answered: 5\n  Failed: 0\n  Waiting: 0\n  Servers: 0\n"
    );
    assert_eq!(ends, expected);
    let info = base.json(&["service", "info", "/talker/pause"]);
    assert_eq!(
        (&info["servers"][0]["counters"]["messages"], &info["clients"][0]["node"]),
        (&json!(7), &json!("/demo/listener"))
    );
}

#[test]
fn the_graph_as_a_picture() {
    let base = Base::new();
    let participant = base.join();
    let _entities = talker_and_listener(&participant);
    let graph = base.json(&["graph", "--interval", "0.01"]);
    let names = |what: &str| -> Vec<Value> {
        graph[what].as_array().unwrap().iter().map(|one| one["name"].clone()).collect()
    };
    assert_eq!(names("nodes"), ["/demo/listener", "/talker"]);
    assert_eq!((names("topics"), names("services")), (vec![json!("/chatter")], vec![json!("/talker/pause")]));
    let chatter = &graph["topics"][0];
    assert_eq!((&chatter["from"][0]["node"], &chatter["to"][0]["node"]), (&json!(1), &json!(0)));
    let pause = &graph["services"][0];
    assert_eq!(
        (&pause["from"][0]["node"], &pause["to"][0]["node"]),
        (&json!(0), &json!(1)),
        "a client asks a server"
    );
    assert_eq!(graph["processes"][0]["pid"], std::process::id());

    let dot = base.text(&["graph", "--interval", "0.01"]);
    assert!(dot.starts_with("digraph sinew {") && dot.contains("n1 -> c0;\n  c0 -> n0;\n"), "{dot}");
    let hidden = base.text(&["graph", "--interval", "0.01", "--include-hidden"]);
    assert!(hidden.contains("/demo/_heard") && !dot.contains("_heard"), "{hidden}");
    let file = base.0.path().join("graph.svg");
    assert_eq!(base.text(&["graph", "--interval", "0.01", "-o", file.to_str().unwrap()]), "");
    let svg = std::fs::read_to_string(&file).unwrap();
    assert!(svg.starts_with("<svg ") && svg.contains(">/chatter</text>"), "{svg}");
    let picture = base.0.path().join("graph.png");
    let output = base.sinew(&["graph", "--interval", "0.01", "-o", picture.to_str().unwrap()]);
    assert_eq!((output.status.code(), picture.exists()), (Some(2), false));
    assert!(text(&output.stderr).contains("only for .dot, .gv, .svg, .json, .txt"));
    let said = base.failure(&["graph", "--interval", "0.01", "-o", "/nowhere/graph.svg"]);
    assert!(said.starts_with("sinew: can't write /nowhere/graph.svg: "), "{said}");
}

#[test]
fn shells_complete() {
    for (shell, expected) in [("bash", " sinew\n"), ("zsh", "#compdef sinew"), ("fish", "--command sinew")] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_sinew"));
        let output = command.args(["completions", shell]).output().unwrap();
        let script = text(&output.stdout);
        assert!(output.status.success() && script.contains(expected), "{shell}: {script}");
        assert!(script.contains("SINEW_COMPLETE"), "{shell}");
    }
}

/// Returns bash's completion of the line at a press of Tab, without options.
fn completed(base: &Base, line: &str) -> Vec<String> {
    let program = Path::new(env!("CARGO_BIN_EXE_sinew")).parent().unwrap();
    let tab = r#"PATH="$1:$PATH"; source <(sinew completions bash); read -ra COMP_WORDS <<< "$2"
        [[ $2 == *" " ]] && COMP_WORDS+=(""); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMP_TYPE=9
        _clap_complete_sinew sinew "${COMP_WORDS[COMP_CWORD]}"; printf '%s\n' "${COMPREPLY[@]}""#;
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", tab, "bash"]).arg(program).arg(line).env("SINEW_DIR", base.0.path());
    for variable in ["SINEW_DOMAIN_ID", "ROS_DOMAIN_ID", "AMENT_PREFIX_PATH"] {
        bash.env_remove(variable);
    }
    let output = bash.output().unwrap();
    assert_eq!(text(&output.stderr), "", "{line}");
    let said = text(&output.stdout);
    said.lines().filter(|line| !line.is_empty() && !line.starts_with("--")).map(str::to_owned).collect()
}

/// Nodes have half a second to answer: if a busy machine holds one up, nothing comes, and the user
/// presses Tab again.
#[track_caller]
fn assert_completes(base: &Base, line: &str, expected: &[&str]) {
    let words = until(|| completed(base, line), |words| expected.is_empty() || !words.is_empty());
    assert_eq!(words, expected, "{line}");
}

#[test]
fn bash_completes_by_what_runs() {
    let base = Base::new();
    let participant = base.join();
    let _entities = talker_and_listener(&participant);
    for (line, expected) in [
        ("sinew topic ec", vec!["echo"]),
        ("sinew topic echo /", vec!["/chatter"]),
        ("sinew topic echo ch", vec!["chatter"]),
        ("sinew topic echo /demo/_", vec!["/demo/_heard"]),
        ("sinew topic echo /nothing", vec![]),
        ("sinew node info ", vec!["/demo/listener", "/talker"]),
        ("sinew param get /t", vec!["/talker"]),
        ("sinew service call /", vec!["/talker/pause"]),
        ("sinew topic find std_msgs/msg/Int1", vec!["std_msgs/msg/Int16", "std_msgs/msg/Int16MultiArray"]),
        (
            "sinew service find std_srvs/srv/",
            vec!["std_srvs/srv/Empty", "std_srvs/srv/SetBool", "std_srvs/srv/Trigger"],
        ),
        ("sinew interface package std_s", vec!["std_srvs"]),
        ("sinew node info --domain 77 /", vec![]),
    ] {
        assert_completes(&base, line, &expected);
    }
}

#[test]
fn bash_completes_parameters_and_arguments_of_launch_files() {
    let base = Base::new();
    let context = sinew::Context::builder().directory(base.0.path()).domain(0).build().unwrap();
    let node = context.node("arm").unwrap();
    let _gain = node.parameter("gain").default(1.0).create().unwrap();
    assert_completes(&base, "sinew param set /arm g", &["gain"]);
    assert_completes(&base, "sinew param describe --timeout 2 arm ", &["gain", "use_sim_time"]);
    assert_completes(&base, "sinew param get /other g", &[]);
    let file = base.0.path().join("robot.toml");
    std::fs::write(&file, "[arguments]\nrobot = \"r1\"\nrate = 30\n").unwrap();
    assert_completes(&base, &format!("sinew launch {} ra", file.display()), &["rate:="]);
}

#[test]
fn bash_completes_what_containers_have_and_can_make() {
    let base = Base::new();
    let context = sinew::Context::builder().directory(base.0.path()).domain(0).build().unwrap();
    let plain = |node: Node| -> sinew::Result<Node> { Ok(node) };
    let builder = Container::builder(&context, "box").component("demo::Plain", "plain", plain);
    let _container = builder.component("demo::Other", "other", plain).build().unwrap();
    let executor = Executor::single();
    executor.add(&context).unwrap();
    let stop = executor.stop_handle();
    std::thread::scope(|scope| {
        scope.spawn(|| executor.spin().unwrap());
        let stopping = Stopping(stop);
        assert_completes(&base, "sinew component load /box demo ", &["demo::Other", "demo::Plain"]);
        for _ in 0..2 {
            base.text(&["component", "load", "box", "demo", "demo::Plain"]);
        }
        assert_completes(&base, "sinew component unload box ", &["1", "2"]);
        assert_completes(&base, "sinew component unload /box 2 ", &["1"]);
        drop(stopping);
    });
}

/// Ends the spinning thread even if the test fails.
struct Stopping(StopHandle);

impl Drop for Stopping {
    fn drop(&mut self) {
        self.0.stop();
    }
}

#[test]
fn bash_completes_frames_and_the_types_of_what_is_there() {
    let base = Base::new();
    let context = sinew::Context::builder().directory(base.0.path()).domain(0).build().unwrap();
    let node = context.node("robot").unwrap();
    let fixed = StaticTransformBroadcaster::new(&node).unwrap();
    fixed.send(["lidar", "camera"].map(|frame| StampedTransform::default().to_msg("base", frame))).unwrap();
    assert_completes(&base, "sinew tf echo ", &["base", "camera", "lidar"]);
    assert_completes(&base, "sinew tf echo base l", &["lidar"]);

    let _server = node.action_server::<Fibonacci>("count").callback(drop).unwrap();
    let _adder = node
        .server::<AddTwoInts>("add")
        .callback(|_: &AddTwoIntsRequest| AddTwoIntsResponse::default())
        .unwrap();
    assert_completes(&base, "sinew action send_goal /count ", &["example_interfaces/action/Fibonacci"]);
    assert_completes(&base, "sinew service call add ", &["example_interfaces/srv/AddTwoInts"]);
    assert_completes(&base, "sinew topic echo tf_static ", &["tf2_msgs/msg/TFMessage"]);
    assert_completes(&base, "sinew action send_goal /other tf2_", &["tf2_msgs/action/LookupTransform"]);
}

#[test]
fn other_shells_ask_in_their_own_ways() {
    let base = Base::new();
    let participant = base.join();
    let _entities = talker_and_listener(&participant);
    for shell in ["zsh", "fish"] {
        let mut command = base.command(&[]);
        command.args(["--", "sinew", "topic", "echo", "/c"]);
        command.env("SINEW_DIR", base.0.path()).env("SINEW_COMPLETE", shell).env("_CLAP_COMPLETE_INDEX", "3");
        assert_eq!(text(&command.output().unwrap().stdout).trim(), "/chatter", "{shell}");
    }
}
