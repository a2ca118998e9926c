//! Messages of types that are known only at run time: encoding and decoding, printing and reading.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod allocations;
mod arbitrary;
mod bounds;
mod broken;
#[path = "../support/codec.rs"]
mod codec;
#[path = "../support/counting.rs"]
mod counting;
mod printing;
mod reading;
mod types;
mod vectors;

use sinew_msg::definition::{Definition, Definitions, Interfaces};
use sinew_msg::dynamic::{DynamicMessage, MessageType};
use std::path::Path;
use std::sync::Arc;

/// The type of the first of these messages, which are given with their texts.
fn message_type(texts: &[(&str, &str)]) -> Arc<MessageType> {
    let mut definitions = Definitions::new();
    for (name, text) in texts {
        let name = format!("test_msgs/msg/{name}").parse().unwrap();
        definitions.add(Definition::parse(&name, name.as_str(), text).unwrap()).unwrap();
    }
    let name = format!("test_msgs/msg/{}", texts[0].0).parse().unwrap();
    Arc::new(MessageType::of(&definitions.resolve().unwrap(), &name).unwrap())
}

fn of_yaml(message_type: &Arc<MessageType>, text: &str) -> DynamicMessage {
    DynamicMessage::from_yaml(message_type, text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// ROS 2's packages.
fn ros() -> Interfaces {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sinew-interfaces/interfaces");
    let mut definitions = Definitions::new();
    for entry in folder.read_dir().unwrap() {
        let entry = entry.unwrap();
        definitions.read_package(&entry.file_name().into_string().unwrap(), &entry.path()).unwrap();
    }
    definitions.resolve().unwrap()
}
