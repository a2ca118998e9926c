//! Command lines, their meaning, and their errors.

use proptest::prelude::*;

use super::super::name::{NameError, NameKind, expand};
use super::*;

/// Parses a command line with arguments that contain no spaces; `camera` is the program.
fn parse(line: &str) -> Result<Arguments, ArgumentError> {
    Arguments::parse(std::iter::once("camera").chain(line.split_whitespace()))
}

/// The name of `topic` for `node` in `namespace` under the rules of `line`.
fn remapped(line: &str, topic: &str, node: &str, namespace: &str) -> String {
    let arguments = parse(&format!("--ros-args {line}")).expect(line);
    arguments
        .remap_rules()
        .remap(NameKind::Topic, topic, node, namespace)
        .unwrap()
        .unwrap_or_else(|| topic.to_owned())
}

#[test]
fn what_is_not_ours_is_the_program_s() {
    for (line, rest) in [
        ("", ""),
        ("-r a:=b -- --help", "-r a:=b -- --help"),
        ("--ros-args", ""),
        ("--ros-args --", ""),
        ("--ros-args -- -- x", "-- x"),
        ("x --ros-args -r a:=b -- y z", "x y z"),
        ("x --ros-args -r a:=b -- y --ros-args --log-level info -- z", "x y z"),
        ("x -- --ros-args -r a:=b", "x --"),
        ("--ros-args --ros-args -r a:=b --ros-args -- x", "x"),
        ("--ros-args --disable-rosout-logs --enable-stdout-logs -- x", "x"),
    ] {
        let arguments = parse(line).expect(line);
        assert_eq!(arguments.rest()[0], "camera");
        assert_eq!(arguments.rest()[1..].join(" "), rest, "{line}");
    }
    assert!(Arguments::parse(Vec::<String>::new()).unwrap().rest().is_empty());
    // The first item is the program, whatever it is called.
    assert_eq!(Arguments::parse([BEGIN, "-x"]).unwrap().rest(), [BEGIN, "-x"]);
}

#[test]
fn a_topic_is_renamed_by_the_first_rule_that_matches() {
    for (rules, topic, node, namespace, expected) in [
        ("-r frames:=left/frames", "/frames", "camera", "/", "/left/frames"),
        ("--remap frames:=left/frames", "/frames", "camera", "/", "/left/frames"),
        ("-r frames:=left/frames", "/robot/frames", "camera", "/robot", "/robot/left/frames"),
        ("-r frames:=left/frames", "/frames", "camera", "/robot", "/frames"),
        ("-r /frames:=x", "/frames", "camera", "/robot", "/robot/x"),
        ("-r frames:=/x", "/robot/frames", "camera", "/robot", "/x"),
        ("-r ~/frames:=x", "/robot/camera/frames", "camera", "/robot", "/robot/x"),
        ("-r frames:=~/frames", "/frames", "camera", "/", "/camera/frames"),
        ("-r {node}/frames:={ns}/{node}", "/camera/frames", "camera", "/", "/camera"),
        ("-r a__b:=a", "/a__b", "camera", "/", "/a"),
        ("-r frames:=x -r frames:=y", "/frames", "camera", "/", "/x"),
        ("-r other:=x -r frames:=y", "/frames", "camera", "/", "/y"),
        // A name is changed once: the result isn't looked up again.
        ("-r frames:=x -r x:=y", "/frames", "camera", "/", "/x"),
        ("-r x:=y -- --ros-args -r frames:=x", "/frames", "camera", "/", "/x"),
        ("-r camera:frames:=x", "/frames", "camera", "/", "/x"),
        ("-r camera:frames:=x", "/frames", "viewer", "/", "/frames"),
        ("-r /left/camera:frames:=x", "/left/frames", "camera", "/left", "/left/x"),
        ("-r /left/camera:frames:=x", "/right/frames", "camera", "/right", "/right/frames"),
        ("-r /camera:frames:=x", "/frames", "camera", "/", "/x"),
        ("-r camera:frames:=x -r frames:=y", "/frames", "viewer", "/", "/y"),
        ("-r rostopic://frames:=x", "/frames", "camera", "/", "/x"),
        ("-r rostopic:///frames:=x", "/frames", "camera", "/robot", "/robot/x"),
        ("-r camera:rostopic://frames:=x", "/frames", "camera", "/", "/x"),
        ("-r rosservice://frames:=x", "/frames", "camera", "/", "/frames"),
        ("-r rosservice://frames:=x -r frames:=y", "/frames", "camera", "/", "/y"),
        ("-r rostopic://__node:=x", "/__node", "camera", "/", "/x"),
        ("-r rostopic:frames:=x", "/frames", "rostopic", "/", "/x"),
        ("-r __node:=frames -r __ns:=/x", "/frames", "camera", "/", "/frames"),
    ] {
        assert_eq!(remapped(rules, topic, node, namespace), expected, "{rules} for {topic}");
    }
}

#[test]
fn services_have_rules_of_their_own() {
    for (rules, expected) in [
        ("", None),
        ("-r add:=x", Some("/x")),
        ("-r rosservice://add:=x", Some("/x")),
        ("-r rostopic://add:=x", None),
        ("-r rostopic://add:=x -r add:=y", Some("/y")),
        ("-r camera:rosservice:///add:=~/y", Some("/camera/y")),
    ] {
        let arguments = parse(&format!("--ros-args {rules}")).expect(rules);
        let renamed = arguments.remap_rules().remap(NameKind::Service, "/add", "camera", "/").unwrap();
        assert_eq!(renamed.as_deref(), expected, "{rules}");
    }
}

#[test]
fn a_node_is_renamed_and_moved() {
    for (rules, node, namespace) in [
        ("", "camera", "/robot"),
        ("-r __node:=left", "left", "/robot"),
        ("-r __name:=left", "left", "/robot"),
        ("-r __ns:=/x/y", "camera", "/x/y"),
        ("-r __ns:=/", "camera", "/"),
        ("-r __ns:=/x -r __node:=left -r __ns:=/y -r __node:=right", "left", "/x"),
        ("-r camera:__node:=left -r camera:__ns:=/x", "left", "/robot"),
        ("-r camera:__node:=left -r left:__ns:=/x", "left", "/x"),
        ("-r viewer:__node:=left -r viewer:__ns:=/x", "camera", "/robot"),
        ("-r /robot/camera:__node:=left -r /robot/left:__ns:=/x", "left", "/x"),
        ("-r /camera:__node:=left -r /camera:__ns:=/x", "camera", "/robot"),
        ("-r camera:=left", "camera", "/robot"),
    ] {
        let arguments = parse(&format!("--ros-args {rules}")).expect(rules);
        let rules_of_line = arguments.remap_rules();
        let name = rules_of_line.node_name("camera", "/robot");
        assert_eq!((name, rules_of_line.namespace(name, "/robot")), (node, namespace), "{rules}");
    }
}

#[test]
fn a_rule_that_leads_nowhere_is_an_error_not_a_miss() {
    let arguments = parse("--ros-args -r frames:=/all/{ns}").unwrap();
    let error =
        arguments.remap_rules().remap(NameKind::Topic, "/robot/frames", "camera", "/robot").unwrap_err();
    assert!(matches!(error, NameError::Expanded { .. }), "{error}");

    // On the left it only means that the node has no such topic.
    let arguments = parse("--ros-args -r /all/{ns}:=x").unwrap();
    assert_eq!(arguments.remap_rules().remap(NameKind::Topic, "/robot/frames", "camera", "/robot"), Ok(None));
}

#[test]
fn a_logger_has_the_level_of_the_closest_option() {
    let line =
        "--ros-args --log-level WARN --log-level a:=info --log-level a.b:=debug --log-level a.b:=fatal";
    let arguments = parse(line).unwrap();
    for (logger, level) in [
        ("", LogLevel::Warn),
        ("c", LogLevel::Warn),
        ("a", LogLevel::Info),
        ("a.c.d", LogLevel::Info),
        ("ab", LogLevel::Warn),
        ("a.b", LogLevel::Fatal),
        ("a.b.c", LogLevel::Fatal),
    ] {
        assert_eq!(arguments.log_level(logger), Some(level), "{logger}");
    }
    assert_eq!(parse("--ros-args --log-level a:=error").unwrap().log_level("b"), None);
}

#[test]
fn an_error_says_where_and_what_instead() {
    for (line, message) in [
        ("-r", "option `-r` (argument 2) needs a value after it: a rule such as"),
        ("-r -- a:=b", "option `-r` (argument 2) needs"),
        ("--remap --ros-args", "option `--remap` (argument 2) needs"),
        ("--log-level", "`--log-level` (argument 2) needs a value after it: a level such as"),
        ("--log-level loud", "log level `loud` (argument 3) is unknown; it is debug, info, warn, error or"),
        ("--log-level :=debug", "log level `:=debug` (argument 3) is unknown"),
        ("--log-level camera:=", "log level `camera:=` (argument 3)"),
        ("-p", "option `-p` (argument 2) needs a value after it: a name and a value such as `rate:=30`"),
        ("-p rate", "parameter `rate` (argument 3) has no `:=`; it is written like `rate:=30`"),
        ("-r a:=b --params-file", "option `--params-file` (argument 4) needs a value after it: the path"),
        ("-e /x", "option `-e` (argument 2) is not supported yet; leave it out"),
        ("--rate 30", "option `--rate` (argument 2) is unknown; after `--ros-args` there can be `-r`"),
        ("--remap=a:=b", "option `--remap=a:=b` (argument 2) is unknown"),
        ("file.yaml", "`file.yaml` (argument 2) is unknown"),
        ("a:=b", "`a:=b` (argument 2) is a rule without an option; write `-r` before it"),
        ("-r a", "argument 3: remap rule `a` has no `:=`; it is written like `image:=left/image`"),
        ("-r a:b", "argument 3: remap rule `a:b` has no `:=`"),
        ("-r a:=", "argument 3: remap rule `a:=` contains an invalid name: a topic name is empty"),
        ("-r :=b", "contains an invalid name: a topic name is empty"),
        ("-r :a:=b", "contains an invalid name: a node name is empty"),
        ("-r a:=/b//c", "invalid name: topic name `/b//c` is invalid at byte 3"),
        ("-r a:=b:=c", "topic name `b:=c` is invalid at byte 1: ':' is not allowed"),
        ("-r /*:=b", "topic name `/*` is invalid at byte 1: '*' is not allowed"),
        ("-r left/camera:a:=b", "node name `left/camera` is invalid at byte 4: '/' is not allowed"),
        ("-r /:a:=b", "contains an invalid name: a node name is empty"),
        ("-r /left/:a:=b", "contains an invalid name: namespace `/left/` is invalid at byte 5"),
        ("-r //camera:a:=b", "contains an invalid name: namespace"),
        ("-r __node:=left/camera", "node name `left/camera` is invalid at byte 4"),
        ("-r __ns:=robot", "namespace `robot` is invalid at byte 0: it starts with a slash"),
        ("-r __log:=x", "argument 3: remap rule `__log:=x` changes something unknown"),
    ] {
        let error = parse(&format!("--ros-args {line}")).expect_err(line);
        assert!(error.to_string().contains(message), "{line}: {error}");
    }
}

/// Returns the values of a command line for a node's parameters.
fn parameters(line: &str, node: &str) -> String {
    let arguments = parse(&format!("--ros-args {line}")).expect(line);
    let said = arguments.parameters().of(node);
    said.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

#[test]
fn parameters_come_from_files_and_options_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let one = file("one.yaml", "camera: {ros__parameters: {rate: 1, gain: 1.0}}");
    let two = file("two.yaml", "/**: {ros__parameters: {rate: 2}}");
    for (line, expected) in [
        ("-p rate:=30 --param camera:gain:=-1.5 -p viewer:zoom:=2", "gain=-1.5 rate=30"),
        ("-p rate:=1 -p rate:=2", "rate=2"),
        ("-p /camera:rate:=1 -p /*:a.b:=[1,2] -p **:c:=on -p /x/*:d:=1", "a.b=[1, 2] c=true rate=1"),
        ("-p name:='1' -p text:=a:b", "name=\"1\" text=\"a:b\""),
        (&format!("--params-file {one}"), "gain=1.0 rate=1"),
        (&format!("--params-file {one} --params-file {two}"), "gain=1.0 rate=2"),
        (&format!("--params-file {two} --params-file {one}"), "gain=1.0 rate=1"),
        (&format!("-p rate:=3 --params-file {one}"), "gain=1.0 rate=1"),
        (&format!("--params-file {one} -p rate:=3"), "gain=1.0 rate=3"),
        (&format!("--params-file {one} -- x --ros-args -p rate:=3"), "gain=1.0 rate=3"),
    ] {
        assert_eq!(parameters(line, "/camera"), expected, "{line}");
    }
    let broken = file("broken.yaml", "camera:\n  ros__parameters:\n    x: [1, a]\n");
    for (line, message) in [
        ("-p :=1".to_owned(), "parameter `:=1` (argument 3) can't be read: there is no name before `:=`"),
        (
            "-p x:=".to_owned(),
            "there is no value; a text without characters is \"\" (at character 1 of the value)",
        ),
        ("-p x:=[1,a]".to_owned(), "comes one of string (at character 4 of the value)"),
        ("-p a*:x:=1".to_owned(), "`a*` has `*` beside other characters"),
        (
            format!("--params-file {broken}"),
            "(argument 3) can't be read: line 3, column 12: the elements of a list are of one type",
        ),
        (
            "--params-file /nowhere.yaml".to_owned(),
            "parameter file `/nowhere.yaml` (argument 3) can't be read: No such",
        ),
    ] {
        let error = parse(&format!("--ros-args {line}")).unwrap_err();
        assert!(error.to_string().contains(message), "{line}: {error}");
    }
}

#[test]
fn simulated_time_is_said_of_any_node() {
    for (line, wanted) in [
        ("", false),
        ("-p rate:=30", false),
        ("-p use_sim_time:=true", true),
        ("-p use_sim_time:=True -p camera:use_sim_time:=off", false),
        ("--param camera:use_sim_time:=yes -p gain:=1", true),
        ("-p use_sim_time:=1", false),
    ] {
        let mut arguments = parse(&format!("--ros-args {line}")).unwrap();
        assert_eq!(arguments.is_parameter_true("use_sim_time"), wanted, "{line}");
        arguments.forget_parameter("use_sim_time");
        assert!(!arguments.is_parameter_true("use_sim_time"));
    }
}

#[test]
fn help_is_for_nodes_only_behind_ros_args() {
    for (line, wanted, rest) in [
        ("--ros-args --help", true, 1),
        ("--ros-args -r a:=b -h", true, 1),
        ("--help", false, 2),
        ("--ros-args -r a:=b -- --help", false, 2),
    ] {
        let arguments = parse(line).unwrap();
        assert_eq!((arguments.wants_help(), arguments.rest().len()), (wanted, rest), "{line}");
    }
    let understood = ["--remap", "__node", "__ns", "--log-level", "--param ", "--params-file", "--help"];
    assert!(understood.iter().all(|option| Arguments::HELP.contains(option)));
}

/// Arguments that are often valid for nodes, and almost valid otherwise.
fn argument() -> impl Strategy<Value = String> {
    let name = "(([ab]|__node|__ns|rostopic|rosservice):(//)?)?[~/]{0,2}[ab_{}/]{0,3}";
    prop_oneof![
        2 => Just(BEGIN.to_owned()),
        1 => Just(END.to_owned()),
        3 => prop::sample::select(vec!["-r", "--remap", "--log-level", "-p"]).prop_map(str::to_owned),
        1 => prop::sample::select(vec!["--disable-rosout-logs", "--enable-stdout-logs", "--log-file-name"]).prop_map(str::to_owned),
        1 => prop::sample::select(vec!["debug", "a.b:=INFO", "__ns:=/a", "a:__node:=b"]).prop_map(str::to_owned),
        3 => (name, name).prop_map(|(from, to)| format!("{from}:={to}")),
        1 => any::<String>(),
    ]
}

#[test]
fn a_parameter_file_that_never_ends_is_refused() {
    let line = ["camera", BEGIN, "--params-file", "/dev/zero"].map(str::to_owned);
    let error = Arguments::parse(line).unwrap_err().to_string();
    assert!(error.contains("/dev/zero") && error.contains("it has more than 16 MiB"), "{error}");
}

proptest! {
    #[test]
    fn no_command_line_makes_it_panic(
        line in prop::collection::vec(argument(), 0..8),
        [topic, node, namespace] in any::<[String; 3]>(),
    ) {
        if let Ok(arguments) = Arguments::parse(&line) {
            arguments.log_level(&topic);
            let rules = arguments.remap_rules();
            rules.namespace(rules.node_name(&node, &namespace), &namespace);
            let _ = rules.remap(NameKind::Topic, &topic, &node, &namespace);
        }
    }

    /// The oracle takes the rules, all well-formed, one by one.
    #[test]
    fn the_first_rule_that_names_the_topic_decides(
        rules in prop::collection::vec(("~?/[ab]|[ab]", "~?/[ab]|[ab]"), 0..6),
        topic in "[ab]|/[ab]|~/[ab]",
        namespace in "/|/[ab]",
    ) {
        let fqn = |name: &str| expand(NameKind::Topic, name, "a", &namespace).unwrap();
        let topic = fqn(&topic);
        let expected = rules.iter().find(|(from, _)| fqn(from) == topic).map(|(_, to)| fqn(to));

        let options = rules.iter().flat_map(|(from, to)| ["-r".to_owned(), format!("{from}:={to}")]);
        let line: Vec<String> = ["a".to_owned(), BEGIN.to_owned()].into_iter().chain(options).collect();
        let arguments = Arguments::parse(line).unwrap();
        prop_assert_eq!(arguments.remap_rules().remap(NameKind::Topic, &topic, "a", &namespace), Ok(expected));
    }

    /// Leaving out everything between `--ros-args` and `--` leaves what the program sees.
    #[test]
    fn the_program_sees_exactly_the_rest(sections in prop::collection::vec(("[a-z-]{3,5}", "[ab]"), 0..4)) {
        let mut line = vec!["camera".to_owned()];
        let mut rest = line.clone();
        for (own, topic) in sections {
            rest.push(own.clone());
            line.extend([own, BEGIN.to_owned(), "-r".to_owned(), format!("{topic}:=x"), END.to_owned()]);
        }
        let arguments = Arguments::parse(line).unwrap();
        prop_assert_eq!(arguments.rest(), rest);
    }
}
