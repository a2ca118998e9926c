//! Imports point one way. In each folder of a crate's sources with more than three files, its
//! entries (files, and folders with everything below them) must not import in a circle. A folder's
//! own file counts as an entry if it defines items.
//!
//! `to_cut.txt` lists the imports that still close circles. It only gets shorter: a line has to go
//! when its import is gone, or closes no circle any more.
//!
//! And no type of the executor has more methods than a reader can hold.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod circles;
mod imports;
mod methods;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use imports::Module;

#[test]
fn imports_point_one_way() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let to_cut: BTreeSet<&str> = include_str!("to_cut.txt").lines().collect();
    let mut report = String::new();
    let mut seen = BTreeSet::new();
    let mut names: Vec<String> = fs::read_dir(crates)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    for name in names {
        let line = |from: &Module, to: &Module| format!("{name}: {} -> {}", from.join("::"), to.join("::"));
        let mut imports = imports::of_crate(&crates.join(&name).join("src"));
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

/// Number of methods that a type of the executor has at most.
const METHODS: usize = 30;

/// Types that still have more, and how many. Each number only gets smaller.
const TO_SPLIT: [(&str, usize); 1] = [("ReadyQueue", 40)];

#[test]
fn no_type_of_the_executor_has_too_many_methods() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/executor");
    let counts = methods::of_folder(&sources);
    assert!(counts.len() > METHODS, "it has more types than {counts:?}");
    let too_many: Vec<_> = counts.into_iter().filter(|(_, count)| *count > METHODS).collect();
    let expected = TO_SPLIT.map(|(name, count)| (name.to_owned(), count));
    assert_eq!(too_many, expected, "types with over {METHODS} methods, found and known");
}
