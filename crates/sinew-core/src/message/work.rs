//! What the contents of messages took on their way: what publishers and subscriptions count besides
//! messages.
//!
//! | counted | is |
//! |---|---|
//! | copy | a `Clone` of a value, or an image (or a plain value) copied as bytes, if it is longer than [`SMALL`] |
//! | encoding | an image made of a value that is not plain |
//! | decoding | a value made of an image, of a type that is not plain |
//! | image | a message published as an image (a draft), or handed out as one (a view) |
//!
//! A value that is handed on where it lies, a reference to it, and a plain value that is read where
//! it lies are none of these, and cost nothing here: nothing is written where nothing was done.
//! What a publisher's thread does is counted by the publisher; what is done for subscriptions of
//! another process, and when a message is taken, by the subscription (by one of them, if it is done
//! once for several).

use super::block::RawMessage;
use sinew_shm::{Counter, Counters};
use std::ops::Add;

/// The longest image that may lie in a slot of a ring itself, in bytes. Copies up to that length
/// aren't counted: they are part of how a message gets into the ring and out of it.
pub(crate) const SMALL: usize = 456;

/// So many of each; see the [module](self).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CopyWork {
    pub(crate) copies: u64,
    pub(crate) encodings: u64,
    pub(crate) decodings: u64,
    pub(crate) images: u64,
}

impl CopyWork {
    pub(crate) const NONE: Self = Self { copies: 0, encodings: 0, decodings: 0, images: 0 };
    pub(crate) const COPY: Self = Self { copies: 1, ..Self::NONE };
    pub(crate) const ENCODING: Self = Self { encodings: 1, ..Self::NONE };
    pub(crate) const DECODING: Self = Self { decodings: 1, ..Self::NONE };
    pub(crate) const IMAGE: Self = Self { images: 1, ..Self::NONE };

    pub(crate) fn copies(count: usize) -> Self {
        Self { copies: count as u64, ..Self::NONE }
    }

    /// Copying so many bytes.
    #[inline]
    pub(crate) fn copying(length: usize) -> Self {
        if length > SMALL { Self::COPY } else { Self::NONE }
    }

    /// Making an image of so many bytes: that of a plain value is a copy of it.
    #[inline]
    pub(crate) fn encoding(is_plain: bool, length: usize) -> Self {
        if is_plain { Self::copying(length) } else { Self::ENCODING }
    }

    /// Making a value of so many bytes of image.
    #[inline]
    pub(crate) fn decoding(is_plain: bool, length: usize) -> Self {
        if is_plain { Self::copying(length) } else { Self::DECODING }
    }

    /// Publishing a message, or handing it out, as what it is.
    #[inline]
    pub(crate) fn of_form(message: &RawMessage) -> Self {
        if message.is_image() { Self::IMAGE } else { Self::NONE }
    }

    #[inline]
    pub(crate) fn is_none(self) -> bool {
        self == Self::NONE
    }

    /// Counts so much more, also where others can see it.
    #[inline]
    pub(crate) fn count(&mut self, more: Self, counters: &Option<Counters>) {
        if !more.is_none() {
            self.count_some(more, counters);
        }
    }

    fn count_some(&mut self, more: Self, counters: &Option<Counters>) {
        *self = *self + more;
        let Some(counters) = counters else { return };
        for (grown, counter, count) in [
            (more.copies, Counter::Copies, self.copies),
            (more.encodings, Counter::Encodings, self.encodings),
            (more.decodings, Counter::Decodings, self.decodings),
            (more.images, Counter::Images, self.images),
        ] {
            if grown > 0 {
                counters.set(counter, count);
            }
        }
    }
}

impl Add for CopyWork {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            copies: self.copies + other.copies,
            encodings: self.encodings + other.encodings,
            decodings: self.decodings + other.decodings,
            images: self.images + other.images,
        }
    }
}
