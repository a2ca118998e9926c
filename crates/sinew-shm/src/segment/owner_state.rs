//! Whether a segment's owner lives, by its lock, and whether its file still has a name.

use crate::platform::sys::{self, Lock};
use crate::segment::directory::Directory;
use crate::segment::header::{SegmentKind, file_name};
use rustix::fd::OwnedFd;
use rustix::fs::{OFlags, Stat, fstat};
use rustix::io::Errno;

/// The state of a participant, by the lock on its control segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OwnerState {
    /// The owner lives.
    Alive,
    /// The owner is gone, but its files are still there.
    Dead,
    /// There is no such file.
    Gone,
}

/// Queries the lock on a control segment that isn't mapped here, by its name, without taking it. A
/// missing file doesn't mean that its owner is gone; for a mapped segment,
/// [`PeerSegment::is_locked`] is more reliable.
pub(crate) fn probe(directory: &Directory, owner: u64) -> OwnerState {
    probe_name(directory, &file_name(SegmentKind::Control, owner, 0))
}

pub(super) fn probe_name(directory: &Directory, name: &str) -> OwnerState {
    let locked = match directory.open_file(name, OFlags::RDONLY) {
        Ok(file) => sys::is_locked(&file, 0, Lock::Read),
        Err(Errno::NOENT) => return OwnerState::Gone,
        Err(_) => return OwnerState::Alive, // when in doubt
    };
    if locked.unwrap_or(true) { OwnerState::Alive } else { OwnerState::Dead }
}

/// Whether a file has this name. When in doubt, `true`.
pub(super) fn has_name(file: &OwnedFd, directory: &Directory, name: &str) -> bool {
    let Ok(ours) = fstat(file) else { return true };
    match directory.find(name) {
        Ok(found) => found.st_ino == ours.st_ino,
        Err(error) => !matches!(error, Errno::NOENT | Errno::NOTDIR),
    }
}

/// Bytes that the file system has allocated for a file.
pub(crate) fn allocated(found: &Stat) -> u64 {
    u64::try_from(found.st_blocks).unwrap_or(0).saturating_mul(512)
}
