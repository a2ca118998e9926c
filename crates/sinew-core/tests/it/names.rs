//! Names: namespaces, private names, remapping from a command line, domains, and what is no name.

use crate::support::{Number, numbers_in};
use sinew::error::{ArgumentError, ContextError, CreateError, NameError};
use sinew::prelude::*;
use std::process::Command;

/// A context with these rules behind `--ros-args`.
fn remapped<const N: usize>(rules: [&str; N]) -> sinew::Result<Context> {
    let rules = rules.iter().flat_map(|rule| ["-r", *rule]);
    let arguments = ["program", "--ros-args"].into_iter().chain(rules);
    Ok(Context::builder().shared_memory(false).domain(0).arguments(arguments).build()?)
}

/// The full name of what a node calls so; a publisher and a subscription agree on it.
#[track_caller]
fn topic(node: &Node, name: &str) -> String {
    let publisher = node.publisher::<Number>(name).create().expect("a valid name");
    let subscription = node.subscription::<Number>(name).create().expect("a valid name");
    assert_eq!(publisher.topic(), subscription.topic());
    assert_eq!(publisher.subscription_count(), 1);
    publisher.topic().to_owned()
}

#[test]
fn a_topic_is_absolute_relative_to_the_namespace_or_private_to_the_node() -> sinew::Result<()> {
    let context = remapped([])?;
    let camera = context.node_in("/robot/left", "camera")?;
    assert_eq!(
        (camera.name(), camera.namespace(), camera.full_name()),
        ("camera", "/robot/left", "/robot/left/camera")
    );
    for (name, full) in [
        ("/image", "/image"),
        ("image", "/robot/left/image"),
        ("raw/image", "/robot/left/raw/image"),
        ("~/image", "/robot/left/camera/image"),
        ("~", "/robot/left/camera"),
        ("{node}/image", "/robot/left/camera/image"),
        ("{ns}/image", "/robot/left/image"),
        ("/{node}_image", "/camera_image"),
    ] {
        assert_eq!(topic(&camera, name), full);
    }
    let root = context.node("camera")?;
    assert_eq!((root.namespace(), root.full_name()), ("/", "/camera"));
    assert_eq!([topic(&root, "image"), topic(&root, "~/image")], ["/image", "/camera/image"]);
    Ok(())
}

#[test]
fn nodes_reach_each_other_by_full_names_whatever_they_call_a_topic() -> sinew::Result<()> {
    let context = remapped([])?;
    let (camera, viewer) = (context.node_in("/robot", "camera")?, context.node("viewer")?);
    let subscriptions = [
        viewer.subscription::<Number>("robot/image").create()?,
        viewer.subscription::<Number>("/robot/image").create()?,
        camera.subscription::<Number>("image").create()?,
        viewer.subscription::<Number>("image").create()?,
    ];
    camera.publisher("image").create()?.publish(Number(1))?;
    assert_eq!(subscriptions.each_ref().map(|reader| numbers_in(reader).len()), [1, 1, 1, 0]);
    Ok(())
}

#[test]
fn two_nodes_may_have_the_same_name() -> sinew::Result<()> {
    let context = remapped([])?;
    let (one, other) = (context.node("twin")?, context.node("twin")?);
    let reader = other.subscription::<Number>("numbers").ignore_own_publications().create()?;
    one.publisher("numbers").create()?.publish(Number(1))?;
    other.publisher("numbers").create()?.publish(Number(2))?;
    assert_eq!(numbers_in(&reader), [1], "and are two nodes all the same");
    Ok(())
}

#[test]
fn a_topic_is_remapped_for_publishers_and_subscriptions() -> sinew::Result<()> {
    let context = remapped(["image:=left/image", "/absolute:=/elsewhere", "~/private:=public"])?;
    let camera = context.node("camera")?;
    assert_eq!(topic(&camera, "image"), "/left/image");
    assert_eq!(topic(&camera, "/image"), "/left/image");
    assert_eq!(topic(&camera, "absolute"), "/elsewhere");
    assert_eq!(topic(&camera, "~/private"), "/public");
    assert_eq!(topic(&camera, "left/image"), "/left/image");
    assert_eq!(topic(&camera, "other"), "/other");
    // `image` in a rule is what a node in a namespace calls so.
    let robot = context.node_in("/robot", "camera")?;
    assert_eq!(topic(&robot, "image"), "/robot/left/image");
    assert_eq!(topic(&robot, "/image"), "/image");
    let reader = robot.subscription::<Number>("/left/image").create()?;
    camera.publisher("image").create()?.publish(Number(1))?;
    assert_eq!(numbers_in(&reader), [1]);
    Ok(())
}

#[test]
fn nodes_are_renamed_and_moved_one_or_all() -> sinew::Result<()> {
    let context = remapped(["camera:__node:=left_camera", "__ns:=/robot", "left_camera:image:=pixels"])?;
    let (camera, viewer) = (context.node("camera")?, context.node_in("/office", "viewer")?);
    assert_eq!(camera.full_name(), "/robot/left_camera");
    assert_eq!(viewer.full_name(), "/robot/viewer");
    assert_eq!(topic(&camera, "image"), "/robot/pixels", "rules are for the name that a node has now");
    assert_eq!(topic(&camera, "~/image"), "/robot/left_camera/image");
    assert_eq!(topic(&viewer, "image"), "/robot/image");
    Ok(())
}

#[test]
fn the_first_rule_that_matches_is_applied_and_no_other() -> sinew::Result<()> {
    let context = remapped(["rosservice://a:=service", "a:=b", "a:=c", "b:=d"])?;
    let node = context.node("node")?;
    assert_eq!(topic(&node, "a"), "/b");
    assert_eq!(topic(&node, "b"), "/d");
    Ok(())
}

#[test]
fn what_is_not_for_the_nodes_is_the_programs() -> sinew::Result<()> {
    let line = ["program", "--rate", "30", "--ros-args", "-r", "a:=b", "--", "file.yaml", "c:=d"];
    let context = Context::builder().shared_memory(false).domain(0).arguments(line).build()?;
    assert_eq!(context.arguments().rest(), ["program", "--rate", "30", "file.yaml", "c:=d"]);
    assert_eq!(topic(&context.node("node")?, "c"), "/c");
    Ok(())
}

#[test]
fn a_command_line_that_cannot_be_honoured_is_an_error_that_shows_the_argument() {
    for words in [&["-r", "image"][..], &["--frobnicate"], &["-r", "not a name:=image"], &["-p", "rate"]] {
        let line = ["program", "--ros-args"].iter().chain(words).copied();
        let error = Context::builder().shared_memory(false).domain(0).arguments(line).build().unwrap_err();
        assert!(matches!(error, ContextError::Arguments(_)), "{error:?}");
        let sentence = error.to_string();
        assert!(words.iter().any(|word| sentence.contains(word)), "{words:?}: {sentence}");
    }
    let error = remapped(["a:="]).unwrap_err();
    let sinew::Error::Context(ContextError::Arguments(ArgumentError::Remap { position, .. })) = error else {
        panic!("{error:?}")
    };
    assert_eq!(position, 3);
}

#[test]
fn what_is_no_name_is_an_error_that_shows_where() -> sinew::Result<()> {
    let context = remapped([])?;
    let node = context.node("node")?;
    let name = |error: CreateError| match error {
        CreateError::Name(error) => error,
        other => panic!("{other:?}"),
    };
    for bad in ["", "two words", "a/b", "1st", "tür", "~"] {
        let error = name(context.node(bad).unwrap_err());
        assert!(error.to_string().contains("node name"), "{bad:?}: {error}");
    }
    for bad in ["relative", "/end/", "//", "/1st", ""] {
        let error = name(context.node_in(bad, "node").unwrap_err());
        assert!(error.to_string().contains("namespace"), "{bad:?}: {error}");
    }
    for bad in ["", "two words", "a//b", "/", "a/", "~image", "a/~", "{who}", "{node", "9/lives"] {
        let publisher = name(node.publisher::<Number>(bad).create().unwrap_err());
        let subscription = name(node.subscription::<Number>(bad).create().unwrap_err());
        assert_eq!(publisher, subscription);
        assert!(publisher.to_string().contains("topic name"), "{bad:?}: {publisher}");
    }
    let error = name(node.publisher::<Number>("left//image").create().unwrap_err());
    assert!(matches!(error, NameError::EmptyToken { position: 5, .. }), "{error:?}");
    Ok(())
}

#[test]
fn a_name_may_be_so_long_and_no_longer() -> sinew::Result<()> {
    let context = remapped([])?;
    assert!(context.node(&"n".repeat(255)).is_ok());
    assert!(context.node(&"n".repeat(256)).is_err());
    let node = context.node_in("/ns", "node")?;
    assert!(node.publisher::<Number>(&"t".repeat(243)).create().is_ok());
    let error = node.publisher::<Number>(&"t".repeat(244)).create().unwrap_err();
    assert!(matches!(&error, CreateError::Name(NameError::Expanded { .. })), "{error:?}");
    assert!(error.to_string().contains("247"), "{error}");
    Ok(())
}

// ---- domains ----

#[test]
fn a_domain_is_what_the_builder_says() -> sinew::Result<()> {
    for domain in [0, 42, u32::MAX] {
        assert_eq!(Context::builder().shared_memory(false).domain(domain).build()?.domain(), domain);
    }
    Ok(())
}

/// The variable by which a child process knows the domain that it should find.
const EXPECTED: &str = "SINEW_TEST_DOMAIN";

#[test]
fn a_domain_comes_from_the_environment_if_the_builder_does_not_say() {
    for (sinew, ros, expected) in [
        ("7", "3", "7"),
        ("", "3", "3"),
        ("", "", "0"),
        (" 8 ", "", "8"),
        ("seven", "3", "SINEW_DOMAIN_ID is `seven`"),
        ("", "-1", "ROS_DOMAIN_ID is `-1`"),
    ] {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "names::finds_a_domain_in_a_child_process"])
            .env("SINEW_DOMAIN_ID", sinew)
            .env("ROS_DOMAIN_ID", ros)
            .env(EXPECTED, expected)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{sinew:?} and {ros:?}: {said}");
    }
}

/// In the test run itself nothing is expected.
#[test]
fn finds_a_domain_in_a_child_process() {
    let Ok(expected) = std::env::var(EXPECTED) else { return };
    match Context::builder().shared_memory(false).build() {
        Ok(context) => assert_eq!(context.domain().to_string(), expected),
        Err(error) => assert!(error.to_string().contains(&expected), "{error}"),
    }
}

// ---- --help ----

/// Set for the child process that plays a program.
const PLAYS_A_PROGRAM: &str = "SINEW_TEST_PLAYS_A_PROGRAM";

/// In a child process of [`help_is_printed_for_ros_args_and_the_program_ends`], a program; in the
/// test run itself, nothing.
#[test]
fn plays_a_program() -> sinew::Result<()> {
    if std::env::var_os(PLAYS_A_PROGRAM).is_some() {
        let context = Context::from_args()?;
        println!("it goes on with {:?}", context.arguments().rest().last());
    }
    Ok(())
}

#[test]
fn help_is_printed_for_ros_args_and_the_program_ends() {
    let said = |arguments: &[&str]| {
        let program = std::env::current_exe().expect("a test runs from a file");
        let mut command = std::process::Command::new(program);
        // What follows `--` the test harness takes for names of tests.
        command.args(["--exact", "names::plays_a_program", "--nocapture", "--"]).args(arguments);
        let output = command.env(PLAYS_A_PROGRAM, "1").output().expect("it can be started");
        assert!(output.status.success());
        String::from_utf8(output.stdout).expect("it speaks UTF-8")
    };
    let help = said(&["--ros-args", "--help"]);
    assert!(help.ends_with(sinew::Arguments::HELP), "and no word after it: {help}");
    let own = said(&["--help"]);
    assert!(own.contains("it goes on with Some(\"--help\")") && !own.contains("--remap"), "{own}");
}

#[test]
fn a_node_may_ignore_the_command_line() -> sinew::Result<()> {
    let context = remapped(["__node:=other", "__ns:=/away", "image:=/left/image"])?;
    let node = context.node_builder("camera").remap("scan:=front").global_arguments(false).create()?;
    assert_eq!(node.full_name(), "/camera");
    assert_eq!([topic(&node, "image"), topic(&node, "scan")], ["/image", "/front"]);
    Ok(())
}

#[test]
fn a_bare_node_takes_its_names_exactly() -> sinew::Result<()> {
    let rules =
        ["__node:=other", "__ns:=/away", "/image:=/left/image", "image:=other_image", "/sum:=/product"];
    let context = remapped(rules)?;
    let bare = context.node_builder("camera").namespace("/robot").bare().create()?;
    assert_eq!(bare.full_name(), "/robot/camera");
    assert_eq!(topic(&bare, "/image"), "/image");
    assert_eq!(topic(&bare, "image"), "/robot/image");
    assert_eq!(topic(&bare, "~/image"), "/robot/camera/image");
    let own = context.node_builder("camera").remap("image:=mine").bare().create()?;
    assert_eq!(topic(&own, "image"), "/mine", "its own rules are no part of the command line");
    assert_eq!(own.full_name(), "/camera");
    assert_eq!(topic(&context.node("camera")?, "/image"), "/left/image", "other nodes are as ever");
    Ok(())
}
