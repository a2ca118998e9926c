//! Checks the README and the book: their programs are compiled (as doctests, see `pages` in
//! `src/lib.rs`), each item of the README's status has a page or none, and what they name exists.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the README and the pages, by their paths from the root.
fn pages() -> Vec<String> {
    let entries = fs::read_dir(root().join("docs/book")).expect("the book");
    let names = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"));
    let mut pages: Vec<_> =
        names.filter(|name| name.ends_with(".md")).map(|name| format!("docs/book/{name}")).collect();
    pages.push("README.md".to_owned());
    pages.sort();
    pages
}

/// Returns the pages with programs that `src/lib.rs` compiles.
fn compiled() -> BTreeSet<String> {
    let source = read("crates/sinew/src/lib.rs");
    let paths = source.split('"').filter(|text| text.ends_with(".md"));
    paths.map(str::to_owned).collect()
}

fn has_program(page: &str) -> bool {
    read(page).lines().any(|line| line.starts_with("```rust"))
}

#[test]
fn all_programs_are_compiled() {
    let with_program: BTreeSet<_> = pages().into_iter().filter(|page| has_program(page)).collect();
    assert_eq!(with_program, compiled(), "pages with a ```rust block are those that src/lib.rs names");
    for page in pages() {
        let ignored = read(&page).lines().any(|line| line.starts_with("```rust") && line.contains("ignore"));
        assert!(!ignored, "{page}: a program that isn't compiled is ```rs, or better one that is");
    }
}

/// Pages that an item of the README's status leads to and that have no program of Rust: they are
/// about the command, and its tests check the output, or about C, C++ and Python, and the
/// tests of `sinew-c`, `sinew-build` and `sinew-python` have the programs.
const WITHOUT_PROGRAM: [&str; 7] = [
    "docs/book/c.md",
    "docs/book/command.md",
    "docs/book/cpp-for-rclcpp-users.md",
    "docs/book/cpp-messages.md",
    "docs/book/debugging.md",
    "docs/book/live-view.md",
    "docs/book/python.md",
];

/// The items of a list of the README's status, each with its further lines.
fn status(heading: &str) -> Vec<String> {
    let readme = read("README.md");
    let list = readme.split(heading).nth(1).and_then(|rest| rest.split("\n#").next());
    let mut items: Vec<String> = Vec::new();
    for line in list.expect("a list").lines().filter(|line| !line.is_empty()) {
        match (line.strip_prefix("- "), items.last_mut()) {
            (Some(text), _) => items.push(text.to_owned()),
            (None, Some(item)) => *item += line,
            (None, None) => {} // the sentence before the list
        }
    }
    assert!(items.len() > 4, "{heading}: {items:?}");
    items
}

/// The files that an item links to.
fn links(item: &str) -> Vec<&str> {
    item.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()).collect()
}

#[test]
fn what_there_is_has_a_page_with_a_program() {
    for item in status("### What there is\n") {
        let pages = links(&item);
        assert!(!pages.is_empty(), "no page: {item}");
        for page in pages {
            let is_tested = compiled().contains(page) || WITHOUT_PROGRAM.contains(&page);
            assert!(is_tested, "no program of {page} is compiled: {item}");
        }
    }
}

#[test]
fn what_there_is_not_yet_has_no_page() {
    let summary = read("docs/book/SUMMARY.md").to_lowercase();
    let there: BTreeSet<String> = status("### What there is\n").iter().map(|item| name(item)).collect();
    for item in status("### What there is not yet\n") {
        let missing = name(&item);
        assert!(!summary.contains(&missing), "the book has a page on {missing}");
        assert!(!there.contains(&missing), "{missing} is in both lists");
        let page = links(&item).into_iter().find(|link| link.starts_with("docs/book/"));
        assert_eq!(page, None, "a page of the book has what is missing: {item}");
    }
}

/// The bold words at the beginning of an item, in small letters.
fn name(item: &str) -> String {
    let bold = item.strip_prefix("**").and_then(|rest| rest.split_once("**"));
    bold.unwrap_or_else(|| panic!("no name in bold: {item}")).0.to_lowercase()
}

#[test]
fn links_lead_somewhere() {
    for page in pages() {
        let text = read(&page);
        let folder = Path::new(&page).parent().expect("a folder");
        // Outside programs: a lambda of C++ looks like a link.
        let prose = text.split("```").step_by(2);
        let targets =
            prose.flat_map(|text| text.split("](").skip(1)).filter_map(|rest| rest.split(')').next());
        for target in targets.filter(|target| !target.contains("://") && !target.starts_with('#')) {
            let (file, section) =
                target.split_once('#').map_or((target, None), |(file, at)| (file, Some(at)));
            let path = root().join(folder).join(file);
            assert!(path.exists(), "{page} leads to {target}, which isn't there");
            if let Some(section) = section {
                let there = read(&path);
                let mut headings = there.lines().filter(|line| line.starts_with('#')).map(anchor);
                assert!(headings.any(|heading| heading == section), "{page}: no section {target}");
            }
        }
    }
}

/// Returns a heading's anchor in links.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Names of the standard library, of the compiler, of CMake, of rclcpp, and of the operating
/// system.
const NOT_OURS: [&str; 9] = [
    "MAX",
    "SystemTime",
    "add_subdirectory",
    "enable_logger_service",
    "forbid",
    "from_millis",
    "madvise",
    "syscall",
    "to_string",
];

#[test]
fn what_is_named_exists() {
    let mut known: BTreeSet<String> = NOT_OURS.into_iter().map(str::to_owned).collect();
    for entry in fs::read_dir(root().join("docs/api")).expect("the lists") {
        known.extend(words(&fs::read_to_string(entry.expect("an entry").path()).expect("a list")));
    }
    define(&root().join("crates"), &mut known);
    // A page for C++ names functions of C++ and of CMake.
    for page in pages().into_iter().filter(|page| !page.ends_with("cpp-for-rclcpp-users.md")) {
        let text = read(&page);
        // Programs are compiled already; the first column of this table is rclcpp's.
        let is_rclcpp = page.ends_with("coming-from-rclcpp.md");
        let prose = text.split("```").step_by(2).flat_map(str::lines).map(|line| {
            let rest = line.replace("\\|", "");
            let own = rest.strip_prefix("| ").and_then(|row| row.split_once('|'));
            own.filter(|_| is_rclcpp).map_or(rest.clone(), |(_, own)| own.to_owned())
        });
        for line in prose {
            for span in line.split('`').skip(1).step_by(2) {
                for name in called(span) {
                    assert!(known.contains(&name), "{page} names `{span}`, but there is no {name}");
                }
            }
        }
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let parts = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    parts.filter(|word| !word.is_empty()).map(str::to_owned)
}

/// Adds the names that the sources below `folder` define.
fn define(folder: &Path, known: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            if !path.ends_with("tests") {
                define(&path, known);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let source = fs::read_to_string(&path).expect("a source");
            for line in source.lines() {
                let mut before = String::new();
                for word in words(line) {
                    let defines = ["fn", "struct", "enum", "trait", "mod", "const", "type", "macro_rules"];
                    let is_variant = before.is_empty() && word.starts_with(|c: char| c.is_ascii_uppercase());
                    if defines.contains(&before.as_str()) || is_variant {
                        known.insert(word.clone());
                    }
                    before = word;
                }
            }
        }
    }
}

/// Returns the functions called in a span of code, and the names before and after `::`.
fn called(span: &str) -> Vec<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut names = Vec::new();
    let mut rest = span;
    while let Some(begin) = rest.find(|c: char| c.is_ascii_alphabetic()) {
        let from = &rest[begin..];
        let end = from.find(|c: char| !is_name(c)).unwrap_or(from.len());
        let (name, behind) = from.split_at(end);
        let is_method = begin == 0 || rest[..begin].ends_with(['.', ':', '(', ' ', '&']);
        let is_lower = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        let is_call = is_method && is_lower && behind.starts_with('(');
        let is_type = behind.starts_with("::") && name.starts_with(|c: char| c.is_ascii_uppercase());
        if is_call || is_type {
            names.push(name.to_owned());
        }
        rest = behind;
    }
    names
}

#[test]
fn features_are_those_of_the_interfaces() {
    let features = |path: &str| -> BTreeSet<String> {
        let manifest = read(path);
        let section = manifest.split("[features]").nth(1).and_then(|rest| rest.split("\n[").next());
        let lines = section.expect("features").lines().filter_map(|line| line.split_once(" = ["));
        lines.map(|(name, _)| name.to_owned()).collect()
    };
    let own = features("crates/sinew/Cargo.toml");
    let mut packages = features("crates/sinew-interfaces/Cargo.toml");
    packages.remove("all"); // it is `all_interfaces` here
    packages.remove("hashes"); // for bindings
    let missing: Vec<_> = packages.difference(&own).collect();
    assert!(
        missing.is_empty(),
        "crates/sinew/Cargo.toml hasn't the features {missing:?} of sinew-interfaces"
    );
}
