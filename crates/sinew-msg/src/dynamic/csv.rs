//! Values as CSV, in the form of `ros2 topic echo --csv`.

use super::types::{DynamicElement, MessageType};
use super::value::{Scalar, Value, shown, shown_wide};
use super::yaml::{Style, decimal};
use crate::definition::Shape;

/// Returns one line with its line end.
pub(super) fn write(message_type: &MessageType, fields: &[Value], style: &Style) -> String {
    let mut writing = CsvWriter { message_type, style, text: String::new() };
    writing.structure(0, fields);
    writing.line()
}

/// The same for a part of a message.
pub(super) fn write_part(
    message_type: &MessageType,
    (element, shape): (DynamicElement, Shape),
    value: &Value,
    style: &Style,
) -> String {
    let mut writing = CsvWriter { message_type, style, text: String::new() };
    writing.value(element, shape, value);
    writing.line()
}

struct CsvWriter<'a> {
    message_type: &'a MessageType,
    style: &'a Style,
    /// The values, each followed by a comma.
    text: String,
}

impl CsvWriter<'_> {
    fn structure(&mut self, index: usize, values: &[Value]) {
        let message_type = self.message_type;
        for (field, value) in message_type.structure(index).fields.iter().zip(values) {
            self.value(field.element, field.shape, value);
        }
    }

    fn value(&mut self, element: DynamicElement, shape: Shape, value: &Value) {
        if let Some(short) = self.style.abbreviated(self.message_type, (element, shape), value) {
            return self.cell(&short);
        }
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
            Value::Values(values) => {
                self.list(values.iter(), |this, value| this.value(element, Shape::Single, value));
            }
        }
    }

    fn list<T>(&mut self, items: impl ExactSizeIterator<Item = T>, mut write: impl FnMut(&mut Self, T)) {
        let most = self.style.truncate.unwrap_or(usize::MAX);
        let is_cut = items.len() > most;
        items.take(most).for_each(|item| write(self, item));
        if is_cut {
            self.cell("...");
        }
    }

    fn string(&mut self, text: &str) {
        self.cell(&self.style.shortened(text));
    }

    /// Writes booleans and special numbers as Python does, and therefore ROS 2.
    fn scalar(&mut self, scalar: Scalar) {
        let text = match scalar {
            Scalar::Bool(true) => "True".to_owned(),
            Scalar::Bool(false) => "False".to_owned(),
            Scalar::Signed(value) => value.to_string(),
            Scalar::Unsigned(value) => value.to_string(),
            Scalar::Float32(value) => float(value.into()),
            Scalar::Float64(value) => float(value),
        };
        self.cell(&text);
    }

    fn cell(&mut self, text: &str) {
        if text.contains([',', '"', '\n', '\r']) {
            self.text.push('"');
            self.text.push_str(&text.replace('"', "\"\""));
            self.text.push('"');
        } else {
            self.text.push_str(text);
        }
        self.text.push(',');
    }

    fn line(mut self) -> String {
        self.text.pop();
        self.text + "\n"
    }
}

fn float(value: f64) -> String {
    match value {
        value if value.is_nan() => "nan".to_owned(),
        f64::INFINITY => "inf".to_owned(),
        f64::NEG_INFINITY => "-inf".to_owned(),
        value => decimal(value),
    }
}
