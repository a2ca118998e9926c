//! The definitions are those of ROS 2: types have the hashes that ROS 2 published.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use serde_json::Value;
use sinew_msg::definition::{Definition, Definitions, Interfaces, Kind};
use std::fs;
use std::path::{Path, PathBuf};

const PACKAGES: usize = 24;

/// The folders of all packages, with their names.
fn packages() -> Vec<(String, PathBuf)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("interfaces");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries.map(|entry| (entry.file_name().into_string().unwrap(), entry.path())).collect()
}

fn definitions() -> Definitions {
    let mut definitions = Definitions::new();
    for (package, folder) in packages() {
        definitions.read_package(&package, &folder).unwrap_or_else(|error| panic!("{error}"));
    }
    definitions
}

fn interfaces() -> Interfaces {
    definitions().resolve().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn all_packages_are_read_and_resolved() {
    assert_eq!(packages().len(), PACKAGES);
    let interfaces = interfaces();
    let count = |kind| interfaces.definitions().filter(|definition| definition.name.kind() == kind).count();
    assert_eq!((count(Kind::Message), count(Kind::Service), count(Kind::Action)), (198, 48, 4));
    // A service has four types, an action thirteen.
    assert_eq!(interfaces.iter().count(), 198 + 48 * 4 + 4 * 13);
}

#[test]
fn hashes_are_those_of_ros_2() {
    let known: Value = serde_json::from_str(include_str!("known_hashes.json")).unwrap();
    let known = known.as_object().unwrap();
    assert_eq!(known.len(), 150);
    let interfaces = interfaces();
    let wrong: Vec<_> = known
        .iter()
        .filter_map(|(name, published)| {
            let hash = interfaces.hash(&name.parse().unwrap()).map(|hash| hash.to_string());
            (hash.as_deref() != published.as_str()).then(|| format!("{name}: {hash:?}, not {published}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A definition made from a type's description defines the same type. (ROS 2 replaces `char` before
/// it describes a type.)
#[test]
fn descriptions_become_definitions_of_the_same_types() {
    let interfaces = interfaces();
    let mut again = Definitions::new();
    let messages = || interfaces.definitions().filter(|definition| definition.name.kind() == Kind::Message);
    for Definition { name, .. } in messages() {
        let described = interfaces.description(name).unwrap();
        let text = described.type_description.to_definition();
        again.add(Definition::parse(name, "again", text).unwrap()).unwrap();
    }
    let again = again.resolve().unwrap();
    let others: Vec<_> = messages()
        .filter(|one| again.hash(&one.name) != interfaces.hash(&one.name))
        .map(|one| &one.name)
        .collect();
    assert!(others.is_empty(), "{others:?}");
}
