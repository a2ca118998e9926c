//! A domain's directory: where its participants find each other.

use crate::error::{CapacityError, DomainError, SystemError};
use crate::segment::{Kind, NewSegment, OwnSegment};
use rustix::fs::{Mode, Stat};
use rustix::io::Errno;
use std::path::{Path, PathBuf, absolute};

/// The directory in which the participants of one domain meet: `<base>/<number>`.
///
/// ```
/// let base = tempfile::tempdir_in("/dev/shm")?;
/// let domain = sinew_shm::Domain::open(Some(base.path()), 7)?;
/// assert_eq!(domain.path(), base.path().join("7"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Domain {
    path: PathBuf,
    number: u32,
    /// Permission bits of group and others that our files get as well, because the directory has them.
    shared_with: u32,
}

impl Domain {
    /// The base directory where none is given: `$SINEW_DIR`, else `/dev/shm/sinew-<uid>`; and whether it was given.
    pub fn default_base() -> (PathBuf, bool) {
        match std::env::var_os("SINEW_DIR").filter(|value| !value.is_empty()) {
            Some(path) => (path.into(), true),
            None => (PathBuf::from(format!("/dev/shm/sinew-{}", rustix::process::getuid().as_raw())), false),
        }
    }

    /// Opens the directory of domain `number` below `base` ([`default_base`](Self::default_base) if none is given), and makes
    /// it if it isn't there. Directories that are made have mode 0700.
    ///
    /// A base that was given may belong to somebody else, e.g. in containers or for several users: then whoever may write to
    /// it takes part. The default one must be ours alone. A relative one is taken from the working directory of this moment.
    ///
    /// # Errors
    /// [`DomainError`]
    pub fn open(base: Option<&Path>, number: u32) -> Result<Self, DomainError> {
        let (base, given) = base_of(base)?;
        let found = make(&base)?;
        check(&base, &found, given)?;
        let path = base.join(number.to_string());
        let found = make(&path)?;
        if given {
            share(&base, &path, &found)?;
        }
        let found = stat(&path)?;
        check(&path, &found, given)?;
        Ok(Self { path, number, shared_with: found.st_mode & 0o066 })
    }

    /// The same as [`open`](Self::open), but makes and changes nothing; `None` if the directory isn't there.
    ///
    /// # Errors
    /// [`DomainError`]
    pub fn find(base: Option<&Path>, number: u32) -> Result<Option<Self>, DomainError> {
        let (base, given) = base_of(base)?;
        let path = base.join(number.to_string());
        let mut shared_with = 0;
        for directory in [&base, &path] {
            let found = match rustix::fs::stat(directory) {
                Ok(found) => found,
                Err(Errno::NOENT) => return Ok(None),
                Err(errno) => return Err(SystemError::at("stat", directory)(errno).into()),
            };
            check(directory, &found, given)?;
            shared_with = found.st_mode & 0o066;
        }
        Ok(Some(Self { path, number, shared_with }))
    }

    /// Makes a segment as participants do, a page long, and lets it go before anybody sees it.
    ///
    /// # Errors
    /// [`CapacityError`]: what would keep a participant from joining.
    pub fn try_out(&self) -> Result<(), CapacityError> {
        let new = NewSegment {
            kind: Kind::Control,
            owner: 0,
            number: 0,
            length: 4096,
            reserved: 4096,
            locked: true,
        };
        OwnSegment::create(self, &new).map(drop)
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The domain's number.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The mode of a file that only its creator writes.
    pub(crate) fn read_mode(&self) -> u32 {
        0o400 | (self.shared_with & 0o044)
    }

    /// The mode of a file that all participants write.
    pub(crate) fn write_mode(&self) -> u32 {
        0o600 | self.shared_with
    }

    /// Why there was no room, or what else went wrong.
    pub(crate) fn no_room(&self, call: &'static str, wanted: usize, error: &std::io::Error) -> CapacityError {
        let errno = Errno::from_io_error(error).unwrap_or(Errno::IO);
        if errno == Errno::NOSPC || errno == Errno::DQUOT {
            let (size, free) = self.room();
            return CapacityError::FileSystem { path: self.path.clone(), wanted, free, size };
        }
        CapacityError::System(SystemError::at(call, &self.path)(errno))
    }

    /// Size and free bytes of the file system; 0 if unknown.
    pub fn room(&self) -> (u64, u64) {
        rustix::fs::statvfs(&self.path)
            .map_or((0, 0), |found| (found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize))
    }
}

/// The base directory, wherever the process goes later; and whether it was given.
fn base_of(base: Option<&Path>) -> Result<(PathBuf, bool), SystemError> {
    let (base, given) = base.map_or_else(Domain::default_base, |base| (base.to_owned(), true));
    let base = absolute(&base).map_err(SystemError::io("getcwd", &base))?;
    Ok((base, given))
}

fn stat(path: &Path) -> Result<Stat, SystemError> {
    rustix::fs::stat(path).map_err(SystemError::at("stat", path))
}

/// Makes a directory of ours, if nothing is there.
fn make(path: &Path) -> Result<Stat, SystemError> {
    match rustix::fs::mkdir(path, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => stat(path),
        Err(errno) => Err(SystemError::at("mkdir", path)(errno)),
    }
}

/// Who may use the base may use the domain: several users share a directory by sharing the base.
fn share(base: &Path, path: &Path, found: &Stat) -> Result<(), SystemError> {
    let wanted = stat(base)?.st_mode & 0o7077;
    if found.st_mode & 0o077 == wanted & 0o077 || found.st_uid != rustix::process::getuid().as_raw() {
        return Ok(());
    }
    rustix::fs::chmod(path, Mode::from_raw_mode(0o700 | wanted)).map_err(SystemError::at("chmod", path))
}

/// Nobody may have put it there to have us read what he wrote.
fn check(path: &Path, found: &Stat, given: bool) -> Result<(), DomainError> {
    let user = rustix::process::getuid().as_raw();
    if !rustix::fs::FileType::from_raw_mode(found.st_mode).is_dir() {
        return Err(DomainError::NotADirectory { path: path.to_owned() });
    }
    if !given && found.st_uid != user {
        return Err(DomainError::Owner { path: path.to_owned(), owner: found.st_uid, user });
    }
    let mode = found.st_mode & 0o7777;
    let open = if given { mode & 0o002 != 0 && mode & 0o1000 == 0 } else { mode & 0o022 != 0 };
    if open {
        return Err(DomainError::Mode { path: path.to_owned(), mode });
    }
    Ok(())
}
