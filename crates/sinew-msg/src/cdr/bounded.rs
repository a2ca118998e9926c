//! Strings and sequences of bounded length: `string<=10`, `wstring<=10`, `int32[<=3]`.
//!
//! The bound of a string counts characters (Unicode scalar values), as ROS 2 does in the two places
//! where it checks: in Python's setters and for default values. C++ and C don't check in ROS 2, so
//! they accept a string with more bytes than the bound.

use super::decoder::{Decoder, Fault};
use super::encoder::Encoder;
use super::field::Field;
use super::wide::WString;
use crate::description::{ConstFieldType, type_id};
use std::ops::{Deref, DerefMut};
use std::{fmt, slice, vec};

/// The error of exceeding the bound of a string or sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{count} elements are more than the {bound} that the type allows")]
pub struct TooMany {
    /// Number of elements that there would be; for a string, number of characters.
    pub count: usize,
    /// Number of elements allowed.
    pub bound: usize,
}

fn check(count: usize, bound: usize) -> Result<(), TooMany> {
    if count > bound { Err(TooMany { count, bound }) } else { Ok(()) }
}

/// Returns the number of characters in these bytes if it exceeds `bound`. Invalid UTF-8 counts as
/// it is displayed: each U+FFFD is one character.
pub(crate) fn text_beyond(bytes: &[u8], bound: usize) -> Option<usize> {
    if bytes.len() <= bound {
        return None; // every character has at least one byte
    }
    // A copy: in a view, the writer may still be changing bytes that are already a checked `&str`.
    let copy = bytes.to_vec();
    let chunks = copy.utf8_chunks();
    let count =
        chunks.map(|chunk| chunk.valid().chars().count() + usize::from(!chunk.invalid().is_empty())).sum();
    (count > bound).then_some(count)
}

/// The same for UTF-16 units: an unpaired surrogate counts as one character.
pub(crate) fn wide_text_beyond(units: &[u16], bound: usize) -> Option<usize> {
    if units.len() <= bound {
        return None;
    }
    let count = char::decode_utf16(units.iter().copied()).count();
    (count > bound).then_some(count)
}

/// A sequence of at most `BOUND` elements: ROS 2's `T[<=BOUND]`.
///
/// A field of this type does not accept a `Vec`, which may be longer: `vec.try_into()?` checks the
/// length, and fails with [`TooMany`]. The sequence is read and changed as a slice, and
/// [`into_vec`](Self::into_vec) returns the `Vec`.
///
/// ```
/// use sinew_msg::cdr::{BoundedVec, TooMany};
///
/// let mut dimensions: BoundedVec<f64, 3> = [1.0, 2.0].try_into()?;
/// dimensions.push(3.0)?;
/// assert_eq!(dimensions.push(4.0), Err(TooMany { count: 4, bound: 3 }));
/// assert_eq!(*dimensions, [1.0, 2.0, 3.0]);
/// assert_eq!(dimensions.into_iter().sum::<f64>(), 6.0);
///
/// let measured = vec![1.5, 2.5];
/// let dimensions: BoundedVec<f64, 3> = measured.try_into()?; // not `.into()`: it may be too long
/// assert_eq!(dimensions.into_vec(), [1.5, 2.5]);
/// # Ok::<(), TooMany>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BoundedVec<T, const BOUND: usize>(Vec<T>);

impl<T, const BOUND: usize> BoundedVec<T, BOUND> {
    /// Returns an empty sequence. Allocates nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Appends an element.
    ///
    /// # Errors
    /// [`TooMany`] if there are `BOUND` elements already.
    pub fn push(&mut self, value: T) -> Result<(), TooMany> {
        check(self.0.len() + 1, BOUND)?;
        self.0.push(value);
        Ok(())
    }

    /// Removes the elements from index `count` on.
    pub fn truncate(&mut self, count: usize) {
        self.0.truncate(count);
    }

    /// Removes all elements and keeps the allocation.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns the elements as an unbounded `Vec`.
    #[must_use]
    pub fn into_vec(self) -> Vec<T> {
        self.0
    }
}

impl<T, const BOUND: usize> Default for BoundedVec<T, BOUND> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, const BOUND: usize> TryFrom<Vec<T>> for BoundedVec<T, BOUND> {
    type Error = TooMany;

    fn try_from(values: Vec<T>) -> Result<Self, TooMany> {
        check(values.len(), BOUND)?;
        Ok(Self(values))
    }
}

/// Allocates for the elements. The length of an array is in its type, yet it is compared with the
/// bound only at run time.
impl<T, const N: usize, const BOUND: usize> TryFrom<[T; N]> for BoundedVec<T, BOUND> {
    type Error = TooMany;

    fn try_from(values: [T; N]) -> Result<Self, TooMany> {
        check(N, BOUND)?;
        Ok(Self(values.into()))
    }
}

impl<T, const BOUND: usize> IntoIterator for BoundedVec<T, BOUND> {
    type Item = T;
    type IntoIter = vec::IntoIter<T>;

    fn into_iter(self) -> vec::IntoIter<T> {
        self.0.into_iter()
    }
}

impl<'a, T, const BOUND: usize> IntoIterator for &'a BoundedVec<T, BOUND> {
    type Item = &'a T;
    type IntoIter = slice::Iter<'a, T>;

    fn into_iter(self) -> slice::Iter<'a, T> {
        self.0.iter()
    }
}

impl<'a, T, const BOUND: usize> IntoIterator for &'a mut BoundedVec<T, BOUND> {
    type Item = &'a mut T;
    type IntoIter = slice::IterMut<'a, T>;

    fn into_iter(self) -> slice::IterMut<'a, T> {
        self.0.iter_mut()
    }
}

impl<T, const BOUND: usize> Deref for BoundedVec<T, BOUND> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T, const BOUND: usize> DerefMut for BoundedVec<T, BOUND> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T: Field, const BOUND: usize> Field for BoundedVec<T, BOUND> {
    const TYPE: ConstFieldType = ConstFieldType::bounded_sequence(&T::TYPE, BOUND);
    const ALIGNMENT: usize = 4;
    const LEAST: usize = 4;

    fn end(&self, at: usize) -> usize {
        self.0.end(at)
    }

    fn encode(&self, encoder: &mut Encoder<'_>) {
        self.0.encode(encoder);
    }

    fn decode(decoder: &mut Decoder<'_>) -> Result<Self, Fault> {
        let mut values = Self::new();
        values.decode_into(decoder)?;
        Ok(values)
    }

    fn decode_into(&mut self, decoder: &mut Decoder<'_>) -> Result<(), Fault> {
        let count = decoder.count(T::LEAST)?;
        if count > BOUND {
            return Err(decoder.exceeds(count, BOUND));
        }
        T::decode_sequence(&mut self.0, count, decoder)
    }
}

macro_rules! bounded_text {
    ($(#[$documentation:meta])* $name:ident $text:ident $id:ident $beyond:expr) => {
        $(#[$documentation])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name<const BOUND: usize>($text);

        impl<const BOUND: usize> $name<BOUND> {
            /// Returns the text without the bound.
            #[must_use]
            pub fn into_inner(self) -> $text {
                self.0
            }
        }

        impl<const BOUND: usize> TryFrom<$text> for $name<BOUND> {
            type Error = TooMany;

            fn try_from(text: $text) -> Result<Self, TooMany> {
                match $beyond(&text, BOUND) {
                    Some(count) => Err(TooMany { count, bound: BOUND }),
                    None => Ok(Self(text)),
                }
            }
        }

        impl<const BOUND: usize> TryFrom<&str> for $name<BOUND> {
            type Error = TooMany;

            fn try_from(text: &str) -> Result<Self, TooMany> {
                $text::from(text).try_into()
            }
        }

        impl<const BOUND: usize> Field for $name<BOUND> {
            const TYPE: ConstFieldType =
                ConstFieldType { string_capacity: BOUND as u64, ..ConstFieldType::basic(type_id::$id) };
            const ALIGNMENT: usize = 4;
            const LEAST: usize = 4;

            fn end(&self, at: usize) -> usize {
                self.0.end(at)
            }

            fn encode(&self, encoder: &mut Encoder<'_>) {
                self.0.encode(encoder);
            }

            fn decode(decoder: &mut Decoder<'_>) -> Result<Self, Fault> {
                let mut text = Self::default();
                text.decode_into(decoder)?;
                Ok(text)
            }

            fn decode_into(&mut self, decoder: &mut Decoder<'_>) -> Result<(), Fault> {
                let decoded = self.0.decode_into(decoder);
                if let Some(count) = $beyond(&self.0, BOUND) {
                    self.0 = $text::default();
                    return Err(decoder.exceeds(count, BOUND));
                }
                decoded
            }
        }
    };
}

bounded_text! {
    /// A string of at most `BOUND` characters: ROS 2's `string<=BOUND`.
    ///
    /// ```
    /// use sinew_msg::cdr::{BoundedString, TooMany};
    ///
    /// let name = BoundedString::<3>::try_from("arm")?;
    /// assert_eq!(name, "arm");
    /// assert_eq!(name.to_string(), "arm");
    /// assert!(BoundedString::<3>::try_from("legs").is_err());
    /// # Ok::<(), TooMany>(())
    /// ```
    BoundedString String BOUNDED_STRING |text: &String, bound| text_beyond(text.as_bytes(), bound)
}

bounded_text! {
    /// A wide string of at most `BOUND` characters: ROS 2's `wstring<=BOUND`.
    BoundedWString WString BOUNDED_WSTRING |text: &WString, bound| wide_text_beyond(&text.units, bound)
}

impl<const BOUND: usize> Deref for BoundedString<BOUND> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<const BOUND: usize> fmt::Display for BoundedString<BOUND> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<const BOUND: usize> PartialEq<str> for BoundedString<BOUND> {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl<const BOUND: usize> PartialEq<&str> for BoundedString<BOUND> {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl<const BOUND: usize> Deref for BoundedWString<BOUND> {
    type Target = WString;

    fn deref(&self) -> &WString {
        &self.0
    }
}
