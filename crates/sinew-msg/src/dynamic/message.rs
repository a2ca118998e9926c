//! A message and its type.

use super::error::ImageError;
use super::part::{self, FieldPath, Part};
use super::types::MessageType;
use super::value::Value;
use super::yaml::Style;
use super::{csv, decode, encode, json, yaml};
use std::sync::Arc;

/// A message of a type that is known at run time only.
///
/// Its values always fit its type. Equal are messages of equal types with equal images.
#[derive(Debug, Clone, PartialEq)]
pub struct DynamicMessage {
    message_type: Arc<MessageType>,
    fields: Vec<Value>,
}

impl DynamicMessage {
    /// One whose fields have their default values: those of the definition where they are known,
    /// else zero and empty.
    #[must_use]
    pub fn new(message_type: &Arc<MessageType>) -> Self {
        Self::of(message_type, message_type.default_fields(0))
    }

    /// `fields` fit the type.
    pub(super) fn of(message_type: &Arc<MessageType>, fields: Vec<Value>) -> Self {
        Self { message_type: message_type.clone(), fields }
    }

    /// Changes its values, to ones that fit the type.
    #[cfg(feature = "text")]
    pub(super) fn fields_mut(&mut self) -> &mut [Value] {
        &mut self.fields
    }

    /// Reads an image that nobody vouches for, in either byte order. Bytes after the last field are
    /// accepted, since some writers round images up.
    ///
    /// # Errors
    /// [`ImageError`] if it is none of this type.
    pub fn decode(message_type: &Arc<MessageType>, image: &[u8]) -> Result<Self, ImageError> {
        Ok(Self::of(message_type, decode::decode(message_type, image)?))
    }

    /// Its image, in little-endian order. Panics if a string or sequence has 2³² elements: CDR has
    /// no such lengths.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        encode::encode(&self.message_type, &self.fields)
    }

    /// Its type.
    #[must_use]
    pub fn message_type(&self) -> &Arc<MessageType> {
        &self.message_type
    }

    /// The values of its fields, by their names in the order of the type.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &Value)> {
        let fields = self.message_type.structure(0).fields.iter();
        fields.map(|field| field.name.as_str()).zip(&self.fields)
    }

    /// As `ros2 topic echo` prints it: YAML, a line for each value.
    ///
    /// The values are the same, and so are the quotes, but for two kinds of texts: in [flow
    /// style](Style::flow) an end of a line is `\n`, so that a message stays one line, and U+0085,
    /// U+2028 and U+2029, at which ROS 2 ends a line as YAML 1.1 does, are `\N`, `\L` and `\P`.
    ///
    /// A `byte` is printed as the character of this number, a `uint8` as a number. What is no text
    /// in a string is escaped: a byte as `\xff`, half a pair of UTF-16 as `\ud834`.
    #[must_use]
    pub fn to_yaml(&self, style: &Style) -> String {
        yaml::write(&self.message_type, &self.fields, style)
    }

    /// As `ros2 topic echo --csv` prints it: the values in one line, with commas between them, also
    /// between elements of arrays and fields of messages.
    ///
    /// Differs from ROS 2 in that a `byte` is a number, and that what has a comma, a quote or the
    /// end of a line in it stands in quotes. [`Style::flow`] changes nothing.
    #[must_use]
    pub fn to_csv(&self, style: &Style) -> String {
        csv::write(&self.message_type, &self.fields, style)
    }

    /// A field, or part of one; `None` if it is an element that a sequence doesn't have. `path` is
    /// one of the message's type.
    #[must_use]
    pub fn part(&self, path: &FieldPath) -> Option<Part<'_>> {
        part::part(&self.message_type, &self.fields, path)
    }

    /// JSON in one line. Numbers that JSON doesn't have are `"nan"`, `"inf"` and `"-inf"`; what is
    /// no text in a string is escaped as in [`to_yaml`](Self::to_yaml).
    #[must_use]
    pub fn to_json(&self) -> String {
        json::write(&self.message_type, &self.fields)
    }
}
