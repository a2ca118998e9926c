//! Segments: the files that a participant shares, and how others map them.
//!
//! A segment is made without a name, reserved, filled, locked, and only then linked into the
//! directory: no participant ever sees half of one. Its mode keeps all processes, also of the same
//! user, from opening it for writing; its creator keeps a descriptor of its own, without a lock, to
//! reserve more of it.
//!
//! # What may be touched
//!
//! A file has holes, and a page of one that is touched while the file system is full is a signal.
//! So `reserved` words say how far it may be touched; a participant that hears of more than before
//! compares it with what the file system has allocated for the file. A peer that says too much is
//! believed no further than before. A data segment may say less again, and more after that (M1 to
//! M3 of [`memory`](crate::memory)); what a reader may use of it is never given back.
//!
//! # The lock
//!
//! A write lock on byte 0 of the control segment says that its owner lives. It belongs to the open
//! file description through which the segment is mapped, and its descriptor is closed: so it lives
//! as long as the mapping, and the kernel lets it go with the owner's address space. It is taken
//! before the segment gets its name. A forked child doesn't have the mapping ([`fork`]), so that one
//! doesn't keep it. Others ask for it, and never lock.
//!
//! A name says nothing about life: other programs may remove it, a clean-up script or the session
//! manager at logout. So a participant that has mapped a control segment asks through the
//! descriptor that it was mapped by, which it keeps. Only of one that isn't mapped is asked by
//! name.

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

/// The layout of everything in shared memory; counted up whenever any of it changes.
pub const LAYOUT_VERSION: u32 = 6;

/// `SINEWSHM`, as a little-endian number.
const MAGIC: u64 = u64::from_le_bytes(*b"SINEWSHM");

/// What a segment is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum SegmentKind {
    /// Tables: who is there, what goes where.
    Control = 1,
    /// The words that others of the same user write: what a sleeping thread waits on.
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
    /// To reserve more of it; has no lock.
    file: OwnedFd,
    directory: Arc<Directory>,
    name: String,
    header: ShmRef<Header>,
}

/// What a new segment is like.
pub(crate) struct NewSegment {
    pub(crate) kind: SegmentKind,
    pub(crate) owner: u64,
    pub(crate) number: u64,
    pub(crate) length: usize,
    /// Bytes from the start that can be touched at once.
    pub(crate) reserved: usize,
    /// Whether it says that its owner lives.
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
    /// Makes a segment; no participant sees it before [`publish`](Self::publish).
    pub(crate) fn create(domain: &Domain, new: &NewSegment) -> Result<Unpublished, CapacityError> {
        let directory = domain.directory().clone();
        let name = file_name(new.kind, new.owner, new.number);
        let path = directory.join(&name);
        let file = directory.unnamed()?;
        rustix::fs::ftruncate(&file, new.length as u64).map_err(SystemError::at("ftruncate", &path))?;
        sys::reserve(&file, 0, new.reserved)
            .map_err(|error| domain.no_room("fallocate", new.reserved, &error))?;
        let growing = sys::reopen(&file, OFlags::RDWR)?;
        // Who may write a file may shorten it, under those who have it mapped. So other users don't
        // write bells either.
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

    /// Reserves a range of the file, so that it may be touched.
    pub(crate) fn reserve(&self, domain: &Domain, offset: usize, length: usize) -> Result<(), CapacityError> {
        sys::reserve(&self.file, offset, length).map_err(|error| domain.no_room("fallocate", length, &error))
    }

    /// M2 of [`memory`](crate::memory): gives a range of the file back, which no participant
    /// touches. Where the file system can't, it stays allocated.
    pub(crate) fn give_back(&self, offset: usize, length: usize) -> Result<(), SystemError> {
        sys::punch(&self.file, offset, length)
            .map_err(|error| SystemError::io("fallocate(FALLOC_FL_PUNCH_HOLE)", &self.path())(error))
    }

    /// Tells others how much of it, from the start, they may touch.
    pub(crate) fn declare(&self, reserved: usize) {
        // Release: pairs with the Acquire in `PeerSegment::reserved`; carries that the space is
        // there.
        self.header.reserved.store(reserved as u64, Ordering::Release);
    }

    /// Whether others can still find it.
    pub(crate) fn has_name(&self) -> bool {
        has_name(&self.file, &self.directory, &self.name)
    }

    /// Whether others, which find it by its name, see its lock. On overlayfs they don't: there a
    /// mapping belongs to the file below, and the lock to a file that is closed.
    pub(crate) fn is_seen_alive(&self) -> Result<(), DomainError> {
        match probe_name(&self.directory, &self.name) {
            OwnerState::Alive => Ok(()),
            OwnerState::Dead | OwnerState::Gone => {
                Err(DomainError::Locks { path: self.directory.path().to_owned() })
            }
        }
    }

    /// Where it is to be found.
    pub(crate) fn path(&self) -> PathBuf {
        self.directory.join(&self.name)
    }

    /// Takes its name from it.
    pub(crate) fn remove(&self) {
        let _ = self.directory.remove(&self.name); // gone is gone
    }

    /// Others that watch this file hear of it.
    pub(crate) fn announce(&self) {
        // Fails for no file of ours; a participant that polls finds out anyway.
        let _ = sys::touch(&self.file);
    }
}

impl Domain {
    /// Makes a segment as participants do, a page long, looks whether others would see that its
    /// owner lives, and removes it.
    ///
    /// # Errors
    /// [`JoinError`]: what would keep a participant from joining.
    pub fn try_out(&self) -> Result<(), JoinError> {
        // Under a name that says nothing to participants.
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
    /// Locked, if it is to be; closed once it is linked.
    named: OwnedFd,
}

impl Unpublished {
    /// Gives it its name.
    pub(crate) fn publish(self) -> Result<OwnSegment, SystemError> {
        failpoints::at(Point::SegmentUnlinked);
        self.segment.directory.link(&self.named, &self.segment.name)?;
        Ok(self.segment)
    }
}

/// A peer's segment, mapped for reading (bells: for ringing).
pub(crate) struct PeerSegment {
    pub(crate) mapping: Arc<Mapping>,
    header: ShmRef<Header>,
    pub(crate) name: String,
    /// The user that owns it.
    pub(crate) user: u32,
    /// To ask for its lock and what is allocated, whether it still has a name or not; `None` if
    /// neither will ever be asked for.
    file: Option<Arc<OwnedFd>>,
    /// What was said of it, and compared.
    declared: ReservedLength,
}

/// A `reserved` word of a peer's, as far as it was compared with what is allocated.
#[derive(Default)]
pub(crate) struct ReservedLength {
    /// So much is true.
    checked: PlainU64,
    /// This isn't.
    refused: PlainU64,
}

impl ReservedLength {
    /// What may be touched where the peer says so much. `has_room` looks whether that can be.
    #[inline]
    pub(crate) fn check(&self, declared: u64, has_room: impl FnOnce() -> bool) -> u64 {
        // Relaxed: what was allocated once is so whenever it is declared (M3 of `memory`).
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

    /// So much was found to be true.
    pub(crate) fn checked(&self) -> u64 {
        self.checked.load(Ordering::Relaxed)
    }
}

impl PeerSegment {
    /// Maps a segment, having checked that it is what its name says, and this user's: that of the
    /// participant's control segment. One of this kind has so many bytes reserved before it gets
    /// its name.
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
        // Not by the mapping: it isn't known yet whether there is a page.
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

    /// Bytes that the file system has allocated for it.
    #[cold]
    pub(crate) fn allocated(&self) -> u64 {
        let found = self.file.as_ref().and_then(|file| fstat(file).ok());
        found.map_or_else(|| self.declared.checked(), |found| allocated(&found))
    }

    /// Of a control segment: whether its owner lives. When in doubt, it does.
    pub(crate) fn is_locked(&self) -> bool {
        self.file.as_ref().is_none_or(|file| sys::is_locked(file, 0, Lock::Read).unwrap_or(true))
    }

    /// Whether its file still has the name that it was opened by. When in doubt, it has.
    pub(crate) fn has_name(&self, directory: &Directory) -> bool {
        self.file.as_ref().is_none_or(|file| has_name(file, directory, &self.name))
    }

    /// How many bytes from the start may be touched.
    #[inline]
    pub(crate) fn reserved(&self) -> usize {
        // Acquire: pairs with the Release in `OwnSegment::declare`.
        let declared = self.header.reserved.load(Ordering::Acquire).min(self.mapping.length() as u64);
        let reserved = self.declared.check(declared, || self.allocated() >= declared);
        usize::try_from(reserved).unwrap_or(0)
    }
}

/// The file to touch to ring for another user's participant, if there is one.
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
    // Another file of ours, that another user has put there, isn't touched.
    check_user(&name, Some(user), &fstat(&file).map_err(system("fstat"))?)?;
    Ok(Some(file))
}

/// A participant's files are one user's: others may have replaced some.
fn check_user(name: &str, user: Option<u32>, found: &Stat) -> Result<(), SegmentError> {
    match user {
        Some(user) if user != found.st_uid => {
            Err(SegmentError::new(name, SegmentProblem::User { found: found.st_uid, user }))
        }
        _ => Ok(()),
    }
}

/// Descriptors that are kept, by device and inode: the participants of a process keep one of each
/// file between them. An inode has no other file as long as one is kept.
static KEPT: PlainMutex<BTreeMap<(u64, u64), Weak<OwnedFd>>> = PlainMutex::new(BTreeMap::new());

/// The descriptor of this file that is kept already, or else this one.
fn shared(file: OwnedFd, found: &Stat) -> Arc<OwnedFd> {
    // Without waiting: in a forked child it may be locked for ever. Then there is one more
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

/// Whether a file has this name. When in doubt, it has.
fn has_name(file: &OwnedFd, directory: &Directory, name: &str) -> bool {
    let Ok(ours) = fstat(file) else { return true };
    match directory.find(name) {
        Ok(found) => found.st_ino == ours.st_ino,
        Err(error) => !matches!(error, Errno::NOENT | Errno::NOTDIR),
    }
}

/// Bytes that a file takes.
pub(crate) fn allocated(found: &Stat) -> u64 {
    u64::try_from(found.st_blocks).unwrap_or(0).saturating_mul(512)
}

/// Whether the head of a file, written before it got its name and never again but for `reserved`,
/// says what its name does.
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
    // 0 where it can't be known.
    let (found, ours) = (word(offset_of!(Header, boot)), sys::boot_id());
    if found != ours && found != 0 && ours != 0 {
        return Err(SegmentError::new(name, SegmentProblem::Boot { found, ours }));
    }
    Ok(())
}

/// What the lock on a control segment says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OwnerState {
    /// The owner lives.
    Alive,
    /// The owner is gone, its files are still there.
    Dead,
    /// There is no such file.
    Gone,
}

/// Asks for the lock on a control segment that isn't mapped here, by its name, and takes none. That
/// it is gone doesn't mean that its owner is; of one that is mapped, [`PeerSegment::is_locked`]
/// says more.
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
        // As on an overlay: the lock went with the descriptor.
        let unseen = publish(2, false);
        let error = unseen.is_seen_alive().unwrap_err();
        assert!(error.to_string().contains("overlayfs"), "{error}");
        unseen.remove();
        assert!(unseen.is_seen_alive().is_err(), "another one took it for dead at once");
    }
}
