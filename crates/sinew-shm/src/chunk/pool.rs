//! A writer's chunks: the free ones, and those that may be free again.

use crate::error::CapacityError;
use crate::memory::cell::{Cell, move_unused, own};
use crate::memory::data_segments::Lends;
use crate::own::own_state::OwnState;
use crate::platform::failpoints::{self, Point};
use crate::platform::prefetch;
use crate::platform::sync::{Arc, Mutex, Ordering, PlainU64};
use crate::segment::slab::{LONGEST, OwnChunk, class_of};
use crate::tables::counters::Counters;
use std::sync::Weak;

use crate::chunk::loan::{Held, Loan};
/// Bytes of chunks that a writer has beyond those that its ring names, so that it needn't check the
/// readers' holds at every loan.
const SPARE: usize = 256 << 10;

/// The upper bound of that while readers keep many chunks, so that each check of their holds frees
/// enough.
const MOST_SPARE: usize = 4 << 20;

/// If the messages of a ring take more than this, each is released as soon as all readers have
/// passed it, and its chunk is reused at once: a writer that cycles through more memory than the
/// caches hold waits for memory. Below this size, cycling is better: the chunk was read long ago,
/// so no other core has its cache lines. (Measured on cores with 1 MB each: 64 KB in 20 chunks take
/// 3.0 µs from the first byte written to the last one read, in two 4.2 µs; 1 MB in 20 chunks take
/// 44 to 65 µs, in two 35 to 39 µs.)
const ROUND: usize = 2 << 20;

/// Whether a ring with this number of slots releases chunks of this class early.
#[inline]
pub(crate) fn is_let_go_early(class: usize, slots: usize) -> bool {
    class.saturating_mul(slots) > ROUND
}

/// Chunk size in bytes that pays for one step of checking holds before a loan.
const BYTES_PER_STEP: usize = 1 << 10;

/// The chunks of one writer.
///
/// Chunks come in size classes. A message gets the chunk that came back last, among those that have
/// room for it and are at most twice as large, so a large message doesn't make later ones large.
/// Chunks that aren't needed between two checks by the helper thread go back to the participant's
/// [memory](crate::memory), which gives them back to the file system. A loan of a chunk that the
/// pool has free waits for none of that; a loan that needs a new chunk takes the memory's lock,
/// which is held while a hole is punched.
///
/// A reference to a chunk is a reference to its [`Cell`], so releasing it takes one step, on any
/// thread and without a lock. The pool has a reference to each of its cells: a cell with no other
/// reference is unused in this process.
pub(crate) struct Pool {
    own: Arc<OwnState>,
    pub(super) state: Mutex<PoolState>,
}

#[derive(Default)]
pub(super) struct PoolState {
    /// Chunks that are unused here and elsewhere, by class; the smallest class first.
    shelves: Vec<Shelf>,
    /// Lent chunks, the most recent at the end. Some of them may be unused again.
    lent: Vec<Arc<Cell>>,
    /// Number of free chunks.
    free: usize,
    /// Size of all chunks in bytes.
    bytes: usize,
    /// The counters of the writer's entity, as long as the writer exists; the pool stores their
    /// memory word.
    counters: Option<Counters>,
    /// Number of messages that the ring keeps.
    slots: usize,
    /// Number of chunks in use when the readers' holds were last checked.
    in_use: usize,
    /// Free chunks that go back to the participant.
    leaving: Vec<Arc<Cell>>,
    /// Number of holds that the last check of the readers went through.
    steps: usize,
    /// Steps of all checks: cells of this writer, and holds.
    #[cfg(all(test, not(loom)))]
    pub(super) all_steps: usize,
    /// Scratch: the chunks that readers hold, sorted.
    held: Vec<u64>,
    /// Scratch: cells that are unused here.
    unused: Vec<Arc<Cell>>,
}

/// The free chunks of one class.
struct Shelf {
    class: usize,
    /// The last chunk given back is the first one lent.
    free: Vec<Arc<Cell>>,
    /// Least number that was free since the last check: these weren't needed.
    idle: usize,
    /// Number of chunks of the class, free or lent.
    made: usize,
}

impl PoolState {
    pub(super) fn made(&self) -> usize {
        self.free + self.lent.len()
    }

    /// Stores the size of all chunks in the counters.
    fn count(&self) {
        self.counters.iter().for_each(|counters| counters.set_memory(self.bytes));
    }

    /// The shelf of a class, made if there is none.
    fn shelf(&mut self, class: usize) -> &mut Shelf {
        let index = match self.shelves.binary_search_by_key(&class, |shelf| shelf.class) {
            Ok(index) => index,
            Err(index) => {
                self.shelves.insert(index, Shelf { class, free: Vec::new(), idle: 0, made: 0 });
                index
            }
        };
        &mut self.shelves[index]
    }

    /// A free chunk of this class, or a larger one that isn't too large.
    #[inline]
    fn take(&mut self, class: usize) -> Option<Arc<Cell>> {
        let fits = |shelf: &&mut Shelf| (class..=2 * class).contains(&shelf.class) && !shelf.free.is_empty();
        let shelf = self.shelves.iter_mut().find(fits)?;
        let cell = shelf.free.pop()?;
        shelf.idle = shelf.idle.min(shelf.free.len());
        self.free -= 1;
        Some(cell)
    }

    /// Number of chunks beyond those in use before the readers' holds are checked. It grows with
    /// the number that they hold, so that each check frees enough to pay for itself.
    fn spare(&self, class: usize) -> usize {
        let class = class.max(1);
        (self.lent.len() / 8).min(MOST_SPARE / class).max((SPARE / class).clamp(2, 4))
    }

    /// The chunk that [`take`](Self::take) would return.
    #[inline]
    fn next(&self, class: usize) -> Option<&Arc<Cell>> {
        let fits = |shelf: &&Shelf| (class..=2 * class).contains(&shelf.class) && !shelf.free.is_empty();
        self.shelves.iter().find(fits)?.free.last()
    }

    /// Whether enough chunks are in use for a check of the readers' holds to free some.
    fn is_to_be_asked(&self, class: usize) -> bool {
        self.made() >= self.in_use.max(self.slots) + self.spare(class)
    }

    /// Whether the readers' holds can be checked before every loan, because that takes less time
    /// than the message.
    fn is_asking_cheap(&self, class: usize) -> bool {
        let steps = self.lent.len() + self.steps;
        is_let_go_early(class, self.slots) && steps * BYTES_PER_STEP <= class
    }
}

impl Pool {
    /// Makes a pool for a ring with this number of slots.
    pub(crate) fn new(own: &Arc<OwnState>, counters: Counters, slots: usize) -> Arc<Self> {
        let state = PoolState { slots, counters: Some(counters), ..PoolState::default() };
        let pool = Arc::new(Self { own: own.clone(), state: Mutex::new(state) });
        let weak: Weak<Self> = Arc::downgrade(&pool);
        own.memory.add_pool(weak);
        pool
    }

    /// Records that the writer is gone: another entity may use its record.
    pub(crate) fn close(&self) {
        self.state.lock().counters = None;
    }

    /// Sets the number of slots that the ring has now.
    pub(crate) fn expect(&self, slots: usize) {
        self.state.lock().slots = slots;
    }

    /// Lends a chunk with room for an encoded message of `length` bytes.
    #[inline]
    pub(crate) fn loan(&self, length: usize) -> Result<Loan, CapacityError> {
        self.own.check()?;
        if length > LONGEST {
            return Err(CapacityError::Length { length, limit: LONGEST });
        }
        let class = class_of(length);
        let mut state = self.state.lock();
        let cell = match state.take(class).or_else(|| self.find(&mut state, class)) {
            Some(cell) => cell,
            None => match self.own.memory.chunk(class, &self.own.readers) {
                Ok(chunk) => self.cell(&mut state, chunk),
                Err(_) => {
                    drop(state);
                    let cell = self.scrape_together(class)?;
                    state = self.state.lock();
                    cell
                }
            },
        };
        cell.published.store(0, Ordering::Relaxed); // no other thread has it
        state.lent.push(cell.clone());
        drop(state);
        Ok(Loan(Held { cell, length }))
    }

    /// Finds a free chunk for the next message of this class, and fetches its first cache line,
    /// which a reader's core still has. Called after a publish, so that the next loan waits for
    /// neither.
    #[inline]
    pub(crate) fn prepare(&self, class: usize) {
        let mut state = self.state.lock();
        // If it is cheap, also when another chunk is free: the one that was read last is the one
        // that is still in the caches.
        let is_missing = || state.next(class).is_none() && state.is_to_be_asked(class);
        if state.is_asking_cheap(class) || is_missing() {
            self.reclaim(&mut state);
        }
        if let Some(cell) = state.next(class) {
            let base = cell.chunk.slab.mapping().base().addr().get();
            prefetch::for_writing(base.wrapping_add(cell.chunk.encoded_offset()));
        }
    }

    /// Makes a cell for a new chunk. The lists get room for it, so nothing is allocated when it
    /// comes back.
    fn cell(&self, state: &mut PoolState, chunk: OwnChunk) -> Arc<Cell> {
        let made = state.made() + 1;
        state.lent.reserve(made.saturating_sub(state.lent.len()));
        state.unused.reserve(made);
        state.leaving.reserve(made);
        state.bytes += chunk.class();
        state.count();
        self.own.request_look(); // the helper thread gives it back when it isn't needed any more
        let shelf = state.shelf(chunk.class());
        shelf.made += 1;
        shelf.free.reserve(shelf.made.saturating_sub(shelf.free.len()));
        let (published, surplus) = (PlainU64::new(0), PlainU64::new(0));
        Arc::new(Cell { chunk, owner: self.own.id, published, surplus })
    }

    /// Called if no chunk is known to be free: finds one that was lent but never published, or that
    /// no writer or reader uses any more.
    fn find(&self, state: &mut PoolState, class: usize) -> Option<Arc<Cell>> {
        // Most chunks in use stay in use for a while: until there are more, checking again frees
        // little.
        if state.is_asking_cheap(class) || state.is_to_be_asked(class) {
            return self.take_again(state, class);
        }
        let in_vain = |cell: &mut Arc<Cell>| {
            (class..=2 * class).contains(&cell.chunk.class()) && !cell.is_published() && Cell::is_unused(cell)
        };
        // A chunk that was lent but never published is among the last.
        let first = state.lent.len().saturating_sub(8);
        let index = state.lent[first..].iter_mut().position(in_vain)?;
        Some(state.lent.remove(first + index))
    }

    /// Finds a lent chunk that no writer or reader uses any more.
    fn take_again(&self, state: &mut PoolState, class: usize) -> Option<Arc<Cell>> {
        self.reclaim(state);
        state.take(class)
    }

    /// Called if there is no room for a new chunk, or no descriptor: uses memory that isn't needed
    /// elsewhere.
    #[cold]
    fn scrape_together(&self, class: usize) -> Result<Arc<Cell>, CapacityError> {
        if let Some(cell) = self.take_again(&mut self.state.lock(), class) {
            return Ok(cell);
        }
        // Called without the pool's lock, which giving chunks back takes.
        let chunk = self.own.memory.scrape_together(class, &self.own.readers)?;
        Ok(self.cell(&mut self.state.lock(), chunk))
    }

    /// W4 to W6: frees the chunks that no slot names and no reader holds.
    fn reclaim(&self, state: &mut PoolState) {
        #[cfg(all(test, not(loom)))]
        {
            state.all_steps += state.lent.len();
        }
        let PoolState { lent, held, unused, shelves, free, leaving, .. } = state;
        let steps = move_unused(lent, unused, held, &self.own.readers, |cell| {
            let shelf = shelves.iter_mut().find(|shelf| shelf.class == cell.chunk.class());
            match shelf.filter(|_| cell.surplus.load(Ordering::Relaxed) == 0) {
                Some(shelf) => {
                    shelf.free.push(cell);
                    *free += 1;
                }
                None => leaving.push(cell),
            }
        });
        state.steps = steps;
        #[cfg(all(test, not(loom)))]
        {
            state.all_steps += steps;
        }
        state.in_use = state.lent.len();
        failpoints::at(Point::ChunkReclaimed);
    }

    /// Takes the chunks that go back to the participant. Giving them back takes a while, so the
    /// caller does it without the pool's lock.
    fn dismiss(&self, state: &mut PoolState) -> Vec<Arc<Cell>> {
        let leaving = std::mem::take(&mut state.leaving);
        for cell in &leaving {
            let class = cell.chunk.class();
            state.bytes -= class;
            state.shelf(class).made -= 1;
        }
        state.shelves.retain(|shelf| shelf.made > 0);
        let made = state.made();
        state.leaving.reserve(made);
        state.count();
        leaving
    }
}

impl Lends for Pool {
    fn tidy(&self) {
        let mut state = self.state.lock();
        if state.bytes == 0 {
            return;
        }
        self.reclaim(&mut state);
        let PoolState { shelves, lent, free, leaving, .. } = &mut *state;
        for shelf in shelves.iter_mut() {
            if shelf.idle > 0 {
                // The chunks with the highest names, so that slabs become free from their end.
                // Those of them that are lent follow later.
                let lent = lent.iter().filter(|cell| cell.chunk.class() == shelf.class);
                let mut all: Vec<_> = lent.chain(&shelf.free).collect();
                all.sort_unstable_by_key(|cell| std::cmp::Reverse(cell.chunk.name));
                // Relaxed: only looked at under the lock.
                all.iter().take(shelf.idle).for_each(|cell| cell.surplus.store(1, Ordering::Relaxed));
                let before = leaving.len();
                let is_surplus = |cell: &mut Arc<Cell>| cell.surplus.load(Ordering::Relaxed) != 0;
                leaving.extend(shelf.free.extract_if(.., is_surplus));
                *free -= leaving.len() - before;
            }
            shelf.idle = shelf.free.len();
        }
        let leaving = self.dismiss(&mut state);
        drop(state);
        self.own.memory.free_chunks(leaving.iter().map(own));
    }

    fn has_chunks(&self) -> bool {
        self.state.lock().bytes > 0
    }

    #[cold]
    fn give_back_free(&self) {
        let mut state = self.state.lock();
        self.reclaim(&mut state);
        let PoolState { shelves, free, leaving, .. } = &mut *state;
        shelves.iter_mut().for_each(|shelf| leaving.append(&mut shelf.free));
        *free = 0;
        let leaving = self.dismiss(&mut state);
        drop(state);
        self.own.memory.free_chunks(leaving.iter().map(own));
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if self.own.check().is_err() {
            return;
        }
        let PoolState { shelves, leaving, lent, .. } = std::mem::take(&mut *self.state.lock());
        let free = shelves.iter().flat_map(|shelf| &shelf.free);
        self.own.memory.free_chunks(free.chain(&leaving).map(own));
        self.own.memory.retire(lent);
    }
}
