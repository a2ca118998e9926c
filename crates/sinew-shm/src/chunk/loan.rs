//! A writer's loans, and messages in chunks in the writer's process.

use crate::memory::cell::Cell;
use crate::platform::sync::{Arc, Ordering};
use std::fmt;

/// A reference to a chunk in its writer's process.
#[derive(Clone)]
pub(super) struct Held {
    pub(super) cell: Arc<Cell>,
    pub(super) length: usize,
}

impl Held {
    #[inline]
    fn encoded(&self) -> *mut u8 {
        let offset = self.cell.chunk.encoded_offset();
        debug_assert!(offset + self.length <= self.cell.chunk.slab.mapping().length());
        // SAFETY: the slab was made with room for this chunk, and its capacity is at least `length`
        // (`Pool::loan`).
        unsafe { self.cell.chunk.slab.mapping().base().add(offset) }.as_ptr()
    }
}

/// A piece of shared memory to fill with an encoded message and publish. Dropping it returns the
/// memory.
pub struct Loan(pub(super) Held);

impl fmt::Debug for Loan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Loan({} bytes)", self.0.length)
    }
}

impl Loan {
    /// Returns the encoded message for writing; byte 4 is 16-aligned. Initially contains bytes of
    /// an earlier message, or zeros.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: `length` bytes within a slab that lives as long as the cell, reserved, and
        // exclusively ours (module doc).
        unsafe { std::slice::from_raw_parts_mut(self.0.encoded(), self.0.length) }
    }

    /// Returns the encoded message for reading.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: as in `bytes_mut`; a writing caller borrows `self` exclusively.
        unsafe { std::slice::from_raw_parts(self.0.encoded(), self.0.length) }
    }

    /// Returns the id of the participant that owns the memory.
    pub fn participant(&self) -> u64 {
        self.0.cell.owner
    }

    /// Shortens the encoded message; never makes it longer.
    pub fn truncate(&mut self, length: usize) {
        self.0.length = self.0.length.min(length);
    }

    /// Turns the loan into a shared reference, which can be cloned and read, but no longer written.
    #[inline]
    pub fn share(self) -> Lent {
        // From now on readers may hold it; read when it is released.
        self.0.cell.published.store(1, Ordering::Relaxed);
        Lent(self.0)
    }
}

/// A reference, in the writer's process, to an encoded message in shared memory that is published
/// or about to be.
#[derive(Clone)]
pub struct Lent(Held);

impl fmt::Debug for Lent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lent({} bytes)", self.0.length)
    }
}

impl Lent {
    /// Returns the encoded message.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: as in `Loan::bytes_mut`, and no thread writes while a `Lent` lives (module doc).
        unsafe { std::slice::from_raw_parts(self.0.encoded(), self.0.length) }
    }

    /// Returns the id of the participant that owns the memory.
    pub fn participant(&self) -> u64 {
        self.0.cell.owner
    }

    /// Size of the chunk in bytes.
    pub(crate) fn class(&self) -> usize {
        self.0.cell.chunk.class()
    }

    /// Number of references to the chunk in this process, including the pool's. A hint: other
    /// threads change it.
    pub(crate) fn references(&self) -> usize {
        Arc::strong_count(&self.0.cell)
    }

    pub(crate) fn chunk(&self) -> crate::ring::Chunk {
        crate::ring::Chunk { name: self.name(), length: self.0.length as u64 }
    }

    /// The chunk's name.
    pub(crate) fn name(&self) -> u64 {
        self.0.cell.chunk.name
    }
}
