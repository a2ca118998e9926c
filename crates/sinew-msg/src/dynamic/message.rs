//! A message and its type.

use super::error::DynamicDecodeError;
use super::part::{self, FieldPath, Part};
use super::types::MessageType;
use super::value::Value;
use super::yaml::Style;
use super::{csv, decode, encode, json, yaml};
use crate::cdr::Encoder;
use std::sync::Arc;

/// A message of a type that is known only at run time.
///
/// Its values always fit its type. Messages are equal if their types and their encoded forms are.
#[derive(Debug, Clone, PartialEq)]
pub struct DynamicMessage {
    message_type: Arc<MessageType>,
    fields: Vec<Value>,
}

impl DynamicMessage {
    /// Returns a message with default values: those of the definition where they are known,
    /// otherwise zero or empty.
    #[must_use]
    pub fn new(message_type: &Arc<MessageType>) -> Self {
        Self::of(message_type, message_type.default_fields(0))
    }

    /// `fields` must fit the type.
    pub(super) fn of(message_type: &Arc<MessageType>, fields: Vec<Value>) -> Self {
        Self { message_type: message_type.clone(), fields }
    }

    /// Returns the values for modification; they must still fit the type afterwards.
    #[cfg(feature = "text")]
    pub(super) fn fields_mut(&mut self) -> &mut [Value] {
        &mut self.fields
    }

    /// Decodes an untrusted message in either byte order. Bytes after the last field are accepted,
    /// since some writers round the length up.
    ///
    /// # Errors
    /// [`DynamicDecodeError`] if the bytes do not encode this type.
    pub fn decode(message_type: &Arc<MessageType>, encoded: &[u8]) -> Result<Self, DynamicDecodeError> {
        Ok(Self::of(message_type, decode::decode(message_type, encoded)?))
    }

    /// Encodes the message in little-endian order. Panics if a string or sequence has 2³² elements:
    /// CDR has no such lengths.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        encode::encode(&self.message_type, &self.fields)
    }

    /// Returns the offset where the message ends if it is a field of another message and the bytes
    /// before it end at `at`, counted from the end of that message's header; as
    /// [`Field::end`](crate::cdr::Field::end).
    #[must_use]
    pub fn end(&self, at: usize) -> usize {
        encode::end(&self.message_type, &self.fields, at)
    }

    /// Encodes the message as a field of another message. Panics as [`encode`](Self::encode).
    pub fn encode_into(&self, encoder: &mut Encoder<'_>) {
        encode::encode_into(&self.message_type, &self.fields, encoder);
    }

    /// Returns the message's type.
    #[must_use]
    pub fn message_type(&self) -> &Arc<MessageType> {
        &self.message_type
    }

    /// Returns the fields with their names, in the order of the type.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &Value)> {
        let fields = self.message_type.structure(0).fields.iter();
        fields.map(|field| field.name.as_str()).zip(&self.fields)
    }

    /// Returns the message as `ros2 topic echo` prints it: YAML, one line per value.
    ///
    /// Values and quotes are the same, except for two kinds of texts. In [flow style](Style::flow)
    /// a line end in a text is `
    /// `, so that a message stays on one line. U+0085, U+2028 and U+2029, at which ROS 2 ends a
    /// line as YAML 1.1 does, are `\N`, `\L` and `\P`.
    ///
    /// A `byte` is printed as the character with its number, a `uint8` as a number. Invalid text in
    /// a string is escaped: a byte as `\xff`, an unpaired surrogate as `\ud834`.
    #[must_use]
    pub fn to_yaml(&self, style: &Style) -> String {
        yaml::write(&self.message_type, &self.fields, style)
    }

    /// Returns the message as `ros2 topic echo --csv` prints it: the values in one line, separated
    /// by commas, including the elements of arrays and the fields of nested messages.
    ///
    /// Differs from ROS 2 in that a `byte` is a number, and that text with a comma, a quote or a
    /// line end is quoted. [`Style::flow`] has no effect.
    #[must_use]
    pub fn to_csv(&self, style: &Style) -> String {
        csv::write(&self.message_type, &self.fields, style)
    }

    /// Returns a field, or part of one; `None` if it is an element beyond the end of a sequence.
    /// `path` must come from the message's type.
    #[must_use]
    pub fn part(&self, path: &FieldPath) -> Option<Part<'_>> {
        part::part(&self.message_type, &self.fields, path)
    }

    /// Returns the message as JSON in one line. Numbers that JSON lacks are `"nan"`, `"inf"` and
    /// `"-inf"`; invalid text in a string is escaped as in [`to_yaml`](Self::to_yaml).
    #[must_use]
    pub fn to_json(&self) -> String {
        json::write(&self.message_type, &self.fields)
    }
}
