//! Imports point one way. In each folder of a crate's sources that has more than four files, what
//! lies in it (files, and folders with all that is in them) must not import in a circle.
//!
//! `to_cut.txt` names the imports that still close circles. It only gets shorter: a line whose
//! import is gone, or closes no circle any more, must go, too.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod circles;
mod imports;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use imports::Module;

/// The crates whose sources are read.
const CRATES: [&str; 7] =
    ["sinew-core", "sinew-shm", "sinew-msg", "sinew-build", "sinew-bench", "sinew-launch", "sinew-cli"];

#[test]
fn imports_point_one_way() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let to_cut: BTreeSet<&str> = include_str!("to_cut.txt").lines().collect();
    let mut report = String::new();
    let mut seen = BTreeSet::new();
    for name in CRATES {
        let line = |from: &Module, to: &Module| format!("{name}: {} -> {}", from.join("::"), to.join("::"));
        let mut imports = imports::of_crate(&crates.join(name).join("src"));
        let mut cut = Vec::new();
        for (from, used) in &mut imports {
            let is_to_be_cut = |to: &Module| to_cut.contains(line(from, to).as_str());
            cut.extend(used.extract_if(.., is_to_be_cut).map(|to| (from.clone(), to)));
        }
        for (from, to) in circles::of(&imports) {
            writeln!(report, "part of a circle: {}", line(&from, &to)).unwrap();
        }
        for (from, to) in cut {
            let mut with_it = imports.clone();
            with_it.get_mut(&from).unwrap().insert(to.clone());
            if !circles::of(&with_it).is_empty() {
                seen.insert(line(&from, &to));
            }
        }
    }
    for line in to_cut.iter().filter(|line| !seen.contains(**line)) {
        writeln!(report, "closes no circle any more, so it leaves to_cut.txt: {line}").unwrap();
    }
    assert!(report.is_empty(), "\n{report}");
}
