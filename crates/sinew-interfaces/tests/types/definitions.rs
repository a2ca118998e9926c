//! The definitions from which the types were generated.

use super::every::every_type;
use super::random::random_bytes;
use sinew_msg::definition::{Definitions, Interfaces, Role};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

pub(crate) fn interfaces() -> Interfaces {
    let mut definitions = Definitions::new();
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("interfaces")).unwrap() {
        let entry = entry.unwrap();
        definitions.read_package(entry.file_name().to_str().unwrap(), &entry.path()).unwrap();
    }
    definitions.resolve().unwrap()
}

#[test]
fn every_message_of_the_definitions_is_generated() {
    let interfaces = interfaces();
    let messages = interfaces.iter().filter(|interface| interface.role == Role::Message);
    let expected: BTreeSet<String> = messages.map(|interface| interface.name.to_string()).collect();
    let generated: BTreeSet<String> = every_type().iter().map(|checks| checks.name.to_owned()).collect();
    assert_eq!(generated, expected);
}

#[test]
fn types_say_of_themselves_what_the_definitions_do() {
    let interfaces = interfaces();
    for checks in every_type() {
        let name = checks.name.parse().unwrap();
        assert_eq!(Some(checks.hash), interfaces.hash(&name), "{name}");
        let mut description = interfaces.description(&name).unwrap();
        let referenced = &mut description.referenced_type_descriptions;
        let all = std::iter::once(&mut description.type_description).chain(referenced);
        // The types don't know their defaults.
        all.flat_map(|one| &mut one.fields).for_each(|field| field.default_value.clear());
        assert_eq!((checks.description)(), description, "{name}");
    }
}

#[test]
fn defaults_come_back_from_their_encoded_messages() {
    every_type().iter().for_each(|checks| (checks.default)());
}

/// The messages are encoded from the descriptions, by another implementation than the generated
/// one.
#[test]
fn every_type_has_the_encoded_messages_that_its_description_says() {
    let interfaces = interfaces();
    for checks in every_type() {
        let description = interfaces.description(&checks.name.parse().unwrap()).unwrap();
        for seed in 0..8 {
            let [little, big] = random_bytes(&description, seed);
            (checks.encoded)(&little, &big);
        }
    }
}
