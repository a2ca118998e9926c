//! Messages as they are seen in an image, without a copy of what is large in them.
//!
//! The generator makes a struct with the same fields for each message type: `ImageView<'_>` for `Image`.
//!
//! | field | in the view |
//! |---|---|
//! | numbers, `bool`, arrays of these, plain structs, `wstring` | the value |
//! | a string | [`Text`]: its bytes, and a checked `&str` |
//! | a sequence of numbers or plain structs | `Cow<[T]>`: borrowed if it lies in the image as in memory (this machine's byte order, aligned), otherwise owned |
//! | a sequence of `bool` | `Cow<[bool]>`, always owned: nobody vouches for the bytes |
//! | any other sequence | [`Views`], which gives a view of each element |
//! | a struct | its view |
//!
//! [`view`] checks the whole image, once. It allocates only for what is owned above.
//!
//! A subscription whose callback takes a view gives it the image in the chunk that it holds: `view::view::<T>(image)` for
//! the time of the call, for any `T` with [`Structure`] and [`Viewed`].

use crate::cdr::bulk::take_slice;
use crate::cdr::{
    BoundedString, BoundedVec, BoundedWString, Decoder, Fault, Field, Structure, WString, text_bytes,
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

/// A type of field that can be seen in an image. The generator implements it for each message.
pub trait Viewed: Field {
    /// One, as it is seen.
    type View<'a>;
    /// A sequence of them, as it is seen.
    type Sequence<'a>;

    /// Sees a value.
    ///
    /// # Errors
    /// [`Fault`] if the image ends or doesn't hold a valid value.
    fn view<'a>(decoder: &mut Decoder<'a>) -> Result<Self::View<'a>, Fault>;

    /// Sees `count` values. `count` comes from [`Decoder::count`].
    ///
    /// # Errors
    /// As [`view`](Self::view).
    fn view_sequence<'a>(count: usize, decoder: &mut Decoder<'a>) -> Result<Self::Sequence<'a>, Fault>;

    /// Sees an array.
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

/// A string in an image: bytes that are UTF-8 if its writer was well-behaved.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text<'a> {
    /// Its bytes, without the NUL.
    pub bytes: &'a [u8],
}

impl<'a> Text<'a> {
    /// The text, checked now.
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

/// A sequence in an image, whose elements are seen one by one.
pub struct Views<'a, T> {
    /// Stands before the first of them.
    decoder: Decoder<'a>,
    count: usize,
    elements: std::marker::PhantomData<fn() -> T>,
}

impl<'a, T: Viewed> Views<'a, T> {
    /// The next `count` values, each of which is looked at now.
    ///
    /// # Errors
    /// [`Fault`] if the image ends or one is not valid.
    pub fn new(count: usize, decoder: &mut Decoder<'a>) -> Result<Self, Fault> {
        let views = Self { decoder: decoder.clone(), count, elements: std::marker::PhantomData };
        for _ in 0..count {
            T::view(decoder)?;
        }
        Ok(views)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// A view of each. (Each was valid. If somebody writes to the image all the same, there may be fewer.)
    pub fn iter(&self) -> impl Iterator<Item = T::View<'a>> + use<'a, T> {
        let mut decoder = self.decoder.clone();
        (0..self.count).map_while(move |_| T::view(&mut decoder).ok())
    }
}

impl<T> Clone for Views<'_, T> {
    fn clone(&self) -> Self {
        Self { decoder: self.decoder.clone(), ..*self }
    }
}

impl<T> fmt::Debug for Views<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} elements", self.count)
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

numbers!(u8 u16 u32 u64 i8 i16 i32 i64 f32 f64);

impl Viewed for bool {
    type View<'a> = Self;
    type Sequence<'a> = Cow<'a, [Self]>;

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
    type Sequence<'a> = Views<'a, Self>;

    fn view<'a>(decoder: &mut Decoder<'a>) -> Result<Text<'a>, Fault> {
        text_bytes(decoder).map(|bytes| Text { bytes })
    }

    fn view_sequence<'a>(count: usize, decoder: &mut Decoder<'a>) -> Result<Views<'a, Self>, Fault> {
        Views::new(count, decoder)
    }
}

impl<const BOUND: usize> Viewed for BoundedString<BOUND> {
    type View<'a> = Text<'a>;
    type Sequence<'a> = Views<'a, Self>;

    fn view<'a>(decoder: &mut Decoder<'a>) -> Result<Text<'a>, Fault> {
        let bytes = text_bytes(decoder)?;
        // What continues a character in UTF-8 doesn't begin one.
        let count = bytes.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
        if count > BOUND {
            return Err(decoder.exceeds(count, BOUND));
        }
        Ok(Text { bytes })
    }

    fn view_sequence<'a>(count: usize, decoder: &mut Decoder<'a>) -> Result<Views<'a, Self>, Fault> {
        Views::new(count, decoder)
    }
}

impl Viewed for WString {
    type View<'a> = Self;
    type Sequence<'a> = Views<'a, Self>;

    fn view<'a>(decoder: &mut Decoder<'a>) -> Result<Self, Fault> {
        Self::decode(decoder)
    }

    fn view_sequence<'a>(count: usize, decoder: &mut Decoder<'a>) -> Result<Views<'a, Self>, Fault> {
        Views::new(count, decoder)
    }
}

impl<const BOUND: usize> Viewed for BoundedWString<BOUND> {
    type View<'a> = Self;
    type Sequence<'a> = Views<'a, Self>;

    fn view<'a>(decoder: &mut Decoder<'a>) -> Result<Self, Fault> {
        Self::decode(decoder)
    }

    fn view_sequence<'a>(count: usize, decoder: &mut Decoder<'a>) -> Result<Views<'a, Self>, Fault> {
        Views::new(count, decoder)
    }
}

impl<T: Viewed> Viewed for Vec<T> {
    type View<'a> = T::Sequence<'a>;
    type Sequence<'a> = Views<'a, Self>;

    fn view<'a>(decoder: &mut Decoder<'a>) -> Result<T::Sequence<'a>, Fault> {
        let count = decoder.count(T::LEAST)?;
        T::view_sequence(count, decoder)
    }

    fn view_sequence<'a>(count: usize, decoder: &mut Decoder<'a>) -> Result<Views<'a, Self>, Fault> {
        Views::new(count, decoder)
    }
}

impl<T: Viewed, const BOUND: usize> Viewed for BoundedVec<T, BOUND> {
    type View<'a> = T::Sequence<'a>;
    type Sequence<'a> = Views<'a, Self>;

    fn view<'a>(decoder: &mut Decoder<'a>) -> Result<T::Sequence<'a>, Fault> {
        let count = decoder.count(T::LEAST)?;
        if count > BOUND {
            return Err(decoder.exceeds(count, BOUND));
        }
        T::view_sequence(count, decoder)
    }

    fn view_sequence<'a>(count: usize, decoder: &mut Decoder<'a>) -> Result<Views<'a, Self>, Fault> {
        Views::new(count, decoder)
    }
}

impl<T: Viewed, const N: usize> Viewed for [T; N] {
    type View<'a> = [T::View<'a>; N];
    type Sequence<'a> = Views<'a, Self>;

    fn view<'a>(decoder: &mut Decoder<'a>) -> Result<[T::View<'a>; N], Fault> {
        T::view_array(decoder)
    }

    fn view_sequence<'a>(count: usize, decoder: &mut Decoder<'a>) -> Result<Views<'a, Self>, Fault> {
        Views::new(count, decoder)
    }
}
