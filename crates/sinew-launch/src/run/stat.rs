//! The processes of the host, from `/proc/PID/stat`.

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process_group};

/// A process.
#[derive(Debug, PartialEq)]
pub(super) struct Stat {
    pub(super) group: i32,
    /// It has ended, and waits for its parent: a zombie.
    pub(super) is_over: bool,
    pub(super) ticks: u64,
    /// Pages in memory.
    pub(super) pages: u64,
}

/// Returns the process ids of the host.
pub(super) fn pids() -> impl Iterator<Item = Pid> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
}

/// Returns all processes. Reads a file for each.
pub(super) fn all() -> impl Iterator<Item = Stat> {
    pids().filter_map(of)
}

/// Returns `None` if the process has ended meanwhile.
pub(super) fn of(pid: Pid) -> Option<Stat> {
    let stat = std::fs::read(format!("/proc/{}/stat", pid.as_raw_pid())).ok()?;
    parse(&String::from_utf8_lossy(&stat))
}

/// The processes of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Group {
    /// There are none, or only zombies: a parent that left the group may keep them for ever.
    Gone,
    Lives,
    /// All of them belong to other users, so they can't be signalled.
    Foreign,
}

/// Looks at a process group. If the kernel knows it, this reads a file for each process of the
/// host.
pub(super) fn group(group: Pid) -> Group {
    match test_kill_process_group(group) {
        Ok(()) | Err(Errno::PERM) if is_over(group) => Group::Gone,
        Ok(()) => Group::Lives,
        Err(Errno::PERM) => Group::Foreign,
        Err(_) => Group::Gone,
    }
}

/// Returns `true` if the group has only zombies. Without any member, `/proc` doesn't say anything
/// about the group.
fn is_over(group: Pid) -> bool {
    let mut members = all().filter(|stat| stat.group == group.as_raw_pid()).peekable();
    members.peek().is_some() && members.all(|stat| stat.is_over)
}

fn parse(stat: &str) -> Option<Stat> {
    // The program's name is in brackets, and may itself contain brackets.
    let (_, after) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = after.split_whitespace().collect();
    let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
    Some(Stat {
        group: fields.get(2)?.parse().ok()?,
        // Only its first thread may have ended.
        is_over: *fields.first()? == "Z" && number(17)? <= 1,
        ticks: number(11)? + number(12)?,
        pages: number(21)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_have_anything_in_them() {
        let rest = "1 77 9 0 -1 4 5 6 7 8 30 12 0 0 20 0 1 0 99 1000 55 18446744073709551615";
        let stat = Stat { group: 77, is_over: false, ticks: 42, pages: 55 };
        assert_eq!(parse(&format!("5 (a) b (c) S {rest}")), Some(stat));
        assert_eq!(parse("5 (a"), None);
    }

    #[test]
    fn a_process_whose_first_thread_has_ended_lives_on() {
        let is_over = |threads| {
            let stat = format!("5 (a) Z 1 77 9 0 -1 4 5 6 7 8 30 12 0 0 20 0 {threads} 0 99 0 0");
            parse(&stat).unwrap().is_over
        };
        assert!(is_over(1) && !is_over(2));
    }
}
