//! Connections that a participant has taken up, as its helper thread and its ports see them.

use crate::platform::sync::{Arc, Ordering, PlainU64};

/// A connection that may have something to read; a port drains it.
pub trait Sink: Send + Sync {
    /// Reads until nothing is left. Called on the thread that drains the port, which holds none of
    /// this crate's locks.
    fn drain(&self);
}

/// A connection that this participant has taken up, as the helper thread sees it.
pub(crate) struct IncomingEntry {
    /// The life of the writer's record.
    pub(crate) generation: u64,
    pub(crate) lease: Arc<Lease>,
    pub(crate) sink: Option<Arc<dyn Sink>>,
}

/// A record in the table of incoming connections. Two parties use it: the reader writes into it,
/// and the helper thread knows whether the writer still reads it. The record may be reused once
/// both have let go of it.
pub(crate) struct Lease {
    pub(crate) slot: u32,
    let_go: PlainU64,
}

/// The party that lets go of a [`Lease`].
#[derive(Clone, Copy)]
pub(crate) enum Party {
    /// The reader: everything is read.
    Reader = 1,
    /// The helper thread: the writer's record is gone.
    Helper = 2,
}

impl Lease {
    pub(crate) fn of(slot: u32) -> Self {
        Self { slot, let_go: PlainU64::new(0) }
    }

    /// Notes that this party won't touch the record any more. Returns `true` once: when the other
    /// party has let go as well.
    #[must_use]
    pub(crate) fn end(&self, party: Party) -> bool {
        // Carries what the other party wrote there.
        let before = self.let_go.fetch_or(party as u64, Ordering::AcqRel);
        let both = Party::Reader as u64 | Party::Helper as u64;
        before != both && before | party as u64 == both
    }
}
