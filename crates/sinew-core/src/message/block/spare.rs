//! Control blocks of adopted values, between two values.
//!
//! Such a block has no room for a value, so any of them serves a value of any type. Each thread
//! keeps the few that it released last: a thread that takes a value out of its message and publishes
//! it again, as a relay does, gets the same block back, and it still lies in the nearest cache. What a
//! thread has too many of, or lacks, it gives to a depot of the process or gets from there, several
//! at a time: so a flow from one thread to another allocates nothing either, and rarely takes the
//! depot's lock. (J. Bonwick, J. Adams: "Magazines and Vmem", USENIX 2001.)

use super::Control;
use super::pool::{Block, List};
use crate::sys::sync::TableLock;
use std::cell::Cell;
use std::mem::ManuallyDrop;

/// Number of blocks that a thread gives to the depot, or gets from there, at once.
const BATCH: usize = 8;

/// Maximum number of blocks that a thread keeps. None in a model, the blocks of which end with it.
const KEPT: usize = if cfg!(loom) { 0 } else { 2 * BATCH };

/// Maximum number of blocks in the depot: 64 KB of them.
const STORED: usize = 1024;

static DEPOT: TableLock<Spares> = TableLock::new(Spares::NONE);

thread_local! {
    static MAGAZINE: Magazine = const { Magazine(Cell::new(Spares::NONE)) };
}

/// Spare blocks; the one that came last is taken first.
struct Spares {
    blocks: List,
    length: usize,
}

impl Spares {
    const NONE: Self = Self { blocks: List::EMPTY, length: 0 };

    #[inline]
    fn push(&mut self, block: Block) {
        self.blocks.push(block);
        self.length += 1;
    }

    #[inline]
    fn pop(&mut self) -> Option<Block> {
        let block = self.blocks.pop()?;
        self.length -= 1;
        Some(block)
    }

    /// Moves up to `most` blocks to `other`.
    fn give(&mut self, most: usize, other: &mut Self) {
        for block in std::iter::from_fn(|| self.pop()).take(most) {
            other.push(block);
        }
    }
}

/// A thread's spare blocks.
struct Magazine(Cell<Spares>);

impl Magazine {
    #[inline]
    fn with<R>(&self, work: impl FnOnce(&mut Spares) -> R) -> R {
        let mut spares = self.0.replace(Spares::NONE);
        let result = work(&mut spares);
        self.0.set(spares);
        result
    }
}

impl Drop for Magazine {
    fn drop(&mut self) {
        self.with(|spares| store(spares, spares.length));
    }
}

/// Returns a block for an adopted value, if there is a spare one.
#[inline]
pub(super) fn take() -> Option<Block> {
    let take = |spares: &mut Spares| spares.pop().or_else(|| fetch(spares));
    MAGAZINE.try_with(|magazine| magazine.with(take)).ok()?
}

/// Keeps a vacant block of an adopted value for the next one, or frees it if there are enough.
#[inline]
pub(super) fn put(block: Block) {
    let mut block = Some(block);
    let put = |spares: &mut Spares| {
        if spares.length >= KEPT {
            store(spares, BATCH);
        }
        if spares.length < KEPT {
            block.take().into_iter().for_each(|block| spares.push(block));
        }
    };
    // At the thread's end there is no place for it any more.
    let _ = MAGAZINE.try_with(|magazine| magazine.with(put));
    if let Some(block) = block {
        free(block);
    }
}

/// Gets blocks from the depot, and returns one of them.
#[cold]
fn fetch(spares: &mut Spares) -> Option<Block> {
    DEPOT.lock().give(BATCH, spares);
    spares.pop()
}

/// Gives blocks to the depot, and frees those for which it has no room.
#[cold]
fn store(spares: &mut Spares, count: usize) {
    let mut rest = Spares::NONE;
    {
        let mut depot = DEPOT.lock();
        let room = STORED.saturating_sub(depot.length).min(count);
        spares.give(room, &mut depot);
        spares.give(count - room, &mut rest);
    }
    while let Some(block) = rest.pop() {
        free(block);
    }
}

#[cold]
fn free(block: Block) {
    let block = ManuallyDrop::new(block); // dropped, it would come back here
    // SAFETY: a vacant block that belongs to its holder alone, who gives it up.
    unsafe { Control::free(block.0) };
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::Storage;
    use super::*;
    use crate::message::type_support::TypeSupport;
    use std::collections::HashSet;

    struct Number;
    impl sinew_msg::Message for Number {}

    fn block() -> Block {
        let table = TypeSupport::of::<Number>();
        take().unwrap_or_else(|| Block(Control::allocate(table, Storage::Boxed)))
    }

    #[test]
    fn the_block_that_came_last_goes_first() {
        let (one, two) = (block(), block());
        let addresses = [two.0, one.0];
        put(one);
        put(two);
        let again = [block(), block()];
        assert_eq!(again.each_ref().map(|block| block.0), addresses);
        again.into_iter().for_each(put);
    }

    #[test]
    fn a_thread_keeps_few_and_the_depot_not_all() {
        let many: Vec<Block> = (0..STORED + 10 * KEPT).map(|_| block()).collect();
        let addresses: HashSet<_> = many.iter().map(|block| block.0).collect();
        assert_eq!(addresses.len(), many.len(), "each block has one holder");
        many.into_iter().for_each(put);
        let kept = MAGAZINE.with(|magazine| magazine.with(|spares| spares.length));
        assert!((1..=KEPT).contains(&kept), "{kept} of {KEPT}");
        assert!(DEPOT.lock().length <= STORED);
    }
}
