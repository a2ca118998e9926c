//! Errors in descriptions, encoded messages and texts.

#[cfg(feature = "text")]
use crate::tree::{Misread, too_large};

/// The reason why a description does not give a readable message type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TypeError {
    /// The type does not exist.
    #[error("{name} is not among {place}; add the definitions of its package")]
    Unknown {
        /// The type.
        name: String,
        /// The set of types that was searched.
        place: String,
    },
    /// A type is described twice.
    #[error("{name} is described twice; describe each type once")]
    Repeated {
        /// The type.
        name: String,
    },
    /// A type has no fields.
    #[error("{name} is described without fields; describe one without as ROS 2 does, with a placeholder")]
    Empty {
        /// The type.
        name: String,
    },
    /// A field has no valid type.
    #[error("`{field}` of {name} is described wrongly: {problem}")]
    Field {
        /// The type.
        name: String,
        /// The field.
        field: String,
        /// A description of the problem.
        problem: String,
    },
    /// A type contains itself.
    #[error("{name} contains itself, so no message of it ends; let one be a sequence of numbers instead")]
    Recursive {
        /// The type.
        name: String,
    },
    /// Types are nested too deeply.
    #[error("{name} is nested too deeply: at most {limit} types may be nested")]
    TooDeep {
        /// The type.
        name: String,
        /// Maximum nesting.
        limit: usize,
    },
    /// The arrays of a type are too large.
    #[error("the smallest message of {name} would be too large to handle; let its arrays be sequences")]
    TooLarge {
        /// The type.
        name: String,
    },
}

/// The reason why bytes could not be decoded as a message of a type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DynamicDecodeError {
    /// The bytes end before the message does.
    #[error("`{path}` of {type_name} needs bytes up to {needed}, but the message ends at byte {length}")]
    Truncated {
        /// The message type.
        type_name: String,
        /// The field that could not be read, e.g. `fields[3].name`.
        path: String,
        /// The length of the encoded form in bytes.
        length: usize,
        /// The offset where the field would end.
        needed: usize,
    },
    /// A string or sequence claims more elements than the remaining bytes can hold.
    #[error("`{path}` of {type_name} claims {count} elements, but the message has room for {room} at most")]
    TooLong {
        /// The message type.
        type_name: String,
        /// The string or sequence.
        path: String,
        /// Number of elements that the string or sequence claims.
        count: usize,
        /// Number of elements that fit into the remaining bytes if each has the shortest possible
        /// encoding.
        room: usize,
    },
    /// A field has a value that its type does not allow, or the message has more values than its
    /// length allows.
    #[error(
        "`{path}` of {type_name} at byte {offset} is not valid: {problem}; are these the bytes of another type?"
    )]
    Invalid {
        /// The message type.
        type_name: String,
        /// The field.
        path: String,
        /// Byte offset of the problem.
        offset: usize,
        /// A description of the problem.
        problem: &'static str,
    },
    /// A string or sequence has more elements than its type allows.
    #[error("`{path}` of {type_name} has {count} elements, where {bound} are allowed")]
    Bound {
        /// The message type.
        type_name: String,
        /// The string or sequence.
        path: String,
        /// Number of elements; for a string, number of characters.
        count: usize,
        /// Number of elements that the type allows.
        bound: u32,
    },
    /// The header names a representation that this library does not read.
    #[error(
        "the encoded {type_name} has representation {identifier:#06x}, but only plain CDR is read (0x0000 and 0x0001); \
         let its writer use XCDR version 1"
    )]
    Representation {
        /// The message type.
        type_name: String,
        /// The identifier in the first two bytes.
        identifier: u16,
    },
}

/// The reason why a text does not name a part of a type's messages.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// The text is not a valid path.
    #[error(
        "`{text}` is no field: write names with dots between them and indices in brackets, such as `poses[0].position`"
    )]
    Syntax {
        /// The text.
        text: String,
    },
    /// A field does not exist.
    #[error("`{path}`: {type_name} has no such field, but {fields}")]
    UnknownField {
        /// The path up to the field.
        path: String,
        /// The type that lacks the field.
        type_name: String,
        /// The fields of that type.
        fields: String,
    },
    /// The path selects a field of a type that has no fields.
    #[error("`{path}` is of type `{field_type}`, which has no field `{name}`")]
    NoFields {
        /// The path up to the value.
        path: String,
        /// The type of the value.
        field_type: String,
        /// The field that the path selects.
        name: String,
    },
    /// The path selects an element of a type that has no such element.
    #[error("`{path}` is of type `{field_type}`, which has no element [{index}]")]
    NoElement {
        /// The path up to the value.
        path: String,
        /// The type of the value.
        field_type: String,
        /// The element that the path selects.
        index: usize,
    },
}

/// The reason why a text could not be read as a message of a type.
#[cfg(feature = "text")]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TextError {
    /// The text is not YAML, or uses a part of YAML that is not supported.
    #[error("line {line}, column {column}: {problem}")]
    Yaml {
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// A description of the problem.
        problem: String,
    },
    /// A field does not exist.
    #[error("`{path}`: {type_name} has no such field, but {fields}")]
    UnknownField {
        /// The path of the field, e.g. `pose.position.w`.
        path: String,
        /// The type that lacks the field.
        type_name: String,
        /// The fields of that type.
        fields: String,
    },
    /// A field occurs twice.
    #[error("`{path}` is given twice; leave one out")]
    Repeated {
        /// The field.
        path: String,
    },
    /// A value does not fit its field's type.
    #[error("`{path}`: found {found}, expected {expected}")]
    Value {
        /// The field, or the element of one.
        path: String,
        /// The text.
        found: String,
        /// The values that the type accepts.
        expected: String,
    },
    /// Reading the message takes more memory than the caller allows.
    #[error("`{path}`: {}", too_large(*.limit))]
    TooLarge {
        /// The field or element at which the limit is exceeded.
        path: String,
        /// The limit in bytes.
        limit: usize,
    },
}

#[cfg(feature = "text")]
impl From<Misread> for TextError {
    fn from(Misread { line, column, problem }: Misread) -> Self {
        Self::Yaml { line, column, problem }
    }
}
