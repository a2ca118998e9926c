//! Notices of changes in a domain, for a program that looks from outside.

use crate::error::SystemError;
use crate::segment::domain::Domain;
use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

/// A descriptor that becomes readable when something in a domain has changed: participants that
/// come or go, and endpoints that they announce or withdraw.
///
/// A participant touches a file in the domain's directory when its records have changed, so that
/// other participants look. This watches that directory; no participant notices.
///
/// ```
/// use sinew_shm::Domain;
/// use sinew_shm::inspect::{Snapshot, Watch};
/// let base = tempfile::tempdir_in("/dev/shm")?;
/// let domain = Domain::open(Some(base.path()), 0)?;
/// let watch = Watch::new(&domain)?; // first: what changes meanwhile is noticed
/// let mut snapshot = Snapshot::take(&domain)?;
/// // Once the descriptor is readable:
/// watch.clear();
/// snapshot.refresh()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Watch {
    descriptor: OwnedFd,
    /// The path of the domain that was watched first, for errors.
    path: PathBuf,
}

impl Watch {
    /// Watches a domain.
    ///
    /// # Errors
    /// [`SystemError`]: the user has no inotify instance or watch left
    /// (`fs.inotify.max_user_instances`, `fs.inotify.max_user_watches`), or no descriptor is left.
    pub fn new(domain: &Domain) -> Result<Self, SystemError> {
        let failed = SystemError::at("inotify_init1", domain.path());
        let descriptor = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).map_err(failed)?;
        let watch = Self { descriptor, path: domain.path().to_owned() };
        watch.add(domain)?;
        Ok(watch)
    }

    /// Watches another domain as well: the directory that took the place of a removed one. Nothing
    /// changes if it is watched already.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn add(&self, domain: &Domain) -> Result<(), SystemError> {
        let flags = WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::ATTRIB | WatchFlags::CLOSE_WRITE;
        let failed = SystemError::at("inotify_add_watch", domain.path());
        // No such call takes a descriptor.
        add_watch(&self.descriptor, domain.directory().handle(), flags).map(drop).map_err(failed)
    }

    /// Returns a duplicate of the descriptor: it becomes readable, and unreadable, with this one.
    ///
    /// # Errors
    /// [`SystemError`]: no descriptor is left.
    pub fn descriptor(&self) -> Result<OwnedFd, SystemError> {
        self.descriptor.try_clone().map_err(SystemError::io("fcntl", &self.path))
    }

    /// Makes the descriptor unreadable until the next change. To be called before looking: a change
    /// in between makes it readable again.
    pub fn clear(&self) {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = Reader::new(&self.descriptor, &mut buffer);
        while reader.next().is_ok() {}
    }
}
