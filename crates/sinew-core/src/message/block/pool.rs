//! Pools: the blocks of one publisher, lent and taken back. The protocol is that of
//! [`block`](super).

use super::{Control, RawMessage, Storage, Vacant};
use crate::message::backing::LendsMemory;
use crate::message::type_support::TypeSupport;
use crate::sys::sync::{Arc, AtomicBool, AtomicPtr, Mutex, Ordering};
use sinew_msg::Message;
use std::mem::{self, ManuallyDrop};
use std::ptr::{self, NonNull};
use std::sync::Weak;

/// Blocks for the messages of one publisher, lent and taken back.
///
/// At most `capacity` blocks belong to a pool; a message beyond them is an allocation of its own.
/// Dropped with its publisher, a pool lives on while it has lent blocks, and frees each when it
/// comes back.
#[repr(C)]
pub(crate) struct Pool {
    /// The blocks that came back last: one without a value, and one with a kept value.
    hot: [Hot; 2],
    closed: AtomicBool,
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
}

/// A place for one block (B5).
struct Hot(AtomicPtr<Control>);

impl Hot {
    fn empty() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    #[inline]
    fn take(&self) -> Option<Block> {
        NonNull::new(self.0.swap(ptr::null_mut(), Ordering::SeqCst)).map(Block) // B5, B6
    }

    /// The same for a thread that lends: it looks first, so that the cache line stays with other
    /// cores while there is nothing, and may overlook a block that arrives at that moment.
    #[inline]
    fn take_to_lend(&self) -> Option<Block> {
        // Relaxed: the exchange decides.
        if self.0.load(Ordering::Relaxed).is_null() { None } else { self.take() }
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
        match self.0.compare_exchange(old, new, Ordering::SeqCst, Ordering::Relaxed) {
            Ok(_) => Ok(()), // B5, B6
            Err(_) => Err(ManuallyDrop::into_inner(block)),
        }
    }
}

impl Drop for Hot {
    fn drop(&mut self) {
        drop(self.take()); // with its pool
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

    #[inline]
    pub(super) fn lend(self, pool: &Arc<Pool>) -> RawMessage {
        let mut block = ManuallyDrop::new(self);
        block.control().pool = Some(pool.clone());
        RawMessage(block.0)
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        drop(RawMessage(self.0)); // it names no pool: the value is dropped and the block freed
    }
}

impl Pool {
    /// Creates a pool of blocks with room for values of a type.
    pub(crate) fn of_table(table: &'static TypeSupport, capacity: usize) -> Arc<Self> {
        Self::of(table, Storage::Inline, capacity)
    }

    /// Creates a pool of control blocks for values that lie in shared memory.
    pub(crate) fn for_foreign(table: &'static TypeSupport, capacity: usize) -> Arc<Self> {
        debug_assert!(table.is_plain());
        Self::of(table, Storage::Foreign, capacity)
    }

    /// Creates a pool of control blocks for messages in encoded form.
    pub(crate) fn for_encoded(table: &'static TypeSupport, capacity: usize) -> Arc<Self> {
        Self::of(table, Storage::Encoded, capacity)
    }

    fn of(table: &'static TypeSupport, place: Storage, capacity: usize) -> Arc<Self> {
        let hot = [Hot::empty(), Hot::empty()];
        let blocks = Mutex::new(FreeBlocks::default());
        let (closed, wanted_by) = (AtomicBool::new(false), Mutex::new(None));
        Arc::new(Self { hot, closed, blocks, table, place, capacity, wanted_by })
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
        hot.take_to_lend().or_else(|| self.blocks.lock().filled.pop())
    }

    /// Takes a block without a value, or makes one.
    #[inline]
    pub(crate) fn vacant(self: &Arc<Self>) -> Vacant {
        let [hot, _] = &self.hot;
        match hot.take_to_lend().or_else(|| self.blocks.lock().vacant.pop()) {
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

    /// Takes a block home from its last reference.
    #[inline]
    pub(super) fn take_back(self: Arc<Self>, block: NonNull<Control>) {
        self.come_home(Block(block));
    }

    #[inline]
    pub(super) fn come_home(&self, mut block: Block) {
        let filled = block.control().filled;
        let hot = &self.hot[usize::from(filled)];
        match hot.put(block) {
            Ok(()) => {
                // B6: SeqCst. Either `close` finds the block, or this thread sees that the pool is
                // closed.
                if !self.closed.load(Ordering::SeqCst) {
                    return;
                }
                let Some(found) = hot.take() else { return };
                block = found;
            }
            Err(refused) => block = refused,
        }
        let mut blocks = self.blocks.lock();
        // Relaxed: set under this lock.
        if self.closed.load(Ordering::Relaxed) {
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
            self.closed.store(true, Ordering::SeqCst); // B6
            (mem::take(&mut blocks.filled), mem::take(&mut blocks.vacant))
        };
        let hot = self.hot.iter().filter_map(Hot::take).map(drop).count();
        let freed = hot + filled.free() + vacant.free();
        self.blocks.lock().made -= freed;
    }

    /// Calls `look` with the addresses of the blocks that would be lent next; they stay there
    /// meanwhile.
    pub(crate) fn with_next(&self, look: impl Fn(usize)) {
        for block in self.hot.iter().filter_map(Hot::take) {
            look(block.0.addr().get());
            self.come_home(block);
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
