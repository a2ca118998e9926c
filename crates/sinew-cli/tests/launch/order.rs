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
