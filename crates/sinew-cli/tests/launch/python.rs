//! Programs in Python, by the names of their files.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use rustix::process::Signal;

use super::{Place, index, short, text};

/// Says at once that it is there, and waits for Ctrl-C, which may come as soon as the line is out.
const PROGRAM: &str = "import os, sys, time
try:
    print('up', os.environ['WORD'], *sys.argv[1:])
    time.sleep(1000)
except KeyboardInterrupt:
    print('interrupted')
";

/// Notes that a test can't be run here, if there is no interpreter.
fn is_skipped() -> bool {
    if Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success()) {
        return false;
    }
    let sentence = "sinew launch with programs in Python: there is no python3";
    eprintln!("skipped: {sentence}");
    if let Some(list) = std::env::var_os("SINEW_SKIPPED") {
        use std::io::Write as _;
        let mut list = std::fs::OpenOptions::new().append(true).create(true).open(list).unwrap();
        writeln!(list, "{sentence}").unwrap();
    }
    true
}

#[test]
fn a_script_needs_no_mode_and_gets_environment_arguments_and_signals() {
    if is_skipped() {
        return;
    }
    let more = "args = ['a', 'b c']\nnode = 'talker'\nenv = { WORD = 'here' }";
    let by_interpreter = format!("[process.script]\nprogram = './node.py'\n{more}\n");
    let by_prefix = format!("[process.script]\nprogram = './node.py'\nprefix = 'python3 -X dev'\n{more}\n");
    for file in [by_interpreter, by_prefix] {
        let place = Place::new(&file);
        std::fs::write(place.path("node.py"), PROGRAM).unwrap();
        let mut launch = place.start();
        // Its output is a pipe, in which Python would keep the line otherwise.
        launch.line("script", "up here a b c --ros-args -r __node:=talker");
        launch.signal(Signal::INT);
        let (events, code) = launch.end();
        let events = short(&events);
        let order = ["script output interrupted", "script ended stopped"];
        assert!(order.map(|event| index(&events, event)).is_sorted(), "{events:#?}");
        assert_eq!(code, Some(0));
    }
}

#[test]
fn a_script_that_may_be_run_runs_itself() {
    let place = Place::new("[process.a]\nprogram = './node.py'\nros_args = false\n");
    std::fs::write(place.path("node.py"), "#!/bin/sh\necho a shell\n").unwrap();
    std::fs::set_permissions(place.path("node.py"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let output = place.run(&[]);
    assert!(text(&output.stdout).contains("a shell"), "{}", text(&output.stdout));
}

#[test]
fn launch_files_in_python_are_refused_with_a_remedy() {
    let place = Place::new("");
    std::fs::write(place.path("robot.launch.py"), "def generate_launch_description(): pass\n").unwrap();
    let output = place.command(&["launch", "robot.launch.py"]).output().unwrap();
    let sentence = text(&output.stderr);
    assert!(!output.status.success() && sentence.contains("a launch file in Python"), "{sentence}");
    assert!(sentence.contains("write what it starts in TOML, XML or YAML"), "{sentence}");
}
