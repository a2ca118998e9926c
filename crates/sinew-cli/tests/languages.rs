//! `sinew bench languages` and `sinew demo --languages`, with the library that cargo has built for
//! these tests. No time is asserted here.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "these programs are run with other variables")]
mod command;

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use command::text;

/// Runs the program to its end, in a directory of its own. What it compiles isn't optimised: that
/// takes a third of the time.
fn sinew(arguments: &[&str]) -> Output {
    let place = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
    command.args(arguments).env("SINEW_DIR", place.path()).env("CFLAGS", "-O0").env("CXXFLAGS", "-O0");
    command.stdin(Stdio::null()).output().unwrap()
}

/// The directory of the library: beside the tests.
fn library() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    program.parent().unwrap().to_owned()
}

/// Notes that a test can't be run here, if there is no compiler.
fn is_skipped() -> bool {
    let works = |program| {
        let asked =
            Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        asked.is_ok_and(|status| status.success())
    };
    if works("cc") && works("c++") {
        return false;
    }
    let sentence = "sinew bench languages and sinew demo --languages: there is no compiler of C and C++";
    eprintln!("skipped: {sentence}");
    if let Some(list) = std::env::var_os("SINEW_SKIPPED") {
        let mut list = OpenOptions::new().append(true).create(true).open(list).unwrap();
        writeln!(list, "{sentence}").unwrap();
    }
    true
}

/// Returns the number before a word.
fn before(line: &str, word: &str) -> u64 {
    let words: Vec<&str> = line.split([' ', ',', ':']).filter(|word| !word.is_empty()).collect();
    let place = words.iter().position(|one| *one == word).unwrap_or_else(|| panic!("{word} in {line}"));
    words[place - 1].parse().unwrap()
}

#[test]
fn the_demo_passes_images_through_three_languages_without_a_copy() {
    if is_skipped() {
        return;
    }
    let library = library();
    let library = library.to_str().unwrap();
    let short = ["--rate", "10", "--seconds", "2"];
    let output = sinew(&[&["demo", "--languages", "--library", library], &short[..]].concat());
    let said = text(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", text(&output.stderr));
    let places = said.lines().filter_map(|line| line.split_once(" => viewer in C: "));
    let places: Vec<_> = places.map(|(_, place)| place).collect();
    assert_eq!(places, ["three processes; Ctrl-C ends", "one process; Ctrl-C ends"], "{said}");
    let totals: Vec<_> = said.lines().filter(|line| line.starts_with("in all ")).collect();
    assert_eq!(totals.len(), 2, "{said}");
    for line in totals {
        let (made, filtered, viewed) =
            (before(line, "images"), before(line, "filtered"), before(line, "viewed"));
        assert!(made > 0 && viewed > 0, "{said}");
        assert!(filtered <= made && viewed + before(line, "lost") >= made, "{said}");
        let work = ["copies", "encodings", "decodings"].map(|word| before(line, word));
        assert_eq!(work, [0; 3], "{said}");
    }
    assert_eq!(said.matches("\nimages with wrong pixels at the viewer: 0\n").count(), 2, "{said}");
}

#[test]
fn the_languages_are_measured_beside_each_other() {
    if is_skipped() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let json = place.path().join("results.json");
    let library = library();
    let short = ["--rate", "100", "--size", "64", "--rounds", "1", "--seconds", "0.2"];
    let paths = ["--library", library.to_str().unwrap(), "--json", json.to_str().unwrap()];
    let compiled = ["--case", "chain", "--case", "raw", "--case", "publish"];
    let output = sinew(&[&["bench", "languages"], &compiled[..], &short, &paths].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    let rows = report["results"].as_array().unwrap();
    let of = |language: &str| rows.iter().filter(|row| row["language"] == language).count();
    // One core measures no topics and variables, which have two processes.
    let raw = if report["host"]["cores"] == 1 { 0 } else { 3 };
    assert_eq!((of("Rust"), of("C++"), of("C")), (3 + raw, 3, 1 + 2 * raw), "{rows:?}");
    for row in rows {
        assert!(row["messages"].as_u64() > Some(0) && row["lost"] == 0, "{row}");
        assert_eq!(row["language"] == "Rust", row["rust_ratio"].is_null(), "{row}");
    }
    assert_eq!(report["bars"].as_array().unwrap().len(), 4 + raw, "{}", report["bars"]);
    assert!(report["host"]["profile"].is_string());
}

#[test]
fn a_missing_library_or_compiler_is_named() {
    let nowhere = tempfile::tempdir().unwrap();
    let refused = |arguments: &[&str]| {
        let output = sinew(arguments);
        assert_eq!(output.status.code(), Some(1));
        text(&output.stderr)
    };
    let place = nowhere.path().to_str().unwrap();
    let sentence = refused(&["demo", "--languages", "--library", place]);
    assert!(sentence.contains(&format!("no libsinew.so at {place}")), "{sentence}");

    let library = library();
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
    command.args(["bench", "languages", "--library"]).arg(&library).env("CXX", "no-such-compiler");
    let output = command.env("SINEW_DIR", place).stdin(Stdio::null()).output().unwrap();
    let sentence = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{sentence}");
    assert!(sentence.contains("no compiler of C++: no-such-compiler isn't found in PATH"), "{sentence}");
}
