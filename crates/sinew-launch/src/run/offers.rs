//! The current offers of nodes, read from the processes' shared memory: the launch doesn't join the
//! domain, and the observed processes do no work for it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use sinew::error::SharedMemoryError;
use sinew::graph::{EndpointKind, GraphReader, GraphSnapshot};

use crate::plan::Offer;
use crate::similar::suggestion;

/// A domain that is inspected whenever something in it changes.
pub(super) struct Offers {
    reader: GraphReader,
    seen: GraphSnapshot,
    /// Becomes readable at changes; without it, the launch polls.
    changes: Option<OwnedFd>,
}

impl Offers {
    /// Opens the domain, which is created if it doesn't exist yet.
    pub(super) fn open(base: Option<&Path>, number: u32) -> Result<Self, SharedMemoryError> {
        let mut reader = GraphReader::new(number);
        if let Some(base) = base {
            reader = reader.directory(base);
        }
        let changes = reader.watch().ok();
        let seen = reader.read()?;
        Ok(Self { reader, seen, changes })
    }

    /// Returns the descriptor to wait on.
    pub(super) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.changes.as_ref().map(AsFd::as_fd)
    }

    /// Reads the domain again.
    pub(super) fn refresh(&mut self) {
        // Memory that can't be read now is read at the next change.
        if let Ok(seen) = self.reader.read() {
            self.seen = seen;
        }
    }

    /// Returns `true` if the offer exists.
    pub(super) fn has(&self, offer: &Offer) -> bool {
        match offer {
            Offer::Service(name) => self.seen.servers(name).next().is_some(),
            Offer::Topic(name) => self.seen.publishers(name).next().is_some(),
            Offer::Node(name) => self.seen.nodes().iter().any(|node| node.name == *name),
        }
    }

    /// Returns a suggestion, as the end of a sentence.
    pub(super) fn similar(&self, offer: &Offer) -> String {
        let names_of = |kind| {
            let endpoints = self.seen.endpoints().iter();
            endpoints.filter(move |end| end.kind == kind).map(|end| end.name.as_str())
        };
        match offer {
            Offer::Service(name) => suggestion(name, names_of(EndpointKind::Server)),
            Offer::Topic(name) => suggestion(name, names_of(EndpointKind::Publisher)),
            Offer::Node(name) => suggestion(name, self.seen.nodes().iter().map(|node| node.name.as_str())),
        }
    }
}
