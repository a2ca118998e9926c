//! What has which name and type, hidden names, and the picture of it all.

use serde_json::{Value, json};
use sinew_shm::Counter;

use crate::{Base, talker_and_listener, text};

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

    // No other participant sees requests: that is said, however it is asked for.
    for arguments in
        [&["service", "echo", "/talker/pause"][..], &["service", "echo", "--csv", "/talker/pause"]]
    {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_sinew"));
        let output = command.args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let said = text(&output.stderr);
        assert!(
            said.contains("no other program can see them")
                && said.contains("`sinew service info -v /talker/pause`"),
            "{said}"
        );
    }
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
    let said = base.failure(&["graph", "--interval", "0.01", "-o", "/nowhere/graph.svg"]);
    assert!(said.starts_with("sinew: can't write /nowhere/graph.svg: "), "{said}");
}

#[test]
fn shells_complete() {
    for (shell, expected) in
        [("bash", "complete -F _sinew"), ("zsh", "#compdef sinew"), ("fish", "complete -c sinew")]
    {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_sinew"));
        let output = command.args(["completions", shell]).output().unwrap();
        let script = text(&output.stdout);
        assert!(output.status.success() && script.contains(expected), "{shell}: {script}");
        assert!(script.contains("doctor") && script.contains("qos-depth"), "{shell}");
    }
}
