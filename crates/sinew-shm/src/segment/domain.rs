//! A domain's directory, where its participants find each other.

use crate::error::{CapacityError, DomainError, SystemError};
use crate::platform::sync::Arc;
use crate::segment::directory::Directory;
use rustix::fs::{Mode, Stat};
use rustix::io::Errno;
use std::path::{Path, PathBuf, absolute};

/// The divisor for the part of a file system that large messages leave to participants that join.
const KEPT: u64 = 16;

/// The most bytes that are left to them, however large the file system is.
const MOST_KEPT: u64 = 16 << 20;

/// The most that is left to them, as a multiple of the requested size, so that small messages may
/// still be sent when large ones can't.
const KEPT_BESIDE: u64 = 64;

/// The directory in which the participants of one domain meet: `<base>/<number>`.
///
/// The directory is kept open: its participants are not affected if it is renamed, or if another
/// directory takes its name. Two domains are equal if both are the same directory.
///
/// ```
/// let base = tempfile::tempdir_in("/dev/shm")?;
/// let domain = sinew_shm::Domain::open(Some(base.path()), 7)?;
/// assert_eq!(domain.path(), base.path().join("7"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Domain {
    directory: Arc<Directory>,
    base: Arc<Directory>,
    number: u32,
    /// Permission bits for group and others that this participant's files get as well, because the
    /// directory has them.
    shared_with: u32,
}

impl Domain {
    /// Returns the base directory to use if none is given, `$SINEW_DIR` or else
    /// `/dev/shm/sinew-<uid>`, and whether `$SINEW_DIR` gave it.
    pub fn default_base() -> (PathBuf, bool) {
        match std::env::var_os("SINEW_DIR").filter(|value| !value.is_empty()) {
            Some(path) => (path.into(), true),
            None => (PathBuf::from(format!("/dev/shm/sinew-{}", rustix::process::getuid().as_raw())), false),
        }
    }

    /// Opens the directory of domain `number` below `base` ([`default_base`](Self::default_base) if
    /// `None`), and creates it if it doesn't exist. A new base gets mode 0700; a new domain
    /// directory gets the mode bits of its base.
    ///
    /// A base that is given explicitly may belong to another user, e.g. in containers or if several
    /// users share it; every user who may write to it can take part. The default base must belong
    /// to the user of this process alone. A relative base is resolved against the current working
    /// directory.
    ///
    /// A base that is given explicitly may be a symbolic link, because the caller chose it. The
    /// default base may not, nor may the domain's directory or anything in it, since another user
    /// could have put the link there. The mode of an existing directory is never changed.
    ///
    /// # Errors
    /// [`DomainError`]
    pub fn open(base: Option<&Path>, number: u32) -> Result<Self, DomainError> {
        let (path, given) = base_of(base)?;
        let base = match open_base(&path, given) {
            Err(Errno::NOENT) => {
                match rustix::fs::mkdir(&path, Mode::RWXU) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(errno) => return Err(SystemError::at("mkdir", &path)(errno).into()),
                }
                open_base(&path, given)
            }
            opened => opened,
        };
        let base = base.map_err(refusal(&path))?;
        let rights = check(&base, given)?.st_mode & 0o7077;
        let name = number.to_string();
        let below = match base.below(&name) {
            Err(Errno::NOENT) => {
                // Users who may use the base may use the domain: several users share a domain by
                // sharing its base.
                let mode = if given { 0o700 | rights } else { 0o700 };
                base.make(&name, mode).map_err(|errno| match errno {
                    // The new directory can't be renamed: an overlayfs, where no participant can
                    // join anyway.
                    Errno::XDEV => DomainError::Locks { path: base.path().to_owned() },
                    errno => SystemError::at("mkdir", &base.join(&name))(errno).into(),
                })?;
                base.below(&name)
            }
            opened => opened,
        };
        let domain = Self::checked(base, below, number, given)?;
        if given {
            domain.warn_if_less_shared(rights);
        }
        Ok(domain)
    }

    /// Like [`open`](Self::open), but creates nothing; returns `None` if the directory doesn't
    /// exist.
    ///
    /// # Errors
    /// [`DomainError`]
    pub fn find(base: Option<&Path>, number: u32) -> Result<Option<Self>, DomainError> {
        let (path, given) = base_of(base)?;
        let base = match open_base(&path, given) {
            Err(Errno::NOENT) => return Ok(None),
            opened => opened.map_err(refusal(&path))?,
        };
        check(&base, given)?;
        match base.below(&number.to_string()) {
            Err(Errno::NOENT) => Ok(None),
            opened => Self::checked(base, opened, number, given).map(Some),
        }
    }

    /// Warns if the domain's directory was created before its base was shared, and so excludes
    /// other users.
    fn warn_if_less_shared(&self, rights: u32) {
        let Ok(found) = self.directory.status() else { return };
        let missing = rights & 0o066 & !found.st_mode;
        if missing != 0 && found.st_uid == rustix::process::getuid().as_raw() {
            crate::log_line!(
                log::Level::Warn,
                "{} has mode {:o}, which lets fewer users take part than its base: chmod it to {:o}, or set SINEW_DIR",
                self.path().display(),
                found.st_mode & 0o7777,
                0o700 | rights,
            );
        }
    }

    /// Checks the directory that was opened below its base.
    fn checked(
        base: Directory,
        opened: rustix::io::Result<Directory>,
        number: u32,
        given: bool,
    ) -> Result<Self, DomainError> {
        let directory = opened.map_err(refusal(&base.join(&number.to_string())))?;
        let shared_with = check(&directory, given)?.st_mode & 0o066;
        Ok(Self { directory: Arc::new(directory), base: Arc::new(base), number, shared_with })
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn directory(&self) -> &Arc<Directory> {
        &self.directory
    }

    /// The directory that contains the domain's directory.
    pub(crate) fn base(&self) -> &Directory {
        &self.base
    }

    /// The mode of the domain's directory, which directories created beside it get as well.
    pub(crate) fn mode(&self) -> Result<u32, SystemError> {
        let found = self.directory.status().map_err(SystemError::at("fstat", self.path()))?;
        Ok(found.st_mode & 0o7777)
    }

    /// Returns the domain's number.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The mode of a file that only its creator writes.
    pub(crate) fn read_mode(&self) -> u32 {
        0o400 | (self.shared_with & 0o044)
    }

    /// The mode of a file that all participants may touch and none reads; `None` if other users
    /// can't take part.
    pub(crate) fn touch_mode(&self) -> Option<u32> {
        let others = self.shared_with & 0o022;
        (others != 0).then_some(0o600 | others)
    }

    /// Turns an error into [`CapacityError`]: a full file system, or any other system error.
    pub(crate) fn no_room(&self, call: &'static str, wanted: usize, error: &std::io::Error) -> CapacityError {
        let errno = Errno::from_io_error(error).unwrap_or(Errno::IO);
        if errno == Errno::NOSPC || errno == Errno::DQUOT {
            let (size, free) = self.room();
            return CapacityError::FileSystem { path: self.path().to_owned(), wanted, free, size };
        }
        CapacityError::System(SystemError::at(call, self.path())(errno))
    }

    /// Checks that messages may take `wanted` more bytes and still leave enough for participants
    /// that join. The larger the request, the more must be left, up to a part of the file system.
    pub(crate) fn spares(&self, wanted: usize) -> Result<(), CapacityError> {
        let (size, _) = self.room();
        let usable = self.usable(wanted);
        if size == 0 || usable >= wanted as i64 {
            return Ok(());
        }
        let free = usable.max(0).cast_unsigned();
        Err(CapacityError::FileSystem { path: self.path().to_owned(), wanted, free, size })
    }

    /// Bytes that messages of `wanted` bytes each may still take; negative if more is in use than
    /// should be.
    pub(crate) fn usable(&self, wanted: usize) -> i64 {
        let (size, free) = self.room();
        let kept = (size / KEPT).min(MOST_KEPT).min((wanted as u64).saturating_mul(KEPT_BESIDE));
        free.cast_signed() - kept.cast_signed()
    }

    /// Returns the size and the free bytes of the file system; 0 if unknown.
    pub fn room(&self) -> (u64, u64) {
        self.directory.room()
    }
}

/// The absolute base directory, independent of later changes of the working directory, and whether
/// it was given explicitly.
fn base_of(base: Option<&Path>) -> Result<(PathBuf, bool), SystemError> {
    let (base, given) = base.map_or_else(Domain::default_base, |base| (base.to_owned(), true));
    let base = absolute(&base).map_err(SystemError::io("getcwd", &base))?;
    Ok((base, given))
}

fn open_base(path: &Path, given: bool) -> rustix::io::Result<Directory> {
    Directory::open(path, given)
}

/// The error for a directory that can't be opened.
fn refusal(path: &Path) -> impl Fn(Errno) -> DomainError {
    move |errno| match errno {
        // The kernel reports a link that isn't followed as either of these.
        Errno::NOTDIR | Errno::LOOP => DomainError::NotADirectory { path: path.to_owned() },
        errno => SystemError::at("open", path)(errno).into(),
    }
}

/// Rejects a directory that another user may have created to have this process read that user's
/// data.
fn check(directory: &Directory, given: bool) -> Result<Stat, DomainError> {
    let path = || directory.path().to_owned();
    let user = rustix::process::getuid().as_raw();
    let found = directory.status().map_err(SystemError::at("fstat", directory.path()))?;
    if !given && found.st_uid != user {
        return Err(DomainError::Owner { path: path(), owner: found.st_uid, user });
    }
    let mode = found.st_mode & 0o7777;
    let open = if given { mode & 0o002 != 0 && mode & 0o1000 == 0 } else { mode & 0o022 != 0 };
    if open {
        return Err(DomainError::Mode { path: path(), mode });
    }
    Ok(found)
}
