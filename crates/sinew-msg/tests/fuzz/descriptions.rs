//! Descriptions of types from other programs.

use crate::driver::{Kind, fuzz};
use crate::encoded::check_dynamic;
use crate::memory::Bound;
use crate::types::{PointCloud2, UnboundedSequences};
use sinew_msg::cdr::Structure;
use sinew_msg::description::TypeDescription;
use sinew_msg::dynamic::{DynamicMessage, MessageType};
use std::sync::Arc;

/// The same as for texts of messages.
const TEXT: Bound = Bound { per_byte: 150, fixed: 4 << 10 };

/// A description becomes a type that is hardly larger.
const TYPE: Bound = Bound { per_byte: 10, fixed: 512 };

const WORDS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ", ",
    ": ",
    "\"",
    "\\",
    "\\u00e4",
    "'",
    "\n",
    "- ",
    "&a ",
    "*a",
    "#",
    "null",
    "-",
    "0",
    "1",
    "3",
    "17",
    "49",
    "64",
    "97",
    "145",
    "148",
    "161",
    "255",
    "256",
    "4294967295",
    "18446744073709551615",
    "18446744073709551616",
    "1e9",
    "\"type_name\": ",
    "\"fields\": ",
    "\"name\": ",
    "\"type\": ",
    "\"type_id\": ",
    "\"capacity\": ",
    "\"string_capacity\": ",
    "\"nested_type_name\": ",
    "\"a\"",
    "\"t/msg/A\"",
    "\"t/msg/B\"",
    "structure_needs_at_least_one_member",
    ", {\"name\": \"b\", \"type\": {\"type_id\": 1, \"capacity\": 0, \"string_capacity\": 0, \"nested_type_name\": \"t/msg/A\"}}",
    ", {\"name\": \"c\", \"type\": {\"type_id\": 49, \"capacity\": 3, \"string_capacity\": 0, \"nested_type_name\": \"t/msg/B\"}}",
    ", {\"name\": \"d\", \"type\": {\"type_id\": 145, \"capacity\": 0, \"string_capacity\": 0, \"nested_type_name\": \"t/msg/B\"}}",
];

/// Short inputs, in which every character matters.
const RIGHT: [&str; 2] = [
    r#"{"type_description": {"type_name": "t/msg/A", "fields": [{"name": "a", "type": {"type_id": 145, "capacity": 0, "string_capacity": 0, "nested_type_name": "t/msg/B"}}]}, "referenced_type_descriptions": [{"type_name": "t/msg/B", "fields": [{"name": "x", "type": {"type_id": 117, "capacity": 3, "string_capacity": 4, "nested_type_name": ""}}]}]}"#,
    r#"{"type_description": {"type_name": "t/msg/A", "fields": [{"name": "structure_needs_at_least_one_member", "type": {"type_id": 3, "capacity": 0, "string_capacity": 0, "nested_type_name": ""}}]}, "referenced_type_descriptions": []}"#,
];

fn check(input: &[u8]) -> bool {
    let text = String::from_utf8_lossy(input);
    let Some(description) = TEXT.check(text.len(), || TypeDescription::from_json(&text)) else {
        return false;
    };
    let json = description.to_json();
    let read = TypeDescription::from_json(&json);
    assert_eq!(read.as_ref(), Some(&description), "{json}");
    let Ok(message_type) = TYPE.check(json.len(), || MessageType::new(&description)) else { return true };
    let message_type = Arc::new(message_type);
    // Messages of zeros, and messages with plausible lengths. The input's own bytes serve as well
    // as any others.
    let zeros = check_dynamic(&message_type, &[&[0, 1, 0, 0][..], &[0; 1000]].concat());
    let ones = [&[0, 1, 0, 0][..], &[1, 0, 0, 0].repeat(100)].concat();
    let own = [&[0, u8::from(input.len().is_multiple_of(2)), 0, 0], input].concat();
    check_dynamic(&message_type, &ones);
    check_dynamic(&message_type, &own);
    // If a message of zeros is long enough to be decoded, it equals the default message.
    if zeros.is_some() {
        let message = DynamicMessage::new(&message_type);
        assert_eq!(zeros, Some(message.encode()), "all zeros, and a new one");
        assert_eq!(DynamicMessage::from_json(&message_type, &message.to_json()), Ok(message));
    }
    true
}

#[test]
fn descriptions() {
    let derived = [PointCloud2::DESCRIPTION, UnboundedSequences::DESCRIPTION];
    let texts = derived.map(|description| description.describe().unwrap().to_json().into_bytes());
    let inputs = RIGHT.iter().map(|text| text.as_bytes().to_vec()).chain(texts).collect();
    fuzz(vec![Kind { name: "description".to_owned(), inputs, words: WORDS, check: Box::new(check) }]);
}
