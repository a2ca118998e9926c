//! Pools: the blocks of one publisher, lent and taken back. The protocol is that of
//! [`block`](super).

use super::{Control, RawMessage, Storage, Vacant};
use crate::message::backing::LendsMemory;
use crate::message::type_support::TypeSupport;
use crate::sys::sync::{Arc, AtomicPtr, Mutex, Ordering};
use sinew_msg::Message;
use std::mem::{self, ManuallyDrop};
use std::ops::Deref;
use std::ptr::{self, NonNull};
use std::sync::Weak;

/// Blocks for the messages of one publisher, lent and taken back.
///
/// At most `capacity` blocks belong to a pool; a message beyond them is an allocation of its own.
/// Closed with its publisher ([`OwnPool`]), a pool lives on while it has lent blocks, and frees each
/// when it comes back.
#[repr(C)]
pub(crate) struct Pool {
    /// The blocks that came back last: one without a value, and one with a kept value.
    hot: [Hot; 2],
    blocks: Mutex<FreeBlocks>,
    pub(super) table: &'static TypeSupport,
    pub(super) place: Storage,
    capacity: usize,
    /// For encoded messages: the publisher that had to copy one because it lay in ordinary memory.
    pub(super) wanted_by: Mutex<Option<Weak<dyn LendsMemory>>>,
}

#[derive(Default)]
struct FreeBlocks {
    /// Blocks without a value. In both lists the block that came back last is lent first: it is
    /// still in the cache.
    vacant: List,
    /// Blocks with a kept value, for `loan`.
    filled: List,
    /// Number of blocks that belong to the pool, here or lent; at most `capacity`.
    made: usize,
    is_closed: bool,
}

/// A place for one block (B5). The block keeps its reference to the pool there, so that neither
/// lending it nor its return counts.
struct Hot(AtomicPtr<Control>);

/// In the place of a closed pool (B6). No block is at this address, which isn't aligned.
const CLOSED: *mut Control = ptr::without_provenance_mut(1);

impl Hot {
    fn empty() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// Takes the block, unless there is none, or another thread changes the place at this moment.
    #[inline]
    fn take(&self) -> Option<Block> {
        // It looks first, so that the cache line stays with other cores while there is nothing.
        let found = self.0.load(Ordering::Relaxed); // the exchange decides
        if found == CLOSED {
            return None;
        }
        let block = NonNull::new(found)?;
        // B5
        let exchange = self.0.compare_exchange(found, ptr::null_mut(), Ordering::Acquire, Ordering::Relaxed);
        exchange.is_ok().then(|| Block(block)) // only then: a block that is dropped is freed
    }

    /// Takes the block, and from now on refuses others.
    fn close(&self) -> Option<Block> {
        let found = self.0.swap(CLOSED, Ordering::Acquire); // B6
        if found == CLOSED { None } else { NonNull::new(found).map(Block) }
    }

    /// Stores the block; returns it if there is one already.
    #[inline]
    fn put(&self, block: Block) -> Result<(), Block> {
        // Relaxed: the exchange decides; a refused block goes to the list.
        if !self.0.load(Ordering::Relaxed).is_null() {
            return Err(block);
        }
        let block = ManuallyDrop::new(block);
        let (new, old) = (block.0.as_ptr(), ptr::null_mut());
        match self.0.compare_exchange(old, new, Ordering::Release, Ordering::Relaxed) {
            Ok(_) => Ok(()), // B5
            Err(_) => Err(ManuallyDrop::into_inner(block)),
        }
    }
}

/// Blocks linked through themselves, so that keeping them allocates nothing.
#[derive(Default)]
pub(super) struct List(Option<Block>);

impl List {
    pub(super) const EMPTY: Self = Self(None);

    #[inline]
    pub(super) fn push(&mut self, mut block: Block) {
        block.control().next = self.0.take();
        self.0 = Some(block);
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<Block> {
        let mut block = self.0.take()?;
        self.0 = block.control().next.take();
        Some(block)
    }

    /// Frees all blocks with their values; returns how many there were. Must not be called under a
    /// lock.
    fn free(mut self) -> usize {
        std::iter::from_fn(|| self.pop()).map(drop).count()
    }
}

impl Drop for List {
    fn drop(&mut self) {
        // One by one: dropping the links would recurse, and a pool may be large.
        while let Some(block) = self.pop() {
            drop(block);
        }
    }
}

/// A block without a reference, in its pool; dropping it frees it with its value.
pub(super) struct Block(pub(super) NonNull<Control>);

// SAFETY: the pool is the sole owner of a block in it, and the block's value is `Send`.
unsafe impl Send for Block {}

impl Block {
    #[inline]
    fn control(&mut self) -> &mut Control {
        // SAFETY: a block in its pool belongs to the pool alone, and `Block` is never cloned.
        unsafe { self.0.as_mut() }
    }

    /// Frees a block that names a pool which outlives this call.
    fn free(mut self) {
        self.control().pool = None;
    }

    #[inline]
    pub(super) fn lend(self, pool: &Arc<Pool>) -> RawMessage {
        let mut block = ManuallyDrop::new(self);
        block.control().pool.get_or_insert_with(|| pool.clone());
        RawMessage(block.0)
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        drop(RawMessage(self.0)); // it names no pool: the value is dropped and the block freed
    }
}

/// A pool, for its owner: dropping this closes it.
pub(crate) struct OwnPool(Arc<Pool>);

impl Deref for OwnPool {
    type Target = Arc<Pool>;

    #[inline]
    fn deref(&self) -> &Arc<Pool> {
        &self.0
    }
}

impl Drop for OwnPool {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl Pool {
    /// Creates a pool of blocks with room for values of a type.
    pub(crate) fn of_table(table: &'static TypeSupport, capacity: usize) -> OwnPool {
        Self::of(table, Storage::Inline, capacity)
    }

    /// Creates a pool of control blocks for values that lie in shared memory.
    pub(crate) fn for_foreign(table: &'static TypeSupport, capacity: usize) -> OwnPool {
        debug_assert!(table.is_plain());
        Self::of(table, Storage::Foreign, capacity)
    }

    /// Creates a pool of control blocks for messages in encoded form.
    pub(crate) fn for_encoded(table: &'static TypeSupport, capacity: usize) -> OwnPool {
        Self::of(table, Storage::Encoded, capacity)
    }

    fn of(table: &'static TypeSupport, place: Storage, capacity: usize) -> OwnPool {
        let hot = [Hot::empty(), Hot::empty()];
        let blocks = Mutex::new(FreeBlocks::default());
        let wanted_by = Mutex::new(None);
        OwnPool(Arc::new(Self { hot, blocks, table, place, capacity, wanted_by }))
    }

    /// Lends a message with the content that an earlier one left, or `T::default()` in a new block.
    /// Its content stays in the block for the next loan.
    pub(crate) fn loan<T: Message + Default>(self: &Arc<Self>) -> RawMessage {
        if let Some(block) = self.kept() {
            return block.lend(self);
        }
        self.lend_new::<T>()
    }

    /// Lends a message in a new block. A separate function: a large value is made on the stack
    /// first, and the caller's frame needs no room for it.
    #[cold]
    #[inline(never)]
    fn lend_new<T: Message + Default>(self: &Arc<Self>) -> RawMessage {
        let vacant = self.vacant();
        let value = T::default(); // if it panics, `vacant` goes home
        debug_assert!(self.table.holds::<T>());
        // SAFETY: `loan` is called with the type the pool was made for (checked above), and the
        // place is vacant.
        unsafe { vacant.0.value().cast::<T>().write(value) };
        vacant.done(true)
    }

    /// Lends a message with the content that an earlier one left, or the first value of its type in
    /// a new block ([`TypeSupport::create`]; zeros for a plain type). Its content stays in the
    /// block for the next loan. `None`: the type has no first value.
    pub(crate) fn loan_erased(self: &Arc<Self>) -> Option<RawMessage> {
        let TypeSupport { create, context, layout, .. } = self.table;
        if create.is_none() && !self.table.is_plain() {
            return None;
        }
        if let Some(block) = self.kept() {
            return Some(block.lend(self));
        }
        let vacant = self.vacant(); // if `create` panics, it goes home
        let place = vacant.place().as_ptr();
        match create {
            // SAFETY: a vacant block of the pool's type, owned here.
            Some(create) => unsafe { create(context.0, place) },
            // SAFETY: the same; any bytes are a value of a plain type.
            None => unsafe { place.write_bytes(0, layout.size()) },
        }
        Some(vacant.done(true))
    }

    /// Creates a message from `value`.
    #[inline]
    pub(crate) fn put<T: Message>(self: &Arc<Self>, value: T) -> RawMessage {
        self.vacant().fill(value)
    }

    /// Takes a block with a kept value.
    #[inline]
    pub(super) fn kept(&self) -> Option<Block> {
        let [_, hot] = &self.hot;
        hot.take().or_else(|| self.blocks.lock().filled.pop())
    }

    /// Takes a block without a value, or makes one.
    #[inline]
    pub(crate) fn vacant(self: &Arc<Self>) -> Vacant {
        let [hot, _] = &self.hot;
        match hot.take().or_else(|| self.blocks.lock().vacant.pop()) {
            Some(block) => Vacant(ManuallyDrop::new(block.lend(self))),
            None => self.make_vacant(),
        }
    }

    /// Makes a new block. At the capacity, a block with a kept value gives that up, or the new
    /// block will belong to no pool.
    #[cold]
    fn make_vacant(self: &Arc<Self>) -> Vacant {
        let mut ours = true;
        let mut kept = None;
        {
            let mut blocks = self.blocks.lock();
            if blocks.made < self.capacity {
                blocks.made += 1;
            } else {
                kept = self.hot[1].take().or_else(|| blocks.filled.pop());
                ours = kept.is_some();
            }
        }
        if let Some(block) = kept {
            let mut lent = block.lend(self);
            lent.control_mut().empty();
            return Vacant(ManuallyDrop::new(lent));
        }
        let mut lent = RawMessage(Control::allocate(self.table, self.place));
        if ours {
            lent.control_mut().pool = Some(self.clone());
        }
        Vacant(ManuallyDrop::new(lent))
    }

    /// Takes a block home to its pool from its last reference, or frees it if it belongs to none.
    #[inline]
    pub(super) fn take_back(mut block: Block) {
        let control = block.control();
        let filled = control.filled;
        let Some(pool) = control.pool.as_ref().map(Arc::as_ptr) else { return RawMessage::free(block) };
        // SAFETY: the block keeps its pool, and is ours until the exchange has put it into the
        // place. After that the pool may be gone, and isn't touched any more.
        let hot = unsafe { &(&*pool).hot[usize::from(filled)] };
        if let Err(refused) = hot.put(block) {
            Self::put_away(refused, filled);
        }
    }

    /// Puts a block into its pool's list, or frees it if the pool is closed.
    fn put_away(mut block: Block, filled: bool) {
        let Some(pool) = block.control().pool.take() else { return }; // `take_back` has seen it
        let mut blocks = pool.blocks.lock();
        if blocks.is_closed {
            blocks.made -= 1;
            drop(blocks);
            drop(block); // with its kept value: runs code of the program, so outside the lock
        } else if filled {
            blocks.filled.push(block); // B4
        } else {
            blocks.vacant.push(block); // B4
        }
    }

    /// Closes the pool, because the publisher is gone: frees the blocks here, and those that come
    /// back from now on.
    pub(crate) fn close(&self) {
        let (filled, vacant) = {
            let mut blocks = self.blocks.lock();
            blocks.is_closed = true; // B6: before the places are closed
            (mem::take(&mut blocks.filled), mem::take(&mut blocks.vacant))
        };
        let hot = self.hot.iter().filter_map(Hot::close).map(Block::free).count();
        let freed = hot + filled.free() + vacant.free();
        self.blocks.lock().made -= freed;
    }

    /// Calls `look` with the addresses of the blocks that would be lent next; they stay there
    /// meanwhile.
    pub(crate) fn with_next(&self, mut look: impl FnMut(usize)) {
        for block in self.hot.iter().filter_map(Hot::take) {
            look(block.0.addr().get());
            Self::take_back(block);
        }
        let blocks = self.blocks.lock();
        for List(first) in [&blocks.vacant, &blocks.filled] {
            if let Some(block) = first {
                look(block.0.addr().get());
            }
        }
    }

    /// Returns the lender that [wants](RawMessage::is_wanted_by) these messages in its memory.
    pub(crate) fn wanted_by(&self) -> Option<Arc<dyn LendsMemory>> {
        let lends = self.wanted_by.lock().clone()?;
        lends.upgrade()
    }

    /// Returns the number of blocks that belong to the pool, here or lent.
    pub(crate) fn made(&self) -> usize {
        self.blocks.lock().made
    }
}
