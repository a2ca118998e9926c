//! Messages that ROS 2 serialised, with their original values.

use crate::ros;
use serde_json::Value;
use sinew_msg::dynamic::{DynamicMessage, MessageType};
use std::path::Path;
use std::sync::Arc;

/// Compares as JSON. Numbers are compared by value, whether or not they are written with a point.
fn assert_same(path: &str, ours: &Value, theirs: &Value) {
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs)) => {
            assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>(), "{path}");
            for (name, value) in ours {
                assert_same(&format!("{path}.{name}"), value, &theirs[name]);
            }
        }
        (Value::Array(ours), Value::Array(theirs)) => {
            assert_eq!(ours.len(), theirs.len(), "{path}");
            for (index, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
                assert_same(&format!("{path}[{index}]"), ours, theirs);
            }
        }
        (Value::Number(ours), Value::Number(theirs)) if ours.is_f64() || theirs.is_f64() => {
            assert_eq!(ours.as_f64().map(f64::to_bits), theirs.as_f64().map(f64::to_bits), "{path}");
        }
        _ => assert_eq!(ours, theirs, "{path}"),
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        hex.chars().map(|digit| u8::try_from(digit.to_digit(16).unwrap()).unwrap()).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// Also checks the same message in the other byte order, encoded from the values that were just
/// verified.
fn check(message_type: &Arc<MessageType>, vector: &Value) {
    let encoded = bytes(vector["cdr_hex"].as_str().unwrap());
    let message = DynamicMessage::decode(message_type, &encoded).unwrap();
    let json: Value = serde_json::from_str(&message.to_json()).unwrap();
    assert_same(message_type.name(), &json, &vector["value"]);
    assert_eq!(message.encode(), encoded);

    let with_tail = [&encoded[..], &[0xaa; 88]].concat();
    assert_eq!(DynamicMessage::decode(message_type, &with_tail).unwrap(), message);

    let read = DynamicMessage::from_json(message_type, &vector["value"].to_string()).unwrap();
    assert_eq!(read.encode(), encoded, "what is read from the values");
    let reread = DynamicMessage::from_yaml(message_type, &message.to_yaml(&Default::default())).unwrap();
    assert_eq!(reread.encode(), encoded, "what is read from what was printed");
}

/// The reference values are parsed exactly. (`serde_json` needs a feature for that.)
#[test]
fn floats_are_read_to_the_last_bit() {
    let text = "122.416294033786585";
    assert_eq!(serde_json::from_str::<f64>(text).unwrap(), text.parse::<f64>().unwrap());
}

#[test]
fn encoded_messages_and_values_are_those_of_ros_2() {
    let interfaces = ros();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
    let mut count = 0;
    for entry in folder.read_dir().unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let vectors: Vec<Value> = serde_json::from_str(&text).unwrap();
        for vector in vectors {
            let name = vector["type"].as_str().unwrap().parse().unwrap();
            let message_type = Arc::new(MessageType::of(&interfaces, &name).unwrap());
            check(&message_type, &vector);
            count += 1;
        }
    }
    assert_eq!(count, 51);
}

/// The vectors of these types contain all default values of ROS 2's generator.
#[test]
fn defaults_are_those_of_the_definitions() {
    let interfaces = ros();
    let default = |name: &str| {
        let message_type = Arc::new(MessageType::of(&interfaces, &name.parse().unwrap()).unwrap());
        DynamicMessage::new(&message_type).to_json()
    };
    let defaults = default("test_msgs/msg/Defaults");
    assert!(
        defaults.starts_with(r#"{"bool_value":true,"byte_value":50,"char_value":100,"float32_value":1.125,"#),
        "{defaults}"
    );
    assert_eq!(default("geometry_msgs/msg/Quaternion"), r#"{"x":0.0,"y":0.0,"z":0.0,"w":1.0}"#);
    assert!(default("test_msgs/msg/WStrings").contains(r#""wstring_value_default2":"Hellö wörld!""#));
    assert!(default("test_msgs/msg/Arrays").contains(r#""int8_values_default":[0,127,-128]"#));
}
