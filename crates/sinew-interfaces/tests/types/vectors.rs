//! Messages encoded by ROS 2 Jazzy's own serialisers, with their values.

use super::every::every_type;
use super::tree;
use serde_json::Value;
use std::fs;
use std::path::Path;

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

/// Returns all vectors.
fn vectors() -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cdr");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files
        .flat_map(|path| serde_json::from_str::<Vec<Value>>(&fs::read_to_string(path).unwrap()).unwrap())
        .collect()
}

/// The reference values are parsed exactly. (`serde_json` needs a feature for that.)
#[test]
fn floats_are_read_to_the_last_bit() {
    let text = "122.416294033786585";
    assert_eq!(serde_json::from_str::<f64>(text).unwrap(), text.parse::<f64>().unwrap());
}

#[test]
fn encoded_messages_and_values_are_those_of_ros_2() {
    let types = every_type();
    let vectors = vectors();
    assert_eq!(vectors.len(), 51);
    for vector in vectors {
        let name = vector["type"].as_str().unwrap();
        let checks = types.iter().find(|checks| checks.name == name).unwrap();
        let encoded = bytes(vector["cdr_hex"].as_str().unwrap());
        let printed = (checks.encoded)(&encoded, &encoded);
        if let Err(difference) = tree::same(&printed, &vector["value"]) {
            panic!("{name}{difference}\n{printed}");
        }
    }
}

/// `Default` gives the values that ROS 2 fills in.
#[test]
fn defaults_are_those_of_ros_2() {
    let types = every_type();
    let default_of = |name: &str| {
        let checks = types.iter().find(|checks| checks.name == name).unwrap();
        (checks.shown_default)()
    };
    let first = |name: &str| vectors().into_iter().find(|vector| vector["type"] == name).unwrap();
    for name in
        ["test_msgs/msg/Defaults", "std_msgs/msg/Header", "sensor_msgs/msg/Imu", "sensor_msgs/msg/Image"]
    {
        assert_eq!(tree::same(&default_of(name), &first(name)["value"]), Ok(()), "{name}");
    }
}
