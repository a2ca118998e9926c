//! The current offers of nodes, read from the participants' own memory: the launch doesn't join the
//! domain, and the observed processes do no work for it.

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init};
use sinew_shm::inspect::Snapshot;
use sinew_shm::{Domain, DomainError, EndpointKind};

use crate::plan::Offer;
use crate::similar::suggestion;

/// A domain that is inspected whenever something in it changes.
pub(super) struct Offers {
    domain: Domain,
    snapshot: Option<Snapshot>,
    /// Notifies of changes; without it, the launch polls.
    watch: Option<OwnedFd>,
}

impl Offers {
    /// Opens the domain, which is created if it doesn't exist yet.
    pub(super) fn open(base: Option<&Path>, number: u32) -> Result<Self, DomainError> {
        let domain = Domain::open(base, number)?;
        let watch = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok().and_then(|watch| {
            // Watches the directory's files: participants touch theirs when they have changed.
            let flags =
                WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::ATTRIB | WatchFlags::CLOSE_WRITE;
            add_watch(&watch, domain.path(), flags).ok().map(|_| watch)
        });
        Ok(Self { domain, snapshot: None, watch })
    }

    /// Returns the descriptor to wait on.
    pub(super) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.watch.as_ref().map(AsFd::as_fd)
    }

    /// Reads the domain again.
    pub(super) fn refresh(&mut self) {
        if let Some(watch) = &self.watch {
            let mut buffer = [MaybeUninit::uninit(); 4096];
            let mut reader = Reader::new(watch, &mut buffer);
            while reader.next().is_ok() {}
        }
        // Memory that can't be read now is read at the next change.
        match &mut self.snapshot {
            Some(snapshot) => drop(snapshot.refresh()),
            None => self.snapshot = Snapshot::take(&self.domain).ok(),
        }
    }

    /// Returns `true` if the offer exists.
    pub(super) fn has(&self, offer: &Offer) -> bool {
        let (kind, name) = wanted(offer);
        self.names(kind).any(|found| found == name)
    }

    /// Returns a suggestion, as the end of a sentence.
    pub(super) fn similar(&self, offer: &Offer) -> String {
        let (kind, name) = wanted(offer);
        let all: Vec<String> = self.names(kind).collect();
        suggestion(name, all.iter().map(String::as_str))
    }

    fn names(&self, kind: EndpointKind) -> impl Iterator<Item = String> {
        let peers = self.snapshot.iter().flat_map(Snapshot::peers);
        peers
            .flat_map(|peer| peer.endpoints())
            .filter(move |(_, end)| end.kind == kind)
            .map(|(_, end)| if end.kind == EndpointKind::Node { end.node } else { end.name })
    }
}

fn wanted(offer: &Offer) -> (EndpointKind, &str) {
    match offer {
        Offer::Service(name) => (EndpointKind::Server, name),
        Offer::Topic(name) => (EndpointKind::Publisher, name),
        Offer::Node(name) => (EndpointKind::Node, name),
    }
}
