//! What files are kept in: memory, or a disk.

use std::fmt;
use std::path::Path;

/// What a directory's files are kept in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Medium {
    /// Memory, with a limit: as it should be.
    Tmpfs,
    /// Memory without a limit, so that a full one is a signal instead of an error.
    Ramfs,
    /// Anything else, by its number in `linux/magic.h`: a disk, most likely.
    Other(i64),
}

impl Medium {
    /// That of a file or directory. A system call.
    ///
    /// # Errors
    /// What the system call says.
    pub fn of(path: &Path) -> std::io::Result<Self> {
        Ok(Self::numbered(rustix::fs::statfs(path)?.f_type))
    }

    #[allow(clippy::unnecessary_cast, reason = "with musl the kernel's word has no sign")]
    pub(crate) fn numbered(number: rustix::fs::FsWord) -> Self {
        match number as i64 {
            0x0102_1994 => Self::Tmpfs,
            0x8584_58f6 => Self::Ramfs,
            other => Self::Other(other),
        }
    }

    /// Whether nothing of it is written to a disk, but for swapping.
    pub fn is_memory(self) -> bool {
        matches!(self, Self::Tmpfs | Self::Ramfs)
    }
}

impl fmt::Display for Medium {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Tmpfs => f.write_str("tmpfs"),
            Self::Ramfs => f.write_str("ramfs"),
            Self::Other(0xef53) => f.write_str("ext4"),
            Self::Other(0x794c_7630) => f.write_str("overlayfs"),
            Self::Other(0x9123_683e) => f.write_str("btrfs"),
            Self::Other(0x5846_5342) => f.write_str("xfs"),
            Self::Other(0x6969) => f.write_str("nfs"),
            Self::Other(number) => write!(f, "type {number:#x}"),
        }
    }
}
