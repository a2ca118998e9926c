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
use crate::sync::{Arc, AtomicU32, Mutex, Ordering, PlainU64};
use crate::sys::Mapping;
use std::fmt;

/// Bytes of chunks that a writer has beyond those that its ring names, so that readers needn't be asked at every loan.
const SPARE: usize = 256 << 10;

/// Chunks of one writer, lent and taken back.
///
/// A reference to a chunk is one to its [`Cell`], so letting go of one is one step, on any thread and without a lock. The pool has a
/// reference to each of its cells: a cell with no other one is unused in this process.
pub(crate) struct Pool {
    participant: Arc<Participant>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Chunks have at least this size.
    class: usize,
    /// Unused here and elsewhere.
    free: Vec<Arc<Cell>>,
    /// Lent: some of them may be unused again.
    lent: Vec<Arc<Cell>>,
    /// Messages that the ring keeps.
    slots: usize,
    /// Scratch: what readers hold.
    held: Vec<u64>,
}

/// A chunk with references: a loan, slots, messages, and its pool's.
pub(crate) struct Cell {
    chunk: OwnChunk,
    /// The participant's id.
    owner: u64,
    /// 1: a slot named it since it was lent, so readers may hold it.
    published: PlainU64,
}

impl Cell {
    /// Whether nobody but the caller has a reference. Acquire: then what others read was read before the chunk is written again.
    fn is_unused(this: &mut Arc<Self>) -> bool {
        // The first look, which costs less, tells of most that they are in use.
        Arc::strong_count(this) == 1 && Arc::get_mut(this).is_some()
    }

    fn is_published(&self) -> bool {
        self.published.load(Ordering::Relaxed) != 0 // written by who had the loan, and let go of it since
    }
}

/// Moves the cells that are unused, and of which nobody knows or holds, from one list to another.
///
/// `held` gives the names of the chunks that readers hold, and is asked after it was seen that nothing here names them (W4).
pub(crate) fn move_unused(
    from: &mut Vec<Arc<Cell>>,
    held: impl FnOnce(),
    is_held: impl Fn(u64) -> bool,
    mut to: impl FnMut(Arc<Cell>),
) {
    // The unused ones go to the end of the list.
    let mut first = from.len();
    let mut index = 0;
    while index < first {
        if Cell::is_unused(&mut from[index]) {
            first -= 1;
            from.swap(index, first);
        } else {
            index += 1;
        }
    }
    if first == from.len() {
        return;
    }
    held();
    for index in (first..from.len()).rev() {
        if !from[index].is_published() || !is_held(from[index].chunk.name) {
            to(from.swap_remove(index));
        }
    }
}

impl State {
    fn made(&self) -> usize {
        self.free.len() + self.lent.len()
    }

    /// Before so many are made, another is made rather than readers asked.
    fn enough(&self) -> usize {
        self.slots + (SPARE / self.class.max(1)).clamp(2, 4)
    }
}

impl Pool {
    /// For a ring with so many slots.
    pub(crate) fn new(participant: &Arc<Participant>, slots: usize) -> Arc<Self> {
        let state = State { slots, ..State::default() };
        Arc::new(Self { participant: participant.clone(), state: Mutex::new(state) })
    }

    /// The ring has so many slots now.
    pub(crate) fn expect(&self, slots: usize) {
        self.state.lock().slots = slots;
    }

    /// A chunk with room for an image of `length` bytes.
    #[inline]
    pub(crate) fn loan(&self, length: usize) -> Result<Loan, CapacityError> {
        self.participant.check()?;
        if length > LONGEST {
            return Err(CapacityError::Length { length, limit: LONGEST });
        }
        let mut state = self.state.lock();
        let wanted = class_of(length);
        if wanted > state.class {
            self.enlarge(&mut state, wanted)?;
        }
        let cell = match state.free.pop() {
            Some(cell) => cell,
            None => self.find(&mut state)?,
        };
        cell.published.store(0, Ordering::Relaxed); // nobody else has it
        state.lent.push(cell.clone());
        drop(state);
        Ok(Loan(Held { cell, length }))
    }

    /// Bigger chunks from now on.
    #[cold]
    fn enlarge(&self, state: &mut State, class: usize) -> Result<(), CapacityError> {
        // First of all: where there is no room for it, everything stays as it was.
        let chunk = self.participant.memory.chunk(class, &self.participant)?;
        let small = std::mem::take(&mut state.free);
        state.class = class;
        self.participant.memory.free_chunks(small.iter().map(own));
        let cell = self.cell(state, chunk);
        state.free.push(cell);
        Ok(())
    }

    /// A cell for a new chunk. The lists have room for it: nothing is allocated when it comes back.
    fn cell(&self, state: &mut State, chunk: OwnChunk) -> Arc<Cell> {
        let made = state.made() + 1;
        state.free.reserve(made);
        state.lent.reserve(made);
        Arc::new(Cell { chunk, owner: self.participant.id(), published: PlainU64::new(0) })
    }

    /// No chunk is known to be free: one that was lent in vain, or that nobody uses any more, or a new one.
    fn find(&self, state: &mut State) -> Result<Arc<Cell>, CapacityError> {
        if state.made() >= state.enough() {
            self.reclaim(state);
            kill::at(Point::ChunkReclaimed);
        } else {
            let class = state.class;
            let in_vain = |cell: &mut Arc<Cell>| {
                cell.chunk.class() >= class && Cell::is_unused(cell) && !cell.is_published()
            };
            if let Some(index) = state.lent.iter_mut().position(in_vain) {
                return Ok(state.lent.swap_remove(index));
            }
        }
        if let Some(cell) = state.free.pop() {
            return Ok(cell);
        }
        match self.participant.memory.chunk(state.class, &self.participant) {
            Ok(chunk) => Ok(self.cell(state, chunk)),
            // No room for one more than needed: then readers are asked.
            Err(error) => {
                self.reclaim(state);
                state.free.pop().ok_or(error)
            }
        }
    }

    /// W4 to W6: chunks that nobody names or holds are free.
    fn reclaim(&self, state: &mut State) {
        let State { lent, held, free, class, .. } = state;
        let mut outgrown = Vec::new();
        let held = std::cell::RefCell::new(held);
        move_unused(
            lent,
            || self.participant.collect_held(&mut held.borrow_mut()),
            |name| held.borrow().contains(&name),
            |cell| if cell.chunk.class() < *class { outgrown.push(cell) } else { free.push(cell) },
        );
        if !outgrown.is_empty() {
            self.participant.memory.free_chunks(outgrown.iter().map(own));
        }
    }
}

/// The chunk of a cell that nobody else has.
pub(crate) fn own(cell: &Arc<Cell>) -> OwnChunk {
    cell.chunk.clone()
}

impl Drop for Pool {
    fn drop(&mut self) {
        if self.participant.check().is_err() {
            return;
        }
        let State { free, lent, .. } = std::mem::take(&mut *self.state.lock());
        self.participant.memory.free_chunks(free.iter().map(own));
        self.participant.memory.retire(lent);
    }
}

/// One of the references to a chunk in its writer's process.
#[derive(Clone)]
struct Held {
    cell: Arc<Cell>,
    length: usize,
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

    /// The same, to be read.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: as in `bytes_mut`; whoever writes borrows `self` exclusively.
        unsafe { std::slice::from_raw_parts(self.0.image(), self.0.length) }
    }

    /// Whose memory it is: a participant's id.
    pub fn participant(&self) -> u64 {
        self.0.cell.owner
    }

    /// Makes the image shorter, or as long as it was lent at most.
    pub fn truncate(&mut self, length: usize) {
        self.0.length = self.0.length.min(length);
    }

    /// To be read by several from now on, and written no more.
    #[inline]
    pub fn share(self) -> Lent {
        self.0.cell.published.store(1, Ordering::Relaxed); // from now on readers may come to hold it; read when it is let go
        Lent(self.0)
    }
}

/// A reference to an image in shared memory that is, or is about to be, published, in the process of its writer.
#[derive(Clone)]
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
        self.0.cell.owner
    }

    pub(crate) fn chunk(&self) -> crate::ring::Chunk {
        crate::ring::Chunk { name: self.0.cell.chunk.name, length: self.0.length as u64 }
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
