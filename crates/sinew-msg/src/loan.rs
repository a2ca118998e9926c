//! Images that are built where they are published, with nothing large copied.
//!
//! A message with sequences of numbers (or plain structs) implements [`Built`]. Its small parts are
//! given as a value, the sequences as lengths; the caller then fills the sequences inside the
//! image, e.g. lets a camera driver write there.
//!
//! A publisher that lends a chunk does these steps, with `T: Built`:
//!
//! 1. asks whether the lengths are allowed ([`Built::check`]), and takes a chunk of
//!    [`size`]`(&value, &lengths)` bytes, whose byte 4 is aligned to 16;
//! 2. [`build`]`(&value, &lengths, chunk)`, and gives the [`Parts`](Built::Parts) to the caller,
//!    for as long as it holds the loan (it may do so again: what was filled stays);
//! 3. publishes the chunk as it is: it is the image of the value with the sequences as they were
//!    filled.
//!
//! The sequences of an image that exists, and that its holder has alone, are changed in place with
//! [`edit`].

use crate::cdr::{Encoder, Field, HEADER_SIZE, Structure, aligned};
use crate::error::DecodeError;
use crate::plain::Plain;
use crate::view::{self, Viewed};
use std::mem;
use std::ops::DerefMut;

/// A message whose image can be built in place. The generator implements it.
///
/// Who implements it by hand sees to it that the same value and lengths give the same result each
/// time, and that [`build_parts`](Self::build_parts) ends where [`end_with`](Self::end_with) says.
/// Else [`build`] panics, or leaves bytes as they were; the draft of a publisher builds again each
/// time it is asked for its parts, and panics if that fails where it succeeded before.
pub trait Built: Structure + Viewed {
    /// How many elements each sequence has that is filled in place.
    type Lengths: Copy + Send + Sync + 'static;
    /// These sequences, to be filled.
    type Parts<'a>;

    /// Whether its sequences may have these lengths. Asked before there is memory for them.
    ///
    /// # Errors
    /// [`BuildError::TooMany`] if one is too long.
    fn check(lengths: &Self::Lengths) -> Result<(), BuildError>;

    /// Where the value ends if what is before it ends at `at`. Its own sequences don't count where
    /// there are lengths.
    fn end_with(&self, lengths: &Self::Lengths, at: usize) -> usize;

    /// Writes all but the sequences in `lengths`.
    ///
    /// # Errors
    /// [`BuildError`] if a sequence is too long, or doesn't lie in the image as in memory.
    fn build_parts<'a>(
        &self,
        lengths: &Self::Lengths,
        encoder: &mut Encoder<'a>,
    ) -> Result<Self::Parts<'a>, BuildError>;

    /// Tells where these sequences lie in an image that is seen, in their order.
    fn find_parts(view: &Self::View<'_>, found: Found) -> Found;

    /// The sequences where they were found, in their order; `None` if there are fewer.
    fn cut_parts<'a>(cutter: &mut Cutter<'a>) -> Option<Self::Parts<'a>>;

    /// The same sequences of a value. Their lengths stay.
    fn parts_of_value(&mut self) -> Self::Parts<'_>;
}

/// The sequences of an image, to be changed where they lie: those that [`build`] gives to be
/// filled. Everything else in it stays.
///
/// Looks at the image as [`view`](view::view) does; allocates nothing but what a view owns.
///
/// # Errors
/// [`BuildError::Image`] if it is no image of the type, [`BuildError::NotInPlace`] if a sequence
/// doesn't lie in it as in memory.
pub fn edit<T: Built>(image: &mut [u8]) -> Result<T::Parts<'_>, BuildError> {
    let found = {
        let seen = view::view::<T>(image)?;
        T::find_parts(&seen, Found::in_image(image))
    };
    let not_in_place = BuildError::NotInPlace { type_name: T::NAME, field: "(sequences)" };
    if found.is_elsewhere {
        return Err(not_in_place);
    }
    T::cut_parts(&mut Cutter { rest: image, at: 0, found, next: 0 }).ok_or(not_in_place)
}

/// A sequence of a value, to be changed.
pub fn part<T>(values: &mut impl DerefMut<Target = [T]>) -> &mut [T] {
    values
}

/// Where sequences lie in an image, in their order.
#[derive(Debug)]
pub struct Found {
    /// The image's address and length.
    image: (usize, usize),
    /// Offset and bytes of each; so many of them take no memory of their own.
    first: [(usize, usize); 4],
    more: Vec<(usize, usize)>,
    count: usize,
    /// One of them doesn't lie in the image.
    is_elsewhere: bool,
}

impl Found {
    fn in_image(image: &[u8]) -> Self {
        let image = (image.as_ptr().addr(), image.len());
        Self { image, first: [(0, 0); 4], more: Vec::new(), count: 0, is_elsewhere: false }
    }

    /// The next sequence is this one.
    #[must_use]
    pub fn sequence<T: Plain>(mut self, values: &[T]) -> Self {
        let (image, length) = self.image;
        let (begin, bytes) = (values.as_ptr().addr().wrapping_sub(image), size_of_val(values));
        let place = if bytes == 0 { (0, 0) } else { (begin, bytes) };
        // A view owns what doesn't lie in the image as in memory.
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

/// Takes sequences out of an image, one after the other.
#[derive(Debug)]
pub struct Cutter<'a> {
    /// What is left of the image, from `at` on.
    rest: &'a mut [u8],
    at: usize,
    found: Found,
    next: usize,
}

impl<'a> Cutter<'a> {
    /// The next sequence; `None` if there is none, or it isn't one of such elements.
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

/// The length in bytes of the image of this value, with sequences of these lengths.
pub fn size<T: Built>(value: &T, lengths: &T::Lengths) -> usize {
    HEADER_SIZE + value.end_with(lengths, 0)
}

/// Writes the image of this value, but for the sequences in `lengths`, and gives them to the caller
/// to fill.
///
/// They contain what was in the image before. What `value` has in them is not looked at. Neither
/// blocks nor allocates.
///
/// # Errors
/// [`BuildError`] if the image is not as long as [`size`] says, a sequence is too long, or doesn't
/// lie in the image as in memory: byte 4 of the image needs to be aligned to 8.
///
/// # Panics
/// If [`Built`] is implemented by hand, and writes more than it said that the image is long.
pub fn build<'a, T: Built>(
    value: &T,
    lengths: &T::Lengths,
    image: &'a mut [u8],
) -> Result<T::Parts<'a>, BuildError> {
    let (length, needed) = (image.len(), size(value, lengths));
    if length != needed {
        return Err(BuildError::Length { type_name: T::NAME, length, needed });
    }
    value.build_parts(lengths, &mut Encoder::new(image))
}

/// Where a sequence of `count` elements ends if what is before it ends at `at`. More than 2³² - 1
/// elements, which no image has, count as so many.
#[must_use]
pub fn end<T: Plain + Field>(count: usize, at: usize) -> usize {
    let at = aligned(at, 4) + 4;
    let count = count.min(u32::MAX as usize);
    if count == 0 { at } else { aligned(at, T::ALIGNMENT) + count * size_of::<T>() }
}

/// Whether a sequence may have `count` elements, `BOUND` at most.
///
/// # Errors
/// [`BuildError::TooMany`] if not, of this field of this type.
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

/// Leaves room for a sequence of `count` elements, `BOUND` at most.
///
/// # Errors
/// [`BuildError::TooMany`] or [`BuildError::NotInPlace`], of this field of this type.
pub fn leave<'a, T: Plain + Field, const BOUND: u32>(
    encoder: &mut Encoder<'a>,
    count: usize,
    type_name: &'static str,
    field: &'static str,
) -> Result<&'a mut [T], BuildError> {
    check::<BOUND>(count, type_name, field)?;
    encoder.leave(count).ok_or(BuildError::NotInPlace { type_name, field })
}

/// Why an image could not be built in place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The buffer has another length than the image.
    #[error(
        "the image of this {type_name} has {needed} bytes, but its buffer {length}; ask `size` for the length"
    )]
    Length {
        /// The message type.
        type_name: &'static str,
        /// The buffer's length in bytes.
        length: usize,
        /// The image's.
        needed: usize,
    },
    /// A sequence is longer than its type allows.
    #[error("`{field}` of {type_name} is to have {count} elements, but its type allows {bound} at most")]
    TooMany {
        /// The message type.
        type_name: &'static str,
        /// The sequence.
        field: &'static str,
        /// How many elements it is to have.
        count: usize,
        /// How many there can be.
        bound: u32,
    },
    /// What is to be edited is no image of the type.
    #[error(transparent)]
    Image(#[from] DecodeError),
    /// There is no memory for the image.
    #[error("there is no memory for the {length} bytes of the image of this {type_name}")]
    NoMemory {
        /// The message type.
        type_name: &'static str,
        /// The image's length in bytes.
        length: usize,
    },
    /// The elements of a sequence would not lie in the image as in memory.
    #[error(
        "`{field}` of {type_name} can't be filled in place: byte 4 of the image is not aligned to 8, numbers of this machine have \
         another byte order, or its elements need more alignment in memory than their first field; publish a value instead"
    )]
    NotInPlace {
        /// The message type.
        type_name: &'static str,
        /// The sequence.
        field: &'static str,
    },
}
