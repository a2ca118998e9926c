//! Checks the domain's directory, its file system, and its files.

use std::path::{Path, PathBuf};

use rustix::fs::{Access, statvfs};
use sinew::gateway::LOCK_FILE;
use sinew_shm::Domain;
use sinew_shm::inspect::{Concern, Leftovers, Medium, Snapshot};

use super::finding::Finding;
use super::types;
use sinew_bench::units::bytes;

/// The default shared memory of a container, in bytes.
const CONTAINER: u64 = 64 << 20;

/// With less than this free, in bytes, programs soon fail.
const LITTLE: u64 = 16 << 20;

/// Checks a domain's directory, which need not exist.
pub(super) fn check(base: Option<&Path>, number: u32, path: &Path, clean: bool) -> Vec<Finding> {
    // The part of the path that exists.
    let there = path.ancestors().find(|part| part.exists()).unwrap_or(Path::new("/"));
    let domain = Domain::find(base, number);
    let mut findings = vec![directory(&domain, path, there), kind(there), size(there)];
    findings.extend(others(&Domain::concerns(base, number)));
    if let Ok(Some(domain)) = &domain {
        findings.push(rights(domain));
        findings.extend(files(domain, clean));
        findings.push(types::check(domain));
    }
    findings
}

fn directory(domain: &Result<Option<Domain>, sinew_shm::DomainError>, path: &Path, there: &Path) -> Finding {
    let check = "directory";
    match domain {
        Err(error) => Finding::wrong(
            check,
            format!("participants can't join: {error}"),
            "have the directory's owner give you rights (a group, mode 2770), or set SINEW_DIR to a directory of yours on a tmpfs",
        ),
        Ok(Some(_)) => {
            let found = rustix::fs::stat(path).map_or_else(
                |error| error.to_string(),
                |found| format!("user {}, mode {:o}", found.st_uid, found.st_mode & 0o7777),
            );
            Finding::fine(check, format!("{}: {found}", path.display()))
        }
        // Participants create the domain's directory and its parent, but none above.
        Ok(None) if path.ancestors().skip(2).take(1).any(|above| !above.exists()) => Finding::wrong(
            check,
            format!("{} isn't there, and neither is the directory above it", path.display()),
            format!("mkdir -p {}", path.parent().unwrap_or(path).display()),
        ),
        Ok(None) => match rustix::fs::access(there, Access::WRITE_OK) {
            Ok(()) => Finding::fine(
                check,
                format!("{} isn't there: the first participant makes it", path.display()),
            ),
            Err(error) => Finding::wrong(
                check,
                format!("{} isn't there, and can't be made in {}: {error}", path.display(), there.display()),
                "set SINEW_DIR to a directory of yours on a tmpfs",
            ),
        },
    }
}

fn kind(there: &Path) -> Finding {
    match Medium::of(there) {
        Ok(medium) => kind_of(medium, there),
        Err(error) => {
            Finding::wrong("file system", format!("{}: {error}", there.display()), "see the line above")
        }
    }
}

fn kind_of(medium: Medium, there: &Path) -> Finding {
    let check = "file system";
    let there = there.display();
    match medium {
        Medium::Tmpfs => Finding::fine(check, format!("{there} is a tmpfs")),
        // It reserves nothing: a full memory would raise a signal instead of an error.
        Medium::Ramfs => Finding::advice(
            check,
            format!("{there} is a ramfs, which has no limit"),
            "use a tmpfs, such as /dev/shm",
        ),
        other => Finding::advice(
            check,
            format!("{there} is not a tmpfs ({other}), so messages may be written to a disk"),
            "use a tmpfs: unset SINEW_DIR, or set it to a directory below /dev/shm",
        ),
    }
}

/// Participants that meet elsewhere.
fn others(concerns: &[Concern]) -> Vec<Finding> {
    let users = concerns.iter().filter_map(|concern| match concern {
        Concern::OtherUser { user, path } => Some((user, path)),
        _ => None,
    });
    let advice = |(user, path): (&u32, &PathBuf)| {
        let found = format!("programs of user {user} use {}, and aren't visible from here", path.display());
        let remedy = "to meet, share a directory of a group (mode 2770): set SINEW_DIR to it for both";
        Finding::advice("other users", found, remedy)
    };
    users.map(advice).collect()
}

fn size(there: &Path) -> Finding {
    match statvfs(there) {
        Ok(found) => size_of(found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize),
        Err(error) => Finding::wrong("size", format!("{}: {error}", there.display()), "see the line above"),
    }
}

fn size_of(size: u64, free: u64) -> Finding {
    let check = "size";
    let found = format!("{} of {} free", bytes(free as f64), bytes(size as f64));
    let remedy = "in a container: start it with --shm-size=1g (Kubernetes: an emptyDir of medium Memory at /dev/shm), or \
                  share the host's with --ipc=host; on a host: mount -o remount,size=4g /dev/shm";
    // A size of 0 means that the file system has no limit.
    if size > 0 && free < LITTLE {
        Finding::wrong(check, found, format!("remove what fills it, or make it bigger; {remedy}"))
    } else if size > 0 && size <= CONTAINER {
        Finding::advice(check, format!("{found}: enough for small messages only"), remedy)
    } else {
        Finding::fine(check, found)
    }
}

fn rights(domain: &Domain) -> Finding {
    let check = "rights";
    match domain.try_out() {
        Ok(()) => Finding::fine(check, "segments can be made, locked and mapped"),
        Err(error) => Finding::wrong(
            check,
            format!("participants can't join: {error}"),
            "mend what the line says: rights of the directory, its size, or set SINEW_DIR to another one on a tmpfs",
        ),
    }
}

/// Checks the files of all participants in the directory.
fn files(domain: &Domain, clean: bool) -> Vec<Finding> {
    let unreadable = |error: sinew_shm::SystemError| {
        vec![Finding::wrong("participants", error.to_string(), "see the rights of the directory")]
    };
    let mut census = match Snapshot::take(domain) {
        Ok(census) => census,
        Err(error) => return unreadable(error),
    };
    let before = census.remains().to_vec();
    if clean && let Err(error) = census.clean() {
        return unreadable(error);
    }
    let mut findings = vec![Finding::fine("participants", format!("{} live here", census.peers().len()))];
    for refused in census.refused() {
        let remedy = "end that process, or remove the file if no process uses it; until then it and the others don't see each other";
        findings.push(Finding::wrong("participants", refused.to_string(), remedy));
    }
    findings.extend(copies(census.peers().iter().map(|peer| (peer.program(), peer.pid(), peer.copied()))));
    findings.push(stale(&before, census.remains(), clean));
    let foreign: Vec<&str> =
        census.foreign().iter().map(String::as_str).filter(|name| *name != LOCK_FILE).collect();
    if !foreign.is_empty() {
        let found = format!("{} are none of ours", foreign.join(", "));
        findings.push(Finding::advice(
            "foreign files",
            found,
            "remove them, or set SINEW_DIR to a directory for Sinew alone",
        ));
    }
    findings
}

/// Finds processes that keep more messages of other processes than there are holds.
fn copies(peers: impl Iterator<Item = (String, u64, u64)>) -> Option<Finding> {
    let all: Vec<String> = peers
        .filter(|&(.., copied)| copied > 0)
        .map(|(program, pid, copied)| format!("{program} ({pid}) has copied {copied}"))
        .collect();
    (!all.is_empty()).then(|| {
        let remedy = "they keep more than 4095 messages of other processes at once: let go of them earlier";
        Finding::advice("messages in use", all.join(", "), remedy)
    })
}

fn stale(before: &[Leftovers], after: &[Leftovers], clean: bool) -> Finding {
    let check = "stale files";
    let sum = |remains: &[&Leftovers]| {
        let files: usize = remains.iter().map(|one| one.files.len()).sum();
        let size: u64 = remains.iter().map(|one| one.bytes).sum();
        let dead = if remains.len() == 1 { "one dead process" } else { "dead processes" };
        format!("{files} files of {dead} ({})", bytes(size as f64))
    };
    let (read, stale): (Vec<&Leftovers>, Vec<&Leftovers>) = after.iter().partition(|one| one.is_read);
    let removed: Vec<&Leftovers> =
        before.iter().filter(|one| after.iter().all(|left| left.id != one.id)).collect();
    if let Some(first) = stale.first() {
        let names = first.files.first().map(|file| format!(", {file} for one")).unwrap_or_default();
        let found = format!("{}{names}", sum(&stale));
        return if clean {
            let remedy = "remove them by hand, or have their owner do it; directories are never removed";
            Finding::wrong(check, format!("{found}, can't be removed"), remedy)
        } else {
            Finding::wrong(check, found, "sinew doctor --clean removes them, as does the next participant")
        };
    }
    let mut found = if removed.is_empty() { "none".to_owned() } else { format!("removed {}", sum(&removed)) };
    if !read.is_empty() {
        found += &format!("; {} are still being read", sum(&read));
    }
    Finding::fine(check, found)
}

#[cfg(test)]
mod tests {
    use super::super::finding::State;
    use super::*;

    #[test]
    fn a_containers_size_is_told_what_to_set() {
        let small = size_of(64 << 20, 60 << 20);
        assert_eq!(small.state, State::Advice);
        assert!(small.found.starts_with("60.0 MB of 64.0 MB free") && small.remedy.contains("--shm-size=1g"));
        assert_eq!(size_of(8 << 30, 1 << 20).state, State::Wrong);
        assert_eq!((size_of(8 << 30, 4 << 30).state, size_of(0, 0).state), (State::Fine, State::Fine));
    }

    #[test]
    fn only_a_tmpfs_will_do() {
        let state = |medium| kind_of(medium, Path::new("/somewhere")).state;
        assert_eq!((state(Medium::Tmpfs), state(Medium::Ramfs)), (State::Fine, State::Advice));
        assert_eq!(state(Medium::of(Path::new("/proc")).unwrap()), State::Advice);
    }

    #[test]
    fn other_users_are_named() {
        let found = others(&[Concern::OtherUser { user: 7, path: "/dev/shm/sinew-7".into() }]);
        assert_eq!((found.len(), found[0].state), (1, State::Advice));
        assert!(found[0].found.contains("user 7 use /dev/shm/sinew-7"), "{found:?}");
        assert!(found[0].remedy.contains("SINEW_DIR"), "{found:?}");
    }

    #[test]
    fn who_keeps_too_many_messages_is_named() {
        let peer = |copied| ("camera".to_owned(), 7, copied);
        assert!(copies([peer(0)].into_iter()).is_none());
        let found = copies([peer(0), peer(12)].into_iter()).unwrap();
        assert_eq!((found.state, found.found.as_str()), (State::Advice, "camera (7) has copied 12"));
        assert!(found.remedy.contains("more than 4095 messages"), "as Hold says: {found:?}");
    }

    #[test]
    fn the_dead_are_counted_and_the_read_left_alone() {
        let remains =
            |id, is_read| Leftovers { id, files: vec!["a".into(), "b".into()], bytes: 4096, is_read };
        let (dead, read) = (remains(1, false), remains(2, true));
        let both = [dead.clone(), read.clone()];
        let found = stale(&both, &both, false);
        assert_eq!(
            (found.state, found.found.as_str()),
            (State::Wrong, "2 files of one dead process (4.00 KB), a for one")
        );
        assert!(found.remedy.contains("--clean"));
        let found = stale(&both, &[read], true);
        assert_eq!(found.state, State::Fine);
        assert!(
            found.found.starts_with("removed 2 files") && found.found.ends_with("still being read"),
            "{found:?}"
        );
        assert_eq!(stale(&both, &[dead], true).state, State::Wrong);
        assert_eq!(stale(&[], &[], true).found, "none");
    }
}
