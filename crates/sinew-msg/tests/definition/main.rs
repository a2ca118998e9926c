//! Definitions: parsing, errors, and the types that ROS 2 derives.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod arbitrary;
mod broken;
mod packages;
mod parse;
mod resolve;

use sinew_msg::definition::{Content, Definition, Definitions, Section, TypeName};

fn name(name: &str) -> TypeName {
    name.parse().unwrap()
}

/// The section of a message `test_msgs/msg/Test`.
fn message(text: &str) -> Section {
    let definition = Definition::parse(&name("test_msgs/msg/Test"), "Test.msg", text);
    match definition.unwrap_or_else(|error| panic!("{error}")).content {
        Content::Message(section) => section,
        other => panic!("{other:?} is no message"),
    }
}

/// Returns the error text for a file of this kind.
fn error(kind: &str, text: impl AsRef<[u8]>) -> String {
    let definition =
        Definition::parse(&name(&format!("test_msgs/{kind}/Test")), &format!("Test.{kind}"), text);
    definition.unwrap_err().to_string()
}

/// Definitions with these names and texts; each file has the name of its type.
fn definitions(texts: &[(&str, &str)]) -> Definitions {
    let mut definitions = Definitions::new();
    for (full_name, text) in texts {
        let definition = Definition::parse(&name(full_name), full_name, text);
        definitions.add(definition.unwrap_or_else(|error| panic!("{error}"))).unwrap();
    }
    definitions
}
