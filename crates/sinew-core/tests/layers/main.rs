//! Imports point one way. In each folder of a crate's sources with more than three files, its
//! entries (files, and folders with everything below them) must not import in a circle. A folder's
//! own file counts as an entry if it defines items.
//!
//! And no type of the executor has more methods than a reader can hold.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod circles;
mod imports;
mod methods;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

#[test]
fn imports_point_one_way() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut report = String::new();
    let mut names: Vec<String> = fs::read_dir(crates)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    for name in names {
        let imports = imports::of_crate(&crates.join(&name).join("src"));
        for (from, to) in circles::of(&imports) {
            writeln!(report, "part of a circle: {name}: {} -> {}", from.join("::"), to.join("::")).unwrap();
        }
    }
    assert!(report.is_empty(), "\n{report}");
}

/// Number of methods that a type of the executor has at most.
const METHODS: usize = 30;

#[test]
fn no_type_of_the_executor_has_too_many_methods() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/executor");
    let counts = methods::of_folder(&sources);
    assert!(counts.len() > METHODS, "it has more types than {counts:?}");
    let too_many: Vec<_> = counts.into_iter().filter(|(_, count)| *count > METHODS).collect();
    assert!(too_many.is_empty(), "these have over {METHODS} methods: {too_many:?}");
}
