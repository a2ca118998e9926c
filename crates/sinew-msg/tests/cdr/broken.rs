//! Untrusted messages: truncated, with false lengths, in the other byte order.

use super::types::{Header, PointCloud2, PointField, Text, Time};
use super::{decode, decode_into, encode};
use sinew_msg::{DecodeError, Message};

#[derive(Message, Debug, PartialEq)]
#[message(name = "test_msgs/msg/Flags")]
struct Flags {
    one: bool,
    many: Vec<bool>,
    three: [bool; 3],
}

#[derive(Message, Debug, Default, PartialEq)]
#[message(name = "test_msgs/msg/Mixed")]
struct Mixed {
    byte: u8,
    short: i16,
    int: u32,
    double: f64,
    text: String,
    shorts: Vec<u16>,
    doubles: [f64; 2],
    stamps: Vec<Time>,
}

fn mixed() -> Mixed {
    Mixed {
        byte: 1,
        short: -2,
        int: 3,
        double: 0.5,
        text: "abc".into(),
        shorts: vec![4, 5, 6],
        doubles: [1.0, -1.0],
        stamps: vec![Time { sec: 7, nanosec: 8 }],
    }
}

#[rustfmt::skip] // a row per field
const MIXED_BIG_ENDIAN: &[u8] = &[
    0, 0, 0, 0, // header
    1, 0xaa,    // any padding is accepted
    0xff, 0xfe,
    0, 0, 0, 3,
    0x3f, 0xe0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 4, b'a', b'b', b'c', 0,
    0, 0, 0, 3, 0, 4, 0, 5, 0, 6, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa,
    0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0xbf, 0xf0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 1, 0, 0, 0, 7, 0, 0, 0, 8,
];

#[rustfmt::skip]
const MIXED_LITTLE_ENDIAN: &[u8] = &[
    0, 1, 0, 0,
    1, 0,
    0xfe, 0xff,
    3, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0xe0, 0x3f,
    4, 0, 0, 0, b'a', b'b', b'c', 0,
    3, 0, 0, 0, 4, 0, 5, 0, 6, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0, 0, 0, 0xf0, 0xbf,
    1, 0, 0, 0, 7, 0, 0, 0, 8, 0, 0, 0,
];

#[test]
fn both_byte_orders_are_read_and_one_is_written() {
    assert_eq!(encode(&mixed()), MIXED_LITTLE_ENDIAN);
    for encoded in [MIXED_LITTLE_ENDIAN, MIXED_BIG_ENDIAN] {
        assert_eq!(decode(encoded), Ok(mixed()));
        let mut value = Mixed { shorts: vec![9; 9], stamps: vec![Time::default(); 3], ..Mixed::default() };
        assert_eq!(decode_into(encoded, &mut value), Ok(()));
        assert_eq!(value, mixed());
    }
}

#[test]
fn an_encoded_message_may_begin_at_any_address() {
    for shift in 0..8 {
        let mut memory = vec![0; shift];
        memory.extend_from_slice(MIXED_LITTLE_ENDIAN);
        assert_eq!(decode(&memory[shift..]), Ok(mixed()), "{shift} bytes off");
    }
}

#[test]
fn other_representations_are_refused() {
    for identifier in [2, 3, 6, 7, 0x0100, 0xffff] {
        let mut encoded = encode(&mixed());
        encoded[..2].copy_from_slice(&u16::to_be_bytes(identifier));
        let type_name = "test_msgs/msg/Mixed";
        assert_eq!(decode::<Mixed>(&encoded), Err(DecodeError::Representation { type_name, identifier }));
    }
    let mut encoded = encode(&mixed());
    encoded[3] = 3; // options: newer writers describe the tail here
    assert_eq!(decode(&encoded), Ok(mixed()));
}

#[test]
fn every_cut_is_noticed() {
    let whole = cloud();
    let encoded = encode(&whole);
    for length in 0..encoded.len() {
        let error = decode::<PointCloud2>(&encoded[..length]).expect_err("something is missing");
        match error {
            DecodeError::Truncated { length: said, needed, .. } => {
                assert_eq!(said, length);
                assert!(length < needed && needed <= encoded.len(), "{needed} of {length}");
            }
            DecodeError::TooLong { count, room, .. } => assert!(room < count, "{room} for {count}"),
            other => panic!("cut to {length} bytes: {other}"),
        }
        let mut value = whole.clone();
        assert_eq!(decode_into(&encoded[..length], &mut value), Err(error));
    }
}

#[test]
fn a_tail_is_accepted() {
    let mut encoded = encode(&cloud());
    encoded.extend([0xcd; 88]);
    assert_eq!(decode(&encoded), Ok(cloud()));
}

fn cloud() -> PointCloud2 {
    let field = |name: &str| PointField { name: name.into(), offset: 4, datatype: 7, count: 1 };
    let header = Header { stamp: Time { sec: 1, nanosec: 2 }, frame_id: "lidar".into() };
    let fields = vec![field("x"), field("intensity")];
    PointCloud2 { header, fields, data: (0..50).collect(), is_dense: true, ..PointCloud2::default() }
}

#[test]
fn an_error_names_the_innermost_field() {
    let encoded = encode(&cloud());
    let error = decode::<PointCloud2>(&encoded[..8]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`nanosec` of builtin_interfaces/msg/Time needs bytes up to 12, but the message ends at byte 8"
    );
    let error = decode::<PointCloud2>(&encoded[..2]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`(header)` of sensor_msgs/msg/PointCloud2 needs bytes up to 4, but the message ends at byte 2"
    );
}

#[test]
fn a_length_that_lies_is_refused() {
    let mut encoded = encode(&Text { data: "abcd".into() });
    encoded[4..8].copy_from_slice(&[255; 4]);
    let error = decode::<Text>(&encoded).unwrap_err();
    assert_eq!(
        error,
        DecodeError::TooLong { type_name: "std_msgs/msg/String", field: "data", count: 0xffff_ffff, room: 5 }
    );
    assert_eq!(
        error.to_string(),
        "`data` of std_msgs/msg/String claims 4294967295 elements, but the rest of the message has room for 5 at most"
    );
}

#[test]
fn text_is_utf8_and_ends_with_a_nul() {
    let encoded = |text: &[u8]| {
        let length = u8::try_from(text.len()).unwrap();
        [&[0, 1, 0, 0, length, 0, 0, 0], text].concat()
    };
    let invalid = |offset, problem| {
        let (type_name, field) = ("std_msgs/msg/String", "data");
        Err(DecodeError::Invalid { type_name, field, offset, problem })
    };
    assert_eq!(decode(&encoded(b"ok\0")), Ok(Text { data: "ok".into() }));
    assert_eq!(
        decode(&encoded(b"")),
        Ok(Text::default()),
        "some writers leave out the NUL of an empty string"
    );
    assert_eq!(decode(&encoded(b"a\0b\0")), Ok(Text { data: "a\0b".into() }));
    assert_eq!(decode::<Text>(&encoded(b"oh")), invalid(9, "a string ends with a NUL"));
    assert_eq!(decode::<Text>(&encoded(b"a\xff\0")), invalid(9, "a string is encoded in UTF-8"));
    assert_eq!(decode::<Text>(&encoded(b"\xe2\x82\0")), invalid(8, "a string is encoded in UTF-8"));
}

#[test]
fn a_bool_is_0_or_1() {
    let flags = Flags { one: true, many: vec![false, true], three: [true, false, true] };
    let good = encode(&flags);
    assert_eq!(good, [0, 1, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 1, 1, 0, 1]);
    for (offset, field) in [(4, "one"), (12, "many"), (13, "many"), (14, "three"), (16, "three")] {
        let mut encoded = good.clone();
        encoded[offset] = 2;
        let (type_name, problem) = ("test_msgs/msg/Flags", "a bool is 0 or 1");
        assert_eq!(
            decode::<Flags>(&encoded),
            Err(DecodeError::Invalid { type_name, field, offset, problem })
        );
    }
}

#[derive(Message, Debug, Default, PartialEq)]
struct Lists {
    doubles: Vec<f64>,
    byte: u8,
    longs: Vec<u64>,
}

#[test]
fn elements_that_are_not_there_are_not_aligned() {
    let encoded = encode(&Lists::default());
    assert_eq!(encoded, [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(decode(&encoded), Ok(Lists::default()));
}

#[test]
#[should_panic(expected = "has another length than its buffer")]
fn a_buffer_of_another_size_is_a_mistake() {
    (super::encoding::<Time>().encode)(&Time::default(), &mut [0; 13]);
}
