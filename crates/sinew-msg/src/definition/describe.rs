//! The description of a type.

use super::interface::Interface;
use super::model::{ElementType, FieldDefinition, FieldType, Literal, Primitive, Shape};
use crate::description::{
    FieldDescription, FieldTypeDescription, IndividualTypeDescription, PLACEHOLDER, type_id,
};
use std::fmt::{self, Write};

impl Interface {
    /// Returns the description of this type alone, with the names of the types of its fields.
    #[must_use]
    pub fn describe(&self) -> IndividualTypeDescription {
        let mut fields: Vec<FieldDescription> = self.fields.iter().map(describe_field).collect();
        if fields.is_empty() {
            let field_type = FieldTypeDescription { type_id: type_id::UINT8, ..Default::default() };
            fields.push(FieldDescription { name: PLACEHOLDER.to_owned(), field_type, ..Default::default() });
        }
        IndividualTypeDescription { type_name: self.name.to_string(), fields }
    }
}

fn describe_field(field: &FieldDefinition) -> FieldDescription {
    let mut default_value = String::new();
    if let Some(value) = &field.default {
        write_value(&mut default_value, value, false).expect("a `String` takes everything");
    }
    FieldDescription { name: field.name.clone(), field_type: describe_type(&field.field_type), default_value }
}

fn describe_type(FieldType { element, shape }: &FieldType) -> FieldTypeDescription {
    let (element_id, string_capacity) = match element {
        ElementType::Primitive(primitive) => (primitive_id(*primitive), 0),
        ElementType::String { bound: None } => (type_id::STRING, 0),
        ElementType::String { bound: Some(bound) } => (type_id::BOUNDED_STRING, u64::from(*bound)),
        ElementType::WString { bound: None } => (type_id::WSTRING, 0),
        ElementType::WString { bound: Some(bound) } => (type_id::BOUNDED_WSTRING, u64::from(*bound)),
        ElementType::Message(_) => (type_id::NESTED, 0),
    };
    let (shape_id, capacity) = match shape {
        Shape::Single => (0, 0),
        Shape::Array(size) => (type_id::ARRAY, u64::from(*size)),
        Shape::BoundedSequence(bound) => (type_id::BOUNDED_SEQUENCE, u64::from(*bound)),
        Shape::Sequence => (type_id::SEQUENCE, 0),
    };
    let nested_type_name = match element {
        ElementType::Message(name) => name.to_string(),
        _ => String::new(),
    };
    FieldTypeDescription { type_id: element_id + shape_id, capacity, string_capacity, nested_type_name }
}

fn primitive_id(primitive: Primitive) -> u8 {
    match primitive {
        Primitive::Bool => type_id::BOOLEAN,
        Primitive::Byte => type_id::BYTE,
        // ROS 2 replaces `char` before it describes a type.
        Primitive::Char | Primitive::Uint8 => type_id::UINT8,
        Primitive::Int8 => type_id::INT8,
        Primitive::Int16 => type_id::INT16,
        Primitive::Uint16 => type_id::UINT16,
        Primitive::Int32 => type_id::INT32,
        Primitive::Uint32 => type_id::UINT32,
        Primitive::Int64 => type_id::INT64,
        Primitive::Uint64 => type_id::UINT64,
        Primitive::Float32 => type_id::FLOAT,
        Primitive::Float64 => type_id::DOUBLE,
    }
}

/// Writes a value as Python prints it, since Python makes ROS 2's descriptions: a string is bare on
/// its own, and quoted in a tuple.
fn write_value(text: &mut String, value: &Literal, is_inside: bool) -> fmt::Result {
    match value {
        Literal::Bool(true) => text.push_str("True"),
        Literal::Bool(false) => text.push_str("False"),
        Literal::Integer(integer) => write!(text, "{integer}")?,
        Literal::Float(float) => write_float(text, *float)?,
        Literal::String(string) if is_inside => write_quoted(text, string),
        Literal::String(string) => text.push_str(string),
        Literal::Sequence(values) => {
            text.push('(');
            for (index, value) in values.iter().enumerate() {
                if index > 0 {
                    text.push_str(", ");
                }
                write_value(text, value, true)?; // the elements are no sequences
            }
            text.push_str(if values.len() == 1 { ",)" } else { ")" });
        }
    }
    Ok(())
}

/// Writes a float as Python does. Rust prints the same digits, but `1e-5` for `1e-05` and `1e16`
/// for `1e+16`.
fn write_float(text: &mut String, float: f64) -> fmt::Result {
    let digits = format!("{float:?}");
    let Some((mantissa, exponent)) = digits.split_once('e') else {
        text.push_str(&digits);
        return Ok(());
    };
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    write!(text, "{}e{sign}{exponent:0>2}", mantissa.strip_suffix(".0").unwrap_or(mantissa))
}

fn write_quoted(text: &mut String, string: &str) {
    let quote = if string.contains('\'') && !string.contains('"') { '"' } else { '\'' };
    text.push(quote);
    for character in string.chars() {
        match character {
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            _ if character == quote => text.extend(['\\', character]),
            _ => text.push(character),
        }
    }
    text.push(quote);
}
