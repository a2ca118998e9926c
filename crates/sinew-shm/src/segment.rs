//! Segments: the files that a participant shares, and how other participants map them.
//!
//! A segment is created without a name, reserved, filled, locked, and only then linked into the
//! directory: no participant ever sees a partial one. Its mode prevents all processes, even of the
//! same user, from opening it for writing. Its creator keeps its own descriptor, without a lock, to
//! reserve more of it.
//!
//! # What may be touched
//!
//! A file has holes, and touching a page of a hole while the file system is full raises a signal.
//! So `reserved` words tell how far the file may be touched; a participant that reads a greater
//! value than before compares it with what the file system has allocated for the file. If a peer
//! declares too much, the last checked value counts. The value of a data segment may decrease, and
//! increase again later (M1 to M3 of [`memory`](crate::memory)); the part that a reader uses is
//! never given back.
//!
//! # The lock
//!
//! A write lock on byte 0 of the control segment shows that its owner lives. It belongs to the open
//! file description through which the segment is mapped, whose descriptor is closed: so it lives as
//! long as the mapping, and the kernel releases it with the owner's address space. It is taken
//! before the segment gets its name. A forked child doesn't have the mapping ([`fork`]), so it
//! doesn't keep the lock. Other participants query the lock, and never take it.
//!
//! The file's name doesn't show whether its owner lives: other programs may remove it, such as a
//! clean-up script or the session manager at logout. So a participant that has mapped a control
//! segment queries the lock through the descriptor that it was mapped by, which it keeps. Only a
//! segment that isn't mapped is queried by name.

use crate::directory::Directory;
use crate::domain::Domain;
use crate::error::{CapacityError, DomainError, JoinError, SegmentError, SegmentProblem, SystemError};
use crate::failpoints::{self, Point};
use crate::fork;
use crate::shm_ref::{Record, ShmRef};
use crate::sync::{Arc, AtomicU64, Ordering, PlainMutex, PlainU64};
use crate::sys::{self, Lock, Mapping};
use rustix::fd::OwnedFd;
use rustix::fs::{OFlags, Stat, fstat};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::mem::offset_of;
use std::path::PathBuf;
use std::sync::Weak;

/// The version of the layout of everything in shared memory; increased whenever any of it changes.
pub const LAYOUT_VERSION: u32 = 6;

/// `SINEWSHM`, as a little-endian number.
const MAGIC: u64 = u64::from_le_bytes(*b"SINEWSHM");

/// The kind of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum SegmentKind {
    /// Tables of entities and connections.
    Control = 1,
    /// Words that other processes of the same user write: threads sleep on them.
    Bells = 2,
    /// Rings, event rings and chunks.
    Data = 3,
}

/// The first 64 bytes of every segment.
///
/// | field | writer | readers | unit | first value |
/// |---|---|---|---|---|
/// | `magic` | owner, before the name | all | | `SINEWSHM` |
/// | `version_kind` | owner, before the name | all | version << 32, kind | |
/// | `length` | owner, before the name | all | bytes of the file | |
/// | `owner` | owner, before the name | all | participant's id | |
/// | `boot` | owner, before the name | all | id of the machine's start | |
/// | `number` | owner, before the name | all | of this kind, never reused | |
/// | `reserved` | owner | all | bytes from the start that may be touched (data segments) | |
/// | `spare` | | | | 0 |
#[repr(C, align(64))]
pub(crate) struct Header {
    pub(crate) magic: AtomicU64,
    pub(crate) version_kind: AtomicU64,
    pub(crate) length: AtomicU64,
    pub(crate) owner: AtomicU64,
    pub(crate) boot: AtomicU64,
    pub(crate) number: AtomicU64,
    pub(crate) reserved: AtomicU64,
    pub(crate) spare: AtomicU64,
}

// SAFETY: eight atomics, no padding.
unsafe impl Record for Header {}
#[cfg(not(loom))]
const _: () = assert!(
    size_of::<Header>() == 64
        && std::mem::offset_of!(Header, version_kind) == 8
        && std::mem::offset_of!(Header, owner) == 24
        && std::mem::offset_of!(Header, reserved) == 48
);

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

/// The name of a segment's file.
pub(crate) fn file_name(kind: SegmentKind, owner: u64, number: u64) -> String {
    match kind {
        SegmentKind::Control => format!("{owner:016x}.control"),
        SegmentKind::Bells => format!("{owner:016x}.bells"),
        SegmentKind::Data => format!("{owner:016x}.data.{number:x}"),
    }
}

/// The name of the file that other users touch to ring.
pub(crate) fn doorbell_name(owner: u64) -> String {
    format!("{owner:016x}.doorbell")
}

/// The participant that a file of the directory belongs to, and whether it is a control segment.
pub(crate) fn parse_file_name(name: &str) -> Option<(u64, bool)> {
    let (id, rest) = name.split_at_checked(16)?;
    let id = u64::from_str_radix(id, 16).ok()?;
    match rest {
        ".control" => Some((id, true)),
        ".bells" | ".doorbell" => Some((id, false)),
        _ => rest.starts_with(".data.").then_some((id, false)),
    }
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
        // don't get to write bells either.
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

/// A peer's `reserved` word, as far as it was compared with what is allocated.
#[derive(Default)]
pub(crate) struct ReservedLength {
    /// The greatest value that was found to be true.
    checked: PlainU64,
    /// The last value that was found to be false.
    refused: PlainU64,
}

impl ReservedLength {
    /// Returns how much may be accessed if the peer declares `declared`. `has_room` checks the
    /// file.
    #[inline]
    pub(crate) fn check(&self, declared: u64, has_room: impl FnOnce() -> bool) -> u64 {
        // Relaxed: once allocated, it is allocated again whenever it is declared (M3 of `memory`).
        let checked = self.checked.load(Ordering::Relaxed);
        if declared <= checked { declared } else { self.look(checked, declared, has_room) }
    }

    #[cold]
    fn look(&self, checked: u64, declared: u64, has_room: impl FnOnce() -> bool) -> u64 {
        if self.refused.load(Ordering::Relaxed) == declared {
            return checked;
        }
        if !has_room() {
            self.refused.store(declared, Ordering::Relaxed);
            return checked;
        }
        self.checked.fetch_max(declared, Ordering::Relaxed);
        declared
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
        let declared = self.header.reserved.load(Ordering::Acquire).min(self.mapping.length() as u64);
        let reserved = self.declared.check(declared, || self.allocated() >= declared);
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

/// Whether a file has this name. When in doubt, `true`.
fn has_name(file: &OwnedFd, directory: &Directory, name: &str) -> bool {
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

/// Checks that the header of a file matches its name. The header is written before the file is
/// linked, and only `reserved` changes later.
fn check(
    head: &[u8; size_of::<Header>()],
    name: &str,
    kind: SegmentKind,
    owner: u64,
    length: u64,
) -> Result<(), SegmentError> {
    let (words, _) = head.as_chunks::<8>();
    let word = |at: usize| words.get(at / 8).map_or(0, |bytes| u64::from_ne_bytes(*bytes));
    let magic = word(offset_of!(Header, magic));
    if magic != MAGIC {
        return Err(SegmentError::new(name, SegmentProblem::Magic { found: magic }));
    }
    let version_kind = word(offset_of!(Header, version_kind));
    let found = (version_kind >> 32) as u32;
    if found != LAYOUT_VERSION {
        return Err(SegmentError::new(name, SegmentProblem::Version { found, ours: LAYOUT_VERSION }));
    }
    if version_kind & 0xffff_ffff != kind as u64 {
        return Err(SegmentError::field(name, "kind", version_kind & 0xffff_ffff, kind as u64));
    }
    let declared = word(offset_of!(Header, length));
    if declared > length {
        return Err(SegmentError::new(name, SegmentProblem::Truncated { length, needed: declared }));
    }
    let found = word(offset_of!(Header, owner));
    if found != owner {
        return Err(SegmentError::field(name, "owner", found, owner));
    }
    // 0 if it is unknown.
    let (found, ours) = (word(offset_of!(Header, boot)), sys::boot_id());
    if found != ours && found != 0 && ours != 0 {
        return Err(SegmentError::new(name, SegmentProblem::Boot { found, ours }));
    }
    Ok(())
}

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

fn probe_name(directory: &Directory, name: &str) -> OwnerState {
    let locked = match directory.open_file(name, OFlags::RDONLY) {
        Ok(file) => sys::is_locked(&file, 0, Lock::Read),
        Err(Errno::NOENT) => return OwnerState::Gone,
        Err(_) => return OwnerState::Alive, // when in doubt
    };
    if locked.unwrap_or(true) { OwnerState::Alive } else { OwnerState::Dead }
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
