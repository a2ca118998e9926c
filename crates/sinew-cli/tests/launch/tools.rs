//! Options that run nothing, the resources of each process, and `sinew run`.

use rustix::process::Signal;
use serde_json::Value;

use super::{Place, text};

const FILE: &str = r#"
    [arguments]
    words = { default = "a b", description = "what is said" }
    [process.talker]
    program = "echo"
    args = ["$(var words)"]
    parameters = { rate = 30, gains = { p = 1.5 } }
"#;

#[test]
fn a_file_can_be_looked_at_without_running_it() {
    let place = Place::new(FILE);
    let said = |options: &[&str]| {
        let output = place.run(options);
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    assert_eq!(said(&["--check"]), "robot.toml: fine, 1 processes\n");
    assert_eq!(said(&["--show-args"]), "words (default: \"a b\")\n    what is said\n");
    let printed = said(&["--print", "words:=it's"]);
    let (line, file) = printed.split_once('\n').unwrap();
    assert!(
        line.starts_with("talker: /") && line.ends_with("/echo 'it'\\''s' --ros-args --params-file <file 3>"),
        "{line}"
    );
    assert_eq!(
        file,
        "    file 3:\n        /**:\n          ros__parameters:\n            \"gains.p\": 1.5\n            \"rate\": 30\n"
    );
    let arguments: Value = serde_json::from_str(&said(&["--show-args", "--json"])).unwrap();
    assert_eq!(arguments[0]["default"], "a b");
}

#[test]
fn wrong_files_and_arguments_are_told_and_nothing_starts() {
    let place = Place::new(&format!(
        "{FILE}\n[process.b]\nprogram = 'touch'\nargs = 'started'\n[process.c]\nprogram = 'ehco'\n"
    ));
    let output = place.run(&[]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(
        said.starts_with(
            "sinew: robot.toml:13:11: there is no program `ehco`; did you mean `echo`? (looked in "
        ),
        "{said}"
    );
    assert!(output.stdout.is_empty() && !place.path("started").exists());
    let place = Place::new(FILE);
    let output = place.run(&["wrods:=x"]);
    assert!(text(&output.stderr).contains("no launch file has an argument `wrods`; did you mean `words`?"));
    let output = place.run(&["words=x"]);
    assert_eq!(output.status.code(), Some(2), "a line that is no launch's");
}

#[test]
fn what_each_process_uses_is_told_on_demand() {
    let place = Place::new(
        "[process.busy]\nprogram = 'sh'\nargs = ['-c', 'echo up; while true; do :; done']\n[process.off]\nprogram = 'true'\nros_args = false\n",
    );
    let mut launch = place.start();
    launch.line("busy", "up");
    launch.signal(Signal::USR1);
    let usage = launch.event("busy", "usage");
    assert!(usage["memory_bytes"].as_u64().unwrap() > 0 && usage["cpu"].is_f64() && usage["processes"] == 1);
    launch.signal(Signal::INT);
    assert_eq!(launch.end().1, Some(0));
}

#[test]
fn run_becomes_the_program() {
    let place = Place::new("");
    let script = "echo \"$$ $@ $SINEW_DOMAIN_ID\"; exit 7";
    let line = ["run", "--domain", "5", "--node", "n", "-p", "a:=1", "sh", "-c", script, "sh", "-x"];
    let child = place.command(&line).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let pid = child.id();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(text(&output.stdout), format!("{pid} -x --ros-args -r __node:=n -p a:=1 5\n"));
    let output = place.command(&["run", "ehco"]).output().unwrap();
    assert!(text(&output.stderr).contains("there is no program `ehco`; did you mean `echo`?"));
    let output = place.command(&["run", "torch"]).output().unwrap();
    let said = text(&output.stderr);
    assert!(said.starts_with("sinew: there is no program `torch` (looked in "), "{said}"); // not `touch`
    assert!(!said.contains("/usr/bin"), "{said}");
}
