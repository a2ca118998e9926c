//! Allocations of decoding: none once the value has room, and never more than the length of the
//! message.

use super::counting::allocations;
use super::types::{PointCloud2, PointField, Sequences, Text, Time};
use super::{decode_into, encode};
use sinew_msg::Message;

fn cloud(points: u8, frame: &str) -> PointCloud2 {
    let field = |name: &str| PointField { name: name.into(), ..PointField::default() };
    let mut cloud = PointCloud2 { fields: vec![field("x"), field("yz")], ..PointCloud2::default() };
    cloud.header.frame_id = frame.into();
    cloud.data = (0..points).collect();
    cloud
}

#[test]
fn a_value_with_room_is_read_into_without_allocating() {
    let encoded = [encode(&cloud(200, "lidar")), encode(&cloud(100, "map"))];
    let mut value = cloud(250, "somewhere");
    let addresses = |value: &PointCloud2| {
        let fields = value.fields.iter().map(|field| field.name.as_ptr()).collect::<Vec<_>>();
        (value.header.frame_id.as_ptr(), value.fields.as_ptr(), value.data.as_ptr(), fields)
    };
    let before = addresses(&value);
    let ((), count, _) = allocations(|| {
        for encoded in encoded.iter().cycle().take(10) {
            decode_into(encoded, &mut value).unwrap();
        }
    });
    assert_eq!(count, 0);
    assert_eq!(addresses(&value), before);
    assert_eq!(value, cloud(100, "map"));
}

#[test]
fn encoding_allocates_nothing() {
    let value = cloud(200, "lidar");
    let mut encoded = encode(&value);
    let ((), count, _) = allocations(|| (super::encoding().encode)(&value, &mut encoded));
    assert_eq!(count, 0);
}

#[derive(Message)]
struct Words {
    words: Vec<String>,
}

#[derive(Message)]
struct Stamps {
    stamps: Vec<Time>,
}

#[derive(Message)]
struct Deep {
    lists: Vec<Vec<Vec<u64>>>,
}

/// Decodes messages of `length` bytes that claim `count` elements; every sequence and string in
/// them lies.
fn lie<T: Message>(count: u32, length: usize) {
    let mut encoded = vec![0xff; length];
    encoded[..4].copy_from_slice(&[0, 1, 0, 0]);
    encoded[4..8].copy_from_slice(&count.to_le_bytes());
    let (_, _, largest) = allocations(|| (super::encoding::<T>().decode)(&encoded));
    assert!(largest <= length, "{largest} bytes for a message of {length} that claims {count} elements");
}

#[test]
fn a_length_that_lies_allocates_no_more_than_the_encoded_form() {
    for count in [u32::MAX, 1 << 31, 1 << 20, 1000, 240] {
        lie::<Text>(count, 1000);
        lie::<Stamps>(count, 1000);
        lie::<Words>(count, 999); // a string is larger in memory than its shortest encoding
        lie::<Deep>(count, 999);
    }
}

#[test]
fn sequences_of_a_value_with_room_are_kept() {
    let full = Sequences {
        floats: vec![1.0; 8],
        strings: vec!["abc".into(), "de".into()],
        nested: vec![vec![1, 2, 3]],
        times: vec![Time { sec: 1, nanosec: 2 }; 3],
        ..Sequences::default()
    };
    let encoded = encode(&full);
    let mut value = full.clone();
    let ((), count, _) = allocations(|| decode_into(&encoded, &mut value).unwrap());
    assert_eq!((count, value), (0, full));
}
