//! Views of encoded messages or of values, without copying their large parts.
//!
//! For each message type the generator makes a struct with the same fields: `ImageView<'_>` for
//! `Image`.
//!
//! | field | in the view |
//! |---|---|
//! | numbers, `bool`, arrays of these, plain structs, `wstring` | the value |
//! | a string | [`Text`]: its bytes, and a checked `&str` |
//! | bytes in a sequence (`uint8`, `int8`, `byte`, `char`) | `&[u8]` or `&[i8]`, always borrowed |
//! | other numbers, or plain structs, in a sequence | `Cow<[T]>`, used as a slice |
//! | `bool`s in a sequence | `Cow<[bool]>` |
//! | any other sequence | [`Views`], which gives a view of each element |
//! | a struct | its view |
//!
//! A `Cow` of a value is borrowed. A `Cow` of an encoded message is borrowed if its elements are
//! encoded as they are in memory (this machine's byte order, aligned), otherwise owned; `bool`s are
//! always owned, since the encoded bytes are untrusted.
//!
//! [`view`] checks the whole encoded message once. It allocates only for an owned `Cow`, for a
//! `wstring`, and to count the characters of a string with more bytes than its bound.
//! [`Viewed::of`] has nothing to check, and allocates only for a `wstring`.
//!
//! A subscription with a callback that takes a view creates it from the form that the message has,
//! for the duration of the call: `view::view::<T>(encoded)` for encoded bytes in a chunk,
//! `T::of(&value)` for a value of the same process; for any `T` with [`Structure`] and [`Viewed`].
//! Both views show the same.

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

/// Returns a view of an encoded message.
///
/// # Errors
/// The same errors as decoding, except that strings may contain invalid UTF-8.
pub fn view<T: Structure + Viewed>(encoded: &[u8]) -> Result<T::View<'_>, DecodeError> {
    let mut decoder = Decoder::new(encoded, T::NAME)?;
    T::view(&mut decoder).map_err(|fault| fault.into_error(T::NAME))
}

/// Checks an encoded message as [`view`] does, and returns nothing: a receiver can check a message
/// on arrival and view it later.
///
/// # Errors
/// As for [`view`].
pub fn check<T: Structure + Viewed>(encoded: &[u8]) -> Result<(), DecodeError> {
    view::<T>(encoded).map(drop)
}

/// Views a field of a type.
#[doc(hidden)]
#[inline(always)]
pub fn field<'a, T: Viewed>(
    decoder: &mut Decoder<'a>,
    type_name: &'static str,
    field: &'static str,
) -> Result<T::View<'a>, Fault> {
    T::view(decoder).map_err(|fault| fault.in_field(type_name, field))
}

/// A field type that can be viewed without a copy. The generator implements it for each message.
///
/// ```
/// use sinew_msg::view::{Text, Viewed};
///
/// let names = vec!["shoulder".to_owned(), "elbow".to_owned()];
/// let seen = Viewed::of(&names);
/// assert_eq!(seen.iter().collect::<Vec<Text<'_>>>(), ["shoulder", "elbow"]);
/// ```
pub trait Viewed: Field + 'static {
    /// The view of one value.
    type View<'a>;
    /// The view of a sequence of values.
    type Sequence<'a>;

    /// Returns a view of this value, equal to the view of its encoded form. Borrowed parts borrow
    /// from the value.
    fn of(&self) -> Self::View<'_>;

    /// Returns a view of these values, equal to the view of their encoded sequence.
    fn sequence_of(values: &[Self]) -> Self::Sequence<'_>;

    /// Views the next value of an encoded message.
    ///
    /// # Errors
    /// [`Fault`] if the bytes end too early or don't hold a valid value.
    fn view<'a>(decoder: &mut Decoder<'a>) -> Result<Self::View<'a>, Fault>;

    /// Views the next `count` values of an encoded message. `count` comes from [`Decoder::count`].
    ///
    /// # Errors
    /// As for [`view`](Self::view).
    fn view_sequence<'a>(count: usize, decoder: &mut Decoder<'a>) -> Result<Self::Sequence<'a>, Fault>;

    /// Views the next array of an encoded message.
    ///
    /// # Errors
    /// As for [`view`](Self::view).
    fn view_array<'a, const N: usize>(decoder: &mut Decoder<'a>) -> Result<[Self::View<'a>; N], Fault> {
        let mut fault = None;
        let views = array::from_fn::<_, N, _>(|_| {
            // After a fault the decoder's position is undefined.
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

/// A string: its bytes are UTF-8 if they lie in a value; in an encoded message, only if its writer
/// was well-behaved.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text<'a> {
    /// The bytes of the string, without the NUL.
    pub bytes: &'a [u8],
}

impl<'a> Text<'a> {
    /// Checks the text now and returns it without a copy. The bytes must not change afterwards: the
    /// writer's process has promised that by publishing them. If that process is not trusted, copy
    /// the bytes first, as decoding does.
    ///
    /// # Errors
    /// If it is not UTF-8.
    pub fn to_str(self) -> Result<&'a str, Utf8Error> {
        str::from_utf8(self.bytes)
    }
}

/// Displays invalid UTF-8 as U+FFFD. Copies the text, since its writer may still be changing it
/// while it is checked.
impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let copy = self.bytes.to_vec();
        String::from_utf8_lossy(&copy).fmt(f)
    }
}

/// Copies the text, as `Display` does.
impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let copy = self.bytes.to_vec();
        write!(f, "{:?}", String::from_utf8_lossy(&copy))
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

/// A sequence with elements that are viewed one by one.
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

/// The place of the elements.
enum Source<'a, T> {
    /// The decoder is positioned at the first of them.
    Encoded {
        decoder: Decoder<'a>,
        count: usize,
    },
    Values(&'a [T]),
}

impl<'a, T: Viewed> Views<'a, T> {
    /// Returns a view of the next `count` values of an encoded message, and checks each of them
    /// now.
    ///
    /// # Errors
    /// [`Fault`] if the bytes end too early or a value is not valid.
    pub fn new(count: usize, decoder: &mut Decoder<'a>) -> Result<Self, Fault> {
        let source = Source::Encoded { decoder: decoder.clone(), count };
        for _ in 0..count {
            T::view(decoder)?;
        }
        Ok(Self { source })
    }

    /// Returns a view of these values.
    #[must_use]
    #[inline]
    pub fn of(values: &'a [T]) -> Self {
        Self { source: Source::Values(values) }
    }

    /// Returns the number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.source {
            Source::Encoded { count, .. } => *count,
            Source::Values(values) => values.len(),
        }
    }

    /// Returns `true` if there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a view of the element at this index, from 0; `None` if there is none. In an encoded
    /// message this skips the elements before it one by one, since each may have any length: use
    /// [`iter`](Self::iter) to visit all of them.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<T::View<'a>> {
        match &self.source {
            Source::Encoded { .. } => self.iter().nth(index),
            Source::Values(values) => values.get(index).map(T::of),
        }
    }

    /// Returns an iterator over the views of all elements. (All were valid when checked. If a
    /// process writes to the bytes nevertheless, there may be fewer.)
    #[must_use]
    pub fn iter(&self) -> Elements<'a, T> {
        Elements { source: self.source.clone() }
    }
}

/// An iterator over the views of a sequence's elements; see [`Views`].
pub struct Elements<'a, T> {
    /// The remaining elements.
    source: Source<'a, T>,
}

impl<'a, T: Viewed> Iterator for Elements<'a, T> {
    type Item = T::View<'a>;

    fn next(&mut self) -> Option<T::View<'a>> {
        match &mut self.source {
            Source::Encoded { count: 0, .. } => None,
            Source::Encoded { decoder, count } => {
                let view = T::view(decoder).ok();
                // After a fault the decoder's position is undefined.
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
            Source::Encoded { count, .. } => (0, Some(*count)),
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

/// Shows the remaining elements.
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
            Self::Encoded { decoder, count } => Self::Encoded { decoder: decoder.clone(), count: *count },
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

/// Returns the next `count` plain values: borrowed if they are encoded as they are in memory,
/// otherwise decoded.
///
/// # Errors
/// [`Fault`] if the bytes end too early.
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

/// Numbers of one byte: every encoded message holds them as they are in memory, whatever its byte
/// order.
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

/// Items of [`Viewed`] for types that are viewed one by one in a sequence.
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

#[cfg(test)]
mod tests {
    use super::Text;
    use std::fmt::{self, Write as _};
    use std::ops::Range;

    /// Fails if it gets a text in this range of addresses.
    struct Elsewhere(Range<*const u8>);

    impl fmt::Write for Elsewhere {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            if self.0.contains(&text.as_ptr()) { Err(fmt::Error) } else { Ok(()) }
        }
    }

    /// Otherwise a text could change after its check, when it is a `&str` already.
    #[test]
    fn what_is_shown_is_a_copy() {
        for bytes in ["arm", "größe"].map(str::as_bytes) {
            let text = Text { bytes };
            let mut elsewhere = Elsewhere(bytes.as_ptr_range());
            assert_eq!(write!(elsewhere, "{text}"), Ok(()));
            assert_eq!(write!(elsewhere, "{text:?}"), Ok(()));
        }
        let text = Text { bytes: b"a\xffb" };
        assert_eq!(format!("{text} {text:?}"), "a\u{fffd}b \"a\u{fffd}b\"");
    }
}
