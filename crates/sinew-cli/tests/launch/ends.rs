//! The ends of launches: in order, completely, and with the right exit code.

use rustix::process::Signal;

use super::{Place, index, is_alive, short, text, until};

#[test]
fn codes_are_those_of_what_failed() {
    let sleeper = "[process.sleeper]\nprogram = 'sleep'\nargs = ['1000']\nros_args = false\n";
    let p = |name: &str, script: &str, more: &str| {
        format!("[process.{name}]\nprogram = 'sh'\nargs = ['-c', '{script}']\n{more}\n")
    };
    let cases = [
        (p("a", "exit 0", ""), 0),
        (p("a", "exit 0", "") + &p("b", "exit 5", ""), 5),
        (p("a", "kill -9 $$", ""), 137),
        (p("a", "sleep 0.1; exit 4", "required = true") + &p("b", "exit 5", "") + sleeper, 4),
        (p("a", "exit 0", "required = true") + sleeper, 0),
        (p("a", "exit 3", "required = true\nrestart = { delay = 0.01, max = 2 }") + sleeper, 3),
        (p("a", "exit 3", "ready = { exit = 3 }"), 0),
        (p("a", "exit 1", "ready = { exit = 0 }") + &p("b", "exit 0", "after = [\"a\"]"), 1),
        (p("a", "sleep 1000", "ready = { delay = 100, timeout = 0.05 }"), 1),
    ];
    for (file, code) in cases {
        let place = Place::new(&file);
        let output = place.run(&[]);
        assert_eq!(output.status.code(), Some(code), "{file}\n{}", text(&output.stdout));
    }
}

#[test]
fn one_interrupt_ends_all_those_first_that_wait_for_others() {
    let script = r#"'trap "echo ended; exit 9" INT; echo up; while true; do sleep 0.01; done'"#;
    let p = |name: &str, more: &str| {
        format!("[process.{name}]\nprogram = 'sh'\nargs = ['-c', {}]\n{more}\n", script.replace('\'', "'''"))
    };
    let file = p("a", "") + &p("b", "after = ['a']") + &p("c", "after = ['b']");
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let place = Place::new(&file);
        let mut launch = place.start();
        launch.line("c", "up");
        launch.signal(signal);
        let (events, code) = launch.end();
        assert_eq!(code, Some(0), "the user wanted it");
        let events = short(&events);
        let order =
            ["c ended stopped", "b asked SIGINT", "b ended stopped", "a asked SIGINT", "a ended stopped"];
        let places = order.map(|event| index(&events, event));
        assert!(places.is_sorted(), "{events:#?}");
        assert!(
            index(&events, "a output ended") < index(&events, "a ended stopped"),
            "its last line is told before"
        );
        place.nothing_temporary_is_left();
    }
}

#[test]
fn what_nohup_started_outlives_its_terminal() {
    let place = Place::new("[process.a]\nprogram = 'sh'\nargs = ['-c', 'echo up; exec sleep 1000']\n");
    let mut launch = place.start_below(&["nohup"]);
    launch.line("a", "up");
    launch.signal(Signal::HUP);
    for _ in 0..2 {
        launch.signal(Signal::USR1); // it has handled all signals before the second one
        launch.event("a", "usage");
    }
    launch.signal(Signal::INT);
    let (events, code) = launch.end();
    let events = short(&events);
    assert!(index(&events, "a usage") < index(&events, "a asked SIGINT") && code == Some(0), "{events:#?}");
    assert!(events.iter().filter(|event| *event == "a usage").count() == 2, "{events:#?}");
}

#[test]
fn who_does_not_listen_is_killed_sooner_if_the_user_insists() {
    let deaf = |grace: &str| {
        format!(
            "[process.deaf]\nprogram = 'sh'\nargs = ['-c', '''trap \"\" INT TERM; echo up; while true; do sleep 0.01; done''']\n{grace}\n"
        )
    };
    let kills = ["deaf asked SIGINT", "deaf asked SIGTERM", "deaf asked SIGKILL", "deaf ended stopped"];
    let place = Place::new(&deaf("grace = 0.05\ngrace_after_term = 0.05"));
    let mut launch = place.start();
    launch.line("deaf", "up");
    launch.signal(Signal::INT);
    let (events, code) = launch.end();
    let events = short(&events);
    assert!(kills.map(|event| index(&events, event)).is_sorted() && code == Some(0), "{events:#?}");

    let place = Place::new(&deaf("grace = 3600\ngrace_after_term = 3600"));
    let mut launch = place.start();
    launch.line("deaf", "up");
    for asked in ["SIGINT", "SIGTERM", "SIGKILL"] {
        launch.signal(Signal::INT);
        launch.until(asked, |event| event["signal"] == asked);
    }
    assert_eq!(launch.end().1, Some(0));
}

/// A process with a child, a grandchild, and one that leaves its group; it writes their process
/// ids.
const FAMILY: &str = r#"
    [process.parent]
    program = "sh"
    args = ["-c", '''
        echo $$ >> "$PLACE/pids"
        sh -c 'echo $$ >> "$PLACE/pids"; sleep 1000 & echo $! >> "$PLACE/pids"; wait' &
        setsid sh -c 'echo $$ >> "$PLACE/pids"; trap "" INT; sleep 1000 & echo $! >> "$PLACE/pids"; wait' &
        sleep 1000
    ''']
    parameters = { tree = { x = 1 } }
"#;

fn family(place: &Place) -> Vec<String> {
    until("the family is there", || place.read("pids").lines().count() == 5);
    place.read("pids").lines().map(str::to_owned).collect()
}

#[test]
fn the_last_process_of_a_family_ends() {
    let place = Place::new(FAMILY);
    let launch = place.start();
    let pids = family(&place);
    assert!(pids.iter().all(|pid| is_alive(pid)));
    launch.signal(Signal::INT);
    let (events, _) = launch.end();
    assert!(pids.iter().all(|pid| !is_alive(pid)), "{events:#?}");
    assert!(
        short(&events).iter().any(|event| event.ends_with("strays")),
        "what left its group is told: {events:#?}"
    );
    place.nothing_temporary_is_left();
}

#[test]
fn a_killed_launch_leaves_nobody_either() {
    let place = Place::new(FAMILY);
    let mut launch = place.start();
    let pids = family(&place);
    launch.child.kill().unwrap();
    launch.child.wait().unwrap();
    until("all have ended", || pids.iter().all(|pid| !is_alive(pid)));
    place.nothing_temporary_is_left();
}

#[test]
fn a_killed_launch_leaves_no_process_without_its_environment() {
    // The second process has ended before; the keeper forgets its group.
    let place = Place::new(
        "[process.bare]\nprogram = 'env'\nargs = '-i sleep 1000'\nros_args = false\n[process.b]\nprogram = 'true'\n",
    );
    let mut launch = place.start();
    let pid = launch.event("bare", "started")["pid"].to_string();
    launch.event("b", "ended");
    let name = |pid: &str| std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    until("its environment is gone", || name(&pid) == "sleep\n");
    launch.child.kill().unwrap();
    launch.child.wait().unwrap();
    until("it has ended", || !is_alive(&pid));
}

#[test]
fn a_killed_launch_within_a_launch_leaves_no_process_either() {
    let sinew = env!("CARGO_BIN_EXE_sinew");
    let place = Place::new(&format!(
        "[process.inner]\nprogram = '{sinew}'\nargs = 'launch inner.toml'\nros_args = false\nsignal = 'SIGKILL'\n"
    ));
    // It outlives the launch around it for as long as the inner launch's keeper lets it.
    let deaf = r#"
        [process.deaf]
        program = "sh"
        args = ["-c", 'trap "" TERM; echo $$ > "$PLACE/pid"; while true; do sleep 0.01; done']
        "#;
    std::fs::write(place.path("inner.toml"), deaf).unwrap();
    let launch = place.start();
    until("the inner process is there", || place.read("pid").ends_with('\n'));
    launch.signal(Signal::INT);
    assert_eq!(launch.end().1, Some(0));
    until("it has ended", || !is_alive(&place.read("pid")));
    place.nothing_temporary_is_left();
}

#[test]
fn the_rest_of_a_group_ends_before_its_process_is_started_again() {
    let place = Place::new(
        r#"
        [process.a]
        program = "sh"
        args = ["-c", 'sleep 1000 & echo $! >> "$PLACE/pids"; exit 1']
        restart = { delay = 0.01, max = 1 }
        "#,
    );
    let output = place.run(&["--json"]);
    assert_eq!(output.status.code(), Some(1));
    let events: Vec<_> =
        text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let short = short(&events);
    let order =
        ["a started", "a asked SIGTERM", "a ended exited", "a started", "a asked SIGTERM", "a ended gave_up"];
    let told: Vec<_> = short.iter().filter(|event| order.contains(&event.as_str())).collect();
    assert_eq!(told, order.iter().collect::<Vec<_>>(), "{short:#?}");
    assert!(place.read("pids").lines().count() == 2 && place.read("pids").lines().all(|pid| !is_alive(pid)));
}

#[test]
fn a_zombie_that_stays_in_a_group_holds_up_no_end() {
    // `true` stays a zombie of the group, as its parent has left the group and becomes `sleep`.
    let place = Place::new(
        r#"
        [process.a]
        program = "sh"
        args = ["-c", '''
            (true & exec setsid sleep 1000 > /dev/null 2>&1) &
            until read name < /proc/$!/comm && [ $name = sleep ]; do sleep 0.01; done
            exit 3
        ''']
        "#,
    );
    let output = place.run(&[]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stdout));
}

#[test]
fn fifty_processes_come_and_go() {
    let one = |number: usize| {
        format!("[process.p{number}]\nprogram = 'sleep'\nargs = ['1000']\nros_args = false\n")
    };
    let place = Place::new(&(0..50).map(one).collect::<String>());
    let mut launch = place.start();
    let mut pids = Vec::new();
    while pids.len() < 50 {
        let event = launch.until("50 starts", |event| event["event"] == "started");
        pids.push(event["pid"].to_string());
    }
    assert!(pids.iter().all(|pid| is_alive(pid)));
    launch.signal(Signal::INT);
    let (events, code) = launch.end();
    let ended = short(&events).iter().filter(|event| event.ends_with("ended stopped")).count();
    assert_eq!((ended, code), (50, Some(0)));
    assert!(pids.iter().all(|pid| !is_alive(pid)));
}
