//! Forked children of this process: how to recognize them, and what they must not inherit.
//!
//! A child shares the open files behind the mappings that it inherits, and with them the locks that
//! show that its parent lives: it would keep a dead parent alive, and could write the parent's
//! memory. So mappings are kept out of children (`MADV_DONTFORK`), and a page that is wiped in them
//! (`MADV_WIPEONFORK`) shows a thread that it is in a child, at the cost of a load.
//!
//! Some kernels refuse either call, such as those emulated by qemu's user mode and by sandboxes.
//! There the `fork` handler replaces both in the child: it unmaps the mappings, and counts. Only
//! children that bypass the C library (`syscall(SYS_clone)`) then have the memory.

use crate::platform::sync::{Arc, Ordering, PlainMutex, PlainU64};
use crate::platform::sys::{Mapping, call_in_children};
use std::io;
use std::sync::{Once, Weak};

/// Number of forks between this process and the ancestor in which counting began.
static FORKS: PlainU64 = PlainU64::new(0);

/// Mappings that the kernel gives to children, which the `fork` handler unmaps there.
static INHERITED: PlainMutex<Vec<Weak<Mapping>>> = PlainMutex::new(Vec::new());

extern "C" fn forked() {
    FORKS.fetch_add(1, Ordering::Relaxed); // the only thread of a new process
    // Without blocking: if another thread of the parent had just locked it, it stays locked for
    // ever.
    if let Some(mut inherited) = INHERITED.try_lock() {
        for mapping in inherited.drain(..).filter_map(|mapping| mapping.upgrade()) {
            mapping.unmap_in_child();
        }
    }
}

fn handle() {
    static HANDLED: Once = Once::new();
    HANDLED.call_once(call_in_children(forked));
}

/// Keeps the mapping out of this process's forked children, which can then neither use it nor keep
/// it alive.
pub(crate) fn keep_from_children(mapping: &Arc<Mapping>) {
    if mapping.stay_out_of_children().is_err() {
        handle();
        let mut inherited = INHERITED.lock();
        inherited.retain(|known| known.strong_count() > 0);
        inherited.push(Arc::downgrade(mapping));
    }
}

/// The process that made this, as distinguished from its forked children.
#[derive(Clone, Copy)]
pub(crate) struct Maker {
    forks: u64,
}

impl Maker {
    pub(crate) fn new() -> Self {
        handle();
        Self { forks: FORKS.load(Ordering::Relaxed) }
    }

    /// Whether this process is the maker.
    #[inline]
    pub(crate) fn is_here(self) -> bool {
        FORKS.load(Ordering::Relaxed) == self.forks // no other thread of this process changes it
    }
}

/// Shows whether this is still the process that made it.
pub(crate) enum ForkMark {
    /// A page that the kernel wipes in children.
    Wiped(Mapping),
    /// The kernel wipes nothing; the `fork` handler counts.
    Counted(Maker),
}

impl ForkMark {
    pub(crate) fn new() -> io::Result<Self> {
        let page = Mapping::page()?;
        if page.wipe_in_children().is_err() {
            return Ok(Self::Counted(Maker::new()));
        }
        page.first_word().store(1, Ordering::Relaxed); // read by this process only
        Ok(Self::Wiped(page))
    }

    /// Whether this process is a forked child of the maker.
    #[inline]
    pub(crate) fn is_child(&self) -> bool {
        match self {
            // No other thread ever changes it.
            Self::Wiped(page) => page.first_word().load(Ordering::Relaxed) == 0,
            Self::Counted(maker) => !maker.is_here(),
        }
    }
}
