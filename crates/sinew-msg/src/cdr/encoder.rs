//! Where the next byte of an image is written.

use super::{HEADER, HEADER_SIZE, aligned};

/// Writes an image into a buffer of its size.
#[derive(Debug)]
pub struct Encoder<'a> {
    /// The image without its header, so that offsets are what alignment counts.
    body: &'a mut [u8],
    /// Up to here `body` is written; at most its length.
    at: usize,
}

impl<'a> Encoder<'a> {
    /// Writes the header. Panics if the buffer is shorter than that.
    pub fn new(image: &'a mut [u8]) -> Self {
        let (header, body) = image.split_at_mut(HEADER_SIZE);
        header.copy_from_slice(&HEADER);
        Self { body, at: 0 }
    }

    /// How much is written, in bytes after the header.
    #[must_use]
    pub fn position(&self) -> usize {
        self.at
    }

    /// Writes zeros up to a multiple of `alignment`. Panics if there is no room for them.
    pub fn align(&mut self, alignment: usize) {
        let end = aligned(self.at, alignment);
        self.body[self.at..end].fill(0); // the buffer may have held somebody else's message
        self.at = end;
    }

    /// Writes these bytes. Panics if there is no room for them.
    pub fn write(&mut self, bytes: &[u8]) {
        let end = self.at + bytes.len();
        self.body[self.at..end].copy_from_slice(bytes);
        self.at = end;
    }

    /// Writes the length of a string or sequence. Panics if it is 2³² or more: CDR has no such lengths.
    pub fn write_length(&mut self, length: usize) {
        let length =
            u32::try_from(length).expect("strings and sequences of an image have less than 2^32 elements");
        self.align(4);
        self.write(&length.to_le_bytes());
    }
}
