//! What can be wrong with descriptions, images and texts.

#[cfg(feature = "text")]
use crate::tree::Misread;

/// Why a description is none of a message type that can be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TypeError {
    /// There is no such type.
    #[error("{name} is not among {place}; add the definitions of its package")]
    Unknown {
        /// The type.
        name: String,
        /// Where it was looked for.
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
    /// A field has no type that there is.
    #[error("`{field}` of {name} can't be described so: {problem}")]
    Field {
        /// The type.
        name: String,
        /// Its field.
        field: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A type contains itself.
    #[error("{name} contains itself, so no message of it ends; let one be a sequence of numbers instead")]
    Recursive {
        /// The type.
        name: String,
    },
    /// Too many types lie one in the other.
    #[error("{name} lies too deep: no more than {limit} types can lie one in the other")]
    TooDeep {
        /// The type.
        name: String,
        /// How many can.
        limit: usize,
    },
    /// The arrays of a type are too large.
    #[error("the smallest message of {name} would be too large to handle; let its arrays be sequences")]
    TooLarge {
        /// The type.
        name: String,
    },
}

/// Why an image is none of a type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// The image ends before the message does.
    #[error("`{path}` of {type_name} needs bytes up to {needed}, but the image ends at byte {length}")]
    Truncated {
        /// The message's type.
        type_name: String,
        /// The field that could not be read, e.g. `fields[3].name`.
        path: String,
        /// The image's length in bytes.
        length: usize,
        /// Where the field would end.
        needed: usize,
    },
    /// A string or sequence claims more than the rest of the image can hold.
    #[error("`{path}` of {type_name} claims {count} elements, but the image has room for {room} at most")]
    TooLong {
        /// The message's type.
        type_name: String,
        /// The string or sequence.
        path: String,
        /// How many elements it claims to have.
        count: usize,
        /// How many of the shortest elements would fill what is left of the image.
        room: usize,
    },
    /// A field holds what its type doesn't allow.
    #[error(
        "`{path}` of {type_name} at byte {offset} is not valid: {problem}; is the image one of another type?"
    )]
    Invalid {
        /// The message's type.
        type_name: String,
        /// The field.
        path: String,
        /// Where in the image the problem is.
        offset: usize,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A string or sequence has more elements than its type allows.
    #[error("`{path}` of {type_name} has {count} elements, where {bound} are allowed")]
    Bound {
        /// The message's type.
        type_name: String,
        /// The string or sequence.
        path: String,
        /// How many it has; of a string, characters.
        count: usize,
        /// How many it could have.
        bound: u32,
    },
    /// The image's header names a representation that is not read here.
    #[error(
        "the image of {type_name} has representation {identifier:#06x}, but only plain CDR is read (0x0000 and 0x0001); \
         let its writer use XCDR version 1"
    )]
    Representation {
        /// The message's type.
        type_name: String,
        /// The identifier in the first two bytes of the image.
        identifier: u16,
    },
}

/// Why a text names nothing in messages of a type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// It is not written as a path.
    #[error(
        "`{text}` is no field: write names with dots between them and indices in brackets, such as `poses[0].position`"
    )]
    Syntax {
        /// The text.
        text: String,
    },
    /// There is no such field.
    #[error("`{path}`: {type_name} has no such field, but {fields}")]
    UnknownField {
        /// The path up to there.
        path: String,
        /// The type that doesn't have it.
        type_name: String,
        /// The fields that it has.
        fields: String,
    },
    /// What should have fields has none.
    #[error("`{path}` is of type `{field_type}`, which has no field `{name}`")]
    NoFields {
        /// The path up to there.
        path: String,
        /// Its type.
        field_type: String,
        /// The field that was asked for.
        name: String,
    },
    /// What should have elements has none.
    #[error("`{path}` is of type `{field_type}`, which has no element [{index}]")]
    NoElement {
        /// The path up to there.
        path: String,
        /// Its type.
        field_type: String,
        /// The element that was asked for.
        index: usize,
    },
}

/// Why a text is no message of a type.
#[cfg(feature = "text")]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TextError {
    /// The text is no YAML, or none that is read here.
    #[error("line {line}, column {column}: {problem}")]
    Yaml {
        /// From 1.
        line: usize,
        /// The character in the line, from 1.
        column: usize,
        /// What is wrong.
        problem: String,
    },
    /// There is no such field.
    #[error("`{path}`: {type_name} has no such field, but {fields}")]
    UnknownField {
        /// Where the field would be, e.g. `pose.position.w`.
        path: String,
        /// The type that doesn't have it.
        type_name: String,
        /// The fields it has.
        fields: String,
    },
    /// A field is there twice.
    #[error("`{path}` is given twice; leave one out")]
    Repeated {
        /// The field.
        path: String,
    },
    /// A value is none of its field's type.
    #[error("`{path}`: found {found}, expected {expected}")]
    Value {
        /// The field, or the element of one.
        path: String,
        /// What stands there.
        found: String,
        /// What its type asks for.
        expected: String,
    },
}

#[cfg(feature = "text")]
impl From<Misread> for TextError {
    fn from(Misread { line, column, problem }: Misread) -> Self {
        Self::Yaml { line, column, problem }
    }
}
