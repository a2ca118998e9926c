//! Connections of others that a participant has taken up, as its helper thread and its ports have
//! them.

use crate::sync::{Arc, Ordering, PlainU64};

/// Something that a port is told about: a connection that may have something to read.
pub trait Sink: Send + Sync {
    /// Reads until there is nothing more. Called on the thread that drains the port, under none of
    /// this crate's locks.
    fn drain(&self);
}

/// A connection that this participant has taken up, as the helper thread has it.
pub(crate) struct Taken {
    /// The writer's record's life.
    pub(crate) generation: u64,
    pub(crate) lease: Arc<Lease>,
    pub(crate) sink: Option<Arc<dyn Sink>>,
}

/// A record of the table of incoming connections, which two have: the reader writes into it, and
/// the helper thread knows whether the writer still looks at it. It may be used again when both
/// have let go.
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

    /// This one won't touch the record any more. True once: if the other one has let go, too.
    #[must_use]
    pub(crate) fn end(&self, party: Party) -> bool {
        let before = self.let_go.fetch_or(party as u64, Ordering::AcqRel); // carries what the other one wrote there
        let both = Party::Reader as u64 | Party::Helper as u64;
        before != both && before | party as u64 == both
    }
}
