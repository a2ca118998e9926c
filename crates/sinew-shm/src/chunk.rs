//! Chunks in use: the writer's loans, and the readers' holds.
//!
//! # Who may touch a chunk's bytes
//!
//! - [`Loan`]: its writer's process, exclusively: no slot names the chunk, no reader holds it (it came from the free list, see
//!   [`holds`](crate::holds)), and a loan is never cloned. So `&mut [u8]` is sound.
//! - [`Lent`]: shared reading in the writer's process. It was made of a loan, which is gone; the chunk isn't free before the last `Lent`
//!   is dropped and no slot names it and no reader holds it.
//! - [`Hold`]: reading in another process, from H6 to H7. Its writer doesn't write meanwhile, unless it is broken; that much is trusted
//!   (design, 6.1), and nothing else: place and length were checked against what is mapped and reserved.

use crate::error::CapacityError;
use crate::holds::Mark;
use crate::kill::{self, Point};
use crate::memory::{LONGEST, OwnChunk, class_of};
use crate::participant::Participant;
use crate::sync::{Arc, AtomicU32, Mutex, Ordering};
use crate::sys::Mapping;
use std::fmt;

/// Chunks of one writer, lent and taken back: the last one back is the first one lent, while it is still in the cache.
pub(crate) struct Pool {
    participant: Arc<Participant>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Chunks have at least this size.
    class: usize,
    free: Vec<Arc<Cell>>,
    /// Nothing names them; they may be held by readers still.
    retired: Vec<Arc<Cell>>,
    /// All chunks that belong to the pool.
    made: usize,
    /// Before so many are made, another is made rather than readers asked.
    enough: usize,
    /// Scratch: what readers hold.
    held: Vec<u64>,
}

struct Cell {
    chunk: OwnChunk,
    /// References in this process: a loan, slots, messages.
    users: AtomicU32,
}

impl State {
    /// The pool has one more.
    fn add(&mut self, chunk: OwnChunk) -> Arc<Cell> {
        self.made += 1;
        // So that nothing is allocated when they come back.
        self.free.reserve(self.made);
        self.retired.reserve(self.made);
        Arc::new(Cell { chunk, users: AtomicU32::new(0) })
    }
}

impl Pool {
    /// For a ring with so many slots.
    pub(crate) fn new(participant: &Arc<Participant>, slots: usize) -> Arc<Self> {
        let state = State { enough: slots + 2, ..State::default() };
        Arc::new(Self { participant: participant.clone(), state: Mutex::new(state) })
    }

    /// The ring has so many slots now.
    pub(crate) fn expect(&self, slots: usize) {
        self.state.lock().enough = slots + 2;
    }

    /// A chunk with room for an image of `length` bytes.
    pub(crate) fn loan(self: &Arc<Self>, length: usize) -> Result<Loan, CapacityError> {
        self.participant.check()?;
        if length > LONGEST {
            return Err(CapacityError::Length { length, limit: LONGEST });
        }
        let wanted = class_of(length);
        let mut state = self.state.lock();
        if wanted > state.class {
            // First of all: where there is no room for it, everything stays as it was.
            let chunk = self.participant.memory.chunk(wanted, &self.participant)?;
            let small = std::mem::take(&mut state.free);
            state.made -= small.len();
            state.class = wanted;
            self.participant.memory.free_chunks(small.iter().map(own));
            let cell = state.add(chunk);
            state.free.push(cell);
        }
        if state.free.is_empty() && state.made >= state.enough {
            self.reclaim(&mut state);
            kill::at(Point::ChunkReclaimed);
        }
        let cell = match state.free.pop() {
            Some(cell) => cell,
            None => {
                let chunk = self.participant.memory.chunk(state.class, &self.participant)?;
                state.add(chunk)
            }
        };
        drop(state);
        cell.users.store(1, Ordering::Relaxed); // nobody else has it
        Ok(Loan(Held { cell, pool: self.clone(), length, published: false }))
    }

    /// W4 to W6: retired chunks that nobody holds are free.
    #[inline]
    fn reclaim(&self, state: &mut State) {
        let State { retired, held, free, class, made, .. } = state;
        self.participant.collect_held(held);
        let mut outgrown = Vec::new();
        retired.retain(|cell| {
            let is_held = held.contains(&cell.chunk.name);
            if !is_held {
                if cell.chunk.class() < *class {
                    outgrown.push(cell.clone());
                } else {
                    free.push(cell.clone());
                }
            }
            is_held
        });
        *made -= outgrown.len();
        self.participant.memory.free_chunks(outgrown.iter().map(own));
    }

    /// Nothing in this process refers to the chunk any more.
    fn take_back(&self, cell: Arc<Cell>, published: bool) {
        let mut state = self.state.lock();
        if published {
            state.retired.push(cell);
        } else if cell.chunk.class() < state.class {
            // It was lent before bigger ones were asked for: who lends next would take it for one of them.
            state.made -= 1;
            self.participant.memory.free_chunks([own(&cell)]);
        } else {
            state.free.push(cell);
        }
    }
}

/// The chunk of a cell without users. A `Held` that is about to go may still have the cell: it doesn't touch the chunk any more.
fn own(cell: &Arc<Cell>) -> OwnChunk {
    cell.chunk.clone()
}

impl Drop for Pool {
    fn drop(&mut self) {
        if self.participant.check().is_err() {
            return;
        }
        let State { free, retired, .. } = std::mem::take(&mut *self.state.lock());
        self.participant.memory.free_chunks(free.iter().map(own));
        self.participant.memory.retire_chunks(retired.iter().map(own));
    }
}

/// One of the references to a chunk in its writer's process.
struct Held {
    cell: Arc<Cell>,
    pool: Arc<Pool>,
    length: usize,
    /// Whether a slot named it: then readers may hold it.
    published: bool,
}

impl Held {
    #[inline]
    fn image(&self) -> *mut u8 {
        let offset = self.cell.chunk.image_offset();
        debug_assert!(offset + self.length <= self.cell.chunk.slab.mapping().length());
        // SAFETY: the slab was made with room for this chunk, whose capacity is at least `length` (`Pool::loan`).
        unsafe { self.cell.chunk.slab.mapping().base().add(offset) }.as_ptr()
    }
}

impl Drop for Held {
    #[inline]
    fn drop(&mut self) {
        // Release: what this reference read is read before the chunk is written again. Acquire: the same of the others.
        if self.cell.users.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.pool.take_back(self.cell.clone(), self.published);
        }
    }
}

/// A piece of shared memory, to be filled with a message's image and published. Dropped, it goes back.
pub struct Loan(Held);

impl fmt::Debug for Loan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Loan({} bytes)", self.0.length)
    }
}

impl Loan {
    /// The image; byte 4 is 16-aligned. Holds what an earlier message left.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: `length` bytes within a slab that lives as long as the cell, reserved, and exclusively ours (module doc).
        unsafe { std::slice::from_raw_parts_mut(self.0.image(), self.0.length) }
    }

    /// Whose memory it is: a participant's id.
    pub fn participant(&self) -> u64 {
        self.0.pool.participant.id()
    }

    /// Makes the image shorter, or as long as it was lent at most.
    pub fn truncate(&mut self, length: usize) {
        self.0.length = self.0.length.min(length);
    }

    /// To be read by several from now on, and written no more.
    #[inline]
    pub fn share(mut self) -> Lent {
        self.0.published = true; // from now on readers may come to hold it
        Lent(self.0)
    }
}

/// A reference to an image in shared memory that is, or is about to be, published, in the process of its writer.
pub struct Lent(Held);

impl fmt::Debug for Lent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lent({} bytes)", self.0.length)
    }
}

impl Lent {
    /// The image.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: as in `Loan::bytes_mut`, and nobody writes while a `Lent` lives (module doc).
        unsafe { std::slice::from_raw_parts(self.0.image(), self.0.length) }
    }

    /// Whose memory it is: a participant's id.
    pub fn participant(&self) -> u64 {
        self.0.pool.participant.id()
    }

    pub(crate) fn chunk(&self) -> crate::ring::Chunk {
        crate::ring::Chunk { name: self.0.cell.chunk.name, length: self.0.length as u64 }
    }
}

impl Clone for Lent {
    #[inline]
    fn clone(&self) -> Self {
        // Relaxed: the new reference comes from a live one.
        self.0.cell.users.fetch_add(1, Ordering::Relaxed);
        let Held { cell, pool, length, published } = &self.0;
        Self(Held { cell: cell.clone(), pool: pool.clone(), length: *length, published: *published })
    }
}

/// A message's image in its writer's memory, which its writer leaves alone while this lives. Drop it on any thread.
pub struct Hold {
    participant: Arc<Participant>,
    mark: Mark,
    mapping: Arc<Mapping>,
    offset: usize,
    length: usize,
}

impl fmt::Debug for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hold({} bytes)", self.length)
    }
}

impl Hold {
    /// The mark is set and was checked (H5); the place lies within what is mapped and reserved.
    pub(crate) fn new(
        participant: &Arc<Participant>,
        mark: Mark,
        (mapping, offset): (Arc<Mapping>, usize),
        length: usize,
    ) -> Self {
        assert!(offset.checked_add(length).is_some_and(|end| end <= mapping.length()), "a checked place");
        Self { participant: participant.clone(), mark, mapping, offset, length }
    }

    /// The image; byte 4 is 16-aligned, unless the writer is broken.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the offset is within the mapping, which `new` checked.
        let image = unsafe { self.mapping.base().add(self.offset) };
        // SAFETY: so is the range; the mapping lives with `self`, and the writer doesn't write (module doc).
        unsafe { std::slice::from_raw_parts(image.as_ptr(), self.length) }
    }
}

impl Drop for Hold {
    #[inline]
    fn drop(&mut self) {
        if !self.participant.is_forked() {
            self.participant.give_back(&self.mark); // H7
        }
    }
}

/// Copies an image that nobody keeps from being overwritten meanwhile: the caller checks afterwards whether it was.
pub(crate) fn copy_unheld((mapping, offset): &(Arc<Mapping>, usize), to: &mut [u8]) {
    let words = to.len().div_ceil(4);
    let Some(from) = crate::place::Place::<[AtomicU32]>::slice(mapping, *offset, words) else {
        return to.fill(0);
    };
    for (bytes, word) in to.chunks_mut(4).zip(from.iter()) {
        bytes.copy_from_slice(&word.load(Ordering::Relaxed).to_ne_bytes()[..bytes.len()]); // the caller's fence orders it
    }
}
