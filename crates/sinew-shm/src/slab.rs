//! Slabs: files of equal chunks, for large payloads. What is given back of them, and when, is in
//! [`memory`](crate::memory).

use crate::domain::Domain;
use crate::error::{CapacityError, SystemError};
use crate::failpoints::{self, Point};
use crate::segment::{Header, NewSegment, OwnSegment, SegmentKind};
use crate::shm_ref::ShmRef;
use crate::sync::{Arc, AtomicU64, Ordering};
use crate::sys::Mapping;

/// What a slab's header says behind [`Header`]: word 0 is the size of its chunks in bytes.
const SLAB_HEADER: usize = 4096;

/// Bytes before an image in its chunk: byte 4 of the image is 16-aligned.
pub(crate) const IMAGE_AT: usize = 12;

/// The longest image: longer than any memory, and sums of a few don't overflow.
pub(crate) const LONGEST: usize = 1 << 44;

/// The size of chunk for an image of `length` bytes, [`LONGEST`] at most: up to an eighth more than
/// needed.
pub(crate) fn class_of(length: usize) -> usize {
    let needed = length + IMAGE_AT;
    let step = (needed.next_power_of_two() / 8).max(64);
    needed.next_multiple_of(step)
}

/// A file of equal chunks.
pub(crate) struct Slab {
    pub(crate) segment: OwnSegment,
    pub(crate) number: u64,
    /// Bytes of each.
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

    /// Where the pages of its first so many chunks end.
    pub(crate) fn end_of(&self, chunks: usize) -> usize {
        (SLAB_HEADER + chunks * self.chunk).next_multiple_of(4096)
    }

    /// M3: makes sure that the chunk after so many may be touched.
    pub(crate) fn reserve(&self, domain: &Domain, chunks: usize) -> Result<(), CapacityError> {
        let (begin, end) = (self.end_of(chunks), self.end_of(chunks + 1));
        if end > begin {
            self.segment.reserve(domain, begin, end - begin)?;
        }
        self.segment.declare(end);
        Ok(())
    }

    /// M1, M2: only the first `kept` of its chunks may be touched, of so many before.
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

/// A chunk that is with its owner: no reader reads it.
#[derive(Clone)]
pub(crate) struct OwnChunk {
    /// Segment << 32, index.
    pub(crate) name: u64,
    pub(crate) slab: Arc<Slab>,
}

impl OwnChunk {
    /// Where its image begins, in bytes from the start of the slab.
    pub(crate) fn image_offset(&self) -> usize {
        image_offset(self.name, self.slab.chunk)
    }

    /// Its size.
    pub(crate) fn class(&self) -> usize {
        self.slab.chunk
    }

    /// Which one of its slab it is.
    pub(crate) fn index(&self) -> usize {
        usize::try_from(self.name & 0xffff_ffff).unwrap_or(usize::MAX)
    }
}

/// Where a chunk's image begins in its slab.
fn image_offset(name: u64, chunk: usize) -> usize {
    let index = usize::try_from(name & 0xffff_ffff).unwrap_or(usize::MAX);
    index.saturating_mul(chunk).saturating_add(SLAB_HEADER + IMAGE_AT)
}

/// Where a peer's chunk has its image: offset in the slab; `None` unless all of it lies in what is
/// reserved.
pub(crate) fn locate(mapping: &Arc<Mapping>, reserved: usize, name: u64, length: u64) -> Option<usize> {
    let size = ShmRef::<AtomicU64>::at(mapping, size_of::<Header>())?;
    let chunk = usize::try_from(size.load(Ordering::Relaxed)).ok()?; // written before the segment was linked
    let length = usize::try_from(length).ok()?;
    if chunk <= IMAGE_AT || !chunk.is_multiple_of(64) || length > chunk - IMAGE_AT {
        return None;
    }
    let offset = image_offset(name, chunk);
    (offset.checked_add(length)? <= reserved).then_some(offset)
}
