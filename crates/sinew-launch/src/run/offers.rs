//! What nodes offer now, read from the participants' own memory: nothing is joined, and the
//! processes that are looked at do no work for it.

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init};
use sinew_shm::{Domain, DomainError, EndpointKind, Snapshot};

use crate::plan::Offer;
use crate::similar::suggestion;

/// A domain that is looked at whenever something in it changes.
pub(super) struct Offers {
    domain: Domain,
    snapshot: Option<Snapshot>,
    /// Tells of changes; without it, who waits looks by the clock.
    watch: Option<OwnedFd>,
}

impl Offers {
    /// Finds the domain, which is made if it isn't there yet.
    pub(super) fn open(base: Option<&Path>, number: u32) -> Result<Self, DomainError> {
        let domain = Domain::open(base, number)?;
        let watch = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok().and_then(|watch| {
            // Of the directory's files: participants touch theirs when they have changed.
            let flags =
                WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::ATTRIB | WatchFlags::CLOSE_WRITE;
            add_watch(&watch, domain.path(), flags).ok().map(|_| watch)
        });
        Ok(Self { domain, snapshot: None, watch })
    }

    /// To wait on.
    pub(super) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.watch.as_ref().map(AsFd::as_fd)
    }

    /// Looks again.
    pub(super) fn refresh(&mut self) {
        if let Some(watch) = &self.watch {
            let mut buffer = [MaybeUninit::uninit(); 4096];
            let mut reader = Reader::new(watch, &mut buffer);
            while reader.next().is_ok() {}
        }
        // What can't be read now is read at the next change.
        match &mut self.snapshot {
            Some(snapshot) => drop(snapshot.refresh()),
            None => self.snapshot = Snapshot::take(&self.domain).ok(),
        }
    }

    /// Whether that is there.
    pub(super) fn has(&self, offer: &Offer) -> bool {
        let (kind, name) = wanted(offer);
        self.names(kind).any(|found| found == name)
    }

    /// What may have been meant, as the end of a sentence.
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
