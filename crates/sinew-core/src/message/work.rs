//! The work done on the contents of messages, which publishers and subscriptions count besides
//! messages.
//!
//! | counter | meaning |
//! |---|---|
//! | copy | a `Clone` of a value, or bytes copied, if longer than [`SMALL`] |
//! | encoding | a value that is not plain was encoded |
//! | decoding | a value of a type that is not plain was decoded |
//! | encoded | a message published in encoded form (a draft), or handed out in it (a view) |
//!
//! Handing on a value where it lies, a reference to it, or a plain value that is read where it lies
//! counts as none of these, and costs nothing here: without work, nothing is written. The publisher
//! counts the work of its thread. The subscription counts the work done for subscriptions of
//! another process, and when a message is taken (one of them counts it, if it is done once for
//! several).

use super::block::RawMessage;
use sinew_shm::Counter;
use sinew_shm::transport::Counters;
use std::ops::Add;

/// Maximum length in bytes of an encoded message that may lie in a slot of a ring itself. Copies up
/// to that length aren't counted: they are part of moving a message into the ring and out of it.
pub(crate) const SMALL: usize = 456;

/// The number of each kind of work; see the [module](self).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CopyWork {
    pub(crate) copies: u64,
    pub(crate) encodings: u64,
    pub(crate) decodings: u64,
    pub(crate) encoded: u64,
}

impl CopyWork {
    pub(crate) const NONE: Self = Self { copies: 0, encodings: 0, decodings: 0, encoded: 0 };
    pub(crate) const COPY: Self = Self { copies: 1, ..Self::NONE };
    pub(crate) const ENCODING: Self = Self { encodings: 1, ..Self::NONE };
    pub(crate) const DECODING: Self = Self { decodings: 1, ..Self::NONE };
    pub(crate) const ENCODED: Self = Self { encoded: 1, ..Self::NONE };

    pub(crate) fn copies(count: usize) -> Self {
        Self { copies: count as u64, ..Self::NONE }
    }

    /// Returns the work of copying `length` bytes.
    #[inline]
    pub(crate) fn copying(length: usize) -> Self {
        if length > SMALL { Self::COPY } else { Self::NONE }
    }

    /// Returns the work of encoding into `length` bytes: for a plain value that is a copy.
    #[inline]
    pub(crate) fn encoding(is_plain: bool, length: usize) -> Self {
        if is_plain { Self::copying(length) } else { Self::ENCODING }
    }

    /// Returns the work of decoding `length` encoded bytes.
    #[inline]
    pub(crate) fn decoding(is_plain: bool, length: usize) -> Self {
        if is_plain { Self::copying(length) } else { Self::DECODING }
    }

    /// Returns the work of publishing a message, or handing it out, in its present form.
    #[inline]
    pub(crate) fn of_form(message: &RawMessage) -> Self {
        if message.is_encoded() { Self::ENCODED } else { Self::NONE }
    }

    #[inline]
    pub(crate) fn is_none(self) -> bool {
        self == Self::NONE
    }

    /// Adds `more`, also to the counters that other processes can read.
    #[inline]
    pub(crate) fn count(&mut self, more: Self, counters: &Option<Counters>) {
        if !more.is_none() {
            self.count_some(more, counters);
        }
    }

    #[inline(always)] // in the library for C as well, which is optimised for size
    fn count_some(&mut self, more: Self, counters: &Option<Counters>) {
        let add = |sum: &mut u64, more: u64, counter: Counter| {
            if more > 0 {
                *sum += more;
                if let Some(counters) = counters {
                    counters.set(counter, *sum);
                }
            }
        };
        add(&mut self.copies, more.copies, Counter::Copies);
        add(&mut self.encodings, more.encodings, Counter::Encodings);
        add(&mut self.decodings, more.decodings, Counter::Decodings);
        add(&mut self.encoded, more.encoded, Counter::Encoded);
    }
}

impl Add for CopyWork {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            copies: self.copies + other.copies,
            encodings: self.encodings + other.encodings,
            decodings: self.decodings + other.decodings,
            encoded: self.encoded + other.encoded,
        }
    }
}
