//! The output of processes.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Stdio;

use super::{Place, text, until};

#[test]
fn lines_are_whole_harmless_and_none_is_missing() {
    let place = Place::new(
        r#"
        [process.talker]
        program = "sh"
        args = ["-c", 'printf "one\ntwo\r\n\033[31mred\007\377\n"; printf "no end" >&2; printf "nor here"']
        [process.other]
        program = "sh"
        args = ["-c", 'for i in 1 2 3; do echo "line $i"; done']
        "#,
    );
    let output = place.run(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let all = text(&output.stdout);
    let of = |name: &str| all.lines().filter_map(|line| line.strip_prefix(name)).collect::<Vec<_>>();
    let mut talker = of("[talker] ");
    talker.sort_unstable();
    assert_eq!(talker, ["no end", "nor here", "one", "red\\x07\\xff", "two"]);
    assert_eq!(of("[other] "), ["line 1", "line 2", "line 3"]);
    assert!(all.lines().any(|line| line == "sinew: talker ended"), "{all}");
    place.nothing_temporary_is_left();
}

#[test]
fn files_have_what_the_screen_does_not() {
    let place = Place::new(
        r#"
        [process.quiet]
        program = "sh"
        args = ["-c", "echo out; echo err >&2; exit 3"]
        output = "log"
        [group.g.process.both]
        program = "sh"
        args = ["-c", "echo said"]
        output = "both"
        [process.screen]
        program = "echo"
        args = ["shown"]
        "#,
    );
    let output = place.run(&[]);
    let all = text(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{all}{}", text(&output.stderr));
    let failed = all.find("sinew: quiet failed; its last lines:\n[quiet] out\n").unwrap();
    assert!(all.find("[quiet] err\n").unwrap() < failed, "standard error is shown at once: {all}");
    assert!(all.contains("[g/both] said\n") && all.contains("[screen] shown\n"));
    let logs = std::fs::read_dir(place.path("logs/latest")).unwrap();
    let mut logs: Vec<_> = logs.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    logs.sort_unstable();
    assert_eq!(logs, ["g.both.log", "quiet.log"]);
    assert_eq!(place.read("logs/latest/g.both.log"), "said\n");
    let mut quiet: Vec<_> = place.read("logs/latest/quiet.log").lines().map(str::to_owned).collect();
    quiet.sort_unstable();
    assert_eq!(quiet, ["err", "out"]);
}

#[test]
fn processes_whose_names_differ_in_a_dot_have_their_own_parameters() {
    let place = Place::new(
        r#"
        [process."a.b"]
        program = "sh"
        args = ["-c", 'until [ -e "$PLACE/other" ]; do sleep 0.01; done; cat "$3"', "sh"]
        parameters = { tree = { x = "dot" } }
        [group.a.process.b]
        program = "sh"
        args = ["-c", 'touch "$PLACE/other"; cat "$3"', "sh"]
        parameters = { tree = { x = "slash" } }
        "#,
    );
    let output = place.run(&[]);
    let all = text(&output.stdout);
    assert!(all.contains("[a.b]     \"tree.x\": \"dot\"\n"), "{all}{}", text(&output.stderr));
    assert!(all.contains("[a/b]     \"tree.x\": \"slash\"\n"), "{all}");
}

#[test]
fn what_left_its_group_is_read_until_it_ends() {
    let place = Place::new(
        r#"
        [process.parent]
        program = "sh"
        args = ["-c", '''
            setsid sh -c 'trap "echo asked; exit" TERM; touch "$PLACE/ready"
                          until [ -e "$PLACE/go" ]; do sleep 0.01; done; echo later; sleep 1000 > /dev/null & wait' &
            until [ -e "$PLACE/ready" ]; do sleep 0.01; done
        ''']
        [process.other]
        program = "sleep"
        args = ["1000"]
        ros_args = false
        "#,
    );
    let mut launch = place.start();
    assert_eq!(launch.event("parent", "ended")["how"], "exited");
    std::fs::write(place.path("go"), "").unwrap();
    launch.line("parent", "later");
    launch.signal(rustix::process::Signal::INT);
    let (events, _) = launch.end();
    assert!(super::short(&events).contains(&"parent output asked".to_owned()), "{events:#?}");
}

#[test]
fn a_flood_tears_no_line_and_does_not_hold_up_the_others() {
    let place = Place::new(
        r#"
        [process.flood]
        program = "yes"
        args = ["0123456789"]
        ros_args = false
        [process.slow]
        program = "sh"
        args = ["-c", 'for i in 1 2 3 4 5 6 7 8 9; do echo "tick $i"; sleep 0.02; done']
        required = true
        "#,
    );
    let output = place.run(&[]);
    assert_eq!(output.status.code(), Some(0));
    let all = text(&output.stdout);
    let known = |line: &&str| {
        let is_flood = *line == "[flood] 0123456789"
            || line.strip_prefix("[flood] ").is_some_and(|rest| "0123456789".starts_with(rest));
        !is_flood && !line.starts_with("[slow] tick ") && !line.starts_with("sinew: ")
    };
    assert_eq!(all.lines().filter(known).collect::<Vec<_>>(), [""; 0]);
    assert_eq!(all.matches("[slow] tick ").count(), 9);
    assert!(all.matches("[flood] 0123456789\n").count() > 1000);
}

#[test]
fn who_does_not_read_holds_up_nobody_but_those_who_flood() {
    let place = Place::new(
        r#"
        [process.flood]
        program = "yes"
        ros_args = false
        [process.worker]
        program = "sh"
        args = ["-c", 'echo "$$" >> "$PLACE/starts"']
        restart = { policy = "always", delay = 0.01, max_delay = 0.01 }
        [process.noisy]
        program = "sh"
        args = ["-c", 'echo "$$" >> "$PLACE/noises"; head -c 60000 /dev/zero']
        restart = { policy = "always", delay = 0.01, max_delay = 0.01 }
        "#,
    );
    let (pipe, pipe_end) = std::io::pipe().unwrap();
    let (socket, socket_end) = UnixStream::pair().unwrap();
    let outputs: [(OwnedFd, OwnedFd); 2] =
        [(pipe.into(), pipe_end.into()), (socket.into(), socket_end.into())];
    for (reader, output) in outputs {
        let mut child = place.command(&["launch", "robot.toml"]).stdout(output).spawn().unwrap();
        // Nothing reads its output; it restarts the worker nevertheless.
        until("the worker is started again", || place.read("starts").lines().count() >= 40);
        // A run writes about as much as may wait for the reader.
        assert!(place.read("noises").lines().count() < 6);
        drop(reader); // the reader is gone: all processes end
        assert_eq!(child.wait().unwrap().code(), Some(0));
        for file in ["starts", "noises"] {
            std::fs::remove_file(place.path(file)).unwrap();
        }
    }
}

#[test]
fn the_last_output_waits_for_its_reader_unless_the_user_does_not() {
    // More than a pipe holds, and less than may wait.
    let lines: String = (1..=120).map(|number| format!(" {number}")).collect();
    let place = Place::new(&format!(
        "[process.a]\nprogram = 'sh'\nargs = ['-c', '''printf \"%1000s\\n\"{lines}; touch \"$PLACE/done\"''']\n"
    ));
    let start = || {
        let mut command = place.command(&["launch", "robot.toml"]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        until("all is written", || place.path("done").exists());
        std::fs::remove_file(place.path("done")).unwrap();
        child
    };
    let output = start().wait_with_output().unwrap();
    assert_eq!(text(&output.stdout).matches("[a] ").count(), 120);

    let mut child = start();
    let pid = rustix::process::Pid::from_child(&child);
    until("it gives up", || {
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        child.try_wait().unwrap().is_some()
    });
    let said = text(&child.wait_with_output().unwrap().stderr);
    assert!(said.starts_with("sinew: standard output takes no more: its last "), "{said}");
}

#[test]
fn a_closed_output_ends_all() {
    let place = Place::new(
        r#"
        [process.talker]
        program = "sh"
        args = ["-c", 'echo "$$" > "$PLACE/pid"; while true; do echo x; sleep 0.01; done']
        "#,
    );
    let mut child = place.command(&["launch", "robot.toml"]).stdout(Stdio::piped()).spawn().unwrap();
    until("it runs", || place.read("pid").ends_with('\n'));
    drop(child.stdout.take());
    child.wait().unwrap();
    assert!(!super::is_alive(&place.read("pid")));
}
