//! Descriptions of types, stored where all participants find them.
//!
//! They lie beside the domains, in `<base>/types/<hash>.json`, because they mean the same in each
//! domain. This crate doesn't know their contents. But a text is stored under its own hash, so a
//! reader can check that it is the right one, whatever process wrote it. The descriptions are
//! small, and stay.

use crate::error::SystemError;
use crate::platform::sys;
use crate::segment::directory::Directory;
use crate::segment::domain::Domain;
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::fs::File;
use std::io::{Read, Write};
use std::path::PathBuf;

/// The name of the directory beside the domains.
const DIRECTORY: &str = "types";

/// The longest text that is read, in bytes. (The longest of ROS 2's own is 30 kB.)
const LONGEST: u64 = 1 << 20;

impl Domain {
    /// Returns the directory of the type descriptions.
    pub fn descriptions(&self) -> PathBuf {
        self.base().join(DIRECTORY)
    }

    /// Stores the description of the type with this hash, for programs that want to read the type's
    /// messages. An existing description stays if it is the same, and is replaced otherwise.
    ///
    /// Makes some system calls; never blocks.
    ///
    /// # Errors
    /// [`SystemError`]
    pub fn keep_description(&self, hash: &[u8; 32], text: &str) -> Result<(), SystemError> {
        if matches!(self.description(hash), Ok(Some(there)) if there == text.as_bytes()) {
            return Ok(());
        }
        let directory = self.make_descriptions()?;
        let name = file_name(hash);
        let path = directory.join(&name);
        let mut file = File::from(directory.unnamed()?);
        file.write_all(text.as_bytes()).map_err(SystemError::io("write", &path))?;
        let file = file.into();
        sys::change_mode(&file, self.read_mode(), &path)?;
        match directory.link(&file, &name) {
            Err(error) if error.errno == Errno::EXIST => {
                if matches!(self.description(hash), Ok(Some(there)) if there == text.as_bytes()) {
                    return Ok(()); // another process was faster
                }
                directory.remove(&name).map_err(SystemError::at("unlink", &path))?;
                directory.link(&file, &name)
            }
            linked => linked,
        }
    }

    /// Returns the stored description of the type with this hash; `None` if there is none. It is at
    /// most 1 MiB long. The caller checks that it matches the hash.
    ///
    /// # Errors
    /// [`SystemError`]: the description exists, but can't be read.
    pub fn description(&self, hash: &[u8; 32]) -> Result<Option<Vec<u8>>, SystemError> {
        let (path, name) = (self.descriptions(), file_name(hash));
        let directory = match self.base().below(DIRECTORY) {
            Err(Errno::NOENT) => return Ok(None),
            opened => opened.map_err(SystemError::at("open", &path))?,
        };
        // Even a link or a pipe that another user has put there neither leads elsewhere nor blocks
        // us.
        let file = match directory.open_file(&name, OFlags::RDONLY) {
            Err(Errno::NOENT) => return Ok(None),
            opened => File::from(opened.map_err(SystemError::at("open", &path.join(&name)))?),
        };
        let mut text = Vec::new();
        let read = file.take(LONGEST).read_to_end(&mut text);
        read.map_err(SystemError::io("read", &path.join(&name)))?;
        Ok(Some(text))
    }

    /// Creates the directory for descriptions. Users who may use the domain may use it.
    fn make_descriptions(&self) -> Result<Directory, SystemError> {
        let base = self.base();
        if let Err(Errno::NOENT) = base.find(DIRECTORY) {
            base.make(DIRECTORY, self.mode()?).map_err(SystemError::at("mkdir", &self.descriptions()))?;
        }
        base.below(DIRECTORY).map_err(SystemError::at("open", &self.descriptions()))
    }
}

fn file_name(hash: &[u8; 32]) -> String {
    let digits: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    digits + ".json"
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use rustix::fs::Mode;

    #[test]
    fn descriptions_are_kept_and_mended() {
        let base = tempfile::tempdir_in("/dev/shm").unwrap();
        let domain = Domain::open(Some(base.path()), 3).unwrap();
        let hash = [0xab; 32];
        assert_eq!(domain.description(&hash).unwrap(), None);
        domain.keep_description(&hash, "one").unwrap();
        domain.keep_description(&hash, "one").unwrap();
        let other = Domain::open(Some(base.path()), 4).unwrap();
        assert_eq!(other.description(&hash).unwrap().as_deref(), Some(&b"one"[..]));

        other.keep_description(&hash, "two").unwrap();
        assert_eq!(domain.description(&hash).unwrap().as_deref(), Some(&b"two"[..]));
        let files: Vec<_> =
            domain.descriptions().read_dir().unwrap().map(|file| file.unwrap().file_name()).collect();
        assert_eq!(files, [format!("{}.json", "ab".repeat(32)).as_str()]);
    }

    #[test]
    fn what_is_no_file_is_an_error_and_nothing_to_wait_for() {
        let base = tempfile::tempdir_in("/dev/shm").unwrap();
        let domain = Domain::open(Some(base.path()), 0).unwrap();
        let hash = [1; 32];
        let path = domain.descriptions().join(file_name(&hash));
        std::fs::create_dir_all(&path).unwrap();
        assert!(domain.description(&hash).is_err());
        std::fs::remove_dir(&path).unwrap();
        std::os::unix::fs::symlink("/proc/kmsg", &path).unwrap();
        assert!(domain.description(&hash).is_err());
        domain.keep_description(&hash, "it").unwrap();
        assert_eq!(domain.description(&hash).unwrap().as_deref(), Some(&b"it"[..]));
        std::fs::remove_file(&path).unwrap();
        let mode = Mode::RUSR | Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        assert_eq!(domain.description(&hash).unwrap().as_deref(), Some(&b""[..]));
    }
}
