//! The runner from a user's view, with all peers that are built and with an adapter that does
//! everything that adapters may do. The form of the report is checked, never a time.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::Value;
use tempfile::TempDir;

/// The adapter's answers for each of its systems. `$2` is the case.
const ADAPTER: &str = r#"#!/bin/sh
all='["chain","process-chain","service-chain","pingpong","fanout","requests","entities","throughput","latest","big","topology"]'
system() { printf '{"name":"%s","how":"it is <made> up","link":"https://example.org","scenarios":%s%s}' "$1" "$2" "$3"; }
figures='"p50_ns":1000.5,"p90_ns":2000,"p99_ns":3000,"mean_ns":1500,"publish_p50_ns":900,"roundtrip_p50_ns":1100,"due_p50_ns":7000,"due_p999_ns":8000,"due_max_ns":9000,"create_ns_per_pair":5000,"rss_bytes_per_pair":4096,"messages_per_second":100000,"cpu_percent":7.5,"rss_bytes":1000000'
case "$1" in
systems)
    [ -z "$HANGS" ] || hangs=",$(system hangs '["service-chain"]')"
    printf '{"peer":"adapted","version":"1.2","systems":[%s,%s,%s,%s,%s,%s,%s,%s%s]}\n' \
        "$(system good "$all" ',"differs":[["chain","its relays are | imagined"]]')" \
        "$(system loses "$all")" "$(system fails "$all")" "$(system nonsense "$all")" "$(system silent "$all")" \
        "$(system stumbles "$all")" "$(system passes "$all")" "$(system absent "$all" ',"unavailable":"there is no such device"')" "$hangs" ;;
run)
    case "$2" in
    *'"system":"good"'*) echo 'warming up'; echo "{$figures,\"messages\":10,\"lost\":0}" ;;
    *'"system":"loses"'*) echo "{$figures,\"messages\":10,\"lost\":3}" ;;
    *'"system":"silent"'*) echo "{$figures}" ;;
    *'"system":"fails"'*) echo 'first line' >&2; echo 'the link is down' >&2; exit 1 ;;
    *'"system":"stumbles"'*) # Every other time.
        if mkdir "$PLACE/stumbled" 2>/dev/null; then exit 1; fi
        rmdir "$PLACE/stumbled"; echo "{$figures,\"messages\":10,\"lost\":0}" ;;
    *'"system":"passes"'*) exit 3 ;;
    *'"system":"nonsense"'*) echo 'all went well' ;;
    *) echo $$ > "$PLACE/hanging"; sleep 1000 & echo $! > "$PLACE/child"; wait ;;
    esac ;;
esac
"#;

/// A directory with the adapter in it.
struct Scene {
    place: TempDir,
}

impl Scene {
    fn set() -> Self {
        let place = tempfile::tempdir().unwrap();
        let adapter = place.path().join("sinew-peer-adapted");
        std::fs::write(&adapter, ADAPTER).unwrap();
        std::fs::set_permissions(&adapter, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::create_dir(place.path().join("tmp")).unwrap();
        Self { place }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn peers(&self, options: &[&str]) -> Command {
        let mut command = self.command(options);
        command.arg("--no-build").arg("--sinew").arg(sinew());
        command
    }

    /// Returns the runner with these options only.
    fn command(&self, options: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_peers"));
        command.args(options);
        let inherited = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{inherited}", self.place.path().display()));
        command.env("PLACE", self.place.path()).env("TMPDIR", self.path("tmp")).env("HANGS", "yes");
        command.current_dir(self.place.path()).stdin(Stdio::null());
        command
    }

    fn run(&self, options: &[&str]) -> Output {
        let output = self.peers(options).output().unwrap();
        assert!(output.status.success(), "{options:?}: {}", String::from_utf8_lossy(&output.stderr));
        output
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// Checks that the process with the id in the adapter's file is gone.
    #[track_caller]
    fn is_gone(&self, name: &str) {
        assert!(!self.lives(name), "{name} still runs");
    }

    /// Returns `true` if the process with the id in the adapter's file is alive.
    fn lives(&self, name: &str) -> bool {
        let pid = self.process(name);
        // A killed process may still wait for its parent to reap it.
        let status = std::fs::read_to_string(format!("/proc/{pid}/stat"));
        let is_dead = status.is_ok_and(|status| status.contains(") Z "));
        !is_dead && test_kill_process(pid).is_ok()
    }

    fn process(&self, name: &str) -> Pid {
        Pid::from_raw(self.read(name).trim().parse().unwrap()).unwrap()
    }
}

/// Returns the product's program: a build of either kind, as times don't matter.
fn sinew() -> PathBuf {
    let product = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap();
    let named = std::env::var_os("SINEW_PROGRAM").map(PathBuf::from);
    let targets =
        std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from).into_iter().chain([product.join("target")]);
    let built =
        targets.flat_map(|target| ["release", "debug"].map(|kind| target.join(kind).join("sinew-bench")));
    let found = named.into_iter().chain(built).find(|path| path.is_file());
    found.expect("`cargo build -p sinew-bench` in the product's workspace comes first (or SINEW_PROGRAM names the program)")
}

fn well_formed(name: &str, text: &str) {
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..roxmltree::ParsingOptions::default() };
    if let Err(error) = roxmltree::Document::parse_with_options(text, options) {
        panic!("{name}: {error}");
    }
}

/// The sections of `--quick`, and the compared figure of each.
const SECTIONS: [(&str, &str); 16] = [
    ("chain", "p50_ns"),
    ("growth", "p50_ns"),
    ("tails", "due_p50_ns"),
    ("process-chain", "p50_ns"),
    ("service-chain", "p50_ns"),
    ("pingpong-loan", "p50_ns"),
    ("pingpong-whole", "p50_ns"),
    ("pingpong-sleep", "p50_ns"),
    ("fanout", "publish_p50_ns"),
    ("requests", "p50_ns"),
    ("entities", "create_ns_per_pair"),
    ("throughput-intra", "messages_per_second"),
    ("throughput-shm", "messages_per_second"),
    ("latest", "p50_ns"),
    ("big", "p50_ns"),
    ("topology", "mean_ns"),
];

#[test]
fn every_scenario_is_in_the_report() {
    let scene = Scene::set();
    let forms = ["--json", "r.json", "--markdown", "docs/r.md", "--html", "r.html", "--svg", "docs/img"];
    std::fs::create_dir(scene.path("docs")).unwrap();
    // Another test checks hanging: here it would take as long as on the slowest machine.
    let mut run = scene.peers(&[&["--quick", "--rounds", "1", "--seconds", "0.15"], &forms[..]].concat());
    let output = run.env_remove("HANGS").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    let report = scene.json("r.json");
    assert!(report["host"]["cpu"].is_string() && report["host"]["kernel"].is_string());
    assert_eq!((&report["rounds"], &report["ended_early"]), (&1.into(), &false.into()));
    let rows = report["results"].as_array().unwrap();
    let (page, html) = (scene.read("docs/r.md"), scene.read("r.html"));
    for (section, key) in SECTIONS {
        let of = |system: &str| {
            let row = rows.iter().find(|row| row["section"] == section && row["system"] == system);
            row.unwrap_or_else(|| panic!("{system} in {section}"))
        };
        let ours = of("sinew");
        assert!(ours[key].as_f64().is_some_and(|figure| figure > 0.0), "{ours}");
        assert_eq!(
            (&ours["rounds"], ours["by_round"].as_array().map(Vec::len)),
            (&1.into(), Some(1)),
            "{ours}"
        );
        assert_ne!(ours["fault"], "messages not counted", "{ours}");
        let ratios = &ours["ratios"][key];
        if ours.get("fault").is_none() {
            assert!(ratios["good"]["ratio"].as_f64().is_some_and(|ratio| ratio > 0.0), "{ours}");
            assert_eq!(ratios["good"]["rounds"], 1);
        }
        assert!(ratios.get("loses").is_none(), "what was lost makes no ratio: {ours}");
        assert_eq!(
            (&of("good")["peer"], &of("good")[key]),
            (&"adapted".into(), &rows_figure(key)),
            "{section}"
        );
        assert_eq!(of("loses")["fault"], "3 lost of 10");
        // Creating publishers sends nothing that could be counted.
        let (fault, is_compared) = match section {
            "entities" => (None, true),
            _ => (Some("messages not counted"), false),
        };
        assert_eq!(of("silent").get("fault").and_then(Value::as_str), fault);
        assert_eq!(ratios.get("silent").is_some(), is_compared && ours.get("fault").is_none(), "{ours}");
        assert!(of("stumbles").get("failed").is_none(), "a round is tried twice: {}", of("stumbles"));
        assert_eq!(of("fails")["failed"], "the link is down");
        assert!(of("nonsense")["failed"].as_str().unwrap().contains("protocol"), "{}", of("nonsense"));
        let isnt_there = |row: &Value| ["absent", "passes"].iter().all(|name| row["system"] != *name);
        assert!(rows.iter().all(isnt_there));
        assert!(html.contains(&format!("<h2 id=\"{section}\">")), "{section}");
    }
    every_peer_does_what_it_names(&report);
    // The second figures also have winners.
    for figure in ["until the last has it", "a write", "memory of a pair"] {
        let verdict = |line: &&str| line.contains(&format!(", {figure}: "));
        assert!(
            page.lines().any(|line| verdict(&line)) && html.lines().any(|line| verdict(&line)),
            "{figure}"
        );
    }
    for text in [&page, &html] {
        assert!(
            text.contains("a peer is ahead, or within 1.5 times")
                && text.contains("0016-beside-the-peers.md")
        );
        assert_eq!(text.matches("above 1, Sinew is ahead").count(), 2);
    }
    let missing = report["not_measured"].as_array().unwrap();
    let reason =
        |name: &str| missing.iter().find(|missing| missing["name"] == name).map(|missing| &missing["reason"]);
    assert_eq!(reason("absent"), Some(&"there is no such device".into()));
    let bars = report["bars"].as_array().unwrap();
    assert!(bars.len() > 10 && bars.iter().all(|bar| bar["to_reach"].is_string()));

    for title in html.split("<h2 id=").skip(1) {
        let title = title.split(['<', '>']).nth(1).unwrap();
        assert!(page.contains(&format!("\n## {title}\n")), "{title}");
    }
    assert!(page.contains("its relays are \\| imagined") && page.contains("it is &lt;made> up"), "{page}");
    assert!(page.contains("](img/chain-1.svg)") && page.contains("](img/peers.svg)"));
    assert!(!html.contains("<made>") && !html.contains("src=") && !html.contains("<script"));
    assert!(html.contains("prefers-color-scheme"));
    well_formed("the page", &html);
    let mut plots = 0;
    for file in std::fs::read_dir(scene.path("docs/img")).unwrap() {
        let path = file.unwrap().path();
        well_formed(&path.display().to_string(), &std::fs::read_to_string(&path).unwrap());
        plots += 1;
    }
    assert!(plots > 20, "{plots}");
    assert_eq!(std::fs::read_dir(scene.path("tmp")).unwrap().count(), 0, "files are left");
}

/// Each system has, in each scenario that it lists, a row with the compared figure; none fails.
fn every_peer_does_what_it_names(report: &Value) {
    let rows = report["results"].as_array().unwrap();
    let peers: Vec<&Value> =
        report["peers"].as_array().unwrap().iter().filter(|peer| peer["peer"] != "adapted").collect();
    let names: Vec<&str> = peers.iter().filter_map(|peer| peer["peer"].as_str()).collect();
    // Not with `eprintln`, which is shown only for failed tests.
    let _ = writeln!(std::io::stderr(), "the peers that are built here: {}", names.join(", "));
    for system in peers.iter().flat_map(|peer| peer["systems"].as_array().unwrap()) {
        for scenario in system["scenarios"].as_array().unwrap() {
            let is_of = |row: &&Value| row["system"] == system["name"] && row["scenario"] == *scenario;
            let done: Vec<&Value> = rows.iter().filter(is_of).collect();
            assert!(!done.is_empty(), "{} names {scenario} and has no row", system["name"]);
            for row in done {
                let (_, key) = SECTIONS.into_iter().find(|(section, _)| row["section"] == *section).unwrap();
                assert!(row.get("failed").is_none(), "{row}");
                assert!(row[key].as_f64().is_some_and(|figure| figure > 0.0), "{row}");
            }
        }
    }
}

/// Returns the adapter's answer as the report writes it.
fn rows_figure(key: &str) -> Value {
    match key {
        "p50_ns" => 1000.5.into(),
        "publish_p50_ns" => 900.into(),
        "create_ns_per_pair" => 5000.into(),
        "messages_per_second" => 100_000.into(),
        "mean_ns" => 1500.into(),
        "due_p50_ns" => 7000.into(),
        other => panic!("{other}"),
    }
}

#[test]
fn what_hangs_is_ended_with_all_it_started_and_the_rest_goes_on() {
    let scene = Scene::set();
    let options =
        ["--quick", "--scenario", "service-chain", "--peer", "adapted", "--limit", "5", "--json", "r.json"];
    scene.run(&options);
    let report = scene.json("r.json");
    let rows = report["results"].as_array().unwrap();
    let of = |system: &str| rows.iter().find(|row| row["system"] == system).unwrap();
    assert_eq!(of("hangs")["failed"], "it was ended after 5 s");
    assert_eq!(of("good")["rounds"], 2, "{}", of("good"));
    scene.is_gone("hanging");
    scene.is_gone("child");
}

/// Returns `true` if this process, and so everything that it starts, ignores a signal.
fn is_ignored(signal: Signal) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(ignored.trim(), 16).unwrap() >> (signal.as_raw() - 1) & 1 == 1
}

#[test]
fn a_run_that_is_ended_leaves_a_report_of_what_is_done() {
    // A program that is started with `nohup` should go on.
    let hang_up = (!is_ignored(Signal::HUP)).then_some(Signal::HUP);
    for signal in [Signal::INT, Signal::TERM].into_iter().chain(hang_up) {
        let scene = Scene::set();
        let options = [
            "--scenario",
            "service-chain",
            "--seconds",
            "0.1",
            "--peer",
            "adapted",
            "--json",
            "r.json",
            "--html",
            "r.html",
        ];
        let mut child = scene.peers(&options).stderr(Stdio::null()).spawn().unwrap();
        while !scene.path("child").exists() {
            assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
            std::thread::sleep(Duration::from_millis(10));
        }
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130));
        let report = scene.json("r.json");
        assert_eq!(report["ended_early"], true);
        assert!(report["results"].as_array().unwrap().iter().any(|row| row["system"] == "good"));
        assert!(scene.read("r.html").contains("ended early"));
        scene.is_gone("hanging");
        scene.is_gone("child");
        assert_eq!(std::fs::read_dir(scene.path("tmp")).unwrap().count(), 0, "files are left");
    }
}

#[test]
fn a_run_that_is_killed_leaves_nothing() {
    let scene = Scene::set();
    let options = ["--scenario", "service-chain", "--seconds", "0.1", "--peer", "adapted"];
    let mut child = scene.peers(&options).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // The last thing that the adapter does.
    while !std::fs::read_to_string(scene.path("child")).is_ok_and(|pid| pid.ends_with('\n')) {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let is_cleared_up = || {
        let files = std::fs::read_dir(scene.path("tmp")).unwrap().count();
        files == 0 && !scene.lives("hanging") && !scene.lives("child")
    };
    // Far longer than necessary on any machine.
    let until = Instant::now() + Duration::from_secs(60);
    while !is_cleared_up() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(10));
    }
    let is_clear = is_cleared_up();
    for name in ["hanging", "child"].into_iter().filter(|name| scene.lives(name)) {
        kill_process(scene.process(name), Signal::KILL).unwrap();
    }
    assert!(is_clear, "a process or a file is left");
}

/// Until Sinew's program has returned its version, there is nothing to report; a report is written
/// nevertheless.
#[test]
fn a_run_that_is_ended_before_it_measures_says_so() {
    let scene = Scene::set();
    let slow = scene.path("slow");
    std::fs::write(&slow, "#!/bin/sh\ntouch \"$PLACE/asked\"\nsleep 1000\n").unwrap();
    std::fs::set_permissions(&slow, std::fs::Permissions::from_mode(0o755)).unwrap();
    let options = ["--no-build", "--peer", "adapted", "--json", "r.json", "--sinew", "./slow"];
    let mut child = scene.command(&options).stderr(Stdio::null()).spawn().unwrap();
    while !scene.path("asked").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(10));
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let report = scene.json("r.json");
    assert_eq!((&report["ended_early"], &report["results"]), (&true.into(), &Value::Array(Vec::new())));
}

#[test]
fn progress_says_what_is_measured_and_how_long_it_takes() {
    let scene = Scene::set();
    let options = ["--quick", "--scenario", "latest", "--peer", "good", "--seconds", "0.05"];
    let mut child: Child =
        scene.peers(&options).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let lines: Vec<String> =
        BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap).collect();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("measuring takes about 1 min")), "{lines:?}");
    assert!(
        lines.iter().any(|line| line.starts_with("measuring latest, 64 B; ") && line.ends_with(" s left")),
        "{lines:?}"
    );
    let page = String::from_utf8(output.stdout).unwrap();
    assert!(page.starts_with("# Beside the peers") && page.contains("## The latest value"), "{page}");
}

#[test]
fn peers_and_their_use_are_listed() {
    let scene = Scene::set();
    let listed = String::from_utf8(scene.run(&["--list"]).stdout).unwrap();
    assert!(listed.contains("**good**") && listed.contains("absent: there is no such device"), "{listed}");
    assert!(
        listed.contains("ROS 2: not on this machine: put a program named sinew-peer-ros2 in PATH"),
        "{listed}"
    );
}

#[test]
fn wrong_names_are_told_before_anything_is_measured() {
    let scene = Scene::set();
    for (options, expected) in [
        (["--scenario", "nothing"], "no scenario is called nothing: there are chain, growth"),
        (["--peer", "nobody"], "no peer is called nobody"),
        (["--json", "/nowhere/r.json"], "can't write /nowhere/r.json"),
        (["--rounds", "0"], "0 is not in 1..=1000"),
    ] {
        let output = scene.peers(&options).output().unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && complaint.contains(expected), "{options:?}: {complaint}");
    }
}
