//! Memory use of decoding: proportional to the length of the message, whatever lengths it claims.

use crate::counting::{allocated, allocations};
use crate::message_type;
use sinew_msg::description::{
    FieldDescription, FieldTypeDescription, IndividualTypeDescription, TypeDescription, type_id,
};
use sinew_msg::dynamic::{DynamicDecodeError, DynamicMessage, MessageType};
use std::sync::Arc;

#[test]
fn a_length_that_lies_costs_no_memory() {
    const LENGTH: usize = 4096;
    let types = [
        "uint8[] a",
        "float64[] a",
        "string[] a",
        "wstring a",
        "string a",
        "Empty[] a",
        "Pair[] a",
        "uint8[100000000] a",
        "Empty[1000000] a",
    ];
    for text in types {
        let message_type =
            message_type(&[("A", text), ("Empty", ""), ("Pair", "Empty[<=9] one\nstring two")]);
        for claimed in [u32::MAX, 1 << 30, 4000, 900, 100] {
            let mut encoded = vec![0; LENGTH];
            encoded[1] = 1;
            encoded[4..8].copy_from_slice(&claimed.to_le_bytes());
            let (_, _, largest) = allocations(|| DynamicMessage::decode(&message_type, &encoded));
            // A value of one byte takes 32 in memory, and a growing vector has up to twice that
            // capacity.
            assert!(largest <= 64 * LENGTH, "{text}, {claimed}: {largest} bytes");
        }
    }
}

/// A sequence of messages with one field, each in the next, down to a byte.
fn nested(depth: usize) -> Arc<MessageType> {
    let text = |number| if number == depth { "uint8 x".to_owned() } else { format!("M{} x", number + 1) };
    let texts: Vec<_> = (1..=depth).map(|number| (format!("M{number}"), text(number))).collect();
    let texts = texts.iter().map(|(name, text)| (&**name, &**text));
    message_type(&[("A", "M1[] x")].into_iter().chain(texts).collect::<Vec<_>>())
}

#[test]
fn a_byte_in_many_messages_costs_little_memory() {
    const COUNT: u32 = 1 << 16;
    let mut encoded = vec![0, 1, 0, 0];
    encoded.extend(COUNT.to_le_bytes());
    encoded.resize(encoded.len() + COUNT as usize, 0);

    let (decoded, total) = allocated(|| DynamicMessage::decode(&nested(62), &encoded).map(drop));
    let Err(error @ DynamicDecodeError::Invalid { .. }) = decoded else { panic!("{decoded:?}") };
    assert!(error.to_string().contains("a message has at most 8 values for each of its bytes"), "{error}");
    // A value takes 32 bytes.
    assert!(total <= 32 * (9 * encoded.len() + (1 << 20)), "{total} bytes");

    assert!(DynamicMessage::decode(&nested(6), &encoded).is_ok());
}

/// The path of each type is as long as the names of all fields that lead to it.
#[test]
fn descriptions_of_long_names_are_compared_in_little_memory() {
    const TYPES: usize = 1000;
    let describe = |type_id: u8| {
        let individual = |number: usize| {
            let nested_type_name = format!("a/msg/M{}", number + 1);
            let is_last = number == TYPES;
            let field_type = FieldTypeDescription {
                type_id: if is_last { type_id } else { type_id::NESTED },
                nested_type_name: if is_last { String::new() } else { nested_type_name },
                ..FieldTypeDescription::default()
            };
            let field =
                FieldDescription { name: "x".repeat(TYPES), field_type, ..FieldDescription::default() };
            IndividualTypeDescription { type_name: format!("a/msg/M{number}"), fields: vec![field] }
        };
        TypeDescription {
            type_description: individual(0),
            referenced_type_descriptions: (1..=TYPES).map(individual).collect(),
        }
    };
    let [one, other] = [type_id::INT8, type_id::INT16].map(describe);
    let (told, total) = allocated(|| one.difference(&other, ["there", "here"]).unwrap());
    let path = format!("{0}..{0}..", "x".repeat(100));
    assert_eq!(told, format!("`{path}` is int8 there, int16 here"));
    assert!(total <= TYPES * TYPES, "{total} bytes");
}
