//! Plain messages: the same bytes in memory and encoded.

use super::types::{Time, Vector3};
use super::{decode, encode, encoding};
use bytemuck::bytes_of;
use sinew_msg::{Message, Plain};

#[derive(Message, Clone, Copy, Debug, PartialEq)]
#[message(plain)]
#[repr(C)]
struct Sample {
    stamp: Time,
    channel: u16,
    flags: [u8; 2],
    gain: f32,
    position: Vector3,
    counts: [[i64; 2]; 2],
}

/// Four bytes, then eight: off its alignment, its padding differs between memory and encoding.
#[derive(Message, Clone, Copy, Debug, PartialEq)]
#[message(plain)]
#[repr(C)]
struct Uneven {
    id: u32,
    weight: f32,
    value: f64,
}

#[derive(Message, Clone, Debug, PartialEq)]
struct Batch {
    prefix: Vec<u8>,
    items: Vec<Uneven>,
    pair: [Uneven; 2],
    check: u8,
}

fn sample() -> Sample {
    let position = Vector3 { x: 1.5, y: -2.5, z: 1e300 };
    let counts = [[1, -1], [i64::MAX, i64::MIN]];
    Sample { stamp: Time { sec: -5, nanosec: 6 }, channel: 7, flags: [8, 9], gain: 0.25, position, counts }
}

#[test]
fn the_encoded_form_is_the_header_and_the_bytes_in_memory() {
    let encoded = encode(&sample());
    assert_eq!(encoded[..4], [0, 1, 0, 0]);
    assert_eq!(&encoded[4..], bytes_of(&sample()));
    assert_eq!(decode(&encoded), Ok(sample()));
}

#[test]
fn only_plain_types_say_that_they_are() {
    fn plain<T: Plain + Message>() -> bool {
        encoding::<T>().plain.is_some()
    }
    assert!(plain::<Sample>() && plain::<Time>() && plain::<Uneven>());
    assert!(encoding::<Batch>().plain.is_none());
}

#[test]
fn structs_off_their_alignment_go_field_by_field() {
    let uneven = |id: u32| Uneven { id, weight: 1.0, value: 2.0 };
    // The items begin at offset 12 after 1 byte, and at 16 after 5: off and on their alignment.
    for length in 0..9 {
        let items = (0..3).map(uneven).collect();
        let batch = Batch { prefix: vec![9; length], items, pair: [uneven(7), uneven(8)], check: 3 };
        let mut expected = vec![0, 1, 0, 0];
        let mut write = |bytes: &[u8], alignment: usize| {
            while !(expected.len() - 4).is_multiple_of(alignment) {
                expected.push(0);
            }
            expected.extend(bytes);
        };
        write(&u32::try_from(length).unwrap().to_le_bytes(), 4);
        write(&batch.prefix, 1);
        write(&3u32.to_le_bytes(), 4);
        for item in batch.items.iter().chain(&batch.pair) {
            write(&item.id.to_le_bytes(), 4);
            write(&item.weight.to_le_bytes(), 4);
            write(&item.value.to_le_bytes(), 8);
        }
        write(&[3], 1);
        let encoded = encode(&batch);
        assert_eq!(encoded, expected, "after {length} bytes");
        assert_eq!(decode(&encoded), Ok(batch));
    }
}
