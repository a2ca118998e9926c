//! The reading position in a received message. Nothing in it is trusted.

use super::class::{Class, Element, Field, extent, width};
use sinew_msg::cdr::{HEADER_SIZE, aligned};
use sinew_msg::definition::{Primitive, Shape};
use sinew_msg::dynamic::DynamicDecodeError;

/// Reads an encoded message, from any offset on.
pub(super) struct Reader<'a> {
    /// The message without its header, so that indices are the offsets that alignment counts.
    body: &'a [u8],
    at: usize,
    is_big_endian: bool,
}

/// The reason why a field can't be read.
#[derive(Debug)]
pub(super) enum Broken {
    Truncated { length: usize, needed: usize },
    TooLong { count: usize, room: usize },
    Bound { count: usize, bound: usize },
    Invalid { offset: usize, problem: &'static str },
    Representation(u16),
}

type Result<T> = std::result::Result<T, Broken>;

impl Broken {
    /// Adds the place.
    pub(super) fn of(self, class: &Class, field: &str) -> DynamicDecodeError {
        let (type_name, path) = (class.name().to_owned(), field.to_owned());
        match self {
            Self::Truncated { length, needed } => {
                DynamicDecodeError::Truncated { type_name, path, length, needed }
            }
            Self::TooLong { count, room } => DynamicDecodeError::TooLong { type_name, path, count, room },
            Self::Bound { count, bound } => {
                let bound = u32::try_from(bound).unwrap_or(u32::MAX);
                DynamicDecodeError::Bound { type_name, path, count, bound }
            }
            Self::Invalid { offset, problem } => {
                DynamicDecodeError::Invalid { type_name, path, offset, problem }
            }
            Self::Representation(identifier) => DynamicDecodeError::Representation { type_name, identifier },
        }
    }
}

impl<'a> Reader<'a> {
    /// Reads from `at` on, an offset after the header.
    pub(super) fn new(encoded: &'a [u8], at: usize) -> Result<Self> {
        let Some((&[first, second, ..], body)) = encoded.split_first_chunk::<HEADER_SIZE>() else {
            return Err(Broken::Truncated { length: encoded.len(), needed: HEADER_SIZE });
        };
        match u16::from_be_bytes([first, second]) {
            identifier @ (0 | 1) => Ok(Self { body, at, is_big_endian: identifier == 0 }),
            identifier => Err(Broken::Representation(identifier)),
        }
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Returns whether numbers lie here as this machine has them.
    pub(super) fn is_native(&self) -> bool {
        self.is_big_endian == cfg!(target_endian = "big")
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let end = self.at.saturating_add(length);
        let Some(bytes) = self.body.get(self.at..end) else {
            let needed = end.saturating_add(HEADER_SIZE);
            return Err(Broken::Truncated { length: HEADER_SIZE + self.body.len(), needed });
        };
        self.at = end;
        Ok(bytes)
    }

    fn align(&mut self, alignment: usize) {
        self.at = aligned(self.at, alignment);
    }

    /// Reads a number as its bytes in this machine's order; the others are 0.
    pub(super) fn number(&mut self, primitive: Primitive) -> Result<[u8; 8]> {
        let width = width(primitive);
        self.align(width);
        let mut all = [0; 8];
        all[..width].copy_from_slice(self.take(width)?);
        if !self.is_native() {
            all[..width].reverse();
        }
        self.check(primitive, &all[..width])?;
        Ok(all)
    }

    /// Reads numbers as they lie, in the message's byte order.
    pub(super) fn numbers(&mut self, primitive: Primitive, count: usize) -> Result<&'a [u8]> {
        if count == 0 {
            return Ok(&[]); // an empty sequence has no alignment padding
        }
        self.align(width(primitive));
        let bytes = self.take(count.saturating_mul(width(primitive)))?;
        self.check(primitive, bytes)?;
        Ok(bytes)
    }

    /// Checks the bytes that were just read.
    fn check(&self, primitive: Primitive, bytes: &[u8]) -> Result<()> {
        if primitive == Primitive::Bool
            && let Some(wrong) = bytes.iter().position(|byte| *byte > 1)
        {
            let offset = HEADER_SIZE + self.at - bytes.len() + wrong;
            return Err(Broken::Invalid { offset, problem: "a bool is 0 or 1" });
        }
        Ok(())
    }

    /// Reads the length of a string or sequence with elements of at least `least` bytes each.
    fn length(&mut self, least: usize) -> Result<usize> {
        let [a, b, c, d, ..] = self.number(Primitive::Uint32)?;
        let count = extent(u32::from_ne_bytes([a, b, c, d]));
        let left = self.body.len() - self.at;
        if count.saturating_mul(least) > left {
            return Err(Broken::TooLong { count, room: left / least });
        }
        Ok(count)
    }

    /// Reads the number of elements of a field that is an array or a sequence.
    pub(super) fn count(&mut self, field: &Field) -> Result<usize> {
        match field.shape {
            Shape::Single => Ok(1),
            Shape::Array(count) => Ok(extent(count)),
            Shape::Sequence => self.length(field.element.least()),
            Shape::BoundedSequence(bound) => {
                let (count, bound) = (self.length(field.element.least())?, extent(bound));
                if count > bound { Err(Broken::Bound { count, bound }) } else { Ok(count) }
            }
        }
    }

    /// Reads a string without its NUL.
    pub(super) fn text(&mut self) -> Result<&'a [u8]> {
        let length = self.length(1)?;
        match self.take(length)? {
            [] => Ok(&[]), // some writers leave out the NUL of an empty string
            [text @ .., 0] => Ok(text),
            _ => {
                let offset = HEADER_SIZE + self.at - 1;
                Err(Broken::Invalid { offset, problem: "a string ends with a NUL" })
            }
        }
    }

    pub(super) fn wide_text(&mut self) -> Result<Vec<u16>> {
        let length = self.length(4)?;
        let begin = HEADER_SIZE + self.at;
        let (units, _) = self.take(length.saturating_mul(4))?.as_chunks::<4>();
        let is_big_endian = self.is_big_endian;
        let unit = |(index, bytes): (usize, &[u8; 4])| {
            let unit = if is_big_endian { u32::from_be_bytes(*bytes) } else { u32::from_le_bytes(*bytes) };
            let offset = begin + 4 * index;
            u16::try_from(unit)
                .map_err(|_| Broken::Invalid { offset, problem: "a unit of a wstring has 16 bits" })
        };
        units.iter().enumerate().map(unit).collect()
    }

    /// Advances to the end of a field. Checks only that the bytes are there.
    pub(super) fn skip(&mut self, field: &Field) -> Result<()> {
        let count = self.count(field)?;
        match &field.element {
            Element::Number(_) if count == 0 => {}
            Element::Number(primitive) => {
                self.align(width(*primitive));
                self.take(count.saturating_mul(width(*primitive)))?;
            }
            element => (0..count).try_for_each(|_| self.skip_element(element))?,
        }
        Ok(())
    }

    /// Advances to the end of a message.
    pub(super) fn skip_message(&mut self, class: &Class) -> Result<()> {
        if class.fields.is_empty() {
            self.take(1)?;
        }
        class.fields.iter().try_for_each(|field| self.skip(field))
    }

    fn skip_element(&mut self, element: &Element) -> Result<()> {
        match element {
            Element::Number(primitive) => {
                self.align(width(*primitive));
                self.take(width(*primitive)).map(drop)
            }
            Element::Text(_) => {
                let length = self.length(1)?;
                self.take(length).map(drop)
            }
            Element::WideText(_) => {
                let length = self.length(4)?;
                self.take(length.saturating_mul(4)).map(drop)
            }
            Element::Message(class) => self.skip_message(class),
        }
    }
}
