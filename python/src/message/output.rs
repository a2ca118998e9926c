//! Where encoded bytes go, or a count of them.

use sinew_msg::cdr::{HEADER, HEADER_SIZE, aligned};

/// The destination of encoded bytes. Both implementations align alike, so a message is measured and
/// then written by the same code.
pub(super) trait Output {
    fn align(&mut self, alignment: usize);

    fn write(&mut self, bytes: &[u8]);

    /// Leaves out bytes that are written later, and returns their offset in the encoded message.
    fn reserve(&mut self, length: usize) -> usize;

    /// Writes the length of a string or sequence, which was checked to have 32 bits.
    fn write_length(&mut self, length: usize) {
        self.align(4);
        self.write(&u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
    }
}

/// Counts the bytes after the header.
pub(super) struct Length(pub(super) usize);

impl Output for Length {
    #[inline]
    fn align(&mut self, alignment: usize) {
        self.0 = aligned(self.0, alignment);
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.0 += bytes.len();
    }

    fn reserve(&mut self, length: usize) -> usize {
        self.0 += length;
        HEADER_SIZE + self.0 - length
    }
}

/// Writes to a buffer of the measured length. What Python changed since is noticed: nothing is
/// written behind the end.
pub(super) struct Writer<'a> {
    body: &'a mut [u8],
    at: usize,
}

impl<'a> Writer<'a> {
    /// Writes the header; `None` if there is no room for it.
    pub(super) fn new(encoded: &'a mut [u8]) -> Option<Self> {
        let (header, body) = encoded.split_first_chunk_mut::<HEADER_SIZE>()?;
        *header = HEADER;
        Some(Self { body, at: 0 })
    }

    /// Returns whether exactly the buffer was filled.
    pub(super) fn is_full(&self) -> bool {
        self.at == self.body.len()
    }
}

impl Output for Writer<'_> {
    #[inline]
    fn align(&mut self, alignment: usize) {
        let end = aligned(self.at, alignment);
        if let Some(padding) = self.body.get_mut(self.at..end) {
            padding.fill(0); // the memory may have bytes of an earlier message
        }
        self.at = end;
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let end = self.at.saturating_add(bytes.len());
        if let Some(room) = self.body.get_mut(self.at..end) {
            room.copy_from_slice(bytes);
        }
        self.at = end;
    }

    fn reserve(&mut self, length: usize) -> usize {
        let begin = self.at;
        self.at = self.at.saturating_add(length);
        HEADER_SIZE + begin
    }
}
