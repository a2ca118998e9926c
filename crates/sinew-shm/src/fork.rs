//! Children that this process forks: how they are told from it, and what they must not have.
//!
//! A child shares the open files behind the mappings that it inherits, and with them the locks that
//! say that its parent lives: it would keep a dead parent alive, and could write what that one
//! writes. So mappings stay out of children (`MADV_DONTFORK`), and a page that is wiped there
//! (`MADV_WIPEONFORK`) tells a thread that it is in one, for the price of a load.
//!
//! Some kernels refuse either, as the ones that qemu's user mode and sandboxes play. There the
//! handler of `fork` does the same in the child: it unmaps the mappings, and counts. Only children
//! that are made past the C library (`syscall(SYS_clone)`) have the memory then.

use crate::sync::{Arc, Ordering, PlainMutex, PlainU64};
use crate::sys::{Mapping, call_in_children};
use std::io;
use std::sync::{Once, Weak};

/// How often this process was forked from another one since it began to count.
static FORKS: PlainU64 = PlainU64::new(0);

/// Mappings that the kernel gives to children, which the child's handler takes away.
static INHERITED: PlainMutex<Vec<Weak<Mapping>>> = PlainMutex::new(Vec::new());

extern "C" fn forked() {
    FORKS.fetch_add(1, Ordering::Relaxed); // the only thread of a new process
    // Without waiting: if another thread of the parent has just locked it, it is so for ever.
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

/// A child that this process forks won't have the mapping: it can neither use it nor keep it alive.
pub(crate) fn keep_from_children(mapping: &Arc<Mapping>) {
    if mapping.stay_out_of_children().is_err() {
        handle();
        let mut inherited = INHERITED.lock();
        inherited.retain(|known| known.strong_count() > 0);
        inherited.push(Arc::downgrade(mapping));
    }
}

/// The process that made this, as opposed to children that it forks.
#[derive(Clone, Copy)]
pub(crate) struct Maker {
    forks: u64,
}

impl Maker {
    pub(crate) fn new() -> Self {
        handle();
        Self { forks: FORKS.load(Ordering::Relaxed) }
    }

    /// Whether that is this one.
    #[inline]
    pub(crate) fn is_here(self) -> bool {
        FORKS.load(Ordering::Relaxed) == self.forks // no other thread of this process changes it
    }
}

/// Says whether this is still the process that made it.
pub(crate) enum ForkMark {
    /// A page that the kernel wipes in children.
    Wiped(Mapping),
    /// The kernel wipes nothing: the handler of `fork` counts.
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

    /// Whether this is a child that the process forked.
    #[inline]
    pub(crate) fn is_child(&self) -> bool {
        match self {
            Self::Wiped(page) => page.first_word().load(Ordering::Relaxed) == 0, // no other thread ever changes it
            Self::Counted(maker) => !maker.is_here(),
        }
    }
}
