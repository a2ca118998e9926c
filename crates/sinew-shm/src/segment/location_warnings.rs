//! Conditions of a domain's place that aren't errors, but keep programs from finding each other or
//! slow them down.

use crate::platform::sync::PlainMutex;
use crate::segment::directory::Directory;
use crate::segment::domain::Domain;
use crate::segment::file_system::Medium;
use crate::segment::header::parse_file_name;
use crate::segment::owner_state::{OwnerState, probe};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A condition to report to a user who wonders where the other programs are, or why everything is
/// slow. Its text says how to mend it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Concern {
    /// The directory isn't in memory.
    #[error(
        "{} is on a file system that is not a tmpfs ({medium}), so messages may be written to a disk, which slows everything down: \
         set SINEW_DIR to a directory on a tmpfs (such as /dev/shm, if that is one), or mount a tmpfs there",
        path.display()
    )]
    Medium {
        /// The directory, or the part of its path that exists.
        path: PathBuf,
        /// The medium of the directory.
        medium: Medium,
    },
    /// Programs of another user use another directory for the domain of the same number.
    #[error(
        "programs of user {user} use {}, so programs of this user don't see them: to communicate, set SINEW_DIR of both to one directory \
         of a group (mode 2770)",
        path.display()
    )]
    OtherUser {
        /// The other user.
        user: u32,
        /// That user's base directory.
        path: PathBuf,
    },
}

impl Domain {
    /// Returns the concerns about the place of domain `number` below `base`, with the same meaning
    /// as in [`open`](Self::open). The directory need not exist yet. Makes some system calls, and a
    /// few for each other user who has a directory for Sinew.
    ///
    /// ```
    /// let base = tempfile::tempdir_in("/dev/shm")?;
    /// assert!(sinew_shm::Domain::concerns(Some(base.path()), 0).is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn concerns(base: Option<&Path>, number: u32) -> Vec<Concern> {
        let (base, given) = base.map_or_else(Self::default_base, |base| (base.to_owned(), true));
        let path = base.join(number.to_string());
        let there = path.ancestors().find(|part| part.exists()).unwrap_or(Path::new("/"));
        let mut concerns = Vec::new();
        if let Ok(medium) = Medium::of(there)
            && !medium.is_memory()
        {
            concerns.push(Concern::Medium { path: there.to_owned(), medium });
        }
        if !given && let Some(shared) = base.parent() {
            concerns.extend(other_users(shared, number));
        }
        concerns
    }

    /// Warns once per process and directory if the directory isn't in memory.
    pub(crate) fn warn_of_medium(&self) {
        static SAID: PlainMutex<BTreeSet<PathBuf>> = PlainMutex::new(BTreeSet::new());
        let Ok(medium) = self.directory().medium() else { return };
        // Without blocking: in a forked child the lock may be held for ever.
        let is_new = || SAID.try_lock().is_some_and(|mut said| said.insert(self.path().to_owned()));
        if !medium.is_memory() && is_new() {
            let concern = Concern::Medium { path: self.path().to_owned(), medium };
            crate::log_line!(log::Level::Warn, "{concern}");
        }
    }
}

/// Finds other users who have living programs in this domain, or may have: their directories can't
/// always be read.
fn other_users(shared: &Path, number: u32) -> Vec<Concern> {
    let Ok(entries) = std::fs::read_dir(shared) else { return Vec::new() };
    let own = rustix::process::getuid().as_raw();
    let users = entries.flatten().filter_map(|entry| {
        let user: u32 = entry.file_name().to_str()?.strip_prefix("sinew-")?.parse().ok()?;
        let path = entry.path();
        let is_theirs = user != own && Directory::open(&path, false).ok()?.status().ok()?.st_uid == user;
        (is_theirs && is_inhabited(&path, number)).then_some((user, path))
    });
    let mut users: Vec<_> = users.collect();
    users.sort_unstable();
    users.into_iter().map(|(user, path)| Concern::OtherUser { user, path }).collect()
}

/// Whether a living participant is in a domain of this base. When in doubt, `true`.
fn is_inhabited(base: &Path, number: u32) -> bool {
    let domain = match Directory::open(base, false).and_then(|base| base.below(&number.to_string())) {
        Ok(domain) => domain,
        Err(errno) => return errno != Errno::NOENT,
    };
    let Ok(names) = domain.names() else { return true };
    let mut controls = names.iter().filter_map(|name| parse_file_name(name)).filter(|(_, control)| *control);
    controls.any(|(id, _)| probe(&domain, id) == OwnerState::Alive)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::segment::header::SegmentKind;
    use crate::segment::own_segment::{NewSegment, OwnSegment};
    use std::os::unix::fs::chown;

    #[test]
    fn a_directory_on_a_disk_is_a_concern_and_one_in_memory_is_none() {
        for (number, medium) in [(0x0102_1994, Medium::Tmpfs), (0x8584_58f6, Medium::Ramfs)] {
            assert_eq!(Medium::numbered(number), medium);
            assert!(medium.is_memory());
        }
        assert_eq!(Medium::numbered(0xef53).to_string(), "ext4");
        // Not in memory, wherever the tests run.
        let concerns = Domain::concerns(Some(Path::new("/proc/nothing/below")), 0);
        let [Concern::Medium { path, medium }] = &concerns[..] else { panic!("{concerns:?}") };
        assert_eq!((path.as_path(), *medium), (Path::new("/proc"), Medium::Other(0x9fa0)));
        let sentence = concerns[0].to_string();
        assert!(
            sentence.contains("/proc is on a file system that is not a tmpfs (type 0x9fa0)"),
            "{sentence}"
        );
        assert!(sentence.contains("SINEW_DIR"), "{sentence}");
    }

    #[test]
    fn another_users_living_programs_are_named_and_dead_ones_are_not() {
        let is_root = rustix::process::geteuid().is_root();
        let shared = tempfile::tempdir_in("/dev/shm").unwrap();
        let base = shared.path().join("sinew-61001");
        let domain = Domain::open(Some(&base), 3).unwrap();
        let new = NewSegment {
            kind: SegmentKind::Control,
            owner: 7,
            number: 0,
            length: 4096,
            reserved: 4096,
            locked: true,
        };
        let living = OwnSegment::create(&domain, &new).unwrap().publish().unwrap();
        assert!(is_inhabited(&base, 3) && !is_inhabited(&base, 4));
        // The name claims another user, but the directory belongs to us.
        assert_eq!(other_users(shared.path(), 3), []);
        if is_root {
            chown(&base, Some(61_001), None).unwrap();
            let found = other_users(shared.path(), 3);
            assert_eq!(found, [Concern::OtherUser { user: 61_001, path: base.clone() }]);
            assert!(found[0].to_string().contains("programs of user 61001"), "{}", found[0]);
        }
        drop(living);
        assert!(!is_inhabited(&base, 3), "what is left of a dead one");
        assert_eq!(other_users(shared.path(), 3), []);
    }
}
