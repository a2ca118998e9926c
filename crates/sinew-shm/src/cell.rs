//! Cells: chunks with references to them in their writer's process.

use crate::readers::Readers;
use crate::slab::OwnChunk;
use crate::sync::{Arc, Ordering, PlainU64};

/// A chunk with references: a loan, slots, messages, and its pool's.
pub(crate) struct Cell {
    pub(crate) chunk: OwnChunk,
    /// The participant's id.
    pub(crate) owner: u64,
    /// 1: a slot named it since it was lent, so readers may hold it.
    pub(crate) published: PlainU64,
    /// 1: it goes back to the participant when it is free.
    pub(crate) surplus: PlainU64,
}

impl Cell {
    /// Whether only the caller has a reference. Acquire: then what others read was read before the
    /// chunk is written again.
    pub(crate) fn is_unused(this: &mut Arc<Self>) -> bool {
        // The first look, which costs less, tells of most that they are in use.
        Arc::strong_count(this) == 1 && Arc::get_mut(this).is_some()
    }

    pub(crate) fn is_published(&self) -> bool {
        // Written by the thread that had the loan, and let go of it since.
        self.published.load(Ordering::Relaxed) != 0
    }
}

/// W4 to W6: takes the cells that are unused here, and that no reader holds, out of a list: those
/// that were lent last come last. Returns how many holds were looked at. `unused` and `held` are
/// scratch.
///
/// Readers are asked after it was seen that nothing here names them (W4), once for all of them, and
/// each cell takes a look into what they said, in order: so many cells that are held cost no more
/// than as many holds do.
pub(crate) fn move_unused(
    from: &mut Vec<Arc<Cell>>,
    unused: &mut Vec<Arc<Cell>>,
    held: &mut Vec<u64>,
    readers: &Readers,
    mut to: impl FnMut(Arc<Cell>),
) -> usize {
    unused.extend(from.extract_if(.., Cell::is_unused));
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
