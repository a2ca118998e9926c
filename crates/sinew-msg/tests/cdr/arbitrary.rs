//! Values of every shape survive encoding and decoding; arbitrary bytes give an error or a value.

use super::types::{BasicTypes, Empty, Sequences, Time, Vector3};
use super::{decode, decode_into, encode, encoding};
use proptest::collection::vec;
use proptest::prelude::*;

prop_compose! {
    // From bytes, so that every number takes every value. (NaNs are not equal to themselves.)
    fn basic()(flag: bool, bytes: [u8; 4], float in -1e9f32..1e9, double in -1e9f64..1e9,
               short: (i16, u16), int: (i32, u32), long: (i64, u64)) -> BasicTypes {
        BasicTypes {
            bool_value: flag,
            byte_value: bytes[0],
            char_value: bytes[1],
            float32_value: float,
            float64_value: double,
            int8_value: bytes[2].cast_signed(),
            uint8_value: bytes[3],
            int16_value: short.0,
            uint16_value: short.1,
            int32_value: int.0,
            uint32_value: int.1,
            int64_value: long.0,
            uint64_value: long.1,
        }
    }
}

prop_compose! {
    fn time()(sec: i32, nanosec: u32) -> Time {
        Time { sec, nanosec }
    }
}

prop_compose! {
    fn vector()(x in -1e9f64..1e9, y in -1e9f64..1e9, z in -1e9f64..1e9) -> Vector3 {
        Vector3 { x, y, z }
    }
}

prop_compose! {
    fn numbers()(
        bools in vec(any::<bool>(), 0..5), bytes in vec(any::<u8>(), 0..9),
        floats in vec(-1e9f32..1e9, 0..4), doubles in vec(-1e9f64..1e9, 0..4),
        int8s in vec(any::<i8>(), 0..4), int16s in vec(any::<i16>(), 0..4),
        uint16s in vec(any::<u16>(), 0..4), int32s in vec(any::<i32>(), 0..4),
        uint32s in vec(any::<u32>(), 0..4), int64s in vec(any::<i64>(), 0..4),
        uint64s in vec(any::<u64>(), 0..4), check: i32,
    ) -> Sequences {
        Sequences {
            bools, bytes, floats, doubles, int8s, int16s, uint16s, int32s, uint32s, int64s, uint64s, check,
            ..Sequences::default()
        }
    }
}

prop_compose! {
    fn sequences()(
        numbers in numbers(), strings in vec(".{0,6}", 0..4), times in vec(time(), 0..4),
        vectors in vec(vector(), 0..3), basics in vec(basic(), 0..3), empties in 0usize..3,
        nested in vec(vec(any::<u16>(), 0..4), 0..4), names in [".{0,6}", ".{0,6}"],
        flags: [bool; 3], grid: [[i16; 2]; 3], stamps in [time(), time()],
    ) -> Sequences {
        let empties = vec![Empty {}; empties];
        Sequences { strings, times, vectors, basics, empties, nested, names, flags, grid, stamps, ..numbers }
    }
}

/// Encodes in big-endian order, in the simplest possible way.
struct BigEndian {
    encoded: Vec<u8>,
}

impl BigEndian {
    fn number(&mut self, bytes: &[u8]) {
        while !(self.encoded.len() - 4).is_multiple_of(bytes.len()) {
            self.encoded.push(0x55);
        }
        self.encoded.extend(bytes);
    }

    fn count(&mut self, count: usize) {
        self.number(&u32::try_from(count).expect("tests are short").to_be_bytes());
    }

    fn numbers<const N: usize>(&mut self, numbers: impl ExactSizeIterator<Item = [u8; N]>) {
        self.count(numbers.len());
        numbers.for_each(|bytes| self.number(&bytes));
    }

    fn text(&mut self, text: &str) {
        self.numbers(text.as_bytes().iter().chain(&[0]).map(|byte| [*byte]).collect::<Vec<_>>().into_iter());
    }

    fn time(&mut self, time: Time) {
        self.number(&time.sec.to_be_bytes());
        self.number(&time.nanosec.to_be_bytes());
    }

    fn basic(&mut self, basic: &BasicTypes) {
        self.number(&[u8::from(basic.bool_value)]);
        self.number(&[basic.byte_value]);
        self.number(&[basic.char_value]);
        self.number(&basic.float32_value.to_be_bytes());
        self.number(&basic.float64_value.to_be_bytes());
        self.number(&basic.int8_value.to_be_bytes());
        self.number(&[basic.uint8_value]);
        self.number(&basic.int16_value.to_be_bytes());
        self.number(&basic.uint16_value.to_be_bytes());
        self.number(&basic.int32_value.to_be_bytes());
        self.number(&basic.uint32_value.to_be_bytes());
        self.number(&basic.int64_value.to_be_bytes());
        self.number(&basic.uint64_value.to_be_bytes());
    }

    fn sequences(mut self, value: &Sequences) -> Vec<u8> {
        self.numbers(value.bools.iter().map(|flag| [u8::from(*flag)]));
        self.numbers(value.bytes.iter().map(|byte| [*byte]));
        self.numbers(value.floats.iter().map(|value| value.to_be_bytes()));
        self.numbers(value.doubles.iter().map(|value| value.to_be_bytes()));
        self.numbers(value.int8s.iter().map(|value| value.to_be_bytes()));
        self.numbers(value.int16s.iter().map(|value| value.to_be_bytes()));
        self.numbers(value.uint16s.iter().map(|value| value.to_be_bytes()));
        self.numbers(value.int32s.iter().map(|value| value.to_be_bytes()));
        self.numbers(value.uint32s.iter().map(|value| value.to_be_bytes()));
        self.numbers(value.int64s.iter().map(|value| value.to_be_bytes()));
        self.numbers(value.uint64s.iter().map(|value| value.to_be_bytes()));
        self.count(value.strings.len());
        value.strings.iter().for_each(|text| self.text(text));
        self.count(value.times.len());
        value.times.iter().for_each(|time| self.time(*time));
        self.count(value.vectors.len());
        for Vector3 { x, y, z } in &value.vectors {
            [x, y, z].into_iter().for_each(|part| self.number(&part.to_be_bytes()));
        }
        self.count(value.basics.len());
        value.basics.iter().for_each(|basic| self.basic(basic));
        self.numbers(value.empties.iter().map(|_| [0]));
        self.count(value.nested.len());
        value.nested.iter().for_each(|inner| self.numbers(inner.iter().map(|value| value.to_be_bytes())));
        value.names.iter().for_each(|name| self.text(name));
        value.flags.iter().for_each(|flag| self.number(&[u8::from(*flag)]));
        value.grid.iter().flatten().for_each(|value| self.number(&value.to_be_bytes()));
        value.stamps.iter().for_each(|time| self.time(*time));
        self.number(&value.check.to_be_bytes());
        self.encoded
    }
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded(value in sequences(), mut other in sequences()) {
        let encoded = encode(&value);
        prop_assert_eq!(decode(&encoded), Ok(value.clone()));
        decode_into(&encoded, &mut other).unwrap();
        prop_assert_eq!(&other, &value);
        let turned = BigEndian { encoded: vec![0; 4] }.sequences(&value);
        prop_assert_eq!(turned.len(), encoded.len());
        prop_assert_eq!(decode(&turned), Ok(value));
    }

    #[test]
    fn a_cut_encoded_form_is_an_error(value in sequences(), at: prop::sample::Index) {
        let encoded = encode(&value);
        prop_assert!(decode::<Sequences>(&encoded[..at.index(encoded.len())]).is_err());
    }

    #[test]
    fn any_bytes_are_an_error_or_a_value(value in sequences(), changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let mut encoded = encode(&value);
        for (at, byte) in changes {
            let at = at.index(encoded.len());
            encoded[at] = byte;
        }
        if let Ok(value) = decode::<Sequences>(&encoded) {
            // Every decoded value can be encoded.
            prop_assert_eq!(encode(&value).len(), (encoding::<Sequences>().size)(&value));
        }
    }
}
