//! The values of a message.

use crate::definition::{self, Primitive};
use std::borrow::Cow;
use std::fmt::Write as _;

/// The value of a field or an element.
///
/// Values are equal if their encodings are: a NaN equals itself, and 0.0 differs from -0.0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A `bool` or a number.
    Scalar(Scalar),
    /// A `string`: bytes, which may be invalid UTF-8.
    String(Vec<u8>),
    /// A `wstring`: UTF-16 units, which may be invalid.
    WString(Vec<u16>),
    /// A message: the values of its fields in the order of its type.
    Structure(Vec<Value>),
    /// An array or a sequence of `bool`s or numbers.
    Scalars(Scalars),
    /// An array or a sequence of strings or messages.
    Values(Vec<Value>),
}

/// A `bool` or a number.
#[derive(Debug, Clone, Copy)]
pub enum Scalar {
    /// A `bool`.
    Bool(bool),
    /// A value of `int8` to `int64`.
    Signed(i64),
    /// A value of `uint8` to `uint64`, a `byte` or a `char`.
    Unsigned(u64),
    /// A `float32`.
    Float32(f32),
    /// A `float64`.
    Float64(f64),
}

impl Scalar {
    /// Returns the bits that distinguish it from other values of its type: its encoded bytes,
    /// padded with zeros.
    fn bits(self) -> u64 {
        match self {
            Self::Bool(value) => value.into(),
            Self::Signed(value) => value.cast_unsigned(),
            Self::Unsigned(value) => value,
            Self::Float32(value) => value.to_bits().into(),
            Self::Float64(value) => value.to_bits(),
        }
    }

    /// Reads `width(primitive)` bytes, least significant first. The byte of a `bool` has been
    /// checked.
    pub(super) fn from_bytes(primitive: Primitive, bytes: &[u8]) -> Self {
        let mut all = [0; 8];
        all[..bytes.len()].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(all);
        // Extends the sign.
        let shift = 64 - 8 * u32::try_from(bytes.len()).unwrap_or(8);
        match primitive {
            Primitive::Bool => Self::Bool(bits != 0),
            Primitive::Int8 | Primitive::Int16 | Primitive::Int32 | Primitive::Int64 => {
                Self::Signed((bits << shift).cast_signed() >> shift)
            }
            Primitive::Byte
            | Primitive::Char
            | Primitive::Uint8
            | Primitive::Uint16
            | Primitive::Uint32
            | Primitive::Uint64 => Self::Unsigned(bits),
            Primitive::Float32 => Self::Float32(f32::from_le_bytes([all[0], all[1], all[2], all[3]])),
            Primitive::Float64 => Self::Float64(f64::from_bits(bits)),
        }
    }

    /// Returns the bytes, least significant first; after those of the type come zeros or copies of
    /// the sign.
    pub(super) fn to_bytes(self) -> [u8; 8] {
        self.bits().to_le_bytes()
    }
}

impl PartialEq for Scalar {
    fn eq(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other) && self.bits() == other.bits()
    }
}

impl Eq for Scalar {}

/// Returns the encoded length of one value in bytes.
pub(super) const fn width(primitive: Primitive) -> usize {
    match primitive {
        Primitive::Bool | Primitive::Byte | Primitive::Char | Primitive::Int8 | Primitive::Uint8 => 1,
        Primitive::Int16 | Primitive::Uint16 => 2,
        Primitive::Int32 | Primitive::Uint32 | Primitive::Float32 => 4,
        Primitive::Int64 | Primitive::Uint64 | Primitive::Float64 => 8,
    }
}

/// Many `bool`s or numbers of one type, in as little memory as they take encoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scalars {
    primitive: Primitive,
    /// The values in order, each with its least significant byte first.
    bytes: Vec<u8>,
}

impl Scalars {
    pub(super) fn new(primitive: Primitive, bytes: Vec<u8>) -> Self {
        Self { primitive, bytes }
    }

    /// Returns `count` zeros.
    pub(super) fn zeros(primitive: Primitive, count: usize) -> Self {
        Self { primitive, bytes: vec![0; count.saturating_mul(width(primitive))] }
    }

    pub(super) fn push(&mut self, scalar: Scalar) {
        self.bytes.extend_from_slice(&scalar.to_bytes()[..width(self.primitive)]);
    }

    /// Returns the type of the values.
    #[must_use]
    pub fn primitive(&self) -> Primitive {
        self.primitive
    }

    /// Returns the number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len() / width(self.primitive)
    }

    /// Returns `true` if there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the values in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Scalar> + '_ {
        let primitive = self.primitive;
        self.bytes.chunks_exact(width(primitive)).map(move |bytes| Scalar::from_bytes(primitive, bytes))
    }

    /// Returns the bytes of the values, as in a little-endian encoding.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Converts a definition's default value to a scalar; `None` if it does not fit this type.
pub(super) fn scalar_of(primitive: Primitive, value: &definition::Literal) -> Option<Scalar> {
    match (primitive, value) {
        (Primitive::Bool, definition::Literal::Bool(value)) => Some(Scalar::Bool(*value)),
        (Primitive::Float64, definition::Literal::Float(value)) => Some(Scalar::Float64(*value)),
        #[expect(clippy::cast_possible_truncation, reason = "to the nearest number that the type has")]
        (Primitive::Float32, definition::Literal::Float(value)) => Some(Scalar::Float32(*value as f32)),
        (_, definition::Literal::Integer(value)) => integer_of(primitive, *value),
        _ => None,
    }
}

/// Returns an integer of this type; `None` if the value is out of range or the type is no integer
/// type.
pub(super) fn integer_of(primitive: Primitive, value: i128) -> Option<Scalar> {
    if !primitive.integers()?.contains(&value) {
        return None;
    }
    match primitive {
        Primitive::Int8 | Primitive::Int16 | Primitive::Int32 | Primitive::Int64 => {
            i64::try_from(value).ok().map(Scalar::Signed)
        }
        _ => u64::try_from(value).ok().map(Scalar::Unsigned),
    }
}

/// Returns a string for display, with invalid UTF-8 as `\x` and two digits.
pub(super) fn shown(bytes: &[u8]) -> Cow<'_, str> {
    let mut chunks = bytes.utf8_chunks();
    match (chunks.next(), chunks.next()) {
        (None, _) => return Cow::Borrowed(""),
        (Some(only), None) if only.invalid().is_empty() => return Cow::Borrowed(only.valid()),
        _ => {}
    }
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}"); // writing to a `String` cannot fail
        }
    }
    Cow::Owned(text)
}

/// The same for UTF-16 units, with unpaired surrogates as `\u` and four digits.
pub(super) fn shown_wide(units: &[u16]) -> String {
    let mut text = String::new();
    for character in char::decode_utf16(units.iter().copied()) {
        match character {
            Ok(character) => text.push(character),
            Err(alone) => {
                let _ = write!(text, "\\u{:04x}", alone.unpaired_surrogate()); // writing to a `String` cannot fail
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_are_values_with_equal_bits() {
        assert_eq!(Scalar::Float32(f32::NAN), Scalar::Float32(f32::NAN));
        assert_ne!(Scalar::Float64(0.0), Scalar::Float64(-0.0));
        assert_ne!(Scalar::Signed(1), Scalar::Unsigned(1));
    }

    #[test]
    fn what_is_no_text_is_escaped() {
        assert_eq!(shown(b""), "");
        assert_eq!(shown("Größe".as_bytes()), "Größe");
        assert_eq!(shown(b"a\xff\xc3(b\xe2\x82"), "a\\xff\\xc3(b\\xe2\\x82");
        assert_eq!(shown_wide(&[0xd834, 0xdd1e, 0xdd1e, 0x61, 0xd834]), "𝄞\\udd1ea\\ud834");
    }
}
