//! Cells: chunks with a reference count in their writer's process.

use crate::hazards::chunk_readers::Readers;
use crate::platform::sync::{Arc, Ordering, PlainU64, fence};
use crate::segment::slab::OwnChunk;

/// A chunk that loans, slots, messages and its pool refer to.
pub(crate) struct Cell {
    pub(crate) chunk: OwnChunk,
    /// The id of the participant that owns the chunk.
    pub(crate) owner: u64,
    /// 1 if a slot has named the chunk since it was lent, so that readers may hold it.
    pub(crate) published: PlainU64,
    /// 1 if the chunk goes back to the participant when it is free.
    pub(crate) surplus: PlainU64,
}

impl Cell {
    /// Whether only the caller has a reference. Acquire: all reading by other threads comes before
    /// the chunk is rewritten.
    pub(crate) fn is_unused(this: &Arc<Self>) -> bool {
        if Arc::strong_count(this) > 1 {
            return false;
        }
        // A new reference could only come from the caller's: there are no weak ones. The count is
        // read Relaxed, so this pairs with the Release of the references that were dropped.
        fence(Ordering::Acquire);
        true
    }

    pub(crate) fn is_published(&self) -> bool {
        // Written by the thread that had the loan, which it has given up since.
        self.published.load(Ordering::Relaxed) != 0
    }
}

/// W4 to W6: moves the cells that are unused here and that no reader holds out of a list, in which
/// the cells that were lent last come last. Returns how many holds were checked. `unused` and
/// `held` are scratch.
///
/// The readers' holds are collected once for all cells, after nothing in this process names the
/// cells any more (W4), and sorted. Each cell then takes one binary search.
pub(crate) fn move_unused(
    from: &mut Vec<Arc<Cell>>,
    unused: &mut Vec<Arc<Cell>>,
    held: &mut Vec<u64>,
    readers: &Readers,
    mut to: impl FnMut(Arc<Cell>),
) -> usize {
    unused.extend(from.extract_if(.., |cell| Cell::is_unused(cell)));
    let is_asked = unused.iter().any(|cell| cell.is_published());
    let steps = if is_asked { readers.collect_held(held) } else { 0 };
    held.sort_unstable();
    for cell in unused.drain(..) {
        if cell.is_published() && held.binary_search(&cell.chunk.name).is_ok() {
            from.push(cell);
        } else {
            to(cell);
        }
    }
    steps
}

/// The chunk of a cell to which the caller has the only reference.
pub(crate) fn own(cell: &Arc<Cell>) -> OwnChunk {
    cell.chunk.clone()
}
