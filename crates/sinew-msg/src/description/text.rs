//! Descriptions as lines of a definition, for types without a `.msg` file at hand.

use super::{FieldTypeDescription, IndividualTypeDescription, PLACEHOLDER, type_id};
use std::fmt;

impl fmt::Display for FieldTypeDescription {
    /// Displays the type as in a definition: `float64[3]`, `string<=10[]`, `geometry_msgs/Point`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { type_id, capacity, string_capacity, nested_type_name } = self;
        let (element, shape) = match *type_id {
            id @ 0..=type_id::ARRAY => (id, String::new()),
            id @ ..=type_id::BOUNDED_SEQUENCE => (id - type_id::ARRAY, format!("[{capacity}]")),
            id @ ..=type_id::SEQUENCE => (id - type_id::BOUNDED_SEQUENCE, format!("[<={capacity}]")),
            id => (id - type_id::SEQUENCE, "[]".to_owned()),
        };
        match element {
            type_id::NESTED => f.write_str(&nested_type_name.replacen("/msg/", "/", 1))?,
            type_id::BOUNDED_STRING => write!(f, "string<={string_capacity}")?,
            type_id::BOUNDED_WSTRING => write!(f, "wstring<={string_capacity}")?,
            other => match basic(other) {
                Some(name) => f.write_str(name)?,
                None => write!(f, "(type {other})")?,
            },
        }
        f.write_str(&shape)
    }
}

fn basic(id: u8) -> Option<&'static str> {
    Some(match id {
        type_id::INT8 => "int8",
        type_id::UINT8 => "uint8",
        type_id::INT16 => "int16",
        type_id::UINT16 => "uint16",
        type_id::INT32 => "int32",
        type_id::UINT32 => "uint32",
        type_id::INT64 => "int64",
        type_id::UINT64 => "uint64",
        type_id::FLOAT => "float32",
        type_id::DOUBLE => "float64",
        type_id::BOOLEAN => "bool",
        type_id::BYTE => "byte",
        type_id::CHAR => "char",
        type_id::STRING => "string",
        type_id::WSTRING => "wstring",
        _ => return None,
    })
}

impl IndividualTypeDescription {
    /// Returns a definition of the type, one line per field. Parsing it gives the same description,
    /// except for default values. Constants and comments are lost, since descriptions lack them.
    ///
    /// ```
    /// use sinew_msg::Message;
    /// use sinew_msg::description::TypeDescription;
    ///
    /// #[derive(Message)]
    /// #[message(name = "example_msgs/msg/Scan")]
    /// struct Scan {
    ///     angles: Vec<f32>,
    ///     sensor: String,
    /// }
    /// let description = Scan::ENCODING.unwrap().description.unwrap().describe().unwrap();
    /// assert_eq!(description.type_description.to_definition(), "float32[] angles\nstring sensor\n");
    /// ```
    #[must_use]
    pub fn to_definition(&self) -> String {
        let fields = self.fields.iter().filter(|field| field.name != PLACEHOLDER);
        fields.map(|field| format!("{} {}\n", field.field_type, field.name)).collect()
    }
}
