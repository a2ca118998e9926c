//! Messages that are built in the memory that is published, without copying large parts.
//!
//! A message with sequences of numbers (or plain structs) implements [`Built`]. The caller gives
//! its small parts as a value and the sequences as lengths, and then fills the sequences in place,
//! for example by letting a camera driver write there.
//!
//! A publisher that lends a chunk takes these steps, with `T: Built`:
//!
//! 1. It checks whether the lengths are allowed ([`Built::check`]), and takes a chunk of
//!    [`size`]`(&value, &lengths)` bytes, of which byte 4 is aligned to 16.
//! 2. It calls [`build`]`(&value, &lengths, chunk)`, and gives the [`Parts`](Built::Parts) to the
//!    caller, for as long as the caller holds the loan (it may repeat this: elements that were
//!    filled stay).
//! 3. It publishes the chunk unchanged: the chunk holds the encoded value with the sequences as the
//!    caller filled them.
//!
//! [`edit`] changes the sequences of an existing encoded message in place, if the caller has
//! exclusive access to its bytes.

use crate::cdr::{Encoder, Field, HEADER_SIZE, Structure, aligned};
use crate::error::DecodeError;
use crate::plain::Plain;
use crate::view::{self, Viewed};
use std::mem;
use std::ops::DerefMut;

/// A message that can be built in place. The generator implements it.
///
/// A manual implementation must give the same result each time for the same value and lengths, and
/// [`build_parts`](Self::build_parts) must end at the offset that [`end_with`](Self::end_with)
/// returns. Otherwise [`build`] panics, or leaves some bytes unwritten; a publisher's draft builds
/// again each time its parts are requested, and panics if that fails after it has succeeded before.
pub trait Built: Structure + Viewed {
    /// Number of elements of each sequence that is filled in place.
    type Lengths: Copy + Send + Sync + 'static;
    /// The sequences to be filled.
    type Parts<'a>;

    /// Checks whether the sequences may have these lengths. Called before memory is allocated for
    /// them.
    ///
    /// # Errors
    /// [`BuildError::TooMany`] if one is too long.
    fn check(lengths: &Self::Lengths) -> Result<(), BuildError>;

    /// Returns the offset where the value ends if the bytes before it end at `at`. The value's own
    /// sequences are ignored where `lengths` has an entry.
    fn end_with(&self, lengths: &Self::Lengths, at: usize) -> usize;

    /// Encodes everything except the sequences in `lengths`.
    ///
    /// # Errors
    /// [`BuildError`] if a sequence is too long, or if its encoding differs from its form in
    /// memory.
    fn build_parts<'a>(
        &self,
        lengths: &Self::Lengths,
        encoder: &mut Encoder<'a>,
    ) -> Result<Self::Parts<'a>, BuildError>;

    /// Records the positions of these sequences in a viewed message, in their order.
    fn find_parts(view: &Self::View<'_>, found: Found) -> Found;

    /// Returns the sequences at the positions found, in their order; `None` if there are fewer.
    fn cut_parts<'a>(cutter: &mut Cutter<'a>) -> Option<Self::Parts<'a>>;

    /// Returns the same sequences of a value. Their lengths are fixed.
    fn parts_of_value(&mut self) -> Self::Parts<'_>;
}

/// Returns the sequences of an encoded message for editing in place: the same ones that [`build`]
/// returns to be filled. All other bytes stay unchanged.
///
/// Checks the bytes as [`view`](view::view) does. Allocates only what a view owns.
///
/// # Errors
/// [`BuildError::Encoded`] if the bytes do not encode this type, [`BuildError::NotInPlace`] if a
/// sequence is not encoded as it is in memory.
pub fn edit<T: Built>(encoded: &mut [u8]) -> Result<T::Parts<'_>, BuildError> {
    let found = {
        let seen = view::view::<T>(encoded)?;
        T::find_parts(&seen, Found::in_encoded(encoded))
    };
    let not_in_place = BuildError::NotInPlace { type_name: T::NAME, field: "(sequences)" };
    if found.is_elsewhere {
        return Err(not_in_place);
    }
    T::cut_parts(&mut Cutter { rest: encoded, at: 0, found, next: 0 }).ok_or(not_in_place)
}

/// Returns a sequence of a value for editing.
pub fn part<T>(values: &mut impl DerefMut<Target = [T]>) -> &mut [T] {
    values
}

/// Positions of sequences in an encoded message, in their order.
#[derive(Debug)]
pub struct Found {
    /// Address and length of the encoded message.
    encoded: (usize, usize),
    /// Offset and length in bytes of each sequence; the first four need no allocation.
    first: [(usize, usize); 4],
    more: Vec<(usize, usize)>,
    count: usize,
    /// Set if a sequence does not lie in the encoded message.
    is_elsewhere: bool,
}

impl Found {
    fn in_encoded(encoded: &[u8]) -> Self {
        let encoded = (encoded.as_ptr().addr(), encoded.len());
        Self { encoded, first: [(0, 0); 4], more: Vec::new(), count: 0, is_elsewhere: false }
    }

    /// Appends this sequence as the next one.
    #[must_use]
    pub fn sequence<T: Plain>(mut self, values: &[T]) -> Self {
        let (encoded, length) = self.encoded;
        let (begin, bytes) = (values.as_ptr().addr().wrapping_sub(encoded), size_of_val(values));
        let place = if bytes == 0 { (0, 0) } else { (begin, bytes) };
        // A view owns the elements if they are not encoded as they are in memory.
        self.is_elsewhere |= bytes > 0 && begin.checked_add(bytes).is_none_or(|end| end > length);
        match self.first.get_mut(self.count) {
            Some(first) => *first = place,
            None => self.more.push(place),
        }
        self.count += 1;
        self
    }

    fn get(&self, index: usize) -> Option<(usize, usize)> {
        if index >= self.count {
            return None;
        }
        self.first.get(index).or_else(|| self.more.get(index - self.first.len())).copied()
    }
}

/// Takes sequences out of an encoded message, one after the other.
#[derive(Debug)]
pub struct Cutter<'a> {
    /// The rest of the encoded message, from offset `at`.
    rest: &'a mut [u8],
    at: usize,
    found: Found,
    next: usize,
}

impl<'a> Cutter<'a> {
    /// Returns the next sequence; `None` if there is none, or if its elements are of another type.
    pub fn sequence<T: Plain>(&mut self) -> Option<&'a mut [T]> {
        let (begin, bytes) = self.found.get(self.next)?;
        self.next += 1;
        if bytes == 0 {
            return Some(&mut []);
        }
        let (_, rest) = mem::take(&mut self.rest).split_at_mut_checked(begin.checked_sub(self.at)?)?;
        let (sequence, rest) = rest.split_at_mut_checked(bytes)?;
        (self.rest, self.at) = (rest, begin + bytes);
        bytemuck::try_cast_slice_mut(sequence).ok()
    }
}

/// Returns the length in bytes of the encoded form of this value with sequences of these lengths.
pub fn size<T: Built>(value: &T, lengths: &T::Lengths) -> usize {
    HEADER_SIZE + value.end_with(lengths, 0)
}

/// Encodes this value except the sequences in `lengths`, and returns those for the caller to fill.
///
/// They keep the bytes that the buffer had before. The sequences that `value` itself has there are
/// ignored. Neither blocks nor allocates.
///
/// # Errors
/// [`BuildError`] if the buffer does not have the length that [`size`] returns, if a sequence is
/// too long, or if its encoding differs from its form in memory: byte 4 of the buffer must be
/// aligned to 8.
///
/// # Panics
/// If a manual implementation of [`Built`] writes more bytes than the length it announced.
pub fn build<'a, T: Built>(
    value: &T,
    lengths: &T::Lengths,
    encoded: &'a mut [u8],
) -> Result<T::Parts<'a>, BuildError> {
    let (length, needed) = (encoded.len(), size(value, lengths));
    if length != needed {
        return Err(BuildError::Length { type_name: T::NAME, length, needed });
    }
    value.build_parts(lengths, &mut Encoder::new(encoded))
}

/// Returns the offset where a sequence of `count` elements ends if the bytes before it end at `at`.
/// Counts above 2³² - 1, which cannot be encoded, are treated as 2³² - 1.
#[must_use]
pub fn end<T: Plain + Field>(count: usize, at: usize) -> usize {
    let at = aligned(at, 4) + 4;
    let count = count.min(u32::MAX as usize);
    if count == 0 { at } else { aligned(at, T::ALIGNMENT) + count * size_of::<T>() }
}

/// Checks that a sequence may have `count` elements: `BOUND` at most.
///
/// # Errors
/// [`BuildError::TooMany`] with this type and field, if not.
pub fn check<const BOUND: u32>(
    count: usize,
    type_name: &'static str,
    field: &'static str,
) -> Result<(), BuildError> {
    if u32::try_from(count).map_or(true, |count| count > BOUND) {
        return Err(BuildError::TooMany { type_name, field, count, bound: BOUND });
    }
    Ok(())
}

/// Reserves space for a sequence of `count` elements, `BOUND` at most.
///
/// # Errors
/// [`BuildError::TooMany`] or [`BuildError::NotInPlace`], with this type and field.
pub fn leave<'a, T: Plain + Field, const BOUND: u32>(
    encoder: &mut Encoder<'a>,
    count: usize,
    type_name: &'static str,
    field: &'static str,
) -> Result<&'a mut [T], BuildError> {
    check::<BOUND>(count, type_name, field)?;
    encoder.leave(count).ok_or(BuildError::NotInPlace { type_name, field })
}

/// The reason why a message could not be built in place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The buffer and the encoded form differ in length.
    #[error(
        "the encoded form of this {type_name} has {needed} bytes, but its buffer has {length}; `size` returns the right length"
    )]
    Length {
        /// The message type.
        type_name: &'static str,
        /// The buffer's length in bytes.
        length: usize,
        /// The length of the encoded form in bytes.
        needed: usize,
    },
    /// A sequence is longer than its type allows.
    #[error("`{field}` of {type_name} is to have {count} elements, but its type allows {bound} at most")]
    TooMany {
        /// The message type.
        type_name: &'static str,
        /// The sequence.
        field: &'static str,
        /// Number of elements requested.
        count: usize,
        /// Number of elements that the type allows.
        bound: u32,
    },
    /// The bytes to be edited do not encode this type.
    #[error(transparent)]
    Encoded(#[from] DecodeError),
    /// There is no memory for the encoded form.
    #[error("there is no memory for the {length} bytes of the encoded form of this {type_name}")]
    NoMemory {
        /// The message type.
        type_name: &'static str,
        /// The length of the encoded form in bytes.
        length: usize,
    },
    /// The encoding of a sequence's elements would differ from their form in memory.
    #[error(
        "`{field}` of {type_name} can't be filled in place: byte 4 of the encoded form is not aligned to 8, numbers of this machine have \
         another byte order, or its elements need more alignment in memory than their first field; publish a value instead"
    )]
    NotInPlace {
        /// The message type.
        type_name: &'static str,
        /// The sequence.
        field: &'static str,
    },
}
