//! The program from its users' view. No test here asserts a time: measured times depend on the
//! machine.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod command;

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use command::{sinew, text};
use serde_json::Value;
use zune_jpeg::zune_core::bytestream::ZCursor;

#[test]
fn help_names_everything_there_is() {
    let output = sinew(&["--help"]);
    assert!(output.status.success());
    let help = text(&output.stdout);
    assert!(help.contains("demo") && help.contains("bench") && !help.contains("peer"), "{help}");
    let help = text(&sinew(&["bench", "--help"]).stdout);
    for scenario in ["chain", "pingpong", "throughput", "topology", "entities", "peers"] {
        assert!(help.contains(scenario), "{scenario} in {help}");
        let own = sinew(&["bench", scenario, "--help"]);
        assert!(
            text(&own.stdout).contains("--seconds") && text(&own.stdout).contains("--json"),
            "{scenario}"
        );
    }
}

#[test]
fn the_types_of_services_and_topics_are_told_apart() {
    for (tool, example, other) in [
        ("service", "std_srvs/srv/SetBool", "std_msgs/msg/String"),
        ("topic", "std_msgs/msg/String", "std_srvs/srv/SetBool"),
    ] {
        let help = text(&sinew(&[tool, "echo", "--help"]).stdout);
        assert!(help.contains(example) && !help.contains(other), "{help}");
    }
}

#[test]
fn wrong_command_lines_end_with_2_and_say_what_there_is() {
    let cases: [(&[&str], &str); 9] = [
        (&["demo", "--viewer-of", "1"], "--processes"),
        (&["demo", "--library", "here"], "--languages"),
        (&["demo", "--languages", "--processes"], "cannot be used with"),
        (&[], "Usage"),
        (&["bench", "nothing"], "unrecognized subcommand"),
        (&["bench", "chain", "--threads", "2"], "--threads 2 needs --executor multi"),
        (&["demo", "--executor", "single", "--threads", "4"], "--threads 4 needs --executor multi"),
        (&["bench", "peers", "--rounds=-1"], "-1 is not in 1..=1000"),
        (&["bench", "timer"], "unrecognized subcommand"),
    ];
    for (arguments, expected) in cases {
        let output = sinew(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains(expected), "{arguments:?}: {}", text(&output.stderr));
    }
}

#[test]
fn errors_have_the_usage_of_the_command_that_is_wrong() {
    for (arguments, usage) in [
        (&["topic", "echo", "t", "--field", "a..b"][..], "Usage: sinew topic echo "),
        (&["graph", "-o", "x.png"], "Usage: sinew graph "),
        (&["tf", "tree", "-o", "x.png"], "Usage: sinew tf tree "),
        (&["bench", "chain", "--threads", "2"], "Usage: sinew bench chain "),
        (&["demo", "--threads", "4"], "Usage: sinew demo "),
        (&["--domain", "3", "bench", "chain"], "Usage: sinew bench chain "),
    ] {
        let output = sinew(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains(usage), "{arguments:?}: {}", text(&output.stderr));
    }
}

#[test]
fn the_domain_may_stand_anywhere() {
    for line in [
        &["--domain", "7", "node", "list"][..],
        &["node", "--domain=7", "list"],
        &["node", "list", "--domain", "7"],
    ] {
        let output = sinew(line);
        assert_eq!(output.status.code(), Some(0), "{line:?}");
        assert!(text(&output.stderr).contains("no nodes in domain 7 of "), "{}", text(&output.stderr));
    }
    assert!(text(&sinew(&["--help"]).stdout).contains("--domain <N>"));
}

#[test]
fn the_hidden_command_refuses_to_be_run_by_hand() {
    let roles = [
        r#"{"Measure":["sinew_bench::floors::two::Second",{"floor":"Line2","core":0,"size":64}]}"#,
        r#"{"Measure":["sinew_bench::part::Part<sinew_bench::options::MatchingCase>",{"directory":"/dev/shm"}]}"#,
        r#"{"Measure":["Unknown",{}]}"#,
        r#"{"Sweep":{"name":"../../home"}}"#,
        "stir",
    ];
    for role in roles {
        let output = sinew(&["peer", "1", role]);
        assert_eq!(output.status.code(), Some(1), "{role}");
        let expected = "`peer` is another process of `sinew bench`";
        assert!(text(&output.stderr).contains(expected), "{}", text(&output.stderr));
    }
}

#[test]
fn a_benchmark_runs_its_other_process() {
    let output = sinew(&["bench", "throughput", "--seconds", "0.1", "--size", "64", "--json", "-"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = report["results"].as_array().unwrap();
    let systems: Vec<_> = rows.iter().map(|row| row["system"].as_str().unwrap()).collect();
    assert_eq!((systems, &rows[1]["lost"]), (vec!["floor", "sinew"], &0.into()));
}

/// Copies a program. Another process does it: a file that this one has open for writing may be open
/// in a child that another test has just forked as well, and is "busy" then.
fn install(from: &Path, to: &Path) {
    let status = Command::new("install").args(["-m", "755"]).args([from, to]).status().unwrap();
    assert!(status.success(), "{status}");
}

#[test]
fn the_comparison_with_peers_runs_in_a_checkout_only() {
    let place = tempfile::tempdir().unwrap();
    let program = place.path().join("sinew"); // the tests' own program lies in a checkout
    install(env!("CARGO_BIN_EXE_sinew").as_ref(), &program);
    let peers = |options: &[&str]| {
        let mut command = Command::new(&program);
        command.args(["bench", "peers"]).args(options).current_dir(place.path()).output().unwrap()
    };
    let output = peers(&["--quick"]);
    assert_eq!(output.status.code(), Some(1));
    let sentence = text(&output.stderr);
    assert!(sentence.contains("no bench/peers above") && sentence.contains("bench/peers/run"), "{sentence}");

    let checkout = place.path().join("bench/peers");
    std::fs::create_dir_all(&checkout).unwrap();
    let script = place.path().join("script");
    std::fs::write(&script, "#!/bin/sh\nprintf '<%s>' \"$@\"\n").unwrap();
    install(&script, &checkout.join("run"));
    let output = peers(&["--scenario", "chain", "--quick"]);
    assert_eq!(text(&output.stdout), "<--scenario><chain><--quick>");
}

/// A PNG file's width and height, and its pixels.
fn png(path: &Path) -> ((u32, u32), Vec<u8>) {
    let file = BufReader::new(std::fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut pixels).unwrap();
    ((frame.width, frame.height), pixels)
}

#[test]
fn the_demo_runs_without_a_copy_and_saves_what_it_made_of_the_pictures() {
    let directory = tempfile::tempdir().unwrap();
    let to = directory.path().join("new/pictures");
    let output = sinew(&["demo", "--seconds", "3", "--rate", "10", "--save", to.to_str().unwrap()]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let summary = text(&output.stdout);
    assert!(
        summary.contains("per second, 0 copies, 0 encodings, 0 decodings, 0 lost, camera to viewer: P50"),
        "{summary}"
    );
    assert!(!summary.contains('\x1b'), "no terminal, no control codes: {summary}");

    let brightness =
        |pixels: &[u8]| pixels.iter().map(|&byte| f64::from(byte)).sum::<f64>() / pixels.len() as f64;
    let (size, saved) = png(&to.join("astronaut.png"));
    assert_eq!(size, (640, 480));
    let pictures = Path::new(env!("CARGO_MANIFEST_DIR")).join("pictures");
    let original = std::fs::read(pictures.join("astronaut.jpg")).unwrap();
    let original = zune_jpeg::JpegDecoder::new(ZCursor::new(original)).decode().unwrap();
    let (before, after) = (brightness(&original), brightness(&saved));
    assert!(after > 1.0 && (after - before).abs() > 1.0, "{before} became {after}");
}

#[test]
fn the_demos_filter_changes_while_it_runs() {
    let options = ["--seconds", "5", "--rate", "2", "--settings", "--executor", "multi"];
    let output = sinew(&[&["demo"], &options[..]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let lines = text(&output.stdout);
    let told: Vec<_> = lines.lines().filter(|line| line.contains("through /filter/set_edges")).collect();
    let expected = ["negative", "off"].map(|mode| format!("filter, set through /filter/set_edges: {mode}"));
    assert_eq!(told[..2], expected, "{lines}");
    assert!(lines.contains("0 copies, 0 encodings, 0 decodings, 0 lost"), "{lines}");
}

/// The number before a word of a line that the demonstration prints.
#[track_caller]
fn number_before(word: &str, line: &str) -> u64 {
    let before = line.split_once(word).and_then(|(before, _)| before.rsplit(' ').next());
    before.and_then(|count| count.parse().ok()).unwrap_or_else(|| panic!("no number before {word}: {line}"))
}

#[test]
fn the_demo_in_two_processes_copies_at_most_its_first_frames_and_saves_what_came() {
    let directory = tempfile::tempdir().unwrap();
    let to = directory.path().join("pictures");
    let options = ["--seconds", "4", "--rate", "4", "--settings", "--save", to.to_str().unwrap()];
    let output = sinew(&[&["demo", "--processes"], &options[..]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let lines = text(&output.stdout);
    assert!(lines.contains("filter, set through /filter/set_edges: negative"), "{lines}");
    let summary = lines.lines().find(|line| line.starts_with("in all")).unwrap();
    // The camera learns where its frames go when the first of them is filtered. (On a busy machine
    // that may be a few.)
    let [copies, frames] = [" copies, ", " frames, "].map(|what| number_before(what, summary));
    assert!(copies >= 1 && (copies < frames || frames < 4), "{lines}");
    assert!(summary.contains(" copies, 0 encodings, 0 decodings, "), "{lines}");
    assert!(summary.contains("camera to viewer: P50"), "{lines}");
    assert_eq!(png(&to.join("astronaut.png")).0, (640, 480));
}

#[test]
fn the_demos_viewer_says_what_it_saw_when_the_other_process_is_killed() {
    let place = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
    command.args(["demo", "--processes", "--seconds", "100", "--rate", "10"]).env("SINEW_DIR", place.path());
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // The camera copies a frame as long as it doesn't know that another process views it.
    let before = loop {
        let line = lines.next().unwrap().unwrap();
        assert!(line.contains(" 0 encodings, 0 decodings, "), "{line}");
        if number_before(" copies, ", &line) > 0 {
            break line;
        }
    };
    child.kill().unwrap();
    child.wait().unwrap();
    // Its output ends when the viewer does.
    let summary = lines.map(Result::unwrap).last().unwrap();
    assert!(summary.starts_with("in all "), "{summary}");
    let [told, in_all] = [&before, &summary].map(|line| number_before(" copies, ", line));
    assert!(in_all >= told, "{before}\n{summary}");
    // The next process removes the files of the killed one.
    let mut doctor = Command::new(env!("CARGO_BIN_EXE_sinew"));
    doctor.args(["doctor", "--clean"]).env("SINEW_DIR", place.path()).output().unwrap();
    assert_eq!(std::fs::read_dir(place.path().join("0")).unwrap().count(), 0);
}

#[test]
fn the_demos_viewer_refuses_to_be_run_by_hand() {
    let output = sinew(&["demo", "--processes", "--viewer-of", "1"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("which starts it itself"), "{}", text(&output.stderr));
}

#[test]
fn the_demo_names_a_directory_it_cannot_write_to() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let inside = file.path().join("pictures");
    let output = sinew(&["demo", "--seconds", "1", "--save", inside.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let expected = format!("can't create the directory {}", inside.display());
    assert!(text(&output.stderr).contains(&expected), "{}", text(&output.stderr));
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    for arguments in
        [&["demo", "--seconds", "0.3"][..], &["bench", "topology", "mont_blanc", "--seconds=0.05"]]
    {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        assert!(!text(&output.stderr).contains("panicked"), "{}", text(&output.stderr));
    }
}
