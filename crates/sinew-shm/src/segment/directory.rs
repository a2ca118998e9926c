//! An open directory: its descriptor always refers to the directory that was opened, whatever its
//! name refers to later.
//!
//! In a base that several users share, each of them may rename its entries, or replace them by
//! links, between any two of our calls. So nothing is looked up twice: names are opened relative to
//! the descriptor, no symbolic link is followed below a base, checks apply to the file that was
//! opened, and modes are changed only where no other user can have interfered (see
//! [`Directory::make`]).

use crate::error::SystemError;
use crate::platform::sys::{self, FileTime};
use crate::segment::file_system::Medium;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{AtFlags, Dir, Mode, OFlags, RenameFlags, Stat};
use rustix::io::{Errno, Result};
use std::io;
use std::path::{Path, PathBuf};

/// An open directory.
#[derive(Debug)]
pub(crate) struct Directory {
    file: OwnedFd,
    /// The path that was opened, for messages.
    path: PathBuf,
}

/// For opening any file: no terminal, no waiting for a pipe's other end, no link.
const PLAIN: OFlags = OFlags::CLOEXEC.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK);

impl Directory {
    /// Opens a directory by its path, only for looking up names in it.
    pub(crate) fn open(path: &Path, follow: bool) -> Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let flags = if follow { flags } else { flags | OFlags::NOFOLLOW };
        let file = rustix::fs::open(path, flags, Mode::empty())?;
        Ok(Self { file, path: path.to_owned() })
    }

    /// Opens a directory in this one, which can also be read. A link isn't followed.
    pub(crate) fn below(&self, name: &str) -> Result<Self> {
        let file = self.open_file(name, OFlags::RDONLY | OFlags::DIRECTORY)?;
        Ok(Self { file, path: self.join(name) })
    }

    /// Creates a directory in this one, unless the name exists.
    ///
    /// If other users may write here and the mode isn't 0700, the directory must appear with its
    /// final mode, so that they can't interfere: it is created in a directory of ours that no other
    /// user can enter, and then moved. (If the process is killed in between, that one stays, empty
    /// or nearly so: `.new-<number>`.)
    pub(crate) fn make(&self, name: &str, mode: u32) -> Result<()> {
        if mode & 0o7777 == 0o700 {
            return made(rustix::fs::mkdirat(&self.file, name, Mode::RWXU));
        }
        if self.status()?.st_mode & 0o022 == 0 {
            return made(self.make_with(name, mode));
        }
        let within = format!(".new-{:016x}", sys::random());
        rustix::fs::mkdirat(&self.file, &within, Mode::RWXU)?;
        let moved = self.make_within(&within, name, mode);
        let _ = rustix::fs::unlinkat(&self.file, &within, AtFlags::REMOVEDIR); // it may be gone already
        made(moved)
    }

    fn make_within(&self, within: &str, name: &str, mode: u32) -> Result<()> {
        let private = self.below(within)?;
        let found = private.status()?;
        // A directory that another user has put there isn't ours, or isn't private.
        if found.st_uid != rustix::process::geteuid().as_raw() || found.st_mode & 0o077 != 0 {
            return Err(Errno::PERM);
        }
        let moved = private.make_with(name, mode).and_then(|()| {
            rustix::fs::renameat_with(&private.file, name, &self.file, name, RenameFlags::NOREPLACE)
        });
        if moved.is_err() {
            let _ = rustix::fs::unlinkat(&private.file, name, AtFlags::REMOVEDIR); // no other user can
        }
        moved
    }

    /// Creates a directory where no other user may write.
    fn make_with(&self, name: &str, mode: u32) -> Result<()> {
        rustix::fs::mkdirat(&self.file, name, Mode::RWXU)?;
        let made = self.below(name)?;
        rustix::fs::fchmod(&made.file, Mode::from_raw_mode(mode))
    }

    /// The path that was opened.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The path of a name in the directory, for messages.
    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The kernel's path of the directory, for calls that take no descriptor.
    pub(crate) fn handle(&self) -> PathBuf {
        sys::proc_path(&self.file)
    }

    pub(crate) fn status(&self) -> Result<Stat> {
        rustix::fs::fstat(&self.file)
    }

    /// When the directory last gained or lost a name.
    pub(crate) fn modified(&self) -> Option<FileTime> {
        let found = self.status().ok()?;
        Some((found.st_mtime, found.st_mtime_nsec))
    }

    /// Size and free bytes of the directory's file system; 0 if unknown.
    pub(crate) fn room(&self) -> (u64, u64) {
        rustix::fs::fstatvfs(&self.file)
            .map_or((0, 0), |found| (found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize))
    }

    /// The medium of the directory's files.
    pub(crate) fn medium(&self) -> Result<Medium> {
        Ok(Medium::numbered(rustix::fs::fstatfs(&self.file)?.f_type))
    }

    /// The names in the directory.
    pub(crate) fn names(&self) -> io::Result<Vec<String>> {
        // The C library treats a removed directory as an empty one.
        if self.status()?.st_nlink == 0 {
            return Err(Errno::NOENT.into());
        }
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.file)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if name != "." && name != ".." {
                names.push(name);
            }
        }
        Ok(names)
    }

    /// Opens a file in the directory. Doesn't follow links and doesn't block.
    pub(crate) fn open_file(&self, name: &str, flags: OFlags) -> Result<OwnedFd> {
        rustix::fs::openat(&self.file, name, flags | PLAIN, Mode::empty())
    }

    /// The status of a name; for a link, that of the link itself.
    pub(crate) fn find(&self, name: &str) -> Result<Stat> {
        rustix::fs::statat(&self.file, name, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// Creates a file without a name, readable and writable by its creator.
    pub(crate) fn unnamed(&self) -> std::result::Result<OwnedFd, SystemError> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        rustix::fs::openat(&self.file, ".", flags, Mode::RUSR | Mode::WUSR)
            .map_err(SystemError::at("open(O_TMPFILE)", &self.path))
    }

    /// Gives a complete file its name, which must not exist.
    pub(crate) fn link(&self, file: &OwnedFd, name: &str) -> std::result::Result<(), SystemError> {
        let here = sys::proc_path(file);
        rustix::fs::linkat(rustix::fs::CWD, here, &self.file, name, AtFlags::SYMLINK_FOLLOW)
            .map_err(SystemError::at("linkat", &self.join(name)))
    }

    /// Removes a file's name.
    pub(crate) fn remove(&self, name: &str) -> Result<()> {
        rustix::fs::unlinkat(&self.file, name, AtFlags::empty())
    }
}

/// Ignores that another process has made it first.
fn made(result: Result<()>) -> Result<()> {
    if result == Err(Errno::EXIST) { Ok(()) } else { result }
}

/// Two are equal if they are the same directory, whatever their names.
impl PartialEq for Directory {
    fn eq(&self, other: &Self) -> bool {
        let place = |of: &Self| of.status().ok().map(|found| (found.st_dev, found.st_ino));
        self.file.as_raw_fd() == other.file.as_raw_fd()
            || place(self).is_some_and(|ours| Some(ours) == place(other))
    }
}

impl Eq for Directory {}
