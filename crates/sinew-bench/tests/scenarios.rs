//! The benchmarks from their users' view. No test here asserts a time: measured times depend on the
//! machine.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod command;

use std::path::Path;
use std::process::Command;

use command::{bench, only_ours, results, text};
use serde_json::Value;

#[test]
fn help_names_every_scenario() {
    let help = text(&bench(&["--help"]).stdout);
    for scenario in [
        "floors",
        "chain",
        "service-chain",
        "process-chain",
        "requests",
        "pingpong",
        "pipeline",
        "topology",
        "entities",
        "fanout",
        "big",
        "throughput",
        "latest",
        "timer",
        "workers",
        "two-subscriptions",
        "matching",
        "participant",
        "languages",
        "peers",
    ] {
        assert!(help.contains(scenario), "{scenario} in {help}");
        let own = text(&bench(&[scenario, "--help"]).stdout);
        assert!(own.contains("--seconds") && own.contains("--json"), "{scenario}");
    }
}

#[test]
fn wrong_command_lines_end_with_2_and_say_what_there_is() {
    let cases: [(&[&str], &str); 30] = [
        (&["nothing"], "unrecognized subcommand"),
        (&["service-chain", "--threads", "2"], "--threads 2 needs --executor multi"),
        (&["service-chain", "--relays", "61"], "61 is not in 0..=60"),
        (&["service-chain", "--work-after", "10"], "unexpected argument"),
        (&["chain", "--executor", "several"], "possible values: single, multi"),
        (&["chain", "--executor", "multi", "--threads", "0"], "0 is not in 1..=61"),
        (&["chain", "--executor", "multi", "--threads=-2"], "-2 is not in 1..=61"),
        (&["chain", "--threads", "2"], "--threads 2 needs --executor multi"),
        (&["topology", "mont_blanc", "--threads", "1"], "--threads 1 needs --executor multi"),
        (&["chain", "--work-after", "-10"], "-10 is not in 0..=1000000"),
        (&["chain", "--work-before", "1.5"], "invalid digit"),
        (&["chain", "--relays", "0", "--work-after", "10"], "--relays 0 has none"),
        (&["workers", "--threads", "0"], "0 is not in 1..=61"),
        (&["workers", "--work", "0"], "0 is not in 1..=10000"),
        (&["chain", "--rate", "0"], "from 0.1 to 100000"),
        (&["fanout", "--placement", "elsewhere"], "possible values: same, other, each"),
        (&["fanout", "--wait", "spin"], "needs --placement other or each"),
        (&["entities", "--path", "udp"], "possible values: intra, shm"),
        (&["process-chain", "--processes", "1"], "1 is not in 2..=12"),
        (&["pingpong", "--mode", "half"], "possible values: inline, loan, whole"),
        (&["pingpong", "--wait", "doze"], "possible values: poll, spin, sleep"),
        (&["pingpong", "--size", "65"], "must be one of 40, 64, 200"),
        (&["throughput", "--size", "-1"], "unexpected argument"),
        (&["big", "--mode", "borrowed"], "possible values: loan, owned"),
        (&["entities", "--one-topic", "--path", "shm"], "it needs --path intra"),
        (&["languages", "--case", "ada"], "possible values: chain, raw, publish, python"),
        (&["languages", "--size", "0"], "0 is not in 1..=16777216"),
        (&["timer", "--seconds", "0"], "above 0"),
        (&["timer", "--rounds", "0"], "0 is not in 1..=1000"),
        (&["topology"], "<FILE>"),
    ];
    for (arguments, expected) in cases {
        let output = bench(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains(expected), "{arguments:?}: {}", text(&output.stderr));
    }
}

#[test]
fn floors() {
    let rows = results(&["floors", "--seconds", "0.01"]);
    let of = |floor: &str| rows.iter().filter(|row| row["floor"] == floor).collect::<Vec<_>>();
    assert_eq!(
        of("direct").iter().map(|row| row["rate"].as_f64().unwrap()).collect::<Vec<_>>(),
        [10.0, 100.0, 1000.0]
    );
    assert_eq!((of("copy").len(), of("sleep").len()), (10, 1));
    let two_cores = std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1);
    let expected = if two_cores { (1, 9, 4) } else { (0, 0, 0) };
    assert_eq!((of("line2").len(), of("handover").len(), of("wake").len()), expected);
    for row in &rows {
        assert!(row["p50_ns"].as_f64().unwrap() > 0.0, "{row}");
        assert!(row["p50_ns"].as_f64() <= row["max_ns"].as_f64(), "{row}");
        assert_eq!((&row["lost"], &row["rounds"]), (&0.into(), &2.into()), "{row}");
    }
}

#[test]
fn chain() {
    let rows = results(&["chain", "--seconds", "0.2", "--rate", "200", "--rate", "500", "--relays", "3"]);
    assert_eq!(rows.len(), 4, "a floor and a row of ours for each rate");
    for (row, rate) in only_ours(&rows).into_iter().zip([200.0, 500.0]) {
        assert_eq!((&row["relays"], &row["executor"]), (&3.into(), &"single".into()));
        assert_eq!((row["rate"].as_f64(), row["lost"].as_u64()), (Some(rate), Some(0)), "{row}");
        assert!(row["cpu_percent"].is_number() && row["floor_ratio"].is_number(), "{row}");
        assert!(row.get("reordered").is_none() && row["messages"].as_u64() > Some(0), "{row}");
    }
}

#[test]
fn rounds_are_as_many_as_asked_for() {
    for options in [
        &["chain", "--relays", "1", "--rate", "100"][..],
        &["entities", "--pairs", "2"],
        &["topology", "mont_blanc", "--debug-node"],
    ] {
        let rows = results(&[options, &["--seconds", "0.2", "--rounds", "2"]].concat());
        let rounds = rows.iter().filter_map(|row| row["rounds"].as_u64()).collect::<Vec<_>>();
        assert!(!rounds.is_empty() && rounds.iter().all(|&rounds| rounds == 2), "{options:?}: {rows:?}");
    }
}

#[test]
fn chain_of_relays_that_work() {
    let common = ["chain", "--seconds", "0.3", "--rate", "100", "--relays", "2"];
    let rows = results(&[&common[..], &["--executor", "multi", "--work-after", "100"]].concat());
    let two_cores = std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1);
    let floors: Vec<_> = rows.iter().filter_map(|row| row["floor"].as_str()).collect();
    assert_eq!(floors, if two_cores { vec!["threads", "wake"] } else { vec!["threads"] });
    let ours = only_ours(&rows)[0];
    assert_eq!(ours["executor"], "multi", "{ours}");
    assert_eq!((&ours["work_before_us"], &ours["work_after_us"]), (&0.into(), &100.into()), "{ours}");
    assert_eq!((&ours["relays"], &ours["lost"]), (&2.into(), &0.into()), "{ours}");
    assert!(ours["p50_ns"].is_number() && ours["per_hop_p50_ns"].is_number(), "{ours}");
    assert!(ours["per_hop_ratio"].is_number() && ours["floor_ratio"].is_number() == two_cores, "{ours}");

    let rows = results(&[&common[..], &["--work-before", "100"]].concat());
    assert_eq!(rows[0]["floor"], "direct");
    let ours = only_ours(&rows)[0];
    assert_eq!(ours["executor"], "single", "{ours}");
    assert_eq!((&ours["work_before_us"], &ours["lost"]), (&100.into(), &0.into()), "{ours}");
}

#[test]
fn service_chain() {
    let common = ["service-chain", "--seconds", "0.2", "--rate", "200", "--relays", "3"];
    let cases: [(&[&str], bool, &str); 4] = [
        (&[], false, "single"),
        (&["--async"], true, "single"),
        (&["--executor", "multi"], false, "multi"),
        (&["--executor", "multi", "--threads", "3", "--async"], true, "multi"),
    ];
    for (options, awaits, executor) in cases {
        let rows = results(&[&common[..], options].concat());
        assert_eq!((rows.len(), &rows[0]["floor"]), (2, &"direct".into()));
        let ours = only_ours(&rows)[0];
        assert_eq!((&ours["async"], &ours["executor"]), (&awaits.into(), &executor.into()), "{ours}");
        assert_eq!((&ours["relays"], &ours["rate"]), (&3.into(), &200.0.into()), "{ours}");
        assert_eq!((&ours["lost"], ours.get("reordered")), (&0.into(), None), "{ours}");
        assert!(ours["p50_ns"].is_number() && ours["roundtrip_p50_ns"].is_number(), "{ours}");
    }
}

#[test]
fn workers_beside_plain_threads() {
    let rows = results(&["workers", "--seconds", "0.3", "--work", "10"]);
    assert_eq!((rows.len(), &rows[0]["floor"]), (2, &"plain threads".into()));
    let busy = &rows[1];
    assert_eq!(
        (&busy["threads"], &busy["topics"], &busy["lost"]),
        (&4.into(), &8.into(), &0.into()),
        "{busy}"
    );
    assert!(busy["callbacks_ratio"].is_number() && busy["callbacks_per_second"].is_number(), "{busy}");

    if std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1) {
        let rows = results(&["two-subscriptions", "--seconds", "0.3"]);
        assert!(only_ours(&rows)[0]["floor_ratio"].is_number(), "{rows:?}");
    }
}

#[test]
fn results_on_standard_output_are_nothing_but_json() {
    let output = bench(&["timer", "--seconds", "0.05", "--json", "-"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["results"][0]["scenario"], "timer");
    assert!(text(&output.stderr).contains("P50"), "{}", text(&output.stderr));
    assert!(!Path::new("-").exists());
}

#[test]
fn pipeline_makes_no_copy() {
    for viewers in ["1", "2"] {
        let rows = results(&["pipeline", "--seconds", "0.6", "--viewers", viewers]);
        let ours = only_ours(&rows)[0];
        assert_eq!((&ours["copies"], &ours["lost"]), (&0.into(), &0.into()), "{ours}");
    }
}

#[test]
fn fanout_and_timer() {
    let rows = results(&["fanout", "--seconds", "0.1", "--subscriptions", "3"]);
    let ours = only_ours(&rows)[0];
    assert_eq!((&ours["subscriptions"], &ours["lost"]), (&3.into(), &0.into()), "{ours}");
    assert!(ours["publish_p50_ns"].is_number(), "{ours}");

    let rows = results(&["timer", "--seconds", "0.1"]);
    let loads: Vec<_> = only_ours(&rows).iter().map(|row| row["load"].clone()).collect();
    assert_eq!(loads, ["idle", "one-core-busy"]);
    assert!(rows.iter().all(|row| row["lateness_p99_ns"].is_number()));
}

#[test]
fn entities() {
    let rows = results(&["entities", "--seconds", "0.05", "--pairs", "5", "--pairs", "50"]);
    let pairs: Vec<_> = rows.iter().map(|row| row["pairs"].as_u64().unwrap()).collect();
    assert_eq!(pairs, [5, 50]);
    let one_topic = results(&["entities", "--seconds", "0.05", "--pairs", "5", "--one-topic"]);
    assert_eq!(one_topic[0]["one_topic"], true);
    for row in rows.iter().chain(&one_topic) {
        assert!(
            row["create_ns_per_pair"].as_f64() > Some(0.0) && row["rss_bytes_per_pair"].is_number(),
            "{row}"
        );
        assert!(row["messages"].as_u64() > Some(0), "{row}");
    }
}

#[test]
fn a_shipped_topology_by_name_and_by_path() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("topologies/sierra_nevada.json");
    for (name, called) in [("mont_blanc", "mont_blanc"), (file.to_str().unwrap(), "sierra_nevada")] {
        let rows = results(&["topology", name, "--seconds", "0.3", "--scale-rate", "2"]);
        let ours = only_ours(&rows)[0];
        assert_eq!(
            (&ours["file"], &ours["lost"], &ours["copies"]),
            (&called.into(), &0.into(), &0.into()),
            "{ours}"
        );
        assert!(ours["mean_ns"].is_number() && ours["rss_bytes"].is_number(), "{ours}");
        assert!(ours.get("rss_growth_bytes").is_none(), "a run this short can't tell: {ours}");
    }
}

#[test]
fn a_bad_topology_says_where() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("robot.json");
    let path = file.to_str().unwrap();
    let cases = [
        ("{\"nodes\": [\n{]}", format!("{path}:2:2: key must be a string")),
        (
            "{\"nodes\": [{\"node_name\": \"lyon\", \"publishers\": [{\"topic_name\": 7}]}]}",
            format!("{path}:1:64: node `lyon`, publishers[0].topic_name: invalid type: integer `7`"),
        ),
        ("{\"nodes\": []}", format!("{path}: no node publishes anything")),
    ];
    for (content, expected) in cases {
        std::fs::write(&file, content).unwrap();
        let output = bench(&["topology", path]);
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stderr).contains(&expected), "{expected} in {}", text(&output.stderr));
    }
    let output = bench(&["topology", "/dev/zero"]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        told,
        "sinew-bench: /dev/zero is longer than 16777216 bytes, which no topology is: does it name the right file?\n"
    );
    let output = bench(&["topology", "/nowhere/robot.json"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("sierra_nevada"), "{}", text(&output.stderr));
}

#[test]
fn results_that_could_not_be_written_are_known_before_measuring() {
    let output = bench(&["topology", "mont_blanc", "--json", "/nowhere/results.json"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("can't write the results to /nowhere/results.json"));
    assert!(!text(&output.stderr).contains("measuring"));
}

#[test]
fn without_an_interpreter_python_is_left_out_with_a_remark() {
    let nowhere = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew-bench"));
    command.args(["languages", "--case", "python"]).env("PATH", nowhere.path()).env_remove("SINEW_PYTHON");
    let output = command.output().unwrap();
    let remark = text(&output.stderr);
    assert!(output.status.success() && remark.contains("there is no Python 3.11 or newer"), "{remark}");
}

#[test]
fn languages_need_a_library() {
    let nowhere = tempfile::tempdir().unwrap();
    let place = nowhere.path().to_str().unwrap();
    let output = bench(&["languages", "--library", place]);
    assert_eq!(output.status.code(), Some(1));
    let sentence = text(&output.stderr);
    assert!(sentence.contains(&format!("no libsinew.so at {place}")), "{sentence}");
}
