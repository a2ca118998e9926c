//! Segments of this process.

use crate::error::{CapacityError, DomainError, JoinError, SystemError};
use crate::platform::failpoints::{self, Point};
use crate::platform::fork;
use crate::platform::shm_ref::ShmRef;
use crate::platform::sync::{Arc, Ordering};
use crate::platform::sys::{self, Lock, Mapping};
use crate::segment::directory::Directory;
use crate::segment::domain::Domain;
use crate::segment::header::{Header, LAYOUT_VERSION, MAGIC, SegmentKind, file_name};
use crate::segment::owner_state::{OwnerState, has_name, probe_name};
use rustix::fd::OwnedFd;
use rustix::fs::OFlags;
use std::path::PathBuf;

/// A segment of this participant.
pub(crate) struct OwnSegment {
    pub(crate) mapping: Arc<Mapping>,
    /// To reserve more of the file; has no lock.
    file: OwnedFd,
    directory: Arc<Directory>,
    name: String,
    header: ShmRef<Header>,
}

/// The properties of a new segment.
pub(crate) struct NewSegment {
    pub(crate) kind: SegmentKind,
    pub(crate) owner: u64,
    pub(crate) number: u64,
    pub(crate) length: usize,
    /// Bytes from the start that may be accessed at once.
    pub(crate) reserved: usize,
    /// Whether it has the lock that shows that its owner lives.
    pub(crate) locked: bool,
}

impl OwnSegment {
    /// Creates a segment; no participant sees it before [`publish`](Self::publish).
    pub(crate) fn create(domain: &Domain, new: &NewSegment) -> Result<Unpublished, CapacityError> {
        let directory = domain.directory().clone();
        let name = file_name(new.kind, new.owner, new.number);
        let path = directory.join(&name);
        let file = directory.unnamed()?;
        rustix::fs::ftruncate(&file, new.length as u64).map_err(SystemError::at("ftruncate", &path))?;
        sys::reserve(&file, 0, new.reserved)
            .map_err(|error| domain.no_room("fallocate", new.reserved, &error))?;
        let growing = sys::reopen(&file, OFlags::RDWR)?;
        // A user who may write a file may shorten it while others have it mapped. So other users
        // can't write bells either.
        let mode = if new.kind == SegmentKind::Bells { 0o600 } else { domain.read_mode() };
        sys::change_mode(&file, mode, &path)?;
        if new.locked {
            sys::lock(&file, 0, Lock::Write).map_err(SystemError::io("fcntl(F_OFD_SETLK)", &path))?;
        }
        let mapping = Mapping::new(&file, new.length, true).map_err(SystemError::io("mmap", &path))?;
        let mapping = Arc::new(mapping);
        fork::keep_from_children(&mapping);
        let Some(header) = ShmRef::<Header>::at(&mapping, 0) else {
            return Err(CapacityError::Table { table: "bytes in a segment", limit: new.length });
        };
        // Relaxed: no other participant sees the segment before it is linked, which is a system
        // call.
        header.magic.store(MAGIC, Ordering::Relaxed);
        header.version_kind.store(u64::from(LAYOUT_VERSION) << 32 | new.kind as u64, Ordering::Relaxed);
        header.length.store(new.length as u64, Ordering::Relaxed);
        header.owner.store(new.owner, Ordering::Relaxed);
        header.boot.store(sys::boot_id(), Ordering::Relaxed);
        header.number.store(new.number, Ordering::Relaxed);
        header.reserved.store(new.reserved as u64, Ordering::Relaxed);
        Ok(Unpublished { segment: Self { mapping, file: growing, directory, name, header }, named: file })
    }

    /// Reserves a range of the file, so that it may be accessed.
    pub(crate) fn reserve(&self, domain: &Domain, offset: usize, length: usize) -> Result<(), CapacityError> {
        sys::reserve(&self.file, offset, length).map_err(|error| domain.no_room("fallocate", length, &error))
    }

    /// M2 of [`memory`](crate::memory): gives back a range of the file that no participant touches.
    /// If the file system can't do that, the range stays allocated.
    pub(crate) fn give_back(&self, offset: usize, length: usize) -> Result<(), SystemError> {
        sys::punch(&self.file, offset, length)
            .map_err(|error| SystemError::io("fallocate(FALLOC_FL_PUNCH_HOLE)", &self.path())(error))
    }

    /// Declares how many bytes of the segment, from the start, other participants may access.
    pub(crate) fn declare(&self, reserved: usize) {
        // Release: pairs with the Acquire in `PeerSegment::reserved`; carries the allocation of the
        // space.
        self.header.reserved.store(reserved as u64, Ordering::Release);
    }

    /// Whether other participants can still find it.
    pub(crate) fn has_name(&self) -> bool {
        has_name(&self.file, &self.directory, &self.name)
    }

    /// Checks that other participants, which find the segment by its name, see its lock. On
    /// overlayfs they don't: there a mapping belongs to the file below, and the lock to a file that
    /// is closed.
    pub(crate) fn is_seen_alive(&self) -> Result<(), DomainError> {
        match probe_name(&self.directory, &self.name) {
            OwnerState::Alive => Ok(()),
            OwnerState::Dead | OwnerState::Gone => {
                Err(DomainError::Locks { path: self.directory.path().to_owned() })
            }
        }
    }

    /// The path of the file.
    pub(crate) fn path(&self) -> PathBuf {
        self.directory.join(&self.name)
    }

    /// Removes the file's name.
    pub(crate) fn remove(&self) {
        let _ = self.directory.remove(&self.name); // it may be gone already
    }

    /// Notifies the participants that watch this file.
    pub(crate) fn announce(&self) {
        // Can't fail for our own file; a participant that polls finds out anyway.
        let _ = sys::touch(&self.file);
    }
}

impl Domain {
    /// Creates a segment of one page in the same way as participants do, checks that others would
    /// see that its owner lives, and removes it.
    ///
    /// # Errors
    /// [`JoinError`]: the reason that would prevent a participant from joining.
    pub fn try_out(&self) -> Result<(), JoinError> {
        // Under a name that participants ignore.
        let new = NewSegment {
            kind: SegmentKind::Control,
            owner: 0,
            number: 0,
            length: 4096,
            reserved: 4096,
            locked: true,
        };
        let mut unpublished = OwnSegment::create(self, &new)?;
        unpublished.segment.name = format!(".try-{:016x}", sys::random());
        let segment = unpublished.publish()?;
        let seen = segment.is_seen_alive();
        segment.remove();
        Ok(seen?)
    }
}

/// A segment without a name.
pub(crate) struct Unpublished {
    pub(crate) segment: OwnSegment,
    /// Has the lock, if there is one; closed once the segment is linked.
    named: OwnedFd,
}

impl Unpublished {
    /// Links the segment under its name.
    pub(crate) fn publish(self) -> Result<OwnSegment, SystemError> {
        failpoints::at(Point::SegmentUnlinked);
        self.segment.directory.link(&self.named, &self.segment.name)?;
        Ok(self.segment)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_participant_that_nobody_would_see_does_not_join() {
        let base = tempfile::tempdir_in("/dev/shm").unwrap();
        let domain = Domain::open(Some(base.path()), 0).unwrap();
        let publish = |owner, locked| {
            let new = NewSegment {
                kind: SegmentKind::Control,
                owner,
                number: 0,
                length: 4096,
                reserved: 4096,
                locked,
            };
            OwnSegment::create(&domain, &new).unwrap().publish().unwrap()
        };
        assert_eq!(publish(1, true).is_seen_alive(), Ok(()));
        // As on an overlayfs: the lock went with the descriptor.
        let unseen = publish(2, false);
        let error = unseen.is_seen_alive().unwrap_err();
        assert!(error.to_string().contains("overlayfs"), "{error}");
        unseen.remove();
        assert!(unseen.is_seen_alive().is_err(), "another one took it for dead at once");
    }
}
