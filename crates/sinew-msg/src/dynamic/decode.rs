//! Decodes messages to values.

use super::error::DynamicDecodeError;
use super::types::{DynamicElement, DynamicField, MAX_VALUES, MessageType};
use super::value::{Scalar, Scalars, Value, width};
use crate::cdr::{Decoder, Fault, text_beyond, wide_text_beyond};
use crate::definition::{Primitive, Shape};
use crate::error::DecodeError;

/// Maximum number of values for each byte of a message; besides these it may have [`MAX_VALUES`].
/// Where messages with one field are nested deeply, each byte is a value of all of them, which take
/// far more memory than the bytes.
const VALUES_PER_BYTE: usize = 8;
const TOO_MANY: &str = "a message has at most 8 values for each of its bytes, and 1048576 more";

/// Decodes the fields of a message from untrusted bytes.
pub(super) fn decode(message_type: &MessageType, encoded: &[u8]) -> Result<Vec<Value>, DynamicDecodeError> {
    let decoder = match Decoder::new(encoded, "") {
        Ok(decoder) => decoder,
        Err(error) => return Err(decode_error(message_type, "(header)".to_owned(), error)),
    };
    let values_left = encoded.len().saturating_mul(VALUES_PER_BYTE).saturating_add(MAX_VALUES);
    Decoding { message_type, decoder, values_left }.structure(0).map_err(|Broken { path, cause }| {
        let type_name = message_type.name().to_owned();
        match cause {
            DynamicCause::Fault(fault) => decode_error(message_type, path, fault.into_error("")),
            DynamicCause::Bound { count, bound } => {
                DynamicDecodeError::Bound { type_name, path, count, bound }
            }
        }
    })
}

fn decode_error(message_type: &MessageType, path: String, error: DecodeError) -> DynamicDecodeError {
    let type_name = message_type.name().to_owned();
    match error {
        DecodeError::Truncated { length, needed, .. } => {
            DynamicDecodeError::Truncated { type_name, path, length, needed }
        }
        DecodeError::Bound { count, bound, .. } => DynamicDecodeError::Bound {
            type_name,
            path,
            count,
            bound: u32::try_from(bound).unwrap_or(u32::MAX),
        },
        DecodeError::TooLong { count, room, .. } => {
            DynamicDecodeError::TooLong { type_name, path, count, room }
        }
        DecodeError::Invalid { offset, problem, .. } => {
            DynamicDecodeError::Invalid { type_name, path, offset, problem }
        }
        DecodeError::Representation { identifier, .. } => {
            DynamicDecodeError::Representation { type_name, identifier }
        }
    }
}

/// A problem and its path, which grows while the error is passed outwards.
struct Broken {
    path: String,
    cause: DynamicCause,
}

enum DynamicCause {
    Fault(Fault),
    Bound { count: usize, bound: u32 },
}

impl From<Fault> for Broken {
    fn from(fault: Fault) -> Self {
        Self { path: String::new(), cause: DynamicCause::Fault(fault) }
    }
}

impl Broken {
    #[cold]
    fn inside(self, name: &str) -> Self {
        let separator = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        Self { path: format!("{name}{separator}{}", self.path), ..self }
    }
}

struct Decoding<'a> {
    message_type: &'a MessageType,
    decoder: Decoder<'a>,
    /// Number of values that the message may still have, not counting numbers in arrays and
    /// sequences.
    values_left: usize,
}

impl Decoding<'_> {
    /// Counts values before they are made.
    fn count_values(&mut self, count: usize) -> Result<(), Fault> {
        match self.values_left.checked_sub(count) {
            Some(left) => {
                self.values_left = left;
                Ok(())
            }
            None => Err(self.decoder.invalid(self.decoder.position(), TOO_MANY)),
        }
    }

    fn structure(&mut self, index: usize) -> Result<Vec<Value>, Broken> {
        let fields = &self.message_type.structure(index).fields;
        if fields.is_empty() {
            self.decoder.take(1)?;
            return Ok(Vec::new());
        }
        self.count_values(fields.len())?;
        let mut values = Vec::with_capacity(fields.len().min(self.decoder.left()));
        for field in fields {
            values.push(self.field(field).map_err(|broken| broken.inside(&field.name))?);
        }
        Ok(values)
    }

    fn field(&mut self, field: &DynamicField) -> Result<Value, Broken> {
        let count = match field.shape {
            Shape::Single => return self.element(field.element),
            Shape::Array(count) => usize::try_from(count).unwrap_or(usize::MAX),
            Shape::Sequence => self.decoder.count(self.message_type.least(field.element))?,
            Shape::BoundedSequence(bound) => {
                let count = self.decoder.count(self.message_type.least(field.element))?;
                if u32::try_from(count).map_or(true, |count| count > bound) {
                    return Err(Broken { path: String::new(), cause: DynamicCause::Bound { count, bound } });
                }
                count
            }
        };
        if let DynamicElement::Scalar(primitive) = field.element {
            return Ok(Value::Scalars(self.scalars(primitive, count)?));
        }
        self.count_values(count)?;
        // A value is larger in memory than encoded, so reserve no more memory than the message has
        // bytes left.
        let mut values = Vec::with_capacity(count.min(self.decoder.left() / size_of::<Value>()));
        for index in 0..count {
            let value = self.element(field.element);
            values.push(value.map_err(|broken| broken.inside(&format!("[{index}]")))?);
        }
        Ok(Value::Values(values))
    }

    fn element(&mut self, element: DynamicElement) -> Result<Value, Broken> {
        Ok(match element {
            DynamicElement::Scalar(primitive) => Value::Scalar(self.scalar(primitive)?),
            DynamicElement::String(bound) => {
                let text = self.string()?;
                self.check_bound(bound, |bound| text_beyond(&text, bound))?;
                Value::String(text)
            }
            DynamicElement::WString(bound) => {
                let units = self.wide_string()?;
                self.check_bound(bound, |bound| wide_text_beyond(&units, bound))?;
                Value::WString(units)
            }
            DynamicElement::Structure(index) => Value::Structure(self.structure(index)?),
        })
    }

    fn scalar(&mut self, primitive: Primitive) -> Result<Scalar, Fault> {
        let mut all = [0; 8];
        let bytes = &mut all[..width(primitive)];
        self.decoder.align(bytes.len());
        bytes.copy_from_slice(self.decoder.take(bytes.len())?);
        if self.decoder.is_big_endian() {
            bytes.reverse();
        }
        self.check(primitive, bytes)?;
        Ok(Scalar::from_bytes(primitive, bytes))
    }

    fn scalars(&mut self, primitive: Primitive, count: usize) -> Result<Scalars, Fault> {
        if count == 0 {
            return Ok(Scalars::zeros(primitive, 0)); // an empty sequence has no alignment padding
        }
        let width = width(primitive);
        self.decoder.align(width);
        let mut bytes = self.decoder.take(count.saturating_mul(width))?.to_vec();
        if self.decoder.is_big_endian() {
            bytes.chunks_exact_mut(width).for_each(<[u8]>::reverse);
        }
        self.check(primitive, &bytes)?;
        Ok(Scalars::new(primitive, bytes))
    }

    /// Checks the bytes that were just read.
    fn check(&self, primitive: Primitive, bytes: &[u8]) -> Result<(), Fault> {
        if primitive == Primitive::Bool
            && let Some(wrong) = bytes.iter().position(|byte| *byte > 1)
        {
            let begin = self.decoder.position() - bytes.len();
            return Err(self.decoder.invalid(begin + wrong, "a bool is 0 or 1"));
        }
        Ok(())
    }

    /// `beyond` returns the character count of a string that exceeds its argument.
    fn check_bound(
        &self,
        bound: Option<u64>,
        beyond: impl FnOnce(usize) -> Option<usize>,
    ) -> Result<(), Fault> {
        let bound = bound.map_or(usize::MAX, |bound| usize::try_from(bound).unwrap_or(usize::MAX));
        match beyond(bound) {
            Some(count) => Err(self.decoder.exceeds(count, bound)),
            None => Ok(()),
        }
    }

    fn string(&mut self) -> Result<Vec<u8>, Fault> {
        let length = self.decoder.count(1)?;
        match self.decoder.take(length)? {
            [] => Ok(Vec::new()), // some writers leave out the NUL of an empty string
            [text @ .., 0] => Ok(text.to_vec()),
            _ => Err(self.decoder.invalid(self.decoder.position() - 1, "a string ends with a NUL")),
        }
    }

    fn wide_string(&mut self) -> Result<Vec<u16>, Fault> {
        let length = self.decoder.count(4)?;
        let begin = self.decoder.position();
        let is_big_endian = self.decoder.is_big_endian();
        let (units, _) = self.decoder.take(length.saturating_mul(4))?.as_chunks::<4>();
        let unit = |(index, bytes): (usize, &[u8; 4])| {
            let unit = if is_big_endian { u32::from_be_bytes(*bytes) } else { u32::from_le_bytes(*bytes) };
            u16::try_from(unit)
                .map_err(|_| self.decoder.invalid(begin + 4 * index, "a unit of a wstring has 16 bits"))
        };
        units.iter().enumerate().map(unit).collect()
    }
}
