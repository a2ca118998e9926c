//! Arbitrary input: never a panic, and accepted messages are preserved.

use crate::{message_type, ros};
use proptest::collection::vec;
use proptest::prelude::*;
use sinew_msg::description::{
    FieldDescription, FieldTypeDescription, IndividualTypeDescription, TypeDescription, type_id,
};
use sinew_msg::dynamic::{DynamicMessage, MessageType, Style};
use std::sync::{Arc, OnceLock};

/// Types with every kind of field.
fn types() -> &'static [Arc<MessageType>] {
    static TYPES: OnceLock<Vec<Arc<MessageType>>> = OnceLock::new();
    TYPES.get_or_init(|| {
        let interfaces = ros();
        let names = [
            "test_msgs/msg/Arrays",
            "test_msgs/msg/BoundedSequences",
            "test_msgs/msg/MultiNested",
            "test_msgs/msg/UnboundedSequences",
            "test_msgs/msg/WStrings",
            "sensor_msgs/msg/PointCloud2",
            "visualization_msgs/msg/MarkerArray",
            "tf2_msgs/msg/TFMessage",
            "std_msgs/msg/Empty",
            "std_msgs/msg/String",
        ];
        let of = |name: &&str| Arc::new(MessageType::of(&interfaces, &name.parse().unwrap()).unwrap());
        let mut types: Vec<_> = names.iter().map(of).collect();
        types.push(message_type(&[
            ("A", "B[] b\nbool[] c"),
            ("B", "C[2] c\nwstring[] d"),
            ("C", "string a\nint8[<=3] b"),
        ]));
        types
    })
}

/// A decoded message is the same after encoding, and mostly after printing.
fn check(message: &DynamicMessage) {
    let message_type = message.message_type();
    let encoded = message.encode();
    assert_eq!(&DynamicMessage::decode(message_type, &encoded).unwrap(), message);
    let json = message.to_json();
    let read = DynamicMessage::from_json(message_type, &json);
    assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok(), "{json}");
    for style in [Style::default(), Style { flow: true, ..Style::default() }] {
        let yaml = message.to_yaml(&style);
        let from_yaml = DynamicMessage::from_yaml(message_type, &yaml);
        // Encoded strings may exceed their bounds. Invalid texts and NaNs are printed without their
        // exact bits.
        assert_eq!(
            from_yaml.clone().map(|message| message.to_json()),
            read.clone().map(|message| message.to_json()),
            "{yaml}"
        );
    }
    let _ = message.to_yaml(&Style { truncate: Some(1), no_arr: true, no_str: true, flow: false });
}

/// Bytes that resemble messages: small numbers, so that some lengths are plausible.
fn encoded() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![6 => Just(0_u8), 3 => 0..4_u8, 1 => any::<u8>()];
    (0..2_u8, vec(byte, 0..600)).prop_map(|(order, body)| [&[0, order, 0, 0], &body[..]].concat())
}

/// Texts of characters with a meaning in YAML.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("{".to_owned()),
        Just("}".to_owned()),
        Just("[".to_owned()),
        Just("]".to_owned()),
        Just(", ".to_owned()),
        Just(": ".to_owned()),
        Just("\n".to_owned()),
        Just("- ".to_owned()),
        Just("  ".to_owned()),
        Just("data".to_owned()),
        Just("b".to_owned()),
        Just("\"".to_owned()),
        Just("'".to_owned()),
        Just("|".to_owned()),
        Just("&a ".to_owned()),
        Just("*a".to_owned()),
        Just("!!str ".to_owned()),
        Just("%".to_owned()),
        Just("---".to_owned()),
        Just("\\x".to_owned()),
        Just("? ".to_owned()),
        Just("#".to_owned()),
        Just("\t".to_owned()),
        "[0-9.e+-]{1,4}",
        any::<char>().prop_map(String::from),
    ];
    vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn field() -> impl Strategy<Value = FieldTypeDescription> {
    let shape =
        prop_oneof![Just(0), Just(type_id::ARRAY), Just(type_id::BOUNDED_SEQUENCE), Just(type_id::SEQUENCE)];
    let id = prop_oneof![8 => 1..24_u8, 3 => Just(type_id::NESTED), 1 => any::<u8>()];
    let capacity = prop_oneof![8 => 0..4_u64, 1 => 0..100_000_u64, 1 => any::<u64>()];
    (id, shape, capacity, 0..4_u64, 0..5_u8).prop_map(|(id, shape, capacity, string_capacity, nested)| {
        FieldTypeDescription {
            type_id: id.wrapping_add(shape),
            capacity,
            string_capacity,
            nested_type_name: format!("t{nested}"),
        }
    })
}

fn description() -> impl Strategy<Value = TypeDescription> {
    let fields = vec(field(), 0..5).prop_map(|fields| {
        let named = fields.into_iter().enumerate().map(|(index, field_type)| FieldDescription {
            name: format!("f{index}"),
            field_type,
            ..Default::default()
        });
        named.collect::<Vec<_>>()
    });
    vec(fields, 1..6).prop_map(|all| {
        let described = all.into_iter().enumerate();
        let mut described = described
            .map(|(index, fields)| IndividualTypeDescription { type_name: format!("t{index}"), fields });
        TypeDescription {
            type_description: described.next().unwrap(),
            referenced_type_descriptions: described.collect(),
        }
    })
}

proptest! {
    #[test]
    fn arbitrary_bytes(encoded in encoded(), which in any::<prop::sample::Index>()) {
        if let Ok(message) = DynamicMessage::decode(which.get(types()), &encoded) {
            check(&message);
        }
    }

    #[test]
    fn encoded_messages_that_were_right(
        which in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<prop::sample::Index>()
    ) {
        let message_type = which.get(types());
        let mut encoded = DynamicMessage::new(message_type).encode();
        let at = at.index(encoded.len());
        encoded[at] = byte;
        encoded.truncate(4 + cut.index(2 * encoded.len()));
        if let Ok(message) = DynamicMessage::decode(message_type, &encoded) {
            check(&message);
        }
    }

    #[test]
    fn arbitrary_descriptions(description in description(), encoded in encoded()) {
        if let Ok(message_type) = MessageType::new(&description) {
            let message_type = Arc::new(message_type);
            if let Ok(message) = DynamicMessage::decode(&message_type, &encoded) {
                check(&message);
            }
            check(&DynamicMessage::new(&message_type));
        }
    }

    #[test]
    fn arbitrary_texts(text in text(), which in any::<prop::sample::Index>()) {
        let message_type = which.get(types());
        let read = [DynamicMessage::from_yaml(message_type, &text), DynamicMessage::from_json(message_type, &text)];
        read.into_iter().flatten().for_each(|message| check(&message));
    }

    #[test]
    fn any_text_survives_printing(text in any::<String>()) {
        let string = message_type(&[("A", "string a\nstring[] b")]);
        let json = serde_json::json!({"a": text, "b": [text, text]}).to_string();
        let message = DynamicMessage::from_json(&string, &json).unwrap();
        for style in [Style::default(), Style { flow: true, ..Style::default() }] {
            let yaml = message.to_yaml(&style);
            let read = DynamicMessage::from_yaml(&string, &yaml);
            prop_assert_eq!(read.as_ref(), Ok(&message), "{}", yaml);
        }
        prop_assert_eq!(DynamicMessage::from_json(&string, &message.to_json()), Ok(message));
    }
}
