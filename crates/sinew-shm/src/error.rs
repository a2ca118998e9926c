//! Errors, split by who can fix them.

use rustix::io::Errno;
use std::path::{Path, PathBuf};

/// The operating system refused a call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{call} on {} failed: {errno}{}", path.display(), remedy(call, *errno))]
#[non_exhaustive]
pub struct SystemError {
    /// The system call.
    pub call: &'static str,
    /// The file or directory that the call was made for.
    pub path: PathBuf,
    /// The error number that the call returned.
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

fn remedy(call: &str, errno: Errno) -> &'static str {
    match errno {
        Errno::MFILE if call == "inotify_init1" => {
            " (this process has too many files open: raise `ulimit -n`; or all processes of this user have too many \
             inotify instances: raise fs.inotify.max_user_instances)"
        }
        Errno::NOSPC if call == "inotify_add_watch" => {
            " (the processes of this user watch too many files: raise fs.inotify.max_user_watches)"
        }
        Errno::ACCESS | Errno::PERM => {
            " (the directory belongs to another user, or its mode forbids it: see `sinew doctor`)"
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
    /// The directory can't be created or examined.
    #[error(transparent)]
    System(#[from] SystemError),
    /// The path is not a directory.
    #[error("{} is not a directory, but a file or a symbolic link: remove it, or set SINEW_DIR", path.display())]
    NotADirectory {
        /// The path that was found.
        path: PathBuf,
    },
    /// Another user created the directory, so its contents can't be trusted.
    #[error("{} belongs to user {owner}, not to user {user}: have it removed, or set SINEW_DIR", path.display())]
    Owner {
        /// The directory.
        path: PathBuf,
        /// The user that owns it.
        owner: u32,
        /// The user of this process.
        user: u32,
    },
    /// Any user could put files into the directory.
    #[error("{} has mode {mode:o}, so others could put files there: chmod 700 it", path.display())]
    Mode {
        /// The directory.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// On this file system, no other participant would see that this one is alive.
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

/// There is no room for something, or the participant has left.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CapacityError {
    /// The file system of the domain's directory has no room for the request.
    #[error(
        "{} has no room for {wanted} more bytes: {free} of its {size} bytes are free, besides what is kept for participants that join. Make it bigger (for containers: --shm-size=1g, \
         for a host: mount -o remount,size=4g /dev/shm), or set SINEW_DIR",
        path.display()
    )]
    FileSystem {
        /// The directory.
        path: PathBuf,
        /// Bytes that were requested.
        wanted: usize,
        /// Bytes of the file system that are free for the request. Large messages leave a sixteenth
        /// of the file system, at most 16 MB, to participants that join.
        free: u64,
        /// Size of the file system in bytes.
        size: u64,
    },
    /// A message is too long.
    #[error("an encoded message of {length} bytes is too long: {limit} bytes at most")]
    Length {
        /// Length of the message in bytes.
        length: usize,
        /// Greatest allowed length in bytes.
        limit: usize,
    },
    /// The depth exceeds the number of messages that a ring can keep.
    #[error("a depth of {depth} messages is too large: a ring keeps at most {limit}")]
    Depth {
        /// The depth that was requested.
        depth: usize,
        /// The greatest depth of a ring.
        limit: usize,
    },
    /// A table is full.
    #[error("this participant already has {limit} {table}, the most it may have: use several contexts")]
    Table {
        /// Name of the table's records.
        table: &'static str,
        /// Number of records that a participant may have.
        limit: usize,
    },
    /// The operating system refused something.
    #[error(transparent)]
    System(#[from] SystemError),
    /// The participant has left: it was shut down, or this is a forked child of its process.
    #[error("this participant has left its domain{}", if *forked { ": a forked child must make a context of its own" } else { "" })]
    Left {
        /// Whether this process is a forked child of the participant's process.
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

/// Another participant's memory, or a file in the domain's directory, is invalid. None of its
/// contents are used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {problem}")]
#[non_exhaustive]
pub struct SegmentError {
    /// The file's name in the domain's directory.
    pub file: String,
    /// The reason why it is invalid.
    pub problem: SegmentProblem,
}

/// The reason why a segment is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SegmentProblem {
    /// The file doesn't begin with a segment's magic number.
    #[error("not a segment of Sinew (it begins with {found:#018x})")]
    Magic {
        /// The number at the beginning of the file.
        found: u64,
    },
    /// Another version of Sinew made the file.
    #[error(
        "has layout version {found}, but this program has {ours}: build both with the same version of Sinew"
    )]
    Version {
        /// The layout version of the file.
        found: u32,
        /// The layout version of this program.
        ours: u32,
    },
    /// The file is shorter than its header declares.
    #[error("is {length} bytes long, but its header declares {needed}")]
    Truncated {
        /// Length of the file in bytes.
        length: u64,
        /// Bytes that the file should have.
        needed: u64,
    },
    /// The file has fewer pages allocated than any segment of Sinew has.
    #[error(
        "has {allocated} bytes allocated, but every segment has at least {needed}: it was not made by Sinew"
    )]
    Sparse {
        /// Allocated bytes.
        allocated: u64,
        /// Least number of bytes that should be allocated.
        needed: u64,
    },
    /// The file was made before the machine was last started, or on another machine.
    #[error(
        "was made before the machine was last started, or on another machine (boot id {found:016x}, not {ours:016x}): \
         give each machine a directory of its own, in memory"
    )]
    Boot {
        /// The boot id in the file.
        found: u64,
        /// The boot id of the running system.
        ours: u64,
    },
    /// The file belongs to another user than its participant's other files.
    #[error(
        "belongs to user {found}, but its participant's other files belong to user {user}: it was replaced"
    )]
    User {
        /// The user that owns the file.
        found: u32,
        /// The user that should own it.
        user: u32,
    },
    /// A field has an impossible value.
    #[error("`{field}` is {value}, but can be at most {limit}")]
    Field {
        /// The field.
        field: &'static str,
        /// The value of the field.
        value: u64,
        /// The greatest possible value.
        limit: u64,
    },
    /// The file can't be opened or mapped.
    #[error(transparent)]
    System(SystemError),
}

impl SegmentError {
    pub(crate) fn new(file: &str, problem: SegmentProblem) -> Self {
        Self { file: file.to_owned(), problem }
    }

    /// Returns `true` if the operating system caused the error, for example because it has no
    /// descriptors or memory left, so that a later attempt may succeed. A missing file won't come
    /// back.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(&self.problem, SegmentProblem::System(error) if error.errno != Errno::NOENT)
    }

    /// Returns the operating system's error, if it [may pass](Self::may_pass).
    pub(crate) fn into_passing(self) -> Result<SystemError, Self> {
        let may_pass = self.may_pass();
        match self.problem {
            SegmentProblem::System(error) if may_pass => Ok(error),
            problem => Err(Self { problem, ..self }),
        }
    }

    pub(crate) fn field(file: &str, field: &'static str, value: u64, limit: u64) -> Self {
        Self::new(file, SegmentProblem::Field { field, value, limit })
    }
}
