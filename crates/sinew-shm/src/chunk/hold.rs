//! Messages of other processes that are read in place.

use crate::error::SegmentError;
use crate::hazards::holds::Mark;
use crate::own::own_state::OwnState;
use crate::platform::prefetch;
use crate::platform::sync::Arc;
use crate::ring::Chunk;
use crate::segment::peer_segment::PeerSegment;
use crate::segment::slab;
use std::fmt;

/// A slab of a peer, whose messages this participant reads in place.
pub(crate) struct ReadSlab {
    own: Arc<OwnState>,
    segment: Arc<PeerSegment>,
    number: u64,
    /// Size of its chunks in bytes.
    chunk: usize,
}

impl ReadSlab {
    pub(crate) fn new(
        own: &Arc<OwnState>,
        segment: Arc<PeerSegment>,
        number: u64,
    ) -> Result<Arc<Self>, SegmentError> {
        let Some(chunk) = slab::chunk_size(&segment.mapping) else {
            return Err(SegmentError::field(&segment.name, "size of a chunk", 0, segment.reserved() as u64));
        };
        Ok(Arc::new(Self { own: own.clone(), segment, number, chunk }))
    }

    /// Whether the chunk is in this slab.
    #[inline]
    pub(crate) fn has(&self, chunk: Chunk) -> bool {
        chunk.name >> 32 == self.number
    }

    /// Fetches the beginning of a message that is about to be read in place: its cache line is on
    /// its way while the chunk is marked.
    #[inline]
    pub(crate) fn prefetch(&self, chunk: Chunk) {
        let base = self.segment.mapping.base().addr().get();
        prefetch::for_reading(base.wrapping_add(slab::encoded_offset(chunk.name, self.chunk)));
    }

    /// Reads a message in place. The caller has set and checked the mark (H5). Returns the mark if
    /// not all of the message may be accessed.
    #[inline]
    pub(crate) fn hold(self: &Arc<Self>, mark: Mark, chunk: Chunk) -> Result<Hold, (Mark, SegmentError)> {
        let reserved = self.segment.reserved();
        match slab::locate(self.chunk, reserved, chunk.name, chunk.length) {
            Some(offset) => {
                let length = usize::try_from(chunk.length).unwrap_or(0); // `locate` has checked it
                Ok(Hold { slab: self.clone(), mark, offset, length })
            }
            None => {
                let (name, limit) = (&self.segment.name, reserved as u64);
                Err((mark, SegmentError::field(name, "length of a chunk's message", chunk.length, limit)))
            }
        }
    }
}

/// An encoded message in its writer's memory, which the writer leaves unchanged while this lives.
/// May be dropped on any thread.
pub struct Hold {
    slab: Arc<ReadSlab>,
    mark: Mark,
    offset: usize,
    length: usize,
}

impl fmt::Debug for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hold({} bytes)", self.length)
    }
}

impl Hold {
    /// Returns the encoded message; byte 4 is 16-aligned, unless the writer is broken.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the offset is within the reserved part, and so within the mapping (`hold`).
        let encoded = unsafe { self.slab.segment.mapping.base().add(self.offset) };
        // SAFETY: so is the range; the mapping lives with `self`, and the writer doesn't write
        // (module doc).
        unsafe { std::slice::from_raw_parts(encoded.as_ptr(), self.length) }
    }
}

impl Drop for Hold {
    #[inline]
    fn drop(&mut self) {
        let own = &self.slab.own;
        if !own.is_forked() {
            own.give_back(&self.mark); // H7
        }
    }
}
