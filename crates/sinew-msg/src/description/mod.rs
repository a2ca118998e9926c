//! Type descriptions, which tools need to decode messages, and their hashes.
//!
//! They have the contents of ROS 2's message `type_description_interfaces/msg/TypeDescription`,
//! under the same names. Programs without the definition of a type ask for its description.

mod constant;
mod difference;
#[cfg(feature = "text")]
mod read;
mod service;
mod text;

use crate::hash::{Sha256, TypeHash};
pub use constant::{ConstDescription, ConstFieldType, Nested};
use std::fmt::{self, Write};

/// A type, with every type in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct TypeDescription {
    /// The description of the type itself.
    pub type_description: IndividualTypeDescription,
    /// The types of its fields and of their fields, each once, ordered by name.
    pub referenced_type_descriptions: Vec<IndividualTypeDescription>,
}

/// A type, with the names of the types in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct IndividualTypeDescription {
    /// The full name, e.g. `sensor_msgs/msg/Image`.
    pub type_name: String,
    /// The fields in the order of the encoding. A type without fields is described with a `uint8`
    /// named `structure_needs_at_least_one_member`.
    pub fields: Vec<FieldDescription>,
}

/// A field.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct FieldDescription {
    /// The name.
    pub name: String,
    /// The type. (ROS 2 calls it `type`, which is a keyword in Rust.)
    pub field_type: FieldTypeDescription,
    /// The default value as Python would print it; empty if there is none. Not part of the hash.
    pub default_value: String,
}

/// The type of a field.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct FieldTypeDescription {
    /// The number of the type in `type_description_interfaces/msg/FieldType`; see [`type_id`].
    pub type_id: u8,
    /// The length of an array or the bound of a sequence; otherwise 0.
    pub capacity: u64,
    /// The bound of a string; 0 if it has none.
    pub string_capacity: u64,
    /// The full name of a message type; otherwise empty.
    pub nested_type_name: String,
}

/// The numbers of types, from `type_description_interfaces/msg/FieldType`. Those of arrays and
/// sequences are sums, e.g. `UINT8 + SEQUENCE`.
#[expect(missing_docs, reason = "each is what it is called")]
pub mod type_id {
    pub const NESTED: u8 = 1;
    pub const INT8: u8 = 2;
    pub const UINT8: u8 = 3;
    pub const INT16: u8 = 4;
    pub const UINT16: u8 = 5;
    pub const INT32: u8 = 6;
    pub const UINT32: u8 = 7;
    pub const INT64: u8 = 8;
    pub const UINT64: u8 = 9;
    pub const FLOAT: u8 = 10;
    pub const DOUBLE: u8 = 11;
    pub const LONG_DOUBLE: u8 = 12;
    pub const CHAR: u8 = 13;
    pub const WCHAR: u8 = 14;
    pub const BOOLEAN: u8 = 15;
    pub const BYTE: u8 = 16;
    pub const STRING: u8 = 17;
    pub const WSTRING: u8 = 18;
    pub const FIXED_STRING: u8 = 19;
    pub const FIXED_WSTRING: u8 = 20;
    pub const BOUNDED_STRING: u8 = 21;
    pub const BOUNDED_WSTRING: u8 = 22;
    /// Added for an array.
    pub const ARRAY: u8 = 48;
    /// Added for a bounded sequence.
    pub const BOUNDED_SEQUENCE: u8 = 96;
    /// Added for an unbounded sequence.
    pub const SEQUENCE: u8 = 144;
}

/// The name of the only field in the description of a type without fields.
pub const PLACEHOLDER: &str = "structure_needs_at_least_one_member";

impl TypeDescription {
    /// Returns the RIHS01 hash of the type: the SHA-256 of [`to_json`](Self::to_json). (REP 2016)
    ///
    /// ```
    /// use sinew_msg::description::{
    ///     FieldDescription, FieldTypeDescription, IndividualTypeDescription, TypeDescription, type_id,
    /// };
    ///
    /// let data = FieldDescription {
    ///     name: "data".to_owned(),
    ///     field_type: FieldTypeDescription { type_id: type_id::STRING, ..Default::default() },
    ///     ..Default::default()
    /// };
    /// let string = TypeDescription {
    ///     type_description: IndividualTypeDescription {
    ///         type_name: "std_msgs/msg/String".to_owned(),
    ///         fields: vec![data],
    ///     },
    ///     ..Default::default()
    /// };
    /// assert!(string.hash().to_string().starts_with("RIHS01_df668c740482bbd4"));
    /// ```
    #[must_use]
    pub fn hash(&self) -> TypeHash {
        TypeHash(Sha256::new().update(self.to_json().as_bytes()).finish())
    }

    /// Returns the text that is hashed: JSON in one line, with a space after each `,` and `:`, in
    /// ASCII, without default values.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut text = String::new();
        self.write_json(&mut text).expect("a `String` takes everything");
        text
    }

    fn write_json(&self, text: &mut String) -> fmt::Result {
        text.push_str("{\"type_description\": ");
        self.type_description.write_json(text)?;
        text.push_str(", \"referenced_type_descriptions\": [");
        separated(text, &self.referenced_type_descriptions, IndividualTypeDescription::write_json)?;
        text.push_str("]}");
        Ok(())
    }
}

impl IndividualTypeDescription {
    fn write_json(&self, text: &mut String) -> fmt::Result {
        text.push_str("{\"type_name\": ");
        write_text(text, &self.type_name)?;
        text.push_str(", \"fields\": [");
        separated(text, &self.fields, FieldDescription::write_json)?;
        text.push_str("]}");
        Ok(())
    }
}

impl FieldDescription {
    fn write_json(&self, text: &mut String) -> fmt::Result {
        let FieldTypeDescription { type_id, capacity, string_capacity, nested_type_name } = &self.field_type;
        text.push_str("{\"name\": ");
        write_text(text, &self.name)?;
        write!(text, ", \"type\": {{\"type_id\": {type_id}, \"capacity\": {capacity}, ")?;
        write!(text, "\"string_capacity\": {string_capacity}, \"nested_type_name\": ")?;
        write_text(text, nested_type_name)?;
        text.push_str("}}");
        Ok(())
    }
}

fn separated<T>(
    text: &mut String,
    items: &[T],
    write: impl Fn(&T, &mut String) -> fmt::Result,
) -> fmt::Result {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            text.push_str(", ");
        }
        write(item, text)?;
    }
    Ok(())
}

/// Writes a JSON string in ASCII. (ROS 2 names need no escapes, but these names may come from any
/// program.)
fn write_text(text: &mut String, content: &str) -> fmt::Result {
    text.push('"');
    for character in content.chars() {
        match character {
            '"' | '\\' => {
                text.push('\\');
                text.push(character);
            }
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\x08' => text.push_str("\\b"),
            '\x0c' => text.push_str("\\f"),
            ' '..='~' => text.push(character),
            _ => {
                let mut units = [0; 2];
                character
                    .encode_utf16(&mut units)
                    .iter()
                    .try_for_each(|unit| write!(text, "\\u{unit:04x}"))?;
            }
        }
    }
    text.push('"');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hashed_text_is_ascii() {
        let type_name = "a\"\\/\n\t\u{7f}ö𝄞".to_owned();
        let fields = Vec::new();
        let type_description = IndividualTypeDescription { type_name, fields };
        let description = TypeDescription { type_description, ..Default::default() };
        // As Python's `json.dumps` writes it.
        let expected = r#"{"type_description": {"type_name": "a\"\\/\n\t\u007f\u00f6\ud834\udd1e", "fields": []}, "referenced_type_descriptions": []}"#;
        assert_eq!(description.to_json(), expected);
    }
}
