//! Values of parameters.

use std::fmt;

/// The type of a parameter's value; the numbers are those of `rcl_interfaces/msg/ParameterType`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum ParameterType {
    /// There is no value.
    NotSet = 0,
    /// A boolean.
    Bool = 1,
    /// A signed integer of 64 bits.
    Integer = 2,
    /// A floating-point number of 64 bits.
    Double = 3,
    /// A string.
    String = 4,
    /// Bytes.
    ByteArray = 5,
    /// A sequence of booleans.
    BoolArray = 6,
    /// A sequence of integers.
    IntegerArray = 7,
    /// A sequence of floating-point numbers.
    DoubleArray = 8,
    /// A sequence of strings.
    StringArray = 9,
}

impl ParameterType {
    const ALL: [Self; 10] = [
        Self::NotSet,
        Self::Bool,
        Self::Integer,
        Self::Double,
        Self::String,
        Self::ByteArray,
        Self::BoolArray,
        Self::IntegerArray,
        Self::DoubleArray,
        Self::StringArray,
    ];

    /// Returns the type with a number of `rcl_interfaces/msg/ParameterType`; `None` for other
    /// numbers.
    ///
    /// ```
    /// use sinew::parameters::ParameterType;
    /// assert_eq!(ParameterType::from_number(3), Some(ParameterType::Double));
    /// assert_eq!(ParameterType::from_number(10), None);
    /// ```
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }
}

impl fmt::Display for ParameterType {
    /// Returns the type's name in messages of `rclcpp`: `integer`, `double_array`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotSet => "not set",
            Self::Bool => "bool",
            Self::Integer => "integer",
            Self::Double => "double",
            Self::String => "string",
            Self::ByteArray => "byte_array",
            Self::BoolArray => "bool_array",
            Self::IntegerArray => "integer_array",
            Self::DoubleArray => "double_array",
            Self::StringArray => "string_array",
        })
    }
}

/// A value of any type that a parameter can have.
///
/// ```
/// use sinew::parameters::{ParameterType, ParameterValue};
/// let value = ParameterValue::from(1.5);
/// assert_eq!(value.kind(), ParameterType::Double);
/// assert_eq!(value.to_string(), "1.5");
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub enum ParameterValue {
    /// No value: the parameter has a type, but no value yet.
    #[default]
    NotSet,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Integer(i64),
    /// A floating-point number.
    Double(f64),
    /// A string.
    String(String),
    /// Bytes.
    ByteArray(Vec<u8>),
    /// Booleans.
    BoolArray(Vec<bool>),
    /// Integers.
    IntegerArray(Vec<i64>),
    /// Floating-point numbers.
    DoubleArray(Vec<f64>),
    /// Strings.
    StringArray(Vec<String>),
}

impl ParameterValue {
    /// Returns the value's type.
    pub fn kind(&self) -> ParameterType {
        match self {
            Self::NotSet => ParameterType::NotSet,
            Self::Bool(_) => ParameterType::Bool,
            Self::Integer(_) => ParameterType::Integer,
            Self::Double(_) => ParameterType::Double,
            Self::String(_) => ParameterType::String,
            Self::ByteArray(_) => ParameterType::ByteArray,
            Self::BoolArray(_) => ParameterType::BoolArray,
            Self::IntegerArray(_) => ParameterType::IntegerArray,
            Self::DoubleArray(_) => ParameterType::DoubleArray,
            Self::StringArray(_) => ParameterType::StringArray,
        }
    }

    /// Converts this value to another type if that loses nothing; otherwise returns it unchanged.
    /// Integers become doubles; lists of integers become lists of doubles or of bytes.
    ///
    /// Declaring and setting parameters apply this conversion, so `gain:=3` is valid for a double.
    ///
    /// ```
    /// use sinew::parameters::{ParameterType, ParameterValue};
    /// let three = ParameterValue::from(3);
    /// assert_eq!(three.widened(ParameterType::Double), ParameterValue::Double(3.0));
    /// let inexact = ParameterValue::Integer((1 << 53) + 1);
    /// assert_eq!(inexact.clone().widened(ParameterType::Double), inexact);
    /// ```
    #[must_use]
    pub fn widened(self, kind: ParameterType) -> Self {
        match (kind, &self) {
            (ParameterType::Double, Self::Integer(value)) => exact(*value).map(Self::Double),
            (ParameterType::DoubleArray, Self::IntegerArray(values)) => {
                values.iter().map(|value| exact(*value)).collect::<Option<_>>().map(Self::DoubleArray)
            }
            (ParameterType::ByteArray, Self::IntegerArray(values)) => {
                let bytes = values.iter().map(|value| u8::try_from(*value).ok());
                bytes.collect::<Option<_>>().map(Self::ByteArray)
            }
            _ => None,
        }
        .unwrap_or(self)
    }
}

/// Returns the double that equals this integer, if there is one.
pub(crate) fn exact(integer: i64) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "compared below")]
    let double = integer as f64;
    #[expect(clippy::cast_possible_truncation, reason = "no double made of 64 bits is beyond 128")]
    let is_exact = double as i128 == i128::from(integer);
    is_exact.then_some(double)
}

impl fmt::Display for ParameterValue {
    /// Writes YAML from which a parameter file reads the same value (except bytes and empty
    /// sequences, which files don't have).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSet => f.write_str("not set"),
            Self::Bool(value) => value.fmt(f),
            Self::Integer(value) => value.fmt(f),
            Self::Double(value) => double(*value, f),
            Self::String(value) => text(value, f),
            Self::ByteArray(values) => list(values, f, |value, f| value.fmt(f)),
            Self::BoolArray(values) => list(values, f, |value, f| value.fmt(f)),
            Self::IntegerArray(values) => list(values, f, |value, f| value.fmt(f)),
            Self::DoubleArray(values) => list(values, f, |value, f| double(*value, f)),
            Self::StringArray(values) => list(values, f, |value, f| text(value, f)),
        }
    }
}

fn list<T>(
    values: &[T],
    f: &mut fmt::Formatter<'_>,
    one: impl Fn(&T, &mut fmt::Formatter<'_>) -> fmt::Result,
) -> fmt::Result {
    f.write_str("[")?;
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            f.write_str(", ")?;
        }
        one(value, f)?;
    }
    f.write_str("]")
}

/// Writes a point or an exponent, so that it is read as a double again.
fn double(value: f64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match value {
        _ if value.is_nan() => f.write_str(".nan"),
        f64::INFINITY => f.write_str(".inf"),
        f64::NEG_INFINITY => f.write_str("-.inf"),
        _ => write!(f, "{value:?}"),
    }
}

/// Writes double quotes; YAML shares their escapes with JSON.
fn text(value: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("\"")?;
    for character in value.chars() {
        match character {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\t' => f.write_str("\\t")?,
            '\r' => f.write_str("\\r")?,
            // Also characters that YAML treats as a break or can't contain, that reorder other
            // characters, or that are invisible.
            _ if sinew_msg::is_unseen(character) => match u32::from(character) {
                number @ ..=0xffff => write!(f, "\\u{number:04x}")?,
                number => write!(f, "\\U{number:08x}")?,
            },
            _ => write!(f, "{character}")?,
        }
    }
    f.write_str("\"")
}

macro_rules! from {
    ($($type:ty => $variant:ident),* $(,)?) => {$(
        impl From<$type> for ParameterValue {
            fn from(value: $type) -> Self {
                Self::$variant(value.into())
            }
        }
    )*};
}

from!(
    bool => Bool, i64 => Integer, i32 => Integer, f64 => Double, f32 => Double, String => String, &str => String,
    Vec<u8> => ByteArray, Vec<bool> => BoolArray, Vec<i64> => IntegerArray, Vec<f64> => DoubleArray,
    Vec<String> => StringArray,
);

/// A parameter's name and a value for it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NamedValue {
    /// The parameter's name.
    pub name: String,
    /// The value.
    pub value: ParameterValue,
}

impl NamedValue {
    /// Creates a value for the parameter with this name.
    ///
    /// ```
    /// use sinew::parameters::{NamedValue, ParameterValue};
    /// let gain = NamedValue::new("gain", 2.0);
    /// assert_eq!((gain.name.as_str(), gain.value), ("gain", ParameterValue::Double(2.0)));
    /// ```
    pub fn new(name: impl Into<String>, value: impl Into<ParameterValue>) -> Self {
        Self { name: name.into(), value: value.into() }
    }
}
