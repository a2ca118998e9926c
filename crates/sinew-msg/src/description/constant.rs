//! Descriptions made in constants, and their hashes.
//!
//! The hash of a type needs all types in it, and only the compiler knows those of a Rust struct:
//! [`Field::TYPE`] leads from each to the next. The hash is computed in a constant as well, so that
//! it costs nothing at run time; that is why the functions here use loops instead of iterators.
//!
//! [`Field::TYPE`]: crate::cdr::Field::TYPE

use super::{
    FieldDescription, FieldTypeDescription, IndividualTypeDescription, PLACEHOLDER, TypeDescription, type_id,
};
use crate::hash::{Sha256, TypeHash};
use std::collections::BTreeMap;

/// A struct as [`IndividualTypeDescription`] describes it, with references to the types of its
/// fields.
#[derive(Debug, Clone, Copy)]
pub struct ConstDescription {
    /// The full name, e.g. `sensor_msgs/msg/Image`.
    pub name: &'static str,
    /// The names and types of the fields, in the order of the encoding. Empty for a struct without
    /// fields.
    pub fields: &'static [(&'static str, ConstFieldType)],
}

/// A field type as [`FieldTypeDescription`] describes it.
#[derive(Debug, Clone, Copy)]
pub struct ConstFieldType {
    /// The number of the type; see [`type_id`].
    pub type_id: u8,
    /// The length of an array or the bound of a sequence; otherwise 0.
    pub capacity: u64,
    /// The bound of a string; 0 if it has none.
    pub string_capacity: u64,
    /// The type inside.
    pub nested: Nested,
}

/// The type inside a field, or inside the elements of one.
#[derive(Debug, Clone, Copy)]
pub enum Nested {
    /// A type that needs no description of its own.
    Nothing,
    /// A struct.
    Structure(&'static ConstDescription),
    /// Arrays or sequences, which ROS 2 doesn't have inside arrays and sequences.
    Field(&'static ConstFieldType),
}

impl ConstFieldType {
    /// The type `byte`, which is a `u8` in Rust, like `uint8`.
    pub const BYTE: Self = Self::basic(type_id::BYTE);

    /// Returns the type of a number, `bool` or string.
    #[must_use]
    pub const fn basic(type_id: u8) -> Self {
        Self { type_id, capacity: 0, string_capacity: 0, nested: Nested::Nothing }
    }

    /// Returns the type of a struct.
    #[must_use]
    pub const fn structure(description: &'static ConstDescription) -> Self {
        Self { nested: Nested::Structure(description), ..Self::basic(type_id::NESTED) }
    }

    /// Returns the type of an array of `size` elements.
    #[must_use]
    pub const fn array(element: &'static Self, size: usize) -> Self {
        Self { capacity: size as u64, ..Self::several(element, type_id::ARRAY) }
    }

    /// Returns the type of an unbounded sequence.
    #[must_use]
    pub const fn sequence(element: &'static Self) -> Self {
        Self::several(element, type_id::SEQUENCE)
    }

    /// Returns the type of a sequence of at most `bound` elements.
    #[must_use]
    pub const fn bounded_sequence(element: &'static Self, bound: usize) -> Self {
        Self { capacity: bound as u64, ..Self::several(element, type_id::BOUNDED_SEQUENCE) }
    }

    const fn several(element: &'static Self, shape: u8) -> Self {
        if element.type_id >= type_id::ARRAY {
            return Self { nested: Nested::Field(element), ..Self::basic(shape) };
        }
        Self { type_id: element.type_id + shape, ..*element }
    }

    /// Returns the struct inside, at any depth.
    const fn inside(&self) -> Option<&'static ConstDescription> {
        let mut nested = self.nested;
        loop {
            nested = match nested {
                Nested::Nothing => return None,
                Nested::Structure(description) => return Some(description),
                Nested::Field(field) => field.nested,
            };
        }
    }

    const fn write(&self, text: Sha256) -> Sha256 {
        let text = text.update(b"{\"type_id\": ");
        let text = number(text, self.type_id as u64).update(b", \"capacity\": ");
        let text = number(text, self.capacity).update(b", \"string_capacity\": ");
        let text = number(text, self.string_capacity).update(b", \"nested_type_name\": ");
        let text = match self.nested {
            Nested::Nothing => text.update(b"\"\""),
            Nested::Structure(description) => quoted(text, description.name),
            Nested::Field(field) => field.write(text),
        };
        text.update(b"}")
    }

    fn describe(&self) -> Option<FieldTypeDescription> {
        let nested_type_name = match self.nested {
            Nested::Nothing => String::new(),
            Nested::Structure(description) => description.name.to_owned(),
            Nested::Field(_) => return None,
        };
        let Self { type_id, capacity, string_capacity, .. } = *self;
        Some(FieldTypeDescription { type_id, capacity, string_capacity, nested_type_name })
    }
}

impl ConstDescription {
    /// Returns the type's RIHS01 hash, as [`TypeDescription::hash`] computes it.
    ///
    /// ROS 2 has no arrays or sequences inside others. A type that has them gets the hash of the
    /// same text, with the description of the inner array or sequence in place of a type name.
    #[must_use]
    pub const fn hash(&self) -> TypeHash {
        let text = self.write(Sha256::new().update(b"{\"type_description\": "));
        let mut text = text.update(b", \"referenced_type_descriptions\": [");
        let mut last = None;
        while let Some(next) = self.next(last, None) {
            if last.is_some() {
                text = text.update(b", ");
            }
            text = next.write(text);
            last = Some(next.name);
        }
        TypeHash(text.update(b"]}").finish())
    }

    /// Returns the description of the type and of all types in it; `None` if ROS 2 has no such
    /// type, because it has arrays or sequences inside others.
    #[must_use]
    pub fn describe(&self) -> Option<TypeDescription> {
        let mut referenced = BTreeMap::new();
        let mut unseen = vec![self];
        while let Some(next) = unseen.pop() {
            for inside in next.fields.iter().filter_map(|(_, field_type)| field_type.inside()) {
                if referenced.insert(inside.name, inside).is_none() {
                    unseen.push(inside);
                }
            }
        }
        Some(TypeDescription {
            type_description: self.describe_alone()?,
            referenced_type_descriptions: referenced
                .into_values()
                .map(Self::describe_alone)
                .collect::<Option<_>>()?,
        })
    }

    fn describe_alone(&self) -> Option<IndividualTypeDescription> {
        let field = |(name, field_type): &(&str, ConstFieldType)| {
            let field_type = field_type.describe()?;
            Some(FieldDescription { name: (*name).to_owned(), field_type, default_value: String::new() })
        };
        let fields = self.fields_or_placeholder().iter().map(field).collect::<Option<_>>()?;
        Some(IndividualTypeDescription { type_name: self.name.to_owned(), fields })
    }

    const fn fields_or_placeholder(&self) -> &'static [(&'static str, ConstFieldType)] {
        const NO_FIELDS: &[(&str, ConstFieldType)] = &[(PLACEHOLDER, ConstFieldType::basic(type_id::UINT8))];
        if self.fields.is_empty() { NO_FIELDS } else { self.fields }
    }

    const fn write(&self, text: Sha256) -> Sha256 {
        let mut text = quoted(text.update(b"{\"type_name\": "), self.name).update(b", \"fields\": [");
        let fields = self.fields_or_placeholder();
        let mut next = 0;
        while next < fields.len() {
            if next > 0 {
                text = text.update(b", ");
            }
            let (name, field_type) = &fields[next];
            text = quoted(text.update(b"{\"name\": "), name).update(b", \"type\": ");
            text = field_type.write(text).update(b"}");
            next += 1;
        }
        text.update(b"]}")
    }

    /// Returns the first by name among `best` and the types in this one that come after `last`.
    const fn next(&self, last: Option<&str>, mut best: Option<&'static Self>) -> Option<&'static Self> {
        let mut next = 0;
        while next < self.fields.len() {
            if let Some(inside) = self.fields[next].1.inside() {
                let is_after = match last {
                    None => true,
                    Some(last) => is_before(last, inside.name),
                };
                let is_first = match best {
                    None => true,
                    Some(best) => is_before(inside.name, best.name),
                };
                if is_after && is_first {
                    best = Some(inside);
                }
                best = inside.next(last, best);
            }
            next += 1;
        }
        best
    }
}

const fn is_before(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut next = 0;
    while next < one.len() && next < other.len() {
        if one[next] != other[next] {
            return one[next] < other[next];
        }
        next += 1;
    }
    one.len() < other.len()
}

/// Names of ROS 2 need no escapes.
const fn quoted(text: Sha256, name: &str) -> Sha256 {
    text.update(b"\"").update(name.as_bytes()).update(b"\"")
}

const fn number(text: Sha256, number: u64) -> Sha256 {
    let mut digits = [b'0'; 20];
    let mut begin = digits.len() - 1;
    let mut rest = number;
    loop {
        digits[begin] = b"0123456789"[(rest % 10) as usize];
        rest /= 10;
        if rest == 0 {
            return text.update(digits.split_at(begin).1);
        }
        begin -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: ConstDescription = ConstDescription { name: "a/msg/Empty", fields: &[] };
    const INNER: ConstDescription = ConstDescription {
        name: "a/msg/Inner",
        fields: &[
            (
                "text",
                ConstFieldType { string_capacity: 10, ..ConstFieldType::basic(type_id::BOUNDED_STRING) },
            ),
            ("empty", ConstFieldType::sequence(&ConstFieldType::structure(&EMPTY))),
        ],
    };
    const OUTER: ConstDescription = ConstDescription {
        name: "b/msg/Outer",
        fields: &[
            ("inner", ConstFieldType::array(&ConstFieldType::structure(&INNER), 4_294_967_295)),
            ("second", ConstFieldType::structure(&INNER)),
            ("time", ConstFieldType::structure(&TIME)),
        ],
    };
    const TIME: ConstDescription =
        ConstDescription { name: "a/msg/A", fields: &[("sec", ConstFieldType::basic(type_id::INT32))] };

    #[test]
    fn hashes_are_those_of_the_descriptions() {
        for description in [EMPTY, INNER, OUTER, TIME] {
            assert_eq!(description.hash(), description.describe().unwrap().hash());
        }
        let names = |description: ConstDescription| {
            let referenced = description.describe().unwrap().referenced_type_descriptions;
            referenced.into_iter().map(|one| one.type_name).collect::<Vec<_>>()
        };
        assert_eq!(names(OUTER), ["a/msg/A", "a/msg/Empty", "a/msg/Inner"]);
    }

    #[test]
    fn sequences_of_sequences_have_a_hash_but_no_description() {
        const NUMBER: ConstFieldType = ConstFieldType::basic(type_id::UINT8);
        const NUMBERS: ConstFieldType = ConstFieldType::sequence(&NUMBER);
        const TYPES: [&[(&str, ConstFieldType)]; 3] = [
            &[("a", ConstFieldType::sequence(&NUMBERS))],
            &[("a", ConstFieldType::array(&NUMBERS, 3))],
            &[("a", ConstFieldType::sequence(&ConstFieldType::array(&ConstFieldType::structure(&INNER), 3)))],
        ];
        let descriptions = TYPES.map(|fields| ConstDescription { name: "a/msg/Deep", fields });
        assert!(descriptions.iter().all(|description| description.describe().is_none()));
        let mut hashes = descriptions.map(|description| description.hash().0);
        hashes.sort_unstable();
        assert!(hashes.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn names_are_compared_as_texts() {
        for (one, other) in [("a", "b"), ("a", "aa"), ("", "a"), ("a/msg/A", "a_b/msg/A"), ("A", "a")] {
            assert!(is_before(one, other) && !is_before(other, one) && !is_before(one, one));
        }
    }
}
