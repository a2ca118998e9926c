//! Log files for the processes' output: below `ROS_LOG_DIR`, else `$ROS_HOME/log`, else
//! `~/.ros/log`, with a directory for each launch, as `ros2 launch` does it.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};

/// Returns the directory that holds the files of all launches.
pub(super) fn base(environment: &BTreeMap<String, String>) -> PathBuf {
    let of = |name| environment.get(name).filter(|value: &&String| !value.is_empty()).map(PathBuf::from);
    of("ROS_LOG_DIR")
        .or_else(|| of("ROS_HOME").map(|home| home.join("log")))
        .unwrap_or_else(|| of("HOME").unwrap_or_default().join(".ros/log"))
}

/// The log files of this launch.
pub(super) struct Logs {
    directory: PathBuf,
    files: BTreeMap<String, File>,
}

impl Logs {
    /// Creates the directory, and makes `latest` point to it.
    pub(super) fn create(base: &Path) -> io::Result<Self> {
        let now = clock_gettime(ClockId::Realtime);
        let since = Duration::new(now.tv_sec.try_into().unwrap_or(0), now.tv_nsec.try_into().unwrap_or(0));
        let stamp = humantime::format_rfc3339_micros(UNIX_EPOCH + since).to_string();
        let stamp = stamp.trim_end_matches('Z').replace(['T', ':', '.'], "-");
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let name = format!("{stamp}-{host}-{}", std::process::id());
        let directory = base.join(&name);
        std::fs::create_dir_all(&directory)?;
        // Another launch may do the same at this moment; the link only serves people.
        let latest = base.join("latest");
        if latest.is_symlink() {
            let _ = std::fs::remove_file(&latest);
        }
        let _ = std::os::unix::fs::symlink(&name, &latest);
        Ok(Self { directory, files: BTreeMap::new() })
    }

    /// Returns the directory.
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Appends to the file of that name, which is created if it doesn't exist yet.
    pub(super) fn write(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        if !self.files.contains_key(name) {
            let file = OpenOptions::new().create(true).append(true).open(self.directory.join(name))?;
            self.files.insert(name.to_owned(), file);
        }
        match self.files.get_mut(name) {
            Some(file) => file.write_all(bytes),
            None => Ok(()),
        }
    }
}
