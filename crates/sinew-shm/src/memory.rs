//! A participant's data segments: blocks for rings, and slabs of equal chunks for large payloads.
//!
//! Everything here is the owner's bookkeeping, under a lock of its process; others see only the bytes. Space is reserved in the file
//! system before it is touched, so that a full one is an error here and never a signal later. Segments are never given back
//! while the participant lives; their blocks and chunks are used again.

use crate::chunk::{Cell, move_unused, own};
use crate::domain::Domain;
use crate::error::CapacityError;
use crate::participant::Participant;
use crate::place::Place;
use crate::segment::{Header, Kind, NewSegment, OwnSegment};
use crate::sync::{Arc, AtomicU64, Mutex, Ordering};
use crate::sys::{self, Mapping};
use std::cell::RefCell;
use std::collections::HashMap;

/// Bytes of an arena, unless a block needs more.
const ARENA: usize = 4 << 20;

/// Bytes reserved at a time.
const STEP: usize = 16 << 10;

/// What a slab's header says behind [`Header`]: word 0 is the size of its chunks in bytes.
const SLAB_HEADER: usize = 4096;

/// Chunks of a slab, unless they are huge.
const CHUNKS: usize = 64;

/// Bytes before an image in its chunk: byte 4 of the image is 16-aligned.
pub(crate) const IMAGE_AT: usize = 12;

/// A participant's data segments.
pub(crate) struct Memory {
    domain: Domain,
    owner: u64,
    state: Mutex<State>,
}

struct State {
    /// The next segment's number; from a random start.
    next: u64,
    arenas: Vec<Arena>,
    free_blocks: HashMap<usize, Vec<Block>>,
    slabs: HashMap<u64, Arc<Slab>>,
    /// By size of chunk.
    classes: HashMap<usize, Class>,
}

struct Arena {
    segment: OwnSegment,
    number: u64,
    used: usize,
    reserved: usize,
}

/// Chunks of one size.
#[derive(Default)]
struct Class {
    /// The newest slab, and its chunks handed out so far.
    slab: Option<(Arc<Slab>, usize)>,
    free: Vec<u64>,
    /// Used by messages of this process, or held by readers, perhaps.
    retired: Vec<Arc<Cell>>,
}

/// A file of equal chunks.
pub(crate) struct Slab {
    segment: OwnSegment,
    number: u64,
    chunk: usize,
    count: usize,
}

/// A zeroed piece of an arena.
#[derive(Debug)]
pub(crate) struct Block {
    /// Segment << 32, offset / 64.
    pub(crate) location: u64,
    pub(crate) words: Place<[AtomicU64]>,
}

/// The longest image: longer than any memory, and sums of a few don't overflow.
pub(crate) const LONGEST: usize = 1 << 44;

/// The size of chunk for an image of `length` bytes, [`LONGEST`] at most: up to an eighth more than needed.
pub(crate) fn class_of(length: usize) -> usize {
    let needed = length + IMAGE_AT;
    let step = (needed.next_power_of_two() / 8).max(64);
    needed.next_multiple_of(step)
}

impl Memory {
    pub(crate) fn new(domain: Domain, owner: u64) -> Self {
        let state = State {
            // 31 bits, so that counting on stays within 32.
            next: sys::random() & 0x7fff_ffff,
            arenas: Vec::new(),
            free_blocks: HashMap::new(),
            slabs: HashMap::new(),
            classes: HashMap::new(),
        };
        Self { domain, owner, state: Mutex::new(state) }
    }

    /// A zeroed block of at least so many bytes.
    pub(crate) fn block(&self, bytes: usize) -> Result<Block, CapacityError> {
        let bytes = block_size(bytes);
        let mut state = self.state.lock();
        if let Some(block) = state.free_blocks.get_mut(&bytes).and_then(Vec::pop) {
            drop(state);
            block.words.iter().for_each(|word| word.store(0, Ordering::Relaxed)); // nobody reads it any more
            return Ok(block);
        }
        if state.arenas.last().is_none_or(|arena| arena.used + bytes > arena.segment.mapping.length()) {
            let arena = self.add_arena(&mut state, bytes)?;
            state.arenas.push(arena);
        }
        let Some(arena) = state.arenas.last_mut() else {
            return Err(CapacityError::Table { table: "arenas", limit: 0 });
        };
        arena.allocate(&self.domain, bytes)
    }

    /// Takes a block back that no other process reads any more.
    pub(crate) fn free_block(&self, block: Block) {
        let bytes = block.words.len() * 8;
        self.state.lock().free_blocks.entry(bytes).or_default().push(block);
    }

    fn add_arena(&self, state: &mut State, bytes: usize) -> Result<Arena, CapacityError> {
        let number = state.next;
        state.next += 1;
        let length = ARENA.max((size_of::<Header>() + bytes).next_multiple_of(4096));
        let reserved = 4096;
        let new = NewSegment { kind: Kind::Data, owner: self.owner, number, length, reserved, locked: false };
        let segment = OwnSegment::create(&self.domain, &new)?.publish()?;
        Ok(Arena { segment, number, used: size_of::<Header>(), reserved })
    }

    /// A chunk of this class, new or used before.
    pub(crate) fn chunk(&self, class: usize, participant: &Participant) -> Result<OwnChunk, CapacityError> {
        let mut state = self.state.lock();
        let state = &mut *state;
        let entry = state.classes.entry(class).or_default();
        let Class { free, retired, .. } = entry;
        if free.is_empty() && !retired.is_empty() {
            let held = RefCell::new(Vec::new());
            let ask = || participant.collect_held(&mut held.borrow_mut());
            let is_held = |name| held.borrow().contains(&name);
            move_unused(retired, ask, is_held, |cell| free.push(own(&cell).name));
        }
        if let Some(name) = entry.free.pop()
            && let Some(slab) = state.slabs.get(&(name >> 32))
        {
            return Ok(OwnChunk { name, slab: slab.clone() });
        }
        let (slab, used) = match &mut entry.slab {
            Some((slab, used)) if *used < slab.count => (slab, used),
            place => {
                let number = state.next;
                state.next += 1;
                let slab = Arc::new(Slab::create(&self.domain, self.owner, number, class)?);
                slab.reserve(&self.domain, 0).inspect_err(|_| {
                    let _ = std::fs::remove_file(&slab.segment.path); // nobody knows of it yet
                })?;
                state.slabs.insert(number, slab.clone());
                let (slab, used) = place.insert((slab, 0));
                (slab, used)
            }
        };
        slab.reserve(&self.domain, *used)?;
        let name = slab.number << 32 | *used as u64;
        *used += 1;
        Ok(OwnChunk { name, slab: slab.clone() })
    }

    /// Takes chunks back that nobody names or reads any more.
    pub(crate) fn free_chunks(&self, chunks: impl IntoIterator<Item = OwnChunk>) {
        let mut state = self.state.lock();
        for chunk in chunks {
            state.classes.entry(chunk.slab.chunk).or_default().free.push(chunk.name);
        }
    }

    /// Takes chunks back whose writer is gone: messages may still be in them.
    pub(crate) fn retire(&self, cells: Vec<Arc<Cell>>) {
        let mut state = self.state.lock();
        for cell in cells {
            state.classes.entry(own(&cell).class()).or_default().retired.push(cell);
        }
    }

    /// The files of all segments made so far.
    pub(crate) fn paths(&self) -> Vec<std::path::PathBuf> {
        let state = self.state.lock();
        let arenas = state.arenas.iter().map(|arena| arena.segment.path.clone());
        arenas.chain(state.slabs.values().map(|slab| slab.segment.path.clone())).collect()
    }
}

/// Blocks come in few sizes, so that they are used again: an eighth more than needed at most.
fn block_size(bytes: usize) -> usize {
    let step = (bytes.next_power_of_two() / 8).max(64);
    bytes.next_multiple_of(step)
}

impl Arena {
    fn allocate(&mut self, domain: &Domain, bytes: usize) -> Result<Block, CapacityError> {
        let offset = self.used;
        let end = offset + bytes;
        if end > self.reserved {
            let length = self.segment.mapping.length();
            let reserved =
                end.max(self.reserved + STEP.min(self.reserved)).next_multiple_of(4096).min(length);
            self.segment.reserve(domain, self.reserved, reserved - self.reserved)?;
            self.reserved = reserved;
            self.segment.declare(reserved);
        }
        let words = Place::<[AtomicU64]>::slice(&self.segment.mapping, offset, bytes / 8);
        let words = words.ok_or(CapacityError::Table { table: "bytes in an arena", limit: end })?;
        self.used = end;
        Ok(Block { location: self.number << 32 | (offset / 64) as u64, words })
    }
}

impl Slab {
    fn create(domain: &Domain, owner: u64, number: u64, chunk: usize) -> Result<Self, CapacityError> {
        let count = CHUNKS.min((1 << 30) / chunk).max(4);
        let length = SLAB_HEADER + (count * chunk).next_multiple_of(4096);
        let new =
            NewSegment { kind: Kind::Data, owner, number, length, reserved: SLAB_HEADER, locked: false };
        let unpublished = OwnSegment::create(domain, &new)?;
        let size = Place::<AtomicU64>::at(&unpublished.segment.mapping, size_of::<Header>());
        if let Some(size) = size {
            size.store(chunk as u64, Ordering::Relaxed); // nobody sees the segment before it is linked
        }
        Ok(Self { segment: unpublished.publish()?, number, chunk, count })
    }

    /// Makes sure that the chunk may be touched.
    fn reserve(&self, domain: &Domain, index: usize) -> Result<(), CapacityError> {
        let begin = (SLAB_HEADER + index * self.chunk).next_multiple_of(4096);
        let end = (SLAB_HEADER + (index + 1) * self.chunk).next_multiple_of(4096);
        if end > begin {
            self.segment.reserve(domain, begin, end - begin)?;
        }
        self.segment.declare(end);
        Ok(())
    }

    pub(crate) fn mapping(&self) -> &Arc<Mapping> {
        &self.segment.mapping
    }
}

/// A chunk that is with its owner: nobody reads it.
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
}

/// Where a chunk's image begins in its slab.
fn image_offset(name: u64, chunk: usize) -> usize {
    let index = usize::try_from(name & 0xffff_ffff).unwrap_or(usize::MAX);
    index.saturating_mul(chunk).saturating_add(SLAB_HEADER + IMAGE_AT)
}

/// Where somebody's chunk has its image: offset in the slab; `None` unless all of it lies in what is reserved.
pub(crate) fn locate(mapping: &Arc<Mapping>, reserved: usize, name: u64, length: u64) -> Option<usize> {
    let size = Place::<AtomicU64>::at(mapping, size_of::<Header>())?;
    let chunk = usize::try_from(size.load(Ordering::Relaxed)).ok()?; // written before the segment was linked
    let length = usize::try_from(length).ok()?;
    if chunk <= IMAGE_AT || !chunk.is_multiple_of(64) || length > chunk - IMAGE_AT {
        return None;
    }
    let offset = image_offset(name, chunk);
    (offset.checked_add(length)? <= reserved).then_some(offset)
}
