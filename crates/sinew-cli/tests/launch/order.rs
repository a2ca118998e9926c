//! The order of starts, with waits for the offers of other processes; and restarts.

use rustix::process::Signal;

use super::{Place, index, short, text};

#[test]
fn processes_start_once_what_they_wait_for_is_offered() {
    let sinew = env!("CARGO_BIN_EXE_sinew");
    let place = Place::new(&format!(
        r#"
        [process.first]
        program = "true"
        ros_args = false
        ready = {{ exit = 0 }}

        [process.talker]
        program = "{sinew}"
        args = ["topic", "pub", "/robot/words", "std_msgs/msg/String", "{{data: hello}}"]
        ros_args = false
        namespace = "robot"
        ready = {{ topic = "words" }}
        after = ["first"]

        [process.listener]
        program = "echo"
        args = ["now"]
        ros_args = false
        after = ["talker"]
        "#
    ));
    let mut launch = place.start();
    launch.line("listener", "now");
    launch.signal(Signal::INT);
    let (events, code) = launch.end();
    let events = short(&events);
    let order = ["first ended exited", "talker started", "talker ready", "listener started"];
    assert!(order.map(|event| index(&events, event)).is_sorted(), "{events:#?}");
    assert_eq!(code, Some(0));
}

#[test]
fn what_waits_for_a_failed_process_is_told_and_not_started() {
    let place = Place::new(
        r#"
        [process.a]
        program = "sh"
        args = ["-c", "echo why; exit 6"]
        ready = { topic = "/never" }
        output = "log"
        [process.b]
        program = "true"
        after = ["a"]
        "#,
    );
    let output = place.run(&[]);
    let all = text(&output.stdout);
    assert_eq!(output.status.code(), Some(6), "{all}");
    let said = "sinew: a failed; its last lines:\n[a] why\nsinew: a ended with code 6\n\
                sinew: b not started: a ended before it was ready\n";
    assert!(all.ends_with(said), "{all}");
}

#[test]
fn restarts_are_counted_and_given_up() {
    let place = Place::new(
        r#"
        [process.a]
        program = "sh"
        args = ["-c", "exit 2"]
        restart = { delay = 0.01, max_delay = 0.02, max = 3 }
        [process.b]
        program = "true"
        ros_args = false
        restart = "on-failure"
        "#,
    );
    let output = place.run(&[]);
    let all = text(&output.stdout);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(all.matches("sinew: a started").count(), 4, "{all}");
    let delays: Vec<_> = all
        .lines()
        .filter_map(|line| line.strip_prefix("sinew: a ended with code 2; starts again in "))
        .collect();
    assert_eq!(delays, ["0.01 s", "0.02 s", "0.02 s"]);
    assert!(
        all.contains("a ended with code 2, and has been restarted the allowed number of times\n"),
        "{all}"
    );
    assert_eq!(all.matches("sinew: b started").count(), 1);
}

#[test]
fn a_program_that_is_missing_for_a_while_is_started_again() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new("[process.a]\nprogram = './tool'\nros_args = false\nrestart = { delay = 0.01 }\n");
    let install = |script: &str| {
        std::fs::write(place.path("new"), format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(place.path("new"), std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::rename(place.path("new"), place.path("tool")).unwrap();
    };
    install("rm \"$0\"; exit 1");
    let mut launch = place.start();
    launch.event("a", "cant_start");
    assert!(launch.event("a", "ended")["again_s"].is_f64());
    install("exit 0");
    assert_eq!(launch.end().1, Some(0));
}

#[test]
fn parameter_files_need_a_directory_and_nothing_else_does() {
    let place = Place::new(
        r#"
        [process.a]
        program = "sh"
        args = ["-c", 'cat "$3"; rm -r "$PLACE"/tmp/*; [ -e "$PLACE/again" ] || ! touch "$PLACE/again"', "sh"]
        parameters = { tree = { x = 1 } }
        restart = { delay = 0.01 }
        "#,
    );
    let output = place.run(&[]);
    let all = text(&output.stdout);
    assert_eq!((output.status.code(), all.matches("tree.x").count()), (Some(0), 2), "{all}");

    std::fs::remove_dir(place.path("tmp")).unwrap();
    let output = place.run(&[]);
    let said =
        format!("sinew: can't make a directory for parameter files in {}: ", place.path("tmp").display());
    assert!(text(&output.stderr).starts_with(&said), "{}", text(&output.stderr));
    std::fs::write(place.path("robot.toml"), "[process.a]\nprogram = 'true'\n").unwrap();
    assert_eq!(place.run(&[]).status.code(), Some(0));
}
