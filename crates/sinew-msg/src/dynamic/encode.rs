//! Encodes values. They fit their type, which is checked where values are created.

use super::types::{DynamicElement, MessageType};
use super::value::{Scalars, Value, width};
use crate::cdr::{Encoder, HEADER_SIZE};
use crate::definition::Shape;

/// Returns the encoded form, in little-endian order.
pub(super) fn encode(message_type: &MessageType, fields: &[Value]) -> Vec<u8> {
    let mut encoded = vec![0; HEADER_SIZE + end(message_type, fields, 0)];
    encode_into(message_type, fields, &mut Encoder::new(&mut encoded));
    encoded
}

/// Returns the offset where the fields end if the bytes before them end at `at`.
pub(super) fn end(message_type: &MessageType, fields: &[Value], at: usize) -> usize {
    let mut length = Length(at);
    structure(message_type, 0, fields, &mut length);
    length.0
}

/// Encodes the fields within another message.
pub(super) fn encode_into(message_type: &MessageType, fields: &[Value], encoder: &mut Encoder<'_>) {
    structure(message_type, 0, fields, encoder);
}

/// The destination of encoded bytes, or a counter of their offset.
trait Output {
    fn align(&mut self, alignment: usize);
    fn write(&mut self, bytes: &[u8]);
    fn write_length(&mut self, length: usize);
}

/// The offset at which the bytes that would be written end.
struct Length(usize);

impl Output for Length {
    fn align(&mut self, alignment: usize) {
        self.0 = self.0.next_multiple_of(alignment);
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 += bytes.len();
    }

    fn write_length(&mut self, _: usize) {
        self.align(4);
        self.0 += 4;
    }
}

impl Output for Encoder<'_> {
    fn align(&mut self, alignment: usize) {
        Encoder::align(self, alignment);
    }

    fn write(&mut self, bytes: &[u8]) {
        Encoder::write(self, bytes);
    }

    fn write_length(&mut self, length: usize) {
        Encoder::write_length(self, length);
    }
}

fn structure(message_type: &MessageType, index: usize, values: &[Value], output: &mut impl Output) {
    let fields = &message_type.structure(index).fields;
    if fields.is_empty() {
        output.write(&[0]);
    }
    for (field, value) in fields.iter().zip(values) {
        match (value, field.shape) {
            (Value::Scalars(values), shape) => scalars(values, shape, output),
            (Value::Values(values), shape) => {
                if !matches!(shape, Shape::Array(_)) {
                    output.write_length(values.len());
                }
                values.iter().for_each(|value| element(message_type, field.element, value, output));
            }
            (value, _) => element(message_type, field.element, value, output),
        }
    }
}

fn scalars(values: &Scalars, shape: Shape, output: &mut impl Output) {
    if !matches!(shape, Shape::Array(_)) {
        output.write_length(values.len());
    }
    if !values.is_empty() {
        output.align(width(values.primitive())); // an empty sequence has no alignment padding
        output.write(values.bytes());
    }
}

fn element(message_type: &MessageType, kind: DynamicElement, value: &Value, output: &mut impl Output) {
    match (kind, value) {
        (DynamicElement::Scalar(primitive), Value::Scalar(scalar)) => {
            output.align(width(primitive));
            output.write(&scalar.to_bytes()[..width(primitive)]);
        }
        (_, Value::String(text)) => {
            output.write_length(text.len() + 1);
            output.write(text);
            output.write(&[0]);
        }
        (_, Value::WString(units)) => {
            output.write_length(units.len());
            units.iter().for_each(|unit| output.write(&u32::from(*unit).to_le_bytes()));
        }
        (DynamicElement::Structure(index), Value::Structure(values)) => {
            structure(message_type, index, values, output);
        }
        _ => unreachable!("the values of a message fit its type"),
    }
}
