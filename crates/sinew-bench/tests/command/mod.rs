//! Runs the program.

use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

/// Runs it to its end, without input, in a directory of its own.
pub(crate) fn bench(arguments: &[&str]) -> Output {
    let place = tempfile::tempdir_in("/dev/shm").expect("shared memory");
    Command::new(env!("CARGO_BIN_EXE_sinew-bench"))
        .args(arguments)
        .env("SINEW_DIR", place.path())
        .stdin(Stdio::null())
        .output()
        .expect("sinew-bench starts")
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Time limit for a run without losses.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs a scenario and returns the JSON results of a run without losses. (If a busy machine holds
/// up a process, it loses messages that newer ones displace, or gets none, but not in every run.)
#[track_caller]
pub(crate) fn results(arguments: &[&str]) -> Vec<Value> {
    let begin = sinew::time::Time::steady();
    loop {
        let results = results_of_a_run(arguments);
        if results.iter().all(|row| row["lost"].as_u64().unwrap_or(0) == 0 && row["messages"] != 0) {
            return results;
        }
        assert!(sinew::time::Time::steady() - begin < PATIENCE, "each run loses some: {results:?}");
    }
}

#[track_caller]
fn results_of_a_run(arguments: &[&str]) -> Vec<Value> {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("results.json");
    let path = file.to_str().unwrap();
    // Of the five rounds, each of which starts all processes, two show as much to a test.
    let rounds: &[&str] = if arguments.contains(&"--rounds") { &[] } else { &["--rounds", "2"] };
    let output = bench(&[arguments, rounds, &["--json", path]].concat());
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    assert!(text(&output.stdout).contains("rounds"), "{}", text(&output.stdout));
    let report: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();

    let host = &report["host"];
    assert!(host["cpu"].is_string() && host["kernel"].is_string() && host["cores"].is_u64(), "{host}");
    assert!(host["date"].as_str().unwrap().ends_with('Z'));
    assert_eq!(host["options"][0], arguments[0]);
    let results = report["results"].as_array().unwrap().clone();
    for row in &results {
        assert_eq!(row["scenario"], arguments[0], "{row}");
        assert_eq!(row["system"] == "floor", row["floor"].is_string(), "{row}");
        for (key, value) in row.as_object().unwrap() {
            if key.ends_with("_ns") || key.ends_with("_bytes") || key == "messages" || key == "lost" {
                assert!(value.is_number(), "{key} in {row}");
            }
        }
    }
    results
}

/// The rows that are not floors.
#[track_caller]
pub(crate) fn only_ours(results: &[Value]) -> Vec<&Value> {
    results.iter().filter(|row| row["system"] == "sinew").collect()
}
