//! What a message consists of.

use crate::definition::{self, Primitive};
use std::borrow::Cow;
use std::fmt::Write as _;

/// A field's value, or an element's.
///
/// Equal are values with equal images: a NaN equals itself, and 0.0 differs from -0.0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A `bool` or a number.
    Scalar(Scalar),
    /// A `string`: bytes, since nobody vouches for their being UTF-8.
    String(Vec<u8>),
    /// A `wstring`: units of UTF-16, likewise.
    WString(Vec<u16>),
    /// A message: its fields' values in the order of its type.
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
    /// Of `int8` to `int64`.
    Signed(i64),
    /// Of `uint8` to `uint64`, a `byte` or a `char`.
    Unsigned(u64),
    /// A `float32`.
    Float32(f32),
    /// A `float64`.
    Float64(f64),
}

impl Scalar {
    /// What tells it from others of its type: its bytes in an image, and zeros.
    fn bits(self) -> u64 {
        match self {
            Self::Bool(value) => value.into(),
            Self::Signed(value) => value.cast_unsigned(),
            Self::Unsigned(value) => value,
            Self::Float32(value) => value.to_bits().into(),
            Self::Float64(value) => value.to_bits(),
        }
    }

    /// Reads `width(primitive)` bytes, the least significant first. Those of a `bool` were checked.
    pub(super) fn from_bytes(primitive: Primitive, bytes: &[u8]) -> Self {
        let mut all = [0; 8];
        all[..bytes.len()].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(all);
        // Moves the sign to where it belongs.
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

    /// Its bytes, the least significant first; behind those of its type zeros or copies of the
    /// sign.
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

/// How many bytes one has in an image.
pub(super) const fn width(primitive: Primitive) -> usize {
    match primitive {
        Primitive::Bool | Primitive::Byte | Primitive::Char | Primitive::Int8 | Primitive::Uint8 => 1,
        Primitive::Int16 | Primitive::Uint16 => 2,
        Primitive::Int32 | Primitive::Uint32 | Primitive::Float32 => 4,
        Primitive::Int64 | Primitive::Uint64 | Primitive::Float64 => 8,
    }
}

/// Many `bool`s or numbers of one type, in no more room than in an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scalars {
    primitive: Primitive,
    /// One behind the other, each with its least significant byte first.
    bytes: Vec<u8>,
}

impl Scalars {
    pub(super) fn new(primitive: Primitive, bytes: Vec<u8>) -> Self {
        Self { primitive, bytes }
    }

    /// As many zeros.
    pub(super) fn zeros(primitive: Primitive, count: usize) -> Self {
        Self { primitive, bytes: vec![0; count.saturating_mul(width(primitive))] }
    }

    pub(super) fn push(&mut self, scalar: Scalar) {
        self.bytes.extend_from_slice(&scalar.to_bytes()[..width(self.primitive)]);
    }

    /// Their type.
    #[must_use]
    pub fn primitive(&self) -> Primitive {
        self.primitive
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len() / width(self.primitive)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// One after the other.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Scalar> + '_ {
        let primitive = self.primitive;
        self.bytes.chunks_exact(width(primitive)).map(move |bytes| Scalar::from_bytes(primitive, bytes))
    }

    /// Their bytes, as in a little-endian image.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// The default value of a definition as a scalar; `None` if it is none of this type.
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

/// An integer of this type, if it is one.
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

/// A string for people: what is no UTF-8 as `\x` and two digits.
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
            let _ = write!(text, "\\x{byte:02x}"); // a string takes everything
        }
    }
    Cow::Owned(text)
}

/// The same for units of UTF-16: what makes no character as `\u` and four digits.
pub(super) fn shown_wide(units: &[u16]) -> String {
    let mut text = String::new();
    for character in char::decode_utf16(units.iter().copied()) {
        match character {
            Ok(character) => text.push(character),
            Err(alone) => {
                let _ = write!(text, "\\u{:04x}", alone.unpaired_surrogate()); // a string takes everything
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
