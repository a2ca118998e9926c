//! The reading position in an encoded message, and decoding faults.

use super::header::{HEADER_SIZE, aligned};
use crate::error::DecodeError;

/// Reads an untrusted encoded message.
#[derive(Debug, Clone)]
pub struct Decoder<'a> {
    /// The message without its header, so that indices are the offsets that alignment counts.
    body: &'a [u8],
    /// Bytes of `body` that have been read. After an `align` it may exceed the length by less than
    /// 8.
    at: usize,
    big_endian: bool,
}

impl<'a> Decoder<'a> {
    /// Reads the header.
    ///
    /// # Errors
    /// [`DecodeError::Truncated`] if there is no header, [`DecodeError::Representation`] if it
    /// doesn't name plain CDR.
    #[inline]
    pub fn new(encoded: &'a [u8], type_name: &'static str) -> Result<Self, DecodeError> {
        let Some((&[first, second, ..], body)) = encoded.split_first_chunk::<HEADER_SIZE>() else {
            let (length, needed) = (encoded.len(), HEADER_SIZE);
            return Err(DecodeError::Truncated { type_name, field: "(header)", length, needed });
        };
        match u16::from_be_bytes([first, second]) {
            identifier @ (0 | 1) => Ok(Self { body, at: 0, big_endian: identifier == 0 }),
            identifier => Err(DecodeError::Representation { type_name, identifier }),
        }
    }

    /// Returns a decoder of these bytes, the first of which counts as aligned to 8.
    pub(super) fn over(bytes: &'a [u8], big_endian: bool) -> Self {
        Self { body: bytes, at: 0, big_endian }
    }

    /// Returns the number of bytes read after the header.
    #[must_use]
    #[inline]
    pub fn position(&self) -> usize {
        self.at
    }

    /// Returns the number of bytes left.
    #[must_use]
    #[inline]
    pub fn left(&self) -> usize {
        self.body.len().saturating_sub(self.at)
    }

    /// Returns `true` if numbers have their most significant byte first.
    #[must_use]
    #[inline]
    pub fn is_big_endian(&self) -> bool {
        self.big_endian
    }

    /// Returns `true` if the message has this machine's byte order.
    #[must_use]
    #[inline]
    pub fn is_native(&self) -> bool {
        self.big_endian == cfg!(target_endian = "big")
    }

    /// Advances to a multiple of `alignment` (1, 2, 4 or 8).
    #[inline]
    pub fn align(&mut self, alignment: usize) {
        self.at = aligned(self.at, alignment);
    }

    /// Returns the next `length` bytes.
    ///
    /// # Errors
    /// [`Fault`] if there are fewer.
    #[inline]
    pub fn take(&mut self, length: usize) -> Result<&'a [u8], Fault> {
        let end = self.at.saturating_add(length);
        match self.body.get(self.at..end) {
            Some(bytes) => {
                self.at = end;
                Ok(bytes)
            }
            None => Err(self.ends_before(end)),
        }
    }

    /// Returns the next `N` bytes.
    ///
    /// # Errors
    /// [`Fault`] if there are fewer.
    #[inline]
    pub fn take_array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        match self.take_chunk() {
            Some(bytes) => Ok(*bytes),
            None => Err(self.ends_before(self.at.saturating_add(N))),
        }
    }

    /// Returns the next `N` bytes, or `None` if there are fewer.
    #[inline]
    pub(super) fn take_chunk<const N: usize>(&mut self) -> Option<&'a [u8; N]> {
        let bytes = self.body.get(self.at..)?.first_chunk()?;
        self.at += N;
        Some(bytes)
    }

    /// Reads the length of a string or sequence with elements of at least `least` bytes each.
    ///
    /// # Errors
    /// [`Fault`] if the length is missing, or if the remaining bytes are too few for that many
    /// elements.
    #[inline]
    pub fn count(&mut self, least: usize) -> Result<usize, Fault> {
        self.align(4);
        let bytes = self.take_array()?;
        let count = if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) };
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        if count.saturating_mul(least.max(1)) > self.left() {
            return Err(self.too_long(count, least));
        }
        Ok(count)
    }

    /// Returns the fault of a value at `position` (in bytes after the header) that its type does
    /// not allow.
    #[must_use]
    pub fn invalid(&self, position: usize, problem: &'static str) -> Fault {
        Fault::invalid(position, problem)
    }

    /// Returns the fault of a string or sequence that is longer than its type allows.
    #[must_use]
    pub fn exceeds(&self, count: usize, bound: usize) -> Fault {
        Fault::new(Cause::Bound { count, bound })
    }

    #[cold]
    fn too_long(&self, count: usize, least: usize) -> Fault {
        Fault::new(Cause::TooLong { count, room: self.left() / least.max(1) })
    }

    #[cold]
    pub(super) fn ends_before(&self, end: usize) -> Fault {
        let needed = end.saturating_add(HEADER_SIZE);
        Fault::new(Cause::Truncated { length: HEADER_SIZE + self.body.len(), needed })
    }
}

pub(super) const NO_BOOL: &str = "a bool is 0 or 1";

/// A fault in an encoded message: an incomplete [`DecodeError`], to which the struct adds the
/// field's name.
///
/// It lies on the heap to keep `Result`s small, so that successful calls return quickly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault(Box<Details>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Details {
    cause: Cause,
    /// Type and field: the innermost ones with known names.
    place: Option<(&'static str, &'static str)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Cause {
    Truncated { length: usize, needed: usize },
    TooLong { count: usize, room: usize },
    Bound { count: usize, bound: usize },
    Invalid { offset: usize, problem: &'static str },
}

impl Fault {
    #[cold]
    fn new(cause: Cause) -> Self {
        Self(Box::new(Details { cause, place: None }))
    }

    /// As [`Decoder::invalid`].
    pub(super) fn invalid(position: usize, problem: &'static str) -> Self {
        Self::new(Cause::Invalid { offset: HEADER_SIZE + position, problem })
    }

    /// Adds the type and field where the fault occurred, unless a nested type has already added
    /// them.
    #[cold]
    #[must_use]
    pub fn in_field(mut self, type_name: &'static str, field: &'static str) -> Self {
        self.0.place.get_or_insert((type_name, field));
        self
    }

    #[cold]
    pub(crate) fn into_error(self, message: &'static str) -> DecodeError {
        let Details { cause, place } = *self.0;
        let (type_name, field) = place.unwrap_or((message, "(fields)"));
        match cause {
            Cause::Truncated { length, needed } => {
                DecodeError::Truncated { type_name, field, length, needed }
            }
            Cause::TooLong { count, room } => DecodeError::TooLong { type_name, field, count, room },
            Cause::Bound { count, bound } => DecodeError::Bound { type_name, field, count, bound },
            Cause::Invalid { offset, problem } => DecodeError::Invalid { type_name, field, offset, problem },
        }
    }
}
