//! The head of every segment, and the names of the files.

use crate::error::{SegmentError, SegmentProblem};
use crate::platform::shm_ref::Record;
use crate::platform::sync::AtomicU64;
use crate::platform::sys::{self};
use std::mem::offset_of;

/// The version of the layout of everything in shared memory; increased whenever any of it changes.
pub const LAYOUT_VERSION: u32 = 7;

/// `SINEWSHM`, as a little-endian number.
pub(super) const MAGIC: u64 = u64::from_le_bytes(*b"SINEWSHM");

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

/// Checks that the header of a file matches its name. The header is written before the file is
/// linked, and only `reserved` changes later.
pub(super) fn check(
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
