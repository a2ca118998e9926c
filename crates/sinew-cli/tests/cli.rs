//! The program from its users' view. No test here asserts a time: measured times depend on the
//! machine.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod command;

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use command::{only_ours, results, sinew, text};
use serde_json::Value;
use zune_jpeg::zune_core::bytestream::ZCursor;

#[test]
fn help_names_everything_there_is() {
    let output = sinew(&["--help"]);
    assert!(output.status.success());
    let help = text(&output.stdout);
    assert!(help.contains("demo") && help.contains("bench") && !help.contains("peer"), "{help}");
    let help = text(&sinew(&["bench", "--help"]).stdout);
    for scenario in [
        "floors",
        "chain",
        "service-chain",
        "pipeline",
        "topology",
        "entities",
        "fanout",
        "latest",
        "timer",
        "workers",
        "peers",
    ] {
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
    let cases: [(&[&str], &str); 33] = [
        (&["demo", "--viewer-of", "1"], "--processes"),
        (&[], "Usage"),
        (&["bench", "nothing"], "unrecognized subcommand"),
        (&["bench", "service-chain", "--threads", "2"], "--threads 2 needs --executor multi"),
        (&["bench", "service-chain", "--relays", "61"], "61 is not in 0..=60"),
        (&["bench", "service-chain", "--work-after", "10"], "unexpected argument"),
        (&["bench", "chain", "--executor", "several"], "possible values: single, multi"),
        (&["bench", "chain", "--executor", "multi", "--threads", "0"], "0 is not in 1..=61"),
        (&["bench", "chain", "--executor", "multi", "--threads=-2"], "-2 is not in 1..=61"),
        (&["bench", "chain", "--threads", "2"], "--threads 2 needs --executor multi"),
        (&["bench", "topology", "mont_blanc", "--threads", "1"], "--threads 1 needs --executor multi"),
        (&["demo", "--executor", "single", "--threads", "4"], "--threads 4 needs --executor multi"),
        (&["bench", "chain", "--work-after", "-10"], "-10 is not in 0..=1000000"),
        (&["bench", "chain", "--work-before", "1.5"], "invalid digit"),
        (&["bench", "chain", "--relays", "0", "--work-after", "10"], "--relays 0 has none"),
        (&["bench", "workers", "--threads", "0"], "0 is not in 1..=61"),
        (&["bench", "workers", "--work", "0"], "0 is not in 1..=10000"),
        (&["bench", "chain", "--rate", "0"], "from 0.1 to 100000"),
        (&["bench", "fanout", "--placement", "elsewhere"], "possible values: same, other, each"),
        (&["bench", "fanout", "--wait", "spin"], "needs --placement other or each"),
        (&["bench", "entities", "--path", "udp"], "possible values: intra, shm"),
        (&["bench", "process-chain", "--processes", "1"], "1 is not in 2..=12"),
        (&["bench", "pingpong", "--mode", "half"], "possible values: inline, loan, whole"),
        (&["bench", "pingpong", "--wait", "doze"], "possible values: poll, spin, sleep"),
        (&["bench", "pingpong", "--size", "65"], "must be one of 40, 64, 200"),
        (&["bench", "throughput", "--size", "-1"], "unexpected argument"),
        (&["bench", "big", "--mode", "borrowed"], "possible values: loan, owned"),
        (&["bench", "service-chain", "--other-process", "--async"], "cannot be used with"),
        (&["bench", "timer", "--seconds", "0"], "above 0"),
        (&["bench", "timer", "--rounds", "0"], "0 is not in 1..=1000"),
        (&["bench", "service-chain", "--wait", "spin"], "--other-process"),
        (&["bench", "peers", "--rounds=-1"], "-1 is not in 1..=1000"),
        (&["bench", "topology"], "<FILE>"),
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
        r#"{"Measure":["Floor",{"floor":"Line2","core":0,"size":64}]}"#,
        r#"{"Measure":["Known",{"directory":"/dev/shm"}]}"#,
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
fn floors() {
    let rows = results(&["bench", "floors", "--seconds", "0.01"]);
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
        assert_eq!((&row["lost"], &row["rounds"]), (&0.into(), &5.into()), "{row}");
    }
}

#[test]
fn chain() {
    let rows =
        results(&["bench", "chain", "--seconds", "0.2", "--rate", "200", "--rate", "500", "--relays", "3"]);
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
        let rows = results(&[&["bench"], options, &["--seconds", "0.2", "--rounds", "2"]].concat());
        let rounds = rows.iter().filter_map(|row| row["rounds"].as_u64()).collect::<Vec<_>>();
        assert!(!rounds.is_empty() && rounds.iter().all(|&rounds| rounds == 2), "{options:?}: {rows:?}");
    }
}

#[test]
fn the_comparison_with_peers_runs_in_a_checkout_only() {
    let place = tempfile::tempdir().unwrap();
    let program = place.path().join("sinew"); // the tests' own program lies in a checkout
    std::fs::copy(env!("CARGO_BIN_EXE_sinew"), &program).unwrap();
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
    let runner = checkout.join("run");
    std::fs::write(&runner, "#!/bin/sh\nprintf '<%s>' \"$@\"\n").unwrap();
    std::fs::set_permissions(&runner, std::fs::Permissions::from_mode(0o755)).unwrap();
    let output = peers(&["--scenario", "chain", "--sinew", "/elsewhere", "--quick"]);
    assert_eq!(text(&output.stdout), "<--scenario><chain><--sinew></elsewhere><--quick>");
}

#[test]
fn chain_of_relays_that_work() {
    let common = ["bench", "chain", "--seconds", "0.3", "--rate", "100", "--relays", "2"];
    let rows = results(&[&common[..], &["--executor", "multi", "--work-after", "100"]].concat());
    let two_cores = std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1);
    let floors: Vec<_> = rows.iter().filter_map(|row| row["floor"].as_str()).collect();
    assert_eq!(floors, if two_cores { vec!["wake", "threads"] } else { vec!["threads"] });
    let ours = only_ours(&rows)[0];
    assert_eq!((&ours["executor"], &ours["threads"]), (&"multi".into(), &2.into()), "{ours}");
    assert_eq!((&ours["work_before_us"], &ours["work_after_us"]), (&0.into(), &100.into()), "{ours}");
    assert_eq!((&ours["relays"], &ours["lost"]), (&2.into(), &0.into()), "{ours}");
    assert!(ours["p50_ns"].is_number() && ours["per_hop_p50_ns"].is_number(), "{ours}");
    assert!(ours["per_hop_ratio"].is_number() && ours["floor_ratio"].is_number() == two_cores, "{ours}");

    let rows = results(&[&common[..], &["--work-before", "100"]].concat());
    assert_eq!(rows[0]["floor"], "direct");
    let ours = only_ours(&rows)[0];
    assert_eq!((&ours["executor"], &ours["threads"]), (&"single".into(), &1.into()), "{ours}");
    assert_eq!((&ours["work_before_us"], &ours["lost"]), (&100.into(), &0.into()), "{ours}");
}

#[test]
fn service_chain() {
    let common = ["bench", "service-chain", "--seconds", "0.2", "--rate", "200", "--relays", "3"];
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
    let rows = results(&["bench", "workers", "--seconds", "0.3", "--work", "10"]);
    let two_cores = std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1);
    let cases: Vec<_> = rows.iter().map(|row| (row["case"].as_str().unwrap(), &row["system"])).collect();
    let all = [
        ("two subscriptions", &"floor".into()),
        ("two subscriptions", &"sinew".into()),
        ("busy topics", &"floor".into()),
        ("busy topics", &"sinew".into()),
    ];
    assert_eq!(cases, all[if two_cores { 0 } else { 2 }..]);
    let busy = &rows[rows.len() - 1];
    assert_eq!(
        (&busy["threads"], &busy["topics"], &busy["lost"]),
        (&4.into(), &8.into(), &0.into()),
        "{busy}"
    );
    assert!(busy["callbacks_ratio"].is_number() && busy["callbacks_per_second"].is_number(), "{busy}");
}

#[test]
fn results_on_standard_output_are_nothing_but_json() {
    let output = sinew(&["bench", "timer", "--seconds", "0.05", "--json", "-"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["results"][0]["scenario"], "timer");
    assert!(text(&output.stderr).contains("P50"), "{}", text(&output.stderr));
    assert!(!Path::new("-").exists());
}

#[test]
fn pipeline_makes_no_copy() {
    for viewers in ["1", "2"] {
        let rows = results(&["bench", "pipeline", "--seconds", "0.6", "--viewers", viewers]);
        let ours = only_ours(&rows)[0];
        assert_eq!((&ours["copies"], &ours["lost"]), (&0.into(), &0.into()), "{ours}");
    }
}

#[test]
fn fanout_and_timer() {
    let rows = results(&["bench", "fanout", "--seconds", "0.1", "--subscriptions", "3"]);
    let ours = only_ours(&rows)[0];
    assert_eq!((&ours["subscriptions"], &ours["lost"]), (&3.into(), &0.into()), "{ours}");
    assert!(ours["publish_p50_ns"].is_number(), "{ours}");

    let rows = results(&["bench", "timer", "--seconds", "0.1"]);
    let loads: Vec<_> = only_ours(&rows).iter().map(|row| row["load"].clone()).collect();
    assert_eq!(loads, ["idle", "one core busy"]);
    assert!(rows.iter().all(|row| row["lateness_p99_ns"].is_number()));
}

#[test]
fn entities() {
    let rows = results(&["bench", "entities", "--seconds", "0.05", "--pairs", "5", "--pairs", "50"]);
    let pairs: Vec<_> = rows.iter().map(|row| row["pairs"].as_u64().unwrap()).collect();
    assert_eq!(pairs, [5, 50, 10_000], "the last: 100 x 100 on one topic");
    for row in &rows {
        assert!(
            row["create_ns_per_pair"].as_f64() > Some(0.0) && row["rss_bytes_per_pair"].is_number(),
            "{row}"
        );
        assert!(row["messages"].as_u64() > Some(0), "{row}");
    }
}

#[test]
fn a_shipped_topology_by_name_and_by_path() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sinew-bench/topologies/sierra_nevada.json");
    for (name, called) in [("mont_blanc", "mont_blanc"), (file.to_str().unwrap(), "sierra_nevada")] {
        let rows = results(&["bench", "topology", name, "--seconds", "0.3", "--scale-rate", "2"]);
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
        let output = sinew(&["bench", "topology", path]);
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stderr).contains(&expected), "{expected} in {}", text(&output.stderr));
    }
    let output = sinew(&["bench", "topology", "/dev/zero"]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        told,
        "sinew: /dev/zero is longer than 16777216 bytes, which no topology is: does it name the right file?\n"
    );
    let output = sinew(&["bench", "topology", "/nowhere/robot.json"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("sierra_nevada"), "{}", text(&output.stderr));
}

#[test]
fn results_that_could_not_be_written_are_known_before_measuring() {
    let output = sinew(&["bench", "topology", "mont_blanc", "--json", "/nowhere/results.json"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("can't write the results to /nowhere/results.json"));
    assert!(!text(&output.stderr).contains("measuring"));
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
    let output = sinew(&["demo", "--seconds", "1", "--rate", "10", "--save", to.to_str().unwrap()]);
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
    for arguments in [["demo", "--seconds", "0.3"], ["bench", "timer", "--seconds=0.05"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        assert!(!text(&output.stderr).contains("panicked"), "{}", text(&output.stderr));
    }
}
