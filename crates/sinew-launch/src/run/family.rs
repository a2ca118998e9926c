//! All processes that descend from a launch: those of its process groups, and those that have the
//! launch's mark in their environment.
//!
//! Process groups reach nearly all of them. The mark finds a process that left its group (a
//! daemon).

use std::collections::BTreeSet;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, getpid, kill_process, pidfd_open, pidfd_send_signal};
use rustix::time::{ClockId, clock_gettime};

use super::stat::{self, Stat};

/// The environment variable that holds the mark.
pub(super) const VARIABLE: &str = "SINEW_LAUNCH";

/// The knowledge by which the processes of a launch are found.
pub(super) struct Family {
    pub(super) mark: String,
    /// The process groups that exist.
    pub(super) groups: BTreeSet<i32>,
}

/// A process of the family.
enum Member {
    /// A descriptor, which stays with the process.
    Open(OwnedFd),
    /// A process id, if the kernel gives no descriptors of processes: a sandbox may refuse them.
    Numbered(Pid),
}

impl Member {
    fn signal(&self, family: &Family, signal: Signal) {
        // Either fails if the process has just ended.
        let _ = match self {
            Self::Open(descriptor) => pidfd_send_signal(descriptor, signal),
            // The process id may have been reused.
            Self::Numbered(pid) if family.has(*pid) => kill_process(*pid, signal),
            Self::Numbered(_) => Ok(()),
        };
    }
}

/// Time for which process ids are trusted before their processes are looked up again.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// Opens a process.
type Open = fn(Pid, PidfdFlags) -> rustix::io::Result<OwnedFd>;

impl Family {
    /// Makes a family without groups, and with a mark that no other launch of this host has.
    pub(super) fn new() -> Self {
        let now = clock_gettime(ClockId::Boottime);
        let mark = format!("{}-{}.{:09}", std::process::id(), now.tv_sec, now.tv_nsec);
        Self { mark, groups: BTreeSet::new() }
    }

    /// Asks all its processes to end, and kills the remaining ones after the grace period. Returns
    /// their number. Blocks until they have ended (they may be zombies then, if they are children
    /// of this process).
    pub(super) fn end(&self, grace: Duration) -> usize {
        self.end_by(pidfd_open, grace)
    }

    fn end_by(&self, open: Open, grace: Duration) -> usize {
        let mut ended = 0;
        let mut patience = grace;
        // A process that is killed may have forked meanwhile.
        for signal in [Signal::TERM, Signal::KILL, Signal::KILL, Signal::KILL] {
            let members = self.members(open);
            if members.is_empty() {
                break;
            }
            ended = ended.max(members.len());
            members.iter().for_each(|member| member.signal(self, signal));
            self.wait(members, patience);
            patience = Duration::from_secs(1);
        }
        ended
    }

    /// Returns its living processes, except this one.
    fn members(&self, open: Open) -> Vec<Member> {
        let member = |pid: Pid| match open(pid, PidfdFlags::empty()) {
            // The process id may have been reused before the process was opened.
            Ok(descriptor) => self.has(pid).then_some(Member::Open(descriptor)),
            Err(Errno::SRCH) => None,
            Err(_) => Some(Member::Numbered(pid)),
        };
        stat::pids().filter(|&pid| pid != getpid() && self.has(pid)).filter_map(member).collect()
    }

    /// Returns `true` if a process is alive and belongs to the family.
    fn has(&self, pid: Pid) -> bool {
        let is_in_group = |stat: Stat| !stat.is_over && self.groups.contains(&stat.group);
        self.has_mark(pid) || !self.groups.is_empty() && stat::of(pid).is_some_and(is_in_group)
    }

    /// Returns `true` if a process is alive and has the mark. The environment of a zombie is empty,
    /// that of another user can't be read.
    fn has_mark(&self, pid: Pid) -> bool {
        let wanted = format!("{VARIABLE}={}", self.mark);
        let environment = std::fs::read(format!("/proc/{}/environ", pid.as_raw_pid())).unwrap_or_default();
        environment.split(|&byte| byte == 0).any(|variable| variable == wanted.as_bytes())
    }

    /// Waits until all have ended, or the time is over.
    fn wait(&self, mut members: Vec<Member>, patience: Duration) {
        let now = || {
            let now = clock_gettime(ClockId::Monotonic);
            Duration::new(now.tv_sec.try_into().unwrap_or(0), now.tv_nsec.try_into().unwrap_or(0))
        };
        let until = now() + patience;
        loop {
            members.retain(|member| match member {
                Member::Open(_) => true,
                Member::Numbered(pid) => self.has(*pid),
            });
            let is_numbered = members.iter().any(|member| matches!(member, Member::Numbered(_)));
            let left = until.saturating_sub(now());
            if members.is_empty() || left.is_zero() {
                return;
            }
            let pause = if is_numbered { left.min(LOOK_AGAIN) } else { left };
            let Ok(pause) = Timespec::try_from(pause) else { return };
            let mut fds: Vec<_> = members
                .iter()
                .filter_map(|member| match member {
                    Member::Open(descriptor) => Some(PollFd::new(descriptor, PollFlags::IN)),
                    Member::Numbered(_) => None,
                })
                .collect();
            let _ = poll(&mut fds, Some(&pause)); // at worst a signal interrupts it: then look again
            let mut has_ended = fds.iter().map(|fd| !fd.revents().is_empty()).collect::<Vec<_>>().into_iter();
            members.retain(|member| match member {
                Member::Open(_) => has_ended.next() != Some(true),
                Member::Numbered(_) => true,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command};
    use std::thread;

    fn sleeper(family: &Family) -> Child {
        Command::new("sleep").arg("600").env(VARIABLE, &family.mark).spawn().unwrap()
    }

    /// Opens a process by descriptor as the kernel does, or fails as a sandbox does.
    #[test]
    fn those_with_the_mark_end_whether_the_kernel_opens_processes_or_not() {
        let refused: Open = |_, _| Err(Errno::NOSYS);
        let (family, other) = (Family::new(), Family::new());
        let mut stranger = sleeper(&other);
        for open in [pidfd_open as Open, refused] {
            let mut children = [sleeper(&family), sleeper(&family)];
            // Until they execute `sleep`, they have this program's environment.
            while family.members(open).len() < 2 {
                thread::yield_now();
            }
            assert_eq!(family.end_by(open, Duration::from_secs(60)), 2);
            for child in &mut children {
                assert!(!child.wait().unwrap().success());
            }
        }
        assert!(stranger.try_wait().unwrap().is_none(), "another launch's lives on");
        stranger.kill().unwrap();
        stranger.wait().unwrap();
    }
}
