//! What can go wrong, by who can mend it.

use rustix::io::Errno;
use std::path::{Path, PathBuf};

/// The operating system refused a call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{call} on {} failed: {errno}{}", path.display(), remedy(*errno))]
#[non_exhaustive]
pub struct SystemError {
    /// The call.
    pub call: &'static str,
    /// The file or directory it was made for.
    pub path: PathBuf,
    /// What it said.
    pub errno: Errno,
}

impl SystemError {
    pub(crate) fn at(call: &'static str, path: &Path) -> impl Fn(Errno) -> Self {
        let path = path.to_owned();
        move |errno| Self { call, path: path.clone(), errno }
    }

    pub(crate) fn io(call: &'static str, path: &Path) -> impl Fn(std::io::Error) -> Self {
        let at = Self::at(call, path);
        move |error| at(Errno::from_io_error(&error).unwrap_or(Errno::IO))
    }
}

fn remedy(errno: Errno) -> &'static str {
    match errno {
        Errno::ACCESS | Errno::PERM => {
            " (the directory belongs to somebody else, or forbids it: see `sinew doctor`)"
        }
        Errno::NOSPC => " (the file system has no room for another file, or is full: see `df -i` and `df`)",
        Errno::MFILE => " (this process has too many files open: raise `ulimit -n`)",
        Errno::NOMEM => " (no memory, or too many mappings: see vm.max_map_count)",
        Errno::NOTSUP | Errno::ISDIR => {
            " (not a file system for shared memory: set SINEW_DIR to a directory on a tmpfs)"
        }
        _ => "",
    }
}

/// The directory of a domain can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DomainError {
    /// It can't be made or looked at.
    #[error(transparent)]
    System(#[from] SystemError),
    /// It is something else.
    #[error("{} is not a directory, but a file or a symbolic link: remove it, or set SINEW_DIR", path.display())]
    NotADirectory {
        /// What was found.
        path: PathBuf,
    },
    /// Another user made it: what lies there can't be trusted.
    #[error("{} belongs to user {owner}, not to user {user}: have it removed, or set SINEW_DIR", path.display())]
    Owner {
        /// The directory.
        path: PathBuf,
        /// The user that owns it.
        owner: u32,
        /// Who we are.
        user: u32,
    },
    /// Every user could put files there.
    #[error("{} has mode {mode:o}, so others could put files there: chmod 700 it", path.display())]
    Mode {
        /// The directory.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// No other participant would see that one lives.
    #[error(
        "{} is on a file system where the lock of a file that is in use isn't seen by its name, as on an overlayfs (a container's \
         own disk): participants would take each other for dead and remove each other's files. Set SINEW_DIR to a directory on a \
         tmpfs; in a container, to a tmpfs that is mounted there",
        path.display()
    )]
    Locks {
        /// The directory.
        path: PathBuf,
    },
}

/// There is no room for something.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CapacityError {
    /// The file system of the domain's directory is full.
    #[error(
        "{} has no room for {wanted} more bytes: {free} of its {size} bytes are free, besides what is kept for participants that join. Make it bigger (for containers: --shm-size=1g, \
         for a host: mount -o remount,size=4g /dev/shm), or set SINEW_DIR",
        path.display()
    )]
    FileSystem {
        /// The directory.
        path: PathBuf,
        /// How many bytes were asked for.
        wanted: usize,
        /// How many bytes the file system has left for that. Large messages leave a sixteenth of it,
        /// 16 MB at most, to participants that join.
        free: u64,
        /// How big it is.
        size: u64,
    },
    /// A message is too long.
    #[error("an image of {length} bytes is too long: {limit} bytes at most")]
    Length {
        /// How long it would be.
        length: usize,
        /// How long it may be.
        limit: usize,
    },
    /// More messages are to be kept than a ring can have.
    #[error("{depth} messages are more than a ring keeps, which is {limit}: use a smaller depth")]
    Depth {
        /// How many are to be kept.
        depth: usize,
        /// How many can be.
        limit: usize,
    },
    /// A table is full.
    #[error("this participant has {limit} {table} already, which is the limit: use several contexts")]
    Table {
        /// What it has so many of.
        table: &'static str,
        /// How many a participant may have.
        limit: usize,
    },
    /// The operating system refused something.
    #[error(transparent)]
    System(#[from] SystemError),
    /// The participant has left: it was shut down, or this is a forked child of its process.
    #[error("this participant has left its domain{}", if *forked { ": a forked child must make a context of its own" } else { "" })]
    Left {
        /// This is a child process that its parent forked.
        forked: bool,
    },
}

/// A participant can't join its domain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JoinError {
    /// The directory can't be used.
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// There is no room.
    #[error(transparent)]
    Capacity(#[from] CapacityError),
    /// The operating system refused something.
    #[error(transparent)]
    System(#[from] SystemError),
}

/// Another participant's memory, or a file in the domain's directory, is not what it should be.
/// Nothing of it is used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {problem}")]
#[non_exhaustive]
pub struct SegmentError {
    /// The file's name in the domain's directory.
    pub file: String,
    /// What is wrong with it.
    pub problem: SegmentProblem,
}

/// What is wrong with a segment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SegmentProblem {
    /// It doesn't begin as a segment does.
    #[error("not a segment of Sinew (it begins with {found:#018x})")]
    Magic {
        /// What it begins with.
        found: u64,
    },
    /// Another version of Sinew made it.
    #[error("has layout version {found}, this program has {ours}: build both with one version of Sinew")]
    Version {
        /// Its version.
        found: u32,
        /// Ours.
        ours: u32,
    },
    /// It is shorter than it says.
    #[error("is {length} bytes long where {needed} are needed")]
    Truncated {
        /// Its length.
        length: u64,
        /// How long it should be.
        needed: u64,
    },
    /// It has fewer pages than every such file.
    #[error("takes {allocated} bytes of its file system, {needed} are needed: it was not made by Sinew")]
    Sparse {
        /// Bytes that it takes.
        allocated: u64,
        /// Bytes that it should take at least.
        needed: u64,
    },
    /// It is from before the machine was started, or another machine's.
    #[error(
        "was made under another start of the machine ({found:016x}, this one is {ours:016x}): \
         give each machine a directory of its own, in memory"
    )]
    Boot {
        /// The start's id in the file.
        found: u64,
        /// This one's.
        ours: u64,
    },
    /// It belongs to another user than the rest of its participant's files.
    #[error("belongs to user {found}, its participant's other files to user {user}: it was replaced")]
    User {
        /// The user that owns it.
        found: u32,
        /// The user that should own it.
        user: u32,
    },
    /// A field holds what it can't.
    #[error("`{field}` is {value}, where at most {limit} makes sense")]
    Field {
        /// The field.
        field: &'static str,
        /// What it holds.
        value: u64,
        /// The greatest value that would do.
        limit: u64,
    },
    /// It can't be opened or mapped.
    #[error(transparent)]
    System(SystemError),
}

impl SegmentError {
    pub(crate) fn new(file: &str, problem: SegmentProblem) -> Self {
        Self { file: file.to_owned(), problem }
    }

    /// Whether it is the operating system's doing, for want of descriptors or memory say, and may
    /// be better later. A file that isn't there won't come back.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(&self.problem, SegmentProblem::System(error) if error.errno != Errno::NOENT)
    }

    pub(crate) fn field(file: &str, field: &'static str, value: u64, limit: u64) -> Self {
        Self::new(file, SegmentProblem::Field { field, value, limit })
    }
}
