//! The contents of a definition.

use super::names::TypeName;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// A `.msg`, `.srv` or `.action` file.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// The type that the file defines.
    pub name: TypeName,
    /// The file, as its reader named it.
    pub file: Arc<str>,
    /// The contents of the file.
    pub content: Content,
}

/// The sections of a definition.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// `.msg`
    Message(Section),
    /// `.srv`
    Service {
        /// The message that a client sends.
        request: Section,
        /// The message with which the server answers.
        response: Section,
    },
    /// `.action`
    Action {
        /// The goal of the action.
        goal: Section,
        /// The outcome of a goal.
        result: Section,
        /// The progress report of a goal.
        feedback: Section,
    },
}

/// A message, or the part of a service or action that becomes a message.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Section {
    /// The comment at the beginning of the section, without `#`; empty if there is none.
    pub documentation: String,
    /// The constants, in the order of the file.
    pub constants: Vec<Constant>,
    /// The fields, in the order of the file, which is that of the encoding.
    pub fields: Vec<FieldDefinition>,
}

/// `int32 MAXIMUM = 5`
#[derive(Debug, Clone, PartialEq)]
pub struct Constant {
    /// The name, in upper case.
    pub name: String,
    /// The type: a number, `bool` or an unbounded string.
    pub element: ElementType,
    /// The value, which fits the type.
    pub value: Literal,
    /// The comments before it, after it in its line, and (indented) below it, without `#`; empty if
    /// there are none.
    pub documentation: String,
    /// The place where the constant begins.
    pub place: Place,
}

/// `float64[3] position [0, 0, 1]`
#[derive(Debug, Clone, PartialEq)]
pub struct FieldDefinition {
    /// The name, in lower case.
    pub name: String,
    /// The type.
    pub field_type: FieldType,
    /// The default value, which fits the type.
    pub default: Option<Literal>,
    /// Set if the field has the annotation `@optional`. (So far ROS 2 ignores it in encodings and
    /// hashes.)
    pub optional: bool,
    /// The comments before it, after it in its line, and (indented) below it, without `#`; empty if
    /// there are none.
    pub documentation: String,
    /// The place where the field begins.
    pub place: Place,
}

/// The type of a field. Displayed as in a definition, with the package.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FieldType {
    /// The type of one element.
    pub element: ElementType,
    /// The number of elements.
    pub shape: Shape,
}

impl fmt::Display for FieldType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.element, self.shape)
    }
}

/// The type of a field, or of each of its elements.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ElementType {
    /// A `bool` or a number.
    Primitive(Primitive),
    /// `string` or `string<=bound`: text in bytes, in UTF-8 if its writer is well-behaved.
    String {
        /// Maximum length in characters.
        bound: Option<u32>,
    },
    /// `wstring` or `wstring<=bound`: text in UTF-16.
    WString {
        /// Maximum length in characters.
        bound: Option<u32>,
    },
    /// A message. (Services and actions cannot be fields, except in the types that ROS 2 derives.)
    Message(TypeName),
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Primitive(primitive) => f.write_str(primitive.name()),
            Self::String { bound: None } => f.write_str("string"),
            Self::String { bound: Some(bound) } => write!(f, "string<={bound}"),
            Self::WString { bound: None } => f.write_str("wstring"),
            Self::WString { bound: Some(bound) } => write!(f, "wstring<={bound}"),
            Self::Message(name) => write!(f, "{}/{}", name.package(), name.base()),
        }
    }
}

/// The number of elements of a field. (Encoded lengths have 32 bits.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    /// `int32`: one value.
    Single,
    /// `int32[3]`: exactly this number, at least 1.
    Array(u32),
    /// `int32[<=3]`: from none up to this number, which is at least 1.
    BoundedSequence(u32),
    /// `int32[]`: any number.
    Sequence,
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Single => Ok(()),
            Self::Array(size) => write!(f, "[{size}]"),
            Self::BoundedSequence(bound) => write!(f, "[<={bound}]"),
            Self::Sequence => f.write_str("[]"),
        }
    }
}

/// The types that are neither texts nor messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is what it is called")]
pub enum Primitive {
    Bool,
    /// Eight bits that are not a number: an octet.
    Byte,
    /// Another name of `uint8` in ROS 2.
    Char,
    Int8,
    Uint8,
    Int16,
    Uint16,
    Int32,
    Uint32,
    Int64,
    Uint64,
    Float32,
    Float64,
}

impl Primitive {
    /// All of them, in the order in which errors list them.
    pub(super) const ALL: [Self; 13] = [
        Self::Bool,
        Self::Byte,
        Self::Char,
        Self::Int8,
        Self::Uint8,
        Self::Int16,
        Self::Uint16,
        Self::Int32,
        Self::Uint32,
        Self::Int64,
        Self::Uint64,
        Self::Float32,
        Self::Float64,
    ];

    /// Returns the name in a definition.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Byte => "byte",
            Self::Char => "char",
            Self::Int8 => "int8",
            Self::Uint8 => "uint8",
            Self::Int16 => "int16",
            Self::Uint16 => "uint16",
            Self::Int32 => "int32",
            Self::Uint32 => "uint32",
            Self::Int64 => "int64",
            Self::Uint64 => "uint64",
            Self::Float32 => "float32",
            Self::Float64 => "float64",
        }
    }

    /// Returns the range of an integer type; `None` for `bool` and the floating point types.
    #[must_use]
    pub fn integers(self) -> Option<RangeInclusive<i128>> {
        Some(match self {
            Self::Bool | Self::Float32 | Self::Float64 => return None,
            Self::Byte | Self::Char | Self::Uint8 => 0..=u8::MAX.into(),
            Self::Int8 => i8::MIN.into()..=i8::MAX.into(),
            Self::Int16 => i16::MIN.into()..=i16::MAX.into(),
            Self::Uint16 => 0..=u16::MAX.into(),
            Self::Int32 => i32::MIN.into()..=i32::MAX.into(),
            Self::Uint32 => 0..=u32::MAX.into(),
            Self::Int64 => i64::MIN.into()..=i64::MAX.into(),
            Self::Uint64 => 0..=u64::MAX.into(),
        })
    }
}

/// The value of a constant, or the default value of a field.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// A value of `bool`.
    Bool(bool),
    /// A value of an integer type, `byte` or `char`.
    Integer(i128),
    /// A value of `float32` or `float64`, as written: not rounded to 32 bits. Always finite.
    Float(f64),
    /// A value of `string` or `wstring`, without quotes and escapes.
    String(String),
    /// A value of an array or a sequence.
    Sequence(Vec<Literal>),
}

/// A place in a file. Displayed as `file:line:column`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    /// The file, as its reader named it.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}
