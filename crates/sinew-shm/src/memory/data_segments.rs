//! A participant's data segments: blocks for rings, and slabs of equal chunks for large messages.
//!
//! All state here is the owner's bookkeeping, under a lock of its process; other processes see only
//! the bytes. Space is reserved in the file system before it is touched, so that a full file system
//! is an error here and never a signal later. Messages leave a part of it to participants that
//! join: [`Domain::spares`].
//!
//! # Giving memory back
//!
//! Blocks and chunks are reused. When all chunks of a slab from some index on are free, they are
//! given back to the file system; the files stay:
//! - M1 the header's `reserved` decreases (Release). Every reader refuses a chunk beyond it.
//! - M2 a hole is punched beyond it.
//! - M3 before the first chunk there is lent again, its space is reserved, then declared (Release);
//!   W3 of [`ring`](crate::ring), which names it, comes after that.
//!
//! A reader touches a chunk only between H5 and H7 of [`hazards`](crate::hazards). The writer knows
//! that no reader is there (W6) before a chunk is free; so no reader touches a hole, which would
//! allocate memory, or raise a signal in a full file system.

use crate::error::{CapacityError, SystemError};
use crate::hazards::chunk_readers::Readers;
use crate::memory::cell::{Cell, move_unused, own};
use crate::platform::shm_ref::ShmRef;
use crate::platform::sync::{Arc, AtomicU64, Mutex, Ordering, PlainU64};
use crate::platform::sys;
use crate::segment::domain::Domain;
use crate::segment::header::{Header, SegmentKind};
use crate::segment::own_segment::{NewSegment, OwnSegment};
use crate::segment::slab::{OwnChunk, Slab};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Weak;
use std::time::Duration;

/// Size of an arena in bytes, unless a block needs more.
const ARENA: usize = 4 << 20;

/// Bytes from which a block is treated like a message: it leaves room for participants that join.
const DEEP: usize = 64 << 10;

/// Bytes reserved at a time.
const STEP: usize = 16 << 10;

/// Approximate size in bytes of a class's first slab. A slab is given back from its end only, so a
/// slab of large chunks has few.
const SLAB: usize = 1 << 20;

/// Greatest number of chunks in a slab.
const CHUNKS: usize = 64;

/// Bytes from which chunks are given back to the file system when they aren't needed; smaller ones
/// are kept for later use, unless there is no room.
const WORTH_GIVING_BACK: usize = 64 << 10;

/// Nanoseconds after which chunks that weren't needed are given back.
const WHILE: i64 = 10_000_000_000;

/// A lender of a participant's chunks.
pub(crate) trait Lends: Send + Sync {
    /// Gives back the chunks that weren't needed since the last call. Called by the helper thread.
    fn tidy(&self);

    /// Whether it has chunks, which may have to be given back.
    fn has_chunks(&self) -> bool;

    /// Gives back all chunks that aren't in use, because there is no room for others.
    fn give_back_free(&self);
}

/// A participant's data segments.
pub(crate) struct Memory {
    domain: Domain,
    owner: u64,
    state: Mutex<MemoryState>,
    /// The pools that lend its chunks. They give back what they don't need when there is no room.
    /// Never locked while a pool's lock or `state` is held.
    pools: Mutex<Vec<Weak<dyn Lends>>>,
    /// When unneeded chunks were last given back, in steady nanoseconds.
    tidied: PlainU64,
}

struct MemoryState {
    /// The next segment's number; starts at random.
    next: u64,
    arenas: Vec<Arena>,
    free_blocks: HashMap<usize, Vec<Block>>,
    /// The slabs by segment number.
    slabs: HashMap<u64, Stock>,
    /// The classes by chunk size.
    classes: BTreeMap<usize, Class>,
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
    /// The numbers of the class's slabs, oldest first.
    slabs: Vec<u64>,
    /// Chunks of writers that are gone, which messages of this process, or readers, may still use.
    retired: Vec<Arc<Cell>>,
}

/// A slab, and its chunks that are not handed out.
struct Stock {
    slab: Arc<Slab>,
    /// Number of chunks, from the first on, that may be accessed.
    reserved: usize,
    /// The chunks among those that are not handed out. The first is handed out first, so that the
    /// last ones become free together.
    free: BTreeSet<usize>,
}

/// A zeroed piece of an arena.
#[derive(Debug)]
pub(crate) struct Block {
    /// Segment << 32, offset / 64.
    pub(crate) location: u64,
    pub(crate) words: ShmRef<[AtomicU64]>,
}

impl Memory {
    pub(crate) fn new(domain: Domain, owner: u64) -> Self {
        let state = MemoryState {
            // 31 bits, so that later numbers stay within 32.
            next: sys::random() & 0x7fff_ffff,
            arenas: Vec::new(),
            free_blocks: HashMap::new(),
            slabs: HashMap::new(),
            classes: BTreeMap::new(),
        };
        Self { domain, owner, state: Mutex::new(state), pools: Mutex::default(), tidied: PlainU64::new(0) }
    }

    /// Adds a pool that lends chunks of this memory.
    pub(crate) fn add_pool(&self, pool: Weak<dyn Lends>) {
        let mut pools = self.pools.lock();
        pools.retain(|pool| pool.strong_count() > 0);
        pools.push(pool);
    }

    /// Allocates a zeroed block of at least `bytes` bytes.
    pub(crate) fn block(&self, bytes: usize) -> Result<Block, CapacityError> {
        let bytes = block_size(bytes);
        let mut state = self.state.lock();
        if let Some(block) = state.free_blocks.get_mut(&bytes).and_then(Vec::pop) {
            drop(state);
            // No reader reads it any more.
            block.words.iter().for_each(|word| word.store(0, Ordering::Relaxed));
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

    /// Takes back a block that no other process reads any more.
    pub(crate) fn free_block(&self, block: Block) {
        let bytes = block.words.len() * 8;
        self.state.lock().free_blocks.entry(bytes).or_default().push(block);
    }

    fn add_arena(&self, state: &mut MemoryState, bytes: usize) -> Result<Arena, CapacityError> {
        let number = state.next;
        state.next += 1;
        let length = ARENA.max((size_of::<Header>() + bytes).next_multiple_of(4096));
        let reserved = 4096;
        let new = NewSegment {
            kind: SegmentKind::Data,
            owner: self.owner,
            number,
            length,
            reserved,
            locked: false,
        };
        let segment = OwnSegment::create(&self.domain, &new)?.publish()?;
        Ok(Arena { segment, number, used: size_of::<Header>(), reserved })
    }

    /// A chunk of this class, new or reused.
    pub(crate) fn chunk(&self, class: usize, readers: &Readers) -> Result<OwnChunk, CapacityError> {
        let mut state = self.state.lock();
        let state = &mut *state;
        let mut entry = state.classes.entry(class).or_default();
        if let Some(chunk) = entry.pop_free(&mut state.slabs) {
            return Ok(chunk);
        }
        if !entry.retired.is_empty() {
            state.reclaim_retired(class, readers);
            entry = state.classes.entry(class).or_default();
            if let Some(chunk) = entry.pop_free(&mut state.slabs) {
                return Ok(chunk);
            }
        }
        if let Some(chunk) = entry.extend(&mut state.slabs, &self.domain) {
            return chunk;
        }
        // Thus even deep histories of large messages take few files.
        let made = entry.slabs.iter().filter_map(|number| state.slabs.get(number));
        let made: usize = made.map(|stock| stock.slab.count).sum();
        let count = (SLAB / class).max(made).clamp(1, CHUNKS);
        let number = state.next;
        state.next += 1;
        let slab = Arc::new(Slab::create(&self.domain, self.owner, number, class, count)?);
        let mut stock = Stock { slab, reserved: 0, free: BTreeSet::new() };
        let chunk = stock.extend(&self.domain).inspect_err(|_| {
            stock.slab.segment.remove(); // no other participant knows of it yet
        })?;
        entry.slabs.push(number);
        state.slabs.insert(number, stock);
        Ok(chunk)
    }

    /// If there is no room for a chunk of this class, or no descriptor for its file: gives unneeded
    /// memory back to the file system, then tries again, and otherwise takes a larger chunk.
    #[cold]
    pub(crate) fn scrape_together(&self, class: usize, readers: &Readers) -> Result<OwnChunk, CapacityError> {
        self.give_back_all(readers);
        self.chunk(class, readers).or_else(|error| self.larger_chunk(class).ok_or(error))
    }

    /// A chunk of at least this class, the smallest that is available without another file.
    fn larger_chunk(&self, class: usize) -> Option<OwnChunk> {
        let mut state = self.state.lock();
        let MemoryState { classes, slabs, .. } = &mut *state;
        classes
            .range_mut(class..)
            .find_map(|(_, entry)| entry.pop_free(slabs).or_else(|| entry.extend(slabs, &self.domain)?.ok()))
    }

    /// Whether a chunk of this class would be available after
    /// [`scrape_together`](Self::scrape_together) has failed, if these chunks were free; their
    /// names are sorted. `room` is the number of bytes that the file system has left for it, or
    /// `None` if no more files can be made at all.
    #[cold]
    pub(crate) fn would_do(&self, class: usize, freed: &[u64], room: Option<i64>) -> bool {
        let state = self.state.lock();
        let mut bytes = 0;
        for stock in state.slabs.values() {
            let is_freed = |index: &usize| freed.binary_search(&stock.name(*index)).is_ok();
            if stock.slab.chunk >= class && (0..stock.reserved).any(|index| is_freed(&index)) {
                return true;
            }
            let goes = |index: &usize| stock.free.contains(index) || is_freed(index);
            let last = (0..stock.reserved).rev().take_while(goes).count();
            bytes += stock.slab.end_of(stock.reserved) - stock.slab.end_of(stock.reserved - last);
        }
        room.is_some_and(|room| room.saturating_add(bytes as i64) >= class as i64)
    }

    /// Takes back chunks that no slot names and no reader reads any more.
    pub(crate) fn free_chunks(&self, chunks: impl IntoIterator<Item = OwnChunk>) {
        let mut state = self.state.lock();
        let mut failed = None;
        for chunk in chunks {
            let Some(stock) = state.slabs.get_mut(&(chunk.name >> 32)) else { continue };
            stock.free.insert(chunk.index());
            if stock.slab.chunk >= WORTH_GIVING_BACK {
                failed = stock.give_back().err().or(failed);
            }
        }
        drop(state);
        log_failure(failed);
    }

    /// From time to time, gives memory that no writer has needed back to the file system. Called by
    /// the helper thread. Returns the time after which it wants to be called again; `None`: not
    /// before a pool gets a chunk.
    pub(crate) fn tidy_now_and_then(&self, readers: &Readers) -> Option<Duration> {
        let now = sys::steady();
        // Relaxed: usually one thread comes here at a time, and a second one does no harm.
        if now - self.tidied.load(Ordering::Relaxed).cast_signed() > WHILE {
            self.tidied.store(now.cast_unsigned(), Ordering::Relaxed);
            self.tidy(readers);
        }
        let pools: Vec<_> = self.pools.lock().iter().filter_map(Weak::upgrade).collect();
        let next = self.tidied.load(Ordering::Relaxed).cast_signed() + WHILE + 1;
        let left = Duration::from_nanos(u64::try_from(next - now).unwrap_or(0));
        let has_chunks = pools.iter().any(|pool| pool.has_chunks()) || self.state.lock().has_retired();
        has_chunks.then_some(left)
    }

    /// Gives memory that no writer has needed since the last call back to the file system, and that
    /// of writers that are gone.
    pub(crate) fn tidy(&self, readers: &Readers) {
        let pools: Vec<_> = self.pools.lock().iter().filter_map(Weak::upgrade).collect();
        pools.iter().for_each(|pool| pool.tidy());
        if self.state.lock().has_retired() {
            self.give_back(readers, WORTH_GIVING_BACK);
        }
    }

    /// Gives all unneeded memory back to the file system because there is no room, including that
    /// of other writers of this participant.
    fn give_back_all(&self, readers: &Readers) {
        let pools: Vec<_> = self.pools.lock().iter().filter_map(Weak::upgrade).collect();
        pools.iter().for_each(|pool| pool.give_back_free());
        self.give_back(readers, 0);
    }

    /// Takes back the chunks of writers that are gone and whose messages are read, and gives the
    /// unused memory of all slabs with chunks of this size or larger back to the file system.
    fn give_back(&self, readers: &Readers, chunk: usize) {
        let mut state = self.state.lock();
        state.reclaim_all_retired(readers);
        let slabs = state.slabs.values_mut().filter(|stock| stock.slab.chunk >= chunk);
        let failed = slabs.filter_map(|stock| stock.give_back().err()).last();
        drop(state);
        log_failure(failed);
    }

    /// Takes over the chunks of a writer that is gone: messages may still be in them.
    pub(crate) fn retire(&self, cells: Vec<Arc<Cell>>) {
        let mut state = self.state.lock();
        for cell in cells {
            state.classes.entry(own(&cell).class()).or_default().retired.push(cell);
        }
    }

    /// Removes the names of all segments made so far.
    pub(crate) fn remove_names(&self) {
        let state = self.state.lock();
        state.arenas.iter().for_each(|arena| arena.segment.remove());
        state.slabs.values().for_each(|stock| stock.slab.segment.remove());
    }
}

impl MemoryState {
    /// Whether there are chunks of writers that are gone, with messages that may still be read.
    fn has_retired(&self) -> bool {
        self.classes.values().any(|entry| !entry.retired.is_empty())
    }

    fn reclaim_all_retired(&mut self, readers: &Readers) {
        let classes: Vec<usize> = self.classes.keys().copied().collect();
        classes.into_iter().for_each(|class| self.reclaim_retired(class, readers));
    }

    /// W4 to W6: frees the unused chunks of writers that are gone.
    fn reclaim_retired(&mut self, class: usize, readers: &Readers) {
        let Some(entry) = self.classes.get_mut(&class) else { return };
        let slabs = &mut self.slabs;
        move_unused(&mut entry.retired, &mut Vec::new(), &mut Vec::new(), readers, |cell| {
            let chunk = own(&cell);
            if let Some(stock) = slabs.get_mut(&(chunk.name >> 32)) {
                stock.free.insert(chunk.index());
            }
        });
    }
}

impl Class {
    fn pop_free(&self, slabs: &mut HashMap<u64, Stock>) -> Option<OwnChunk> {
        self.slabs.iter().find_map(|number| {
            let stock = slabs.get_mut(number)?;
            let index = stock.free.pop_first()?;
            Some(stock.chunk(index))
        })
    }

    /// One more chunk of the oldest slab that isn't full; `None` if there is none.
    fn extend(
        &self,
        slabs: &mut HashMap<u64, Stock>,
        domain: &Domain,
    ) -> Option<Result<OwnChunk, CapacityError>> {
        self.slabs.iter().find_map(|number| {
            let stock = slabs.get_mut(number)?;
            (stock.reserved < stock.slab.count).then(|| stock.extend(domain))
        })
    }
}

impl Stock {
    fn name(&self, index: usize) -> u64 {
        self.slab.number << 32 | index as u64
    }

    fn chunk(&self, index: usize) -> OwnChunk {
        OwnChunk { name: self.name(index), slab: self.slab.clone() }
    }

    /// M3: one more chunk may be accessed.
    fn extend(&mut self, domain: &Domain) -> Result<OwnChunk, CapacityError> {
        domain.spares(self.slab.chunk)?;
        self.slab.reserve(domain, self.reserved)?;
        self.reserved += 1;
        Ok(self.chunk(self.reserved - 1))
    }

    /// Gives the free chunks at the slab's end back to the file system.
    fn give_back(&mut self) -> Result<(), SystemError> {
        let before = self.reserved;
        while self.reserved > 0 && self.free.remove(&(self.reserved - 1)) {
            self.reserved -= 1;
        }
        if self.reserved < before { self.slab.give_back(self.reserved, before) } else { Ok(()) }
    }
}

/// Logs that space stays allocated. Called without `state` locked, because the program's logger may
/// publish.
fn log_failure(failed: Option<SystemError>) {
    if let Some(error) = failed {
        crate::log_line!(log::Level::Debug, "memory that nothing needs can't be given back: {error}");
    }
}

/// Rounds the size of a block up to one of few sizes, so that blocks are reused: at most an eighth
/// more than needed.
fn block_size(bytes: usize) -> usize {
    let step = (bytes.next_power_of_two() / 8).max(64);
    bytes.next_multiple_of(step)
}

impl Arena {
    fn allocate(&mut self, domain: &Domain, bytes: usize) -> Result<Block, CapacityError> {
        let offset = self.used;
        let end = offset + bytes;
        if end > self.reserved {
            if bytes >= DEEP {
                domain.spares(bytes)?;
            }
            let length = self.segment.mapping.length();
            let reserved =
                end.max(self.reserved + STEP.min(self.reserved)).next_multiple_of(4096).min(length);
            self.segment.reserve(domain, self.reserved, reserved - self.reserved)?;
            self.reserved = reserved;
            self.segment.declare(reserved);
        }
        let words = ShmRef::<[AtomicU64]>::slice(&self.segment.mapping, offset, bytes / 8);
        let words = words.ok_or(CapacityError::Table { table: "bytes in an arena", limit: end })?;
        self.used = end;
        Ok(Block { location: self.number << 32 | (offset / 64) as u64, words })
    }
}
