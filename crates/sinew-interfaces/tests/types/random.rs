//! Encodes messages of any type from its description, in the simplest possible way.

use sinew_msg::description::{IndividualTypeDescription, TypeDescription, type_id};

/// Encodes a random value in little-endian and in big-endian order.
pub(crate) fn random_bytes(description: &TypeDescription, seed: u64) -> [Vec<u8>; 2] {
    [false, true].map(|is_big| {
        let encoded = vec![0, u8::from(!is_big), 0, 0];
        let mut writer = Writer { description, state: seed, is_big, encoded };
        writer.structure(&description.type_description);
        writer.encoded
    })
}

struct Writer<'a> {
    description: &'a TypeDescription,
    state: u64,
    is_big: bool,
    encoded: Vec<u8>,
}

impl Writer<'_> {
    /// splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014)
    fn random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, end: u64) -> u64 {
        self.random() % end
    }

    /// Writes the lowest `size` bytes of a number.
    fn number(&mut self, bits: u64, size: usize) {
        // Padding may be anything when read, but is written as zeros: the little-endian message
        // must be reproduced.
        let padding = if self.is_big { 0x55 } else { 0 };
        while !(self.encoded.len() - 4).is_multiple_of(size) {
            self.encoded.push(padding);
        }
        if self.is_big {
            self.encoded.extend(&bits.to_be_bytes()[8 - size..]);
        } else {
            self.encoded.extend(&bits.to_le_bytes()[..size]);
        }
    }

    fn structure(&mut self, of: &IndividualTypeDescription) {
        if of.fields.len() == 1 && of.fields[0].name == sinew_msg::description::PLACEHOLDER {
            self.number(0, 1);
            return;
        }
        for field in &of.fields {
            let field_type = &field.field_type;
            let (element, count) = match field_type.type_id {
                id if id > type_id::SEQUENCE => (id - type_id::SEQUENCE, Some(self.below(4))),
                id if id > type_id::BOUNDED_SEQUENCE => {
                    (id - type_id::BOUNDED_SEQUENCE, Some(self.below(4).min(field_type.capacity)))
                }
                id if id > type_id::ARRAY => (id - type_id::ARRAY, None),
                id => {
                    self.element(id, field_type.string_capacity, &field_type.nested_type_name);
                    continue;
                }
            };
            if let Some(count) = count {
                self.number(count, 4);
            }
            for _ in 0..count.unwrap_or(field_type.capacity) {
                self.element(element, field_type.string_capacity, &field_type.nested_type_name);
            }
        }
    }

    fn element(&mut self, id: u8, bound: u64, nested: &str) {
        let most = if bound == 0 { 9 } else { bound.min(9) };
        match id {
            type_id::NESTED => {
                let all = &self.description.referenced_type_descriptions;
                self.structure(all.iter().find(|one| one.type_name == nested).unwrap());
            }
            type_id::BOOLEAN => {
                let bit = self.below(2);
                self.number(bit, 1);
            }
            type_id::STRING | type_id::BOUNDED_STRING => {
                let length = self.below(most + 1);
                self.number(length + 1, 4);
                for _ in 0..length {
                    let letter = u64::from(b'a') + self.below(26);
                    self.number(letter, 1);
                }
                self.number(0, 1);
            }
            type_id::WSTRING | type_id::BOUNDED_WSTRING => {
                let length = self.below(most + 1);
                self.number(length, 4);
                for _ in 0..length {
                    let unit = 0x3040 + self.below(90);
                    self.number(unit, 4);
                }
            }
            // No NaNs, since their sign is lost on the way.
            type_id::FLOAT => {
                let bits = self.below(0x7f00_0000);
                self.number(bits, 4);
            }
            type_id::DOUBLE => {
                let bits = self.below(0x7fe0_0000_0000_0000);
                self.number(bits, 8);
            }
            _ => {
                let bits = self.random();
                self.number(bits, size(id));
            }
        }
    }
}

fn size(id: u8) -> usize {
    match id {
        type_id::INT8 | type_id::UINT8 | type_id::BYTE => 1,
        type_id::INT16 | type_id::UINT16 => 2,
        type_id::INT32 | type_id::UINT32 => 4,
        type_id::INT64 | type_id::UINT64 => 8,
        other => panic!("a type of ROS 2 has no field of type {other}"),
    }
}
