//! What a definition says.

use super::names::TypeName;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// A `.msg`, `.srv` or `.action` file.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// The type that it defines.
    pub name: TypeName,
    /// The file, as its reader named it.
    pub file: Arc<str>,
    /// What stands in it.
    pub content: Content,
}

/// The sections of a definition.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// `.msg`
    Message(Section),
    /// `.srv`
    Service {
        /// What a client sends.
        request: Section,
        /// What the server answers.
        response: Section,
    },
    /// `.action`
    Action {
        /// What is to be done.
        goal: Section,
        /// What came of it.
        result: Section,
        /// How far it is.
        feedback: Section,
    },
}

/// A message, or the part of a service or action that becomes one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Section {
    /// The comment at its beginning, without `#`; empty if there is none.
    pub documentation: String,
    /// In the order of the file.
    pub constants: Vec<Constant>,
    /// In the order of the file, which is that of the image.
    pub fields: Vec<FieldDefinition>,
}

/// `int32 MAXIMUM = 5`
#[derive(Debug, Clone, PartialEq)]
pub struct Constant {
    /// Its name, in upper case.
    pub name: String,
    /// Its type: a number, `bool` or an unbounded string.
    pub element: ElementType,
    /// Its value, which fits the type.
    pub value: Literal,
    /// The comments before, behind and (indented) after it, without `#`; empty if there are none.
    pub documentation: String,
    /// Where it begins.
    pub place: Place,
}

/// `float64[3] position [0, 0, 1]`
#[derive(Debug, Clone, PartialEq)]
pub struct FieldDefinition {
    /// Its name, in lower case.
    pub name: String,
    /// Its type.
    pub field_type: FieldType,
    /// The value it has unless another is given; fits the type.
    pub default: Option<Literal>,
    /// Whether it has the annotation `@optional`. (ROS 2 has it without effect on images and hashes
    /// so far.)
    pub optional: bool,
    /// The comments before, behind and (indented) after it, without `#`; empty if there are none.
    pub documentation: String,
    /// Where it begins.
    pub place: Place,
}

/// The type of a field. Displayed as in a definition, with the package.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FieldType {
    /// The type of one element.
    pub element: ElementType,
    /// How many there are.
    pub shape: Shape,
}

impl fmt::Display for FieldType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.element, self.shape)
    }
}

/// What a field has one or several of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ElementType {
    /// A `bool` or a number.
    Primitive(Primitive),
    /// `string` or `string<=bound`: text in bytes, in UTF-8 if its writer is well-behaved.
    String {
        /// How long it can be, in characters.
        bound: Option<u32>,
    },
    /// `wstring` or `wstring<=bound`: text in UTF-16.
    WString {
        /// How long it can be, in characters.
        bound: Option<u32>,
    },
    /// A message. (Services and actions can't be fields, but for the types that ROS 2 derives.)
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

/// How many elements a field has. (Lengths in an image have 32 bits.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    /// `int32`: one.
    Single,
    /// `int32[3]`: always as many, at least 1.
    Array(u32),
    /// `int32[<=3]`: from none to as many, at least 1.
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
    /// In ROS 2 another name of `uint8`.
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
    /// In the order in which errors list them.
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

    /// Its name in a definition.
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

    /// The values of an integer type; `None` for `bool` and the floating point types.
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

/// The value of a constant, or what a field has by default.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// Of a `bool`.
    Bool(bool),
    /// Of any integer type, `byte` and `char`.
    Integer(i128),
    /// Of a `float32` or `float64`, as it is written: not rounded to 32 bits. Always finite.
    Float(f64),
    /// Of a `string` or `wstring`, without quotes and escapes.
    String(String),
    /// Of an array or a sequence.
    Sequence(Vec<Literal>),
}

/// Where something stands. Displayed as `file:line:column`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    /// The file, as its reader named it.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}
