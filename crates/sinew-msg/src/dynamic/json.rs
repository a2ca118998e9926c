//! Values as JSON.

use super::types::{DynamicElement, MessageType};
use super::value::{Scalar, Value, shown, shown_wide};
use crate::is_unseen;
use std::fmt::Write as _;

/// Returns one line, without its line end.
pub(super) fn write(message_type: &MessageType, fields: &[Value]) -> String {
    let mut writing = JsonWriter { message_type, text: String::new() };
    writing.structure(0, fields);
    writing.text
}

/// The same for a part of a message.
pub(super) fn write_part(message_type: &MessageType, element: DynamicElement, value: &Value) -> String {
    let mut writing = JsonWriter { message_type, text: String::new() };
    writing.value(element, value);
    writing.text
}

struct JsonWriter<'a> {
    message_type: &'a MessageType,
    text: String,
}

impl JsonWriter<'_> {
    fn structure(&mut self, index: usize, values: &[Value]) {
        let message_type = self.message_type;
        self.text.push('{');
        for (at, (field, value)) in message_type.structure(index).fields.iter().zip(values).enumerate() {
            self.separate(at);
            self.string(&field.name);
            self.text.push(':');
            self.value(field.element, value);
        }
        self.text.push('}');
    }

    fn value(&mut self, element: DynamicElement, value: &Value) {
        match value {
            Value::Scalar(scalar) => self.scalar(*scalar),
            Value::String(bytes) => self.string(&shown(bytes)),
            Value::WString(units) => self.string(&shown_wide(units)),
            Value::Structure(values) => {
                if let DynamicElement::Structure(index) = element {
                    self.structure(index, values);
                }
            }
            Value::Scalars(scalars) => self.list(scalars.iter(), Self::scalar),
            Value::Values(values) => self.list(values.iter(), |this, value| this.value(element, value)),
        }
    }

    fn list<T>(&mut self, items: impl Iterator<Item = T>, mut write: impl FnMut(&mut Self, T)) {
        self.text.push('[');
        for (at, item) in items.enumerate() {
            self.separate(at);
            write(self, item);
        }
        self.text.push(']');
    }

    fn separate(&mut self, at: usize) {
        if at > 0 {
            self.text.push(',');
        }
    }

    fn scalar(&mut self, scalar: Scalar) {
        // Writing to a `String` cannot fail.
        let _ = match scalar {
            Scalar::Bool(value) => write!(self.text, "{value}"),
            Scalar::Signed(value) => write!(self.text, "{value}"),
            Scalar::Unsigned(value) => write!(self.text, "{value}"),
            Scalar::Float32(value) => return self.float(value.into()),
            Scalar::Float64(value) => return self.float(value),
        };
    }

    fn float(&mut self, value: f64) {
        let _ = match value {
            value if value.is_nan() => write!(self.text, "\"nan\""),
            f64::INFINITY => write!(self.text, "\"inf\""),
            f64::NEG_INFINITY => write!(self.text, "\"-inf\""),
            value => write!(self.text, "{value:?}"),
        };
    }

    fn string(&mut self, text: &str) {
        self.text.push('"');
        for character in text.chars() {
            match character {
                '"' | '\\' => self.text.extend(['\\', character]),
                '\n' => self.text.push_str("\\n"),
                '\r' => self.text.push_str("\\r"),
                '\t' => self.text.push_str("\\t"),
                // Beyond 16 bits as a surrogate pair, which is JSON's only form.
                _ if is_unseen(character) => {
                    for unit in character.encode_utf16(&mut [0; 2]) {
                        let _ = write!(self.text, "\\u{unit:04x}"); // writing to a `String` cannot fail
                    }
                }
                _ => self.text.push(character),
            }
        }
        self.text.push('"');
    }
}
