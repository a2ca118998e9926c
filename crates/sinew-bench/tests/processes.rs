//! The benchmarks between processes from their users' view. No test here asserts a time.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod command;

use std::io;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use command::{bench, only_ours, results, text};
use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::clock_nanosleep_relative;
use rustix::time::{ClockId, Timespec};
use serde_json::Value;

fn two_cores() -> bool {
    std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1)
}

#[track_caller]
fn nothing_lost(row: &Value) {
    assert_eq!((&row["lost"], row.get("reordered")), (&0.into(), None), "{row}");
    assert!(row["messages"].as_u64() > Some(0), "{row}");
}

#[test]
fn process_chain() {
    for processes in [2, 4] {
        let count = processes.to_string();
        let options = ["--seconds", "0.5", "--rate", "100", "--processes", &count];
        let rows = results(&[&["process-chain"], &options[..]].concat());
        assert_eq!(rows.len(), if two_cores() { 2 } else { 1 });
        let ours = only_ours(&rows)[0];
        nothing_lost(ours);
        assert_eq!((&ours["processes"], &ours["relays"]), (&processes.into(), &10.into()), "{ours}");
        assert!(
            ours["p90_floor_ratio"].is_number() == two_cores() && ours["cpu_percent"].is_number(),
            "{ours}"
        );
    }
}

#[test]
fn pingpong() {
    if !two_cores() {
        let output = bench(&["pingpong", "--seconds", "0.1"]);
        assert!(text(&output.stderr).contains("needs two cores"), "{}", text(&output.stderr));
        return;
    }
    let cases: [(&[&str], &str, &[u64]); 6] = [
        (&["--mode", "inline", "--size", "40", "--size", "200"], "line2", &[40, 200]),
        (&["--size", "64", "--size", "8388608"], "line2", &[64, 8_388_608]),
        (&["--mode", "whole", "--size", "65536", "--size", "1048576"], "handover", &[65_536, 1_048_576]),
        (&["--wait", "spin", "--size", "256"], "line2", &[256]),
        (&["--wait", "sleep", "--size", "64"], "wake", &[64]),
        (&["--wait", "sleep", "--mode", "whole", "--size", "4096", "--rate", "100"], "wake", &[4096]),
    ];
    for (options, floor, sizes) in cases {
        let rows = results(&[&["pingpong", "--seconds", "0.2"], options].concat());
        let floors: Vec<_> = rows.iter().filter_map(|row| row["floor"].as_str()).collect();
        assert_eq!(floors, vec![floor; sizes.len()], "{options:?}");
        for (ours, &size) in only_ours(&rows).into_iter().zip(sizes) {
            nothing_lost(ours);
            assert_eq!(ours["size"].as_u64(), Some(size), "{ours}");
            assert!(ours["floor_ratio"].is_number() && ours["wait"].is_string(), "{ours}");
            assert!(ours["cpu_percent"].as_f64().is_some_and(|percent| percent > 0.0), "{ours}");
            assert_eq!(ours["rate"].is_number(), options.contains(&"--rate"), "{ours}");
        }
    }
}

#[test]
fn fanout() {
    for (placement, wait) in [("other", "sleep"), ("each", "spin")] {
        let options = [
            "--placement",
            placement,
            "--wait",
            wait,
            "--subscriptions",
            "3",
            "--seconds",
            "0.3",
            "--rate",
            "200",
        ];
        let rows = results(&[&["fanout"], &options[..]].concat());
        let ours = only_ours(&rows)[0];
        nothing_lost(ours);
        assert_eq!((&ours["placement"], &ours["wait"]), (&placement.into(), &wait.into()), "{ours}");
        assert!(ours["publish_p50_ns"].is_number(), "{ours}");
        assert_eq!(ours["rate"].as_f64(), Some(200.0));
    }
}

#[test]
fn big() {
    let rows = results(&["big", "--seconds", "1.5", "--wait", "sleep"]);
    assert_eq!(rows[0]["floor"], "copy");
    let ours = only_ours(&rows);
    assert_eq!(ours.iter().map(|row| &row["mode"]).collect::<Vec<_>>(), ["loan", "owned"]);
    for row in &ours {
        nothing_lost(row);
        assert!(row["publish_p50_ns"].is_number() && row["publish_floor_ratio"].is_number(), "{row}");
    }
    assert_eq!(ours[0]["copies"], 0, "{}", ours[0]);
    assert!(ours[1]["copies"].as_u64() > ours[1]["messages"].as_u64(), "{}", ours[1]);
}

#[test]
fn throughput() {
    let rows = results(&["throughput", "--seconds", "0.2", "--size", "64", "--size", "65536"]);
    for row in &rows {
        assert!(row["messages_per_second"].is_number() && row["bytes_per_second"].is_number(), "{row}");
    }
    only_ours(&rows).into_iter().for_each(nothing_lost);
}

#[test]
fn throughput_by_other_ways() {
    for path in ["intra", "shm"] {
        for by in [&[][..], &["--take"]] {
            let options = ["throughput", "--seconds", "0.1", "--size", "64", "--path", path];
            let rows = results(&[&options[..], by].concat());
            let ours = only_ours(&rows)[0];
            nothing_lost(ours);
            assert_eq!((&ours["path"], &ours["take"]), (&path.into(), &(!by.is_empty()).into()), "{ours}");
        }
    }
}

#[test]
fn latest() {
    let rows = results(&["latest", "--seconds", "0.2", "--size", "64", "--size", "65536"]);
    assert_eq!(rows[0]["floor"], "line2");
    for (row, size) in only_ours(&rows).into_iter().zip([64, 65536]) {
        nothing_lost(row);
        assert_eq!((row["size"].as_u64(), row.get("reordered")), (Some(size), None), "{row}");
        assert!(row["p50_ns"].is_number() && row["publish_p50_ns"].is_number(), "{row}");
    }
}

#[test]
fn pipeline_with_its_viewers_elsewhere() {
    let rows = results(&["pipeline", "--seconds", "1", "--viewers", "2", "--other-process"]);
    let ours = only_ours(&rows)[0];
    nothing_lost(ours);
    assert_eq!((&ours["other_process"], &ours["viewers"]), (&true.into(), &2.into()), "{ours}");
    assert_eq!(ours["copies"], 0, "{ours}");
}

#[test]
fn topology_with_a_debug_node() {
    let rows = results(&["topology", "mont_blanc", "--seconds", "2", "--debug-node"]);
    let seen_by: Vec<_> =
        rows.iter().map(|row| (&row["debug_node"], row["seen_by"].as_str().unwrap())).collect();
    let (yes, no) = (Value::from(true), Value::from(false));
    assert_eq!(seen_by, [(&no, "the robot"), (&yes, "the robot"), (&yes, "the debug node")]);
    rows.iter().for_each(nothing_lost);
    assert!(rows[1]["mean_ratio"].is_number(), "{}", rows[1]);
}

#[test]
fn entities() {
    let rows = results(&["entities", "--path", "shm", "--pairs", "20", "--seconds", "0.2"]);
    assert_eq!((rows.len(), &rows[0]["pairs"]), (1, &20.into()));
    nothing_lost(&rows[0]);
    assert!(rows[0]["create_ns_per_pair"].is_number() && rows[0]["rss_bytes_per_pair"].is_number());
    let rows = results(&["matching", "--seconds", "0.2"]);
    rows.iter().for_each(nothing_lost);
    let new: Vec<_> = rows.iter().filter_map(|row| row["new"].as_str()).collect();
    assert_eq!(new, ["process", "entity"]);
    let output = bench(&["participant", "--rounds", "1", "--json", "-"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(report["results"][0]["rss_bytes"].is_number(), "{report}");
}

#[test]
fn services() {
    let rows = results(&["requests", "--seconds", "0.3"]);
    let ours = only_ours(&rows);
    let waits: Vec<_> = ours.iter().map(|row| row["wait"].as_str().unwrap()).collect();
    assert_eq!(waits, ["poll", "spin", "sleep"]);
    for row in ours {
        nothing_lost(row);
        assert!(row["roundtrip_p50_ns"].is_number() && row["roundtrip_p90_ns"].is_number(), "{row}");
        assert!(row["cpu_percent"].is_number(), "{row}");
    }
    let rows = results(&["requests", "--wait", "sleep", "--rate", "100", "--seconds", "0.3"]);
    assert_eq!(only_ours(&rows)[0]["rate"].as_f64(), Some(100.0), "{rows:?}");
}

/// Sleeps a little.
fn pause() {
    let _ = clock_nanosleep_relative(ClockId::Monotonic, &Timespec { tv_sec: 0, tv_nsec: 5_000_000 });
}

/// Returns the directories that a process created for benchmarks.
fn directories_of(process: u32) -> Vec<PathBuf> {
    let prefix = format!("sinew-bench-{process}-");
    let entries = std::fs::read_dir("/dev/shm").unwrap().collect::<io::Result<Vec<_>>>().unwrap();
    let ours = entries.into_iter().filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix));
    ours.map(|entry| entry.path()).collect()
}

/// Starts a long benchmark, and waits until it is running.
fn started() -> Child {
    // Its floor, which is measured first, takes a fifth of that.
    let options = ["process-chain", "--seconds", "10", "--rate", "100"];
    // A shell's background job ignores SIGINT, and so would the processes that its tests start.
    let mut command = Command::new("env");
    command.args(["--default-signal=INT", env!("CARGO_BIN_EXE_sinew-bench")]);
    let child =
        command.args(options).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut child = child.unwrap();
    let number = child.id();
    let under_way = || {
        let mut rounds = directories_of(number).into_iter().filter_map(|path| std::fs::read_dir(path).ok());
        rounds.any(|mut rounds| rounds.next().is_some())
    };
    while !under_way() {
        assert_eq!(child.try_wait().unwrap(), None, "it ended before it was under way");
        pause();
    }
    child
}

#[test]
fn whatever_ends_a_run_nothing_is_left_behind() {
    for signal in [Signal::INT, Signal::KILL] {
        let mut child = started();
        let process = child.id();
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert!(!child.wait().unwrap().success());
        while !directories_of(process).is_empty() {
            pause();
        }
    }
}

#[test]
fn a_run_that_fails_leaves_nothing_behind() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew-bench"));
    command.args(["throughput", "--seconds", "0.1", "--size", "64"]);
    // Written to after the measurement: it fails then.
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let child = command.stdin(Stdio::null()).stdout(full).stderr(Stdio::piped()).spawn().unwrap();
    let process = child.id();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("writing to standard output failed"), "{}", text(&output.stderr));
    assert!(directories_of(process).is_empty());
}
