//! Segments of other participants.

use crate::error::{SegmentError, SegmentProblem, SystemError};
use crate::platform::shm_ref::ShmRef;
use crate::platform::sync::{Arc, Ordering, PlainMutex, PlainU64};
use crate::platform::sys::{self, Lock, Mapping};
use crate::segment::directory::Directory;
use crate::segment::header::{Header, SegmentKind, check, doorbell_name, file_name};
use crate::segment::owner_state::{allocated, has_name};
use rustix::fd::OwnedFd;
use rustix::fs::{OFlags, Stat, fstat};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::sync::Weak;

/// A peer's segment, mapped for reading (bells: also for ringing).
pub(crate) struct PeerSegment {
    pub(crate) mapping: Arc<Mapping>,
    header: ShmRef<Header>,
    pub(crate) name: String,
    /// The user that owns the file.
    pub(crate) user: u32,
    /// For querying the lock and the allocated size, whether or not the file still has a name;
    /// `None` if neither will ever be queried.
    file: Option<Arc<OwnedFd>>,
    /// The declared length, as far as it was checked.
    declared: ReservedLength,
}

/// How often a declared length is looked at that changes meanwhile.
const LOOKS: usize = 4;

/// The part of a peer's `reserved` word that was compared with the allocated space.
#[derive(Default)]
pub(crate) struct ReservedLength {
    /// The greatest value that was found to be true.
    checked: PlainU64,
    /// The last value that was found to be false.
    refused: PlainU64,
}

impl ReservedLength {
    /// Returns how much may be accessed. `declared` is what the peer declares now; `has_room`
    /// checks the file.
    #[inline]
    pub(crate) fn check(&self, declared: impl Fn() -> u64, has_room: impl Fn(u64) -> bool) -> u64 {
        // Relaxed: once allocated, it is allocated again whenever it is declared (M3 of `memory`).
        let checked = self.checked.load(Ordering::Relaxed);
        let now = declared();
        if now <= checked { now } else { self.look(checked, now, declared, has_room) }
    }

    /// What is declared may be given back before the file is checked (M1, then M2): it is false
    /// only if it is still declared after the file had no room, and there is no room even then,
    /// since it may have been allocated and declared once more in between.
    #[cold]
    fn look(
        &self,
        checked: u64,
        mut now: u64,
        declared: impl Fn() -> u64,
        has_room: impl Fn(u64) -> bool,
    ) -> u64 {
        for _ in 0..LOOKS {
            if now <= checked {
                return now;
            }
            if self.refused.load(Ordering::Relaxed) == now {
                return checked;
            }
            if has_room(now) {
                self.checked.fetch_max(now, Ordering::Relaxed);
                return now;
            }
            let before = std::mem::replace(&mut now, declared());
            if now == before && !has_room(now) {
                self.refused.store(now, Ordering::Relaxed);
                return checked;
            }
        }
        checked // a peer that never stops changing it
    }

    /// The greatest value that was found to be true.
    pub(crate) fn checked(&self) -> u64 {
        self.checked.load(Ordering::Relaxed)
    }
}

impl PeerSegment {
    /// Maps a segment after checking that its contents match its name, and that it belongs to
    /// `user`, the owner of the participant's control segment. A segment of this kind has
    /// `reserved` bytes reserved before it gets its name.
    pub(crate) fn open(
        directory: &Directory,
        kind: SegmentKind,
        (owner, user): (u64, Option<u32>),
        number: u64,
        reserved: usize,
    ) -> Result<Self, SegmentError> {
        let name = file_name(kind, owner, number);
        let path = directory.join(&name);
        let system = |call| {
            let (name, path) = (&name, &path);
            move |errno| SegmentError::new(name, SegmentProblem::System(SystemError::at(call, path)(errno)))
        };
        let writable = kind == SegmentKind::Bells;
        let access = if writable { OFlags::RDWR } else { OFlags::RDONLY };
        let file = directory.open_file(&name, access).map_err(system("open"))?;
        let found = fstat(&file).map_err(system("fstat"))?;
        check_user(&name, user, &found)?;
        let length = found.st_size.cast_unsigned();
        let minimum = size_of::<Header>() as u64;
        if length < minimum {
            return Err(SegmentError::new(&name, SegmentProblem::Truncated { length, needed: minimum }));
        }
        // Not through the mapping: it isn't known yet whether there is a page.
        let mut head = [0; size_of::<Header>()];
        rustix::io::pread(&file, &mut head, 0).map_err(system("pread"))?;
        check(&head, &name, kind, owner, length)?;
        let needed = (reserved as u64).min(length);
        let allocated = allocated(&found);
        if allocated < needed {
            return Err(SegmentError::new(&name, SegmentProblem::Sparse { allocated, needed }));
        }
        let bytes = usize::try_from(length)
            .map_err(|_| SegmentError::field(&name, "length", length, usize::MAX as u64))?;
        let mapping = Mapping::new(&file, bytes, writable).map_err(|error| {
            SegmentError::new(&name, SegmentProblem::System(SystemError::io("mmap", &path)(error)))
        })?;
        let mapping = Arc::new(mapping);
        let header = ShmRef::<Header>::at(&mapping, 0)
            .ok_or_else(|| SegmentError::new(&name, SegmentProblem::Truncated { length, needed: minimum }))?;
        let declared = ReservedLength::default();
        // No other thread has it yet.
        declared.checked.store(allocated.min(length), Ordering::Relaxed);
        let file = (kind == SegmentKind::Control || allocated < length).then(|| shared(file, &found));
        Ok(Self { mapping, header, name, user: found.st_uid, file, declared })
    }

    /// Bytes that the file system has allocated for the file.
    #[cold]
    pub(crate) fn allocated(&self) -> u64 {
        let found = self.file.as_ref().and_then(|file| fstat(file).ok());
        found.map_or_else(|| self.declared.checked(), |found| allocated(&found))
    }

    /// For a control segment: whether its owner lives. When in doubt, `true`.
    pub(crate) fn is_locked(&self) -> bool {
        self.file.as_ref().is_none_or(|file| sys::is_locked(file, 0, Lock::Read).unwrap_or(true))
    }

    /// Whether the file still has the name that it was opened by. When in doubt, `true`.
    pub(crate) fn has_name(&self, directory: &Directory) -> bool {
        self.file.as_ref().is_none_or(|file| has_name(file, directory, &self.name))
    }

    /// Number of bytes from the start that may be accessed.
    #[inline]
    pub(crate) fn reserved(&self) -> usize {
        // Acquire: pairs with the Release in `OwnSegment::declare`.
        let declared = || self.header.reserved.load(Ordering::Acquire).min(self.mapping.length() as u64);
        let reserved = self.declared.check(declared, |declared| self.allocated() >= declared);
        usize::try_from(reserved).unwrap_or(0)
    }
}

/// Opens the file to touch to ring for another user's participant, if there is one.
pub(crate) fn open_doorbell(
    directory: &Directory,
    owner: u64,
    user: u32,
) -> Result<Option<OwnedFd>, SegmentError> {
    let name = doorbell_name(owner);
    let system = |call| {
        let path = directory.join(&name);
        let name = &name;
        move |errno| SegmentError::new(name, SegmentProblem::System(SystemError::at(call, &path)(errno)))
    };
    let file = match directory.open_file(&name, OFlags::WRONLY) {
        Err(Errno::NOENT) => return Ok(None),
        opened => opened.map_err(system("open"))?,
    };
    // A file of our own that another user has put there must not be touched.
    check_user(&name, Some(user), &fstat(&file).map_err(system("fstat"))?)?;
    Ok(Some(file))
}

/// Checks that the file belongs to the participant's user: another user may have replaced it.
fn check_user(name: &str, user: Option<u32>, found: &Stat) -> Result<(), SegmentError> {
    match user {
        Some(user) if user != found.st_uid => {
            Err(SegmentError::new(name, SegmentProblem::User { found: found.st_uid, user }))
        }
        _ => Ok(()),
    }
}

/// Descriptors that are kept, by device and inode: the participants of a process share one per
/// file. While one is kept, its inode can't belong to another file.
static KEPT: PlainMutex<BTreeMap<(u64, u64), Weak<OwnedFd>>> = PlainMutex::new(BTreeMap::new());

/// The descriptor that is kept for this file already, or else this one.
fn shared(file: OwnedFd, found: &Stat) -> Arc<OwnedFd> {
    // Without blocking: in a forked child the lock may be held for ever. Then there is one more
    // descriptor.
    let Some(mut kept) = KEPT.try_lock() else { return Arc::new(file) };
    let place = (found.st_dev, found.st_ino);
    if let Some(before) = kept.get(&place).and_then(Weak::upgrade) {
        return before;
    }
    kept.retain(|_, file| file.strong_count() > 0);
    let file = Arc::new(file);
    kept.insert(place, Arc::downgrade(&file));
    file
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// What the peer declares, one look after the other, and what the file has room for.
    fn check(length: &ReservedLength, declared: &[u64], room: &[u64]) -> u64 {
        let (looks, checks) = (Cell::new(0), Cell::new(0));
        let next = |all: &[u64], at: &Cell<usize>| all[at.replace(at.get() + 1).min(all.len() - 1)];
        length.check(|| next(declared, &looks), |needed| needed <= next(room, &checks))
    }

    #[test]
    fn what_is_given_back_during_the_check_is_not_refused() {
        let length = ReservedLength::default();
        assert_eq!(check(&length, &[100], &[100]), 100);
        // 400 is declared, and given back before the file is looked at.
        assert_eq!(check(&length, &[400, 100], &[100]), 100);
        assert_eq!(check(&length, &[400], &[400]), 400);
        // It is given back, allocated and declared again.
        let again = ReservedLength::default();
        assert_eq!(check(&again, &[400, 400], &[100, 400]), 400);
        // It was never true.
        let broken = ReservedLength::default();
        assert_eq!((check(&broken, &[400], &[0]), broken.refused.load(Ordering::Relaxed)), (0, 400));
        assert_eq!(check(&broken, &[400], &[400]), 0);
        // A peer that changes it all the time.
        let restless = ReservedLength::default();
        assert_eq!(check(&restless, &[1, 2, 3, 4, 5, 6, 7, 8], &[0]), 0);
    }
}
