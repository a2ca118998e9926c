//! The bound of a string is the same everywhere: in structs, views, dynamic messages, definitions
//! and texts.

use crate::codec::{decode, encode};
use crate::message_type;
use sinew_msg::cdr::{BoundedString, BoundedWString, Decoder, TooMany, WString};
use sinew_msg::definition::Definition;
use sinew_msg::dynamic::{DynamicMessage, MessageType};
use sinew_msg::view::Viewed;
use sinew_msg::{DecodeError, Message};
use std::sync::Arc;

#[derive(Message, Debug, PartialEq)]
#[message(name = "test_msgs/msg/Name")]
struct Name {
    name: BoundedString<3>,
}

#[derive(Message, Debug, PartialEq)]
#[message(name = "test_msgs/msg/Wide")]
struct Wide {
    wide: BoundedWString<3>,
}

fn sees<T: Viewed>(encoded: &[u8]) -> bool {
    T::view(&mut Decoder::new(encoded, "a type").unwrap()).is_ok()
}

fn encoded_text(text: &[u8]) -> Vec<u8> {
    let length = u32::try_from(text.len() + 1).unwrap().to_le_bytes();
    [&[0, 1, 0, 0][..], &length, text, &[0]].concat()
}

fn encoded_units(units: &[u16]) -> Vec<u8> {
    let units: Vec<u32> = units.iter().map(|unit| u32::from(*unit)).collect();
    let count = u32::try_from(units.len()).unwrap();
    let numbers = std::iter::once(count).chain(units).flat_map(u32::to_le_bytes);
    [0, 1, 0, 0].into_iter().chain(numbers).collect()
}

fn texts(message_type: &Arc<MessageType>, field: &str, text: &str) -> [bool; 2] {
    let from = format!("{{\"{field}\": \"{text}\"}}");
    let yaml = DynamicMessage::from_yaml(message_type, &from).is_ok();
    [yaml, DynamicMessage::from_json(message_type, &from).is_ok()]
}

fn is_default(definition: &str) -> bool {
    Definition::parse(&"test_msgs/msg/A".parse().unwrap(), "A.msg", definition).is_ok()
}

#[test]
fn characters_count_in_strings_of_all_kinds() {
    let name = message_type(&[("Name", "string<=3 name")]);
    let wide = message_type(&[("Wide", "wstring<=3 wide")]);
    // Three characters: of one byte or unit, of several, and of the largest size; then a fourth one
    // added.
    for (text, fits) in [("abc", true), ("ä€😀", true), ("😀😀😀", true), ("abcd", false), ("ä€😀a", false)]
    {
        let count = text.chars().count();
        let encoded = encoded_text(text.as_bytes());
        let own = BoundedString::<3>::try_from(text).map(|name| encode(&Name { name }));
        let expected = if fits { Ok(encoded.clone()) } else { Err(TooMany { count, bound: 3 }) };
        assert_eq!(own, expected, "{text}");
        assert_eq!(decode::<Name>(&encoded).is_ok(), fits, "{text}");
        assert_eq!(sees::<BoundedString<3>>(&encoded), fits, "{text}");
        let dynamic = DynamicMessage::decode(&name, &encoded);
        let error = format!("`name` of test_msgs/msg/Name has {count} elements, where 3 are allowed");
        assert_eq!(dynamic.map_err(|error| error.to_string()).err(), (!fits).then_some(error));
        assert_eq!(texts(&name, "name", text), [fits; 2], "{text}");
        assert_eq!(is_default(&format!("string<=3 name \"{text}\"")), fits, "{text}");

        let encoded = encoded_units(&WString::from(text).units);
        let own = BoundedWString::<3>::try_from(text).map(|wide| encode(&Wide { wide }));
        let expected = if fits { Ok(encoded.clone()) } else { Err(TooMany { count, bound: 3 }) };
        assert_eq!(own, expected, "{text}");
        assert_eq!(decode::<Wide>(&encoded).is_ok(), fits, "{text}");
        assert_eq!(sees::<BoundedWString<3>>(&encoded), fits, "{text}");
        assert_eq!(DynamicMessage::decode(&wide, &encoded).is_ok(), fits, "{text}");
        assert_eq!(texts(&wide, "wide", text), [fits; 2], "{text}");
        assert_eq!(is_default(&format!("wstring<=3 wide \"{text}\"")), fits, "{text}");
    }
}

/// Bytes that begin no character count towards the bound.
#[test]
fn a_bound_holds_for_what_is_no_text() {
    let name = message_type(&[("Name", "string<=3 name")]);
    let cases: [(&[u8], bool); 4] =
        [(b"\x80\x80\x80", true), (b"\xff\xe2\x82", true), (b"\x80\x80\x80\x80", false), (b"abc\xff", false)];
    for (bytes, fits) in cases {
        let encoded = encoded_text(bytes);
        assert_eq!(sees::<BoundedString<3>>(&encoded), fits, "{bytes:?}");
        assert_eq!(DynamicMessage::decode(&name, &encoded).is_ok(), fits, "{bytes:?}");
        assert!(matches!(decode::<Name>(&encoded), Err(DecodeError::Invalid { .. })), "{bytes:?}");
    }
    let wide = message_type(&[("Wide", "wstring<=3 wide")]);
    for (units, fits) in [(&[0xdc00; 3][..], true), (&[0xdc00; 4], false), (&[0xd83d; 4], false)] {
        let encoded = encoded_units(units);
        assert_eq!(sees::<BoundedWString<3>>(&encoded), fits, "{units:x?}");
        assert_eq!(DynamicMessage::decode(&wide, &encoded).is_ok(), fits, "{units:x?}");
        assert_eq!(decode::<Wide>(&encoded).is_ok(), fits, "{units:x?}");
    }
}
