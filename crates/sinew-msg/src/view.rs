//! Messages as they are seen in an image or in a value, without a copy of what is large in them.
//!
//! The generator makes a struct with the same fields for each message type: `ImageView<'_>` for
//! `Image`.
//!
//! | field | in the view |
//! |---|---|
//! | numbers, `bool`, arrays of these, plain structs, `wstring` | the value |
//! | a string | [`Text`]: its bytes, and a checked `&str` |
//! | a sequence of bytes (`uint8`, `int8`, `byte`, `char`) | `&[u8]` or `&[i8]`: always where it lies |
//! | a sequence of other numbers or of plain structs | `Cow<[T]>`, which is used as a slice: borrowed from a value, and from an image if it lies there as in memory (this machine's byte order, aligned), otherwise owned |
//! | a sequence of `bool` | `Cow<[bool]>`: borrowed from a value, but not from an image, for whose bytes nobody vouches |
//! | any other sequence | [`Views`], which gives a view of each element |
//! | a struct | its view |
//!
//! [`view`] checks the whole image, once. It allocates only for what is owned above. [`Viewed::of`]
//! has nothing to check, and allocates only for a `wstring`.
//!
//! A subscription whose callback takes a view gives it what it has, for the time of the call:
//! `view::view::<T>(image)` if that is an image in a chunk, `T::of(&value)` if it is a value of the
//! same process; for any `T` with [`Structure`] and [`Viewed`]. Both show the same.

use crate::cdr::bulk::take_slice;
use crate::cdr::{
    BoundedString, BoundedVec, BoundedWString, Decoder, Fault, Field, Structure, WString, text_beyond,
    text_bytes,
};
use crate::error::DecodeError;
use crate::plain::Plain;
use std::borrow::Cow;
use std::str::Utf8Error;
use std::{array, fmt, str};

/// Sees a message in its image.
///
/// # Errors
/// As decoding it would fail, but for strings that are not UTF-8.
pub fn view<T: Structure + Viewed>(image: &[u8]) -> Result<T::View<'_>, DecodeError> {
    let mut decoder = Decoder::new(image, T::NAME)?;
    T::view(&mut decoder).map_err(|fault| fault.into_error(T::NAME))
}

/// Checks an image as [`view`] does, and gives nothing: whoever checks it when it comes may see it
/// later.
///
/// # Errors
/// As [`view`].
pub fn check<T: Structure + Viewed>(image: &[u8]) -> Result<(), DecodeError> {
    view::<T>(image).map(drop)
}

/// The view of a field of a type.
#[doc(hidden)]
#[inline(always)]
pub fn field<'a, T: Viewed>(
    decoder: &mut Decoder<'a>,
    type_name: &'static str,
    field: &'static str,
) -> Result<T::View<'a>, Fault> {
    T::view(decoder).map_err(|fault| fault.in_field(type_name, field))
}

/// A type of field that can be seen without a copy. The generator implements it for each message.
///
/// ```
/// use sinew_msg::view::{Text, Viewed};
///
/// let names = vec!["shoulder".to_owned(), "elbow".to_owned()];
/// let seen = Viewed::of(&names);
/// assert_eq!(seen.iter().collect::<Vec<Text<'_>>>(), ["shoulder", "elbow"]);
/// ```
pub trait Viewed: Field + 'static {
    /// One, as it is seen.
    type View<'a>;
    /// A sequence of them, as it is seen.
    type Sequence<'a>;

    /// Sees this value, as its image would show it. What is borrowed lies in the value.
    fn of(&self) -> Self::View<'_>;

    /// Sees these values, as the image of a sequence of them would show them.
    fn sequence_of(values: &[Self]) -> Self::Sequence<'_>;

    /// Sees the value that is next in an image.
    ///
    /// # Errors
    /// [`Fault`] if the image ends or doesn't hold a valid value.
    fn view<'a>(decoder: &mut Decoder<'a>) -> Result<Self::View<'a>, Fault>;

    /// Sees the next `count` values of an image. `count` comes from [`Decoder::count`].
    ///
    /// # Errors
    /// As [`view`](Self::view).
    fn view_sequence<'a>(count: usize, decoder: &mut Decoder<'a>) -> Result<Self::Sequence<'a>, Fault>;

    /// Sees the array that is next in an image.
    ///
    /// # Errors
    /// As [`view`](Self::view).
    fn view_array<'a, const N: usize>(decoder: &mut Decoder<'a>) -> Result<[Self::View<'a>; N], Fault> {
        let mut fault = None;
        let views = array::from_fn::<_, N, _>(|_| {
            // After a fault the decoder stands anywhere.
            if fault.is_some() {
                return None;
            }
            Self::view(decoder).map_err(|first| fault = Some(first)).ok()
        });
        match fault {
            Some(fault) => Err(fault),
            None => Ok(views.map(|view| view.expect("without a fault, each was seen"))),
        }
    }
}

/// A string: bytes that are UTF-8 if they lie in a value, and in an image if its writer was
/// well-behaved.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text<'a> {
    /// Its bytes, without the NUL.
    pub bytes: &'a [u8],
}

impl<'a> Text<'a> {
    /// The text, checked now. It stays where it lies: that it stays as it is, is what the writer's
    /// process has promised by publishing it. Where that process isn't trusted, copy the bytes
    /// first, as decoding does.
    ///
    /// # Errors
    /// If it is not UTF-8.
    pub fn to_str(self) -> Result<&'a str, Utf8Error> {
        str::from_utf8(self.bytes)
    }
}

/// Displays what is not UTF-8 as U+FFFD.
impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        String::from_utf8_lossy(self.bytes).fmt(f)
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(self.bytes))
    }
}

impl PartialEq<str> for Text<'_> {
    fn eq(&self, other: &str) -> bool {
        self.bytes == other.as_bytes()
    }
}

impl PartialEq<&str> for Text<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.bytes == other.as_bytes()
    }
}

/// A sequence whose elements are seen one by one.
///
/// ```
/// use sinew_msg::view::Views;
///
/// let names = ["shoulder".to_owned(), "elbow".to_owned()];
/// let seen = Views::of(&names);
/// for name in &seen {
///     println!("{name}");
/// }
/// assert!(seen.get(1).is_some_and(|name| name == "elbow") && seen.get(2).is_none());
/// ```
pub struct Views<'a, T> {
    source: Source<'a, T>,
}

/// Where the elements are.
enum Source<'a, T> {
    /// The decoder stands before the first of them.
    Image {
        decoder: Decoder<'a>,
        count: usize,
    },
    Values(&'a [T]),
}

impl<'a, T: Viewed> Views<'a, T> {
    /// The next `count` values of an image, each of which is looked at now.
    ///
    /// # Errors
    /// [`Fault`] if the image ends or one is not valid.
    pub fn new(count: usize, decoder: &mut Decoder<'a>) -> Result<Self, Fault> {
        let source = Source::Image { decoder: decoder.clone(), count };
        for _ in 0..count {
            T::view(decoder)?;
        }
        Ok(Self { source })
    }

    /// These values.
    #[must_use]
    #[inline]
    pub fn of(values: &'a [T]) -> Self {
        Self { source: Source::Values(values) }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.source {
            Source::Image { count, .. } => *count,
            Source::Values(values) => values.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A view of the element of this index, from 0; `None` if there is none. In an image it goes
    /// over those before it, each of which may be of any length: to see all of them,
    /// [`iter`](Self::iter).
    #[must_use]
    pub fn get(&self, index: usize) -> Option<T::View<'a>> {
        match &self.source {
            Source::Image { .. } => self.iter().nth(index),
            Source::Values(values) => values.get(index).map(T::of),
        }
    }

    /// A view of each. (Each was valid. If somebody writes to the image all the same, there may be
    /// fewer.)
    #[must_use]
    pub fn iter(&self) -> Elements<'a, T> {
        Elements { source: self.source.clone() }
    }
}

/// The views of a sequence's elements, one after the other: of [`Views`].
pub struct Elements<'a, T> {
    /// Those that are still to come.
    source: Source<'a, T>,
}

impl<'a, T: Viewed> Iterator for Elements<'a, T> {
    type Item = T::View<'a>;

    fn next(&mut self) -> Option<T::View<'a>> {
        match &mut self.source {
            Source::Image { count: 0, .. } => None,
            Source::Image { decoder, count } => {
                let view = T::view(decoder).ok();
                // After a fault the decoder stands anywhere.
                *count = if view.is_some() { *count - 1 } else { 0 };
                view
            }
            Source::Values(values) => {
                let (first, rest) = values.split_first()?;
                *values = rest;
                Some(T::of(first))
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.source {
            Source::Image { count, .. } => (0, Some(*count)),
            Source::Values(values) => (values.len(), Some(values.len())),
        }
    }
}

impl<'a, T: Viewed> IntoIterator for Views<'a, T> {
    type Item = T::View<'a>;
    type IntoIter = Elements<'a, T>;

    fn into_iter(self) -> Elements<'a, T> {
        Elements { source: self.source }
    }
}

impl<'a, T: Viewed> IntoIterator for &Views<'a, T> {
    type Item = T::View<'a>;
    type IntoIter = Elements<'a, T>;

    fn into_iter(self) -> Elements<'a, T> {
        self.iter()
    }
}

impl<T> Clone for Elements<'_, T> {
    fn clone(&self) -> Self {
        Self { source: self.source.clone() }
    }
}

/// Shows those that are still to come.
impl<'a, T: Viewed<View<'a>: fmt::Debug>> fmt::Debug for Elements<'a, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

impl<T> Clone for Views<'_, T> {
    fn clone(&self) -> Self {
        Self { source: self.source.clone() }
    }
}

impl<T> Clone for Source<'_, T> {
    fn clone(&self) -> Self {
        match self {
            Self::Image { decoder, count } => Self::Image { decoder: decoder.clone(), count: *count },
            Self::Values(values) => Self::Values(values),
        }
    }
}

/// Shows each element.
impl<'a, T: Viewed<View<'a>: fmt::Debug>> fmt::Debug for Views<'a, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// The next `count` plain values: where they lie if they lie there as in memory, otherwise decoded.
///
/// # Errors
/// [`Fault`] if the image ends before.
pub fn slice<'a, T: Plain + Field>(count: usize, decoder: &mut Decoder<'a>) -> Result<Cow<'a, [T]>, Fault> {
    if let Some(values) = take_slice(count, decoder) {
        return Ok(Cow::Borrowed(values));
    }
    let mut values = Vec::new();
    T::decode_sequence(&mut values, count, decoder)?;
    Ok(Cow::Owned(values))
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl Viewed for $number {
            type View<'a> = Self;
            type Sequence<'a> = Cow<'a, [Self]>;

            #[inline]
            fn of(&self) -> Self {
                *self
            }

            #[inline]
            fn sequence_of(values: &[Self]) -> Cow<'_, [Self]> {
                Cow::Borrowed(values)
            }

            fn view<'a>(decoder: &mut Decoder<'a>) -> Result<Self, Fault> {
                Self::decode(decoder)
            }

            fn view_sequence<'a>(count: usize, decoder: &mut Decoder<'a>) -> Result<Cow<'a, [Self]>, Fault> {
                slice(count, decoder)
            }

            fn view_array<'a, const N: usize>(decoder: &mut Decoder<'a>) -> Result<[Self; N], Fault> {
                Self::decode_array(decoder)
            }
        }
    )*};
}

numbers!(u16 u32 u64 i16 i32 i64 f32 f64);

/// Numbers of one byte: they lie in every image as in memory, whatever its byte order.
macro_rules! bytes {
    ($($number:ty)*) => {$(
        impl Viewed for $number {
            type View<'a> = Self;
            type Sequence<'a> = &'a [Self];

            #[inline]
            fn of(&self) -> Self {
                *self
            }

            #[inline]
            fn sequence_of(values: &[Self]) -> &[Self] {
                values
            }

            fn view<'a>(decoder: &mut Decoder<'a>) -> Result<Self, Fault> {
                Self::decode(decoder)
            }

            fn view_sequence<'a>(count: usize, decoder: &mut Decoder<'a>) -> Result<&'a [Self], Fault> {
                decoder.take(count).map(bytemuck::cast_slice)
            }

            fn view_array<'a, const N: usize>(decoder: &mut Decoder<'a>) -> Result<[Self; N], Fault> {
                Self::decode_array(decoder)
            }
        }
    )*};
}

bytes!(u8 i8);

/// Of what is seen one by one in a sequence: items of [`Viewed`].
macro_rules! one_by_one {
    () => {
        type Sequence<'a> = Views<'a, Self>;

        #[inline]
        fn sequence_of(values: &[Self]) -> Views<'_, Self> {
            Views::of(values)
        }

        fn view_sequence<'a>(count: usize, decoder: &mut Decoder<'a>) -> Result<Views<'a, Self>, Fault> {
            Views::new(count, decoder)
        }
    };
}

impl Viewed for bool {
    type View<'a> = Self;
    type Sequence<'a> = Cow<'a, [Self]>;

    #[inline]
    fn of(&self) -> Self {
        *self
    }

    #[inline]
    fn sequence_of(values: &[Self]) -> Cow<'_, [Self]> {
        Cow::Borrowed(values)
    }

    fn view<'a>(decoder: &mut Decoder<'a>) -> Result<Self, Fault> {
        Self::decode(decoder)
    }

    fn view_sequence<'a>(count: usize, decoder: &mut Decoder<'a>) -> Result<Cow<'a, [Self]>, Fault> {
        let mut values = Vec::new();
        Self::decode_sequence(&mut values, count, decoder)?;
        Ok(Cow::Owned(values))
    }
}

impl Viewed for String {
    type View<'a> = Text<'a>;
    one_by_one!();

    #[inline]
    fn of(&self) -> Text<'_> {
        Text { bytes: self.as_bytes() }
    }

    fn view<'a>(decoder: &mut Decoder<'a>) -> Result<Text<'a>, Fault> {
        text_bytes(decoder).map(|bytes| Text { bytes })
    }
}

impl<const BOUND: usize> Viewed for BoundedString<BOUND> {
    type View<'a> = Text<'a>;
    one_by_one!();

    #[inline]
    fn of(&self) -> Text<'_> {
        Text { bytes: self.as_bytes() }
    }

    fn view<'a>(decoder: &mut Decoder<'a>) -> Result<Text<'a>, Fault> {
        let bytes = text_bytes(decoder)?;
        match text_beyond(bytes, BOUND) {
            Some(count) => Err(decoder.exceeds(count, BOUND)),
            None => Ok(Text { bytes }),
        }
    }
}

impl Viewed for WString {
    type View<'a> = Self;
    one_by_one!();

    #[inline]
    fn of(&self) -> Self {
        self.clone()
    }

    fn view<'a>(decoder: &mut Decoder<'a>) -> Result<Self, Fault> {
        Self::decode(decoder)
    }
}

impl<const BOUND: usize> Viewed for BoundedWString<BOUND> {
    type View<'a> = Self;
    one_by_one!();

    #[inline]
    fn of(&self) -> Self {
        self.clone()
    }

    fn view<'a>(decoder: &mut Decoder<'a>) -> Result<Self, Fault> {
        Self::decode(decoder)
    }
}

impl<T: Viewed> Viewed for Vec<T> {
    type View<'a> = T::Sequence<'a>;
    one_by_one!();

    #[inline]
    fn of(&self) -> T::Sequence<'_> {
        T::sequence_of(self)
    }

    fn view<'a>(decoder: &mut Decoder<'a>) -> Result<T::Sequence<'a>, Fault> {
        let count = decoder.count(T::LEAST)?;
        T::view_sequence(count, decoder)
    }
}

impl<T: Viewed, const BOUND: usize> Viewed for BoundedVec<T, BOUND> {
    type View<'a> = T::Sequence<'a>;
    one_by_one!();

    #[inline]
    fn of(&self) -> T::Sequence<'_> {
        T::sequence_of(self)
    }

    fn view<'a>(decoder: &mut Decoder<'a>) -> Result<T::Sequence<'a>, Fault> {
        let count = decoder.count(T::LEAST)?;
        if count > BOUND {
            return Err(decoder.exceeds(count, BOUND));
        }
        T::view_sequence(count, decoder)
    }
}

impl<T: Viewed, const N: usize> Viewed for [T; N] {
    type View<'a> = [T::View<'a>; N];
    one_by_one!();

    #[inline]
    fn of(&self) -> [T::View<'_>; N] {
        self.each_ref().map(T::of)
    }

    fn view<'a>(decoder: &mut Decoder<'a>) -> Result<[T::View<'a>; N], Fault> {
        T::view_array(decoder)
    }
}
