//! The medium that holds files: memory or a disk.

use std::fmt;
use std::path::Path;

/// The medium that holds a directory's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Medium {
    /// Memory with a limit: the right place.
    Tmpfs,
    /// Memory without a limit: a full one raises a signal instead of returning an error.
    Ramfs,
    /// Anything else, identified by its number in `linux/magic.h`; most likely a disk.
    Other(i64),
}

impl Medium {
    /// Returns the medium of a file or directory. Makes a system call.
    ///
    /// # Errors
    /// The error of the system call.
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

    /// Returns `true` if the contents are never written to a disk, except by swapping.
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
