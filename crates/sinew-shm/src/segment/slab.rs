//! Slabs: files of equal chunks, for large messages. [`memory`](crate::memory) describes how their
//! unused parts are given back.

use crate::error::{CapacityError, SystemError};
use crate::platform::failpoints::{self, Point};
use crate::platform::shm_ref::ShmRef;
use crate::platform::sync::{Arc, AtomicU64, Ordering};
use crate::platform::sys::Mapping;
use crate::segment::domain::Domain;
use crate::segment::header::{Header, SegmentKind};
use crate::segment::own_segment::{NewSegment, OwnSegment};

/// Bytes of a slab's header. Behind [`Header`], word 0 is the size of the slab's chunks in bytes.
const SLAB_HEADER: usize = 4096;

/// Bytes before an encoded message in its chunk, so that byte 4 of the message is 16-aligned.
pub(crate) const ENCODED_AT: usize = 12;

/// The longest encoded message in bytes: larger than any memory, but small enough that sums of a
/// few don't overflow.
pub(crate) const LONGEST: usize = 1 << 44;

/// The chunk size for an encoded message of `length` bytes, at most [`LONGEST`]: up to an eighth
/// more than needed.
pub(crate) fn class_of(length: usize) -> usize {
    let needed = length + ENCODED_AT;
    let step = (needed.next_power_of_two() / 8).max(64);
    needed.next_multiple_of(step)
}

/// A file of equal chunks.
pub(crate) struct Slab {
    pub(crate) segment: OwnSegment,
    pub(crate) number: u64,
    /// Size of a chunk in bytes.
    pub(crate) chunk: usize,
    pub(crate) count: usize,
}

impl Slab {
    pub(crate) fn create(
        domain: &Domain,
        owner: u64,
        number: u64,
        chunk: usize,
        count: usize,
    ) -> Result<Self, CapacityError> {
        let length = SLAB_HEADER + (count * chunk).next_multiple_of(4096);
        let new = NewSegment {
            kind: SegmentKind::Data,
            owner,
            number,
            length,
            reserved: SLAB_HEADER,
            locked: false,
        };
        let unpublished = OwnSegment::create(domain, &new)?;
        let size = ShmRef::<AtomicU64>::at(&unpublished.segment.mapping, size_of::<Header>());
        if let Some(size) = size {
            // No participant sees the segment before it is linked.
            size.store(chunk as u64, Ordering::Relaxed);
        }
        Ok(Self { segment: unpublished.publish()?, number, chunk, count })
    }

    /// Offset of the end of the pages of the first `chunks` chunks.
    pub(crate) fn end_of(&self, chunks: usize) -> usize {
        (SLAB_HEADER + chunks * self.chunk).next_multiple_of(4096)
    }

    /// M3: makes sure that the chunk after the first `chunks` may be accessed.
    pub(crate) fn reserve(&self, domain: &Domain, chunks: usize) -> Result<(), CapacityError> {
        let (begin, end) = (self.end_of(chunks), self.end_of(chunks + 1));
        if end > begin {
            self.segment.reserve(domain, begin, end - begin)?;
        }
        self.segment.declare(end);
        Ok(())
    }

    /// M1, M2: only the first `kept` chunks may be accessed from now on, instead of the first
    /// `before`.
    pub(crate) fn give_back(&self, kept: usize, before: usize) -> Result<(), SystemError> {
        let (begin, end) = (self.end_of(kept), self.end_of(before));
        self.segment.declare(begin); // M1
        failpoints::at(Point::LessDeclared);
        self.segment.give_back(begin, end - begin) // M2
    }

    pub(crate) fn mapping(&self) -> &Arc<Mapping> {
        &self.segment.mapping
    }
}

/// A chunk that its owner has, and no reader reads.
#[derive(Clone)]
pub(crate) struct OwnChunk {
    /// Segment << 32, index.
    pub(crate) name: u64,
    pub(crate) slab: Arc<Slab>,
}

impl OwnChunk {
    /// Offset in the slab of the chunk's encoded message.
    pub(crate) fn encoded_offset(&self) -> usize {
        encoded_offset(self.name, self.slab.chunk)
    }

    /// The chunk's size in bytes.
    pub(crate) fn class(&self) -> usize {
        self.slab.chunk
    }

    /// The chunk's index in its slab.
    pub(crate) fn index(&self) -> usize {
        usize::try_from(self.name & 0xffff_ffff).unwrap_or(usize::MAX)
    }
}

/// Offset of a chunk's encoded message in its slab.
#[inline]
pub(crate) fn encoded_offset(name: u64, chunk: usize) -> usize {
    let index = usize::try_from(name & 0xffff_ffff).unwrap_or(usize::MAX);
    index.saturating_mul(chunk).saturating_add(SLAB_HEADER + ENCODED_AT)
}

/// The size in bytes of the chunks in a peer's slab; `None` if it can't be one.
pub(crate) fn chunk_size(mapping: &Arc<Mapping>) -> Option<usize> {
    let size = ShmRef::<AtomicU64>::at(mapping, size_of::<Header>())?;
    let chunk = usize::try_from(size.load(Ordering::Relaxed)).ok()?; // written before the segment was linked
    (chunk > ENCODED_AT && chunk.is_multiple_of(64)).then_some(chunk)
}

/// The offset in its slab of the encoded message in a peer's chunk of a valid
/// [size](chunk_size); `None` unless all of it lies in the reserved part.
#[inline]
pub(crate) fn locate(chunk: usize, reserved: usize, name: u64, length: u64) -> Option<usize> {
    let length = usize::try_from(length).ok()?;
    if length > chunk - ENCODED_AT {
        return None;
    }
    let offset = encoded_offset(name, chunk);
    (offset.checked_add(length)? <= reserved).then_some(offset)
}
