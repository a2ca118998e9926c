//! The writing position in an encoded message.

use super::header::{HEADER, HEADER_SIZE, aligned};
use std::mem;

/// Encodes a message into a buffer of exactly its size.
#[derive(Debug)]
pub struct Encoder<'a> {
    /// The bytes that are not written yet.
    rest: &'a mut [u8],
    /// Number of bytes written after the header, which alignment counts.
    at: usize,
}

impl<'a> Encoder<'a> {
    /// Writes the header. Panics if the buffer is shorter than the header.
    #[inline]
    pub fn new(encoded: &'a mut [u8]) -> Self {
        let (header, rest) = encoded.split_at_mut(HEADER_SIZE);
        header.copy_from_slice(&HEADER);
        Self { rest, at: 0 }
    }

    /// Returns an encoder into these bytes, the first of which counts as aligned to 8.
    pub(super) fn into(bytes: &'a mut [u8]) -> Self {
        Self { rest: bytes, at: 0 }
    }

    /// Returns the number of bytes written after the header.
    #[must_use]
    #[inline]
    pub fn position(&self) -> usize {
        self.at
    }

    /// Writes zeros up to a multiple of `alignment` (1, 2, 4 or 8). Panics if there is no room for
    /// them.
    #[inline]
    pub fn align(&mut self, alignment: usize) {
        let padding = aligned(self.at, alignment) - self.at;
        if padding > 0 {
            // The buffer may hold bytes of an earlier message. Byte by byte, since there are at
            // most 7.
            for byte in &mut *self.take(padding) {
                *byte = 0;
            }
        }
    }

    /// Writes these bytes. Panics if there is no room for them.
    #[inline]
    pub fn write(&mut self, bytes: &[u8]) {
        self.take(bytes.len()).copy_from_slice(bytes);
    }

    /// Writes the length of a string or sequence. Panics if it is 2³² or more: CDR has no such
    /// lengths.
    #[inline]
    pub fn write_length(&mut self, length: usize) {
        self.align(4);
        self.write(&length_bytes(length));
    }

    /// Writes a string: its length, its bytes and a NUL. Panics if there is no room for it.
    #[inline]
    pub fn write_text(&mut self, text: &str) {
        self.align(4);
        let length = text.len() + 1;
        let room = self.take(4 + length);
        let (count, room) = room.split_at_mut(4);
        count.copy_from_slice(&length_bytes(length));
        let (bytes, end) = room.split_at_mut(text.len());
        bytes.copy_from_slice(text.as_bytes());
        end.fill(0);
    }

    #[inline]
    pub(super) fn take(&mut self, length: usize) -> &'a mut [u8] {
        let (bytes, rest) = mem::take(&mut self.rest).split_at_mut(length);
        self.rest = rest;
        self.at += length;
        bytes
    }
}

#[inline]
fn length_bytes(length: usize) -> [u8; 4] {
    let length =
        u32::try_from(length).expect("strings and sequences of a message have less than 2^32 elements");
    length.to_le_bytes()
}
